"""Deep Q-learning of Uno: DQN, and DeepSARSA with one line of difference.

Paper: "Winning Uno With Reinforcement Learning", sections 3, 5 and 6. A network of 420-512-512-61
learns from transitions (s, a, r, s') of its own decisions against two random seats

    DQN        Q(s, a) -> r + gamma max Q(s', a')    over the legal a'
    DeepSARSA  Q(s, a) -> r + gamma Q(s', a')        with the a' that was taken

by the squared difference, r = 1 for a win, -1 for a loss, 0 before the end and for a tie, with
gamma = 0.95, alpha = 1e-4 and exploration epsilon = 0.95, decayed by a factor after every iteration
of 100 games. `loop=paper` plays 100 games, then learns from all their transitions once. `loop=fast`
keeps `rows` games going in step and draws from a replay ring, so that each transition is used
about once: as much data for each update step, in larger portions.

What the paper leaves open, and what is done here: Adam takes the steps; the decay of epsilon is
such that it ends at `epsilon_end`; values of s' come from the current network as in the paper's
update rule, or with `target_every` from a copy that is renewed so often; decisions with one legal
action count as decisions; the learner's seat goes round; with `half` all layers but the last are
computed in bfloat16 on a GPU. The encoding `paper` shows all other hands together, as the paper
did; `encoding=fair` is the same run without that leak. `curiosity` adds a bonus for transitions
that are hard to predict (`networks.curiosity`), which the paper names as future work, as it does
the other networks of `networks.q_networks`.
"""

from __future__ import annotations

import copy
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from cardlab.engine.errors import CardlabError
from cardlab.games.uno.learning.games import Games, Play
from cardlab.games.uno.learning.runs import (
    Method,
    Report,
    Run,
    Settings,
    end_games,
    greedy,
    half,
    make_games,
    new_network,
    new_optimiser,
    run_stretches,
    tables_of,
)
from cardlab.games.uno.learning.runs import export as export
from cardlab.games.uno.networks.curiosity import Curiosity
from cardlab.games.uno.networks.q_networks import QNetwork, set_bits
from cardlab.learning.devices import choose_device

ITERATION = 100  # games
WARM_UP = 16  # steps of a stretch before the first update: about one game


@dataclass(frozen=True)
class Config(Settings):
    """Settings: the paper's numbers where it states them."""

    method: str = "dqn"
    games: int = 35_000_000
    loop: str = "fast"
    gamma: float = 0.95
    alpha: float = 0.0001
    epsilon: float = 0.95
    epsilon_end: float = 0.03
    encoding: str = "paper"
    network: str = "feedforward"
    width: int = 512
    layers: int = 2
    seats: str = "3"
    rules: str = "rlcard"
    target_every: int = 0
    curiosity: float = 0.0
    half: bool = True
    batch: int = 2048
    replay: int = 1_000_000


class Transitions(NamedTuple):
    """A batch of (s, a, r, s', a'), with what is legal in s' and whether it is beyond the end."""

    features: Tensor
    actions: Tensor
    rewards: Tensor
    ended: Tensor
    next_features: Tensor
    next_legal: Tensor
    next_actions: Tensor


def targets(values: Tensor, batch: Transitions, method: str, gamma: float) -> Tensor:
    """Return what Q(s, a) should be, given the values of all outputs in s'."""
    legal = values.masked_fill(~set_bits(batch.next_legal), -torch.inf)
    taken = values.gather(1, batch.next_actions.unsqueeze(1)).squeeze(1)
    following = legal.amax(dim=1) if method == "dqn" else taken  # the one line
    return batch.rewards + gamma * following.masked_fill(batch.ended, 0.0)


