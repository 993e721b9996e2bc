"""Blocks of decisions, steps x rows, for learners of Uno that wait for the results of games.

What these learners share besides, from their settings to the loop that plays and learns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.games.uno.hidden_hands import MAX_SEATS
from cardlab.games.uno.learning.games import Games, Play, trace_targets
from cardlab.games.uno.learning.runs import (
    ALL_TABLES,
    Method,
    Report,
    Run,
    Settings,
    end_games,
    make_games,
    new_network,
    new_optimiser,
    run_stretches,
    tables_of,
)
from cardlab.games.uno.networks.q_networks import QNetwork
from cardlab.learning.devices import choose_device

SPAN = 1 << 16  # decisions that are valued at once


@dataclass(frozen=True)
class BlockSettings(Settings):
    """Settings of learners in blocks."""

    alpha_end: float = 0.00002
    trace: float = 1.0
    block: int = 96
    self_play: float = 0.5
    heuristic: float = 0.0


@dataclass(frozen=True)
class Rollout:
    """All decisions of some steps: what was seen, legal and done, by whom, and what ended."""

    features: Tensor  # steps, rows, inputs
    legal: Tensor  # steps, rows
    actions: Tensor
    seats: Array
    ended: Array  # steps + 1, rows: before this step
    winner: Array

    @property
    def decisions(self) -> int:
        """How many decisions the block has."""
        return self.actions.numel()

    def targets(self, values: Tensor, trace: float) -> tuple[Tensor, Tensor]:
        """Return the target of every decision, and which of them have one.

        `values` are what the states were held to be worth, steps x rows.
        """
        out = np.zeros(self.seats.shape, dtype=np.float32)
        known = np.zeros(self.seats.shape, dtype=np.uint8)
        held = values.float().cpu().numpy()
        scratch = np.zeros((self.seats.shape[1], MAX_SEATS, 3), dtype=np.float32)
        trace_targets(self.seats, self.ended, self.winner, held, trace, out, known, scratch)
        device = values.device
        return torch.from_numpy(out).to(device), torch.from_numpy(known).to(device).bool()


def shuffled(places: Tensor, batch: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Yield places in random order, `batch` at a time; too small a rest is left out."""
    order = torch.randperm(len(places), generator=generator, device=places.device)
    for some in torch.split(order, batch):
        if len(some) >= batch // 2 or len(order) < batch:
            yield places[some]


def collect(
    games: Games,
    steps: int,
    device: torch.device,
    choose: Callable[[Tensor, Tensor], Tensor],
    explore: float = 0.0,
) -> Rollout:
    """Play so many steps in all rows, choosing from features and legal outputs."""
    rows = games.rows
    inputs = games.features.shape[1]
    features = torch.empty((steps, rows, inputs), dtype=torch.uint8, device=device)
    legal = torch.empty((steps, rows), dtype=torch.int64, device=device)
    actions = torch.empty((steps, rows), dtype=torch.int64, device=device)
    seats = np.empty((steps, rows), dtype=np.uint8)
    ended = np.zeros((steps + 1, rows), dtype=np.uint8)
    winner = np.zeros((steps + 1, rows), dtype=np.uint8)
    for t in range(steps):
        features[t].copy_(torch.from_numpy(games.features), non_blocking=True)
        legal[t].copy_(torch.from_numpy(games.legal), non_blocking=True)
        seats[t] = games.seats
        games.step(choose(features[t], legal[t]).cpu().numpy(), explore)
        actions[t].copy_(torch.from_numpy(games.choices))
        ended[t + 1], winner[t + 1] = games.ended, games.winner
    return Rollout(features, legal, actions, seats, ended, winner)


def between(start: float, end: float, progress: float) -> float:
    """Return a number that goes from `start` to `end` by a constant factor."""
    return float(start * (end / start) ** progress)


def learn_blocks(
    run: Run,
    network: QNetwork,
    optimiser: Optimizer,
    choose: Callable[[Tensor, Tensor], Tensor],
    losses_of: Callable[[Rollout], Iterable[Tensor]],
    *,
    explore: float = 0.0,
    clip: float = 0.0,
    log: Mapping[str, float],
) -> dict[str, float]:
    """Play blocks until the games of the stretch are over, with a step for each of their losses.

    `clip` is the greatest length of a gradient, if there is one; `log` are numbers for its line.
    """
    config = run.config
    assert isinstance(config, BlockSettings)
    play = Play(skip_forced=True, self_play=config.self_play, heuristic=config.heuristic)
    games = make_games(run, play)
    for group in optimiser.param_groups:
        group["lr"] = between(config.alpha, config.alpha_end, run.progress)
    losses = []
    decisions = 0
    while games.finished < run.games:
        block = collect(games, config.block, run.device, choose, explore)
        decisions += block.decisions
        for loss in losses_of(block):
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            if clip:
                nn.utils.clip_grad_norm_(network.parameters(), clip)
            optimiser.step()
            losses.append(loss.detach())
    return end_games(games, losses, decisions=decisions, **log)


def train_blocks(
    config: BlockSettings,
    folder: Path,
    report: Report,
    name: str,
    learn: Callable[..., dict[str, float]],  # one stretch: run, network, optimiser
    heads: int = 1,
) -> dict[str, Any]:
    """Play and learn all games of a run by a method that learns in blocks."""
    if min(config.alpha, config.alpha_end) <= 0 or config.batch < 1 or config.block < 2:
        raise CardlabError("alpha and alpha_end must be above 0, batch 1 or more, block 2 or more")
    tables_of(config.seats, config.rules)  # a mistake in them is said at once
    network = new_network(config, heads).to(choose_device(config.device))
    optimiser = new_optimiser(config, network.parameters())
    method = Method(
        f"cardlab train uno/{name}",
        network,
        {"network": network},
        optimiser,
        partial(learn, network=network, optimiser=optimiser),
        ALL_TABLES,
    )
    return run_stretches(config, folder, report, method)
