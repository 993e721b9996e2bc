"""The agent that takes any legal action with equal probability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cardlab.engine.game import Array, Turn, Turns, nth_legal

__all__ = ["RandomAgent"]


class RandomAgent:
    """An agent that takes any legal action with equal probability."""

    name = "random"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return a random legal action."""
        return int(turn.legal[rng.integers(len(turn.legal))])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return a random legal action for every turn, the same as `act`."""
        counts = turns.mask.sum(axis=1)
        picks = np.array(
            [rng.integers(count) for rng, count in zip(rngs, counts, strict=True)], dtype=np.int64
        )
        return nth_legal(turns.mask, picks)
