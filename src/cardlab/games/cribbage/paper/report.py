"""The thesis on Cribbage measured again: what it trained, its tables and figures, and what works.

"Policy Improvement in Cribbage through Reinforcement" (a draft of 2018) lets agents learn how much
to trust each of eight strategies, by the score, and finds no gain. `cribbage_experiments` trains,
`cribbage_maps` looks at what was learned, `cribbage_claims` judges, `cribbage_report` writes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.game import Array
from cardlab.games.cribbage.agents.strategies import FULL, STRATEGIES, random_weights
from cardlab.games.cribbage.learning.strategy_games import compare, play_match
from cardlab.games.cribbage.paper import pegging as cribbage_pegging
from cardlab.games.cribbage.paper.claims import THEIR_TABLE_1, THEIR_TABLE_2, Findings
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
from cardlab.games.cribbage.paper.tables import write_report
from cardlab.learning.runs import load_arrays
from cardlab.papers import figures
from cardlab.papers.measurements import Ledger, source_digest

__all__ = ["reproduce"]

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
SHOWN = (0, 1, 3, 6, 10)  # checkpoints of a picture over time
ALIKE = ("round_1", "pool", "coarse", "gradient", "one_cell")


class Study:
    """One run of the reproduction: what it trains, and the ledger of what it has measured."""

    def __init__(self, plan: Plan, work: Path) -> None:
        """Open the folder of the measurements."""
        self.plan, self.work = plan, work
        self.ledger = Ledger(work / "ledger.jsonl")
        self.experiments: dict[str, Experiment] = all_experiments(plan)
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

            def measured(name: str = name) -> list[float]:
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

        found: dict[str, Any] = self.ledger.get(self.key("table 1", "round_1"), measured)
        return found

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
                    seeds = [seeding.stream(SEED, name, games, one) for one in range(MATCHES)]
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

        found: dict[str, list[dict[str, Any]]] = self.ledger.get(
            self.key("checkpoints", "round_1"), measured
        )
        return found

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

        found: dict[str, tuple[float, float, int]] = self.ledger.get(
            self.key("fixed", "gradient", "one_cell"), measured
        )
        return found


def reproduce(
    out: Path,
    work: Path,
    *,
    quick: bool,
    workers: int,
    report: Callable[[str, int, int], None],
) -> Path:
    """Train and measure everything that is not yet, draw, write the report; return its path."""
    plan = QUICK if quick else FULL_PLAN
    study = Study(plan, work / source_digest())  # measurements of other code stay apart

    def told(stage: str) -> Callable[[int, int], None]:
        return lambda done, total: report(stage, done, total)

    train_all(study.work, study.experiments, workers, told("training games"))
    strengths = study.strengths(told("strengths"))
    report("tables", 0, 4)
    alikeness = study.alikeness()
    report("tables", 1, 4)
    short = study.short_matches()
    report("tables", 2, 4)
    checkpoints = study.against_checkpoints()
    report("tables", 3, 4)
    fixed = study.fixed()
    report("tables", 4, 4)
    findings = Findings(
        plan,
        plan is QUICK,
        study.experiments,
        strengths,
        alikeness,
        short,
        checkpoints,
        fixed,
        study.visits(),
        games_a_second(study.ledger, max(1, plan.first_games // 10)),
        {name: study.weights(name)[1] for name in ("round_1", "winners", "losers", "gradient")},
        checkpoints_of(study.work, "round_1", study.experiments),
        study.pegging(told("pegging")),
    )
    out.mkdir(parents=True, exist_ok=True)
    draw_figures(study, findings, out)
    path = out / f"{GAME}.md"
    path.write_text(write_report(findings))
    return path


def draw_figures(study: Study, findings: Findings, out: Path) -> None:
    """Draw all figures of the report."""
    samples = {
        "thesis": findings.sample[-1][1],
        "gradient": findings.weights["gradient"].mean(axis=0),
    }
    plane = functools.partial(
        figures.draw_maps, x="other's score", y="own score", extent=FULL, label="weight"
    )
    for name, weights in samples.items():
        plane(
            out / f"{GAME}_maps_{name}.svg",
            {
                role: [full_size(weights)[:, :, place, k] for k in range(len(STRATEGIES))]
                for place, role in enumerate(ROLE_NAMES)
            },
            [name.replace("_", "\n", 1).replace("_", " ") for name in STRATEGIES],
            limits=(0, 1) if name == "thesis" else (0, 0.4),
            steps=5 if name == "thesis" else 8,  # noise takes room
        )
    best = STRATEGIES.index("hand_max_avg")
    over_time = {
        "thesis": findings.sample,
        "gradient": checkpoints_of(study.work, "gradient", study.experiments),
    }
    for name, points in over_time.items():
        shown = [points[place] for place in SHOWN]
        plane(
            out / f"{GAME}_training_{name}.svg",
            {"dealer": [full_size(weights)[:, :, 1, best] for _, weights in shown]},
            [f"{games:,} games" for games, _ in shown],
            limits=(0, 1) if name == "thesis" else (0, 0.5),
            steps=5 if name == "thesis" else 8,  # noise takes room
        )
    seen = reached()
    figures.draw_lines(
        out / f"{GAME}_strengths.svg",
        {
            f"{name}, {role}": {
                strategy: [
                    (games / 1000, float(full_size(weights)[:, :, place, k][seen].mean()))
                    for games, weights in points
                ]
                for k, strategy in enumerate(STRATEGIES)
            }
            for name, points in over_time.items()
            for place, role in enumerate(ROLE_NAMES)
        },
        x="thousands of training games",
        y="mean weight",
        same_x=False,
    )
    last = findings.checkpoints["random"][-1]
    figures.draw_dots(
        out / f"{GAME}_spreads.svg",
        {
            "the last agent against its own checkpoints": [
                figures.Dots(
                    one["games"] / 1000,
                    [-spread for spread in one["spreads"]],
                    -THEIR_TABLE_2[place][1],
                )
                for place, one in enumerate(findings.checkpoints["last"])
            ],
            "checkpoints against random weights": [
                figures.Dots(
                    one["games"] / 1000,
                    one["spreads"],
                    -THEIR_TABLE_1[2] * MATCH_GAMES / SHORT if one is last else None,
                )
                for one in findings.checkpoints["random"]
            ],
        },
        x="thousands of training games of the checkpoint",
        y=f"spread over {MATCH_GAMES} games, points",
    )
    chance = winning()
    plane(
        out / f"{GAME}_winning.svg",
        {"": [chance[:, :, place] for place in range(2)]},
        [f"{role} before the deal" for role in ROLE_NAMES],
        limits=(0, 1),
        colours="RdBu",
        steps=20,
        level=0.5,
        label="chance to win",
    )
    pool = findings.weights["round_1"].mean(axis=0)
    figures.draw_lines(
        out / f"{GAME}_wave.svg",
        {
            "chance to win, V": {
                role: list(enumerate(np.diagonal(chance[:, :, place]).tolist()))
                for place, role in enumerate(ROLE_NAMES)
            },
            "weight of hand_max_min, round 1": {
                role: list(enumerate(along_diagonal(pool[:, :, place, 0]).tolist()))
                for place, role in enumerate(ROLE_NAMES)
            },
        },
        x="score of both seats",
        y="",
    )
    titles = {
        "round_1 start": "random starts",
        "round_1 end": "after round 1",
        "gradient end": "gradient,\n11 x 11 cells",
        "one_cell end": "gradient,\none cell",
    }
    figures.draw_histograms(
        out / f"{GAME}_alike.svg",
        {title: findings.alikeness[name]["pairs"] for name, title in titles.items()},
        x="hands on which two agents keep the same cards, %",
    )
