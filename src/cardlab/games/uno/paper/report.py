"""The paper on Uno measured again: its two learners with and without the leak, and beyond them.

"Winning Uno With Reinforcement Learning" trains DQN and DeepSARSA against two random seats on
RLCard's Uno, with an input that shows the other hands together. The trainings behind the shipped
networks take minutes on a graphics card, so that their logs are kept (`papers/logs`); every match
is played here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.arena.match import Match
from cardlab.engine.statistics import binomial_margin, difference
from cardlab.games.uno import PACKAGE
from cardlab.games.uno.agents.search import LADDER
from cardlab.papers import figures
from cardlab.papers.claim import Claim, agreement, compare, markdown_table, with_margin
from cardlab.papers.kept_logs import kept_log, kept_result
from cardlab.papers.measurements import Games
from cardlab.papers.reproduce import Report, Study

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
ITERATION = 100  # games
EARLY = 50_000  # iterations in which most is learned
OPEN = {"DQN": "uno_dqn_open", "DeepSARSA": "uno_deep_sarsa_open", "Random Agent": "random"}
FAIR = {"DQN": "uno_dqn", "DeepSARSA": "uno_deep_sarsa", "Random Agent": "random"}
BOTH = (("paper", OPEN), ("fair", FAIR))
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
    for kind, agents in BOTH:
        add(f"table 4 {kind}", tuple(agents.values()), 3)
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


class Findings(NamedTuple):
    """Everything that was measured, and the logs of the trainings."""

    plan: Plan
    games: dict[str, Games]
    curves: dict[tuple[str, str], Curve]

    def score(self, kind: str, agent: str, seats: int, rules: str = RLCARD) -> tuple[float, float]:
        """Return an agent's score in one kind of match, and its margin."""
        return self.games[f"{kind} {agent} {seats} {rules}"].score()


def measure_all(study: Study[Plan]) -> Findings:
    """Play every match, and read the kept logs."""
    games = study.play("matches", all_matches(study.plan))
    return Findings(study.plan, games, {who: Curve.of(run) for who, run in RUNS.items()})


