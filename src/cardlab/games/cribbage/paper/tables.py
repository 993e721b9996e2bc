"""The report on Cribbage: its tables and its text."""

from __future__ import annotations

import numpy as np

from cardlab.engine.game import Array
from cardlab.engine.statistics import binomial_margin
from cardlab.games.cribbage.agents.strategies import STRATEGIES
from cardlab.games.cribbage.paper.claims import (
    CHI_SQUARE_BOUND,
    PEGGING,
    SAFE,
    THEIR_GAMES,
    THEIR_TABLE_2,
    Findings,
    chi_square,
    gain_of,
    is_apart,
    judge,
    score_of,
)
from cardlab.games.cribbage.paper.experiments import BEST_ALONE
from cardlab.games.cribbage.paper.maps import (
    BANDS,
    ROLE_NAMES,
    likeness_to_winning,
    near_the_end,
    strength_by_band,
    turns,
    winning,
)
from cardlab.games.cribbage.paper.pegging import markdown
from cardlab.games.cribbage.solvers.knowledge import PONE, THE_DEALER
from cardlab.papers.claim import compare, markdown_table, with_margin


def experiments_table(found: Findings) -> str:
    """Return all trainings with what came of them."""
    even = found.fixed["even"][:2]
    rows = [
        (
            found.experiments[name].title,
            f"{found.experiments[name].config.games:,}",
            str(strength.agents),
            f"{strength.before:.1f}",
            score_of(strength),
            gain_of(strength),
            f"{strength.lowest:.1f} - {strength.highest:.1f}",
            with_margin(strength.against_best),
            f"{strength.games:,}",
            judge(strength, even),
        )
        for name, strength in found.strengths.items()
    ]
    head = (
        "training",
        "games an agent",
        "agents",
        "before, against random weights",
        "after",
        "gain",
        "weakest - strongest",
        f"against {BEST_ALONE}",
        "games",
        "verdict",
    )
    return markdown_table(head, rows)


def table_2(found: Findings) -> str:
    """Return the matches of checkpoints against the last agent, theirs beside ours."""
    rows = []
    for theirs, ours in zip(THEIR_TABLE_2, found.checkpoints["last"], strict=True):
        share = theirs[2] / THEIR_GAMES
        verdict = compare(
            100 * share, 100 * binomial_margin(share, THEIR_GAMES), *ours["score"][:2]
        )
        rows.append(
            (
                f"{ours['games']:,}",
                f"{theirs[0]} - {theirs[3]}",
                f"{theirs[1]:+d}",
                f"{theirs[2]} - {theirs[4]}",
                f"{ours['points'][0]} - {ours['points'][1]}",
                f"{ours['spreads'][0]:+d}",
                f"{ours['wins'][0]} - {ours['wins'][1]}",
                with_margin(ours["score"]),
                f"{ours['spread']:+.0f}",
                verdict,
            )
        )
    head = (
        "checkpoint after",
        "points, theirs",
        "spread",
        "wins",
        "points, ours",
        "spread",
        "wins",
        "ours, many games, %",
        "spread a 100 games",
        "verdict",
    )
    return markdown_table(head, rows)


def single_table(found: Findings) -> str:
    """Return how strong weights are that nobody has to learn, and those that were learned."""
    names = {
        **{name: f"`{name}` alone" for name in STRATEGIES},
        "even": "equal weights for all eight",
        "mean": "learned here: mean of all gradient agents, 11 x 11 cells",
        "shipped": "the agent `cribbage_weighted` of this package",
    }
    order = sorted(names, key=lambda name: found.fixed[name][0])
    return markdown_table(
        ("weights", "against random weights, %", "games"),
        [
            (names[name], with_margin(found.fixed[name]), f"{int(found.fixed[name][2]):,}")
            for name in order
        ],
    )


def bands_table(found: Findings) -> str:
    """Return which strategies are strongest by lead, learned by either update."""
    rows = []
    for role in (PONE, THE_DEALER):
        bands = [strength_by_band(found.weights[name], role) for name in ("round_1", "gradient")]
        rows += [
            (ROLE_NAMES[role], band, *(strongest(by_band[band]) for by_band in bands))
            for band in BANDS
        ]
    return markdown_table(("role", "score", "thesis, round 1", "gradient"), rows, right=4)


def strongest(weights: Array) -> str:
    """Return the three strategies with most weight."""
    order = np.argsort(-weights, kind="stable")[:3]
    return ", ".join(f"{STRATEGIES[k]} {weights[k]:.2f}" for k in order)


