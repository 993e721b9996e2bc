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

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from cardlab.engine.errors import CardlabError
from cardlab.games.uno.features import NUM_OUTPUTS
from cardlab.games.uno.learning.blocks import Rollout, collect, shuffled
from cardlab.games.uno.learning.deep_monte_carlo import SPAN, between
from cardlab.games.uno.learning.games import Games, Play
from cardlab.games.uno.learning.runs import (
    ALL_TABLES,
    Method,
    Report,
    Run,
    export,
    half,
    new_network,
    quick,
    run_stretches,
    tables_of,
)
from cardlab.games.uno.networks.q_networks import QNetwork, set_bits
from cardlab.learning.devices import choose_device

__all__ = ["Config", "export", "train"]

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
class Config:
    """What can be set."""

    games: int = 20_000_000
    alpha: float = 0.0005
    alpha_end: float = 0.00002
    trace: float = 0.9
    clip: float = 0.2
    critic: float = 0.5
    entropy: float = 0.01
    entropy_end: float = 0.0005
    epochs: int = 2
    block: int = 48
    self_play: float = 0.3
    heuristic: float = 0.1
    encoding: str = "fair"
    network: str = "colours"
    width: int = 256
    layers: int = 3
    seats: str = "2-10"
    rules: str = "both"
    rows: int = 4096
    batch: int = 8192
    stretches: int = 50
    evaluate_every: int = 5
    evaluation_games: int = 4000
    seed: int = 0
    minutes: float = 0.0
    threads: int = 2
    device: str = "auto"


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


def learn(
    run: Run, config: Config, network: QNetwork, optimiser: torch.optim.Optimizer
) -> dict[str, float]:
    """Play blocks and learn from each, until the games of the stretch are over."""
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
    entropy = between(config.entropy, config.entropy_end, run.progress)
    losses = []
    decisions = 0
    while games.finished < run.games:
        block = collect(
            games,
            config.block,
            run.device,
            lambda seen, legal: draw(network, seen, legal, generator),
        )
        decisions += block.decisions
        samples = judge(network, block, config.trace)
        everything = torch.arange(len(samples.actions), device=run.device)
        for _ in range(config.epochs):
            for places in shuffled(everything, config.batch, generator):
                some = Samples(*(one[places] for one in samples))
                loss = loss_of(network, some, config, entropy)
                optimiser.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimiser.step()
                losses.append(loss.detach())
    played, won = games.tally.sum(axis=0)
    games.close()
    return {
        "loss": float(torch.stack(losses).mean()) if losses else 0.0,
        "updates": len(losses),
        "decisions": decisions,
        "entropy_weight": entropy,
        "training_win_share": 100 * float(won) / max(1, int(played)),
    }


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Play and learn all games of a run, or those that are left; return what came out."""
    if not 0 <= config.trace <= 1 or not 0 < config.clip < 1 or config.epochs < 1:
        raise CardlabError("trace lies from 0 to 1, clip between 0 and 1, epochs is 1 or more")
    if min(config.alpha, config.alpha_end, config.entropy, config.entropy_end) <= 0:
        raise CardlabError("alpha, alpha_end, entropy and entropy_end must be above 0")
    if config.batch < 1 or config.block < 2:
        raise CardlabError("batch must be 1 or more, block 2 or more")
    tables_of(config.seats, config.rules)  # a mistake in them is said at once
    device = choose_device(config.device)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    network = new_network(config, heads=2).to(device)
    optimiser = torch.optim.Adam(
        network.parameters(), lr=config.alpha, fused=device.type == "cuda" or None
    )
    method = Method(
        "cardlab train uno/policy_gradient",
        network,
        {"network": network},
        optimiser,
        lambda run: learn(run, config, network, optimiser),
        ALL_TABLES,
    )
    return run_stretches(config, folder, report, method)
