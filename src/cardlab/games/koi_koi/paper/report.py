"""The paper on Koi-Koi measured again: transformers that learned from people and from play.

"Learning to Play Koi-Koi Hanafuda Card Games With Transformers". The trainings behind the shipped
networks need a graphics card, so that their logs are kept (`papers/logs`); every match is played
here, and the figures 7 and 8 are drawn from positions of games played here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.arena.match import Match
from cardlab.engine.statistics import difference
from cardlab.games.koi_koi import PACKAGE
from cardlab.games.koi_koi.agents.network import koi_koi_point, koi_koi_win
from cardlab.games.koi_koi.paper.cases import (
    Case,
    draw_attention,
    draw_values,
    find_cases,
    month_shares,
    play,
)
from cardlab.games.koi_koi.paper.claims import (
    AGENTS,
    BY_CHANCE,
    START,
    Curve,
    attention_claim,
    case_claims,
    curve_claims,
    predictor_claims,
    slopes,
    table_1,
    table_2_claims,
)
from cardlab.papers import figures
from cardlab.papers.claim import claims_table, fill_template, markdown_table
from cardlab.papers.logs import kept_log, kept_result
from cardlab.papers.measurements import Games, Ledger, measure, source_digest

__all__ = ["reproduce"]

GAME = "koi_koi"
SEED = 2023
RUNS = {"RL-WP": "win", "RL-Point": "point", BY_CHANCE: "win_alone"}
SUPERVISED = "koi_koi_supervised"
SEARCH = "koi_koi_search:400"
TERMS = "koi_koi_linear"
HAND_SEEN = "koi_koi_hand_open:400"
HEURISTIC = "heuristic"
NO_FOCUS = """Our tokens carry what the paper's head 1 looks for: how many cards of their month lie
in each zone (features 108 to 112), and whether they match a card that waits for a pick. This may be
why no head looks for it."""


@dataclass(frozen=True)
class Plan:
    """How much is played: games a pair, of search, of search against SL, positions, maps."""

    games: int
    search_games: int
    limit_games: int
    case_games: int
    maps: int


FULL = Plan(2000, 2000, 1000, 200, 100)
QUICK = Plan(40, 8, 8, 20, 20)


def pairs() -> list[tuple[str, str]]:
    """Return every pair of table II."""
    return list(combinations(AGENTS.values(), 2))


def beyond() -> list[tuple[str, str]]:
    """Return the pairs that the paper has nothing of."""
    learned = [*list(AGENTS.values())[:3], TERMS]
    against_sl = [(one, AGENTS["SL"]) for one in (TERMS, SEARCH, HAND_SEEN)]
    return [*((one, HEURISTIC) for one in learned), (SEARCH, AGENTS["RL-WP"]), *against_sl]


def all_matches(plan: Plan) -> dict[str, Match]:
    """Return every match that the report needs, by name."""
    matches = {}

    def add(one: str, other: str, games: int) -> None:
        matches[f"{one} {other}"] = Match.plan(GAME, [one, other], games, SEED)

    for one, other in pairs():
        add(one, other, plan.games)
    for one, other in beyond():
        searches = one in (SEARCH, HAND_SEEN)
        of_search = plan.limit_games if other == AGENTS["SL"] else plan.search_games
        add(one, other, of_search if searches else plan.games)
    return matches


@dataclass(frozen=True)
class Positions:
    """What networks think: the cases of figure 7, and attention on cards of one month."""

    cases: list[Case]
    shares: Any  # by block and head


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
    report("positions", 0, 1)
    positions = find_positions(plan)
    report("positions", 1, 1)
    curves = {name: Curve.of(kept_log(PACKAGE, run)) for name, run in RUNS.items()}
    out.mkdir(parents=True, exist_ok=True)
    draw_figures(curves, positions, out)
    path = out / f"{GAME}.md"
    path.write_text(write_report(plan, games, curves, positions))
    return path


def find_positions(plan: Plan) -> Positions:
    """Play the network that learned to win against itself, and look for positions."""
    win, point = koi_koi_win(), koi_koi_point()
    views, seats = play(win, plan.case_games, SEED)
    some = np.linspace(0, len(views) - 1, plan.maps).astype(int)
    return Positions(
        find_cases(win, point, views, seats), month_shares(win, views[some], seats[some])
    )


def draw_figures(curves: dict[str, Curve], positions: Positions, out: Path) -> None:
    """Draw figures 5 to 8."""
    chances = koi_koi_win().chances
    leads = np.arange(-START, START + 1)
    figures.draw_lines(
        out / f"{GAME}_figure_5.svg",
        {
            who: {
                f"{left} round{'s' * (left > 1)} left": [
                    (float(START + lead), float(chances[left, deals, lead + START]))
                    for lead in leads
                ]
                for left in (7, 5, 3, 2, 1)
            }
            for who, deals in (("the player deals", 1), ("the other deals", 0))
        },
        x="points",
        y="chance to win the game",
    )
    for part, what, y in (
        ("a", "wins", "wins against SL, %"),
        ("b", "points", "points against SL"),
    ):
        figures.draw_curves(
            out / f"{GAME}_figure_6{part}.svg",
            {name: curve.line(what) for name, curve in curves.items()},
            x="games of training",
            y=y,
            log_x=False,
        )
    draw_values(out / f"{GAME}_figure_7.svg", positions.cases)
    draw_attention(out / f"{GAME}_figure_8.svg", koi_koi_win(), positions.cases[0])


def with_margin(value: tuple[float, float], digits: int = 1, sign: bool = False) -> str:
    """Return a number with its margin."""
    plus = "+" if sign else ""
    return f"{value[0]:{plus}.{digits}f} ± {value[1]:.{digits}f}"


def against(games: dict[str, Games], one: str, other: str) -> tuple[str, str]:
    """Return an agent's wins in percent and its points over the start against another."""
    mine = f"{one} {other}" in games
    found = games[f"{one} {other}"] if mine else games[f"{other} {one}"]
    place = 0 if mine else 1
    gain, margin = found.gain(place)
    return with_margin(found.score(place)), with_margin((gain - START, margin), 2, sign=True)


