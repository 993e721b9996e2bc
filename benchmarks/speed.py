"""What a timed loop brought, and fair timing of several loops in one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 5


@dataclass(frozen=True)
class Speed:
    """The games and player decisions that one loop got through in some seconds of CPU time."""

    name: str
    games: int
    decisions: int
    seconds: float

    @property
    def games_per_second(self) -> float:
        """Return the games played in one second."""
        return self.games / self.seconds

    @property
    def decisions_per_second(self) -> float:
        """Return the player decisions taken in one second."""
        return self.decisions / self.seconds


def best_of_each(loops: dict[str, Callable[[], Speed]]) -> dict[str, Speed]:
    """Run the loops in turn, several times, and return the best run of each.

    A busy machine then harms all alike.
    """
    found: dict[str, Speed] = {}
    for _ in range(ROUNDS):
        for name, loop in loops.items():
            run = loop()
            if name not in found or run.games_per_second > found[name].games_per_second:
                found[name] = run
    return found
