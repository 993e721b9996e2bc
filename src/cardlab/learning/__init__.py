"""Training: `cardlab train GAME/METHOD`.

A training is a module with a frozen dataclass `Config` and a function
`train(config, folder, report) -> summary`. It keeps everything in its folder, reports its progress
as `report(what, done, total)`, and goes on where it was when the folder holds an unfinished run of
the same configuration.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from cardlab.errors import CardlabError, suggest

__all__ = ["TRAININGS", "find_training"]

TRAININGS = {
    "crazy_eights/tabular_q": "cardlab.learning.tabular_q",
    "crazy_eights/transformer": "cardlab.learning.crazy_eights_transformer",
    "uno/dqn": "cardlab.learning.deep_q",
    "uno/deep_sarsa": "cardlab.learning.deep_sarsa",
    "uno/deep_monte_carlo": "cardlab.learning.deep_monte_carlo",
    "uno/policy_gradient": "cardlab.learning.policy_gradient",
    "uno/transformer": "cardlab.learning.uno_transformer",
    "uno/comparison": "cardlab.learning.uno_comparison",
    "uno/grid": "cardlab.learning.uno_grid",
    "birds_of_a_feather/solvability": "cardlab.learning.solvability",
    "birds_of_a_feather/evolved_ordering": "cardlab.learning.evolved_ordering",
    "koi_koi/supervised": "cardlab.learning.koi_koi_supervised",
    "koi_koi/monte_carlo": "cardlab.learning.koi_koi_monte_carlo",
    "koi_koi/terms": "cardlab.learning.koi_koi_terms",
    "cribbage/tosses": "cardlab.learning.cribbage_tosses",
    "cribbage/pegging_statistics": "cardlab.learning.cribbage_pegging",
    "cribbage/win_probability": "cardlab.learning.cribbage_winning",
    "cribbage/greedy_pegging": "cardlab.learning.greedy_pegging",
    "cribbage/pegging_values": "cardlab.learning.pegging_values",
    "cribbage/pegging_mix": "cardlab.learning.pegging_mix",
    "cribbage/strategy_weights": "cardlab.learning.strategy_weights",
}


def find_training(name: str) -> ModuleType:
    """Return the module that trains what `name` says."""
    if name not in TRAININGS:
        raise CardlabError(suggest("training", name, TRAININGS))
    return import_module(TRAININGS[name])
