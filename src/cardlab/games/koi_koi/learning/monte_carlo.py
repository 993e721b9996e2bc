"""Monte-Carlo learning of Koi-Koi with card transformers.

"Learning to Play Koi-Koi Hanafuda Card Games With Transformers", section IV-C: the output of a
token is the expected reward of its action; every decision of a round learns, by squared error, the
reward that the round brought. `reward=point` is what the seat won in the round (here in tens),
`reward=win` the probability to win the game after it (here from -1 to 1) by a predictor that is
fitted again as the play changes. Phase 1 plays against the supervised agent (`against`, or the
heuristic where none is named) until it wins `overwhelm` of the games, phase 2 against itself;
epsilon falls from .15 to .02.

What differs. A loop plays `batch_games` games at once and learns in batches of `batch` from each
decision once, or from a `share` of the discards, sampled uniformly: the decisions of a round have
one reward, so a few of them tell most of what all tell, and learning is what takes the time. Picks
and calls are rare and are all learned from. The paper has batches of 256 at a rate of 1e-4; Adam's
step has a size of its own, and the noise of a mean over n samples falls with the root of n, so a
batch 16 times as large takes 4 times the rate. The rate rises over the first `warm_up` steps and
falls linearly to `last_rate` of it. Everything random in loop k follows from the seed and k: a
killed run resumes from its last loop with the same result.

Beyond the paper: `trace` mixes the reward with the value of
the seat's next decision, which has less of the luck that follows; `rivals` keeps games against the
supervised agent in phase 2; `start` begins with the networks of another run, or of an agent that is
shipped. With `outcomes` networks learn, by cross-entropy, how likely each outcome of the round is
instead of what it is worth on average; the worth of an outcome is known, in points or, by the
predictor, as a chance to win. So `win` learns as much from a round early in the game, when all
chances are alike, as from the last. Networks of `point` make a good start: their values shift how
rounds usually end.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.statistics import mean_and_margin
from cardlab.games.koi_koi.learning.games import KoiKoiGames, KoiKoiPlayer
from cardlab.games.koi_koi.learning.network_files import (
    about_network,
    checkpoint_path,
    find_networks,
    load_networks,
    save_networks,
)
from cardlab.games.koi_koi.learning.network_files import export as export
from cardlab.games.koi_koi.learning.predictors import (
    PREDICTORS,
    Rounds,
    after_rounds,
    compare,
    fit,
    rounds_of,
)
from cardlab.games.koi_koi.networks.transformer import DESIGNS, KoiKoiTransformer, make_networks
from cardlab.games.koi_koi.rules import GAME
from cardlab.games.koi_koi.table import MOST_ROUNDS
from cardlab.games.koi_koi.win_chances import OUTCOMES, POINTS, two_hot
from cardlab.learning.checkpoints import load_checkpoint, save_checkpoint
from cardlab.learning.devices import number_type
from cardlab.learning.runs import Report, describe_run, provenance, read_json, write_json
from cardlab.learning.token_games import (
    HEURISTIC,
    LEARNER,
    RANDOM,
    RIVAL,
    Decided,
    Samples,
    game_seeds,
    play,
)
from cardlab.learning.token_training import Loops, LoopSettings, check_loops, open_loops

REWARDS = ("point", "win")
SHIFTED = 12  # points; greater ones would rise out of all proportion
RARE = 1e-3  # least chance of an outcome where networks begin to predict outcomes


@dataclass(frozen=True)
class Config(LoopSettings):
    """Settings of the training."""

    reward: str = "win"
    design: str = "separate"
    against: str = ""  # folder of a supervised run, or shipped agent, for phase 1
    games: int = 5_000_000
    first_phase: int = 500_000  # games at most
    overwhelm: float = 0.6
    epsilon: float = 0.15
    last_rate: float = 0.1  # share of the rate that is left at the end
    share: float = 1.0  # of a loop's discards (of all decisions, if shared) that are learned from
    trace: float = 1.0  # 1: the reward alone; below it, mixed with the next decision's value
    rivals: float = 0.0  # share of games in phase 2 that go on against the supervised agent
    # whether networks learn how likely each outcome of a round is; its name was `ends`
    outcomes: bool = field(default=False, metadata={"was": "ends"})
    start: str = ""  # folder of a run, or shipped agent, whose networks to begin with
    warm_up: int = 500
    predictor: str = "dynamic"
    refit_every: int = 8
    refit_games: int = 16_384
    evaluate_every: int = 5


def check(config: Config) -> None:
    """Raise an error if the settings are invalid."""
    for name, known in (
        ("reward", REWARDS),
        ("design", DESIGNS),
        ("predictor", PREDICTORS),
    ):
        given = getattr(config, name)
        if given not in known:
            raise CardlabError(f"setting {name} must be {' or '.join(known)}, got {given}")
    check_loops(config, "refit_every", "refit_games")
    if config.evaluate_games < 4 or config.evaluate_games % 2:
        raise CardlabError("setting evaluate_games must be an even number from 4 on")
    if not (0 <= config.trace <= 1 and 0 <= config.rivals <= 1):
        raise CardlabError("trace and rivals must be at least 0 and at most 1")
    for name in ("share", "last_rate"):
        if not 0 < getattr(config, name) <= 1:
            raise CardlabError(
                f"setting {name}={getattr(config, name)} must be above 0 and at most 1"
            )


def _loss(network: KoiKoiTransformer, rows: Tensor, tokens: Tensor, targets: Tensor) -> Tensor:
    predicted = network.predict(rows, tokens[:, None])[:, 0]
    if network.outcomes:
        return functional.cross_entropy(predicted, targets)
    return functional.mse_loss(predicted[:, 0], targets)


class Training(Loops):
    """One run: networks, optimisers, predictor, and how far it is."""

    config: Config

    def __init__(self, config: Config, folder: Path) -> None:
        super().__init__(config, folder)
        dtype = number_type(config.precision, self.device)
        torch.manual_seed(seeding.stream(config.seed, "koi_koi", "weights"))
        outcomes = config.reward if config.outcomes else ""
        self.networks = make_networks(
            config.design, width=config.width, outcomes=outcomes, dtype=dtype
        )
        for network in self.networks.values():
            network.to(self.device)
        self.optimisers = {
            name: torch.optim.Adam(network.parameters(), lr=config.learning_rate, fused=True)
            for name, network in self.networks.items()
        }
        self.learner = KoiKoiPlayer(self.networks, config.design, compiled=self.compiled)
        self.rival: KoiKoiPlayer | None = None
        if config.against:
            found = find_networks(config.against, "against")
            rivals, design, _ = load_networks(found, self.device, dtype)
            self.rival = KoiKoiPlayer(rivals, design, compiled=self.compiled)
        self._loss: Any = torch.compile(_loss, dynamic=False) if self.compiled else _loss
        self.before = 0  # games behind the networks that the run began with
        self.phase = 1 if config.first_phase > 0 else 2
        self.table: Array = np.zeros(0)

    # Where the run is

    @property
    def behind(self) -> int:
        """Games behind the networks as they are."""
        return self.before + self.games

    def load(self) -> None:
        """Go on from the last checkpoint, or start."""
        state = read_json(self.folder / "state.json")
        if state is None:
            rounds = self._rounds_of_heuristic()
            if self.config.start:
                self._begin_with(find_networks(self.config.start, "start"), rounds)
            self._fit(rounds)
            return
        self.before = state["before"]
        self.loop, self.games, self.steps = state["loop"], state["games"], state["steps"]
        self.phase, self.table = state["phase"], np.array(state["table"])
        for name in self.networks:
            path = checkpoint_path(self.folder, name, self.loop)
            found = load_checkpoint(
                path, {name: self.networks[name]}, {name: self.optimisers[name]}, str(self.device)
            )
            if found is None:
                raise CardlabError(f"{path} is missing; copy the whole folder of the run again")

    def _begin_with(self, folder: Path, rounds: Rounds) -> None:
        networks, design, about = load_networks(folder, self.device, torch.float32)
        if design != self.config.design:
            raise CardlabError(
                f"start={folder} has networks of design {design}; set design={design}"
            )
        knew = bool(about["outcomes"])
        if knew and not self.config.outcomes:
            raise CardlabError(
                f"start={folder} has networks that learned outcomes; set outcomes=true"
            )
        described = {**describe_run(folder), **about}
        if (
            self.config.outcomes
            and not knew
            and described.get("config", {}).get("reward") != "point"
        ):
            raise CardlabError(
                f"start={folder} has networks that learned neither outcomes nor points; with "
                "outcomes=true begin with such"
            )
        self.before = games_behind(about)
        for name, network in networks.items():
            if (width := network.network.shape.width) != self.config.width:
                raise CardlabError(
                    f"start={folder} has networks of width {width}; set width={width}"
                )
            own, weights = self.networks[name].state_dict(), network.state_dict()
            if self.config.outcomes and not knew:
                last = (weights["network.last.weight"], weights["network.last.bias"])
                weights |= init_outcome_head(*last, rounds)
            # What the start holds beside its weights may be missing here, or too much.
            self.networks[name].load_state_dict({key: weights.get(key, own[key]) for key in own})

    def save(self) -> None:
        """Write a checkpoint: networks first, then the file that says they are whole."""
        for name, network in self.networks.items():
            path = checkpoint_path(self.folder, name, self.loop)
            about = about_network(name, network, self.config.design, {"games": self.behind})
            save_checkpoint(path, {name: network}, {name: self.optimisers[name]}, about)
        state = {
            "loop": self.loop,
            "games": self.games,
            "before": self.before,
            "steps": self.steps,
            "phase": self.phase,
            "table": np.round(self.table, 6).tolist(),
        }
        self.table = np.array(state["table"])  # what a run that goes on would read
        write_json(self.folder / "state.json", state)
        kept = {checkpoint_path(self.folder, name, self.loop) for name in self.networks}
        for path in self.folder.glob("checkpoint-*"):
            if path not in kept:
                path.unlink()

    # Play

    def play(
        self, name: str, seats: Array, *, epsilon: float = 0.0, keep: bool = False
    ) -> tuple[Rounds, list[Samples]]:
        """Play games of this loop; return how they ended and the learner's decisions."""
        count = len(seats)
        paired = name == "evaluation"
        loop = 0 if paired else self.loop  # evaluations meet the same deals
        start = seeding.stream(self.config.seed, "koi_koi", name, loop)
        seeds = game_seeds(start, count, paired=paired)
        groups = [
            KoiKoiGames(seeds[a:b], seats[a:b], device=self.device, epsilon=epsilon, first=a)
            for a, b in pairwise(self.bounds(count))
        ]
        samples = [Samples() for _ in self.networks]
        players = [self.learner] if self.rival is None else [self.learner, self.rival]
        play(
            groups,
            players,
            threads=self.threads,
            clock=self.clock,
            samples=samples if keep else None,
        )
        states = np.concatenate([games.states for games in groups])
        dealers = np.concatenate([games.first_dealers for games in groups])
        return rounds_of(states, dealers), samples

    def _rounds_of_heuristic(self) -> Rounds:
        seats = np.full((self.config.refit_games, 2), HEURISTIC)
        return self.play("start", seats)[0]

    def _fit(self, rounds: Rounds) -> None:
        """Fit the predictor, and set what outcomes are worth to the networks by it."""
        self.table = fit(self.config.predictor, rounds)
        if self.config.outcomes and self.config.reward == "win":
            for network in self.networks.values():
                network.chances.copy_(torch.from_numpy(self.table))

    def refit(self) -> None:
        """Fit the predictor again to games that the networks play greedily."""
        rounds, _ = self.play("refit", np.full((self.config.refit_games, 2), LEARNER))
        self._fit(rounds)
        losses = compare(rounds)
        self.notes |= {f"predictor/{kind}": loss for kind, loss in losses.items()}

    # Learning

    def rewards(self, rounds: Rounds) -> Tensor:
        """Return the reward of every episode: games x rounds x seats in one line.

        With outcomes, the shares of the outcome that the round had.
        """
        of_round = np.stack([rounds.gains, -rounds.gains], axis=-1)
        if self.config.outcomes:
            gains = np.arange(OUTCOMES[0], OUTCOMES[-1] + 1)
            of_gain = torch.from_numpy(two_hot(gains)).to(self.device)
            places = np.clip(of_round, gains[0], gains[-1]) - gains[0]
            return of_gain[torch.from_numpy(_of_episodes(places)).to(self.device)]
        if self.config.reward == "win":
            of_round = 2.0 * after_rounds(self.table, rounds) - 1.0
        else:
            of_round = of_round / POINTS
        return torch.from_numpy(_of_episodes(of_round.astype(np.float32))).to(self.device)

    def learn(self, samples: list[Samples], of_episode: Tensor, progress: float) -> None:
        """Take one step for each batch of decisions, all networks in turn."""
        generator = torch.Generator(self.device)
        generator.manual_seed(seeding.stream(self.config.seed, "koi_koi", "learn", self.loop))
        batches: list[tuple[str, int]] = []
        data: dict[str, tuple[Tensor, Tensor, Tensor, Tensor, int]] = {}
        decided = {
            name: found.joined()
            for name, found in zip(self.networks, samples, strict=True)
            if found
        }
        if self.config.trace < 1:
            whole = trace_back(_joined(decided.values()), of_episode, self.config.trace)
            parts = torch.split_with_sizes(whole, [len(one.rows) for one in decided.values()])
        else:
            parts = tuple(of_episode[one.episodes.long()] for one in decided.values())
        most = max(len(one.rows) for one in decided.values())
        for (name, (rows, tokens, *_)), targets in zip(decided.items(), parts, strict=True):
            order = torch.randperm(len(rows), generator=generator, device=self.device)
            size = min(self.config.batch, len(rows))
            data[name] = (rows, tokens, targets, order, size)
            share = self.config.share if len(rows) == most else 1.0
            some = max(1, int(share * len(rows)) // size)
            batches += [(name, i) for i in range(some)]
        mixed = seeding.generator(self.config.seed, "koi_koi", "batches", self.loop)
        mixed.shuffle(batches)
        losses = {name: torch.zeros((), device=self.device) for name in data}
        decay = 1.0 - (1.0 - self.config.last_rate) * progress
        for name, i in batches:
            rows, tokens, targets, order, size = data[name]
            which = order[i * size : (i + 1) * size]
            optimiser = self.optimisers[name]
            warm = min(1.0, (self.steps + 1) / max(self.config.warm_up, 1))
            optimiser.param_groups[0]["lr"] = self.config.learning_rate * warm * decay
            loss = self._loss(
                self.networks[name],
                rows.index_select(0, which),
                tokens.index_select(0, which),
                targets.index_select(0, which),
            )
            loss.backward()
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            losses[name] += loss.detach()
            self.steps += 1
        for name in data:
            many = sum(1 for one, _ in batches if one == name)
            self.notes[f"loss/{name}"] = float(losses[name]) / many
            self.notes[f"decisions/{name}"] = float(len(data[name][0]))

    def run_loop(self) -> None:
        """Play, learn, fit the predictor again and evaluate where it is time to."""
        config = self.config
        progress = self.games / config.games
        count = min(config.batch_games, config.games - self.games)
        epsilon = config.epsilon + (config.last_epsilon - config.epsilon) * progress
        seats = np.full((count, 2), LEARNER)
        others = count if self.phase == 1 else int(config.rivals * count)
        rows = np.arange(others)
        seats[rows, rows & 1] = HEURISTIC if self.rival is None else RIVAL
        if config.reward == "win" and self.phase == 2 and self.loop % config.refit_every == 0:
            with self.clock.on("refit (within the others)"):
                self.refit()
        rounds, samples = self.play("loop", seats, epsilon=epsilon, keep=True)
        with self.clock.on("learning"):
            self.learn(samples, self.rewards(rounds), progress)
        self.games += count
        self.loop += 1
        self.notes |= {"games": float(self.behind), "epsilon": epsilon, "phase": float(self.phase)}
        self.notes["points a round"] = float(np.abs(rounds.gains[rounds.happened]).mean())
        last = self.games >= config.games
        if last or self.loop % config.evaluate_every == 0:
            with self.clock.on("evaluation (within the others)"):
                found = self.evaluate()
            self.notes |= found
            rival = "heuristic" if self.rival is None else "supervised"
            if found[f"{rival}/wins"] >= config.overwhelm:
                self.phase = 2
        if self.games >= config.first_phase:
            self.phase = 2

    def evaluate(self) -> dict[str, float]:
        """Play greedily against fixed opponents, both seats of every deal."""
        opponents = {"heuristic": HEURISTIC, "random": RANDOM}
        if self.rival is not None:
            opponents["supervised"] = RIVAL
        each = self.config.evaluate_games
        seats = np.full((each * len(opponents), 2), LEARNER)
        rows = np.arange(len(seats))
        seats[rows, 1 - (rows & 1)] = np.repeat(list(opponents.values()), each)
        rounds, _ = self.play("evaluation", seats)
        found = {}
        for number, name in enumerate(opponents):
            mine = slice(number * each, (number + 1) * each)
            first = rows[mine] & 1 == 0
            won = np.where(first, rounds.results[mine], 1.0 - rounds.results[mine])
            ended = rounds.gains[mine].sum(1)
            points = np.where(first, ended, -ended)
            for what, values in (("wins", won), ("points", points)):
                mean, half = paired_mean(values)
                found[f"{name}/{what}"], found[f"{name}/{what} margin"] = mean, half
        return found


def _of_episodes(of_round: Array) -> Array:
    """Return what is known by (game, round, seat) in one line, as episodes are numbered."""
    whole = np.zeros((len(of_round), MOST_ROUNDS, 2), dtype=of_round.dtype)
    whole[:, : of_round.shape[1]] = of_round
    return whole.reshape(-1)


def init_outcome_head(weight: Tensor, bias: Tensor, rounds: Rounds) -> dict[str, Tensor]:
    """Return the last layer of a network that predicts outcomes, from one that valued points.

    A value v makes an outcome of g points more likely by exp(c v g), where g counts up to `SHIFTED`
    and c is such that the mean of the chances, which begin as rounds usually end, moves by about v.
    """
    gains = rounds.gains[rounds.happened]
    usual = two_hot(np.concatenate([gains, -gains])).mean(axis=0)
    usual = np.maximum(usual, RARE) / np.maximum(usual, RARE).sum()
    tens, shifted = OUTCOMES / POINTS, np.clip(OUTCOMES, -SHIFTED, SHIFTED) / POINTS
    slope = torch.from_numpy(shifted / (usual * shifted * tens).sum()).to(weight)
    start = torch.from_numpy(np.log(usual)).to(bias)
    return {
        "network.last.weight": (slope[None, :, None] * weight[:, None]).flatten(0, 1),
        "network.last.bias": (start + slope * bias[:, None]).flatten(),
    }


def games_behind(about: Mapping[str, Any]) -> int:
    """Return how many games the networks of a run have learned from, by its description."""
    summary = about.get("summary", {})
    return int(summary.get("games in all") or summary.get("games") or about.get("games") or 0)


class Traced(NamedTuple):
    """What the targets of decisions follow from, one decision a row."""

    episodes: Tensor
    moments: Tensor
    values: Tensor
    explored: Tensor


def _joined(parts: Iterable[Decided]) -> Traced:
    columns = zip(*(Traced(*part[2:]) for part in parts), strict=True)
    return Traced(*(torch.cat(column) for column in columns))


def trace_back(decided: Traced, rewards: Tensor, trace: float) -> Tensor:
    """Return what each decision learns: the reward, mixed with the values of later decisions.

    The target of a seat's decision is `(1 - trace)` times the value of its next decision in the
    round and `trace` times that decision's own target; the last one's is the reward. If the next
    decision was a random action, its value alone counts: the rest does not show the best play.
    """
    episodes, moments, values, explored = decided
    span = int(moments.max()) + 1
    order = torch.argsort(episodes.long() * span + moments)
    sorted_episodes, sorted_values = episodes[order].long(), values[order]
    wanders = explored[order]
    targets = rewards[sorted_episodes]
    last = torch.ones_like(wanders)
    last[:-1] = sorted_episodes[1:] != sorted_episodes[:-1]
    place = torch.arange(len(order), device=order.device)
    starts = torch.ones_like(wanders)
    starts[1:] = last[:-1]
    rank = place - torch.cummax(torch.where(starts, place, 0), dim=0).values
    for depth in range(int(rank.max()) - 1, -1, -1):
        here = torch.nonzero((rank == depth) & ~last)[:, 0]
        value, target = sorted_values[here + 1], targets[here + 1]
        mixed = torch.lerp(value, target, trace)
        by_chance = wanders[here + 1].view(-1, *(1,) * (value.dim() - 1))
        targets[here] = torch.where(by_chance, value, mixed)
    found = torch.empty_like(targets)
    found[order] = targets
    return found


def paired_mean(values: Array) -> tuple[float, float]:
    """Return the mean of paired games and half of its 95 % interval, from the means of pairs."""
    return mean_and_margin(values.reshape(-1, 2).mean(1))


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Play and learn until all games are played or the time is up; return the summary."""
    check(config)
    for name in ("against", "start"):
        if getattr(config, name):
            find_networks(getattr(config, name), name)
    started = time.perf_counter()
    if (finished := open_loops(config, folder, report)) is not None:
        return finished
    training = Training(config, folder)
    training.load()
    speed = training.run(report, started)
    summary = {
        "games": training.games,
        "games in all": training.behind,
        "loops": training.loop,
        "steps of learning": training.steps,
        "phase": training.phase,
        "finished": training.games >= config.games,
        "games/s of this start": speed,
        **{name: round(one, 4) for name, one in training.notes.items() if "/" in name},
    }
    if training.games >= config.games:
        origin = provenance(GAME, "cardlab train koi_koi/monte_carlo", config)
        save_networks(folder, training.networks, config.design, {**origin, "summary": summary})
        write_json(folder / "summary.json", {**origin, "summary": summary})
        for path in folder.glob("checkpoint-*"):  # the weights are all that is needed now
            path.unlink()
    return summary
