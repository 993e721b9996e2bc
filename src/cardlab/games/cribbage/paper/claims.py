"""What the thesis on Cribbage says, beside what was measured, with verdicts from intervals.

Sections are those of the draft. Scores are percentages of mirrored games.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cardlab.engine.game import Array
from cardlab.engine.statistics import binomial_margin
from cardlab.games.cribbage.agents.strategies import STRATEGIES
from cardlab.games.cribbage.paper.experiments import BEST_ALONE, Experiment, Plan, Strength
from cardlab.games.cribbage.paper.maps import (
    decided,
    near_the_end,
    same_leader,
    shared_leaders,
    strength_by_band,
    turning_lead,
    wave,
)
from cardlab.games.cribbage.paper.pegging import Row
from cardlab.games.cribbage.solvers.knowledge import PONE, THE_DEALER
from cardlab.papers.claim import Claim, agreement, compare, with_margin

THEIR_TABLE_1 = (12, 9, 39, 5, 4)  # points of random and learned, spread, wins of both
THEIR_TABLE_2 = (  # points, spread and wins of the checkpoint, points and wins of the last agent
    (126, 523, 59, 86, 41),
    (122, 200, 55, 104, 45),
    (108, -27, 47, 118, 53),
    (105, -180, 48, 116, 52),
    (87, -510, 41, 133, 59),
    (97, -386, 43, 129, 57),
    (117, 370, 52, 98, 48),
    (107, -174, 48, 115, 52),
    (124, 239, 56, 96, 44),
    (111, -82, 51, 111, 49),
)
THEIR_GAMES = 100
THEIR_SPEED = 2  # games a second
CHI_SQUARE_BOUND = 18.31  # 95 % quantile for ten degrees of freedom
SAFE, PEGGING = "hand_max_min", "pegging_max_avg_gained"
MEDIANS = ("hand_max_med", "pegging_max_med_gained")
LATE, EARLY = range(101, 121), range(20, 101)  # "the last twenty points", and before
NOT_SAID = "no figure"


class Findings(NamedTuple):
    """Everything that was measured."""

    plan: Plan
    experiments: Mapping[str, Experiment]
    strengths: Mapping[str, Strength]
    alikeness: Mapping[str, Mapping[str, Any]]
    short: Mapping[str, Any]
    checkpoints: Mapping[str, list[dict[str, Any]]]
    fixed: Mapping[str, tuple[float, float, int]]
    visits: float  # of a cell by an agent of round 1
    speed: float
    weights: Mapping[str, Array]  # populations at their end
    checkpoints_of: Mapping[str, list[tuple[int, Array]]]  # of one agent of an experiment
    pegging: list[Row]

    def alike(self, name: str) -> tuple[float, float]:
        """Return how often two agents of a population keep the same cards, and the margin."""
        return self.alikeness[name]["mean"], self.alikeness[name]["margin"]


def is_apart(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Return whether two measurements differ by more than chance."""
    return compare(*first, *second) == "differs"


def judge(strength: Strength, even: tuple[float, float]) -> str:
    """Return what a training is worth, beside its own start and beside equal weights."""
    if strength.gain + strength.gain_margin < 0:
        return "makes it worse"
    if not has_gained(strength):
        return "gains nothing"
    if not is_apart(strength.scored, even):
        return "gains, as good as equal weights"
    if strength.score < even[0]:
        return "gains, weaker than equal weights"
    return "learns: better than equal weights"


def has_gained(strength: Strength) -> bool:
    """Return whether agents are stronger than they started, beyond chance."""
    return strength.gain - strength.gain_margin > 0


def no_gain(strengths: list[Strength]) -> str:
    """Return the verdict on the statement that nothing was gained."""
    gained = [has_gained(strength) for strength in strengths]
    if not any(gained):
        return "agrees"
    visible = max(strength.gain for strength in strengths) > chance_margin(0.5, THEIR_GAMES)
    reason = "" if visible else f": small gains, which {THEIR_GAMES} games cannot show"
    return ("differs" if all(gained) else "differs in part") + reason


def gain_of(strength: Strength) -> str:
    """Return what agents have gained over their own start."""
    return with_margin(strength.gained, sign=True)


def score_of(strength: Strength) -> str:
    """Return a strength as text."""
    return with_margin(strength.scored)


def claims(found: Findings) -> list[Claim]:
    """Return what the thesis says beside what we found."""
    return [*performance_claims(found), *weight_claims(found), *policy_claims(found)]


