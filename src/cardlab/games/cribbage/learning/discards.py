"""How often an expected-value player of Cribbage discards and keeps which ranks, over all deals.

Both roles discard by expected points against the discards of the other role in the previous round;
in the first round these are random. Every suit class of six cards is evaluated, so the result is
exact. A small share of the kept hands is spread evenly over all hands: real players deviate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.kernel import int64, kernel
from cardlab.games.cribbage.rules import GAME
from cardlab.games.cribbage.solvers.discards import DiscardScratch, expected_points
from cardlab.games.cribbage.solvers.hand_statistics import (
    CHOICES,
    PAIRS,
    PLACES,
    QUADS,
    every_class,
    pair_number,
    quad_number,
    split,
)
from cardlab.games.cribbage.solvers.knowledge import DISCARDS, shipped_knowledge
from cardlab.learning.runs import load_arrays, open_run, provenance, save_arrays, write_json

CHUNK = 20_000
SPREAD = 0.02


@dataclass(frozen=True)
class Config:
    """Settings: rounds of best responses to each other, and whether pegging counts."""

    rounds: int = 4
    pegging: bool = True
    every: int = 1  # judge one suit class in so many


@kernel
def count_choices(
    hands: Any, weights: Any, role: int, known: Any, laid: Any, kept: Any, worth: Any, work: Any
) -> None:
    """Add the weight of every hand to the ranks that its best choice discards and keeps."""
    for row in range(len(hands)):
        hand = int64(hands[row])
        expected_points(hand, role, known, worth, work)
        best = 0
        for choice in range(1, CHOICES):
            if worth[choice] > worth[best]:
                best = choice
        low, high = work.cards[PLACES[best, 0]], work.cards[PLACES[best, 1]]
        suited = 1 if (low ^ high) & 3 == 0 else 0
        laid[role, suited, pair_number(low >> 2, high >> 2)] += weights[row]
        kept[role, quad_number(split(hand, best, work.cards))] += weights[row]


def ways_of_pairs() -> Array:
    """Return how many pairs of cards have each pair of ranks, in different suits and in one."""
    alike = PAIRS[:, 0] == PAIRS[:, 1]
    return np.stack([np.where(alike, 6, 12), np.where(alike, 0, 4)])


def ways_of_quads() -> Array:
    """Return how many sets of four cards have each four ranks."""
    ranks = np.arange(13)
    counts = (QUADS[:, :, None] == ranks).sum(axis=1)
    return np.array([comb(4, n) for n in range(5)])[counts].prod(axis=1)


def tables_of(laid: Array, kept: Array) -> dict[str, Array]:
    """Return tosses as multiples of chance, and keeps for one of their ways, scaled to mean 1."""
    pairs, quads = ways_of_pairs(), ways_of_quads()
    tosses = laid / laid.sum(axis=(1, 2), keepdims=True)
    keeps = (1 - SPREAD) * kept / kept.sum(axis=1, keepdims=True) + SPREAD * quads / quads.sum()
    return {
        "tosses": tosses / np.maximum(pairs, 1) * pairs.sum(),
        "keeps": keeps / quads * quads.sum(),
    }


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Evaluate all hands in every remaining round; return the summary."""
    if config.rounds < 1 or config.every < 1:
        raise CardlabError("rounds and every must be 1 or more")
    open_run(folder, config)
    saved = load_arrays(folder / "checkpoint.npz") or {
        "tosses": np.ones((2, 2, len(PAIRS))),
        "keeps": np.ones((2, len(QUADS))),
        "rounds": np.array(0),
    }
    hands, weights = (column[:: config.every].copy() for column in every_class())
    known = shipped_knowledge()
    if not config.pegging:
        known = known._replace(gained=0 * known.gained, given=0 * known.given)
    work, worth = DiscardScratch.new(), np.zeros(CHOICES)
    steps = range(0, len(hands), CHUNK)
    total = config.rounds * len(steps)
    moved = 0.0
    for number in range(int(saved["rounds"]), config.rounds):
        laid, kept = np.zeros((2, 2, len(PAIRS))), np.zeros((2, len(QUADS)))
        for place, start in enumerate(steps):
            report("hands judged", number * len(steps) + place, total)
            some = slice(start, start + CHUNK)
            for role in range(2):
                at = known._replace(tosses=saved["tosses"])
                count_choices(hands[some], weights[some], role, at, laid, kept, worth, work)
        found = tables_of(laid, kept)
        moved = float(np.abs(found["tosses"] - saved["tosses"]).max())
        saved = {**found, "rounds": np.array(number + 1)}
        save_arrays(folder / "checkpoint.npz", **saved)
    report("hands judged", total, total)
    summary = {
        "rounds": config.rounds,
        "suit classes judged": len(hands),
        "largest change in the last round": round(moved, 4),
        "fours that are ever kept": int((saved["keeps"] > SPREAD * 1.001).any(axis=0).sum()),
    }
    arrays = {name: saved[name].astype(np.float32) for name in ("tosses", "keeps")}
    save_arrays(folder / f"{DISCARDS}.npz", **arrays)
    origin = provenance(GAME, "cardlab train cribbage/discards", config)
    write_json(folder / f"{DISCARDS}.json", {**origin, "summary": summary})
    return summary
