"""The paper on Crazy Eights, measured again."""