def alike_table(found: Findings) -> str:
    """Return how alike agents choose before and after."""
    rows = []
    for name in dict.fromkeys(key.split()[0] for key in found.alikeness):
        before, after = (found.alike(f"{name} {when}") for when in ("start", "end"))
        pairs = len(found.alikeness[f"{name} start"]["pairs"])
        agents = round((1 + (1 + 8 * pairs) ** 0.5) / 2)
        moved = after[0] - before[0]
        verdict = "no change" if not is_apart(before, after) else "closer" if moved > 0 else "apart"
        rows.append(
            (
                found.experiments[name].title,
                str(agents),
                with_margin(before),
                with_margin(after),
                verdict,
            )
        )
    return markdown_table(("training", "agents", "before, %", "after, %", "verdict"), rows)


# The report


def all_facts(found: Findings) -> dict[str, object]:
    """Return every number and table of the report."""
    plan, strengths, fixed = found.plan, found.strengths, found.fixed
    even = fixed["even"][:2]
    first, right = strengths["round_1"], strengths["gradient"]
    chance = np.diagonal(winning()[:, :, THE_DEALER])
    crests, troughs = turns(chance)
    like = [likeness_to_winning(found.weights["round_1"], role, SAFE) for role in range(2)]
    best = max(STRATEGIES, key=lambda name: fixed[name][0])
    ours = found.short["first"]
    by_score = fixed["by score"]
    if abs(by_score[0] - 50) <= by_score[1]:
        score_answer = "Not so that it can be seen"
    else:
        score_answer = "Yes, it helps" if by_score[0] > 50 else "Not with so few games in a cell"
    made = "and leaves players"
    if first.score + first.margin < 50:
        made = "and it makes players worse,"
    mean, margin = found.alike("one_cell end")
    one_policy = mean - margin > 90
    learned = judge(right, even).startswith("learns")
    return {
        "round_1": score_of(first),
        "round_1_agents": first.agents,
        "round_1_games": f"{plan.first_games:,}",
        "gradient": score_of(right),
        "gradient_alone": with_margin(right.against_best),
        "gradient_starts": right.agents,
        "answer": (
            "Yes, the combination can be learned"
            if learned
            else "With so few games it cannot be shown that the combination can be learned"
        ),
        "even": with_margin(even),
        "pegging": markdown(found.pegging),
        "even_alone": with_margin(fixed["even alone"]),
        "mean_even": with_margin(fixed["mean even"]),
        "mean_alone": with_margin(fixed["mean alone"]),
        "shipped_alone": with_margin(fixed["shipped alone"]),
        "table_1": markdown_table(
            ("", "points", "spread", "wins"),
            [
                ("theirs: random", "12", "+39", "5"),
                ("theirs: Agent 1", "9", "", "4"),
                ("ours: random", str(ours[0]), f"{ours[4]:+d}", str(ours[2])),
                ("ours: the learned agent", str(ours[1]), "", str(ours[3])),
            ],
        ),
        "short_won": f"{100 * found.short['won']:.0f}",
        "short_score": with_margin(found.short["score"]),
        "short_games": f"{found.short['score'][2]:,}",
        "table_2": table_2(found),
        "chi_square": f"{chi_square():.1f}",
        "chi_bound": f"{CHI_SQUARE_BOUND:.1f}",
        "experiments": experiments_table(found),
        "singles": single_table(found),
        "best_single": best,
        "bands": bands_table(found),
        "like_pone": with_margin(like[0], 3),
        "like_dealer": with_margin(like[1], 3),
        "losers": score_of(strengths["losers"]),
        "gentle": score_of(strengths["gentle"]),
        "blend_before": f"{strengths['blend'].before:.1f}",
        "blend": score_of(strengths["blend"]),
        "peg_out": with_margin(near_the_end(found.weights["gradient"], THE_DEALER, PEGGING), 2),
        "gradient_games": f"{plan.gradient_games:,}",
        "coarse": score_of(strengths["coarse"]),
        "ties": score_of(strengths["ties"]),
        "fine": score_of(strengths["fine"]),
        "one_cell": score_of(strengths["one_cell"]),
        "by_score": with_margin(by_score),
        "score_answer": score_answer,
        "made": made,
        "visits": f"{found.visits:,.0f}",
        "alike": alike_table(found),
        "alike_before": with_margin(found.alike("round_1 start")),
        "alike_thesis": with_margin(found.alike("round_1 end")),
        "alike_gradient": with_margin(found.alike("gradient end")),
        "alike_one": with_margin(found.alike("one_cell end")),
        "one_policy": (
            "in one policy, up to hands that hardly differ"
            if one_policy
            else "closer together, but not in one policy"
        ),
        "crests": ", ".join(map(str, crests)),
        "troughs": ", ".join(map(str, troughs)),
        "period": f"{float(np.mean(np.diff(crests))):.0f}",
        "swing_early": f"{100 * (chance[crests[0]] - chance[troughs[0]]):.0f}",
        "swing_late": f"{100 * (chance[crests[-1]] - chance[troughs[-1]]):.0f}",
        "speed": f"{found.speed:,.0f}",
        "deals": f"{plan.deals:,}",
    }
