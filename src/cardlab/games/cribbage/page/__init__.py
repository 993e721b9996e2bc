"""The page of Cribbage at the web table."""
