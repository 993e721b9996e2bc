"""The thesis on Cribbage measured again: what it trained, its tables and figures, and what works.

"Policy Improvement in Cribbage through Reinforcement" (a draft of 2018) lets agents learn how much
to trust each of eight strategies, by the score, and finds no gain. `experiments` trains, `maps`
looks at what was learned, `claims` judges, `tables` writes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.game import Array
from cardlab.games.cribbage import PACKAGE
from cardlab.games.cribbage.agents.strategies import FULL, STRATEGIES, random_weights
from cardlab.games.cribbage.learning.strategy_games import compare, play_match
from cardlab.games.cribbage.paper import pegging as cribbage_pegging
from cardlab.games.cribbage.paper.claims import THEIR_TABLE_1, THEIR_TABLE_2, Findings, claims
from cardlab.games.cribbage.paper.experiments import (
    SEED,
    Experiment,
    Plan,
    Strength,
    alike,
    all_experiments,
    checkpoints_of,
    compare_fixed,
    conduct,
    games_a_second,
    population,
    reached,
    tasks_of,
    train_all,
)
from cardlab.games.cribbage.paper.maps import ROLE_NAMES, along_diagonal, full_size, winning
from cardlab.games.cribbage.paper.tables import all_facts
from cardlab.learning.runs import load_arrays
from cardlab.papers import figures
from cardlab.papers.reproduce import Report, Study

GAME = "cribbage"
FULL_PLAN = Plan(
    first_pairs=16,
    first_games=1_000_000,
    second_games=500_000,
    static_games=350_000,
    games=200_000,
    agents=8,
    starts=32,
    gradient_games=200_000,
    deals=32_000,
    hands=4_000,
    pegging_games=10_000,
)
QUICK = Plan(
    first_pairs=4,
    first_games=40_000,
    second_games=20_000,
    static_games=15_000,
    games=15_000,
    agents=4,
    starts=8,
    gradient_games=20_000,
    deals=2_000,
    hands=500,
    pegging_games=100,
)
MATCHES, MATCH_GAMES = 20, 100  # of the thesis's figure 4
SHORT_MATCHES, SHORT = 1_000, 9  # matches as in its table 1
SAMPLES = {"round_1": "thesis", "gradient": "gradient"}  # trainings drawn over time
SHOWN = (0, 1, 3, 6, 10)  # checkpoints of a picture over time
ALIKE = ("round_1", "pool", "coarse", "gradient", "one_cell")


class Measurements:
    """What is measured of the trained agents, each part kept once it is known."""

    def __init__(self, study: Study[Plan]) -> None:
        """Name all trainings."""
        self.plan, self.work, self.ledger = study.plan, study.folder, study.ledger
        self.experiments: dict[str, Experiment] = all_experiments(study.plan)
        self.weights = functools.cache(self._weights)

    def _weights(self, name: str) -> tuple[Array, Array]:
        return population(self.work, name, self.experiments)

    def key(self, what: str, *names: str) -> str:
        """Return the name of a measurement: what, of which runs, how much."""
        runs = [
            task.folder.name
            for name in names
            for task in tasks_of(self.work, name, self.experiments)
        ]
        return f"{what} of {' '.join(runs)} {self.plan.deals} {self.plan.hands}"

    def pegging(self, report: Callable[[int, int], None]) -> list[cribbage_pegging.Row]:
        """Return how the ways to peg do against each other."""

        def measured() -> list[cribbage_pegging.Row]:
            return cribbage_pegging.compare(
                self.plan.pegging_games, progress=lambda _, *at: report(*at)
            )

        rows = self.ledger.get(f"pegging {self.plan.pegging_games}", measured)
        return [cribbage_pegging.Row(*row) for row in rows]

    def strengths(self, report: Callable[[int, int], None]) -> dict[str, Strength]:
        """Return how strong the agents of every experiment are."""
        out = {}
        for done, name in enumerate(self.experiments):
            report(done, len(self.experiments))

            def measured(name: str = name) -> list[Any]:
                return list(conduct(*self.weights(name), self.plan.deals))

            out[name] = Strength(*self.ledger.get(self.key("strength and gain", name), measured))
        report(len(self.experiments), len(self.experiments))
        return out

    def alikeness(self) -> dict[str, dict[str, Any]]:
        """Return how alike agents choose, at the end of some experiments and at their start."""
        out = {}
        for name in ALIKE:
            for place, when in enumerate(("start", "end")):

                def measured(name: str = name, place: int = place) -> dict[str, Any]:
                    return alike(self.weights(name)[place], self.plan.hands)

                out[f"{name} {when}"] = self.ledger.get(self.key(f"alike {when}", name), measured)
        return out

    def short_matches(self) -> dict[str, Any]:
        """Return matches of nine games, random weights against the better one of the first pair."""

        def measured() -> dict[str, Any]:
            pair = self.weights("round_1")[1][:2]
            seed = seeding.stream(SEED, "round 1")
            best = pair[0] if play_match(pair[0], pair[1], seed).won else pair[1]
            other = random_weights(0)
            matches = [
                play_match(other, best, seeding.stream(SEED, "short", number), games=SHORT)
                for number in range(SHORT_MATCHES)
            ]
            found = compare([other], [best], self.plan.deals, seed)
            return {
                "first": [*matches[0].points, *matches[0].wins, matches[0].spread],
                "won": float(np.mean([match.won for match in matches])),
                "score": [100 * found.share, 100 * found.margin, found.games],
            }

        return self.ledger.get(self.key("table 1", "round_1"), measured)

    def against_checkpoints(self) -> dict[str, list[dict[str, Any]]]:
        """Return what a sample agent's checkpoints do against its end and against random weights.

        Points and spreads are those of the checkpoint.
        """

        def measured() -> dict[str, list[dict[str, Any]]]:
            points = checkpoints_of(self.work, "round_1", self.experiments)
            foes = {"last": points[-1][1], "random": random_weights(1)}
            out: dict[str, list[dict[str, Any]]] = {name: [] for name in foes}
            for name, foe in foes.items():
                for games, weights in points:
                    if name == "last" and weights is foe:
                        continue
                    seeds = [seeding.stream(SEED, name, games, n) for n in range(MATCHES)]
                    matches = [play_match(weights, foe, s, games=MATCH_GAMES) for s in seeds]
                    deals = max(2, self.plan.deals // 4)
                    found = compare([weights], [foe], deals, seeds[0])
                    out[name].append(
                        {
                            "games": games,
                            "points": matches[0].points,
                            "wins": matches[0].wins,
                            "spreads": [match.spread for match in matches],
                            "score": [100 * found.share, 100 * found.margin, found.games],
                            "spread": 100 * found.spread,
                        }
                    )
            return out

        return self.ledger.get(self.key("checkpoints", "round_1"), measured)

    def visits(self) -> float:
        """Return how often an agent of round 1 meets a cell, by the deals of games like its own."""
        task = tasks_of(self.work, "gradient", self.experiments)[0]
        saved = load_arrays(task.folder / "checkpoint.npz")
        assert saved is not None, task.folder
        deals = saved["visits"].sum() / (2 * int(saved["games"]))
        return float(deals * self.plan.first_games / (2 * reached().sum()))

    def fixed(self) -> dict[str, tuple[float, float, int]]:
        """Return percentages that single strategies, equal weights and learned means win."""

        def measured() -> dict[str, tuple[float, float, int]]:
            learned, flat = (
                self.weights(name)[1].mean(axis=0) for name in ("gradient", "one_cell")
            )
            return compare_fixed(self.plan.deals, learned, flat)

        return self.ledger.get(self.key("fixed", "gradient", "one_cell"), measured)


def measure_all(study: Study[Plan]) -> Findings:
    """Train and measure everything."""
    plan = study.plan
    ours = Measurements(study)
    train_all(study.folder, ours.experiments, study.workers, study.progress("training games"))
    strengths = ours.strengths(study.progress("strengths"))
    tables = study.progress("tables")
    tables(0, 4)
    alikeness = ours.alikeness()
    tables(1, 4)
    short = ours.short_matches()
    tables(2, 4)
    checkpoints = ours.against_checkpoints()
    tables(3, 4)
    fixed = ours.fixed()
    tables(4, 4)
    return Findings(
        plan,
        ours.experiments,
        strengths,
        alikeness,
        short,
        checkpoints,
        fixed,
        ours.visits(),
        games_a_second(study.ledger, max(1, plan.first_games // 10)),
        {name: ours.weights(name)[1] for name in ("round_1", "winners", "losers", "gradient")},
        {name: checkpoints_of(study.folder, name, ours.experiments) for name in SAMPLES},
        ours.pegging(study.progress("pegging")),
    )


# The figures


def draw_figures(found: Findings, out: Path) -> None:
    """Draw all figures of the report."""
    draw_strategy_maps(found, out)
    draw_trainings(found, out)
    draw_spreads(found, out)
    draw_winning(found, out)
    titles = {
        "round_1 start": "random starts",
        "round_1 end": "after round 1",
        "gradient end": "gradient,\n11 x 11 cells",
        "one_cell end": "gradient,\none cell",
    }
    figures.draw_histograms(
        out / f"{GAME}_alike.svg",
        {title: found.alikeness[name]["pairs"] for name, title in titles.items()},
        x="hands on which two agents keep the same cards, %",
    )


draw_scores = functools.partial(figures.draw_maps, x="other's score", y="own score", extent=FULL)


def weight_scale(sample: str, top: float) -> figures.Scale:
    """Return the colours of weights: those of the thesis reach 1, those by gradient `top`."""
    if sample == "thesis":
        return figures.Scale("weight", (0, 1))
    return figures.Scale("weight", (0, top), steps=8)  # noise takes room


def draw_strategy_maps(found: Findings, out: Path) -> None:
    """Draw the weight of every strategy over the scores."""
    weights = {
        "thesis": found.checkpoints_of["round_1"][-1][1],
        "gradient": found.weights["gradient"].mean(axis=0),
    }
    titles = [name.replace("_", "\n", 1).replace("_", " ") for name in STRATEGIES]
    for name, full in ((name, full_size(values)) for name, values in weights.items()):
        rows = {
            role: [full[:, :, place, k] for k in range(len(STRATEGIES))]
            for place, role in enumerate(ROLE_NAMES)
        }
        draw_scores(out / f"{GAME}_maps_{name}.svg", rows, titles, weight_scale(name, 0.4))


def draw_trainings(found: Findings, out: Path) -> None:
    """Draw a strategy's map over time, and the mean weight of every strategy over time."""
    best = STRATEGIES.index("hand_max_avg")
    seen = reached()
    panels = {}
    for run, name in SAMPLES.items():
        points = [(games, full_size(weights)) for games, weights in found.checkpoints_of[run]]
        shown = [points[place] for place in SHOWN]
        draw_scores(
            out / f"{GAME}_training_{name}.svg",
            {"dealer": [weights[:, :, 1, best] for _, weights in shown]},
            [f"{games:,} games" for games, _ in shown],
            weight_scale(name, 0.5),
        )
        for place, role in enumerate(ROLE_NAMES):
            panels[f"{name}, {role}"] = {
                strategy: [
                    (games / 1000, float(weights[:, :, place, k][seen].mean()))
                    for games, weights in points
                ]
                for k, strategy in enumerate(STRATEGIES)
            }
    figures.draw_lines(
        out / f"{GAME}_strengths.svg",
        panels,
        x="thousands of training games",
        y="mean weight",
        same_x=False,
    )


