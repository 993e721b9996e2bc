"""The paper on Koi-Koi measured again: transformers that learned from people and from play.

"Learning to Play Koi-Koi Hanafuda Card Games With Transformers". The trainings behind the shipped
networks need a graphics card, so that their logs are kept (`papers/logs`); every match is played
here, and the figures 7 and 8 are drawn from positions of games played here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.arena.match import Match
from cardlab.engine.game import Array
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
    Curve,
    attention_claim,
    case_claims,
    curve_claims,
    predictor_claims,
    slopes,
    table_1,
    table_2_claims,
)
from cardlab.games.koi_koi.rules import START
from cardlab.papers import figures
from cardlab.papers.claim import Claim, markdown_table, with_margin
from cardlab.papers.kept_logs import kept_log, kept_result
from cardlab.papers.measurements import Games
from cardlab.papers.reproduce import Report, Study

GAME = "koi_koi"
SEED = 2023
RUNS = {"RL-WP": "win", "RL-Point": "point", BY_CHANCE: "win_alone"}
SEARCH = "koi_koi_search:400"
LINEAR = "koi_koi_linear"
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
    learned = [*list(AGENTS.values())[:3], LINEAR]
    against_sl = [(agent, AGENTS["SL"]) for agent in (LINEAR, SEARCH, HAND_SEEN)]
    return [*((agent, HEURISTIC) for agent in learned), (SEARCH, AGENTS["RL-WP"]), *against_sl]


def all_matches(plan: Plan) -> dict[str, Match]:
    """Return every match that the report needs, by name."""
    matches = {}

    def add(agent: str, other: str, games: int) -> None:
        matches[f"{agent} {other}"] = Match.plan(GAME, [agent, other], games, SEED)

    for agent, other in pairs():
        add(agent, other, plan.games)
    for agent, other in beyond():
        searches = agent in (SEARCH, HAND_SEEN)
        of_search = plan.limit_games if other == AGENTS["SL"] else plan.search_games
        add(agent, other, of_search if searches else plan.games)
    return matches


class Findings(NamedTuple):
    """Everything that was measured, and the logs of the trainings."""

    plan: Plan
    games: dict[str, Games]
    cases: list[Case]  # of figure 7
    shares: Array  # of attention on cards of agent month, by block and head
    curves: dict[str, Curve]


def measure_all(study: Study[Plan]) -> Findings:
    """Play every match, look for positions in games of `koi_koi_win`, read the kept logs."""
    plan = study.plan
    games = study.play("matches", all_matches(plan))
    study.report("positions", 0, 1)
    win, point = koi_koi_win(), koi_koi_point()
    views, seats = play(win, plan.case_games, SEED)
    some = np.linspace(0, len(views) - 1, plan.maps).astype(int)
    cases = find_cases(win, point, views, seats)
    shares = month_shares(win, views[some], seats[some])
    study.report("positions", 1, 1)
    curves = {name: Curve.of(kept_log(PACKAGE, run)) for name, run in RUNS.items()}
    return Findings(plan, games, cases, shares, curves)


def draw_figures(found: Findings, out: Path) -> None:
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
            {name: curve.line(what) for name, curve in found.curves.items()},
            x="games of training",
            y=y,
            log_x=False,
        )
    draw_values(out / f"{GAME}_figure_7.svg", found.cases)
    draw_attention(out / f"{GAME}_figure_8.svg", koi_koi_win(), found.cases[0])


def against(games: dict[str, Games], agent: str, other: str) -> tuple[str, str]:
    """Return an agent's wins in percent and its points over the start against another."""
    mine = f"{agent} {other}" in games
    found = games[f"{agent} {other}"] if mine else games[f"{other} {agent}"]
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
    """Return how the networks do against heuristics, search against its network, and so on."""
    rows = []
    for agent, other in beyond():
        found = games[f"{agent} {other}"]
        cells = (*against(games, agent, other), f"{found.games:,}")
        rows.append((f"`{agent}`", f"`{other}`", *cells, f"{found.milliseconds(0):.3g} ms"))
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
        log_loss = (
            f"{losses[-1]['predictor/dynamic']:.4f} / {losses[-1]['predictor/logistic']:.4f}"
            if losses
            else ""
        )
        last = Curve.of(lines)
        wins, points = with_margin(last.end("wins")), with_margin(last.end("points"), 2, sign=True)
        rows.append((name, config["design"], played, f"{speed:,.0f}", wins, points, log_loss))
    played_head = ("agent", "design", "games", "games/s")
    against_head = ("wins % against SL", "points against SL", "log loss, dynamic / logistic")
    return markdown_table((*played_head, *against_head), rows, right=2)