def table_2(games: dict[str, Games]) -> str:
    """Return every pair: wins and points of the row's agent against the column's."""
    rows = []
    for name, agent in AGENTS.items():
        cells = [
            "" if agent == other else "<br>".join(against(games, agent, other))
            for other in AGENTS.values()
        ]
        rows.append((f"{name} (`{agent}`)", *cells))
    return markdown_table(("", *AGENTS), rows)


def beyond_table(games: dict[str, Games]) -> str:
    """Return how the networks do against rules of thumb, search against its network, and so on."""
    rows = []
    for one, other in beyond():
        found = games[f"{one} {other}"]
        cost = f"{found.milliseconds(0):.3g} ms"
        rows.append(
            (f"`{one}`", f"`{other}`", *against(games, one, other), f"{found.games:,}", cost)
        )
    head = ("agent", "against", "wins %", "points", "games", "a decision")
    return markdown_table(head, rows, right=2)


def runs_table() -> str:
    """Return the kept trainings: games, speed, where they ended."""
    rows = []
    for name, run in RUNS.items():
        lines = kept_log(PACKAGE, run)
        result = kept_result(PACKAGE, run)
        config = result["config"]
        played = f"{int(lines[-1]['games']):,}"
        if not result["summary"]["finished"]:
            played += f" of {config['games']:,}"
        speed = float(np.median([line["games/s"] for line in lines]))
        losses = [line for line in lines if "predictor/dynamic" in line]
        told = (
            f"{losses[-1]['predictor/dynamic']:.4f} / {losses[-1]['predictor/logistic']:.4f}"
            if losses
            else ""
        )
        last = Curve.of(lines)
        rows.append(
            (
                name,
                config["design"],
                played,
                f"{speed:,.0f}",
                with_margin(last.end("wins")),
                with_margin(last.end("points"), 2, sign=True),
                told,
            )
        )
    return markdown_table(
        (
            "agent",
            "design",
            "games",
            "games/s",
            "wins % against SL",
            "points against SL",
            "log loss, dynamic / logistic",
        ),
        rows,
        right=2,
    )


def search_verdict(games: dict[str, Games]) -> str:
    """Return in one sentence whether search beats its network."""
    found = games[f"{SEARCH} {AGENTS['RL-WP']}"]
    score, margin = found.score()
    told = f"{with_margin((score, margin))} % of {found.games:,} games"
    if score - margin > 50:
        return f"It beats the network alone beyond the interval: {told}."
    if score + margin < 50:
        return f"It loses to the network alone: {told}."
    return f"It cannot be told from the network alone by these games: {told}."


def limit_verdict(games: dict[str, Games]) -> str:
    """Return in one sentence what seeing the other hand is worth to search against SL."""
    fair, seen = (games[f"{one} {AGENTS['SL']}"] for one in (SEARCH, HAND_SEEN))
    more, margin = difference(seen.score(), fair.score())
    told = (
        f"{with_margin(seen.score())} % against SL, {with_margin((more, margin), sign=True)} more"
    )
    if more > margin:
        return f"It wins {told} than the fair search."
    return f"It wins {told} than the fair search: no difference that these games show."


def write_report(
    plan: Plan, games: dict[str, Games], curves: dict[str, Curve], positions: Positions
) -> str:
    """Return the report in Markdown; every number in it was measured by these games and runs."""
    supervised = (
        kept_result(PACKAGE, name)["summary"] for name in ("supervised", "supervised_alone")
    )
    first, claims = table_1(*supervised)
    claims += table_2_claims(games)
    claims += predictor_claims(koi_koi_win().chances)
    claims += curve_claims(curves)
    claims += case_claims(positions.cases)
    attention = attention_claim(positions.shares)
    claims.append(attention)
    shares = [
        (f"block {block + 1}", *(f"{100 * share:.1f} %" for share in row))
        for block, row in enumerate(positions.shares)
    ]
    heads = [f"head {number + 1}" for number in range(positions.shares.shape[1])]
    chances = koi_koi_win().chances
    facts = {
        "size": "quick run: wide intervals" if plan is QUICK else "full run",
        "seed": SEED,
        "games": f"{plan.games:,}",
        "case_games": f"{plan.case_games:,}",
        "maps": plan.maps,
        "claims": claims_table(claims),
        "table_1": first,
        "table_2": table_2(games),
        "beyond": beyond_table(games),
        "search": f"`{SEARCH}`",
        "search_verdict": search_verdict(games),
        "terms": f"`{TERMS}`",
        "hand_seen": f"`{HAND_SEEN}`",
        "limit": limit_verdict(games),
        "runs": runs_table(),
        "slopes": markdown_table(
            ("rounds left", *(str(left) for left in range(7, 0, -1))),
            [
                ("a point more, at even points", *(f"{one:.2f}" for one in slopes(chances)[::-1])),
                (
                    "chance with a lead of 5",
                    *(
                        f"{100 * chances[left, :, START + 5].mean():.0f} %"
                        for left in range(7, 0, -1)
                    ),
                ),
            ],
        ),
        "predictor": kept_result(PACKAGE, RUNS["RL-WP"])["config"]["predictor"],
        "attention_note": NO_FOCUS if attention.verdict != "agrees" else "",
        "shares": markdown_table(("", *heads), shares),
    }
    return fill_template(PACKAGE, facts)
