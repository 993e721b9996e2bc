"""The paper on Crazy Eights measured again: its competition, its learner, its three open questions.

"Development of Artificial Intelligence players for the game Crazy 8" lets two alpha-beta players, a
Monte-Carlo tree search and a Q-learner play 100 games for every ordered pair.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cardlab.arena.match import Match
from cardlab.engine.statistics import binomial_margin
from cardlab.games.crazy_eights import PACKAGE
from cardlab.games.crazy_eights.features import NUM_STATES
from cardlab.games.crazy_eights.learning import tabular_q
from cardlab.papers import figures
from cardlab.papers.claim import Claim, compare, markdown_table, with_margin
from cardlab.papers.measurements import Games, Ledger, measure
from cardlab.papers.reproduce import Report, Study

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
    training: tuple[int, ...]  # games of the learner; 600,000 are the paper's


FULL = Plan(
    pair_games=8000,
    games=4000,
    slow_games=1000,
    curve_games=2000,
    budgets=(10, 30, 100, 300, 1000, 3000),
    training=(1_000, 10_000, 100_000, 600_000, 2_000_000, 6_000_000, 20_000_000),
)
QUICK = Plan(240, 120, 20, 80, (10, 100, 1000), (1_000, 10_000, 100_000, 600_000))

FAIR = ("heuristic", "tabular_q", "monte_carlo:1000", "information_set:1000", "guided")
OPEN = ("alpha_beta_points_open:4", "monte_carlo_open:1000", "uct_open:1000")
CURVES = ("uct_open", "information_set", "guided")
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
    add("guided", "alpha_beta_points_open:4", plan.games, SEED + 2, "strength: ")
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


class Learned(NamedTuple):
    """What a learner came to after some games."""

    games: int
    score: float  # against random, in percent
    margin: float
    states: int  # visited

    @property
    def percent(self) -> str:
        """The score with its margin."""
        return with_margin((self.score, self.margin))


def learning_curve(study: Study[Plan]) -> dict[str, list[Learned]]:
    """Train the learner by both readings of the paper, for more and more games."""
    curves: dict[str, list[Learned]] = {LITERAL: [], WITH_LOSSES: []}
    report = study.progress("learning curve")
    total = len(study.plan.training) * len(curves)
    for done, (reading, games) in enumerate(itertools.product(curves, study.plan.training)):
        report(done, total)

        def measured(reading: str = reading, games: int = games) -> list[float]:
            run = study.folder / "learning" / f"{reading.replace(' ', '_')}-{games}"
            config = tabular_q.Config(games=games, learn_from_losses=reading == WITH_LOSSES)
            summary = tabular_q.train(config, run, lambda *_: None)
            agent = (
                f"cardlab.games.crazy_eights.agents.tabular_q:TabularQ:table={run / 'table.npz'}"
            )
            match = Match.plan(GAME, [agent, "random"], 5 * study.plan.games, SEED + 5)
            with tempfile.TemporaryDirectory() as scratch:
                ours = measure({"it": match}, Ledger(Path(scratch) / "one.jsonl"), workers=1)["it"]
            return [*ours.score(), summary["states visited"]]

        score, margin, states = study.ledger.get(f"learning {reading} {games}", measured)
        curves[reading].append(Learned(games, score, margin, int(states)))
    report(total, total)
    return curves


class Findings(NamedTuple):
    """Everything that was measured."""

    plan: Plan
    theirs: dict[str, Games]  # as many games as the paper played
    games: dict[str, Games]
    times: dict[str, Games]
    curves: dict[str, list[Learned]]

    def between(self, kind: str, first: str, second: str) -> Games:
        """Return the games of two agents, of one kind of match."""
        return self.games[kind + pair_name(first, second)]

    def strength(self, agent: str, other: str) -> str:
        """Return an agent's score against another."""
        return with_margin(self.between("strength: ", agent, other).score())

    def depth(self, kind: str, depth: int) -> tuple[float, float]:
        """Return the score of an alpha-beta player against the learner, and its margin."""
        return self.between("depth: ", f"alpha_beta_{kind}_open:{depth}", "tabular_q").score()


def measure_all(study: Study[Plan]) -> Findings:
    """Play every match and train the learner."""
    plan = study.plan
    competition = {
        pair_name(first, second): Match.plan(GAME, [first, second], 200, SEED)
        for first, second in itertools.combinations(PLAYERS.values(), 2)
    }
    return Findings(
        plan,
        study.play("competition", competition),
        study.play("matches", all_matches(plan)),
        curves=learning_curve(study),
        times=study.play("times", timing_matches(plan), workers=1),
    )


def sees_all(agent: str) -> bool:
    """Return whether an agent sees all cards."""
    return agent.partition(":")[0].endswith("_open")


