"""Cribbage: the manifest names everything in this folder."""

from __future__ import annotations

from cardlab.engine.manifest import AgentEntry, GamePackage, Level, Option, Parameter

HERE = __name__
SAMPLES = Parameter("samples", 30, 1, "samples of the other hand a decision", high=1820)

# The strategies of the thesis, each playable by itself.
STRATEGIES = {
    "hand_max_min": "keeps the hand that counts most at worst",
    "hand_max_avg": "keeps the hand that counts most on average",
    "hand_max_med": "keeps the hand with the highest median",
    "hand_max_poss": "keeps the hand that can count most",
    "crib_min_avg": "discards what counts least in the crib",
    "pegging_max_avg_gained": "keeps what pegs most on average",
    "pegging_max_med_gained": "keeps what has the highest median in pegging",
    "pegging_min_avg_given": "keeps what lets the other peg least",
}

PACKAGE = GamePackage(
    module=HERE,
    game=f"{HERE}.rules:GAME",
    place=5,
    title="Cribbage",
    summary="discard two cards, play to 31, count your hand; 121 points win",
    options=(Option("target", 121, (121, 61), "points that win"),),
    agents=(
        AgentEntry(
            "cribbage_expert",
            "weighs hand, crib and pegging, samples and solves the play, knows the score",
            f"{HERE}.agents.expert:CribbageExpert",
            (SAMPLES,),
        ),
        AgentEntry(
            "cribbage_expected_value",
            "discards by hand, crib and pegging as the expert, pegs greedily",
            f"{HERE}.agents.expert:CribbageExpectedValue",
        ),
        AgentEntry(
            "cribbage_learned_pegging",
            "keeps the best hand on average, pegs as it learned by reinforcement alone",
            f"{HERE}.agents.pegging:learned",
        ),
        AgentEntry(
            "cribbage_mixed_pegging",
            "keeps the best hand on average, pegs by a learned mix of offence and defence",
            f"{HERE}.agents.pegging:mixed",
        ),
        AgentEntry(
            "cribbage_searched_pegging",
            "keeps the best hand on average, samples and solves the play as the expert",
            f"{HERE}.agents.pegging:SearchedPegging",
            (SAMPLES,),
        ),
        AgentEntry(
            "cribbage_weighted",
            "weighs eight strategies by the score, as it learned against itself",
            f"{HERE}.agents.strategies:learned",
        ),
        AgentEntry(
            "cribbage_random_weights",
            "weighs eight strategies at random, what learning starts from",
            f"{HERE}.agents.strategies:unlearned",
            (Parameter("seed", 0, 0, "which random weights"),),
        ),
        *(
            AgentEntry(name, summary, f"{HERE}.agents.strategies:{name}")
            for name, summary in STRATEGIES.items()
        ),
    ),
    heuristic=f"{HERE}.heuristic",
    observation=f"{HERE}.observation:OBSERVATION",
    levels=(
        Level("Easy", "crib_min_avg"),
        Level("Medium", "hand_max_avg"),
        Level("Hard", "heuristic"),
        Level("Expert", "cribbage_expert:30"),
        Level("Sees your cards", "uct_open:1000"),
    ),
    adviser="cribbage_expert:30",
    trainings={
        "discards": f"{HERE}.learning.discards",
        "pegging_statistics": f"{HERE}.learning.pegging_statistics",
        "win_probability": f"{HERE}.learning.win_probability",
        "greedy_pegging": f"{HERE}.learning.greedy_pegging",
        "pegging_values": f"{HERE}.learning.pegging_values",
        "pegging_mix": f"{HERE}.learning.pegging_mix",
        "strategy_weights": f"{HERE}.learning.strategy_weights",
    },
    paper=f"{HERE}.paper.report:REPORT",
    commands={"score": f"{HERE}.commands:score", "analyse": f"{HERE}.commands:analyse"},
    page="page",
    page_data=f"{HERE}.page.page_data:PAGE_DATA",
    terminal=f"{HERE}.terminal:TERMINAL",
    deck="standard",
    rules="rules.md",
)

__getattr__ = PACKAGE.lazy_attribute  # `cardlab.games.cribbage:GAME`