class Learner:
    """The network that learns, its optimiser, and what else the settings ask for."""

    def __init__(self, config: Config, device: torch.device) -> None:
        self.config = config
        self.device = device
        self.online: QNetwork = new_network(config).to(device)
        self.target: nn.Module = copy.deepcopy(self.online) if config.target_every else self.online
        self.modules: dict[str, nn.Module] = {"online": self.online}
        parameters = list(self.online.parameters())
        if config.target_every:
            self.modules["target"] = self.target
        self.curiosity: Curiosity | None = None
        if config.curiosity:
            self.curiosity = Curiosity(self.online.num_inputs, self.online.num_outputs, config.seed)
            self.curiosity = self.curiosity.to(device)
            self.modules["curiosity"] = self.curiosity
            parameters += list(self.curiosity.parameters())
        self.optimiser = new_optimiser(config, parameters)
        self.updates = 0  # of this stretch

    def learn_from(self, batch: Transitions) -> Tensor:
        """Make one step towards the targets of a batch; return the mean squared difference."""
        bonus_loss: Tensor | float = 0.0
        if self.curiosity is not None:
            bonus, bonus_loss = self.curiosity(
                batch.features, batch.actions, batch.next_features, batch.ended
            )
            batch = batch._replace(rewards=batch.rewards + self.config.curiosity * bonus)
        less = half(self.device) if self.config.half else nullcontext()
        with torch.no_grad(), less:
            values = self.target(batch.next_features)
        goal = targets(values, batch, self.config.method, self.config.gamma)
        with less:
            values = self.online(batch.features)
        found = values.gather(1, batch.actions.unsqueeze(1)).squeeze(1)
        loss = nn.functional.mse_loss(found, goal)
        self.optimiser.zero_grad(set_to_none=True)
        (loss + bonus_loss).backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.updates += 1
        if self.config.target_every and self.updates % self.config.target_every == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.detach()


class Steps:
    """The last steps of all rows on the device; consecutive ones make transitions."""

    def __init__(self, slots: int, rows: int, inputs: int, device: torch.device) -> None:
        self.slots, self.rows, self.device = slots, rows, device
        self.at = -1  # the step that waits for its action
        self.features = torch.zeros((slots, rows, inputs), dtype=torch.uint8, device=device)
        self.legal = torch.zeros((slots, rows), dtype=torch.int64, device=device)
        self.actions = torch.zeros((slots, rows), dtype=torch.int64, device=device)
        self.rewards = torch.zeros((slots, rows), dtype=torch.float32, device=device)
        self.ended = torch.zeros((slots, rows), dtype=torch.bool, device=device)

    def note(self, games: Games) -> tuple[Tensor, Tensor]:
        """Keep what every row waits for; return features and legal outputs on the device."""
        self.at += 1
        slot = self.at % self.slots
        for kept, array in (
            (self.features, games.features),
            (self.legal, games.legal),
            (self.rewards, games.reward),
            (self.ended, games.ended),
        ):
            kept[slot].copy_(torch.from_numpy(array), non_blocking=True)
        return self.features[slot], self.legal[slot]

    def note_actions(self, games: Games) -> None:
        """Keep what was done."""
        self.actions[self.at % self.slots].copy_(torch.from_numpy(games.choices))

    def transitions(self, places: Tensor) -> Transitions:
        """Return the transitions that begin at places, which count steps first, then rows."""
        later = (places + self.rows) % (self.slots * self.rows)
        features = self.features.flatten(0, 1)
        return Transitions(
            features[places],
            self.actions.flatten()[places],
            self.rewards.flatten()[later],
            self.ended.flatten()[later],
            features[later],
            self.legal.flatten()[later],
            self.actions.flatten()[later],
        )

    def draw(self, count: int, generator: torch.Generator) -> Transitions:
        """Return random transitions whose next action is known too."""
        complete = min(self.at, self.slots - 1)  # steps before the latest
        oldest = self.at - complete
        places = torch.randint(
            0, complete * self.rows, (count,), generator=generator, device=self.device
        )
        return self.transitions((places + oldest * self.rows) % (self.slots * self.rows))


