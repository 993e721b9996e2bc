"""Search over any game's kernels; budgets are counts, never seconds."""
