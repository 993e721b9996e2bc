"""The paper on Birds of a Feather, measured again."""
