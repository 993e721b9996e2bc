"""Agents of Kuhn poker: one that bluffs at a given rate, one that plays a learned table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cardlab.engine.game import Array, Turn
from kuhn import PACKAGE
from kuhn.rules import BET, PASS, card_text, history
from kuhn.strategies import action_values, load_table

__all__ = ["Bluffer", "TableAgent"]


def known_of(turn: Turn) -> tuple[str, str]:
    """Return the card of the seat to move, and what was said: a `p` or a `b` for each action."""
    view = turn.view.array[0]
    return card_text(int(view.cards[turn.seat])), "".join(word[0] for word in history(view))


class Bluffer:
    """Bets with a jack in so many of 100 cases, with a king always; sees a bet with a queen."""

    def __init__(self, percent: int = 50, name: str = "bluffer") -> None:
        """Take the parameters of the entry, and the name by which the agent was asked for."""
        self.percent, self.name = percent, name

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the chosen action."""
        card, said = known_of(turn)
        if card == "J":
            return BET if rng.integers(100) < self.percent else PASS
        return BET if card == "K" or said.endswith("b") else PASS


class TableAgent:
    """Bets as often as a table says; without a file that is the shipped one, an equilibrium."""

    def __init__(self, table: Path | str | None = None, name: str = "equilibrium") -> None:
        self.name = name
        self.table = load_table(PACKAGE.shipped("equilibrium.json") if not table else Path(table))

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return an action with the probability that the table gives it."""
        card, said = known_of(turn)
        return BET if rng.random() < self.table[card + said] else PASS

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the expected return of a pass and of a bet against the same table."""
        card, said = known_of(turn)
        return np.array(action_values(card, said, self.table)) / 2
