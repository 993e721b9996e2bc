"""Deep Monte Carlo for Uno: the value of an action is the result of the game that followed it.

After Zha and others, "DouZero" (2021): with Q(s, a) -> z, where z is 1 for a game won and -1 for a
game lost, and play that takes the best action but for a few random ones. The paper on Uno trains at
three seats and reports that its agents do not carry over to more; here every game has a random
number of seats and one of both rule sets, which the encoding `fair` tells. In a share `self_play`
of the games all seats are the learner, in a share `heuristic` the others follow the heuristic, in
the rest they are random.

`trace` below 1 replaces z by a mixture with the values of the same seat's later decisions, which
vary less (Sarsa with traces). Games play on in blocks of `block` steps; where a block ends before a
game, the value of the seat's last decision in it stands for the result. Decisions with one legal
action are taken without being learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from cardlab.engine.errors import CardlabError
from cardlab.games.uno.features import NUM_OUTPUTS
from cardlab.games.uno.learning.blocks import (
    SPAN,
    BlockSettings,
    Rollout,
    between,
    learn_blocks,
    shuffled,
    train_blocks,
)
from cardlab.games.uno.learning.runs import Report, Run, greedy, quick
from cardlab.games.uno.learning.runs import export as export
from cardlab.games.uno.networks.q_networks import QNetwork, set_bits


@dataclass(frozen=True)
class Config(BlockSettings):
    """Settings of the training."""

    epsilon: float = 0.1
    epsilon_end: float = 0.02


def best_values(network: nn.Module, features: Tensor, legal: Tensor) -> Tensor:
    """Return the value of the best legal output of every decision of a block."""
    flat, sets = features.flatten(0, 1), legal.flatten()
    found = []
    for some in torch.split(torch.arange(len(flat), device=flat.device), SPAN):
        with quick(flat.device):
            values = network(flat[some])[:, :NUM_OUTPUTS].float()
        found.append(values.masked_fill(~set_bits(sets[some]), -torch.inf).amax(dim=1))
    return torch.cat(found).reshape(legal.shape)


def learn(run: Run, config: Config, network: QNetwork, optimiser: Optimizer) -> dict[str, float]:
    """Play blocks and learn each decision once, until the games of the stretch are over."""
    generator = run.generator()
    explore = between(config.epsilon, config.epsilon_end, run.progress)

    def losses_of(block: Rollout) -> Iterator[Tensor]:
        values = best_values(network, block.features, block.legal)
        targets, known = block.targets(values, config.trace)
        features, actions = block.features.flatten(0, 1), block.actions.flatten()
        goals = targets.flatten()
        places = known.flatten().nonzero().squeeze(1)
        for some in shuffled(places, config.batch, generator):
            found = network(features[some]).gather(1, actions[some].unsqueeze(1)).squeeze(1)
            yield nn.functional.mse_loss(found, goals[some])

    choose = partial(greedy, network)
    return learn_blocks(
        run, network, optimiser, choose, losses_of, explore=explore, log={"epsilon": explore}
    )


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Play and learn all games of a run, or those that are left; return the summary."""
    if not (0 < config.epsilon_end <= config.epsilon <= 1 and 0 <= config.trace <= 1):
        raise CardlabError(
            "epsilon and epsilon_end lie above 0 and at most at 1, in order; trace from 0 to 1"
        )
    learn_stretch = partial(learn, config=config)
    return train_blocks(config, folder, report, "deep_monte_carlo", learn_stretch)
