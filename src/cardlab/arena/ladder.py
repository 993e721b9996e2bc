"""The live ladder: ratings that are updated after every game, by openskill.

They depend on the order of the games, so they are for watching; tables are rated by `ratings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardlab.engine.errors import require

__all__ = ["Ladder"]


class Ladder:
    """A skill and its uncertainty for every agent, updated game by game."""

    def __init__(self) -> None:
        """Start without agents."""
        require("--ladder", "ladder", "openskill")
        from openskill.models import PlackettLuce

        self._model: Any = PlackettLuce()
        self._skills: dict[str, Any] = {}

    def game(self, seats: Sequence[str], returns: Sequence[float]) -> None:
        """Update the skills of the players of a game; an agent against itself changes nothing."""
        if len(seats) < 2 or len(set(seats)) < len(seats):
            return
        teams = [[self._skills.setdefault(one, self._model.rating())] for one in seats]
        rated = self._model.rate(teams, ranks=[-value for value in returns])
        for one, (skill,) in zip(seats, rated, strict=True):
            self._skills[one] = skill

    def standings(self) -> list[tuple[str, float, float]]:
        """Return agent, skill and uncertainty, the best first."""
        rows = [(name, float(one.mu), float(one.sigma)) for name, one in self._skills.items()]
        return sorted(rows, key=lambda row: (-row[1], row[0]))
