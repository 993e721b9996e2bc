"""The page of Kuhn poker."""
