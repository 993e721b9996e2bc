"""Regret matching for Kuhn poker: the average strategy converges to an equilibrium.

M. Zinkevich and others, "Regret Minimization in Games with Incomplete Information", 2007. Both
seats play from one table. In each round over all deals, the regret of an action grows by how much
better it would have done than the strategy; actions are played in proportion to positive regret.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardlab.engine.errors import CardlabError
from cardlab.learning.runs import open_run, provenance, read_json, write_json
from kuhn.rules import GAME
from kuhn.strategies import DEALS, ENDS, KNOWN, payoff, value

__all__ = ["Config", "train"]

CHECKPOINT = 500  # rounds
PASS, BET = range(2)


@dataclass(frozen=True)
class Config:
    """The settings of the training."""

    rounds: int = 5000  # rounds over all deals


class Learner:
    """Regrets and sums of strategies, by what a seat knows."""

    def __init__(self, stored: dict[str, Any] | None) -> None:
        empty = {known: [0.0, 0.0] for known in KNOWN}
        stored = stored or {"rounds": 0, "regrets": empty, "sums": {**empty}}
        self.rounds: int = stored["rounds"]
        self.regrets = {known: list(pair) for known, pair in stored["regrets"].items()}
        self.sums = {known: list(pair) for known, pair in stored["sums"].items()}

    def learn(self) -> None:
        """Play every deal with the present strategy and learn from it."""
        self.bets = {known: share(*map(positive, pair)) for known, pair in self.regrets.items()}
        for cards in DEALS:
            self.visit(cards, "", (1.0, 1.0))
        self.rounds += 1

    def visit(self, cards: tuple[str, str], said: str, reach: tuple[float, float]) -> float:
        """Return seat 0's chips from here; `reach` is the probability of each seat's actions."""
        if said in ENDS:
            return payoff(cards, said)
        seat = len(said) % 2
        known = cards[seat] + said
        chances = (1 - self.bets[known], self.bets[known])
        won = []
        for letter, chance in zip("pb", chances, strict=True):
            there = (reach[0] * chance, reach[1]) if seat == 0 else (reach[0], reach[1] * chance)
            won.append(self.visit(cards, said + letter, there))
        mean = chances[PASS] * won[PASS] + chances[BET] * won[BET]
        sign = 1 if seat == 0 else -1
        for action in (PASS, BET):
            self.regrets[known][action] += reach[1 - seat] * sign * (won[action] - mean)
            self.sums[known][action] += reach[seat] * chances[action]
        return mean

    @property
    def table(self) -> dict[str, float]:
        """The average strategy: the probability of a bet."""
        return {known: round(share(*pair), 4) for known, pair in self.sums.items()}


def positive(number: float) -> float:
    """Return a number, or 0 if it is negative."""
    return max(0.0, number)


def share(of_pass: float, of_bet: float) -> float:
    """Return the share of a bet; one half if both are 0."""
    return of_bet / (of_pass + of_bet) if of_pass + of_bet > 0 else 0.5


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Learn until all rounds are played; return the summary."""
    if config.rounds < 1:
        raise CardlabError(f"rounds must be at least 1, got {config.rounds}")
    open_run(folder, config)
    learner = Learner(read_json(folder / "checkpoint.json"))
    while learner.rounds < config.rounds:
        learner.learn()
        if learner.rounds % CHECKPOINT == 0 or learner.rounds == config.rounds:
            state = {"rounds": learner.rounds, "regrets": learner.regrets, "sums": learner.sums}
            write_json(folder / "checkpoint.json", state)
            report("rounds", learner.rounds, config.rounds)
    table = learner.table
    won = sum(value(cards, "", table) for cards in DEALS) / len(DEALS)
    summary = {
        "rounds": learner.rounds,
        "chips that seat 0 wins a game": round(won, 4),
        "the jack of seat 0 bluffs": table["J"],
        "the jack of seat 1 bluffs": table["Jp"],
    }
    write_json(folder / "equilibrium.json", table)
    about = provenance(GAME, "cardlab train kuhn/regret_matching", config)
    write_json(folder / "summary.json", {**about, "summary": summary})
    return summary
