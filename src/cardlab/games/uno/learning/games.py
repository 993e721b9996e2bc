"""Thousands of games of Uno in step for learners, each row stopping at a learner's next decision.

Seats that do not learn play at random or by the heuristic inside the compiled step. At each new
game a row draws its table from the given ones (numbers of seats, rule sets), then its other seats:
learners, the heuristic, or random. The learner's seat rotates: game g of row r is played on seat
(r + g) mod seats. (The paper does not say where its learner sat; seat 0 begins, which would be an
advantage.) Every row has a random stream of its own: how many threads share the rows changes the
time and nothing else.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Array
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import RANDOM_RESOLUTION, below, branch, shuffle
from cardlab.games.uno.features import SIZES, action_of, encode, find_encoding, outputs_of
from cardlab.games.uno.heuristic import choose
from cardlab.games.uno.hidden_hands import MAX_SEATS, NOBODY
from cardlab.games.uno.kernels import apply, deal, legal, mover
from cardlab.games.uno.rules import GAME

RANDOM, HEURISTIC = range(2)


def table(seats: int, rules: str = "rlcard", **options: Any) -> Array:
    """Return a table to play at, as `Games` takes them."""
    return GAME.fresh(**GAME.read_options({"seats": seats, "rules": rules, **options}))


class Play(NamedTuple):
    """How games are played, and by whom."""

    redeal: bool = True  # a row begins another game after each
    skip_forced: bool = False  # decisions with one choice are taken without being asked
    self_play: float = 0.0  # share of the games in which all seats learn
    heuristic: float = 0.0  # share in which the others follow the heuristic; else they are random


class Setting(NamedTuple):
    """What stays the same for all games, as the kernels take it."""

    tables: Array
    shares: Array  # of self-play, of the heuristic, in RANDOM_RESOLUTION
    redeal: bool
    skip_forced: bool
    encoding: int


class Rows(NamedTuple):
    """The games, row by row; `Games` shows the last nine."""

    states: Array
    streams: Array
    learners: Array  # seats, as bits
    opponents: Array
    counts: Array  # games begun, decisions in this one
    tally: Array
    features: Array
    legal: Array
    seats: Array
    ended: Array
    winner: Array
    reward: Array
    live: Array
    choices: Array


@kernel
def new_game(row: int, setting: Any, rows: Any) -> None:
    """Clear a row for another game and say who sits at its table."""
    rng = rows.streams[row : row + 1]
    rows.states[row] = setting.tables[below(rng, len(setting.tables))]
    seats = int64(rows.states[row].seats)
    lot = below(rng, RANDOM_RESOLUTION)
    if lot < setting.shares[0]:
        rows.learners[row] = bit(seats) - 1
    else:
        rows.learners[row] = bit((row + rows.counts[row, 0]) % seats)
    by_heuristic = lot < setting.shares[0] + setting.shares[1]
    rows.opponents[row] = HEURISTIC if by_heuristic else RANDOM
    rows.counts[row, 0] += 1
    rows.counts[row, 1] = 0


@kernel
def random_output(outputs: int, rng: Any) -> int:
    """Return any of a set of outputs."""
    for _ in range(below(rng, count_bits(outputs))):
        outputs &= outputs - 1
    return lowest_bit(outputs)


@kernel
def end_game(s: Any, row: int, decided: int, rows: Any) -> None:
    """Note who won a game that is over, for the seat that decided last."""
    if rows.counts[row, 1]:  # a game without any decision teaches nothing
        rows.ended[row] = 1
        rows.winner[row] = s.winner
        rows.reward[row] = 1 if s.winner == decided else -1
        if s.winner == NOBODY:
            rows.reward[row] = 0
    if rows.learners[row] & (rows.learners[row] - 1) == 0:
        rows.tally[row, 0] += 1
        if s.winner != NOBODY and rows.learners[row] & bit(s.winner):
            rows.tally[row, 1] += 1


@kernel
def advance(
    first: int,
    last: int,
    begin: bool,
    explore: int,
    setting: Any,
    rows: Any,
    order: Any,
    buffer: Any,
) -> None:
    """Take the chosen outputs in some rows and play on to the next decision of a learner."""
    for row in range(first, last):
        rows.ended[row] = 0
        rows.reward[row] = 0
        if not rows.live[row]:
            continue
        s = rows.states[row]
        rng = rows.streams[row : row + 1]
        decided = rows.seats[row]
        if begin:
            new_game(row, setting, rows)
        else:
            if explore and below(rng, RANDOM_RESOLUTION) < explore:
                rows.choices[row] = random_output(rows.legal[row], rng)
            apply(s, action_of(s, int64(rows.choices[row])))
            rows.counts[row, 1] += 1
        while True:
            who = mover(s)
            if who == DEALER:
                shuffle(order, rng)
                deal(s, order)
                continue
            if who == OVER:
                end_game(s, row, decided, rows)
                if not setting.redeal:
                    rows.live[row] = 0
                    break
                new_game(row, setting, rows)
                continue
            number = legal(s, buffer)
            if rows.learners[row] & bit(who):
                if number > 1 or not setting.skip_forced:
                    rows.seats[row] = who
                    rows.legal[row] = outputs_of(buffer, number)
                    encode(s, who, rows.legal[row], setting.encoding, rows.features[row])
                    break
                apply(s, int64(buffer[0]))
            elif rows.opponents[row] == HEURISTIC:
                apply(s, choose(s, who, buffer, number))
            else:
                apply(s, int64(buffer[below(rng, number)]))


class Games:
    """Games in step. After construction and after every `step`, row i of

    - `features`, `legal` and `seats` is the decision that the row waits for: the encoded turn, the
      legal outputs as a set of bits, and the seat,
    - `ended` says whether the game of the row's last decision has ended since, and `winner` the
      seat that won it (255: tie); `reward` is 1, 0 or -1 for the seat that decided last; the
      decision that the row waits for then already belongs to a new game,
    - `choices` is what was done at the last decision, exploration included,
    - `live` says whether the row plays on; without `play.redeal` it stops after one game.

    Over all games with one learner, `tally` counts how many there were and how many it won.
    """

    def __init__(
        self,
        rows: int,
        tables: Sequence[Array],
        encoding: str,
        *,
        seed: int,
        play: Play = Play(),  # noqa: B008  # a constant
        threads: int = 1,
        pinned: bool = False,
    ) -> None:
        if rows < 1 or threads < 1:
            raise CardlabError(f"{rows} rows on {threads} threads cannot be; give 1 or more")
        self_play, heuristic = play.self_play, play.heuristic
        if not (0 <= self_play <= 1 and 0 <= heuristic <= 1 and self_play + heuristic <= 1):
            raise CardlabError(
                f"self_play={self_play} and heuristic={heuristic} are shares of all games; "
                "give numbers from 0 to 1 whose sum is at most 1"
            )
        self.rows = rows
        self._setting = Setting(
            np.concatenate(list(tables)),
            np.array(
                [self_play * RANDOM_RESOLUTION, heuristic * RANDOM_RESOLUTION], dtype=np.int64
            ),
            play.redeal,
            play.skip_forced,
            find_encoding(encoding),
        )
        start = seeding.stream(seed, "uno_games")
        self._rows = Rows(
            states=np.zeros(rows, dtype=GAME.state),
            streams=np.array([branch(start, row) for row in range(rows)], dtype=np.int64),
            learners=np.zeros(rows, dtype=np.int64),
            opponents=np.zeros(rows, dtype=np.uint8),
            counts=np.zeros((rows, 2), dtype=np.int64),
            tally=np.zeros((rows, 2), dtype=np.int64),
            features=_array((rows, SIZES[encoding]), np.uint8, pinned),
            legal=_array((rows,), np.int64, pinned),
            seats=np.zeros(rows, dtype=np.uint8),
            ended=_array((rows,), np.uint8, pinned),
            winner=np.full(rows, NOBODY, dtype=np.uint8),
            reward=_array((rows,), np.int8, pinned),
            live=np.ones(rows, dtype=np.uint8),
            choices=_array((rows,), np.int64, pinned),
        )
        self.tally, self.features, self.legal, self.seats, *others = self._rows[5:]
        self.ended, self.winner, self.reward, self.live, self.choices = others
        bounds = np.linspace(0, rows, min(threads, rows) + 1).astype(int).tolist()
        self._shards = [
            (
                first,
                last,
                np.zeros(GAME.deck, dtype=np.uint8),
                np.zeros(GAME.num_actions, dtype=np.int16),
            )
            for first, last in itertools.pairwise(bounds)
        ]
        self._pool = ThreadPoolExecutor(len(self._shards)) if len(self._shards) > 1 else None
        self._advance(True, 0.0)

    def step(self, choices: Array, explore: float = 0.0) -> None:
        """Take one output in every live row, with probability `explore` a random legal one."""
        self.choices[:] = choices
        self._advance(False, explore)

    @property
    def finished(self) -> int:
        """How many games have ended."""
        return int(self._rows.counts[:, 0].sum()) - int(self.live.sum())

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _advance(self, begin: bool, explore: float) -> None:
        def work(shard: tuple[int, int, Array, Array]) -> None:
            first, last, order, buffer = shard
            chance = int(explore * RANDOM_RESOLUTION)
            advance(first, last, begin, chance, self._setting, self._rows, order, buffer)

        if self._pool is None:
            work(self._shards[0])
        else:
            list(self._pool.map(work, self._shards))


def _array(shape: tuple[int, ...], kind: Any, pinned: bool) -> Array:
    """Return zeros, in memory that a graphics card can read by itself if asked."""
    if not pinned:
        return np.zeros(shape, dtype=kind)
    import torch

    kinds = {np.uint8: torch.uint8, np.int8: torch.int8, np.int64: torch.int64}
    zeros: Array = torch.zeros(shape, dtype=kinds[kind], pin_memory=True).numpy()
    return zeros


@kernel
def trace_targets(
    seats: Any,
    ended: Any,
    winner: Any,
    values: Any,
    trace: float,
    out: Any,
    known: Any,
    later: Any,
) -> None:
    """Write what each decision of some steps should be valued at, looking back from the last.

    `seats[t, row]` decided at step t, `ended[t + 1, row]` says whether that game ended before the
    next decision of the row, and `values[t, row]` is what the state of the decision was held to be
    worth. The target of a decision is trace * target + (1 - trace) * value of the same seat's next
    one, or the result: 1 won, -1 lost, 0 tie. A decision after which its seat neither decides again
    nor sees the end has none: `known` is 0 there. `later` is scratch: rows, seats, three zeros.
    """
    steps, rows = seats.shape
    for t in range(steps - 1, -1, -1):
        for row in range(rows):
            if ended[t + 1, row]:
                for seat in range(MAX_SEATS):
                    result = 1.0 if winner[t + 1, row] == seat else -1.0
                    if winner[t + 1, row] == NOBODY:
                        result = 0.0
                    later[row, seat, 0] = result
                    later[row, seat, 1] = result
                    later[row, seat, 2] = 1.0
            seat = int64(seats[t, row])
            known[t, row] = later[row, seat, 2] > 0
            if known[t, row]:
                out[t, row] = trace * later[row, seat, 0] + (1 - trace) * later[row, seat, 1]
            else:
                out[t, row] = values[t, row]
            later[row, seat, 0] = out[t, row]
            later[row, seat, 1] = values[t, row]
            later[row, seat, 2] = 1.0
