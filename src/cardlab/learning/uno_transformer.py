"""A card transformer for Uno that learns from the results of games against itself.

The network of the paper on Koi-Koi, fed by `features.tokens_uno`; how it learns is told in
`token_training`. Games have `seats` seats and follow one rule set or, in equal shares, both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardlab.agents.heuristics.uno import choose
from cardlab.errors import CardlabError
from cardlab.features.tokens_uno import (
    ENCODING,
    MOST_CHOICES,
    WIDTH,
    action_of_token,
    symmetries,
    write_choices,
    write_view,
)
from cardlab.games.uno import GAME, RULES
from cardlab.games.uno_knowledge import MAX_SEATS
from cardlab.learning import token_training
from cardlab.learning.token_games import Tokens
from cardlab.learning.token_training import Subject, read_seats
from cardlab.learning.uno_games import table

__all__ = ["TOKENS", "Config", "subject", "train"]

TOKENS = Tokens(
    game=GAME,
    choose=choose,
    write_view=write_view,
    write_choices=write_choices,
    action_of_token=action_of_token,
    width=WIDTH,
    most_choices=MOST_CHOICES,
    episodes=MAX_SEATS,
)
MEASURED = ((2, "rlcard"), (3, "rlcard"), (2, "official"))


@dataclass(frozen=True)
class Config(token_training.Config):
    """What can be set."""

    seats: str = "2-5"
    rules: str = "both"


def subject(config: Config) -> Subject:
    """Return what a run learns, and where it is measured."""
    numbers = read_seats(config.seats, MAX_SEATS)
    if config.rules not in (*RULES, "both"):
        known = ", ".join(RULES)
        raise CardlabError(f"setting rules={config.rules} is not possible; give {known} or both")
    rules = RULES if config.rules == "both" else (config.rules,)
    tables = [table(number, one) for number in numbers for one in rules]
    measured = {
        f"{one}, {number} seats": table(number, one)
        for number, one in MEASURED
        if number in numbers and one in rules
    }
    if not measured:
        measured = {f"{rules[0]}, {numbers[0]} seats": tables[0]}
    return Subject(TOKENS, ENCODING, symmetries(), tables, measured, MAX_SEATS)


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Play and learn until all games are played or the time is up; return how it stands."""
    command = "cardlab train uno/transformer"
    return token_training.train(config, subject(config), folder, report, command)
