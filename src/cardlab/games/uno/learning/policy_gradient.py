"""Policy gradient for Uno: an actor and a critic in one network, with clipped steps.

After Schulman and others, "Proximal policy optimization" (2017). The network has two heads of 61:
the policy, from which play draws its actions, and the values Q(s, a). The advantage of an action is
its target minus V(s), the mean of Q(s, .) under the policy; targets mix the result of the game with
the values of the same seat's later decisions by `trace`. Each block of decisions is learned
`epochs` times with

    min(ratio * advantage, clip(ratio, 1 - clip, 1 + clip) * advantage)
        - critic * (Q(s, a) - target)^2 + entropy * entropy of the policy

Tables, seats that do not learn and blocks: as in `learning.deep_monte_carlo`. A result of a whole
game says little of one decision in it; an advantage over V leaves most of that noise out, so that
the policy improves with far fewer games than values learned from results alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

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
from cardlab.games.uno.learning.runs import Report, Run, half, quick
from cardlab.games.uno.learning.runs import export as export
from cardlab.games.uno.networks.q_networks import QNetwork, set_bits

LOWEST = -1e9  # for what is not legal: finite, so that 0 times it is 0


class Samples(NamedTuple):
    """Decisions that have a target, their advantages, and the log chances they were taken at."""

    features: Tensor
    legal: Tensor
    actions: Tensor
    targets: Tensor
    advantages: Tensor
    chances: Tensor


@dataclass(frozen=True)
class Config(BlockSettings):
    """Settings of the training."""

    trace: float = 0.9
    clip: float = 0.2
    critic: float = 0.5
    entropy: float = 0.01
    entropy_end: float = 0.0005
    epochs: int = 2
    block: int = 48
    self_play: float = 0.3
    heuristic: float = 0.1
    batch: int = 8192


def read_heads(
    network: nn.Module, features: Tensor, legal: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return log chances and values of all outputs, and the value of the state."""
    with half(features.device):
        answer = network(features)
    policy, values = answer.float().chunk(2, dim=1)
    chances = policy.masked_fill(~set_bits(legal), LOWEST).log_softmax(dim=1)
    return chances, values, (chances.exp() * values).sum(dim=1)


def draw(network: nn.Module, features: Tensor, legal: Tensor, generator: torch.Generator) -> Tensor:
    """Return an output for every row, drawn from the policy."""
    with quick(features.device):
        policy = network(features)[:, :NUM_OUTPUTS].float()
    noise = torch.empty_like(policy).exponential_(generator=generator).log()  # Gumbel, negated
    return (policy - noise).masked_fill(~set_bits(legal), -torch.inf).argmax(dim=1)


@torch.no_grad()
def judge(network: nn.Module, block: Rollout, trace: float) -> Samples:
    """Return the decisions of a block that have a target, with advantages and log chances."""
    features, legal, actions = block.features.flatten(0, 1), block.legal.flatten(), block.actions
    parts = []
    for some in torch.split(torch.arange(len(features), device=features.device), SPAN):
        chances, _, worth = read_heads(network, features[some], legal[some])
        taken = actions.flatten()[some].unsqueeze(1)
        parts.append((chances.gather(1, taken).squeeze(1), worth))
    chances, worth = (torch.cat(part) for part in zip(*parts, strict=True))
    targets, known = block.targets(worth.reshape(actions.shape), trace)
    keep = known.flatten().nonzero().squeeze(1)
    advantages = (targets.flatten() - worth)[keep]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    return Samples(
        features[keep],
        legal[keep],
        actions.flatten()[keep],
        targets.flatten()[keep],
        advantages,
        chances[keep],
    )


def loss_of(network: nn.Module, some: Samples, config: Config, entropy: float) -> Tensor:
    """Return what is to be made small on some samples."""
    chances, values, _ = read_heads(network, some.features, some.legal)
    taken = some.actions.unsqueeze(1)
    ratio = (chances.gather(1, taken).squeeze(1) - some.chances).exp()
    clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
    gain = torch.minimum(ratio * some.advantages, clipped * some.advantages).mean()
    error = (values.gather(1, taken).squeeze(1) - some.targets).square().mean()
    spread = -(chances.exp() * chances).sum(dim=1).mean()
    return config.critic * error - gain - entropy * spread


def learn(run: Run, config: Config, network: QNetwork, optimiser: Optimizer) -> dict[str, float]:
    """Play blocks and learn from each, until the games of the stretch are over."""
    generator = run.generator()
    entropy = between(config.entropy, config.entropy_end, run.progress)

    def losses_of(block: Rollout) -> Iterator[Tensor]:
        samples = judge(network, block, config.trace)
        everything = torch.arange(len(samples.actions), device=run.device)
        for _ in range(config.epochs):
            for places in shuffled(everything, config.batch, generator):
                some = Samples(*(column[places] for column in samples))
                yield loss_of(network, some, config, entropy)

    choose = partial(draw, network, generator=generator)
    return learn_blocks(
        run, network, optimiser, choose, losses_of, clip=1.0, log={"entropy_weight": entropy}
    )


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Play and learn all games of a run, or those that are left; return the summary."""
    if not 0 <= config.trace <= 1 or not 0 < config.clip < 1 or config.epochs < 1:
        raise CardlabError("trace lies from 0 to 1, clip between 0 and 1, epochs is 1 or more")
    if min(config.entropy, config.entropy_end) <= 0:
        raise CardlabError("entropy and entropy_end must be above 0")
    learn_stretch = partial(learn, config=config)
    return train_blocks(config, folder, report, "policy_gradient", learn_stretch, heads=2)
