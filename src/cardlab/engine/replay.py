"""Replay records by the rules, and report where a record disagrees with them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cardlab.engine.arguments import shorten
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.records import Record
from cardlab.engine.registry import find_game

__all__ = ["replay"]


def replay(
    record: Record, *, trust: bool = False, game: str | Game | None = None
) -> Iterator[Table]:
    """Yield the table before the first action and after each; the first disagreement raises.

    The game of a record may be code from outside, which is imported only with `trust=True`; a game
    that is given is used instead.
    """
    if not isinstance(record, Record):
        raise CardlabError(
            f"record must be a Record, got {shorten(record)}; read_records reads them from a file"
        )
    return _replay(record, find_game(record.game, trust=trust) if game is None else find_game(game))


def check_version(record: Record, game: Game) -> None:
    """Raise a sentence if a record follows another version of the rules."""
    if record.rules != game.rules_version:
        raise CardlabError(
            f"the record follows rules version {record.rules} of {game.name}, this program plays "
            f"version {game.rules_version}; replay it with the version that wrote it"
        )


def _replay(record: Record, game: Game) -> Iterator[Table]:
    check_version(record, game)
    table = Table(game, deals=record.deals, options=dict(record.options))
    if len(record.seats) != table.seats:
        raise CardlabError(f"the record names {len(record.seats)} seats, but {table.seats} play")
    yield table
    for ply, (action, text) in enumerate(record.actions):
        known = 0 <= action < game.num_actions
        meant = game.action_text(action) if known else f"not an action of {game.name}"
        if text != meant:
            raise CardlabError(f"ply {ply}: action {action} is {meant}, the record says {text!r}")
        if table.over:
            raise CardlabError(f"ply {ply}: the game is over, but the record continues with {text}")
        try:
            table.act(action)
        except IllegalAction as error:
            raise CardlabError(str(error)) from None  # names game and ply
        yield table
    if len(table.deals) != len(record.deals):
        raise CardlabError(
            f"the record holds {len(record.deals)} deals, but the game used {len(table.deals)}"
        )
    if record.forfeit is not None and not table.over:
        _check_forfeit(record, table.seats)
        return  # a game that was given away has no result by the rules
    ours = table.record(record.seats).result
    if ours != record.result:
        raise CardlabError(
            f"the result is {_result_text(ours)}, the record says {_result_text(record.result)}"
        )


def _check_forfeit(record: Record, seats: int) -> None:
    """Check that a game that was given away names its loser and one number for each seat."""
    result = record.result
    whole = result is None or (
        len(result.returns) == len(result.points) == seats
        and all(math.isfinite(number) for number in (*result.returns, *result.points))
    )
    if not whole or record.forfeit not in range(seats):
        raise CardlabError(
            f"seat {record.forfeit} gave the game away, but the seat or the result does not fit "
            f"{seats} seats; name a seat from 0 to {seats - 1}, and one number for each seat"
        )


def _result_text(result: object) -> str:
    return str(result) if result is not None else "missing (the game is not over)"
