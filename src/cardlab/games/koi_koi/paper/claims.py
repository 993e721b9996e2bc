"""What the paper on Koi-Koi claims, each beside what was measured.

Most numbers of its table II cannot be read in our copy, so that only the directions that its text
states get a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.engine.game import Array
from cardlab.engine.statistics import binomial_margin, difference, mean_and_margin
from cardlab.games.koi_koi.paper.cases import Case
from cardlab.games.koi_koi.rules import START
from cardlab.papers.claim import Claim, agreement, compare, markdown_table
from cardlab.papers.measurements import Games

AGENTS = {  # by the paper's names
    "RL-WP": "koi_koi_win",
    "RL-Point": "koi_koi_point",
    "SL": "koi_koi_supervised",
    "Random": "random",
}
THEIR_TABLE_1 = {  # accuracy, decisions
    "discard": (0.740, 17_821),
    "pick": (0.903, 1_846),
    "koi_koi": (0.802, 1_768),
    "overall": (0.759, 21_435),
}
EQUAL, ALONE = "up to equal cards", "randomly initialised"
BY_CHANCE = f"RL-WP {ALONE}"  # the shipped one began with what RL-Point had learned
BEATEN_AFTER = 500_000  # games until RL-WP beats SL
FOCUS = 3.0  # times the even share of attention that counts as a focus


# Table I


def table_1(summary: Mapping[str, Any], alone: Mapping[str, Any]) -> tuple[str, list[Claim]]:
    """Return the accuracies of the supervised networks, and a claim for each.

    `alone` is the summary of a training on nothing but recorded games.
    """
    rows, claims = [], []
    for name, (theirs, decisions) in THEIR_TABLE_1.items():
        ours, margin = summary[f"accuracy/{name}"], summary[f"accuracy/{name} margin"]
        verdict = compare(theirs, binomial_margin(theirs, decisions), ours, margin)
        if verdict == "differs":
            verdict += ": ours is higher" if ours > theirs else ": ours is lower"
        measured = f"{ours:.3f} ± {margin:.3f}"
        what = name.replace("koi_koi", "koi-koi")
        alike = f"{summary[f'alike/{name}']:.3f} ± {summary[f'alike/{name} margin']:.3f}"
        count = f"{summary[f'decisions/{name}']:,}"
        chance = f"{alone[f'accuracy/{name}']:.3f} ± {alone[f'accuracy/{name} margin']:.3f}"
        rows.append((what, count, f"{theirs:.3f}", measured, alike, chance, verdict))
        claims.append(Claim("table I", f"accuracy, {what}", f"{theirs:.3f}", measured, verdict))
    head = ("decision", "decisions", "theirs", "ours", EQUAL, ALONE, "verdict")
    return markdown_table(head, rows), claims


# Table II


def by_deal(games: Games, place: int) -> tuple[Array, Array]:
    """Return an agent's wins in percent and points over the start, the mean of both seats."""
    mine = [(rotation, (place + rotation) % 2) for rotation in range(2)]
    returns = np.mean([games.returns[:, rotation, seat] for rotation, seat in mine], axis=0)
    points = np.mean([games.points[:, rotation, seat] for rotation, seat in mine], axis=0)
    return 50 * (1 + returns), points - START


def _verdict(apart: float, margin: float) -> str:
    if abs(apart) <= margin:
        return "open: within chance"
    return "agrees" if apart > 0 else "differs"


def table_2_claims(games: dict[str, Games]) -> list[Claim]:
    """Return the directions that the paper states for table II."""
    claims = []
    for one, other in (
        ("RL-WP", "SL"),
        ("RL-Point", "SL"),
        ("RL-WP", "Random"),
        ("RL-Point", "Random"),
        ("SL", "Random"),
    ):
        wins, margin = mean_and_margin(by_deal(games[f"{AGENTS[one]} {AGENTS[other]}"], 0)[0])
        ours = f"{wins:.1f} ± {margin:.1f} %"
        statement = f"{one} wins more than {other} when they meet"
        claims.append(Claim("table II", statement, "above 50 %", ours, _verdict(wins - 50, margin)))
    for number, (what, better, worse) in enumerate(
        (("wins", "RL-WP", "RL-Point"), ("points", "RL-Point", "RL-WP"))
    ):
        direct = by_deal(games[f"{AGENTS['RL-WP']} {AGENTS['RL-Point']}"], 0)[number]
        even = 50 if what == "wins" else 0
        apart = (direct - even) * (1 if better == "RL-WP" else -1)
        cells = [("when they meet", mean_and_margin(apart))]
        for other in ("SL", "Random"):
            mine, theirs = (
                by_deal(games[f"{AGENTS[name]} {AGENTS[other]}"], 0)[number]
                for name in (better, worse)
            )
            cells.append((f"against {other}", mean_and_margin(mine - theirs)))
        for where, (mean, margin) in cells:
            measured = f"{mean:+.1f} ± {margin:.1f} {'%' if what == 'wins' else 'points'}"
            statement = f"{better} gets more {what} than {worse}, {where}"
            claims.append(Claim("table II", statement, "more", measured, _verdict(mean, margin)))
    return claims


# Figures 5 and 6


