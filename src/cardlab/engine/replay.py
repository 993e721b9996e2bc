"""Replaying records through the rules, and saying where a record disagrees with them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.records import Record
from cardlab.engine.registry import find_game

__all__ = ["replay"]


def replay(record: Record, *, trust: bool = False, game: Game | None = None) -> Iterator[Table]:
    """Yield the table before the first action and after each; the first disagreement raises.

    A game from outside is code to be imported: that needs `trust`, or the game itself, in which
    case nothing is looked up.
    """
    game = game or find_game(record.game, trust=trust)
    if record.rules != game.rules_version:
        raise CardlabError(
            f"the record follows rules version {record.rules} of {game.name}, this program plays "
            f"version {game.rules_version}; replay it with the version that wrote it"
        )
    table = Table(game, deals=record.deals, options=dict(record.options))
    if len(record.seats) != table.seats:
        raise CardlabError(f"the record names {len(record.seats)} seats, but {table.seats} play")
    yield table
    for ply, (action, text) in enumerate(record.actions):
        meant = game.action_text(action) if 0 <= action < game.num_actions else "no action"
        if text != meant:
            raise CardlabError(f"ply {ply}: action {action} is {meant}, the record says {text!r}")
        if table.over:
            raise CardlabError(f"ply {ply}: the game is over, but the record goes on with {text}")
        try:
            table.act(action)
        except IllegalAction as error:
            raise CardlabError(f"ply {ply}: {error}") from None
        yield table
    if len(table.deals) != len(record.deals):
        raise CardlabError(
            f"the record holds {len(record.deals)} deals, but the game used {len(table.deals)}"
        )
    if record.forfeit is not None and not table.over:
        _check_forfeit(record, table.seats)
        return  # given away: the rules know no result
    ours = table.record(record.seats).result
    if ours != record.result:
        raise CardlabError(
            f"the result is {_result_text(ours)}, the record says {_result_text(record.result)}"
        )


def _check_forfeit(record: Record, seats: int) -> None:
    """Make sure that a game that was given away names its loser and a number for each seat."""
    result = record.result
    whole = result is None or (
        len(result.returns) == len(result.points) == seats
        and all(math.isfinite(number) for number in (*result.returns, *result.points))
    )
    if not whole or record.forfeit not in range(seats):
        raise CardlabError(
            f"the record gives the game away at seat {record.forfeit}, but its loser or its result "
            f"does not fit {seats} seats; name a seat that plays, and one number for each"
        )


def _result_text(result: object) -> str:
    return str(result) if result is not None else "missing (the game is not over)"
