"""The page of Koi-Koi at the web table."""
