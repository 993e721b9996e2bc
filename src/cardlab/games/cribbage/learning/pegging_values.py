"""The play at Cribbage learned by reinforcement alone, from games against itself.

"Policy Improvement in Cribbage through Reinforcement", section 5.1.1.1, proposes "to train an
unbiased agent by simply having each player learn from trial and error". Here nothing is known but
the rules. The table after a card of a seat is valued by what that seat will still peg, less what
the other will:

    V(after) = sum of ten weights, one in each table of `pegging_ntuples`
    choice   = the card that maximises points at once + V(after), or with chance `explore` any card

Both seats learn into one table. With a seat's cards numbered n = 1..N, r(n) the points that its
card pegs at once, d(n) what is pegged from then to its next card (own for a go or the last card,
less the other's), and B(n) the greatest r + V that it saw, a deal ends with

    G(N) = d(N)        G(n) = d(n) + B(n+1)                                  if n+1 was explored
                       G(n) = d(n) + (1 - trace) B(n+1) + trace (r(n+1) + G(n+1))      otherwise
    w   += rate (1 - gone) c(w) (G - V) / 10       c(w) = |sum of errors| / sum of |errors|

which is TD(trace) towards the greedy choice, with the step of every weight adapted by temporal
coherence: it shrinks where errors cancel. `gone` is the part of the run that is over.

Hands are those that a sensible player keeps: six cards each, the best four on average over the
cuts. `curve.json` has what the learner pegs more than a greedy player in a deal, time after time.
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
from cardlab.engine.kernel import count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import RANDOM_RESOLUTION, SEAT, below, branch
from cardlab.games.cribbage.agents.pegging import SCALE, Pegger, worth_after
from cardlab.games.cribbage.learning.pegging_deals import (
    DealScratch,
    deal_and_lay,
    measure_deals,
    measure_games,
    peg_card,
)
from cardlab.games.cribbage.pegging_ntuples import NUM_TUPLES, NUM_WEIGHTS, weight_indices
from cardlab.games.cribbage.rules import GAME, PLAYS, fitting
from cardlab.games.cribbage.scoring import HAND_SIZE, card_value, follow, peg_points
from cardlab.learning.runs import load_arrays, open_run, provenance, save_arrays, write_json

CHUNK = 50_000
TABLE = "cribbage_pegging_values"


@dataclass(frozen=True)
class Config:
    """Settings: deals, exploration, trace, rate, how often and on how much it is tested."""

    deals: int = 20_000_000
    explore: float = 0.25
    trace: float = 0.5
    rate: float = 1.0
    checkpoint: int = 1_000_000
    test_deals: int = 20_000
    test_games: int = 20_000
    seed: int = 0


class Table(NamedTuple):
    """What is learned: weights, and the errors that each has met, with and without their signs."""

    weights: Array
    errors: Array
    sizes: Array

    @classmethod
    def new(cls) -> Table:
        """Return a table that knows nothing."""
        return cls(*(np.zeros(NUM_WEIGHTS, dtype=np.float32) for _ in range(3)))


class Trajectory(NamedTuple):
    """What both seats met in a deal, by seat and number of their card."""

    indices: Array  # of the weights of the card
    values: Array  # V after the card
    bests: Array  # the greatest r + V among the cards
    points: Array  # r of the card played
    later: Array  # d
    greedy: Array  # whether the best card was played
    counts: Array

    @classmethod
    def new(cls) -> Trajectory:
        """Return an empty trajectory."""
        shape = (2, HAND_SIZE)
        return cls(
            np.zeros((*shape, NUM_TUPLES), dtype=np.int64),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape, dtype=np.bool_),
            np.zeros(2, dtype=np.int64),
        )


@kernel
def points_of(s: Any, card: int) -> int:
    """Return what a card pegs at once, without a go."""
    return peg_points(follow(s.series, card), int64(s.tally) + card_value(card))


@kernel
def choose(s: Any, seat: int, n: int, explore: int, weights: Any, met: Any, rng: Any) -> int:
    """Return the best card, or any by chance; note what it promises and what the best does."""
    cards = s.hands[seat] & fitting(s.tally)
    indices = met.indices[seat, n]
    best, most, promised = int64(-1), 0.0, 0.0
    previous = int64(-1)
    rest = cards
    while rest:
        card = lowest_bit(rest)
        rest &= rest - 1
        if card >> 2 == previous:
            continue
        previous = card >> 2
        weight_indices(s, seat, card, indices)
        value = worth_after(weights, indices)
        worth = points_of(s, card) + value
        if best < 0 or worth > most:
            best, most, promised = card, worth, value
    chosen = best
    if below(rng, RANDOM_RESOLUTION) < explore:
        for _ in range(below(rng, count_bits(cards))):
            cards &= cards - 1
        chosen = lowest_bit(cards)
    weight_indices(s, seat, chosen, indices)
    if chosen >> 2 != best >> 2:
        promised = worth_after(weights, indices)
    met.values[seat, n] = promised
    met.bests[seat, n] = most
    met.points[seat, n] = points_of(s, chosen)
    met.greedy[seat, n] = chosen >> 2 == best >> 2
    return chosen


@kernel
def play_deal(s: Any, explore: int, weights: Any, met: Any, rng: Any) -> None:
    """Play all cards of a deal and record it."""
    counts, later = met.counts, met.later
    counts[:] = 0
    while s.play_count < PLAYS:
        seat = int64(s.seat)
        n = counts[seat]
        pegged = peg_card(s, choose(s, seat, n, explore, weights, met, rng))
        counts[seat] += 1
        later[seat, n] = pegged - met.points[seat, n]
        if counts[1 - seat]:
            later[1 - seat, counts[1 - seat] - 1] -= pegged


@kernel
def learn(seat: int, rate: float, trace: float, table: Any, met: Any) -> None:
    """Move the values that a seat met towards what followed, its last card first."""
    after = 0.0  # what the next card of the seat was worth
    for n in range(met.counts[seat] - 1, -1, -1):
        target = met.later[seat, n] + after
        error = target - met.values[seat, n]
        for i in range(NUM_TUPLES):
            at = met.indices[seat, n, i]
            coherence = 1.0
            if table.sizes[at] > 0:
                coherence = abs(table.errors[at]) / table.sizes[at]
            table.weights[at] += rate * coherence * error / NUM_TUPLES
            table.errors[at] += error
            table.sizes[at] += abs(error)
        after = met.bests[seat, n]
        if met.greedy[seat, n]:
            after += trace * (met.points[seat, n] + target - after)


class Schedule(NamedTuple):
    """How to explore and to learn in a run of so many deals."""

    deals: int
    explore: int  # of RANDOM_RESOLUTION
    trace: float
    rate: float  # at the start; it falls to 0


@kernel
def learn_deals(
    start: int, first: int, count: int, schedule: Any, table: Any, met: Any, work: Any
) -> None:
    """Play deals `first` to `first + count - 1` of a run against oneself, and learn from each."""
    for number in range(first, first + count):
        seed = branch(start, number)
        deal_and_lay(seed, work)
        work.rng[0] = branch(seed, SEAT)
        play_deal(work.states[0], schedule.explore, table.weights, met, work.rng)
        rate = schedule.rate * (1 - number / schedule.deals)
        for seat in range(2):
            learn(seat, rate, schedule.trace, table, met)


def check(config: Config) -> None:
    """Raise an error if the settings are invalid."""
    if min(config.deals, config.checkpoint, config.test_deals, config.test_games) < 1:
        raise CardlabError("deals, checkpoint, test_deals and test_games must be 1 or more")
    if not 0 <= config.explore <= 1 or not 0 <= config.trace <= 1:
        raise CardlabError("explore and trace must be between 0 and 1")
    if not 0 < config.rate <= 1:
        raise CardlabError("rate must be above 0 and at most 1")


def whole(weights: Array) -> Array:
    """Return weights as they are kept: whole numbers of parts of a point."""
    return np.clip(np.rint(weights * SCALE), -32768, 32767).astype(np.int16)


def pegger(weights: Array) -> Pegger:
    """Return the player that these weights make, as it will be once they are kept."""
    return Pegger.learned((whole(weights) / SCALE).astype(np.float32))


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Play all deals of a run, or those that are left; return the summary."""
    check(config)
    open_run(folder, config)
    table, curve, done = Table.new(), np.zeros((0, 3)), 0
    saved = load_arrays(folder / "checkpoint.npz")
    if saved:
        table = Table(*(saved[name] for name in Table._fields))
        curve, done = saved["curve"], int(saved["deals"])
    start = seeding.stream(config.seed, "pegging_values")
    test = seeding.stream(config.seed, "pegging_values", "test")
    met, work = Trajectory.new(), DealScratch.new()
    explore = int(config.explore * RANDOM_RESOLUTION)
    schedule = Schedule(config.deals, explore, config.trace, config.rate)
    pairs = -(-config.test_deals // 2)

    def checkpoint() -> None:
        nonlocal curve
        now = measure_deals(pegger(table.weights), Pegger.greedy(), pairs, test)
        curve = np.concatenate([curve, [[done, now.mean, now.margin]]])
        counted = {"curve": curve, "deals": np.array(done)}
        save_arrays(folder / "checkpoint.npz", **table._asdict(), **counted)
        rows = [
            {"deals": int(row[0]), "points more than greedy": row[1], "margin": row[2]}
            for row in curve.tolist()
        ]
        write_json(folder / "curve.json", rows)

    if not saved:
        checkpoint()
    report("deals", done, config.deals)
    while done < config.deals:
        count = min(CHUNK, config.deals - done, config.checkpoint - done % config.checkpoint)
        learn_deals(start, done, count, schedule, table, met, work)
        done += count
        if done % config.checkpoint == 0 or done == config.deals:
            checkpoint()
        report("deals", done, config.deals)
    games = measure_games(
        pegger(table.weights), Pegger.greedy(), -(-config.test_games // 2), config.seed
    )
    summary = {
        "deals": done,
        "weights": NUM_WEIGHTS,
        "weights that were met": int((table.sizes > 0).sum()),
        "points more than greedy pegging in a deal, at the start": row_text(curve[0], pairs),
        "points more than greedy pegging in a deal": row_text(curve[-1], pairs),
        "games against greedy pegging": (
            f"{100 * games.mean:.2f} ± {100 * games.margin:.2f} % of {games.number:,} games"
        ),
    }
    save_arrays(folder / f"{TABLE}.npz", weights=whole(table.weights))
    origin = provenance(GAME, "cardlab train cribbage/pegging_values", config)
    write_json(folder / f"{TABLE}.json", {**origin, "summary": summary})
    return summary


def row_text(row: Array, pairs: int) -> str:
    """Return a row of the curve in words."""
    return f"{row[1]:.3f} ± {row[2]:.3f} over {2 * pairs:,} deals"