def performance_claims(found: Findings) -> list[Claim]:
    """Return the claims about playing strength."""
    first = found.strengths["round_1"]
    start = found.checkpoints["last"][0]["score"]
    start_beats_end = abs(start[0] - 50) > start[1]
    rounds = [found.strengths[name] for name in ("winners", "losers", "brackets")]
    variations = {
        "section 4.3.1": ("round-robin play", ["pool"], "losers"),
        "section 4.3.2": ("blending neighbouring weights", ["blend"], "pool"),
        "section 4.3.3": ("a cap on a weight", ["cap"], "pool"),
        "sections 4.3.2, 4.3.3": ("both together", ["both"], "pool"),
    }
    right = found.strengths["gradient"]
    even = found.fixed["even"][:2]
    theirs = 100 * THEIR_TABLE_1[4] / 9, chance_margin(THEIR_TABLE_1[4] / 9, 9)
    if first.score + first.margin < 50:
        verdict = "agrees: learning made it worse"
    else:
        verdict = "differs" if first.score - first.margin > 50 else "open: no difference seen"
    if start_beats_end:
        relation = "start is the better one" if start[0] > 50 else "end is the better one"
        pattern = f"differs: the {relation}, 100 games are too few to see it"
    else:
        pattern = "agrees: no difference seen"
    return [
        Claim(
            "table 1",
            "a learned agent loses to random weights",
            f"wins {THEIR_TABLE_1[4]} of 9 ({with_margin(theirs)} %)",
            f"{score_of(first)} %, {first.agents} agents, {first.games:,} games",
            verdict,
        ),
        Claim(
            "table 2, figure 4",
            "checkpoint and performance have nothing to do with each other",
            f"checkpoints win 500 of 1,000; chi-square {chi_square():.1f}, "
            f"chance stays below {CHI_SQUARE_BOUND:.1f}",
            f"the start wins {with_margin(start)} % of {start[2]:,} games against the end",
            pattern,
        ),
        Claim(
            "section 4.2",
            "no gain in round 2, by winners or losers",
            NOT_SAID,
            ", ".join(
                f"{name} {score_of(strength)} % ({gain_of(strength)})"
                for name, strength in zip(("winners", "losers", "champions"), rounds, strict=True)
            ),
            no_gain(rounds),
        ),
        Claim(
            "section 4.1.4",
            "against an agent that does not learn, the same",
            NOT_SAID,
            f"{score_of(found.strengths['static'])} % ({gain_of(found.strengths['static'])})",
            no_gain([found.strengths["static"]]),
        ),
        *(
            Claim(
                where,
                f"{what} should help",
                "no result",
                ", ".join(
                    f"{score_of(found.strengths[name])} %, {found.strengths[name].before:.1f} % "
                    "before learning"
                    for name in names
                )
                + f"; without it {score_of(found.strengths[base])} %",
                help_verdict([found.strengths[name] for name in names], found.strengths[base]),
            )
            for where, (what, names, base) in variations.items()
        ),
        Claim(
            "title, section 5",
            "can a combination of strategies be learned?",
            "not demonstrated",
            f"by gradient {score_of(right)} % against random weights, "
            f"{with_margin(right.against_best)} % against {BEST_ALONE}",
            "differs: yes" if judge(right, even).startswith("learns") else "agrees: not shown",
        ),
        Claim(
            "section 5.1.2",
            "two games a second",
            f"{THEIR_SPEED}",
            f"{found.speed:,.0f} on one core",
            f"{found.speed / THEIR_SPEED:,.0f} times as fast",
        ),
    ]


def help_verdict(ours: list[Strength], base: Strength) -> str:
    """Return whether agents gain more by a variation than without it, in all that were tried."""
    helps = [
        is_apart(strength.gained, base.gained) and strength.gain > base.gain for strength in ours
    ]
    if any(helps):
        return "helps" if all(helps) else "helps in part"
    stronger = [
        is_apart(strength.scored, base.scored) and strength.score > base.score for strength in ours
    ]
    if all(stronger):
        return "stronger, but before any learning too"
    return "no help seen"


def chance_margin(share: float, games: int) -> float:
    """Return the margin of a share of so many games in per cent."""
    return 100 * binomial_margin(share, games)


def chi_square() -> float:
    """Return how far the wins of table 2 scatter, beside games that are decided by a coin."""
    expected = THEIR_GAMES / 2
    return sum(
        (row[2] - expected) ** 2 / expected + (row[4] - expected) ** 2 / expected
        for row in THEIR_TABLE_2
    )


