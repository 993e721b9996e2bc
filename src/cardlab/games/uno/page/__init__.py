"""The page of Uno at the web table."""
