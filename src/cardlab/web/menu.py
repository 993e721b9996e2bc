"""What a server offers: built-in games, installed packages, and what its operator names.

Nothing that a visitor sends is ever imported: it is looked up here, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.agents.entries import agents_in
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game, OpenAgent
from cardlab.engine.manifest import AgentEntry
from cardlab.engine.registry import find_game, installed, our_games, our_packages
from cardlab.web.agent_pool import is_open
from cardlab.web.messages import GAME_LETTERS, SPEC_PATTERN
from cardlab.web.page_data import page_data_of


@dataclass(frozen=True, eq=False)
class Menu:
    """The games of a server by name, and the agents from outside by their specification."""

    games: dict[str, Game]
    names: dict[str, str]  # what records and tournaments call a game -> its own name
    agents: dict[str, AgentEntry]
    left_out: dict[str, str]  # what an installed package offers but does not work, and why

    @classmethod
    def of(cls, games: Sequence[str] = (), agents: Sequence[str] = ()) -> Menu:
        """Return a menu of the built-in games, the installed packages, and what is named here.

        A name given here must work; an installed package that does not work is left out.
        """
        menu = cls(
            {name: find_game(name) for name in our_games()},
            {name: name for name in our_games()},
            {},
            {},
        )
        for add, named, group in (
            (menu._add_game, games, "cardlab.games"),
            (menu._add_agent, agents, "cardlab.agents"),
        ):
            for name in named:
                add(name)
            for name in installed(group):
                try:
                    add(name)
                except CardlabError as error:
                    menu.left_out[name] = str(error)
        for game in menu.games.values():
            page_data_of(game)  # imported before threads ask for it at the same time
        return menu

    def game(self, name: str) -> Game:
        """Return a game by its own name, or by the name that a record uses for it."""
        found = self.games.get(self.names.get(name, name))
        if found is None:
            raise CardlabError(
                f"unknown game {name[:40]!r}; this server offers {', '.join(self.games)}; its "
                "operator can add more with --game"
            )
        return found

    def agents_for(self, game: Game) -> list[AgentEntry]:
        """Return all agents on offer; those from outside may not be able to play the game."""
        return [*agents_for(game), *self.agents.values()]

    def _add_game(self, name: str) -> None:
        if name in self.names:
            return
        game = find_game(name)
        if self.games.get(game.name, game) is not game:
            raise CardlabError(
                f"game {name!r} has the name {game.name!r}, which another game of this server "
                "uses; choose another name in its manifest"
            )
        if not re.fullmatch(rf"[A-Za-z0-9_]{{1,{GAME_LETTERS}}}", game.name):
            raise CardlabError(
                f"game {name!r} has the name {game.name!r}; for the web table a name must have "
                f"at most {GAME_LETTERS} letters, digits and underscores"
            )
        if _at(game.reference) is not game:
            raise CardlabError(
                f"game {name!r} has the reference {game.reference!r}, which does not import it; "
                "set `reference` to its import string, package.module:NAME"
            )
        self.games[game.name] = game
        self.names.update(dict.fromkeys((name, game.reference), game.name))

    def _add_agent(self, spec: str) -> None:
        name = spec.partition(":")[0]
        if any(entry.name == name for game in our_packages().values() for entry in agents_in(game)):
            return  # built-in agents take precedence
        if name == "cmd" or not re.fullmatch(SPEC_PATTERN, spec):
            raise CardlabError(
                f"agent {spec!r} cannot be served; give package.module:NAME or the name of an "
                "entry point, without spaces; programs (cmd:) are not served"
            )
        found = find_agent(spec, next(iter(self.games.values())))
        if len({isinstance(found, OpenAgent), is_open(spec), spec.endswith("_open")}) > 1:
            raise CardlabError(
                f"the name of agent {spec!r} does not match what it sees; agents that see all "
                "cards, and only they, need an entry point whose name ends in '_open'"
            )
        maker = installed("cardlab.agents").get(name, spec)
        self.agents[spec] = AgentEntry(spec, f"from outside: {maker}", maker)


def _at(reference: str) -> Game | None:
    try:
        return find_game(reference)
    except CardlabError:
        return None
