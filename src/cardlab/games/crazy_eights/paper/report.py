"""The paper on Crazy Eights measured again: its competition, its learner, its three open questions.

"Development of Artificial Intelligence players for the game Crazy 8" lets two alpha-beta players, a
Monte-Carlo tree search and a Q-learner play 100 games for every ordered pair.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cardlab.arena.match import Match
from cardlab.engine.statistics import binomial_margin
from cardlab.games.crazy_eights import PACKAGE
from cardlab.games.crazy_eights.features import NUM_STATES
from cardlab.games.crazy_eights.learning import tabular_q
from cardlab.papers import figures
from cardlab.papers.claim import (
    Claim,
    claims_table,
    compare,
    fill_template,
    markdown_table,
)
from cardlab.papers.measurements import Games, Ledger, measure, source_digest

__all__ = ["reproduce"]

GAME = "crazy_eights"
SEED = 2024
DEPTH = 3
PLAYERS = {
    "Alpha-beta p1": f"alpha_beta_points_open:{DEPTH}",
    "Alpha-beta p2": f"alpha_beta_wins_open:{DEPTH}",
    "MCTS player": "uct_open:1000",
    "RL player": "tabular_q",
}
THEIR_POINTS = {  # table 2: player 1, player 2 -> points of each
    ("Alpha-beta p1", "Alpha-beta p2"): (1024, 1331),
    ("Alpha-beta p1", "MCTS player"): (1881, 1007),
    ("Alpha-beta p1", "RL player"): (1210, 1123),
    ("Alpha-beta p2", "Alpha-beta p1"): (1024, 1007),
    ("Alpha-beta p2", "MCTS player"): (1750, 1280),
    ("Alpha-beta p2", "RL player"): (1091, 912),
    ("MCTS player", "Alpha-beta p1"): (1044, 1648),
    ("MCTS player", "Alpha-beta p2"): (1018, 1577),
    ("MCTS player", "RL player"): (1192, 1585),
    ("RL player", "Alpha-beta p1"): (1285, 875),
    ("RL player", "Alpha-beta p2"): (922, 1234),
    ("RL player", "MCTS player"): (1401, 1263),
}
THEIR_WINS = {  # table 3: wins of player 1, wins of player 2, ties
    ("Alpha-beta p1", "Alpha-beta p2"): (49, 48, 3),
    ("Alpha-beta p1", "MCTS player"): (58, 36, 6),
    ("Alpha-beta p1", "RL player"): (55, 43, 2),
    ("Alpha-beta p2", "Alpha-beta p1"): (53, 47, 0),
    ("Alpha-beta p2", "MCTS player"): (48, 41, 11),
    ("Alpha-beta p2", "RL player"): (55, 45, 0),
    ("MCTS player", "Alpha-beta p1"): (47, 47, 6),
    ("MCTS player", "Alpha-beta p2"): (48, 48, 4),
    ("MCTS player", "RL player"): (44, 46, 10),
    ("RL player", "Alpha-beta p1"): (54, 44, 2),
    ("RL player", "Alpha-beta p2"): (43, 54, 3),
    ("RL player", "MCTS player"): (43, 51, 6),
}
THEIR_MINUTES, THEIR_CORES = 150, 4
DEPTHS = (1, 2, 3, 4, 6)
LITERAL, WITH_LOSSES = "as written", "with lost games"


@dataclass(frozen=True)
class Plan:
    """How much is played: for every pair again, for a strength, for a slow agent, for a curve."""

    pair_games: int
    games: int
    slow_games: int
    curve_games: int
    budgets: tuple[int, ...]
    training: tuple[int, ...]


FULL = Plan(8000, 4000, 1000, 2000, (10, 30, 100, 300, 1000, 3000), (1_000, 10_000, 100_000))
FULL_TRAINING = (*FULL.training, 600_000, 2_000_000, 6_000_000, 20_000_000)
QUICK = Plan(240, 120, 20, 80, (10, 100, 1000), (1_000, 10_000, 100_000, 600_000))

FAIR = ("heuristic", "tabular_q", "monte_carlo:1000", "information_set:1000", "fair")
OPEN = ("alpha_beta_points_open:4", "monte_carlo_open:1000", "uct_open:1000")
CURVES = ("uct_open", "information_set", "fair")
SLOW = {"determinised:30": 0.4, "oracle_open": 1.0}  # share of the games for slow agents


def pair_name(first: str, second: str) -> str:
    """Return the name under which a match is kept."""
    return f"{first} - {second}"


def all_matches(plan: Plan) -> dict[str, Match]:
    """Return every match that the report needs, by name."""
    matches = {}

    def add(first: str, second: str, games: int, seed: int, prefix: str = "") -> None:
        name = prefix + pair_name(first, second)
        matches[name] = Match.plan(GAME, [first, second], games, seed)

    for first, second in itertools.combinations(PLAYERS.values(), 2):
        add(first, second, plan.pair_games, SEED + 1)
    for agent in (*FAIR, *OPEN):
        for other in ("random", "heuristic"):
            if agent != other:
                add(agent, other, plan.games, SEED + 2, "strength: ")
    add("fair", "alpha_beta_points_open:4", plan.games, SEED + 2, "strength: ")
    for agent, share in SLOW.items():
        for other in ("random", "heuristic"):
            add(agent, other, round(share * plan.slow_games), SEED + 2, "strength: ")
    for depth in DEPTHS:
        for kind in ("points", "wins"):
            add(f"alpha_beta_{kind}_open:{depth}", "tabular_q", plan.games, SEED + 3, "depth: ")
    for kind in CURVES:
        for budget in plan.budgets:
            add(f"{kind}:{budget}", "heuristic", plan.curve_games, SEED + 4, "curve: ")
    return matches


def timing_matches(plan: Plan) -> dict[str, Match]:
    """Return short matches that are played one at a time, so that times are not of a crowd."""
    agents = [*FAIR, *OPEN, *SLOW]
    agents += [f"{kind}:{n}" for kind in CURVES for n in plan.budgets]
    return {
        agent: Match.plan(GAME, [agent, "random"], 40, SEED + 6) for agent in dict.fromkeys(agents)
    }


def learning_curve(
    plan: Plan, ledger: Ledger, folder: Path, report: Callable[[int, int], None]
) -> dict[str, list[tuple[int, float, float, int]]]:
    """Return for both readings: training games, score against random, margin, states visited."""
    curves: dict[str, list[tuple[int, float, float, int]]] = {LITERAL: [], WITH_LOSSES: []}
    lengths = plan.training if plan is QUICK else FULL_TRAINING
    total = len(lengths) * len(curves)
    for done, (reading, games) in enumerate(itertools.product(curves, lengths)):
        report(done, total)

        def measured(reading: str = reading, games: int = games) -> list[float]:
            run = folder / f"{reading.replace(' ', '_')}-{games}"
            config = tabular_q.Config(games=games, learn_from_losses=reading == WITH_LOSSES)
            summary = tabular_q.train(config, run, lambda *_: None)
            agent = (
                f"cardlab.games.crazy_eights.agents.tabular_q:TabularQ:table={run / 'table.npz'}"
            )
            match = Match.plan(GAME, [agent, "random"], 5 * plan.games, SEED + 5)
            with tempfile.TemporaryDirectory() as scratch:
                ours = measure({"it": match}, Ledger(Path(scratch) / "one.jsonl"), workers=1)["it"]
            return [*ours.score(), summary["states visited"]]

        score, margin, states = ledger.get(f"learning {reading} {games}", measured)
        curves[reading].append((games, score, margin, int(states)))
    report(total, total)
    return curves


def play_competition(
    ledger: Ledger, workers: int, report: Callable[[int, int], None]
) -> dict[str, Games]:
    """Play what the paper played, 100 games for every ordered pair."""
    matches = {
        pair_name(first, second): Match.plan(GAME, [first, second], 200, SEED)
        for first, second in itertools.combinations(PLAYERS.values(), 2)
    }
    return measure(matches, ledger, workers=workers, progress=report)


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
    work /= source_digest()  # measurements of other code stay apart
    ledger = Ledger(work / "ledger.jsonl")
    theirs = play_competition(ledger, workers, lambda *at: report("competition", *at))
    games = measure(
        all_matches(plan), ledger, workers=workers, progress=lambda *at: report("matches", *at)
    )
    curves = learning_curve(
        plan, ledger, work / "learning", lambda *at: report("learning curve", *at)
    )
    times = measure(
        timing_matches(plan), ledger, workers=1, progress=lambda *at: report("times", *at)
    )
    out.mkdir(parents=True, exist_ok=True)
    draw_figures(plan, games, times, curves, out)
    path = out / f"{GAME}.md"
    path.write_text(write_report(plan, theirs, games, times, curves))
    return path


def draw_figures(
    plan: Plan,
    games: dict[str, Games],
    times: dict[str, Games],
    curves: dict[str, list[tuple[int, float, float, int]]],
    out: Path,
) -> None:
    """Draw the three figures of the report."""
    lines = {}
    for kind in CURVES:
        points = []
        for budget in plan.budgets:
            one = games["curve: " + pair_name(f"{kind}:{budget}", "heuristic")]
            points.append((times[f"{kind}:{budget}"].milliseconds(), *one.score()))
        lines[kind] = points
    figures.draw_curves(
        out / f"{GAME}_search.svg",
        lines,
        x="milliseconds a decision",
        y="score against heuristic, %",
    )
    figures.draw_curves(
        out / f"{GAME}_learning.svg",
        {name: [one[:3] for one in curve] for name, curve in curves.items()},
        x="training games",
        y="score against random, %",
    )
    bars = []
    for agent in (*FAIR, *OPEN, *SLOW):
        score, margin = games["strength: " + pair_name(agent, "random")].score()
        bars.append((agent, score, margin, agent.partition(":")[0].endswith("_open")))
    figures.draw_bars(
        out / f"{GAME}_fairness.svg",
        sorted(bars, key=lambda bar: bar[1]),
        "score against random, %",
    )


def percent(value: tuple[float, float]) -> str:
    """Return a score with its margin."""
    return f"{value[0]:.1f} ± {value[1]:.1f}"


def depths_text(depths: list[str]) -> str:
    """Return depths in words."""
    return f"depth {' and '.join(depths)}" if depths else "no depth"


def their_score(first: str, second: str) -> tuple[float, float]:
    """Return the paper's score of one player against another over both seats, and its margin."""
    won, lost, tied = THEIR_WINS[first, second]
    lost_back, won_back, tied_back = THEIR_WINS[second, first]
    games = won + lost + tied + won_back + lost_back + tied_back
    share = (won + won_back + (tied + tied_back) / 2) / games
    return 100 * share, 100 * binomial_margin(share, games)


