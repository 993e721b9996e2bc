"""A card transformer for Crazy Eights that learns from the results of games against itself.

The network of the paper on Koi-Koi, fed by `tokens`; `learning.token_training` says how it learns.
Games have `seats` seats, two as often as all other numbers together, by the rules as they are
without options.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardlab.engine.game import Array
from cardlab.games.crazy_eights import tokens
from cardlab.games.crazy_eights.heuristic import choose
from cardlab.games.crazy_eights.networks.expansion import CrazyEightsExpansion
from cardlab.games.crazy_eights.rules import GAME, MAX_SEATS
from cardlab.learning import token_training
from cardlab.learning.runs import Report, read_seats
from cardlab.learning.token_games import Tokens
from cardlab.learning.token_training import Subject

TOKENS = Tokens.of_module(tokens, GAME, choose, episodes=MAX_SEATS)


@dataclass(frozen=True)
class Config(token_training.Config):
    """Settings of the training."""


def table(seats: int) -> Array:
    """Return a game that waits for its deal."""
    return GAME.fresh(**GAME.read_options({"seats": seats}))


def subject(config: Config) -> Subject:
    """Return what a run learns, and where it is measured."""
    numbers = read_seats(config.seats, MAX_SEATS)
    two = [table(2)] * (len(numbers) - 1) if 2 in numbers else []
    tables = [*(two or [table(numbers[0])]), *(table(number) for number in numbers[1:])]
    measured = {f"{number} seats": table(number) for number in numbers[:2]}
    return Subject(
        TOKENS,
        CrazyEightsExpansion,
        tokens.ENCODING,
        tokens.symmetries(),
        tables,
        measured,
        MAX_SEATS,
    )


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Play and learn until all games are played or the time is up; return the summary."""
    command = "cardlab train crazy_eights/transformer"
    return token_training.train(config, subject(config), folder, report, command)


def export(run: Path, name: str, target: Path) -> list[Path]:
    """Write the network of a run as the files that `agents.token_network` plays."""
    return token_training.export(CrazyEightsExpansion, run, name, target)
