"""The agents of any game, and those of a manifest, with their measured strength.

Nothing here imports rules or agents, so that lists and completion are quick.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cardlab.engine.manifest import AgentEntry, GamePackage, Parameter

__all__ = ["REFERENCE", "Strength", "agents_in", "strength_in"]

REFERENCE = "heuristic"  # the agent that all others are measured against


@dataclass(frozen=True)
class Strength:
    """How well an agent plays: its score against `heuristic`, and its rating among all agents."""

    score: float  # in percent; a draw counts half
    margin: float | None  # half of the 95 % interval; None: every game ended alike
    games: int  # against `heuristic`; 0: it is `heuristic` itself
    rating: int  # on the scale of Elo, `heuristic` = 0
    rating_low: int | None  # the 95 % interval; None: no bound, as it lost every game
    rating_high: int | None  # likewise, as it won every game

    @property
    def score_text(self) -> str:
        """The score and its interval as a person would write them."""
        return f"{self.score:.1f}" + (f" ± {self.margin:.1f}" if self.margin else "")

    @property
    def rating_text(self) -> str:
        """The rating and its interval as a person would write them."""
        low, high = self.rating_low, self.rating_high
        if low is None:
            return f"{self.rating:+}" if high is None else f"< {high:+}"
        if high is None:
            return f"> {low:+}"
        return f"{self.rating:+} [{low:+}, {high:+}]" if low < high else f"{self.rating}"

    def __str__(self) -> str:
        return self.score_text + (f" ({self.games:,} games)" if self.games else "")


TREES = Parameter("trees", 1, 1, "trees that share the budget", high=64)
THREADS = Parameter("threads", 1, 1, "threads; they change the time only", high=64)

# Agents of any game; those of one game stand in its manifest.
RANDOM = AgentEntry("random", "takes any legal action", "cardlab.agents.random_agent:RandomAgent")
HEURISTIC = AgentEntry(
    "heuristic",
    "follows a few simple rules of the game",
    "cardlab.agents.heuristic:Heuristic",
)
SEARCHERS = (
    AgentEntry(
        "monte_carlo",
        "tries every action in sampled worlds and plays each out at random",
        "cardlab.agents.searchers:MonteCarlo",
        (Parameter("playouts", 1000, 1, "play-outs a decision, over all actions"), THREADS),
    ),
    AgentEntry(
        "information_set",
        "information-set MCTS: one tree over sampled worlds",
        "cardlab.agents.searchers:InformationSet",
        (
            Parameter("iterations", 1000, 1, "worlds and play-outs a decision"),
            Parameter("c", 1.0, 0, "weight of exploration"),
            TREES,
            THREADS,
        ),
    ),
    AgentEntry(
        "monte_carlo_open",
        "plays every action out at random from the true state",
        "cardlab.agents.searchers:MonteCarloOpen",
        (Parameter("playouts", 1000, 1, "play-outs an action"),),
    ),
    AgentEntry(
        "uct_open",
        "tree search on the true state: sees all cards",
        "cardlab.agents.searchers:UctOpen",
        (
            Parameter("simulations", 1000, 1, "play-outs a decision"),
            Parameter("c", 1.4, 0, "weight of exploration"),
            TREES,
            THREADS,
        ),
    ),
)


def agents_in(package: GamePackage) -> list[AgentEntry]:
    """Return the entries that can play the game of a manifest."""
    first = (RANDOM, HEURISTIC) if package.heuristic else (RANDOM,)
    return [*first, *package.agents, *SEARCHERS]


@cache
def _strengths(path: Path) -> dict[str, Strength]:
    """Return what a table that `benchmarks/strength.py` has written says, by agent."""
    if not path.is_file():
        return {}
    try:
        agents = json.loads(path.read_text(encoding="utf-8"))["agents"]
        return {agent: Strength(**values) for agent, values in agents.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}  # of another version: nothing is known


def strength_in(entry: AgentEntry, package: GamePackage) -> Strength | None:
    """Return the measured strength of an agent, or None if it was not measured."""
    return _strengths(package.shipped("strength.json")).get(entry.usage)