def write_report(
    plan: Plan,
    theirs: dict[str, Games],
    games: dict[str, Games],
    times: dict[str, Games],
    curves: dict[str, list[tuple[int, float, float, int]]],
) -> str:
    """Return the report in Markdown; every number in it was measured by these games."""
    points, wins = [], []
    for (name, first), (other, second) in itertools.permutations(PLAYERS.items(), 2):
        key, rotation = pair_name(first, second), 0
        if key not in theirs:
            key, rotation = pair_name(second, first), 1
        ours = theirs[key]
        a, b = THEIR_POINTS[name, other]
        mine = ours.ordered_points(rotation)
        points.append((name, other, f"{a} - {b}", f"{mine[0]} - {mine[1]}"))
        w = THEIR_WINS[name, other]
        o = ours.ordered(rotation)
        wins.append((name, other, f"{w[0]} - {w[1]} - {w[2]}", f"{o[0]} - {o[1]} - {o[2]}"))
    again = []
    apart = 0
    for (name, first), (other, second) in itertools.combinations(PLAYERS.items(), 2):
        one = games[pair_name(first, second)]
        stated = their_score(name, other)
        verdict = compare(*stated, *one.score())
        apart += abs(stated[0] - 50) > stated[1]
        again.append(
            (
                f"{name} - {other}",
                percent(stated),
                percent(one.score()),
                f"{one.gain(0)[0]:.1f} - {one.gain(1)[0]:.1f}",
                verdict,
            )
        )
    ranking = sorted(
        PLAYERS,
        key=lambda name: (
            -np.mean(
                [
                    games[key].score(place)[0]
                    for key in (
                        pair_name(*pair) for pair in itertools.combinations(PLAYERS.values(), 2)
                    )
                    for place in (0, 1)
                    if games[key].match.agents[place] == PLAYERS[name]
                ]
            )
        ),
    )
    literal = curves[LITERAL]
    longest = literal[-1]
    at_600k = next(one for one in literal if one[0] == 600_000)
    enough = next(one for one in literal if one[1] + one[2] >= max(c[1] for c in literal))
    cured = curves[WITH_LOSSES]
    best_cured = max(cured, key=lambda one: one[1])
    enough_cured = next(one for one in cured if one[1] + one[2] >= best_cured[1])

    def strength(agent: str, other: str) -> str:
        return percent(games["strength: " + pair_name(agent, other)].score())

    their_ties = sum(w[2] for w in THEIR_WINS.values()) / 12
    our_ties = 100 * np.mean([(one.returns[:, :, 0] == 0).mean() for one in theirs.values()])
    total_games = sum(one.games for one in theirs.values())
    thinking = sum(float(one.seconds.sum()) for one in theirs.values())
    ratio = THEIR_CORES * THEIR_MINUTES * 60 / thinking
    ahead = set(ranking[:2]) == {"Alpha-beta p1", "Alpha-beta p2"}
    few_ties = their_ties + 100 * binomial_margin(their_ties / 100, total_games) >= our_ties
    claims = [
        Claim(
            "section 4",
            "the competition takes 2 h 30 min on 4 cores",
            f"{THEIR_CORES * THEIR_MINUTES} core minutes",
            f"{thinking:.0f} core seconds for {total_games:,} games",
            f"{ratio:,.0f} times as fast",
        ),
        Claim(
            "section 4",
            "both alpha-beta players do better than MCTS and the learner",
            "51-56 % scores",
            f"order here: {', '.join(ranking)}",
            "agrees" if ahead else "differs: a tree search that sees all cards is stronger",
        ),
        Claim(
            "tables 2, 3",
            "players can be told apart by 200 games",
            f"{apart} of 6 pairs are beyond chance in their own numbers",
            "all intervals below",
            "agrees" if apart else "differs: their sample is too small for their conclusions",
        ),
        Claim(
            "section 4",
            "ties are rare",
            f"{their_ties:.1f} % of games",
            f"{our_ties:.1f} % of games",
            "agrees"
            if few_ties
            else "differs: by the rules as printed an empty stock ends many more games",
        ),
        Claim(
            "section 3.2",
            "the features give 949,888 states",
            "949,888",
            f"at most {NUM_STATES:,}, of which {at_600k[3]:,} are visited in 600,000 games",
            "differs",
        ),
        Claim(
            "section 4",
            "600,000 games are too few, the learner is not yet at its best",
            "conjecture",
            f"{percent(at_600k[1:3])} after 600,000, {percent(longest[1:3])} after {longest[0]:,}",
            "differs" if enough[0] <= 600_000 else "agrees",
        ),
        Claim(
            "section 5",
            "all players are above random play",
            "not measured",
            f"RL {strength('tabular_q', 'random')}, MCTS {strength('uct_open:1000', 'random')}",
            "agrees",
        ),
    ]
    depth_rows = [
        (
            str(depth),
            *(
                percent(
                    games[
                        "depth: " + pair_name(f"alpha_beta_{kind}_open:{depth}", "tabular_q")
                    ].score()
                )
                for kind in ("points", "wins")
            ),
        )
        for depth in DEPTHS
    ]
    learner = [their_score(name, "RL player") for name in ("Alpha-beta p1", "Alpha-beta p2")]
    fitting = {
        kind: [
            str(depth)
            for depth in DEPTHS
            if compare(
                *learner[place],
                *games[
                    "depth: " + pair_name(f"alpha_beta_{kind}_open:{depth}", "tabular_q")
                ].score(),
            )
            == "agrees"
        ]
        for place, kind in enumerate(("points", "wins"))
    }
    strengths = [
        (
            agent,
            "all cards" if agent.partition(":")[0].endswith("_open") else "its seat",
            strength(agent, "random"),
            strength(agent, "heuristic") if agent != "heuristic" else "-",
            f"{games['strength: ' + pair_name(agent, 'random')].games:,}",
            f"{times[agent].milliseconds():.2f}",
        )
        for agent in (*FAIR, *OPEN, *SLOW)
    ]
    curve = {
        kind: (
            games["curve: " + pair_name(f"{kind}:{plan.budgets[0]}", "heuristic")],
            games["curve: " + pair_name(f"{kind}:{plan.budgets[-1]}", "heuristic")],
        )
        for kind in ("uct_open", "information_set")
    }
    uct_time = times["uct_open:1000"].milliseconds()
    facts = {
        "size": "quick run: wide intervals" if plan is QUICK else "full run",
        "seeds": f"{SEED} to {SEED + 6}",
        "claims": claims_table(claims),
        "players": markdown_table(
            ("paper", "here"), ((name, f"`{agent}`") for name, agent in PLAYERS.items()), right=2
        ),
        "depth": DEPTH,
        "points": markdown_table(("player 1", "player 2", "theirs", "ours"), points, right=2),
        "wins": markdown_table(("player 1", "player 2", "theirs", "ours"), wins, right=2),
        "pair_games": f"{plan.pair_games:,}",
        "again": markdown_table(("pair", "theirs", "ours", "points a game", "verdict"), again),
        "their_points_depth": percent(learner[0]),
        "their_wins_depth": percent(learner[1]),
        "depths": markdown_table(("depth", "points", "wins"), depth_rows),
        "fitting_wins": depths_text(fitting["wins"]),
        "fitting_points": depths_text(fitting["points"]),
        "strengths": markdown_table(
            ("agent", "sees", "against random", "against heuristic", "games", "ms a decision"),
            strengths,
            right=2,
        ),
        "fair_alpha_beta": strength("fair", "alpha_beta_points_open:4"),
        "fair": strength("fair", "heuristic"),
        "tree": strength("information_set:1000", "heuristic"),
        "uct_time": f"{uct_time:.2f}",
        "low": plan.budgets[0],
        "top": f"{plan.budgets[-1]:,}",
        "open_low": percent(curve["uct_open"][0].score()),
        "open_top": percent(curve["uct_open"][1].score()),
        "fair_low": percent(curve["information_set"][0].score()),
        "fair_top": percent(curve["information_set"][1].score()),
        "enough": f"{enough[0]:,}",
        "longest": f"{percent(longest[1:3])} after {longest[0]:,} games",
        "cured": percent(best_cured[1:3]),
        "cured_enough": f"{enough_cured[0]:,}",
        "imagined_random": strength("determinised:30", "random"),
        "imagined_heuristic": strength("determinised:30", "heuristic"),
        "oracle_random": strength("oracle_open", "random"),
        "oracle_heuristic": strength("oracle_open", "heuristic"),
    }
    return fill_template(PACKAGE, facts)
