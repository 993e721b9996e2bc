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

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cardlab.engine.errors import CardlabError
from cardlab.games.uno.features import NUM_OUTPUTS
from cardlab.games.uno.learning.blocks import collect, shuffled
from cardlab.games.uno.learning.games import Games, Play
from cardlab.games.uno.learning.runs import (
    ALL_TABLES,
    Method,
    Report,
    Run,
    export,
    greedy,
    new_network,
    quick,
    run_stretches,
    tables_of,
)
from cardlab.games.uno.networks.q_networks import QNetwork, set_bits
from cardlab.learning.devices import choose_device

__all__ = ["Config", "export", "train"]

SPAN = 1 << 16  # decisions that are valued at once


@dataclass(frozen=True)
class Config:
    """What can be set."""

    games: int = 20_000_000
    alpha: float = 0.0005
    alpha_end: float = 0.00002
    epsilon: float = 0.1
    epsilon_end: float = 0.02
    trace: float = 1.0
    block: int = 96
    self_play: float = 0.5
    heuristic: float = 0.0
    encoding: str = "fair"
    network: str = "colours"
    width: int = 256
    layers: int = 3
    seats: str = "2-10"
    rules: str = "both"
    rows: int = 4096
    batch: int = 4096
    stretches: int = 50
    evaluate_every: int = 5
    evaluation_games: int = 4000
    seed: int = 0
    minutes: float = 0.0
    threads: int = 2
    device: str = "auto"


def best_values(network: nn.Module, features: Tensor, legal: Tensor) -> Tensor:
    """Return the value of the best legal output of every decision of a block."""
    flat, sets = features.flatten(0, 1), legal.flatten()
    found = []
    for some in torch.split(torch.arange(len(flat), device=flat.device), SPAN):
        with quick(flat.device):
            values = network(flat[some])[:, :NUM_OUTPUTS].float()
        found.append(values.masked_fill(~set_bits(sets[some]), -torch.inf).amax(dim=1))
    return torch.cat(found).reshape(legal.shape)


def between(start: float, end: float, progress: float) -> float:
    """Return a number that goes from `start` to `end` by a constant factor."""
    return float(start * (end / start) ** progress)


def learn(
    run: Run, config: Config, network: QNetwork, optimiser: torch.optim.Optimizer
) -> dict[str, float]:
    """Play blocks and learn each decision once, until the games of the stretch are over."""
    games = Games(
        run.rows,
        tables_of(config.seats, config.rules),
        config.encoding,
        seed=run.seed("games"),
        play=Play(skip_forced=True, self_play=config.self_play, heuristic=config.heuristic),
        threads=config.threads,
        pinned=run.device.type == "cuda",
    )
    generator = run.generator()
    for group in optimiser.param_groups:
        group["lr"] = between(config.alpha, config.alpha_end, run.progress)
    explore = between(config.epsilon, config.epsilon_end, run.progress)
    losses = []
    decisions = 0
    while games.finished < run.games:
        block = collect(
            games,
            config.block,
            run.device,
            lambda seen, legal: greedy(network, seen, legal),
            explore,
        )
        decisions += block.decisions
        values = best_values(network, block.features, block.legal)
        targets, known = block.targets(values, config.trace)
        features, actions = block.features.flatten(0, 1), block.actions.flatten()
        goals = targets.flatten()
        places = known.flatten().nonzero().squeeze(1)
        for some in shuffled(places, config.batch, generator):
            found = network(features[some]).gather(1, actions[some].unsqueeze(1)).squeeze(1)
            loss = nn.functional.mse_loss(found, goals[some])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            losses.append(loss.detach())
    played, won = games.tally.sum(axis=0)
    games.close()
    return {
        "loss": float(torch.stack(losses).mean()) if losses else 0.0,
        "updates": len(losses),
        "decisions": decisions,
        "epsilon": explore,
        "training_win_share": 100 * float(won) / max(1, int(played)),
    }


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Play and learn all games of a run, or those that are left; return what came out."""
    if not (0 < config.epsilon_end <= config.epsilon <= 1 and 0 <= config.trace <= 1):
        raise CardlabError(
            "epsilon and epsilon_end lie above 0 and at most at 1, in order; trace from 0 to 1"
        )
    if min(config.alpha, config.alpha_end) <= 0 or config.batch < 1 or config.block < 2:
        raise CardlabError("alpha and alpha_end must be above 0, batch 1 or more, block 2 or more")
    tables_of(config.seats, config.rules)  # a mistake in them is said at once
    device = choose_device(config.device)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    network = new_network(config).to(device)
    optimiser = torch.optim.Adam(
        network.parameters(), lr=config.alpha, fused=device.type == "cuda" or None
    )
    method = Method(
        "cardlab train uno/deep_monte_carlo",
        network,
        {"network": network},
        optimiser,
        lambda run: learn(run, config, network, optimiser),
        ALL_TABLES,
    )
    return run_stretches(config, folder, report, method)
