"""What the deep learners of Uno share: stretches of games, evaluation, weights, export.

A run is cut into stretches of games. Each starts with new games and everything random derived from
the seed and its number, so that a checkpoint between two of them needs weights and optimiser only,
and a run that was killed ends with the same weights, to the bit (on a CPU with the same number of
threads; others, and graphics cards, may add in another order). Games that are
under way when a stretch ends are dropped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import make_folder
from cardlab.engine.game import Array
from cardlab.engine.statistics import wilson_interval
from cardlab.games.uno.features import VERSION
from cardlab.games.uno.hidden_hands import MAX_SEATS
from cardlab.games.uno.learning.games import Games, Play, table
from cardlab.games.uno.networks.q_networks import QNetwork, build, set_bits
from cardlab.games.uno.rules import GAME, RULES
from cardlab.learning.checkpoints import load_checkpoint, save_checkpoint
from cardlab.learning.devices import choose_device
from cardlab.learning.logs import Log
from cardlab.learning.runs import Report as Report
from cardlab.learning.runs import open_run, provenance, read_seats, write_json
from cardlab.networks.weights import check_about, load_weights, save_weights

FEW_IN_FLIGHT = 8  # games of a stretch for each row, at least: most of them must be able to end


@dataclass(frozen=True)
class Common:
    """Settings that all trainings of Uno have, comparisons of several included."""

    games: int = 20_000_000
    rules: str = "both"
    rows: int = 4096
    batch: int = 4096
    stretches: int = 50
    evaluation_games: int = 4000
    seed: int = 0
    minutes: float = 0.0  # of one network
    threads: int = 2
    device: str = "auto"


@dataclass(frozen=True)
class Settings(Common):
    """Settings that all deep learners of Uno have."""

    alpha: float = 0.0005
    encoding: str = "fair"
    network: str = "colours"
    width: int = 256
    layers: int = 3
    seats: str = "2-10"
    evaluate_every: int = 5


@dataclass(frozen=True)
class Score:
    """How often a network won on one kind of table."""

    seats: int
    rules: str
    opponent: str
    games: int
    wins: int

    @property
    def share(self) -> float:
        """The share of games won, in percent."""
        return 100 * self.wins / self.games

    @property
    def margin(self) -> float:
        """Half the 95 % interval of the share, after Wilson."""
        low, high = wilson_interval(self.wins, self.games)
        return 50 * (high - low)

    @property
    def name(self) -> str:
        """A short name for logs."""
        return f"{self.rules}/{self.opponent}/{self.seats}"


RLCARD_TABLES = tuple((seats, "rlcard", "random") for seats in (2, 3, 4, 5))
ALL_TABLES = (
    *RLCARD_TABLES,
    (2, "official", "random"),
    (3, "official", "random"),
    (2, "rlcard", "heuristic"),
    (3, "rlcard", "heuristic"),
    (2, "official", "heuristic"),
)


def without_places(config: Any) -> Any:
    """Return settings without those that change where and when a run goes on, not what it does."""
    return dataclasses.replace(config, threads=1, device="auto", minutes=0.0)


def tables_of(seats: str, rules: str) -> list[Array]:
    """Return the tables that `3` or `2-5` seats and one or `both` rule sets mean.

    Tables of more than five seats are one in seven as frequent as the others.
    """
    numbers = read_seats(seats, MAX_SEATS)
    if rules not in (*RULES, "both"):
        raise CardlabError(f"rules={rules} is unknown; use {', '.join(RULES)} or both")
    return [
        table(number, rule)
        for number in numbers
        for rule in (RULES if rules == "both" else (rules,))
        for _ in range(1 if number > 5 else 7)
    ]


def new_network(config: Settings, heads: int = 1) -> QNetwork:
    """Return the network of a run before its first game; the seed alone decides its weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeding.stream(config.seed, "weights"))
        return build(config.network, config.encoding, config.width, config.layers, heads)


@contextlib.contextmanager
def quick(device: torch.device) -> Iterator[None]:
    """Compute answers without gradients, on a GPU in bfloat16: enough to choose by."""
    with torch.no_grad(), half(device):
        yield


def half(device: torch.device) -> torch.autocast:
    """Return a context that computes in bfloat16 on a GPU, where that is many times the speed.

    Not on a processor: virtual machines announce instructions for it that then end the program.
    """
    on_card = device.type == "cuda"
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=on_card)


