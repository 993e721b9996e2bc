"""The page of Crazy Eights at the web table."""
