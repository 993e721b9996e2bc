"""The leaderboard: one rating over all tournaments of a game and its options in a store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cardlab.arena.ladder import Ladder
from cardlab.arena.ratings import Outcome, Rating, rate
from cardlab.arena.standings import Results
from cardlab.arena.store import Entered, Store, StoreError, read_store
from cardlab.arena.tournament import Plan
from cardlab.engine.game import Game
from cardlab.engine.notebook_hooks import ShownAsHtml
from cardlab.engine.seeding import read_seed

__all__ = ["Board", "leaderboards", "played_alone"]


@dataclass(frozen=True)
class Board(ShownAsHtml):
    """The ratings of one game with one set of options."""

    game: str  # its name
    options: dict[str, object]  # all options with their values
    tournaments: int  # that it is made of
    games: int  # between agents
    deals: int  # that differ
    ratings: list[Rating]  # the best agent first
    ladder: list[tuple[str, float, float]] | None  # agent, skill, uncertainty

    def to_dict(self) -> dict[str, Any]:
        """Return the board as plain data."""
        return asdict(self) | {"ratings": [one.to_dict() for one in self.ratings]}


def leaderboards(
    store: Store, game: str | Game | None = None, *, ladder: bool = False, seed: int = 0
) -> list[Board]:
    """Return the ratings for every game and set of options in a store, or for one game."""
    store, seed = read_store(store), read_seed(seed)
    groups: dict[tuple[str, str], list[Entered]] = {}
    for entered in store.tournaments(game=game):
        settings = entered.settings
        key = json.dumps([settings["rules"], settings["options"]], sort_keys=True)
        groups.setdefault((entered.game, key), []).append(entered)
    boards = [_board(store, group, ladder, seed) for group in groups.values()]
    found = [board for board in boards if board is not None]
    if not found:
        alone = played_alone(store, game)
        if alone:
            raise StoreError("; ".join(alone.values()))
        of = f" of {game.identifier if isinstance(game, Game) else game}" if game else ""
        raise StoreError(
            f"{store.shown} holds no games{of} between agents; play some with `cardlab tournament`"
        )
    return found


def played_alone(store: Store, game: str | Game | None = None) -> dict[str, str]:
    """Return the games of one seat in a store, each with a sentence on how to compare agents."""
    return {
        entered.game: f"{entered.game} is played alone, so agents have no ratings there; compare "
        f"them on the same deals with `cardlab tournament {entered.game} AGENT AGENT`"
        for entered in store.tournaments(game=game)
        if entered.seats == 1
    }


def _board(store: Store, entries: Sequence[Entered], ladder: bool, seed: int) -> Board | None:
    agents: list[str] = []
    deals: dict[tuple[str, int, int], dict[Outcome, int]] = {}
    steps = Ladder() if ladder else None
    games = 0
    for entered in entries:
        plan = Plan.of(entered, store.count(entered.id))
        results = Results.load(plan.matches, store, entered.id)
        if results.seats < 2 or not results.games:
            continue
        games += results.games
        agents += [one for one in results.agents if one not in agents]
        numbers = [agents.index(one) for one in results.agents]
        for deal, outcomes in results.outcomes().items():
            # Tournaments with one seed and salt share their deals, and so their luck.
            counts = deals.setdefault((plan.salt or "", plan.seed, deal), {})
            for outcome, count in outcomes.items():
                ours = tuple(tuple(sorted(numbers[one] for one in group)) for group in outcome)
                counts[ours] = counts.get(ours, 0) + count
        if steps:
            for pairing, played in store.games(entered.id, plan.matches):
                steps.game(plan.matches[pairing].seating(played.rotation), played.returns)
    if not games:
        return None
    ordered = {number: deals[key] for number, key in enumerate(sorted(deals))}
    return Board(
        entries[0].game,
        entries[0].settings["options"],
        len(entries),
        games,
        len(deals),
        rate(agents, ordered, seed=seed),
        steps.standings() if steps else None,
    )
