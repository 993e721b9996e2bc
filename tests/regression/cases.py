"""What is recorded of each game: its options, and its agents with small budgets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

# Agents that ask a neural network: its floats may differ between machines, and so may a whole game
# after one close decision. Their choices are recorded at positions with a clear best action.
NETWORKS = frozenset(
    {
        "crazy_eights_transformer",
        "koi_koi_hand_open",
        "koi_koi_point",
        "koi_koi_search",
        "koi_koi_supervised",
        "koi_koi_win",
        "uno_deep_sarsa",
        "uno_deep_sarsa_open",
        "uno_dqn",
        "uno_dqn_open",
        "uno_net",
        "uno_search",
        "uno_transformer",
    }
)
BUDGETS = {  # parameters of agents; 20 where nothing else is said
    "alpha_beta_points_open": "3",
    "alpha_beta_wins_open": "3",
    "cribbage_expert": "3",
    "cribbage_random_weights": "7",
    "cribbage_searched_pegging": "3",
    "determinised": "3",
    "guided": "40",
    "information_set": "60,trees=2",
    "koi_koi_hand_open": "6",
    "koi_koi_search": "6,hands=20",
    "monte_carlo": "60",
    "uct_open": "60,trees=2",
}
POSITIONS = 8  # at which a network chooses, for each of a game's options


class Case(NamedTuple):
    """What is recorded of one game."""

    options: tuple[dict[str, Any], ...]  # the first for every agent, all for the rules
    opponent: str = "heuristic"  # whom the agents play against; empty: the game is played alone
    commands: Mapping[str, list[str]] = MappingProxyType({})  # commands of this game alone


CASES = {
    "crazy_eights": Case(
        (
            {},
            {"seats": 3, "optional_draw": True},
            {"seats": 4, "hand_size": 7, "reshuffle": True},
            {"hand_size": 12, "reshuffle": True, "optional_draw": True},
        )
    ),
    "uno": Case(
        (
            {},
            {"seats": 3, "stacking": True, "voluntary_draw": True},
            {"seats": 5, "rules": "rlcard"},
            {"seats": 10, "keep_drawn": False},
            {"target": 500},
        )
    ),
    "birds_of_a_feather": Case(
        ({},),
        opponent="",
        commands={
            "solve": ["solve", "birds_of_a_feather", "--seed", "123"],
            "solve, a negative seed": ["solve", "birds_of_a_feather", "--seed", "-7"],
            "solve, a range": ["solve", "birds_of_a_feather", "--seeds", "0:60", "--workers", "1"],
        },
    ),
    "koi_koi": Case(({"rounds": 2}, {"rules": "nintendo", "rounds": 3}, {})),
    "cribbage": Case(
        ({"target": 61}, {}),
        commands={
            "score": ["score", "cribbage", "5H 5C 5S JD", "--cut", "5D"],
            "score, a crib": ["score", "cribbage", "2H 4H 6H 8H", "--cut", "KS", "--crib"],
            "analyse": ["analyse", "cribbage", "5H 5D 6S JC 4H KD"],
            "analyse, near the end": [
                *("analyse", "cribbage", "5H 5D 6S JC 4H KD"),
                *("--dealer", "--score", "108-112"),
            ],
        },
    ),
}
