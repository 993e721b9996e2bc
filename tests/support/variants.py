"""The options under which the public suites run, by game."""

from __future__ import annotations

from typing import Any

__all__ = ["VARIANTS"]

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "crazy_eights": [
        {},
        {"hand_size": 7, "optional_draw": True},
        {"seats": 3, "hand_size": 2},
        {"seats": 4, "reshuffle": True},
        {"seats": 3, "reshuffle": True, "optional_draw": True},
    ],
    "uno": [
        {},
        {"rules": "rlcard"},
        {"seats": 5, "rules": "rlcard"},
        {"seats": 6, "stacking": True},
        {"seats": 3, "keep_drawn": False, "voluntary_draw": True},
        {"seats": 4, "keep_drawn": False, "target": 500},
    ],
    "birds_of_a_feather": [{}],
    "koi_koi": [
        {},
        {"rules": "nintendo"},
        {"rounds": 1},
        {"rules": "nintendo", "rounds": 3},
    ],
    "cribbage": [{}, {"target": 61}],
    "tests.support.high_card:GAME": [{}],
}
