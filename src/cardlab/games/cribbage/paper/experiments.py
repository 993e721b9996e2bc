"""The trainings behind the report on Cribbage, and how strong what they leave is.

An experiment is a training of `strategy_weights`, repeated with other seeds where pairs do not
depend on each other. Its strength is measured on mirrored deals, every agent against random weights
and against the best single strategy. Intervals of an experiment are over agents (Student's t),
so that they hold for agents which were not trained, too; luck of the deals is contained in them.
Comparisons of fixed weights have intervals over deals.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.arena.workers import stream_results
from cardlab.engine import seeding
from cardlab.engine.game import Array
from cardlab.engine.statistics import mean_and_t_margin
from cardlab.games.cribbage.agents.strategies import (
    FULL,
    NUM_STRATEGIES,
    ROLES,
    STRATEGIES,
    blended,
    load_weights,
    pure_weights,
    random_weights,
    shipped_weights,
)
from cardlab.games.cribbage.learning import strategy_weights
from cardlab.games.cribbage.learning.strategy_games import (
    choices_on_random_hands,
    compare,
    play_match,
)
from cardlab.games.cribbage.learning.strategy_weights import Config
from cardlab.learning.runs import load_arrays
from cardlab.papers.measurements import Ledger

SEED = 2018
CHECKPOINTS = 10  # of the sample agent, after its start
BEST_ALONE = "hand_max_avg"
THESIS = Config(update="thesis", mode="pairs", agents=2, rows=FULL, test_deals=10)
ROUND_2 = dataclasses.replace(THESIS, rate=2.0, explore=0.18, by_variance=False)
GENTLE = 0.1  # a learning rate that takes a hundred games to turn a weight round


@dataclass(frozen=True)
class Plan:
    """How much is done: agents and games of the trainings, deals and hands of the measurements."""

    first_pairs: int  # of round 1
    first_games: int
    second_games: int  # of round 2, played by half of the pairs of round 1, four at most
    static_games: int
    games: int  # of the variations
    agents: int  # of the variations
    starts: int  # random starts of the gradient
    gradient_games: int
    deals: int  # an experiment is measured on, and fixed weights
    hands: int  # that agreement is measured on
    pegging_games: int  # for every pair of ways to peg


class Experiment(NamedTuple):
    """A training: its configuration, how often it is repeated, and whose weights it starts with."""

    title: str
    config: Config
    copies: int = 1
    follows: str = ""  # winners or losers of round 1


class Strength(NamedTuple):
    """What an experiment came to, in per cent of mirrored games, with margins over agents."""

    score: float  # against random weights
    margin: float
    before: float  # the same agents as they started
    gain: float
    gain_margin: float
    alone: float  # against the best single strategy
    alone_margin: float
    lowest: float
    highest: float
    agents: int
    games: int

    @property
    def scored(self) -> tuple[float, float]:
        """The score against random weights, and its margin."""
        return self.score, self.margin

    @property
    def gained(self) -> tuple[float, float]:
        """The gain over the start, and its margin."""
        return self.gain, self.gain_margin

    @property
    def against_best(self) -> tuple[float, float]:
        """The score against the best single strategy, and its margin."""
        return self.alone, self.alone_margin


def all_experiments(plan: Plan) -> dict[str, Experiment]:
    """Return every training that the report needs, in its order."""

    def vary(base: Config, **changes: Any) -> Config:
        given = {"seed": SEED, "agents": plan.agents, "games": plan.games, **changes}
        return dataclasses.replace(base, checkpoint=1_000_000, **given)

    first = vary(THESIS, agents=2, games=plan.first_games)
    first = dataclasses.replace(first, checkpoint=plan.first_games // CHECKPOINTS)
    second = vary(ROUND_2, agents=2, games=plan.second_games)
    pairs = min(4, plan.first_pairs // 2)
    pool = vary(ROUND_2, mode="round_robin")
    gradient = vary(
        Config(test_deals=10), agents=plan.starts, games=plan.gradient_games, update="gradient"
    )
    every = plan.starts * plan.gradient_games // 2 // CHECKPOINTS
    gradient = dataclasses.replace(gradient, checkpoint=every)
    change = dataclasses.replace
    return {
        "round_1": Experiment("round 1: pairs, rate 10", first, plan.first_pairs),
        "winners": Experiment("round 2: winners go on, rate 2", second, pairs, "winners"),
        "losers": Experiment("round 2: losers start over, rate 2", second, pairs, "losers"),
        "brackets": Experiment("brackets to the end, rate 2", vary(ROUND_2, mode="brackets")),
        "static": Experiment(
            "against an agent that does not learn, rate 2",
            vary(ROUND_2, mode="static", games=plan.static_games),
        ),
        "pool": Experiment("round robin", pool),
        "blend": Experiment("round robin, blended with neighbours", change(pool, blend=0.5)),
        "cap": Experiment("round robin, cap 0.5", change(pool, cap=0.5)),
        "both": Experiment("round robin, blended, cap 0.5", change(pool, blend=0.5, cap=0.5)),
        "gentle": Experiment("round robin, rate 0.1", change(pool, rate=GENTLE)),
        "coarse": Experiment(
            "round robin, rate 0.1, 11 x 11 cells", change(pool, rate=GENTLE, rows=11)
        ),
        "ties": Experiment(
            "the same, ties between advocates at random",
            change(pool, rate=GENTLE, rows=11, random_ties=True),
        ),
        "gradient": Experiment("gradient, 11 x 11 cells", gradient),
        "one_cell": Experiment(
            "gradient, one cell", change(gradient, rows=1, games=plan.gradient_games // 2)
        ),
        "fine": Experiment(
            "gradient, 121 x 121 cells",
            vary(Config(test_deals=10), rows=FULL, games=plan.static_games),
        ),
    }


# Training


class Task(NamedTuple):
    """One run of an experiment, for another process."""

    config: Config
    folder: Path
    start: tuple[Path, ...]  # of round 1, whose winners or losers go on
    side: str


def train_one(task: Task) -> int:
    """Train one run if its folder is not finished; return its games."""
    if not (task.folder / "population.npz").exists():
        start = next_round(task) if task.side else None
        strategy_weights.train(task.config, task.folder, lambda *_: None, start=start)
    return strategy_weights.total_games(task.config)


def next_round(task: Task) -> Array:
    """Return what two pairs of round 1 send on: the winners as they are, the losers as they were.

    As in the thesis a match of 101 games decides.
    """
    out = []
    for folder in task.start:
        after = load_population(folder)
        seed = json.loads((folder / "config.json").read_text())["seed"]
        winner = 0 if play_match(after[0], after[1], seeding.stream(seed, "round 1")).won else 1
        if task.side == "winners":
            out.append(after[winner])
        else:
            out.append(random_weights(seed, "learner", 1 - winner))
    return np.stack(out)


def folder_of(work: Path, name: str, config: Config) -> Path:
    """Return the folder of a run; other settings have another."""
    text = json.dumps(dataclasses.asdict(config))
    return work / f"{name}-{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}"


def tasks_of(work: Path, name: str, experiments: Mapping[str, Experiment]) -> list[Task]:
    """Return the runs of an experiment."""
    experiment = experiments[name]
    tasks = []
    for copy in range(experiment.copies):
        config = dataclasses.replace(experiment.config, seed=experiment.config.seed + copy)
        if name == "round_1" and copy:  # the picture over time is that of the first pair
            config = dataclasses.replace(config, checkpoint=config.games)
        start: tuple[Path, ...] = ()
        if experiment.follows:
            before = tasks_of(work, "round_1", experiments)
            start = tuple(task.folder for task in before[2 * copy : 2 * copy + 2])
        tasks.append(Task(config, folder_of(work, name, config), start, experiment.follows))
    return tasks


def train_all(
    work: Path,
    experiments: Mapping[str, Experiment],
    workers: int,
    report: Callable[[int, int], None],
) -> None:
    """Train everything that is not trained yet; what follows round 1 comes after it."""
    waves: tuple[list[Task], list[Task]] = ([], [])
    for name, experiment in experiments.items():
        waves[bool(experiment.follows)].extend(tasks_of(work, name, experiments))
    total = sum(strategy_weights.total_games(task.config) for wave in waves for task in wave)
    done = 0
    report(done, total)
    for wave in waves:
        longest_first = sorted(wave, key=lambda task: -strategy_weights.total_games(task.config))
        for games in stream_results(train_one, longest_first, workers):
            done += games
            report(done, total)


def load_population(folder: Path) -> Array:
    """Return the weights of all agents of a finished run."""
    arrays = load_arrays(folder / "population.npz")
    assert arrays is not None, folder
    weights = arrays["weights"].astype(np.float64)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def population(work: Path, name: str, experiments: Mapping[str, Experiment]) -> tuple[Array, Array]:
    """Return the weights of all agents of an experiment, as they started and as they ended.

    Of brackets the two champions are returned, who were not beaten.
    """
    first, last = [], []
    for task in tasks_of(work, name, experiments):
        config = task.config
        after = load_population(task.folder)
        before = (
            next_round(task)
            if task.side
            else np.stack(
                [
                    random_weights(config.seed, "learner", agent, rows=config.rows)
                    for agent in range(config.agents)
                ]
            )
        )
        before = np.stack([blended(weights, config.blend) for weights in before])
        if config.mode == "brackets":
            saved = load_arrays(task.folder / "checkpoint.npz")
            assert saved is not None, task.folder
            before, after = before[saved["entrants"]], after[saved["entrants"]]
        first.append(before)
        last.append(after)
    return np.concatenate(first), np.concatenate(last)


def checkpoints_of(
    work: Path, name: str, experiments: Mapping[str, Experiment]
) -> list[tuple[int, Array]]:
    """Return games and weights of agent 0 of an experiment's first run, from its start on."""
    task = tasks_of(work, name, experiments)[0]
    share = 1 if task.config.mode == "pairs" else 2 / task.config.agents
    return [
        (round(share * int(path.stem.rpartition("_")[2])), load_weights(path))
        for path in sorted((task.folder / "history").glob("agent_0_after_*.npz"))
    ]


