"""Monte-Carlo learning of card transformers by self-play, for games with features of tokens.

As in "Learning to Play Koi-Koi Hanafuda Card Games With Transformers", section IV-C, the output of
a token is the expected reward of its action, and every decision learns, by squared error, what
followed; here that is the return of the whole game for the seat. All seats play the network itself,
but for one action in `1 / epsilon` that is sampled uniformly. A loop plays `batch_games` games at
once and learns from a `share` of their decisions, each once; decisions with one choice are taken
without being asked or learned.

Suits and colours can be exchanged: every decision is learned in one of their 24 orders, sampled
uniformly. What plays in the end, and in evaluations, is a running mean of the weights over about 1
/ (1 - `average`) steps, which takes the place of a rate that falls to nothing: a run may end
whenever its time is up. Everything random in loop k follows from the seed and k: a run that was
killed resumes from its last loop and ends with the same weights.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import get_ema_multi_avg_fn

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import make_folder
from cardlab.engine.game import Array, Game
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.statistics import mean_and_margin
from cardlab.learning.checkpoints import load_checkpoint, save_checkpoint
from cardlab.learning.devices import PRECISIONS, choose_device, number_type
from cardlab.learning.logs import Log
from cardlab.learning.runs import Report, open_run, provenance, read_json, write_json
from cardlab.learning.token_games import (
    HEURISTIC,
    LEARNER,
    RANDOM,
    Clock,
    Player,
    Samples,
    TokenGames,
    Tokens,
    game_seeds,
    play,
    usable_threads,
)
from cardlab.networks.token_networks import Expansion, TokenNetwork, make_network
from cardlab.networks.weights import check_about, load_weights, save_weights

__all__ = [
    "Config",
    "LoopSettings",
    "Loops",
    "Subject",
    "Training",
    "check_loops",
    "export",
    "open_loops",
    "train",
    "update_average",
]

RUNTIME_SETTINGS = ("device", "threads", "minutes", "profile", "compile")
OPPONENTS = {"heuristic": HEURISTIC, "random": RANDOM}
NETWORK = "network.safetensors"
CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True)
class LoopSettings:
    """What can be set of every run in loops."""

    games: int = 10_000_000
    batch_games: int = 32_768
    epsilon: float = 0.1
    last_epsilon: float = 0.02
    learning_rate: float = 4e-4
    batch: int = 4096
    share: float = 1.0  # of a loop's decisions that are learned from
    warm_up: int = 300
    evaluate_every: int = 10
    evaluate_games: int = 2000  # for each table and opponent
    width: int = 256  # of the networks; 256 is the paper's
    precision: str = "bf16"  # on a GPU; a processor computes in float32
    seed: int = 0
    device: str = ""
    compile: bool = True  # on a GPU
    threads: int = 0  # 0: one for each core
    minutes: float = 0.0  # stop with a checkpoint after so long; 0: never
    profile: bool = False


@dataclass(frozen=True)
class Config(LoopSettings):
    """What can be set."""

    average: float = 0.998
    seats: str = "2-4"
    blocks: int = 2


class Subject(NamedTuple):
    """What is learned: a game with its features, the tables to learn and to be measured at."""

    tokens: Tokens
    expansion: Callable[[torch.dtype], Expansion]
    encoding: int
    symmetries: tuple[Array, Array]
    tables: Sequence[Array]  # each as likely as the others
    measured: dict[str, Array]
    most_seats: int


def check_loops(config: LoopSettings, *names: str) -> None:
    """Raise a sentence for settings out of range; those in `names` must be at least 1."""
    if config.precision not in PRECISIONS:
        known = " or ".join(PRECISIONS)
        raise CardlabError(f"setting precision must be {known}, got {config.precision}")
    for name in ("games", "batch_games", "batch", "evaluate_every", *names):
        if getattr(config, name) < 1:
            raise CardlabError(f"setting {name} must be at least 1, got {getattr(config, name)}")
    if not 0 <= config.last_epsilon <= config.epsilon <= 1:
        raise CardlabError("epsilon must fall: 0 <= last_epsilon <= epsilon <= 1")


def check(config: Config) -> None:
    """Raise for settings that cannot be."""
    check_loops(config, "blocks")
    if config.width < 4 or config.width % 4:
        raise CardlabError(f"setting width={config.width} must be a multiple of 4: it has 4 heads")
    if config.evaluate_games < 100:
        raise CardlabError(f"setting evaluate_games={config.evaluate_games} must be 100 or more")
    if not (0 < config.share <= 1 and 0 <= config.average < 1):
        raise CardlabError("share must be above 0 and at most 1, average at least 0 and below 1")


def open_loops(config: LoopSettings, folder: Path, report: Report) -> dict[str, Any] | None:
    """Make or check the folder of a run; return its summary if all games are played."""
    fixed = {name: getattr(type(config), name) for name in RUNTIME_SETTINGS}
    open_run(folder, dataclasses.replace(config, **fixed))
    finished = read_json(folder / "summary.json")
    if finished is None or finished["summary"]["games"] < config.games:
        return None
    report("games", config.games, config.games)
    return dict(finished["summary"])


def _loss(network: TokenNetwork, rows: Tensor, tokens: Tensor, targets: Tensor) -> Tensor:
    return functional.mse_loss(network(rows, tokens[:, None])[:, 0], targets)


def update_average(average: nn.Module, network: nn.Module, kept: float) -> None:
    """Take the weights of a network into their running mean, of which a share is kept."""
    update = get_ema_multi_avg_fn(kept)  # type: ignore[no-untyped-call]
    update(list(average.parameters()), list(network.parameters()), None)


@functools.cache
def make_write_returns(game: Game) -> Callable[[Any, Any], None]:
    """Return the kernel that writes what every seat of finished games got."""
    returns = game.returns

    @kernel
    def write_returns(states: Any, out: Any) -> None:
        for i in range(len(states)):
            for seat in range(int64(states[i].seats)):
                out[i, seat] = returns(states[i], seat)

    return write_returns


class Loops(ABC):
    """A run in loops of play and learning, each with its line of log and its checkpoint."""

    def __init__(self, config: LoopSettings, folder: Path) -> None:
        self.config, self.folder = config, folder
        self.device = choose_device(config.device)
        self.threads = usable_threads(config.threads)
        self.compiled = config.compile and self.device.type == "cuda"
        self.clock = Clock(self.device, exact=config.profile)
        self.loop, self.games, self.steps = 0, 0, 0
        self.notes: dict[str, float] = {}

    @abstractmethod
    def run_loop(self) -> None:
        """Play, learn, and evaluate where it is time to."""

    @abstractmethod
    def save(self) -> None:
        """Write a checkpoint."""

    def bounds(self, count: int) -> list[int]:
        """Return where games are divided into groups that are played in turn."""
        # In halves, rules and networks work at the same time; without a GPU that gains nothing.
        return [0, count // 2, count] if self.device.type == "cuda" and count > 1 else [0, count]

    def run(self, report: Report, started: float) -> float:
        """Run loops until the games or the time end; return the games per second."""
        with closing(Log(self.folder, last_step=self.loop)) as log:
            games = self._run(log, report, started)
        return round(games / (time.perf_counter() - started), 1)

    def _run(self, log: Log, report: Report, started: float) -> int:
        config, longest, at_start = self.config, 0.0, self.games
        report("games", self.games, config.games)
        while self.games < config.games:
            loop_started, before = time.perf_counter(), self.games
            self.notes, self.clock.seconds = {}, {}
            self.run_loop()
            took = time.perf_counter() - loop_started
            stages = {f"seconds/{name}": one for name, one in self.clock.seconds.items()}
            speed = (self.games - before) / took
            log.write(self.loop, **self.notes, **stages, **{"games/s": speed})
            self.save()
            report("games", self.games, config.games)
            if config.profile:
                shown = ", ".join(f"{name[8:]} {one:.2f} s" for name, one in stages.items())
                report(f"loop {self.loop}, {speed:,.0f} games/s: {shown}", 1, 1)
            if (
                before > at_start
            ):  # the first loop of a start compiles, which says nothing of others
                longest = max(longest, time.perf_counter() - loop_started)
            if config.minutes and time.perf_counter() - started + longest > 60 * config.minutes:
                break
        return self.games - at_start


class Training(Loops):
    """One run: the network, its running mean, the optimiser, and how far it is."""

    config: Config

    def __init__(self, config: Config, subject: Subject, folder: Path) -> None:
        super().__init__(config, folder)
        self.subject, self.game = subject, subject.tokens.game
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seeding.stream(config.seed, "tokens", "weights"))
            self.network = make_network(
                subject.expansion,
                width=config.width,
                blocks=config.blocks,
                dtype=number_type(config.precision, self.device),
            ).to(self.device)
        self.average = copy.deepcopy(self.network)  # alike in all, so that both run one graph
        self.modules = {"network": self.network, "average": self.average}
        self.optimiser = torch.optim.Adam(
            self.network.parameters(), lr=config.learning_rate, fused=True
        )
        self.learner = Player([self.network], compiled=self.compiled)
        self.measured = Player([self.average], compiled=self.compiled)
        self._loss: Any = torch.compile(_loss, dynamic=False) if self.compiled else _loss
        self.orders = [
            torch.from_numpy(one.astype(np.int64)).to(self.device) for one in subject.symmetries
        ]

    # Where the run is

    def about(self, origin: dict[str, Any]) -> dict[str, Any]:
        """Return the description that is saved beside the weights."""
        return {
            **origin,
            "game": self.game.name,
            "rules": self.game.rules_version,
            "encoding": self.subject.encoding,
            "width": self.config.width,
            "blocks": self.config.blocks,
            "games": self.games,
        }

    def load(self) -> None:
        """Go on from the last checkpoint, or start."""
        path = self.folder / CHECKPOINT
        found = load_checkpoint(path, self.modules, {"adam": self.optimiser}, str(self.device))
        if found is not None:
            about = found[0]
            check_about(path, about, encoding=self.subject.encoding, rules=self.game.rules_version)
            self.loop, self.games, self.steps = about["loop"], about["games"], about["steps"]

    def save(self) -> None:
        """Write a checkpoint."""
        about = self.about({"loop": self.loop, "steps": self.steps})
        save_checkpoint(self.folder / CHECKPOINT, self.modules, {"adam": self.optimiser}, about)

    # Play

    def play(
        self,
        states: Array,
        seeds: Array,
        seats: Array,
        player: Player,
        *,
        epsilon: float = 0.0,
        keep: bool = False,
    ) -> tuple[Array, Samples]:
        """Play games to their end; return what every seat got, and the learner's decisions."""
        count = len(seeds)
        tokens, samples = self.subject.tokens, Samples()
        groups = [
            TokenGames(
                tokens,
                states[a:b],
                seeds[a:b],
                seats[a:b],
                device=self.device,
                epsilon=epsilon,
                first=a,
            )
            for a, b in pairwise(self.bounds(count))
        ]
        kept = [samples] if keep else None
        play(groups, [player], threads=self.threads, clock=self.clock, samples=kept)
        states = np.concatenate([games.states for games in groups])
        got = np.zeros((count, self.subject.most_seats), dtype=np.float32)
        make_write_returns(self.game)(states, got)
        return got, samples

    def play_self(self, count: int, epsilon: float) -> tuple[Array, Samples]:
        """Play the games of a loop, all seats by the network."""
        lot = seeding.generator(self.config.seed, "tokens", "tables", self.loop)
        which = lot.integers(0, len(self.subject.tables), count)
        states = np.concatenate(list(self.subject.tables))[which]
        seeds = game_seeds(seeding.stream(self.config.seed, "tokens", "loop", self.loop), count)
        seats = np.full((count, self.subject.most_seats), LEARNER)
        return self.play(states, seeds, seats, self.learner, epsilon=epsilon, keep=True)

    def evaluate(self) -> dict[str, float]:
        """Play greedily against fixed opponents, on every seat of each deal."""
        states, seats, seeds, places = [], [], [], []
        for name, table in self.subject.measured.items():
            number = int(table[0].seats)
            deals = -(-self.config.evaluate_games // number)
            start = seeding.stream(self.config.seed, "tokens", "evaluation", name)
            for opponent in OPPONENTS.values():
                place = np.tile(np.arange(number), deals)
                sitting = np.full((len(place), self.subject.most_seats), opponent)
                sitting[np.arange(len(place)), place] = LEARNER
                states.append(np.repeat(table, len(place)))
                seeds.append(np.repeat(game_seeds(start, deals), number))
                seats.append(sitting)
                places.append(place)
        got, _ = self.play(
            np.concatenate(states), np.concatenate(seeds), np.concatenate(seats), self.measured
        )
        found, first = {}, 0
        names = [f"{table}/{one}" for table in self.subject.measured for one in OPPONENTS]
        for name, place in zip(names, places, strict=True):
            mine = got[np.arange(first, first + len(place)), place]
            first += len(place)
            for what, values in (("return", mine), ("wins", (mine == 1).astype(np.float64))):
                of_deals = values.reshape(-1, place.max() + 1).mean(1)
                mean, margin = mean_and_margin(of_deals)
                found[f"{name}/{what}"] = mean
                found[f"{name}/{what} margin"] = margin
        return found

    # Learning

    def learn(self, samples: Samples, got: Array, progress: float) -> None:
        """Take one step for each batch of decisions."""
        if not samples:
            return
        config = self.config
        lot = torch.Generator(self.device)
        lot.manual_seed(seeding.stream(config.seed, "tokens", "learn", self.loop))
        of_episode = torch.from_numpy(got.reshape(-1)).to(self.device)
        rows, tokens, episodes, *_ = samples.joined()
        targets = of_episode[episodes.long()]
        order = torch.randperm(len(rows), generator=lot, device=self.device)
        size = min(config.batch, len(rows))
        batches = max(1, int(config.share * len(rows)) // size)
        sources, moves = self.orders
        total = torch.zeros((), device=self.device)
        for i in range(batches):
            which = order[i * size : (i + 1) * size]
            turn = torch.randint(len(moves), (size,), generator=lot, device=self.device)
            warm = min(1.0, (self.steps + 1) / max(config.warm_up, 1))
            rate = config.learning_rate * warm * (1.0 - 0.9 * progress)
            self.optimiser.param_groups[0]["lr"] = rate
            loss = self._loss(
                self.network,
                rows.index_select(0, which).gather(1, sources[turn]),
                moves[turn, tokens.index_select(0, which).long()],
                targets.index_select(0, which),
            )
            loss.backward()
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)
            self.steps += 1
            # The first weights count for little in the mean.
            kept = min(config.average, 1 - 1 / self.steps)
            update_average(self.average, self.network, kept)
            total += loss.detach()
        self.notes |= {"loss": float(total) / batches, "decisions": float(len(rows))}

    def run_loop(self) -> None:
        """Play, learn, and evaluate where it is time to."""
        config = self.config
        progress = self.games / config.games
        count = min(config.batch_games, config.games - self.games)
        epsilon = config.epsilon + (config.last_epsilon - config.epsilon) * progress
        got, samples = self.play_self(count, epsilon)
        with self.clock.on("learning"):
            self.learn(samples, got, progress)
        self.games += count
        self.loop += 1
        self.notes |= {"games": float(self.games), "epsilon": epsilon}
        if self.games >= config.games or self.loop % config.evaluate_every == 0:
            with self.clock.on("evaluation (within the others)"):
                self.notes |= self.evaluate()


def train(
    config: Config,
    subject: Subject,
    folder: Path,
    report: Report,
    command: str,
) -> dict[str, Any]:
    """Play and learn until all games are played or the time is up; return how it stands."""
    check(config)
    started = time.perf_counter()
    if (finished := open_loops(config, folder, report)) is not None:
        return finished
    training = Training(config, subject, folder)
    training.load()
    speed = training.run(report, started)
    measured = training.notes if "loss" in training.notes else {}
    if not any(name.endswith("/wins") for name in measured):
        measured = {**measured, **training.evaluate()}
    summary = {
        "games": training.games,
        "loops": training.loop,
        "steps of learning": training.steps,
        "games/s of this start": speed,
        **{name: round(one, 4) for name, one in measured.items() if "/" in name or name == "loss"},
    }
    about = training.about(provenance(training.game, command, config))
    save_weights(folder / NETWORK, training.average.state_dict(), {**about, "summary": summary})
    write_json(folder / "summary.json", {**about, "summary": summary})
    return summary


def export(
    make_expansion: Callable[[torch.dtype], Expansion], run: Path, name: str, target: Path
) -> list[Path]:
    """Write the network of a run to `target/NAME.onnx`, with a JSON file about it beside it."""
    from cardlab.networks import onnx_export

    tensors, about = load_weights(run / NETWORK)
    network = make_network(make_expansion, width=about["width"], blocks=about["blocks"])
    try:
        network.load_state_dict(tensors)
    except RuntimeError:
        raise CardlabError(f"{run / NETWORK} holds another network; train it again") from None
    make_folder(target)
    path = target / f"{name}.onnx"
    example = {
        "rows": torch.zeros(2, network.expansion.row_width, dtype=torch.uint8),
        "choices": torch.zeros(2, network.expansion.most_choices, dtype=torch.uint8),
    }
    onnx_export.export(network, example, path, ["values"], about)
    write_json(target / f"{name}.json", about)
    return [path]
