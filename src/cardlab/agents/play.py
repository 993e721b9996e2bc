"""One game between agents, which may be given by name: `play_game`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cardlab.agents.catalog import find_agents
from cardlab.engine import seeding
from cardlab.engine.arguments import options_in_a_dict
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Agent, Array, Game, OpenAgent
from cardlab.engine.play import Table, ask, close_game, open_game
from cardlab.engine.records import Record

__all__ = ["play_game"]


@options_in_a_dict
def play_game(
    game: str | Game,
    agents: Sequence[str | Agent | OpenAgent],
    *,
    seed: int = 0,
    deals: Iterable[str | Sequence[int] | Array] = (),
    options: dict[str, Any] | None = None,
) -> Record:
    """Play one game between agents, one for each seat, and return its record."""
    seed = seeding.read_seed(seed)
    table = Table(game, seed=seed, deals=deals, options=options)
    found = find_agents(agents, table.game)
    if len(found) != table.seats:
        raise CardlabError(
            f"{table.game.name} needs {table.seats} agent{'s' * (table.seats > 1)}, got "
            f"{len(found)}"
        )
    rngs = [seeding.generator(seed, "seat", seat) for seat in range(table.seats)]
    open_game(table, found, rngs)
    while not table.over:
        seat = table.mover
        place = f", ply {len(table.actions)}, seed {seed}"
        table.act(ask(found[seat], table.state, rngs[seat], place))
    close_game(table, found)
    return table.record([agent.name for agent in found])