# Measuring


def even_weights() -> Array:
    """Return the same weight for every strategy."""
    return np.full((1, 1, ROLES, NUM_STRATEGIES), 1 / NUM_STRATEGIES)


def reached() -> Array:
    """Return which scores [own, other] training games start from."""
    lead = np.subtract.outer(np.arange(FULL), np.arange(FULL))
    return np.asarray(np.abs(lead) <= Config.spread)


def conduct(first: Array, last: Array, deals: int) -> Strength:
    """Return how strong agents are, as they started and as they ended, on the same deals.

    Each plays its share of the deals against either opponent. Two agents are too few for an
    interval over agents: theirs is over deals, and says nothing of others.
    """
    each = max(2, deals // len(last))
    pure = pure_weights(BEST_ALONE)
    before, after, alone = [], [], []
    for number, (start, end) in enumerate(zip(first, last, strict=True)):
        seed = seeding.stream(SEED, "strength", number)
        foe = random_weights(number)
        before.append(compare([start], [foe], each, seed))
        after.append(compare([end], [foe], each, seed))
        alone.append(compare([end], [pure], each, seed))
    shares = [[100 * found.share for found in side] for side in (before, after, alone)]
    gains = np.subtract(shares[1], shares[0])
    if len(last) > 2:
        margins = [mean_and_t_margin(side)[1] for side in (shares[1], gains, shares[2])]
    else:
        over_deals = [
            100 * math.hypot(*(found.margin for found in side)) / len(side)
            for side in (before, after, alone)
        ]
        margins = [over_deals[1], math.hypot(*over_deals[:2]), over_deals[2]]
    return Strength(
        float(np.mean(shares[1])),
        margins[0],
        float(np.mean(shares[0])),
        float(gains.mean()),
        margins[1],
        float(np.mean(shares[2])),
        margins[2],
        min(shares[1]),
        max(shares[1]),
        len(last),
        sum(found.games for found in after),
    )


def alike(weights: Array, hands: int) -> dict[str, Any]:
    """Return how often two agents keep the same cards: mean, margin over hands, every pair."""
    choices = choices_on_random_hands(weights, hands, SEED)
    same = choices[:, :, None] == choices[:, None, :]
    first, second = np.triu_indices(len(weights), 1)
    by_hand = 100 * same[:, first, second].mean(axis=1)
    mean, margin = mean_and_t_margin(by_hand)
    by_pair = 100 * same[:, first, second].mean(axis=0)
    return {"mean": mean, "margin": margin, "pairs": np.round(by_pair, 2).tolist()}


def compare_fixed(
    deals: int, learned: Array, learned_one_cell: Array
) -> dict[str, tuple[float, float, int]]:
    """Return percentages of games that fixed weights win, with margins over deals, and games."""
    seed = seeding.stream(SEED, "fixed")
    randoms = [random_weights(number) for number in range(10)]
    out = {}

    def add(name: str, weights: Array, foes: list[Array]) -> None:
        found = compare([weights] * len(foes), foes, -(-deals // len(foes)), seed)
        out[name] = 100 * found.share, 100 * found.margin, found.games

    for name in STRATEGIES:
        add(name, pure_weights(name), randoms)
    add("even", even_weights(), randoms)
    add("even alone", even_weights(), [pure_weights(BEST_ALONE)])
    add("shipped", shipped_weights(), randoms)
    add("shipped alone", shipped_weights(), [pure_weights(BEST_ALONE)])
    add("mean", learned, randoms)
    add("mean alone", learned, [pure_weights(BEST_ALONE)])
    add("mean even", learned, [even_weights()])
    add("by score", learned, [learned_one_cell])
    return out


def games_a_second(ledger: Ledger, games: int) -> float:
    """Return how many training games of round 1 are played in a second of one core."""

    def timed() -> float:
        trainer = strategy_weights.Trainer(THESIS, Path("nowhere"))
        trainer.play(strategy_weights.Bout(0, 1, 1, 0.0, 1.0), SEED, 0, 1)  # compiles
        before = time.process_time()
        trainer.play(strategy_weights.Bout(0, 1, games, 0.0, 1 / games), SEED, 0, games)
        return games / (time.process_time() - before)

    return ledger.get(f"games a second {games}", timed)
