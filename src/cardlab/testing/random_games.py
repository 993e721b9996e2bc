"""Random games for the checks: played from a seed, and replayed step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cardlab.engine import seeding
from cardlab.engine.arguments import read_count, read_kind
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game

Options = dict[str, Any]


def random_table(
    game: str | Game, options: Options | None, seed: int, plies: int | None = None
) -> Table:
    """Return a game played at random for a number of plies, or to its end."""
    game, seed = find_game(game), seeding.read_seed(seed)
    plies = None if plies is None else read_count(plies, "plies", lowest=0)
    table = Table(game, seed=seed, options=options)
    rng = seeding.generator(seed, "random play")
    while not table.over and (plies is None or len(table.actions) < plies):
        legal = table.state.legal()
        where = f"{game.name}, seed {seed}, ply {len(table.actions)}"
        assert len(legal), (
            f"{where}: the game is not over, but no action is legal; let `legal` return one, or "
            "let `apply` end the game"
        )
        assert len(table.actions) < game.max_plies, (
            f"{where}: the game has more than max_plies={game.max_plies} actions; raise max_plies, "
            "or let `apply` end the game"
        )
        table.act(int(rng.choice(legal)))
    return table


def retrace(table: Table) -> Iterator[Table]:
    """Replay a game from its deals and actions; yield it at the start and after each action."""
    table = read_kind(table, Table, "table", "random_table returns one")
    again = Table(table.game, deals=table.deals, options=table.options)
    yield again
    for action in table.actions:
        again.act(action)
        yield again