def weight_claims(found: Findings) -> list[Claim]:
    """Return the claims about where which strategy has the weight."""
    weights = found.weights["round_1"]
    most, nearly_all = decided(weights, 0.5), decided(weights, 0.9)
    roles = (PONE, THE_DEALER)
    ahead = [strength_by_band(weights, role)["ahead by 2 to 25"] for role in roles]
    safest = [STRATEGIES[int(mean.argmax())] for mean in ahead]
    lead = [turning_lead(weights, role, SAFE) for role in roles]
    behind, front = (
        shared_leaders(weights, band) for band in ("behind by 2 to 25", "ahead by 2 to 25")
    )
    out = {
        name: near_the_end(found.weights[name], THE_DEALER, PEGGING)
        for name in ("round_1", "gradient")
    }
    fair_share = 1 / len(STRATEGIES)
    larger = lead[1][0] > lead[0][0]
    shifted = is_apart(lead[0], lead[1])
    return [
        Claim(
            "section 3.1.1",
            "with both seats close to winning, a dealer should keep cards that peg",
            "an example",
            f"weight of {PEGGING} for a dealer, both seats at 110 or more: by gradient "
            f"{with_margin(out['gradient'], 2)}, after round 1 {with_margin(out['round_1'], 2)}; "
            f"an equal share is {fair_share:.3f}",
            "agrees: the gradient finds it"
            if out["gradient"][0] - out["gradient"][1] > fair_share
            else "open: not seen",
        ),
        Claim(
            "section 4.1.1",
            "weights become all or nothing",
            "figures 1 to 3",
            f"one strategy has over half of the weight in {with_margin(most)} % of cells, "
            f"over 90 % in {with_margin(nearly_all)} %",
            "agrees" if most[0] - most[1] > 50 else "differs: in fewer than half",
        ),
        Claim(
            "section 4.1.2",
            f"ahead by 2 to 25 points {SAFE} is preferred",
            "figures 2, 3",
            f"most weight: pone {safest[0]} {ahead[0].max():.2f}, "
            f"dealer {safest[1]} {ahead[1].max():.2f}",
            agreement(safest == [SAFE, SAFE]),
        ),
        Claim(
            "section 4.1.2",
            "losing positions show no pattern",
            "figures 2, 3",
            f"two agents have the same strongest strategy in {with_margin(behind)} % of cells "
            f"behind, {with_margin(front)} % ahead; by chance 12.5 %",
            pattern_verdict(behind, front),
        ),
        Claim(
            "section 4.1.2",
            "a dealer wants a larger lead than a pone before it plays safe",
            "figures 2, 3",
            f"{SAFE} takes over at a lead of {with_margin(lead[0], 1)} as pone, "
            f"{with_margin(lead[1], 1)} as dealer",
            "open: not seen"
            if not shifted
            else "agrees"
            if larger
            else "differs: a smaller one; their program had the roles exchanged",
        ),
    ]


def both_roles(values: list[tuple[float, float]]) -> str:
    """Return a value of each role with its margin."""
    return f"pone {with_margin(values[0], 2)}, dealer {with_margin(values[1], 2)}"


def policy_claims(found: Findings) -> list[Claim]:
    """Return the claims about waves over the scores, and about what agents have in common."""
    roles = (PONE, THE_DEALER)
    late = [wave(found.weights["round_1"], role, SAFE, LATE) for role in roles]
    early = [wave(found.weights["winners"], role, SAFE, EARLY) for role in roles]
    sample = [weights for _, weights in found.checkpoints_of["round_1"]]
    half = same_leader(sample[len(sample) // 2], sample[-1], -60, 60)
    start = same_leader(sample[0], sample[-1], -60, 60)
    medians = {
        name: sum(float(found.weights[name][..., STRATEGIES.index(by)].mean()) for by in MEDIANS)
        for name in ("round_1", "gradient")
    }
    alike = [found.alike(name) for name in ("round_1 start", "round_1 end")]
    return [
        Claim(
            "section 4.1.2",
            "weights trace a wave along the diagonal over the last twenty points, "
            "opposite for dealer and pone",
            "figures 2, 3",
            f"correlation of {SAFE} with V: {both_roles(late)}",
            wave_verdict(late),
        ),
        Claim(
            "section 4.2.2",
            "in round 2 the wave reaches further back, with a smaller amplitude",
            "figure 7",
            f"the same between 20 and 100: {both_roles(early)}; V has it everywhere",
            wave_verdict(early),
        ),
        Claim(
            "sections 4, 4.2.2",
            "all random starts end in a similar policy",
            "by eye",
            f"two agents keep the same cards in {with_margin(alike[0])} % of hands at the start, "
            f"in {with_margin(alike[1])} % after round 1",
            "open: no change seen"
            if not is_apart(*alike)
            else "agrees: they come closer"
            if alike[1] > alike[0]
            else "differs: alike in a picture, further apart in what they keep",
        ),
        Claim(
            "section 4.2.2",
            "the picture forms within half a million games",
            "figures 10, 11",
            f"half-way the strongest strategy is the final one in {half:.0f} % of cells, "
            f"at the start in {start:.0f} %",
            "agrees" if half > 50 else "differs: most cells still change",
        ),
        Claim(
            "section 5.1.2",
            "strategies by the median are not learned to be useful",
            NOT_SAID,
            f"the two have {100 * medians['round_1']:.0f} % of all weight after round 1, "
            f"{100 * medians['gradient']:.0f} % by gradient; an equal share is 25 %",
            agreement(max(medians.values()) < 0.25),
        ),
    ]


def pattern_verdict(behind: tuple[float, float], front: tuple[float, float]) -> str:
    """Return whether agents agree less when they are behind, and whether they agree at all."""
    if behind[0] - behind[1] <= 100 / len(STRATEGIES):
        return "agrees"
    if is_apart(behind, front) and behind[0] < front[0]:
        return "agrees in part: less of a pattern than ahead, but more than chance"
    return "differs"


def wave_verdict(correlations: list[tuple[float, float]]) -> str:
    """Return whether both roles follow the chance to win."""
    seen = [mean - margin > 0 for mean, margin in correlations]
    if all(seen):
        return "agrees: weights follow the chance to win"
    return "agrees for one role only" if any(seen) else "differs: not seen"
