"""What the page of Birds of a Feather is sent beyond zones and facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cardlab.engine.cards import card_text
from cardlab.engine.game import State
from cardlab.games.birds_of_a_feather.rules import (
    CELLS,
    EMPTY,
    FROM,
    ROWS,
    TO,
    cell_text,
    history,
)
from cardlab.games.birds_of_a_feather.solvers.solver import Scratch, settle_at
from cardlab.web.page_data import PageData, moves_seen


def view(s: Any, seat: int) -> dict[str, Any]:
    """Return the grid of top cards, and how many cards lie in each stack."""
    sizes = [1] * CELLS
    for action, _card, _covered in history(s):
        sizes[TO[action]] += sizes[FROM[action]]
        sizes[FROM[action]] = 0
    tops = [None if int(c) == EMPTY else card_text(int(c)) for c in s.tops]
    return {
        "grid": [[tops[cell] for cell in row] for row in ROWS],
        "sizes": [[sizes[cell] for cell in row] for row in ROWS],
    }


def action(number: int) -> dict[str, Any]:
    """Return from which cell a stack moves, and to which."""
    return {"from": cell_text(int(FROM[number])), "to": cell_text(int(TO[number]))}


def words(number: int) -> str:
    """Return an action in words: `A1 onto A4`."""
    return "{from} onto {to}".format(**action(number))


def solvable(state: State) -> bool:
    """Return whether a position has a solution."""
    return bool(settle_at(state.array, 0, Scratch.new()))


def result(points: Sequence[float], won: bool) -> str:
    """Return how a deal ended, in words."""
    return "Solved: one stack is left" if won else f"Stuck with {CELLS - int(points[0])} stacks"


PAGE_DATA = PageData(
    view=view,
    action=action,
    words=words,
    hidden=moves_seen,
    result=result,
    solvable=solvable,
    most_seed=1_000_000,
    keys=(
        ("← → ↑ ↓", "walk through the grid"),
        ("U", "one move back"),
        ("S", "is it still solvable?"),
        ("Esc", "put the stack down"),
    ),
    cards=("KC", "KS", "QS"),
)
