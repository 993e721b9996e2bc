"""Networks of Crazy Eights, for training."""
