"""The paper on Uno, measured again."""
