"""The paper on Cribbage, measured again."""
