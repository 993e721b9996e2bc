"""Unfinished games of `cardlab play`: find one in a file, continue it, name the commands for it.

A record of `cardlab play` holds all that resuming needs: the game with its options, the seed and
the deals, the opponents as a command names them, the person's seat and the actions so far.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from cardlab.agents.catalog import is_catalogued
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.records import Record, read_records
from cardlab.engine.registry import known_packages, needs_trust
from cardlab.engine.replay import replay

__all__ = [
    "UNFINISHED",
    "YOU",
    "continue_table",
    "last_unfinished",
    "replay_command",
    "resume_command",
    "same_deal_command",
]

YOU = "you"  # the person's seat in a record
UNFINISHED = "left unfinished"  # the note of a record that can be resumed


def last_unfinished(path: Path, game: Game | None = None) -> tuple[int, Record]:
    """Return the last game in a file that a person has left, and its line; of `game` if given."""
    damaged: list[tuple[int, str]] = []
    names = None if game is None else (game.name, game.reference)
    found = [
        (number, record)
        for number, record in read_records(path, damaged=damaged)
        if record.note == UNFINISHED
        and record.result is None
        and record.seats.count(YOU) == 1
        and (names is None or record.game in names)
    ]
    if not found:
        of_game = "" if game is None else f" of {game.name}"
        also = f" ({damaged[-1][1]})" if damaged else ""
        raise CardlabError(
            f"{path} holds no unfinished game{of_game}{also}; `cardlab play GAME` starts a new one"
        )
    return found[-1]


def continue_table(
    record: Record, *, deals: Sequence[str] = (), trust: bool = False, game: Game | None = None
) -> Table:
    """Return the table of an unfinished game as it was left, after checking it by the rules.

    `deals` are deck orders for the deals that follow; without them the seed deals.
    """
    for checked in replay(record, trust=trust, game=game):
        game = checked.game
    assert game is not None  # a replay yields at least one table
    if not deals:
        table = _dealt_by_seed(record, game)
        if table is not None:
            return table
    return _replayed(record, game, [*record.deals, *deals])


def _dealt_by_seed(record: Record, game: Game) -> Table | None:
    """Return the table with deals from the seed, or None if the record has other deals."""
    if record.seed is None:
        return None
    try:
        table = _replayed(record, game, ())
    except IllegalAction:  # other cards
        return None
    return table if [game.order_text(order) for order in table.deals] == record.deals else None


def _replayed(record: Record, game: Game, deals: Sequence[str]) -> Table:
    table = Table(game, seed=record.seed, deals=deals, options=dict(record.options))
    for action, _ in record.actions:
        table.act(action)
    return table


def replay_command(path: Path, game: Game) -> str:
    """Return the command that replays a file of records."""
    return shlex.join(["cardlab", "replay", str(path), *["--trust"] * needs_trust(game)])


def resume_command(path: Path, table: Table, names: Sequence[str], adviser: str | None) -> str:
    """Return the command that continues the game that was just left."""
    game = table.game
    outside = any(not is_catalogued(name, game) for name in names if name != YOU)
    words = ["cardlab", "play", "--resume", str(path)]
    for order in table.given_deals[len(table.deals) :]:
        words += ["--deal", game.order_text(order)]
    words += [] if adviser is None else ["--adviser", adviser]
    return shlex.join([*words, *["--trust"] * (outside or needs_trust(game))])


def same_deal_command(table: Table, names: Sequence[str], adviser: str | None) -> str:
    """Return the command that plays the same deal again with the same opponents and options."""
    game, usual = table.game, table.game.read_options({})
    package = known_packages().get(game.name)
    installed = package is not None and package.game == game.reference
    words = ["cardlab", "play", game.name if installed else game.identifier]
    opponents = [name for name in names if name != YOU]
    for name in opponents[:1] if len(set(opponents)) == 1 else opponents:
        words += ["--against", name]
    words += ["--seat", str(names.index(YOU))] if names.index(YOU) else []
    for key, value in table.options.items():
        if value != usual[key]:
            words += ["-o", f"{key}={str(value).lower() if isinstance(value, bool) else value}"]
    words += [] if table.seed is None else ["--seed", str(table.seed)]
    for order in table.given_deals:
        words += ["--deal", game.order_text(order)]
    return shlex.join([*words, *([] if adviser is None else ["--adviser", adviser])])
