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
    commands: tuple[list[str], ...] = ()  # commands of this game alone
    trainings: Mapping[str, str] = MappingProxyType({})  # method -> settings; none with torch


CASES = {
    "crazy_eights": Case(
        (
            {},
            {"seats": 3, "optional_draw": True},
            {"seats": 4, "hand_size": 7, "reshuffle": True},
            {"hand_size": 12, "reshuffle": True, "optional_draw": True},
        ),
        commands=(["sprt", "--counts", "379,10170,21828,10640,343", "--elo1", "2"],),
        trainings={"tabular_q": "games=2000"},
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
        commands=(
            ["solve", "birds_of_a_feather", "--seed", "123"],
            ["solve", "birds_of_a_feather", "--seed", "-7"],
            ["solve", "birds_of_a_feather", "--seeds", "0:60", "--workers", "1"],
        ),
        trainings={"evolved_ordering": "batch=10 generations=2 children=4 report_seeds=20"},
    ),
    "koi_koi": Case(({"rounds": 2}, {"rules": "nintendo", "rounds": 3}, {})),
    "cribbage": Case(
        ({"target": 61}, {}),
        commands=(
            ["score", "cribbage", "5H 5C 5S JD", "--cut", "5D"],
            ["score", "cribbage", "2H 4H 6H 8H", "--cut", "KS", "--crib"],
            ["analyse", "cribbage", "5H 5D 6S JC 4H KD"],
            ["analyse", "cribbage", "5H 5D 6S JC 4H KD", "--dealer", "--score", "108-112"],
        ),
        trainings={
            "greedy_pegging": "rounds=20",
            "pegging_mix": "generations=1 population=3 elite=2 deals=20 near_deals=20 "
            "test_deals=20 test_games=20",
            "pegging_statistics": "least=1 deals=200 samples=1",
            "pegging_values": "deals=3000 checkpoint=1000 test_deals=200 test_games=100",
            "strategy_weights": "games=200 agents=2",
            "win_probability": "deals=200 samples=1",
        },
    ),
}
