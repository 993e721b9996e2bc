"""What learners see of a game: kernels that turn what a seat knows into numbers."""
