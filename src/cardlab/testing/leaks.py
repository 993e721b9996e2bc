"""The leak test: cards that a seat has not seen never change what it sees."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cardlab.engine.game import OVER, Array, Description, Game
from cardlab.engine.play import Table
from cardlab.testing.random_games import Options, random_table, retrace

PAIRS = 6  # of cards that are exchanged, for each seat of a game

Witnessed = tuple[list[bytes], bytes, int, list[Description]]


def check_nothing_leaks(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Views hide something, and exchanging two cards that a seat has not seen changes none of them.

    A game is replayed with two cards exchanged in the deck. The bytes of the view are compared
    after every action, until the seat sees one of the two cards or anything else that it may see
    differs: who moves, the facts of `describe`, how many cards each zone has, whether the next
    action is legal.
    """
    compared = 0
    hidden = False
    for seed in seeds:
        found = compare_exchanges(game, options, seed)
        hidden |= found.hidden
        compared += found.compared
    require_secrets(game, options, hidden, compared)


class Exchanged:
    """What the exchanges in some games found."""

    __slots__ = ("compared", "hidden")

    def __init__(self, compared: int = 0, hidden: bool = False) -> None:
        self.compared = compared  # views that could be compared
        self.hidden = hidden  # whether any view differs from the state


def compare_exchanges(
    game: Game, options: Options, seed: int, plies: int | None = None
) -> Exchanged:
    """Exchange some pairs of cards in a random game, for each seat; a view that changes raises.

    Only the first `plies` actions are played if that is given.
    """
    rng = np.random.default_rng(seed)
    table = random_table(game, options, seed, plies)
    course = [_witness(step) for step in retrace(table)]
    found = Exchanged(hidden=any(view != state for views, state, *_ in course for view in views))
    for seat in range(table.seats if found.hidden else 0):
        seen = _cards_in(course[0][3][seat])
        unseen = [card for card in range(game.deck) if game.card_text(card) not in seen]
        for _ in range(PAIRS if len(unseen) > 1 else 0):
            a, b = (int(card) for card in rng.choice(unseen, size=2, replace=False))
            found.compared += _compare_swapped(table, course, seat, a, b)
    return found


def require_secrets(game: Game, options: Options, hidden: bool, compared: int) -> None:
    """Raise unless the views of some games hid something, or the game is declared open."""
    assert hidden or game.open_cards or game.start(options).seats < 2, (
        f"{game.name}: every seat sees everything; let `conceal` erase what a seat has not "
        "witnessed, or declare a game without secrets by Game(..., open_cards=True)"
    )
    assert not (hidden and game.open_cards), (
        f"{game.name}: declared open_cards=True, but `conceal` erases something; leave one out"
    )
    assert compared or not hidden, (
        f"{game.name}: no swap of two of the {game.deck} cards of the deck could be compared; "
        "`describe` must list the cards that a seat knows, and `deck` count all cards"
    )


def _witness(table: Table) -> Witnessed:
    views = [table.state.view(seat) for seat in range(table.seats)]
    return (
        [view.array.tobytes() for view in views],
        table.state.array.tobytes(),
        table.mover,
        [view.describe() for view in views],
    )


def _cards_in(description: Description) -> set[str]:
    return {card for zone in description.zones for card in zone.cards}


def _facts_of(known: Description) -> tuple[object, ...]:
    return known.facts, [(zone.name, zone.seat, zone.count) for zone in known.zones]


def _compare_swapped(table: Table, course: list[Witnessed], seat: int, a: int, b: int) -> int:
    """Replay with cards a and b swapped; return how many views could be compared and agreed."""
    game = table.game
    names = {game.card_text(a), game.card_text(b)}
    swap = np.arange(game.deck, dtype=np.uint8)
    swap[[a, b]] = b, a
    deals: list[Array] = [swap[order] for order in table.deals]
    other = Table(game, deals=deals, options=table.options, seed=0)
    compared = 0
    for ply, (views, _, mover, descriptions) in enumerate(course):
        if _cards_in(descriptions[seat]) & names or other.mover != mover or mover == OVER:
            return compared
        now = other.state.view(seat)
        if now.array.tobytes() != views[seat]:
            assert _facts_of(now.describe()) != _facts_of(descriptions[seat]), (
                f"{game.name}, seed {table.seed}, ply {ply}: the view of seat {seat} changes with "
                f"hidden cards {sorted(names)}; let `conceal` erase what differs"
            )
            return compared
        compared += 1
        if ply == len(table.actions) or table.actions[ply] not in other.state.legal():
            return compared
        other.act(table.actions[ply])
    return compared
