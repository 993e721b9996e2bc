"""The page of Birds of a Feather at the web table."""
