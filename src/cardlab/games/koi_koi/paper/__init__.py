"""The paper on Koi-Koi, measured again."""
