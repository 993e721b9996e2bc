"""Q-learning on six features, as "Development of Artificial Intelligence players for the game
Crazy 8", section 3.2, describes it.

At each of a seat's moves the value of its previous state and action is updated, looking back:

    Q(S', A') <- Q(S', A') + alpha (R + max Q(S, A) - Q(S', A'))

with R = 1 when A' empties the hand, else 0, alpha = 0.2, epsilon = 0.4, no discount, Q = 0 at the
start, 600,000 games. Features and actions: `features`.

What the paper leaves open, and what is done here: both seats learn into one table, playing each
other. Read to the letter no update follows a lost or tied game, since a seat looks back only when
it moves again; values can then only rise, towards 1 everywhere. `learn_from_losses` adds the update
that is missing, towards 0 at the end of a game that was not won.
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
from cardlab.engine.kernel import bit, count_bits, int64, kernel
from cardlab.engine.seeding import RANDOM_RESOLUTION, SEAT, below, branch, deck_order
from cardlab.games.crazy_eights.agents.tabular_q import best_choice
from cardlab.games.crazy_eights.features import (
    NUM_CHOICES,
    NUM_STATES,
    action_of,
    choices,
    state_index,
)
from cardlab.games.crazy_eights.rules import GAME, PASS, apply, deal, mover
from cardlab.learning.runs import load_arrays, open_run, provenance, save_arrays, write_json

__all__ = ["Config", "train"]

CHUNK = 20_000  # games between two checkpoints


@dataclass(frozen=True)
class Config:
    """Settings: the paper's numbers unless one changes them."""

    games: int = 600_000
    alpha: float = 0.2
    epsilon: float = 0.4
    learn_from_losses: bool = False
    seed: int = 0


@kernel
def pick(possible: int, nth: int) -> int:
    """Return the n-th of the possible choices, counted from 0."""
    for _ in range(nth):
        possible &= possible - 1
    choice = 0
    while not possible & bit(choice):
        choice += 1
    return choice


class Scratch(NamedTuple):
    """Arrays that the kernel works in."""

    work: Array
    previous: Array  # each seat's last state and choice
    order: Array
    rng: Array


@kernel
def play_and_learn(
    fresh: Any, start: int, first: int, count: int, update: Any, q: Any, visits: Any, scratch: Any
) -> None:
    """Play games `first` to `first + count - 1` of a run against oneself, learning at each move."""
    work, previous, order, rng = scratch
    alpha, epsilon, learn_from_losses = update
    s = work[0]
    explore = int64(epsilon * RANDOM_RESOLUTION)
    for number in range(first, first + count):
        work[0] = fresh[0]
        seed = branch(start, number)
        deck_order(seed, 0, order, rng)
        deal(s, order)
        rng[0] = branch(seed, SEAT)
        previous[:, 0] = -1
        while mover(s) >= 0:
            seat = mover(s)
            possible = choices(s, seat)
            if possible == 0:
                apply(s, PASS)
                continue
            state = state_index(s, seat)
            choice = best_choice(q, state, possible)
            before, done = previous[seat, 0], previous[seat, 1]
            if before >= 0:
                q[before, done] += alpha * (q[state, choice] - q[before, done])
            if below(rng, RANDOM_RESOLUTION) < explore:
                choice = pick(possible, below(rng, count_bits(possible)))
            visits[state, choice] += 1
            previous[seat, 0] = state
            previous[seat, 1] = choice
            apply(s, action_of(s, seat, choice))
        for seat in range(2):
            before, done = previous[seat, 0], previous[seat, 1]
            won = s.winner == seat
            if before >= 0 and (won or learn_from_losses):
                q[before, done] += alpha * ((1.0 if won else 0.0) - q[before, done])


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Play all games of a run, or those that are left; return the summary."""
    if config.games < 1 or not 0 < config.alpha <= 1 or not 0 <= config.epsilon <= 1:
        raise CardlabError(
            "games must be 1 or more, alpha above 0 and at most 1, epsilon between 0 and 1"
        )
    open_run(folder, config)
    saved = load_arrays(folder / "checkpoint.npz") or {
        "q": np.zeros((NUM_STATES, NUM_CHOICES)),
        "visits": np.zeros((NUM_STATES, NUM_CHOICES), dtype=np.int64),
        "games": np.array(0),
    }
    q, visits, done = saved["q"], saved["visits"], int(saved["games"])
    start = seeding.stream(config.seed, "tabular_q")
    fresh = GAME.fresh(**GAME.read_options({}))
    update = config.alpha, config.epsilon, config.learn_from_losses
    scratch = Scratch(
        np.zeros(1, dtype=GAME.state),
        np.zeros((2, 2), dtype=np.int64),
        np.zeros(GAME.deck, dtype=np.uint8),
        np.zeros(1, dtype=np.int64),
    )
    report("games", done, config.games)
    while done < config.games:
        count = min(CHUNK, config.games - done)
        play_and_learn(fresh, start, done, count, update, q, visits, scratch)
        done += count
        save_arrays(folder / "checkpoint.npz", q=q, visits=visits, games=np.array(done))
        report("games", done, config.games)
    seen = visits.any(axis=1)
    summary = {
        "games": done,
        "states visited": int(seen.sum()),
        "states that the features allow": NUM_STATES,
        "decisions": int(visits.sum()),
        "states visited fewer than 100 times": int((seen & (visits.sum(axis=1) < 100)).sum()),
    }
    save_arrays(folder / "table.npz", q=q.astype(np.float16))
    origin = provenance(GAME, "cardlab train crazy_eights/tabular_q", config)
    write_json(folder / "table.json", {**origin, "summary": summary})
    return summary