def draw_figures(found: Findings, out: Path) -> None:
    """Draw figures 2 and 3 and the ladder of knowledge."""
    for number, learner in ((2, "DQN"), (3, "DeepSARSA")):
        lines = {}
        for encoding, label in (("paper", "sees the other hands together"), ("fair", "fair")):
            curve = found.curves[learner, encoding]
            lines[label] = [
                (at / ITERATION, 2 * won / 100 - 1, 2 * margin / 100)
                for at, won, margin in zip(curve.games, curve.wins, curve.margins, strict=True)
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
            (step, *found.score("against random", name, seats))
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


# Table 3


def table_3(found: Findings) -> str:
    """Return table 3: wins by seats, theirs beside ours."""
    rows: list[tuple[str, ...]] = []
    for name, theirs in THEIR_TABLE_3.items():
        for seats, stated in zip(SEATS, theirs, strict=True):
            share = their_share(stated)
            ours = found.score("table 3", OPEN[name], seats)
            fair = found.score("table 3", FAIR[name], seats)
            verdict = compare(*share, *ours)
            if verdict == "differs":
                stronger = ours[0] > share[0]
                verdict += ": ours is stronger" if stronger else ": theirs is out of reach here"
            cells = (with_margin(value) for value in (share, ours, fair))
            rows.append((name, str(seats), *cells, verdict))
    head = ("agent", "seats", "theirs", "sees the union", "fair", "verdict")
    return markdown_table(head, rows, right=2)


def their_share(share: float, games: int = THEIR_GAMES) -> tuple[float, float]:
    """Return a share that the paper states in percent, with the margin of its games."""
    return 100 * share, 100 * binomial_margin(share, games)


def table_3_claims(found: Findings) -> list[Claim]:
    """Return what the paper says of table 3."""
    better = []
    for seats in SEATS:
        scores = [found.score("table 3", OPEN[name], seats) for name in ("DQN", "DeepSARSA")]
        apart, margin = difference(scores[0], scores[1])
        better.append(f"{apart:+.1f}{'' if abs(apart) > margin else ' (within chance)'}")
    ahead = not any("chance" in text or text.startswith("-") for text in better[:2])
    five = {name: found.score("table 3", OPEN[name], 5) for name in OPEN}
    chance = five["Random Agent"]
    above = all(five[name][0] - five[name][1] > sum(chance) for name in ("DQN", "DeepSARSA"))
    return [
        Claim(
            "table 3",
            "DQN wins more than DeepSARSA with three and four seats",
            "+4.4, +5.4 points (5 seats: -1.8)",
            ", ".join(better),
            agreement(ahead),
        ),
        Claim(
            "table 3",
            "neither agent is much better than random with five seats",
            ".231 and .249 against .206",
            f"{with_margin(five['DQN'])} and {with_margin(five['DeepSARSA'])} against "
            f"{with_margin(chance)}",
            "differs: both are" if above else "agrees",
        ),
    ]


# Table 4: both agents and the random one at one table


def table_4(found: Findings) -> str:
    """Return table 4, theirs beside ours."""
    ours, fair = (
        found.games[f"table 4 {kind} {agents['DQN']} 3 {RLCARD}"] for kind, agents in BOTH
    )
    rows = []
    for place, (name, stated) in enumerate(THEIR_TABLE_4.items()):
        shares = (their_share(stated), ours.score(place), fair.score(place))
        verdict = compare(*shares[0], *shares[1])
        rows.append((name, *(with_margin(share) for share in shares), verdict))
    return markdown_table(("agent", "theirs", "sees the union", "fair", "verdict"), rows)


def table_4_claims(found: Findings) -> list[Claim]:
    """Return what the paper says of table 4."""
    ours = found.games[f"table 4 paper {OPEN['DQN']} 3 {RLCARD}"]
    first, second, last = (ours.score(place) for place in range(3))
    apart, margin = difference(first, second)
    beyond = abs(apart) > margin
    return [
        Claim(
            "table 4",
            "DQN wins more than DeepSARSA at one table",
            "+2.7 points",
            f"{apart:+.1f} points{'' if beyond else ', within chance'}",
            agreement(beyond and apart > 0),
        ),
        Claim(
            "table 4",
            "both win at least .1 more than the random agent",
            "+14.3, +11.6 points",
            f"{first[0] - last[0]:+.1f}, {second[0] - last[0]:+.1f} points",
            agreement(min(first[0], second[0]) - last[0] >= 10),
        ),
    ]


# The trainings


def training_claims(found: Findings) -> list[Claim]:
    """Return verdicts on what the paper says of its trainings."""
    curves = found.curves
    claims = []
    for learner, (reward, wins) in THEIR_FINAL.items():
        curve, stated = curves[learner, "paper"], their_share(wins, 100)
        early = curve.share_until(EARLY * ITERATION)
        claims += [
            Claim(
                "section 6.2",
                f"{learner} ends at a reward of {reward} and {100 * wins:.1f} % wins",
                with_margin(stated),
                with_margin(curve.last),
                compare(*stated, *curve.last),
            ),
            Claim(
                "section 6.2",
                f"{learner} gains most within the first 50,000 iterations",
                "seen in the figure",
                f"{100 * early:.0f} % of all gain",
                agreement(early > 0.5),
            ),
        ]
    best = best_of_grid()
    dqn, sarsa = (curves[learner, "paper"] for learner in THEIR_FINAL)
    return [
        *claims,
        Claim(
            "section 6.1",
            "gamma .95, alpha .0001, epsilon .95 are the best of 18 settings",
            "most wins in 100 games after 40,000 iterations",
            "most wins in 20,000 games: gamma {:g}, alpha {:g}, epsilon {:g}".format(*best),
            agreement(best == (0.95, 0.0001, 0.95)),
        ),
        Claim(
            "section 6.2",
            "DeepSARSA settles in fewer iterations than DQN",
            "100,000 against 240,000",
            f"{sarsa.converged // ITERATION:,} against {dqn.converged // ITERATION:,}",
            agreement(sarsa.converged < dqn.converged),
        ),
        Claim(
            "section 6.2",
            "the curve of DQN is noisier than that of DeepSARSA",
            "seen in the figures",
            f"{dqn.noise:.2f} against {sarsa.noise:.2f} points between evaluations",
            agreement(dqn.noise > 1.2 * sarsa.noise),
        ),
    ]


def training_table(found: Findings) -> str:
    """Return one row for each training."""
    rows = [
        (
            learner,
            encoding,
            f"{curve.games[-1]:,}",
            with_margin(curve.last),
            f"{2 * curve.last[0] / 100 - 1:+.3f}",
            f"{100 * curve.share_until(EARLY * ITERATION):.0f} %",
            f"{curve.converged // ITERATION:,} iterations",
            f"{curve.noise:.2f}",
        )
        for (learner, encoding), curve in found.curves.items()
    ]
    end = ("games", "wins at the end", "reward")
    way = ("gain within 50,000 iterations", "settled after", "noise")
    return markdown_table(("learner", "encoding", *end, *way), rows, right=2)


def score_cells(result: dict[str, Any], tables: Sequence[str]) -> list[str]:
    """Return how a kept run ended on some tables, empty where it was not measured."""
    scores = {f"{row['rules']}/{row['opponent']}/{row['seats']}": row for row in result["scores"]}
    found = [scores.get(table) for table in tables]
    return [
        with_margin(their_share(row["wins"] / row["games"], row["games"])) if row else ""
        for row in found
    ]


def grid_table() -> str:
    """Return the grid of settings, with fewer games than the paper's, as its kept runs ended."""
    rows = []
    for result in kept_result(PACKAGE, "grid").values():
        config = result["config"]
        cells = (f"{config[name]:g}" for name in ("gamma", "alpha", "epsilon"))
        rows.append((*cells, f"{result['games']:,}", *score_cells(result, [CURVE])))
    return markdown_table(("gamma", "alpha", "epsilon", "games", "wins, 3 seats"), rows)


def best_of_grid() -> tuple[float, float, float]:
    """Return gamma, alpha and epsilon of the cell that won most with three seats."""

    def wins(result: dict[str, Any]) -> int:
        return next(int(row["wins"]) for row in result["scores"] if row["seats"] == 3)

    config = max(kept_result(PACKAGE, "grid").values(), key=wins)["config"]
    return config["gamma"], config["alpha"], config["epsilon"]


def designs_table() -> str:
    """Return all designs that were compared at equal games, best with three seats first."""
    tables = [f"rlcard/random/{seats}" for seats in (2, *SEATS)]
    rows = [
        (name.replace("_", " "), f"{result['games']:,}", *score_cells(result, tables))
        for name, result in kept_result(PACKAGE, "designs").items()
    ]
    rows.sort(key=lambda row: row[3], reverse=True)
    return markdown_table(("design", "games", "2 seats", "3", "4", "5"), rows)


# Strength


def ladder_table(found: Findings) -> str:
    """Return what a search wins by what it knows."""
    seats = (2, *SEATS)
    rows = [
        (f"`{name}`", knows, *(with_margin(found.score("against random", name, n)) for n in seats))
        for name, knows in LADDER
    ]
    return markdown_table(("search", "knows", "2 seats", "3", "4", "5"), rows, right=2)


def strength_table(found: Findings) -> str:
    """Return what the agents win against random and heuristic seats, where it was measured."""
    tables = [(seats, RLCARD) for seats in (2, *SEATS)] + [(2, "official"), (3, "official")]
    rows = []
    for agent in PLAIN:
        for other in ("random", "heuristic"):
            names = [f"against {other} {agent} {seats} {rules}" for seats, rules in tables]
            cells = [
                with_margin(found.games[name].score()) if name in found.games else ""
                for name in names
            ]
            if any(cells):
                rows.append((f"`{agent}`", f"`{other}`", *cells))
    head = ("agent", "against", "2 seats", "3", "4", "5", "official, 2", "official, 3")
    return markdown_table(head, rows, right=2)


def all_facts(found: Findings) -> dict[str, object]:
    """Return every number and table of the report."""
    return {
        "seed": SEED,
        "games": f"{found.plan.games:,}",
        "ladder_games": f"{found.plan.ladder_games:,}",
        "table_3": table_3(found),
        "table_4": table_4(found),
        "training": training_table(found),
        "grid": grid_table(),
        "ladder": ladder_table(found),
        "designs": designs_table(),
        "strengths": strength_table(found),
    }


def all_claims(found: Findings) -> list[Claim]:
    """Return the paper's claims beside what was found."""
    return [*table_3_claims(found), *table_4_claims(found), *training_claims(found)]


REPORT = Report(PACKAGE, FULL, QUICK, measure_all, draw_figures, all_claims, all_facts)
