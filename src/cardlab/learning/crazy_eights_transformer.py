"""A card transformer for Crazy Eights that learns from the results of games against itself.

The network of the paper on Koi-Koi, fed by `features.tokens_crazy_eights`; how it learns is told in
`token_training`. Games have `seats` seats, two as often as all other numbers together, by the rules
as they are without options.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardlab.agents.heuristics.crazy_eights import choose
from cardlab.features.tokens_crazy_eights import (
    ENCODING,
    MOST_CHOICES,
    WIDTH,
    action_of_token,
    symmetries,
    write_choices,
    write_view,
)
from cardlab.game import Array
from cardlab.games.crazy_eights import GAME, MAX_SEATS
from cardlab.learning import token_training
from cardlab.learning.token_games import Tokens
from cardlab.learning.token_training import Subject, read_seats

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


@dataclass(frozen=True)
class Config(token_training.Config):
    """What can be set."""


def table(seats: int) -> Array:
    """Return a game that waits for its deal."""
    return GAME.fresh(**GAME.read_options({"seats": seats}))


def subject(config: Config) -> Subject:
    """Return what a run learns, and where it is measured."""
    numbers = read_seats(config.seats, MAX_SEATS)
    two = [table(2)] * (len(numbers) - 1) if 2 in numbers else []
    tables = [*(two or [table(numbers[0])]), *(table(number) for number in numbers[1:])]
    measured = {f"{number} seats": table(number) for number in numbers[:2]}
    return Subject(TOKENS, ENCODING, symmetries(), tables, measured, MAX_SEATS)


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Play and learn until all games are played or the time is up; return how it stands."""
    command = "cardlab train crazy_eights/transformer"
    return token_training.train(config, subject(config), folder, report, command)