def greedy(network: nn.Module, features: Tensor, legal: Tensor) -> Tensor:
    """Return the legal output of the highest value, of the first head, for every row."""
    with quick(features.device):
        values = network(features)[:, : set_bits(legal[:1]).shape[1]]
    return values.masked_fill(~set_bits(legal), -torch.inf).argmax(dim=1)


def evaluate(
    network: QNetwork,
    seats: int,
    rules: str,
    opponent: str,
    *,
    games: int,
    seed: int,
    threads: int = 1,
) -> Score:
    """Return how a network fares alone against equal opponents, its seat going round."""
    device = next(network.parameters()).device
    wins = 0
    for first in range(0, games, 1 << 14):
        played = Games(
            min(1 << 14, games - first),
            [table(seats, rules)],
            network.encoding,
            seed=seeding.stream(seed, "evaluation", seats, rules, opponent, first),
            play=Play(redeal=False, skip_forced=True, heuristic=float(opponent == "heuristic")),
            threads=threads,
        )
        while played.live.any():
            features = torch.from_numpy(played.features).to(device)
            legal = torch.from_numpy(played.legal).to(device)
            legal = torch.where(legal == 0, 1, legal)  # a row that ended before it decided
            played.step(greedy(network, features, legal).cpu().numpy())
        wins += int(played.tally[:, 1].sum())
        played.close()
    return Score(seats, rules, opponent, games, wins)