def draw_spreads(found: Findings, out: Path) -> None:
    """Draw the spreads of matches of checkpoints, ours beside the thesis's."""
    last = found.checkpoints["random"][-1]
    figures.draw_dots(
        out / f"{GAME}_spreads.svg",
        {
            "the last agent against its own checkpoints": [
                figures.Dots(
                    point["games"] / 1000,
                    [-spread for spread in point["spreads"]],
                    -THEIR_TABLE_2[place][1],
                )
                for place, point in enumerate(found.checkpoints["last"])
            ],
            "checkpoints against random weights": [
                figures.Dots(
                    point["games"] / 1000,
                    point["spreads"],
                    -THEIR_TABLE_1[2] * MATCH_GAMES / SHORT if point is last else None,
                )
                for point in found.checkpoints["random"]
            ],
        },
        x="thousands of training games of the checkpoint",
        y=f"spread over {MATCH_GAMES} games, points",
    )


def draw_winning(found: Findings, out: Path) -> None:
    """Draw the chance to win, and beside it a weight along equal scores."""
    chance = winning()
    draw_scores(
        out / f"{GAME}_winning.svg",
        {"": [chance[:, :, place] for place in range(2)]},
        [f"{role} before the deal" for role in ROLE_NAMES],
        figures.Scale("chance to win", (0, 1), "RdBu", 20),
        level=0.5,
    )
    mean = found.weights["round_1"].mean(axis=0)
    lines = {
        "chance to win, V": [np.diagonal(chance[:, :, place]) for place in range(2)],
        "weight of hand_max_min, round 1": [
            along_diagonal(mean[:, :, place, 0]) for place in range(2)
        ],
    }
    figures.draw_lines(
        out / f"{GAME}_wave.svg",
        {
            title: {
                role: list(enumerate(line.tolist()))
                for role, line in zip(ROLE_NAMES, of_roles, strict=True)
            }
            for title, of_roles in lines.items()
        },
        x="score of both seats",
        y="",
    )


REPORT = Report(
    PACKAGE,
    FULL_PLAN,
    QUICK,
    measure_all,
    draw_figures,
    claims,
    all_facts,
    reductions="short trainings, wide intervals",
)