def explore_at(config: Config, games: int) -> float:
    """Return epsilon after so many games: multiplied by the same factor every iteration."""
    iterations = max(1, config.games // ITERATION)
    factor = (config.epsilon_end / config.epsilon) ** (1 / iterations)
    return config.epsilon * factor ** (games // ITERATION)


def learn_fast(run: Run, config: Config, learner: Learner) -> dict[str, float]:
    """Keep many games going; after each step learn from as many transitions as it brought."""
    games = make_games(run, Play())
    slots = max(WARM_UP + 2, config.replay // run.rows)
    steps = Steps(slots, run.rows, learner.online.num_inputs, run.device)
    generator = run.generator()
    learner.updates = 0
    before = run.number * config.games // config.stretches
    batch = min(config.batch, run.rows)
    losses = []
    due = 0.0
    while games.finished < run.games:
        choices = greedy(learner.online, *steps.note(games))
        games.step(choices.cpu().numpy(), explore_at(config, before + games.finished))
        steps.note_actions(games)
        if steps.at >= WARM_UP:
            due += run.rows / batch
            while due >= 1:
                losses.append(learner.learn_from(steps.draw(batch, generator)))
                due -= 1
    epsilon = explore_at(config, before + run.games)
    return end_games(games, losses, decisions=(steps.at + 1) * run.rows, epsilon=epsilon)


def learn_as_paper(run: Run, config: Config, learner: Learner) -> dict[str, float]:
    """Play 100 games to their ends, learn from all transitions once, and again."""
    generator = run.generator()
    learner.updates = 0
    before = run.number * config.games // config.stretches
    losses: list[Tensor] = []
    decisions = 0
    played = 0
    while played < run.games:
        rows = min(ITERATION, run.games - played)
        games = make_games(run, Play(redeal=False), rows, f"iteration {played}")
        steps = Steps(64, rows, learner.online.num_inputs, run.device)
        begun = []  # places of decisions
        while games.live.any():
            if steps.at + 2 >= steps.slots:
                steps = _longer(steps)
            live = torch.from_numpy(games.live).nonzero().squeeze(1)
            choices = greedy(learner.online, *steps.note(games))
            games.step(choices.cpu().numpy(), explore_at(config, before + played))
            steps.note_actions(games)
            begun.append(live + steps.at * rows)
        steps.note(games)
        places = torch.cat(begun).to(run.device)
        order = torch.randperm(len(places), generator=generator, device=run.device)
        losses += [
            learner.learn_from(steps.transitions(places[some]))
            for some in torch.split(order, config.batch)
        ]
        decisions += len(places)
        played += rows
        games.close()
    epsilon = explore_at(config, before + run.games)
    return end_games(games, losses, decisions=decisions, epsilon=epsilon)


def _longer(steps: Steps) -> Steps:
    more = Steps(2 * steps.slots, steps.rows, steps.features.shape[2], steps.device)
    more.at = steps.at
    for name in ("features", "legal", "actions", "rewards", "ended"):
        getattr(more, name)[: steps.slots] = getattr(steps, name)
    return more


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Play and learn all games of a run, or those that are left; return the summary."""
    if config.method not in ("dqn", "deep_sarsa") or config.loop not in ("paper", "fast"):
        raise CardlabError("method must be dqn or deep_sarsa, loop paper or fast")
    if not (0 < config.epsilon_end <= config.epsilon <= 1 and 0 < config.gamma <= 1):
        raise CardlabError("gamma, epsilon and epsilon_end lie above 0 and at most at 1, in order")
    if config.alpha <= 0 or config.batch < 1 or config.replay < 1 or config.target_every < 0:
        raise CardlabError("alpha must be above 0, batch and replay 1 or more, target_every 0 up")
    tables_of(config.seats, config.rules)  # a mistake in them is said at once
    learner = Learner(config, choose_device(config.device))
    learn = learn_fast if config.loop == "fast" else learn_as_paper
    method = Method(
        f"cardlab train uno/{config.method}",
        learner.online,
        learner.modules,
        learner.optimiser,
        lambda run: learn(run, config, learner),
    )
    return run_stretches(config, folder, report, method)
