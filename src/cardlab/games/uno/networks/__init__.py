"""Networks of Uno, for training."""
