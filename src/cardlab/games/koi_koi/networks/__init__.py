"""Networks of Koi-Koi, for training."""
