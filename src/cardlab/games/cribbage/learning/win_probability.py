"""The chance to win a game of Cribbage from every score, from deals of the expert against itself.

Deals are played for points, as far from the end of a game. Each is kept as what happened in order:
a jack turned up, what every card pegged, the pone's hand, the dealer's hand, the crib. The chance
V(d, p) of a dealer with d points against a pone with p is the mean over all deals of 1 if the
dealer reaches 121 first, 0 if the pone does, and otherwise 1 - V(p', d') for the scores after the
deal, when the pone deals. Every deal gives a point at least, so that all of it follows from the
highest scores down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import SEAT, branch, deck_order
from cardlab.games.cribbage.agents.expert import Scratch, lay_by_points, laying_of, play_card
from cardlab.games.cribbage.rules import DEAL, GAME, LAY_AWAY, PLAY, PLAYS, apply, deal
from cardlab.games.cribbage.scoring import JACKS, hand_points
from cardlab.games.cribbage.solvers.knowledge import (
    FULL,
    MOST_PEGS,
    WINNING,
    Knowledge,
    shipped_knowledge,
)
from cardlab.learning.runs import load_arrays, open_run, provenance, save_arrays, write_json

CHUNK = 2_000
EVENTS = 1 + PLAYS + 3  # the jack, every card, three counts; the dealer's positive
POINTS = 30


@dataclass(frozen=True)
class Config:
    """Settings: how many deals, with how many samples a card."""

    deals: int = 100_000
    samples: int = 30
    seed: int = 0


class ExpertDeals(NamedTuple):
    """What deals of the expert against itself are played with."""

    state: Array
    order: Array
    samples: int
    known: Knowledge
    work: Scratch

    @classmethod
    def new(cls, samples: int) -> ExpertDeals:
        """Return what deals with so many samples a card need."""
        state, order = GAME.fresh(**GAME.read_options({})), np.zeros(GAME.deck, dtype=np.uint8)
        return cls(state, order, samples, shipped_knowledge(), Scratch.new())


@kernel
def play_deal(deals: Any, keeps: int, out: Any) -> None:
    """Play one deal from a score of nothing and write its events; seat 0 is the dealer.

    A seat that was dealt the four cards `keeps` keeps them; otherwise expected points decide.
    """
    s, known, work = deals.state[0], deals.known, deals.work
    s.phase = DEAL
    s.dealer = 0
    s.deals = 0
    s.scores[:] = 0
    deal(s, deals.order)
    out[:] = 0
    while s.phase == LAY_AWAY:
        rest = s.hands[s.seat] & ~keeps
        if count_bits(rest) == 2:
            low = lowest_bit(rest)
            apply(s, laying_of(low, lowest_bit(rest & (rest - 1))))
        else:
            apply(s, lay_by_points(s, int64(s.seat), known, work))
    if bit(s.starter) & JACKS:
        out[0] = 2
    while s.phase == PLAY:
        seat, at = int64(s.seat), int64(s.play_count)
        before = int64(s.scores[seat])
        apply(s, play_card(s, seat, deals.samples, known, work))
        if s.phase == PLAY:
            pegged = int64(s.scores[seat]) - before
            out[1 + at] = pegged if seat == 0 else -pegged
    cut = int64(s.starter)
    shows = -hand_points(s.played[1], cut, False), hand_points(s.played[0], cut, False)
    crib = hand_points(s.laid[0] | s.laid[1], cut, True)
    out[PLAYS + 1], out[PLAYS + 2], out[PLAYS + 3] = shows[0], shows[1], crib
    last = int64(0)  # the last card's pegs are whatever the counts do not explain
    for seat in range(2):
        sign = 1 if seat == 0 else -1
        counted = int64(0)
        for i in range(EVENTS):
            counted += max(sign * out[i], 0)
        last += sign * (int64(s.scores[seat]) - counted)
    out[PLAYS] = last


@kernel
def play_deals(start: int, first: int, deals: Any, events: Any) -> None:
    """Write the events of deals `first` and following of a run."""
    rng = deals.work.rng
    for row in range(len(events)):
        seed = branch(start, first + row)
        deck_order(seed, 0, deals.order, rng)
        rng[0] = branch(seed, SEAT)
        play_deal(deals, 0, events[row])


@kernel
def dealer_wins(events: Any, dealer: int, pone: int) -> bool:
    """Return whether the dealer is the first to reach 121 in a deal that takes somebody there."""
    for i in range(len(events)):
        if events[i] > 0:
            dealer += events[i]
        else:
            pone -= events[i]
        if dealer >= FULL:
            return True
        if pone >= FULL:
            return False
    return False


@kernel
def fill_chances(events: Any, gains: Any, out: Any) -> None:
    """Write the dealer's chance to win for every score of dealer and pone, highest sums first."""
    for total in range(2 * FULL - 2, -1, -1):
        for dealer in range(max(0, total - FULL + 1), min(FULL - 1, total) + 1):
            pone = total - dealer
            won = 0.0
            for i in range(len(events)):
                then, other = dealer + gains[i, 0], pone + gains[i, 1]
                if then < FULL and other < FULL:
                    won += 1.0 - out[other, then]
                elif dealer_wins(events[i], dealer, pone):
                    won += 1.0
            out[dealer, pone] = won / len(events)


