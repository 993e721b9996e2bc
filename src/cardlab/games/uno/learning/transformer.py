"""A card transformer for Uno that learns from the results of games against itself.

The network of the paper on Koi-Koi, fed by `tokens`; `learning.token_training` says how it learns.
Games have `seats` seats and follow one rule set or, in equal shares, both.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardlab.engine.errors import CardlabError
from cardlab.games.uno import tokens
from cardlab.games.uno.heuristic import choose
from cardlab.games.uno.hidden_hands import MAX_SEATS
from cardlab.games.uno.learning.games import table
from cardlab.games.uno.networks.expansion import UnoExpansion
from cardlab.games.uno.rules import GAME, RULES
from cardlab.learning import token_training
from cardlab.learning.runs import Report, read_seats
from cardlab.learning.token_games import Tokens
from cardlab.learning.token_training import Subject

TOKENS = Tokens.of_module(tokens, GAME, choose, episodes=MAX_SEATS)
MEASURED = ((2, "rlcard"), (3, "rlcard"), (2, "official"))


@dataclass(frozen=True)
class Config(token_training.Config):
    """Settings of the training."""

    seats: str = "2-5"
    rules: str = "both"


def subject(config: Config) -> Subject:
    """Return what a run learns, and where it is measured."""
    numbers = read_seats(config.seats, MAX_SEATS)
    if config.rules not in (*RULES, "both"):
        known = ", ".join(RULES)
        raise CardlabError(f"setting rules must be {known} or both, got {config.rules}")
    rules = RULES if config.rules == "both" else (config.rules,)
    tables = [table(number, one) for number in numbers for one in rules]
    measured = {
        f"{one}, {number} seats": table(number, one)
        for number, one in MEASURED
        if number in numbers and one in rules
    }
    if not measured:
        measured = {f"{rules[0]}, {numbers[0]} seats": tables[0]}
    return Subject(
        TOKENS, UnoExpansion, tokens.ENCODING, tokens.symmetries(), tables, measured, MAX_SEATS
    )


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Play and learn until all games are played or the time is up; return the summary."""
    command = "cardlab train uno/transformer"
    return token_training.train(config, subject(config), folder, report, command)


def export(run: Path, name: str, target: Path) -> list[Path]:
    """Write the network of a run as the files that `agents.token_network` plays."""
    return token_training.export(UnoExpansion, run, name, target)
