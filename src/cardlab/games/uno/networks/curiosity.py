"""Curiosity: a bonus for transitions that a model of the game predicts badly.

After Pathak and others, "Curiosity-driven exploration by self-supervised prediction" (2017), which
the Uno paper names as future work. A small encoder is trained so that the action can be predicted
from the turns before and after it; another layer predicts the encoded turn after from the one
before and the action. The bonus is half the squared error of that prediction.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cardlab.engine import seeding

FORWARD_SHARE = 0.2  # of the loss; the rest is telling the action, as in the paper


class Curiosity(nn.Module):
    """Bonus and loss of a batch of transitions."""

    def __init__(self, inputs: int, actions: int, seed: int, width: int = 64) -> None:
        super().__init__()
        self.actions = actions
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seeding.stream(seed, "curiosity"))
            self.encoder = nn.Sequential(nn.Linear(inputs, width), nn.ReLU())
            self.predict = nn.Sequential(
                nn.Linear(width + actions, width), nn.ReLU(), nn.Linear(width, width)
            )
            self.tell = nn.Sequential(
                nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, actions)
            )

    def forward(
        self, before: Tensor, actions: Tensor, after: Tensor, ended: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the bonus of each transition, 0 where a game ended, and the model's own loss."""
        seen, later = self.encoder(before.float()), self.encoder(after.float())
        done = nn.functional.one_hot(actions, self.actions).to(seen.dtype)
        guess = self.predict(torch.cat([seen.detach(), done], dim=1))
        error = 0.5 * (guess - later.detach()).square().mean(dim=1).masked_fill(ended, 0.0)
        inverse = nn.functional.cross_entropy(
            self.tell(torch.cat([seen, later], dim=1)), actions, reduction="none"
        ).masked_fill(ended, 0.0)
        loss = FORWARD_SHARE * error.mean() + (1 - FORWARD_SHARE) * inverse.mean()
        return error.detach(), loss
