"""An evolved ordering of moves for depth-first search in Birds of a Feather.

Paper: "Machine Learning Based Heuristic Search Algorithms to Solve Birds of a Feather Card Game",
section 6, proposes evolution by a cost of nodes visited and time taken, and section 3 to evolve the
set of features. An ordering scores the move a of a position of n stacks with

    sum over the set of features f:  (level_f + slope_f * n / 16) * f(a)

Levels and slopes evolve by CMA-ES (Hansen, "The CMA Evolution Strategy: A Tutorial"): parents are
drawn from a normal distribution whose mean m, step s and covariance C follow the better half,

    m' = sum w_i x_i        C' = (1 - c1 - cmu) C + c1 p p^T + cmu sum w_i y_i y_i^T

with y = (x - m) / s and the paths p as there. Whether a feature belongs to the set is drawn with a
probability of its own, which moves towards its share among the better half (Baluja's PBIL). The
cost of an ordering on a batch of deals is

    mean log(nodes) + time_weight * log(price)

with nodes of the search `evolved` up to a limit, and the price of a node in units of a node without
any feature. Each generation has new deals, so no deal can be memorised.

Deviation. Time is not read from a clock but from `PRICES`, so that a run depends on its config
alone and can resume.

The ordering that the package ships in `solvers/models` is that of `train(Config(), folder)`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.whole_files import whole_file
from cardlab.games.birds_of_a_feather.features import MOVE_FEATURES
from cardlab.games.birds_of_a_feather.rules import GAME
from cardlab.games.birds_of_a_feather.solvers import paper_searches
from cardlab.games.birds_of_a_feather.solvers.models import EVOLVED, Ordering
from cardlab.learning.runs import load_arrays, open_run, write_json

Report = Callable[[str, int, int], None]
NUM = len(MOVE_FEATURES)
PRICES = {  # of a feature of all moves, in units of what a node costs without: measured on 100,000
    "covered_fits": 0.02,  # positions
    "moved_fits": 0.01,
    "left_lines": 0.01,
    "end_lines": 0.02,
    "moves_after": 0.08,
    "fewest_moves_after": 0.25,
    "stuck_after": 0.25,
    "fewest_fits_after": 0.11,
    "most_suit_after": 0.02,
    "most_rank_after": 0.15,
    "cards_apart_after": 0.16,
    "cells_apart_after": 0.26,
}
LEAST_CHANCE = 0.05  # of a feature to be in the set, and to be out of it
SET_RATE = 0.1


@dataclasses.dataclass(frozen=True)
class Config:
    """What an evolution depends on."""

    first_seed: int = 1_100_000
    batch: int = 300  # deals that each generation is judged on
    generations: int = 150
    children: int = 16
    step: float = 1.0
    time_weight: float = 0.2
    most_nodes: int = 20_000  # of one search
    report_first_seed: int = 1_900_000  # deals that the result is judged on
    report_seeds: int = 1000
    seed: int = 0


class Strategy(NamedTuple):
    """Where an evolution stands."""

    generation: Array
    mean: Array
    step: Array
    covariance: Array
    path_step: Array
    path_covariance: Array
    chances: Array  # of each feature to be in the set
    costs: Array  # mean cost of each generation so far


def start(config: Config) -> Strategy:
    """Return the strategy before the first generation: no weight, every set equally likely."""
    return Strategy(
        np.array(0),
        np.zeros(2 * NUM),
        np.array(config.step),
        np.eye(2 * NUM),
        np.zeros(2 * NUM),
        np.zeros(2 * NUM),
        np.full(NUM, 0.5),
        np.empty(0),
    )


def make_ordering(weights: Array, chosen: Array) -> Ordering:
    """Return the ordering of levels and slopes in one array, with a flag for each feature."""
    wanted = sum(1 << i for i in range(NUM) if chosen[i])
    return Ordering(wanted, weights[:NUM], weights[NUM:])


def cost(ordering: Ordering, seeds: range, time_weight: float, most_nodes: int) -> float:
    """Return the cost of an ordering on published deals."""
    results = paper_searches.run_seeds(
        "evolved",
        seeds,
        models={EVOLVED: ordering},
        limits=paper_searches.Limits(nodes=most_nodes),
    )
    price = 1 + sum(PRICES[name] for name in ordering.features)
    return float(np.log(results.nodes).mean() + time_weight * np.log(price))


def step_on(strategy: Strategy, config: Config) -> Strategy:
    """Return the strategy after one more generation (names as in the tutorial)."""
    number = int(strategy.generation)
    rng = seeding.generator(config.seed, "generation", number)
    n, offspring = 2 * NUM, config.children
    mu = offspring // 2
    w = np.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
    w /= w.sum()
    mu_eff = 1 / (w**2).sum()
    c_sigma = (mu_eff + 2) / (n + mu_eff + 5)
    d_sigma = 1 + 2 * max(0.0, np.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_sigma
    c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n)
    c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)
    c_mu = min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff))
    expected = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))

    values, axes = np.linalg.eigh(strategy.covariance)
    root = axes * np.sqrt(np.maximum(values, 1e-20))
    z = rng.standard_normal((offspring, n))
    y = z @ root.T
    x = strategy.mean + strategy.step * y
    sets = rng.random((offspring, NUM)) < strategy.chances
    first = config.first_seed + number * config.batch
    seeds = range(first, first + config.batch)
    costs = np.array(
        [
            cost(make_ordering(weights, chosen), seeds, config.time_weight, config.most_nodes)
            for weights, chosen in zip(x, sets, strict=True)
        ]
    )
    best = np.argsort(costs, kind="stable")[:mu]

    y_w = w @ y[best]
    path_step = (1 - c_sigma) * strategy.path_step
    path_step += np.sqrt(c_sigma * (2 - c_sigma) * mu_eff) * (axes @ (w @ z[best]))
    length = np.linalg.norm(path_step) / np.sqrt(1 - (1 - c_sigma) ** (2 * (number + 1)))
    slow = length < (1.4 + 2 / (n + 1)) * expected
    path_covariance = (1 - c_c) * strategy.path_covariance
    if slow:
        path_covariance += np.sqrt(c_c * (2 - c_c) * mu_eff) * y_w
    keep = 1 - c_1 - c_mu + (0 if slow else c_1 * c_c * (2 - c_c))
    covariance = keep * strategy.covariance + c_1 * np.outer(path_covariance, path_covariance)
    covariance += c_mu * (y[best].T * w) @ y[best]
    growth = np.exp(c_sigma / d_sigma * (np.linalg.norm(path_step) / expected - 1))
    chances = (1 - SET_RATE) * strategy.chances + SET_RATE * (w @ sets[best])
    return Strategy(
        np.array(number + 1),
        strategy.mean + strategy.step * y_w,
        strategy.step * growth,
        (covariance + covariance.T) / 2,
        path_step,
        path_covariance,
        np.clip(chances, LEAST_CHANCE, 1 - LEAST_CHANCE),
        np.append(strategy.costs, costs[best].mean()),
    )


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Evolve an ordering, save it in `folder`, and return what it costs on other deals."""
    if config.children < 4:
        raise CardlabError(f"{config.children} children are too few; give at least 4")
    open_run(folder, config)
    path = folder / "strategy.npz"
    strategy = start(config)
    saved = load_arrays(path)
    if saved is not None:
        strategy = Strategy(**saved)
    while strategy.generation < config.generations:
        report("generations", int(strategy.generation), config.generations)
        strategy = step_on(strategy, config)
        with whole_file(path) as rough:
            np.savez(rough, **strategy._asdict())
    report("generations", config.generations, config.generations)
    ordering = make_ordering(strategy.mean, strategy.chances > 0.5)
    seeds = range(config.report_first_seed, config.report_first_seed + config.report_seeds)
    summary: dict[str, Any] = {
        "features": list(ordering.features),
        "level": _named(ordering.level, ordering),
        "slope": _named(ordering.slope, ordering),
        "reported": {"first_seed": seeds.start, "seeds": len(seeds)},
    }
    for done, name in enumerate(("dfs", "lr", EVOLVED)):
        report("report", done, 3)
        results = paper_searches.run_seeds(
            name,
            seeds,
            models={EVOLVED: ordering},
            limits=paper_searches.Limits(nodes=config.most_nodes),
        )
        summary["reported"][name] = {
            "median_nodes": float(np.median(results.nodes)),
            "mean_nodes": float(results.nodes.mean()),
            "over_limit": int(results.gave_up.sum()),
            "seconds": round(float(results.seconds.sum()), 3),
        }
    report("report", 3, 3)
    about = {
        "command": f"cardlab.games.birds_of_a_feather.learning.evolved_ordering.train({config})",
        "config": dataclasses.asdict(config),
        "rules_version": GAME.rules_version,
    }
    ordering.save(folder, EVOLVED, about | summary)
    write_json(folder / "costs.json", strategy.costs.tolist())
    return summary


def _named(values: Array, ordering: Ordering) -> dict[str, float]:
    return {
        name: float(values[i]) for i, name in enumerate(MOVE_FEATURES) if name in ordering.features
    }