def search_verdict(games: dict[str, Games]) -> str:
    """Return in one sentence whether search beats its network."""
    found = games[f"{SEARCH} {AGENTS['RL-WP']}"]
    score, margin = found.score()
    result = f"{with_margin((score, margin))} % of {found.games:,} games"
    if score - margin > 50:
        return f"It beats the network alone beyond the interval: {result}."
    if score + margin < 50:
        return f"It loses to the network alone: {result}."
    return f"It shows no significant difference to the network alone: {result}."


def limit_verdict(games: dict[str, Games]) -> str:
    """Return in one sentence what seeing the other hand is worth to search against SL."""
    fair, seen = (games[f"{agent} {AGENTS['SL']}"] for agent in (SEARCH, HAND_SEEN))
    more, margin = difference(seen.score(), fair.score())
    result = f"{with_margin(seen.score())} % against SL, {with_margin((more, margin), sign=True)}"
    end = "" if more > margin else ": no difference that these games show"
    return f"It wins {result} more than the fair search{end}."


def slopes_table() -> str:
    """Return what a point and a lead are worth by the predicted chances, by rounds left."""
    chances = koi_koi_win().chances
    rounds = range(7, 0, -1)
    leads = (f"{100 * chances[left, :, START + 5].mean():.0f} %" for left in rounds)
    rows = [
        ("a point more, at even points", *(f"{slope:.2f}" for slope in slopes(chances)[::-1])),
        ("chance with a lead of 5", *leads),
    ]
    return markdown_table(("rounds left", *map(str, rounds)), rows)


def shares_table(shares: Array) -> str:
    """Return how much attention falls on cards of the same month, by block and head."""
    rows = [
        (f"block {block + 1}", *(f"{100 * share:.1f} %" for share in row))
        for block, row in enumerate(shares)
    ]
    heads = [f"head {number + 1}" for number in range(shares.shape[1])]
    return markdown_table(("", *heads), rows)


def summaries() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the results of the supervised trainings, after play and on recorded games alone."""
    first, alone = (kept_result(PACKAGE, name) for name in ("supervised", "supervised_alone"))
    return first["summary"], alone["summary"]


def all_claims(found: Findings) -> list[Claim]:
    """Return the paper's claims beside what was found."""
    return [
        *table_1(*summaries())[1],
        *table_2_claims(found.games),
        *predictor_claims(koi_koi_win().chances),
        *curve_claims(found.curves),
        *case_claims(found.cases),
        attention_claim(found.shares),
    ]


def all_facts(found: Findings) -> dict[str, object]:
    """Return every number and table of the report."""
    plan, games = found.plan, found.games
    return {
        "seed": SEED,
        "games": f"{plan.games:,}",
        "case_games": f"{plan.case_games:,}",
        "maps": plan.maps,
        "table_1": table_1(*summaries())[0],
        "table_2": table_2(games),
        "beyond": beyond_table(games),
        "search": f"`{SEARCH}`",
        "search_verdict": search_verdict(games),
        "terms": f"`{LINEAR}`",
        "hand_seen": f"`{HAND_SEEN}`",
        "limit": limit_verdict(games),
        "runs": runs_table(),
        "slopes": slopes_table(),
        "predictor": kept_result(PACKAGE, RUNS["RL-WP"])["config"]["predictor"],
        "attention_note": NO_FOCUS if attention_claim(found.shares).verdict != "agrees" else "",
        "shares": shares_table(found.shares),
    }


REPORT = Report(PACKAGE, FULL, QUICK, measure_all, draw_figures, all_claims, all_facts)
