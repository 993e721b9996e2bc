"""Blocks of decisions, steps x rows, for learners of Uno that wait for the results of games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from cardlab.engine.game import Array
from cardlab.games.uno.hidden_hands import MAX_SEATS
from cardlab.games.uno.learning.games import Games, trace_targets

__all__ = ["Rollout", "collect", "shuffled"]


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
