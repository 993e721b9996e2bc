"""What every hand of four ranks pegs at Cribbage, and lets the other peg, as pone and as dealer.

The play is that of `cribbage_expert` with few samples, against itself. A hand of given ranks is
dealt with two random cards, which it discards; the other seat gets six random cards and discards by
expected points. Each of the 1,820 hands has `least` deals in either role; `deals` more are
distributed by how often hands are kept. The means of rare hands are smoothed with those of their
neighbours, which differ in one rank, as if `lean` further deals had given the neighbours' mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, int64, kernel
from cardlab.engine.seeding import SEAT, below, branch, deck_order
from cardlab.games.cribbage.learning.discards import ways_of_quads
from cardlab.games.cribbage.learning.win_probability import EVENTS, ExpertDeals, play_deal
from cardlab.games.cribbage.rules import DECK, GAME, PLAYS
from cardlab.games.cribbage.solvers.hand_statistics import KEPT, QUADS, RANKS
from cardlab.games.cribbage.solvers.knowledge import MOST_PEGS, PEGGING, shipped_knowledge
from cardlab.learning.runs import load_arrays, open_run, provenance, save_arrays, write_json

CHUNK = 20  # hands, in both roles


@dataclass(frozen=True)
class Config:
    """Settings: deals of every hand, deals shared out, samples a card, leaning, seed."""

    least: int = 100
    deals: int = 500_000
    samples: int = 8
    lean: int = 60
    seed: int = 0


@kernel
def deal_quad(quad: int, role: int, order: Any, rng: Any) -> int:
    """Bring four cards of given ranks to the top of one hand's cards in a deck; return their set.

    The pone gets the cards of even places, the dealer those of odd ones.
    """
    cards = int64(0)
    for i in range(KEPT):
        card = 4 * QUADS[quad, i] + below(rng, 4)
        while cards & bit(card):
            card = 4 * QUADS[quad, i] + below(rng, 4)
        cards |= bit(card)
        to = 2 * i + role
        for place in range(DECK):
            if order[place] == card:
                order[place] = order[to]
                order[to] = card
                break
    return cards


@kernel
def peg_quad(
    quad: int, role: int, start: int, count: int, deals: Any, events: Any, gains: Any, gifts: Any
) -> None:
    """Play deals with a hand of four ranks; count how often it pegs and gives which points."""
    order, rng = deals.order, deals.work.rng
    sign = 1 if role else -1
    for number in range(count):
        seed = branch(start, number)
        deck_order(seed, 0, order, rng)
        rng[0] = branch(seed, SEAT)
        keeps = deal_quad(quad, role, order, rng)
        play_deal(deals, keeps, events)
        gain = gift = int64(0)
        for i in range(1, PLAYS + 1):
            gain += max(sign * events[i], 0)
            gift += max(-sign * events[i], 0)
        gains[gain] += 1
        gifts[gift] += 1


def shares_of(keeps: Array, deals: int, least: int) -> Array:
    """Return how many deals every hand gets in each role."""
    kept = keeps * ways_of_quads()
    return least + np.rint(deals * kept / kept.sum()).astype(np.int64)


def neighbours() -> Array:
    """Return which hands differ in one rank, as a matrix whose rows sum to 1."""
    counts = (QUADS[:, :, None] == np.arange(RANKS)).sum(axis=1)
    apart = np.stack([np.abs(counts - ranks).sum(axis=1) for ranks in counts])
    close = (apart == 2).astype(np.float64)
    return close / close.sum(axis=1, keepdims=True)


def leaning_means(pegged: Array, lean: int) -> Array:
    """Return the mean points of every role and hand, leaning on those of its neighbours."""
    count = pegged.sum(axis=2)
    mean = pegged @ np.arange(MOST_PEGS) / np.maximum(count, 1)
    near = mean @ neighbours().T
    return (count * mean + lean * near) / (count + lean)


def medians(pegged: Array) -> Array:
    """Return the median of the points of every role and hand."""
    reached = pegged.cumsum(axis=2)
    count = reached[:, :, -1:]
    low = (2 * reached >= count).argmax(axis=2)
    high = (2 * reached > count).argmax(axis=2)
    return (low + high) / 2


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Play all deals of a run, or those that are left; return the summary."""
    if min(config.least, config.samples) < 1 or min(config.deals, config.lean) < 0:
        raise CardlabError("least and samples must be 1 or more, deals and lean 0 or more")
    open_run(folder, config)
    saved = load_arrays(folder / "checkpoint.npz") or {
        "gains": np.zeros((2, len(QUADS), MOST_PEGS), dtype=np.int32),
        "gifts": np.zeros((2, len(QUADS), MOST_PEGS), dtype=np.int32),
        "hands": np.array(0),
    }
    gains, gifts, done = saved["gains"], saved["gifts"], int(saved["hands"])
    known, deals = shipped_knowledge(), ExpertDeals.new(config.samples)
    number = shares_of(known.keeps, config.deals, config.least)
    start = seeding.stream(config.seed, "pegging_statistics")
    events = np.zeros(EVENTS, dtype=np.int8)
    report("hands", done, len(QUADS))
    while done < len(QUADS):
        for quad in range(done, min(done + CHUNK, len(QUADS))):
            for role in range(2):
                seed, count = branch(branch(start, role), quad), number[role, quad]
                counts = gains[role, quad], gifts[role, quad]
                peg_quad(quad, role, int(seed), int(count), deals, events, *counts)
        done = min(done + CHUNK, len(QUADS))
        save_arrays(folder / "checkpoint.npz", gains=gains, gifts=gifts, hands=np.array(done))
        report("hands", done, len(QUADS))
    found = {
        "gained": leaning_means(gains, config.lean).astype(np.float16),
        "given": leaning_means(gifts, config.lean).astype(np.float16),
        "median": medians(gains).astype(np.float16),
        "deals": gains.sum(axis=2).astype(np.int32),
    }
    save_arrays(folder / f"{PEGGING}.npz", **found)
    summary: dict[str, Any] = {"hands": len(QUADS), "deals": int(found["deals"].sum())}
    for role, name in enumerate(("pone", "dealer")):
        kept = known.keeps[role] * ways_of_quads()
        for what in ("gained", "given"):
            mean = found[what][role].astype(np.float64) @ kept / kept.sum()
            summary[f"{name}, mean {what}"] = round(float(mean), 3)
    origin = provenance(GAME, "cardlab train cribbage/pegging_statistics", config)
    write_json(folder / f"{PEGGING}.json", {**origin, "summary": summary})
    return summary
