"""The paper on Uno measured again: its two learners with and without the leak, and beyond them.

"Winning Uno With Reinforcement Learning" trains DQN and DeepSARSA against two random seats on
RLCard's Uno, with an input that shows the other hands together. The trainings behind the shipped
networks take minutes on a graphics card, so that their logs are kept (`papers/logs`); every match
is played here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.arena.match import Match
from cardlab.engine.statistics import binomial_margin, difference
from cardlab.games.uno import PACKAGE
from cardlab.games.uno.agents.search import LADDER
from cardlab.papers import figures
from cardlab.papers.claim import (
    Claim,
    claims_table,
    compare,
    fill_template,
    markdown_table,
)
from cardlab.papers.logs import kept_log, kept_result
from cardlab.papers.measurements import Games, Ledger, measure, source_digest

__all__ = ["reproduce"]

GAME = "uno"
SEED = 2027
RLCARD = "rlcard"
SEATS = (3, 4, 5)
THEIR_GAMES = 1000
THEIR_TABLE_3 = {  # wins with two, three and four random seats
    "DQN": (0.635, 0.455, 0.231),
    "DeepSARSA": (0.591, 0.401, 0.249),
    "Random Agent": (0.335, 0.248, 0.206),
}
THEIR_TABLE_4 = {"DQN": 0.390, "DeepSARSA": 0.363, "Random": 0.247}
THEIR_FINAL = {"DQN": (0.244, 0.622), "DeepSARSA": (0.210, 0.605)}  # reward, wins in 100 games
THEIR_ITERATIONS = {"DQN": (350_000, 240_000), "DeepSARSA": (125_000, 100_000)}
ITERATION = 100  # games
EARLY = 50_000  # iterations in which most is learned
OPEN = {"DQN": "uno_dqn_open", "DeepSARSA": "uno_deep_sarsa_open", "Random Agent": "random"}
FAIR = {"DQN": "uno_dqn", "DeepSARSA": "uno_deep_sarsa", "Random Agent": "random"}
RUNS = {
    ("DQN", "paper"): "dqn_paper",
    ("DeepSARSA", "paper"): "deep_sarsa_paper",
    ("DQN", "fair"): "dqn_fair",
    ("DeepSARSA", "fair"): "deep_sarsa_fair",
}
CURVE = "rlcard/random/3"  # the paper's table, in the logs
PLAIN = ("random", "heuristic", "uno_net", "uno_search")
STEPS = tuple(name for name, _ in LADDER)


@dataclass(frozen=True)
class Plan:
    """How much is played for a cell: of tables and strengths, and of what searches for the rest."""

    games: int
    ladder_games: int


FULL = Plan(10_000, 1_000)
QUICK = Plan(120, 12)


def all_matches(plan: Plan) -> dict[str, Match]:
    """Return every match that the report needs, by name."""
    matches = {}

    def add(kind: str, agents: Sequence[str], seats: int, rules: str = RLCARD) -> None:
        searches = agents[0] in STEPS or (agents[0] == "uno_search" and agents[1] == "heuristic")
        games = plan.ladder_games if searches else plan.games
        options = {"seats": seats, "rules": rules}
        name = f"{kind} {agents[0]} {seats} {rules}"
        matches[name] = Match.plan(GAME, list(agents), games, SEED, options)

    for seats in SEATS:
        for agents in (OPEN, FAIR):
            for agent in agents.values():
                add("table 3", (agent, "random"), seats)
    for kind, agents in (("table 4 paper", OPEN), ("table 4 fair", FAIR)):
        add(kind, tuple(agents.values()), 3)
    for seats in (2, *SEATS):
        for agent in (*PLAIN, *STEPS):
            add("against random", (agent, "random"), seats)
    for seats in (2, 3):
        for agent in PLAIN[1:]:
            add("against random", (agent, "random"), seats, "official")
        for agent in PLAIN[2:]:
            for rules in (RLCARD, "official"):
                add("against heuristic", (agent, "heuristic"), seats, rules)
    return matches


@dataclass(frozen=True)
class Curve:
    """How a learner got on: games, share of wins with three seats, margin, for every evaluation."""

    games: tuple[int, ...]
    wins: tuple[float, ...]
    margins: tuple[float, ...]

    @classmethod
    def of(cls, run: str) -> Curve:
        """Read the log of a kept run."""
        rows = [row for row in kept_log(PACKAGE, run) if CURVE in row]
        return cls(
            tuple(int(row["step"]) for row in rows),
            tuple(float(row[CURVE]) for row in rows),
            tuple(float(row[f"{CURVE}/margin"]) for row in rows),
        )

    @property
    def last(self) -> tuple[float, float]:
        """The mean of the last tenth of all evaluations, and its margin."""
        many = max(1, len(self.wins) // 10)
        return float(np.mean(self.wins[-many:])), float(np.mean(self.margins[-many:]) / many**0.5)

    @property
    def converged(self) -> int:
        """The games after which no evaluation is below the end beyond its interval for long.

        That is the first evaluation from which on the mean of five reaches the mean of the end.
        """
        goal = self.last[0] - self.margins[-1]
        width = min(5, len(self.wins))
        means = np.convolve(self.wins, np.ones(width) / width, mode="valid")
        return self.games[int(np.argmax(means >= goal))]

    def share_until(self, games: int) -> float:
        """Return which part of all gain is made until so many games."""
        start = 100 / 3
        then = [won for at, won in zip(self.games, self.wins, strict=True) if at <= games]
        return (max(then) - start) / (max(self.wins) - start) if then else 0.0

    @property
    def noise(self) -> float:
        """The standard deviation from one evaluation to the next in the second half."""
        half = np.array(self.wins[len(self.wins) // 2 :])
        return float(np.std(np.diff(half)) / 2**0.5) if len(half) > 2 else float("nan")


def reproduce(
    out: Path,
    work: Path,
    *,
    quick: bool,
    workers: int,
    report: Callable[[str, int, int], None],
) -> Path:
    """Measure everything that is not yet measured, draw, write the report; return its path."""
    plan = QUICK if quick else FULL
    ledger = Ledger(work / source_digest() / "ledger.jsonl")
    games = measure(
        all_matches(plan), ledger, workers=workers, progress=lambda *at: report("matches", *at)
    )
    curves = {who: Curve.of(run) for who, run in RUNS.items()}
    out.mkdir(parents=True, exist_ok=True)
    draw_figures(games, curves, out)
    path = out / f"{GAME}.md"
    path.write_text(write_report(plan, games, curves))
    return path


def draw_figures(games: dict[str, Games], curves: dict[tuple[str, str], Curve], out: Path) -> None:
    """Draw figures 2 and 3 and the ladder of knowledge."""
    for number, learner in ((2, "DQN"), (3, "DeepSARSA")):
        lines = {}
        for encoding, label in (("paper", "sees the other hands together"), ("fair", "fair")):
            one = curves[learner, encoding]
            lines[label] = [
                (at / ITERATION, 2 * won / 100 - 1, 2 * margin / 100)
                for at, won, margin in zip(one.games, one.wins, one.margins, strict=True)
            ]
        figures.draw_curves(
            out / f"{GAME}_figure_{number}.svg",
            lines,
            x=f"iterations of 100 games, {learner}",
            y="mean reward against two random seats",
            log_x=False,
        )
    ladder = {
        f"{seats} seats": [
            (step, *games[f"against random {name} {seats} {RLCARD}"].score())
            for step, name in enumerate(("heuristic", "uno_net", *STEPS))
        ]
        for seats in (2, *SEATS)
    }
    figures.draw_steps(
        out / f"{GAME}_ladder.svg",
        ladder,
        names=("heuristic", "network", "search:\nits seat", "+ union", "+ each hand", "+ deck"),
        y="wins against random seats, %",
    )


def percent(value: tuple[float, float]) -> str:
    """Return a score with its margin."""
    return f"{value[0]:.1f} ± {value[1]:.1f}"


def write_report(plan: Plan, games: dict[str, Games], curves: dict[tuple[str, str], Curve]) -> str:
    """Return the report in Markdown; every number in it was measured by these games and runs."""

    def score(kind: str, agent: str, seats: int, rules: str = RLCARD) -> tuple[float, float]:
        return games[f"{kind} {agent} {seats} {rules}"].score()

    third, claims = table_3(score)
    fourth, more = table_4(games)
    claims += more + training_claims(curves)
    ladder = [
        (
            f"`{name}`",
            knows,
            *(percent(score("against random", name, seats)) for seats in (2, *SEATS)),
        )
        for name, knows in LADDER
    ]
    strengths = []
    for agent in PLAIN:
        for other in ("random", "heuristic"):
            cells = []
            for seats, rules in (
                *((seats, RLCARD) for seats in (2, *SEATS)),
                (2, "official"),
                (3, "official"),
            ):
                name = f"against {other} {agent} {seats} {rules}"
                cells.append(percent(games[name].score()) if name in games else "")
            if any(cells):
                strengths.append((f"`{agent}`", f"`{other}`", *cells))
    facts = {
        "size": "quick run: wide intervals" if plan is QUICK else "full run",
        "seed": SEED,
        "games": f"{plan.games:,}",
        "ladder_games": f"{plan.ladder_games:,}",
        "claims": claims_table(claims),
        "table_3": markdown_table(
            ("agent", "seats", "theirs", "sees the union", "fair", "verdict"), third, right=2
        ),
        "table_4": markdown_table(("agent", "theirs", "sees the union", "fair", "verdict"), fourth),
        "training": markdown_table(
            (
                "learner",
                "encoding",
                "games",
                "wins at the end",
                "reward",
                "gain within 50,000 iterations",
                "settled after",
                "noise",
            ),
            training_rows(curves),
            right=2,
        ),
        "grid": grid_table(),
        "ladder": markdown_table(("search", "knows", "2 seats", "3", "4", "5"), ladder, right=2),
        "designs": designs_table(),
        "strengths": markdown_table(
            ("agent", "against", "2 seats", "3", "4", "5", "official, 2", "official, 3"),
            strengths,
            right=2,
        ),
    }
    return fill_template(PACKAGE, facts)


def table_3(
    score: Callable[[str, str, int], tuple[float, float]],
) -> tuple[list[tuple[str, ...]], list[Claim]]:
    """Return the rows of table 3 and a claim for each row."""
    rows: list[tuple[str, ...]] = []
    claims: list[Claim] = []
    for name, theirs in THEIR_TABLE_3.items():
        for seats, stated in zip(SEATS, theirs, strict=True):
            margin = 100 * binomial_margin(stated, THEIR_GAMES)
            ours = score("table 3", OPEN[name], seats)
            fair = score("table 3", FAIR[name], seats)
            verdict = compare(100 * stated, margin, *ours)
            where = "" if verdict == "agrees" else _side(100 * stated, ours[0])
            rows.append(
                (
                    name,
                    str(seats),
                    percent((100 * stated, margin)),
                    percent(ours),
                    percent(fair),
                    verdict + where,
                )
            )
    for one, other in (("DQN", "DeepSARSA"),):
        better = []
        for seats in SEATS:
            a, b = score("table 3", OPEN[one], seats), score("table 3", OPEN[other], seats)
            apart, margin = difference(a, b)
            better.append(f"{apart:+.1f}{'' if abs(apart) > margin else ' (within chance)'}")
        ahead = not any("chance" in one or one.startswith("-") for one in better[:2])
        claims.append(
            Claim(
                "table 3",
                "DQN wins more than DeepSARSA with three and four seats",
                "+4.4, +5.4 points (5 seats: -1.8)",
                ", ".join(better),
                "agrees" if ahead else "differs",
            )
        )
    five = {name: score("table 3", OPEN[name], 5) for name in OPEN}
    chance = five["Random Agent"]
    above = all(five[name][0] - five[name][1] > chance[0] + chance[1] for name in list(OPEN)[:2])
    claims.append(
        Claim(
            "table 3",
            "neither agent is much better than random with five seats",
            ".231 and .249 against .206",
            f"{percent(five['DQN'])} and {percent(five['DeepSARSA'])} against {percent(chance)}",
            "differs: both are" if above else "agrees",
        )
    )
    return rows, claims


def _side(theirs: float, ours: float) -> str:
    return ": ours is stronger" if ours > theirs else ": theirs is out of reach here"


def table_4(games: dict[str, Games]) -> tuple[list[tuple[str, ...]], list[Claim]]:
    """Return the rows of table 4 and its claims."""
    rows: list[tuple[str, ...]] = []
    one, two = (games[f"table 4 {kind} {agents['DQN']} 3 {RLCARD}"] for kind, agents in _BOTH)
    for place, (name, stated) in enumerate(THEIR_TABLE_4.items()):
        margin = 100 * binomial_margin(stated, THEIR_GAMES)
        verdict = compare(100 * stated, margin, *one.score(place))
        rows.append(
            (
                name,
                percent((100 * stated, margin)),
                percent(one.score(place)),
                percent(two.score(place)),
                verdict,
            )
        )
    first, second, last = (one.score(place) for place in range(3))
    apart, margin = difference(first, second)
    beyond = abs(apart) > margin
    told = "agrees" if beyond and apart > 0 else "differs"
    return rows, [
        Claim(
            "table 4",
            "DQN wins more than DeepSARSA at one table",
            "+2.7 points",
            f"{apart:+.1f} points{'' if beyond else ', within chance'}",
            told,
        ),
        Claim(
            "table 4",
            "both win at least .1 more than the random agent",
            "+14.3, +11.6 points",
            f"{first[0] - last[0]:+.1f}, {second[0] - last[0]:+.1f} points",
            "agrees" if min(first[0], second[0]) - last[0] >= 10 else "differs",
        ),
    ]


_BOTH = (("paper", OPEN), ("fair", FAIR))


def training_claims(curves: dict[tuple[str, str], Curve]) -> list[Claim]:
    """Return verdicts on what the paper says of its trainings."""
    claims = []
    for learner, (reward, wins) in THEIR_FINAL.items():
        one = curves[learner, "paper"]
        margin = 100 * binomial_margin(wins, 100)
        claims.append(
            Claim(
                "section 6.2",
                f"{learner} ends at a reward of {reward} and {100 * wins:.1f} % wins",
                percent((100 * wins, margin)),
                percent(one.last),
                compare(100 * wins, margin, *one.last),
            )
        )
        early = one.share_until(EARLY * ITERATION)
        claims.append(
            Claim(
                "section 6.2",
                f"{learner} gains most within the first 50,000 iterations",
                "seen in the figure",
                f"{100 * early:.0f} % of all gain",
                "agrees" if early > 0.5 else "differs",
            )
        )
    best = best_of_grid()
    claims.append(
        Claim(
            "section 6.1",
            "gamma .95, alpha .0001, epsilon .95 are the best of 18 settings",
            "most wins in 100 games after 40,000 iterations",
            "most wins in 20,000 games: gamma {:g}, alpha {:g}, epsilon {:g}".format(*best),
            "agrees" if best == (0.95, 0.0001, 0.95) else "differs",
        )
    )
    dqn, sarsa = (curves[learner, "paper"] for learner in THEIR_FINAL)
    claims.append(
        Claim(
            "section 6.2",
            "DeepSARSA settles in fewer iterations than DQN",
            "100,000 against 240,000",
            f"{sarsa.converged // ITERATION:,} against {dqn.converged // ITERATION:,}",
            "agrees" if sarsa.converged < dqn.converged else "differs",
        )
    )
    claims.append(
        Claim(
            "section 6.2",
            "the curve of DQN is noisier than that of DeepSARSA",
            "seen in the figures",
            f"{dqn.noise:.2f} against {sarsa.noise:.2f} points between evaluations",
            "agrees" if dqn.noise > 1.2 * sarsa.noise else "differs",
        )
    )
    return claims


def training_rows(curves: dict[tuple[str, str], Curve]) -> list[tuple[str, ...]]:
    """Return one row for each training."""
    return [
        (
            learner,
            encoding,
            f"{one.games[-1]:,}",
            percent(one.last),
            f"{2 * one.last[0] / 100 - 1:+.3f}",
            f"{100 * one.share_until(EARLY * ITERATION):.0f} %",
            f"{one.converged // ITERATION:,} iterations",
            f"{one.noise:.2f}",
        )
        for (learner, encoding), one in curves.items()
    ]


def _score_cells(result: dict[str, Any], tables: Sequence[str]) -> list[str]:
    found = {f"{one['rules']}/{one['opponent']}/{one['seats']}": one for one in result["scores"]}
    cells = []
    for table in tables:
        one = found.get(table)
        share = one["wins"] / one["games"] if one else 0.0
        cells.append(
            percent((100 * share, 100 * binomial_margin(share, one["games"]))) if one else ""
        )
    return cells


def grid_table() -> str:
    """Return the grid of settings, with fewer games than the paper's, as its kept runs ended."""
    rows = []
    for result in kept_result(PACKAGE, "grid").values():
        config = result["config"]
        cells = (f"{config[name]:g}" for name in ("gamma", "alpha", "epsilon"))
        rows.append((*cells, f"{result['games']:,}", *_score_cells(result, [CURVE])))
    return markdown_table(("gamma", "alpha", "epsilon", "games", "wins, 3 seats"), rows)


def best_of_grid() -> tuple[float, float, float]:
    """Return gamma, alpha and epsilon of the cell that won most with three seats."""

    def wins(result: dict[str, Any]) -> int:
        return next(int(one["wins"]) for one in result["scores"] if one["seats"] == 3)

    config = max(kept_result(PACKAGE, "grid").values(), key=wins)["config"]
    return config["gamma"], config["alpha"], config["epsilon"]


def designs_table() -> str:
    """Return all designs that were compared at equal games, best with three seats first."""
    tables = [f"rlcard/random/{seats}" for seats in (2, *SEATS)]
    rows = [
        (name.replace("_", " "), f"{result['games']:,}", *_score_cells(result, tables))
        for name, result in kept_result(PACKAGE, "designs").items()
    ]
    rows.sort(key=lambda row: row[3], reverse=True)
    return markdown_table(("design", "games", "2 seats", "3", "4", "5"), rows)
