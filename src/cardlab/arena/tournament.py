"""Round robins: every pair of agents meets on the same deals."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cardlab.arena.match import Match, MatchResult, Standing, play_match
from cardlab.errors import CardlabError
from cardlab.games import find_game

__all__ = ["Tournament", "play_tournament"]


@dataclass(frozen=True)
class Tournament:
    """The outcome of a round robin: one match for every pair."""

    agents: tuple[str, ...]
    matches: dict[tuple[str, str], MatchResult]

    def standing(self, agent: str, other: str) -> Standing:
        """Return how `agent` did against `other`."""
        match = self.matches.get((agent, other)) or self.matches[(other, agent)]
        return match.standings[0 if match.standings[0].agent == agent else 1]

    def mean_score(self, agent: str) -> float:
        """Return the mean score of an agent over all others."""
        others = [other for other in self.agents if other != agent]
        return sum(self.standing(agent, other).score for other in others) / len(others)

    def ranking(self) -> list[str]:
        """Return the agents, the best mean score first."""
        return sorted(self.agents, key=self.mean_score, reverse=True)


def play_tournament(
    game: str,
    agents: Sequence[str],
    games: int,
    *,
    seed: int = 0,
    options: dict[str, Any] | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Tournament:
    """Let every pair of agents play at least `games` games on the same deals."""
    if len(agents) < 2 or len(set(agents)) != len(agents):
        raise CardlabError("a tournament needs two or more agents, each named once")
    if int(find_game(game).start(**(options or {})).seats) != 2:
        raise CardlabError(
            f"tournaments are for two seats so far; let agents of {game} meet in `cardlab match`"
        )
    plans = {
        pair: Match.plan(game, pair, games, seed, options)
        for pair in itertools.combinations(agents, 2)
    }
    total = sum(plan.deals for plan in plans.values())
    results: dict[tuple[str, str], MatchResult] = {}
    done = 0
    for pair, plan in plans.items():

        def report(deals: int, _: int, before: int = done) -> None:
            if progress:
                progress(before + deals, total)

        results[pair] = play_match(plan, workers=workers, progress=report)
        done += plan.deals
        if results[pair].stopped:
            raise KeyboardInterrupt
    return Tournament(tuple(agents), results)