def gains_of(events: Array) -> Array:
    """Return what dealer and pone gain in every deal."""
    return np.stack([events.clip(0).sum(axis=1), -events.clip(max=0).sum(axis=1)], axis=1)


def chances_by_score(events: Array) -> Array:
    """Return win[own, other, role] from the events of many deals."""
    dealer = np.zeros((FULL, FULL))
    fill_chances(events, gains_of(events).astype(np.int64), dealer)
    return np.stack([1 - dealer.T, dealer], axis=2)


def averages(events: Array) -> dict[str, float]:
    """Return what dealer and pone peg and count in a deal on average."""
    played = gains_of(events[:, 1 : PLAYS + 1]).mean(axis=0)
    jack, pone, dealer, crib = np.abs(events[:, [0, -3, -2, -1]]).mean(axis=0)
    return {
        "pone pegs": round(float(played[1]), 3),
        "pone shows": round(float(pone), 3),
        "dealer pegs": round(float(played[0]), 3),
        "dealer turns up": round(float(jack), 3),
        "dealer shows": round(float(dealer), 3),
        "crib": round(float(crib), 3),
    }


def distributions(events: Array) -> dict[str, Array]:
    """Return the shares of pegs, by pone and dealer, and of hands, by role."""
    pegged = gains_of(events[:, : PLAYS + 1]).clip(max=MOST_PEGS - 1)
    pegs = np.zeros((MOST_PEGS, MOST_PEGS))
    np.add.at(pegs, (pegged[:, 1], pegged[:, 0]), 1)
    shows = [np.bincount(np.abs(events[:, place]), minlength=POINTS) for place in (-3, -2)]
    return {"pegs": pegs / len(events), "shows": np.array(shows) / len(events)}


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Play all deals of a run, or those that are left, and find the chances; return a summary."""
    if config.deals < 1 or config.samples < 1:
        raise CardlabError("deals and samples must be 1 or more")
    open_run(folder, config)
    saved = load_arrays(folder / "checkpoint.npz")
    events = np.zeros((config.deals, EVENTS), dtype=np.int8)
    done = 0
    if saved:
        done = int(saved["done"])
        events[:done] = saved["events"]
    start = seeding.stream(config.seed, "win_probability")
    deals = ExpertDeals.new(config.samples)
    report("deals", done, config.deals)
    while done < config.deals:
        some = events[done : done + CHUNK]
        play_deals(start, done, deals, some)
        done += len(some)
        save_arrays(folder / "checkpoint.npz", events=events[:done], done=np.array(done))
        report("deals", done, config.deals)
    win = chances_by_score(events)
    arrays = {"win": win, **distributions(events)}
    small = {name: array.astype(np.float32) for name, array in arrays.items()}
    save_arrays(folder / f"{WINNING}.npz", **small)
    summary = {
        "deals": done,
        **averages(events),
        "first dealer wins %": round(100 * float(win[0, 0, 1]), 2),
    }
    origin = provenance(GAME, "cardlab train cribbage/win_probability", config)
    write_json(folder / f"{WINNING}.json", {**origin, "summary": summary})
    return summary
