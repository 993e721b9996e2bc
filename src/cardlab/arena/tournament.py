"""Round robins: every pair of agents meets on the same deals."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cardlab.arena.match import Match, MatchResult, play_match
from cardlab.errors import CardlabError

__all__ = ["Tournament", "play_tournament"]


@dataclass(frozen=True)
class Tournament:
    """The outcome of a round robin: one match for every pair."""

    agents: tuple[str, ...]
    matches: dict[tuple[str, str], MatchResult]

    def score(self, agent: str, other: str) -> tuple[float, float]:
        """Return the score of `agent` against `other` and half the width of its interval."""
        match = self.matches.get((agent, other)) or self.matches[(other, agent)]
        mine = match.standings[0 if match.standings[0].agent == agent else 1]
        return mine.score, (mine.score_interval[1] - mine.score_interval[0]) / 2

    def mean_score(self, agent: str) -> float:
        """Return the mean score of an agent over all others."""
        others = [other for other in self.agents if other != agent]
        return sum(self.score(agent, other)[0] for other in others) / len(others)

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
    return Tournament(tuple(agents), results)
