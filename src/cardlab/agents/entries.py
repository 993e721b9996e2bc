"""The agents of any game, and those of a manifest, with their measured strength.

Nothing here imports rules or agents, so that lists and completion are quick.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cardlab.engine.errors import CardlabError
from cardlab.engine.manifest import AgentEntry, GamePackage, Parameter

__all__ = ["Strength", "agents_in", "strength_in"]

NUMBER = r"\d{1,3}(?:\.\d{1,9})?"
MEASURED = re.compile(
    rf"(?P<score>{NUMBER})(?: ± (?P<margin>{NUMBER}))? \((?P<games>\d[\d,]{{0,19}}) games\)"
)


@dataclass(frozen=True)
class Strength:
    """The score of an agent against `random`, in percent, and what it rests on."""

    score: float
    margin: float | None  # half of the 95 % interval; None: every game ended alike
    games: int  # 0: by symmetry, without a game

    @classmethod
    def read(cls, text: str) -> Strength:
        """Return what a text such as `59.5 ± 0.6 (20,000 games)` says."""
        found = MEASURED.fullmatch(text)
        if not found:
            raise CardlabError(f"{text!r} is no strength; write it as 59.5 ± 0.6 (20,000 games)")
        margin = float(found["margin"]) if found["margin"] else None
        return cls(float(found["score"]), margin, int(found["games"].replace(",", "")))

    @property
    def score_text(self) -> str:
        """The score and its interval as a person would write them."""
        return f"{self.score:.1f}" + (f" ± {self.margin:.1f}" if self.margin else "")

    def __str__(self) -> str:
        return f"{self.score_text} ({f'{self.games:,} games' if self.games else 'by symmetry'})"


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
def _strengths(path: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def strength_in(entry: AgentEntry, package: GamePackage) -> Strength | None:
    """Return the score of an agent against `random`, or None where none was measured."""
    known = _strengths(package.shipped("strength.json"))
    if entry.name == "random" and known:
        return Strength(50.0, 0.0, 0)
    return Strength.read(known[entry.usage]) if entry.usage in known else None