def slopes(chances: Array) -> Array:
    """Return how many percent a point more is worth at even points, with 1 to 7 rounds left."""
    rise = 100 * (chances[1:8, :, START + 2] - chances[1:8, :, START - 2]) / 4
    mean: Array = rise.mean(axis=1)
    return mean


def predictor_claims(chances: Array) -> list[Claim]:
    """Return what the paper says of the predicted chances."""
    rise = slopes(chances)
    leads = [float(100 * chances[left, :, START + 5].mean()) for left in (7, 4, 1)]
    return [
        Claim(
            "figure 5",
            "the closer to the last round, the faster the chance changes with points",
            "seen in the figure",
            f"a point more is worth {rise[6]:.1f}, {rise[3]:.1f}, {rise[0]:.1f} % with 7, 4 and "
            "1 rounds left",
            agreement(rise[6] < rise[3] < rise[0]),
        ),
        Claim(
            "figure 5",
            "and the greater the advantage of the leader",
            "seen in the figure",
            f"a lead of 5 wins {leads[0]:.0f}, {leads[1]:.0f}, {leads[2]:.0f} %",
            agreement(leads[0] < leads[1] < leads[2]),
        ),
    ]


@dataclass(frozen=True)
class Curve:
    """How a training got on against the supervised agent: wins in percent, points, margins."""

    games: Array
    measured: Mapping[str, tuple[Array, Array]]  # wins and points, each with its margins

    @classmethod
    def of(cls, lines: Sequence[Mapping[str, Any]]) -> Curve:
        """Read the log of a run."""
        rows = [line for line in lines if "supervised/wins" in line]

        def column(name: str, scale: float = 1.0) -> Array:
            return scale * np.array([float(row[name]) for row in rows])

        measured = {
            what: (column(f"supervised/{what}", scale), column(f"supervised/{what} margin", scale))
            for what, scale in (("wins", 100.0), ("points", 1.0))
        }
        return cls(column("games"), measured)

    def line(self, what: str) -> list[tuple[float, float, float]]:
        """Return wins or points as points of a drawing."""
        together = zip(self.games, *self.measured[what], strict=True)
        return [(float(at), float(value), float(margin)) for at, value, margin in together]

    def end(self, what: str) -> tuple[float, float]:
        """Return the mean of the evaluations in the last tenth of all games, and the margin of one.

        All evaluations meet the same deals, so that a mean of several is no better than one.
        """
        values, margins = self.measured[what]
        late = self.games >= 0.9 * self.games[-1]
        return float(values[late].mean()), float(margins[late].mean())

    def games_until(self, wins: float) -> float:
        """Return the games of the first evaluation with so many wins; infinity if none has."""
        reached = np.flatnonzero(self.measured["wins"][0] >= wins)
        return float(self.games[reached[0]]) if len(reached) else float("inf")


def _games(count: float) -> str:
    return "no training here" if count == float("inf") else f"{count:,.0f} games"


def curve_claims(curves: Mapping[str, Curve]) -> list[Claim]:
    """Return what the paper says of the trainings; beginnings are compared from random weights."""
    win, point = curves["RL-WP"], curves["RL-Point"]
    early = [one.games_until(50) for one in (point, curves[BY_CHANCE])]
    ends = [one.end("wins") for one in (win, point)]
    apart, margin = difference(*ends)
    evenly = early[0] == early[1]
    return [
        Claim(
            "figure 6",
            "RL-Point learns faster at the beginning",
            "seen in the figure",
            f"half of the games against SL are won after {_games(early[0])}, by {BY_CHANCE} "
            f"after {_games(early[1])}",
            "open: at the same evaluation" if evenly else agreement(early[0] < early[1]),
        ),
        Claim(
            "figure 6",
            "RL-WP reaches a higher winning rate",
            "seen in the figure",
            f"{apart:+.1f} ± {margin:.1f} % against SL, evaluations in the last tenth of all games",
            _verdict(apart, margin),
        ),
        Claim(
            "section IV-C",
            "RL-WP beats SL after so many games against it",
            _games(BEATEN_AFTER),
            f"{_games(early[1])}, {BY_CHANCE}",
            "agrees" if early[1] <= BEATEN_AFTER else "differs: later",
        ),
    ]


# Figures 7 and 8


def case_claims(cases: Sequence[Case]) -> list[Claim]:
    """Return what the paper shows by its two cases, for positions of the same kind."""
    claims = []
    for case in cases:
        ours = [
            f"{name} {one.turn.texts[one.best]}"
            for name, one in (("RL-WP", case.win), ("RL-Point", case.point))
        ]
        claims.append(
            Claim(
                f"figure 7, {case.kind.name}",
                f"the two agents choose differently ({case.kind.words})",
                "they do in a position shown",
                ", ".join(ours),
                "agrees: such positions exist" if case.differ else "open: none among these games",
            )
        )
    return claims


def attention_claim(shares: Array) -> Claim:
    """Return whether a head of the first block looks at cards of the same month."""
    even = 3 / 50
    first = shares[0]
    measured = ", ".join(f"{100 * share:.0f}" for share in first)
    return Claim(
        "figure 8",
        "one head of the first block looks at cards of the same month",
        "obvious in head 1",
        f"{measured} % of the attention of heads 1 to {len(first)} (evenly: {100 * even:.0f} %)",
        agreement(bool(first.max() >= FOCUS * even)),
    )