@dataclass
class Run:
    """Where a training stands, as `run_stretches` hands it to a stretch."""

    config: Settings
    device: torch.device
    number: int  # of the stretch
    games: int  # to play in it

    @property
    def progress(self) -> float:
        """The share of the run that lies behind it."""
        return self.number / self.config.stretches

    @property
    def rows(self) -> int:
        """How many games go on at once."""
        return max(1, min(self.config.rows, self.games // FEW_IN_FLIGHT))

    def seed(self, word: str) -> int:
        """Return a seed for this stretch."""
        return seeding.stream(self.config.seed, word, self.number)

    def generator(self) -> torch.Generator:
        """Return a generator for this stretch."""
        return torch.Generator(self.device).manual_seed(self.seed("torch"))


def make_games(run: Run, play: Play, rows: int = 0, word: str = "games") -> Games:
    """Return games of a run's kind."""
    config = run.config
    return Games(
        rows or run.rows,
        tables_of(config.seats, config.rules),
        config.encoding,
        seed=run.seed(word),
        play=play,
        threads=config.threads,
        pinned=play.redeal and run.device.type == "cuda",
    )


def end_games(games: Games, losses: Sequence[Tensor], **numbers: float) -> dict[str, float]:
    """Close the last games of a stretch; return what its line of the log says."""
    played, won = games.tally.sum(axis=0)
    games.close()
    return {
        "loss": float(torch.stack(list(losses)).mean()) if losses else 0.0,
        "updates": len(losses),
        **numbers,
        "training_win_share": 100 * float(won) / max(1, int(played)),
    }


def new_optimiser(config: Settings, parameters: Iterable[nn.Parameter]) -> Optimizer:
    """Return the optimiser of a run; on a GPU it takes each step in one go."""
    given = list(parameters)
    fused = given[0].device.type == "cuda" or None
    return torch.optim.Adam(given, lr=config.alpha, fused=fused)


class Method(NamedTuple):
    """A learning algorithm with its network, as `run_stretches` runs it."""

    command: str
    network: QNetwork
    modules: Mapping[str, nn.Module]  # in checkpoints
    optimiser: Optimizer
    learn: Callable[[Run], dict[str, float]]  # one stretch
    tables: tuple[tuple[int, str, str], ...] = RLCARD_TABLES  # to evaluate at


def run_stretches(config: Settings, folder: Path, report: Report, method: Method) -> dict[str, Any]:
    """Play and learn all stretches that are left, with log, checkpoints and evaluations."""
    network, modules, optimisers = method.network, method.modules, {"adam": method.optimiser}
    if config.games < 1 or config.stretches < 1 or config.rows < 1 or config.evaluation_games < 1:
        raise CardlabError("games, stretches, rows and evaluation_games must be 1 or more")
    if config.threads < 1 or config.evaluate_every < 1:
        raise CardlabError("threads and evaluate_every must be 1 or more")
    began = time.monotonic()
    device = choose_device(config.device)
    open_run(folder, without_places(config))
    path = folder / "checkpoint.safetensors"
    about = _about(config, network, method.command)
    loaded = load_checkpoint(path, modules, optimisers, str(device))
    done = 0
    if loaded is not None:
        check_about(path, loaded[0], encoding=config.encoding, rules=GAME.rules_version)
        done = int(loaded[0]["stretches"])
    torch.set_num_threads(config.threads)
    bounds = [config.games * k // config.stretches for k in range(config.stretches + 1)]
    log = Log(folder, bounds[done])
    scores: list[Score] = []
    with contextlib.closing(log):
        report("games", bounds[done], config.games)
        while done < config.stretches:
            start = time.monotonic()
            numbers = method.learn(Run(config, device, done, bounds[done + 1] - bounds[done]))
            numbers["games_per_second"] = (bounds[done + 1] - bounds[done]) / (
                time.monotonic() - start
            )
            done += 1
            scores = []
            last = done == config.stretches
            if last or done % config.evaluate_every == 0:
                scores = _evaluate_all(config, network, method.tables, 4 if last else 1)
                for score in scores:
                    numbers[score.name] = score.share
                    numbers[f"{score.name}/margin"] = score.margin
            log.write(bounds[done], **numbers)
            kept = {**about, "stretches": done, "games": bounds[done]}
            save_checkpoint(path, modules, optimisers, kept)
            report("games", bounds[done], config.games)
            if config.minutes and time.monotonic() - began > 60 * config.minutes:
                break
    if not scores:
        scores = _evaluate_all(config, network, method.tables, 4)
    shown = {one.name: f"{one.share:.1f} ± {one.margin:.1f} % of {one.games:,}" for one in scores}
    summary = {"games": bounds[done], "of": config.games, **shown}
    about |= {"games": bounds[done], "scores": [dataclasses.asdict(one) for one in scores]}
    save_weights(folder / "weights.safetensors", network.state_dict(), about)
    write_json(folder / "result.json", {**about, "summary": summary})
    return summary


def _evaluate_all(
    config: Settings, network: QNetwork, tables: tuple[tuple[int, str, str], ...], times: int
) -> list[Score]:
    games = times * config.evaluation_games
    seed = seeding.stream(config.seed, "evaluation")
    return [
        evaluate(network, *one, games=games, seed=seed, threads=config.threads) for one in tables
    ]


def _about(config: Settings, network: QNetwork, command: str) -> dict[str, Any]:
    kept = provenance(GAME, command, config)
    built = {"network": config.network, "width": config.width, "layers": config.layers}
    encoded = {"encoding": config.encoding, "encoding_version": VERSION}
    return {**kept, **built, **encoded, "heads": network.heads}


def load_network(path: Path) -> tuple[QNetwork, dict[str, Any]]:
    """Return the network whose weights a file holds, and what is said about it."""
    tensors, about = load_weights(path)
    check_about(path, about, game=GAME.name, rules=GAME.rules_version, encoding_version=VERSION)
    network = build(
        about["network"], about["encoding"], about["width"], about["layers"], about["heads"]
    )
    try:
        network.load_state_dict(tensors)
    except RuntimeError:
        raise CardlabError(f"{path} holds weights of another network than it says") from None
    return network.eval(), about


class ExportedNetwork(nn.Module):
    """A network as agents run it: one named answer for each head."""

    def __init__(self, network: QNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, features: Tensor) -> tuple[Tensor, ...]:
        """Return the heads, each a batch of 61 numbers."""
        answer: Tensor = self.network(features)
        return answer.chunk(self.network.heads, dim=1)


def export(run: Path, name: str, target: Path) -> list[Path]:
    """Write the network of a run to `target/NAME.onnx`, with a JSON file about it beside it."""
    from cardlab.networks import onnx_export

    network, about = load_network(run / "weights.safetensors")
    make_folder(target)
    path = target / f"{name}.onnx"
    example = {"features": torch.zeros((2, network.num_inputs), dtype=torch.uint8)}
    outputs = ["values"] if network.heads == 1 else ["policy", "values"]
    onnx_export.export(ExportedNetwork(network), example, path, outputs, about)
    write_json(target / f"{name}.json", about)
    return [path]
