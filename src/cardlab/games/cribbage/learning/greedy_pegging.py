"""What every hand of four ranks pegs at Cribbage when both seats play greedily, and what it gives.

The knowledge of the three pegging strategies in "Policy Improvement in Cribbage through
Reinforcement", section 3.1.1: an agent that always takes the card that pegs most at once plays a
copy of itself, with cards dealt at random. Deviations: each of the 1,820 hands of four ranks has
the same number of rounds in either role, instead of 100,000 rounds for all 270,725 hands of four
cards, most of which then were never met; and nothing is added while agents learn, so that a run
does not depend on those before it.

`cribbage/pegging_statistics` measures the same of the expert's play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.kernel import bit, int64, kernel
from cardlab.engine.seeding import below, branch
from cardlab.games.cribbage.agents.expert import greedy_card
from cardlab.games.cribbage.agents.strategies import ROLES
from cardlab.games.cribbage.rules import DECK, GAME, PLAY, PLAYS, apply
from cardlab.games.cribbage.scoring import HAND_SIZE, LIMIT, card_value, follow, peg_points
from cardlab.games.cribbage.solvers.hand_statistics import QUADS
from cardlab.learning.runs import load_arrays, open_run, provenance, save_arrays, write_json

CHUNK = 91  # hands, in both roles
MOST = 48  # points that nobody pegs in a round


@dataclass(frozen=True)
class Config:
    """Settings: rounds of every hand in either role, and the seed."""

    rounds: int = 10_000
    seed: int = 0


@kernel
def draw(low: int, count: int, used: int, rng: Any) -> int:
    """Return one of `count` cards from `low` on that is not used, as a set."""
    card = bit(low + below(rng, count))
    while used & card:
        card = bit(low + below(rng, count))
    return card


@kernel
def deal_hands(s: Any, quad: int, role: int, rng: Any) -> None:
    """Give one role a hand of given ranks, the other four cards at random; the pone is to lead."""
    for i in range(HAND_SIZE):
        s.hands[role] |= draw(4 * QUADS[quad, i], 4, s.hands[role], rng)
    for _ in range(HAND_SIZE):
        s.hands[1 - role] |= draw(0, DECK, s.hands[0] | s.hands[1], rng)
    for seat in range(2):
        s.sizes[seat] = HAND_SIZE
    s.dealer = 1
    s.seat = 0
    s.deals = 1
    s.phase = PLAY


@kernel
def play_round(s: Any) -> None:
    """Play all cards greedily; the scores then are what was pegged, before the show."""
    while s.play_count < PLAYS - 1:
        apply(s, greedy_card(s, int64(s.seat)))
    seat = int64(s.seat)
    card = greedy_card(s, seat)
    tally = int64(s.tally) + card_value(card)
    points = peg_points(follow(s.series, card), tally)
    s.scores[seat] += points if tally == LIMIT else points + 1


@kernel
def peg_hands(
    first: int, count: int, rounds: int, start: int, gains: Any, gifts: Any, states: Any, rng: Any
) -> None:
    """Count how often hands peg which points, and the points that they give.

    `states` has a game that waits for its first deal, and room for the one that is played.
    """
    s = states[1]
    for quad in range(first, first + count):
        for role in range(ROLES):
            rng[0] = branch(branch(start, quad), role)
            for _ in range(rounds):
                states[1] = states[0]
                deal_hands(s, quad, role, rng)
                play_round(s)
                gains[role, quad, s.scores[role]] += 1
                gifts[role, quad] += s.scores[1 - role]


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Play all rounds of a run, or those that are left; return the summary."""
    if config.rounds < 1:
        raise CardlabError("rounds must be 1 or more")
    open_run(folder, config)
    saved = load_arrays(folder / "checkpoint.npz") or {
        "gains": np.zeros((ROLES, len(QUADS), MOST), dtype=np.int64),
        "gifts": np.zeros((ROLES, len(QUADS)), dtype=np.int64),
        "hands": np.array(0),
    }
    gains, gifts, done = saved["gains"], saved["gifts"], int(saved["hands"])
    start = seeding.stream(config.seed, "greedy_pegging")
    states = np.repeat(GAME.fresh(**GAME.read_options({})), 2)
    rng = np.zeros(1, dtype=np.int64)
    report("hands", done, len(QUADS))
    while done < len(QUADS):
        count = min(CHUNK, len(QUADS) - done)
        peg_hands(done, count, config.rounds, start, gains, gifts, states, rng)
        done += count
        save_arrays(folder / "checkpoint.npz", gains=gains, gifts=gifts, hands=np.array(done))
        report("hands", done, len(QUADS))
    reached = gains.cumsum(axis=2)
    low = (2 * reached >= config.rounds).argmax(axis=2)
    high = (2 * reached > config.rounds).argmax(axis=2)
    found = {
        "gained": (gains @ np.arange(MOST) / config.rounds).astype(np.float16),
        "median": ((low + high) / 2).astype(np.float16),
        "given": (gifts / config.rounds).astype(np.float16),
    }
    save_arrays(folder / "cribbage_greedy_pegging.npz", **found)
    summary: dict[str, Any] = {"rounds": 2 * config.rounds * len(QUADS)}
    for role, name in enumerate(("pone", "dealer")):
        for what in ("gained", "given"):
            mean = float(found[what][role].astype(np.float64).mean())
            summary[f"{name}, mean {what} over hands of four ranks"] = round(mean, 3)
    origin = provenance(GAME, "cardlab train cribbage/greedy_pegging", config)
    write_json(folder / "cribbage_greedy_pegging.json", {**origin, "summary": summary})
    return summary