def draw_figures(found: Findings, out: Path) -> None:
    """Draw the three figures of the report."""
    lines = {}
    for kind in CURVES:
        points = []
        for budget in found.plan.budgets:
            agent = f"{kind}:{budget}"
            score = found.between("curve: ", agent, "heuristic").score()
            points.append((found.times[agent].milliseconds(), *score))
        lines[kind] = points
    figures.draw_curves(
        out / f"{GAME}_search.svg",
        lines,
        x="milliseconds a decision",
        y="score against heuristic, %",
    )
    figures.draw_curves(
        out / f"{GAME}_learning.svg",
        {name: [learned[:3] for learned in curve] for name, curve in found.curves.items()},
        x="training games",
        y="score against random, %",
    )
    bars = [
        (agent, *found.between("strength: ", agent, "random").score(), sees_all(agent))
        for agent in (*FAIR, *OPEN, *SLOW)
    ]
    figures.draw_bars(
        out / f"{GAME}_fairness.svg",
        sorted(bars, key=lambda bar: bar[1]),
        "score against random, %",
    )


def their_score(first: str, second: str) -> tuple[float, float]:
    """Return the paper's score of one player against another over both seats, and its margin."""
    won, lost, tied = THEIR_WINS[first, second]
    lost_back, won_back, tied_back = THEIR_WINS[second, first]
    games = won + lost + tied + won_back + lost_back + tied_back
    share = (won + won_back + (tied + tied_back) / 2) / games
    return 100 * share, 100 * binomial_margin(share, games)


# The competition


def competition_tables(found: Findings) -> dict[str, str]:
    """Return tables 2 and 3, theirs beside ours."""
    points: list[tuple[str, ...]] = []
    wins: list[tuple[str, ...]] = []
    for (name, first), (other, second) in itertools.permutations(PLAYERS.items(), 2):
        key, rotation = pair_name(first, second), 0
        if key not in found.theirs:
            key, rotation = pair_name(second, first), 1
        ours = found.theirs[key]
        rows = (points, THEIR_POINTS, ours.ordered_points), (wins, THEIR_WINS, ours.ordered)
        for table, theirs, count in rows:
            cells = (theirs[name, other], count(rotation))
            table.append((name, other, *(" - ".join(map(str, cell)) for cell in cells)))
    head = ("player 1", "player 2", "theirs", "ours")
    return {
        "points": markdown_table(head, points, right=2),
        "wins": markdown_table(head, wins, right=2),
    }


def table_of_pairs(found: Findings) -> str:
    """Return the score of every pair, by many games."""
    rows = []
    for (name, first), (other, second) in itertools.combinations(PLAYERS.items(), 2):
        ours, stated = found.between("", first, second), their_score(name, other)
        scores = (with_margin(stated), with_margin(ours.score()))
        points = f"{ours.gain(0)[0]:.1f} - {ours.gain(1)[0]:.1f}"
        rows.append((f"{name} - {other}", *scores, points, compare(*stated, *ours.score())))
    return markdown_table(("pair", "theirs", "ours", "points a game", "verdict"), rows)


def ranking(found: Findings) -> list[str]:
    """Return the paper's players by their mean score over all pairs, the best first."""
    scores: dict[str, list[float]] = {name: [] for name in PLAYERS}
    for pair in itertools.combinations(PLAYERS, 2):
        games = found.between("", *(PLAYERS[name] for name in pair))
        for place, name in enumerate(pair):
            scores[name].append(games.score(place)[0])
    return sorted(PLAYERS, key=lambda name: -np.mean(scores[name]))


