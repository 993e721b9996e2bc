"""The paper's search for settings of DQN or DeepSARSA on Uno: gamma, alpha and epsilon.

Paper: "Winning Uno With Reinforcement Learning", section 6: gamma 0.75, 0.825, 0.95; alpha
0.0001, 0.001, 0.01; epsilon 0.8, 0.95; 40,000 iterations of 100 games each. Each of the 18 cells is
a run of `learning.dqn` in a folder of its own; a stopped search resumes.
This is a training of its own rather than an option of `cardlab train`, so that it has settings, a
folder and progress as every other one, and runs where the command line is not installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from cardlab.games.uno.learning import dqn as deep_q
from cardlab.games.uno.learning.comparison import run_all
from cardlab.games.uno.learning.runs import Common, Report

GAMMAS, ALPHAS, EPSILONS = (0.75, 0.825, 0.95), (0.0001, 0.001, 0.01), (0.8, 0.95)


@dataclass(frozen=True)
class Config(Common):
    """What all cells share; `minutes` are for each."""

    method: str = "dqn"
    games: int = 4_000_000
    encoding: str = "paper"
    rules: str = "rlcard"
    batch: int = 2048
    stretches: int = 10
    evaluation_games: int = 10_000


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Train every cell; return its win shares by number of seats."""
    cells = {
        f"gamma {gamma} alpha {alpha} epsilon {epsilon}".replace(" ", "_"): (
            deep_q.train,
            deep_q.Config(
                gamma=gamma,
                alpha=alpha,
                epsilon=epsilon,
                evaluate_every=config.stretches,
                **{name: getattr(config, name) for name in config.__dataclass_fields__},
            ),
        )
        for gamma, alpha, epsilon in product(GAMMAS, ALPHAS, EPSILONS)
    }
    return run_all(config, cells, folder, report)