def competition_claims(found: Findings) -> list[Claim]:
    """Return what the paper says of its competition."""
    order = ranking(found)
    stated = [their_score(*pair) for pair in itertools.combinations(PLAYERS, 2)]
    apart = sum(abs(score - 50) > margin for score, margin in stated)
    played = found.theirs.values()
    their_ties = sum(wins[2] for wins in THEIR_WINS.values()) / 12
    our_ties = 100 * np.mean([(games.returns[:, :, 0] == 0).mean() for games in played])
    total = sum(games.games for games in played)
    thinking = sum(float(games.seconds.sum()) for games in played)
    ratio = THEIR_CORES * THEIR_MINUTES * 60 / thinking
    ahead = set(order[:2]) == {"Alpha-beta p1", "Alpha-beta p2"}
    few_ties = their_ties + 100 * binomial_margin(their_ties / 100, total) >= our_ties
    return [
        Claim(
            "section 4",
            "the competition takes 2 h 30 min on 4 cores",
            f"{THEIR_CORES * THEIR_MINUTES} core minutes",
            f"{thinking:.0f} core seconds for {total:,} games",
            f"{ratio:,.0f} times as fast",
        ),
        Claim(
            "section 4",
            "both alpha-beta players do better than MCTS and the learner",
            "51-56 % scores",
            f"order here: {', '.join(order)}",
            "agrees" if ahead else "differs: a tree search that sees all cards is stronger",
        ),
        Claim(
            "tables 2, 3",
            "200 games show which player is stronger",
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
    ]


# The learner


def enough(curve: Sequence[Learned]) -> Learned:
    """Return the first point of a curve whose interval reaches its best score."""
    best = max(learned.score for learned in curve)
    return next(learned for learned in curve if learned.score + learned.margin >= best)


def learner_claims(found: Findings) -> list[Claim]:
    """Return what the paper says of its learner."""
    literal = found.curves[LITERAL]
    longest = literal[-1]
    at_600k = next(learned for learned in literal if learned.games == 600_000)
    return [
        Claim(
            "section 3.2",
            "the features give 949,888 states",
            "949,888",
            f"at most {NUM_STATES:,}, of which {at_600k.states:,} are visited in 600,000 games",
            "differs",
        ),
        Claim(
            "section 4",
            "600,000 games are too few, the learner is not yet at its best",
            "conjecture",
            f"{at_600k.percent} after 600,000, {longest.percent} after {longest.games:,}",
            "differs" if enough(literal).games <= 600_000 else "agrees",
        ),
        Claim(
            "section 5",
            "all players are above random play",
            "not measured",
            f"RL {found.strength('tabular_q', 'random')}, "
            f"MCTS {found.strength('uct_open:1000', 'random')}",
            "agrees",
        ),
    ]


def learner_facts(found: Findings) -> dict[str, object]:
    """Return how far the learner came by either reading."""
    literal, cured = found.curves[LITERAL], found.curves[WITH_LOSSES]
    return {
        "enough": f"{enough(literal).games:,}",
        "longest": f"{literal[-1].percent} after {literal[-1].games:,} games",
        "cured": max(cured, key=lambda learned: learned.score).percent,
        "cured_enough": f"{enough(cured).games:,}",
    }


# Search and strength


def depth_facts(found: Findings) -> dict[str, object]:
    """Return the scores of alpha-beta by depth, and which depths fit the paper's."""
    facts: dict[str, object] = {}
    for kind, name in (("points", "Alpha-beta p1"), ("wins", "Alpha-beta p2")):
        stated = their_score(name, "RL player")
        verdicts = {str(depth): compare(*stated, *found.depth(kind, depth)) for depth in DEPTHS}
        fits = [depth for depth, verdict in verdicts.items() if verdict == "agrees"]
        facts[f"their_{kind}_depth"] = with_margin(stated)
        facts[f"fitting_{kind}"] = f"depth {' and '.join(fits)}" if fits else "no depth"
    rows = [
        (str(depth), *(with_margin(found.depth(kind, depth)) for kind in ("points", "wins")))
        for depth in DEPTHS
    ]
    return {**facts, "depths": markdown_table(("depth", "points", "wins"), rows)}


def strength_table(found: Findings) -> str:
    """Return the strength and the time of every agent."""
    rows = [
        (
            agent,
            "all cards" if sees_all(agent) else "its seat",
            found.strength(agent, "random"),
            found.strength(agent, "heuristic") if agent != "heuristic" else "-",
            f"{found.between('strength: ', agent, 'random').games:,}",
            f"{found.times[agent].milliseconds():.2f}",
        )
        for agent in (*FAIR, *OPEN, *SLOW)
    ]
    head = ("agent", "sees", "against random", "against heuristic", "games", "ms a decision")
    return markdown_table(head, rows, right=2)


def search_facts(found: Findings) -> dict[str, object]:
    """Return what more time and hidden knowledge are worth to a search."""
    low, top = found.plan.budgets[0], found.plan.budgets[-1]

    def at(kind: str, budget: int) -> str:
        return with_margin(found.between("curve: ", f"{kind}:{budget}", "heuristic").score())

    return {
        "fair_alpha_beta": found.strength("guided", "alpha_beta_points_open:4"),
        "guided": found.strength("guided", "heuristic"),
        "tree": found.strength("information_set:1000", "heuristic"),
        "uct_time": f"{found.times['uct_open:1000'].milliseconds():.2f}",
        "low": low,
        "top": f"{top:,}",
        "open_low": at("uct_open", low),
        "open_top": at("uct_open", top),
        "fair_low": at("information_set", low),
        "fair_top": at("information_set", top),
        "imagined_random": found.strength("determinised:30", "random"),
        "imagined_heuristic": found.strength("determinised:30", "heuristic"),
        "oracle_random": found.strength("oracle_open", "random"),
        "oracle_heuristic": found.strength("oracle_open", "heuristic"),
    }


def all_facts(found: Findings) -> dict[str, object]:
    """Return every number and table of the report."""
    players = ((name, f"`{agent}`") for name, agent in PLAYERS.items())
    return {
        "seeds": f"{SEED} to {SEED + 6}",
        "players": markdown_table(("paper", "here"), players, right=2),
        "depth": DEPTH,
        "pair_games": f"{found.plan.pair_games:,}",
        "again": table_of_pairs(found),
        "strengths": strength_table(found),
        **competition_tables(found),
        **depth_facts(found),
        **search_facts(found),
        **learner_facts(found),
    }


def all_claims(found: Findings) -> list[Claim]:
    """Return the paper's claims beside what was found."""
    return competition_claims(found) + learner_claims(found)


REPORT = Report(PACKAGE, FULL, QUICK, measure_all, draw_figures, all_claims, all_facts)
