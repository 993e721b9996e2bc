"""Search on top of networks in Koi-Koi: what the networks foresee is checked in imagined worlds.

The value of a network is a guess at how a round ends after an action. Search puts some facts below
it: in worlds that agree with everything the seat has witnessed, each of the best actions is taken,
the card of the stock turned and the other seat's turn played as the networks would, up to the
seat's own next discard. There the networks are asked again, now one turn closer to the end; where
the round has ended before, its worth is known. All worlds of all turns advance together, so that
the networks answer large batches.

The same worlds serve every action. What the network said of an action counts for `BELIEF` worlds,
and actions that it holds to be worse by more than `MARGIN` are not tried. After a third of the
worlds, actions that are behind by more than chance are given up.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.agents.koi_koi_network import KoiKoiNetwork, koi_koi_win, make_rows
from cardlab.errors import CardlabError
from cardlab.features.koi_koi import (
    MOST_CHOICES,
    WIDTH,
    action_of_token,
    write_choices,
    write_view,
)
from cardlab.game import Array, Turn, Turns
from cardlab.games.koi_koi import START, apply, imagine, returns, round_points
from cardlab.games.koi_koi_table import DEAL, DISCARD, FINISHED
from cardlab.kernel import int64, kernel
from cardlab.networks.koi_koi_chances import POINTS

__all__ = ["KoiKoiSearch", "search"]

BELIEF = 8.0
MARGIN = 0.04  # of a return from -1 to 1
FIRST_SHARE = 1 / 3
FEWEST = 4  # worlds that tell chance apart
TINY = 1e-9
AGAIN, ASKED, LEAF, ENDED = range(4)  # what a path waits for


@kernel
def start_paths(
    views: Any, seats: Any, streams: Any, tried: Any, worlds: int, states: Any, choices: Any
) -> None:
    """Write for every view its worlds, once for each action that is tried in them."""
    place = 0
    for i in range(len(views)):
        for _ in range(worlds):
            first = place
            for k in range(tried.shape[1]):
                if tried[i, k] < 0:
                    break
                if place == first:
                    states[place] = views[i]
                    while not imagine(states[place], seats[i], streams[i : i + 1]):
                        states[place] = views[i]
                else:
                    states[place] = states[first]
                choices[place, 0] = tried[i, k]
                place += 1


@kernel
def end_worth(s: Any, seat: int, chances: Any) -> float:
    """Return what the end of a round is worth to a seat: of the game, or without chances in tens.

    `chances` is the chance to win by (rounds left, I deal, lead), empty where points are wanted.
    """
    if len(chances) == 0:
        return round_points(s, seat) / POINTS
    if s.phase == FINISHED:
        return returns(s, seat)
    lead = int64(s.points_now[seat]) - START
    left = int64(s.rounds) - int64(s.round_number)
    deals = int64(s.next_dealer == seat)
    return 2.0 * chances[left, deals, min(max(lead, -START), START) + START] - 1.0


@kernel
def advance(
    states: Any,
    seats: Any,
    turns: Any,
    chances: Any,
    waits: Any,
    slots: Any,
    rows: Any,
    choices: Any,
    values: Any,
) -> None:
    """Take the actions chosen and go on to each path's next question, or to its end."""
    for i in range(len(states)):
        if waits[i] >= LEAF:
            continue
        s, seat = states[i], int64(seats[i])
        while True:
            apply(s, action_of_token(s, int64(choices[i, slots[i]])))
            if s.phase <= DEAL or s.phase == FINISHED:
                values[i] = end_worth(s, seat, chances)
                waits[i] = ENDED
                break
            mine = s.seat == seat and s.phase == DISCARD and s.turn > turns[i]
            mover = int64(s.seat)
            if write_choices(s, mover, choices[i]) > 1 or mine:
                write_view(s, mover, rows[i])
                waits[i] = LEAF if mine else ASKED
                break
            slots[i] = 0


def search(
    network: KoiKoiNetwork,
    views: Array,
    seats: Array,
    streams: Array,
    *,
    worlds: int,
    most: int,
    belief: float = BELIEF,
    margin: float = MARGIN,
) -> Array:
    """Return what the choices of every view are worth, -inf where they are none."""
    rows, choices = make_rows(views, seats)
    rated = network.rate(rows, choices).astype(np.float64)
    rated[:, 1:][choices[:, 1:] == choices[:, :1]] = -np.inf
    best = np.argsort(-rated, axis=1, kind="stable")[:, :most]
    turns = [
        _Trial(place, slots[rated[place, slots] >= rated[place, slots[0]] - margin], belief, rated)
        for place, slots in enumerate(best)
    ]
    first = min(worlds, max(FEWEST, round(FIRST_SHARE * worlds)))
    for count in (first, worlds - first):
        turns = [turn for turn in turns if len(turn.slots) > 1]
        if not turns or not count:
            break
        _try_in_worlds(network, views, seats, streams, choices, turns, count)
        for turn in turns:
            turn.settle()
    return rated


class _Trial:
    """The actions of one turn that are tried in worlds, and what came of it."""

    def __init__(self, place: int, slots: Array, belief: float, rated: Array) -> None:
        self.place, self.slots, self.belief = place, slots, belief
        self.values = rated[place]  # of all actions, to be improved
        self.prior = rated[place, slots]
        self.found = np.zeros((0, len(slots)))  # by world and action

    def settle(self) -> None:
        """Improve the values, and give up actions that are behind by more than chance."""
        count = len(self.found)
        means = (self.found.sum(axis=0) + self.belief * self.prior) / (count + self.belief)
        known = (self.found == self.found[0]).all(axis=0)  # to stop is worth the same in all worlds
        means[known] = self.found[0, known]
        self.values[self.slots] = means
        best = int(means.argmax())
        apart = self.found[:, best, None] - self.found
        kept = means[best] - means <= apart.std(axis=0) / count**0.5
        kept[best] = True
        # What is not tried any more stays below what is.
        others = np.setdiff1d(np.arange(len(self.values)), self.slots[kept])
        self.values[others] = np.minimum(self.values[others], means[kept].min() - TINY)
        self.slots, self.prior, self.found = self.slots[kept], self.prior[kept], self.found[:, kept]


def _try_in_worlds(
    network: KoiKoiNetwork,
    views: Array,
    seats: Array,
    streams: Array,
    choices: Array,
    turns: list[_Trial],
    worlds: int,
) -> None:
    """Try the actions of turns in so many worlds more."""
    places = np.array([turn.place for turn in turns])
    counts = np.array([len(turn.slots) for turn in turns])
    tokens = np.full((len(turns), int(counts.max())), -1)
    for row, turn in enumerate(turns):
        tokens[row, : counts[row]] = choices[turn.place, turn.slots]
    states = np.empty(int(counts.sum()) * worlds, dtype=views.dtype)
    asked = np.zeros((len(states), MOST_CHOICES), dtype=np.uint8)
    own = streams[places]
    start_paths(views[places], seats[places], own, tokens, worlds, states, asked)
    streams[places] = own
    found = _follow(network, states, np.repeat(seats[places], counts * worlds), asked)
    parts = np.split(found, np.cumsum(counts * worlds)[:-1])
    for turn, part in zip(turns, parts, strict=True):
        turn.found = np.concatenate([turn.found, part.reshape(worlds, -1)])


def _follow(network: KoiKoiNetwork, states: Array, seats: Array, choices: Array) -> Array:
    """Play paths on to the next discard of their seats; return what each is worth."""
    count = len(states)
    chances = network.chances if network.learned == "win" else np.zeros((0, 2, 1))
    turns = states["turn"].copy()
    waits, slots = np.full(count, AGAIN, dtype=np.uint8), np.zeros(count, dtype=np.int64)
    rows, values = np.zeros((count, WIDTH), dtype=np.uint8), np.zeros(count)
    going = np.arange(count)
    while len(going):
        advance(states, seats, turns, chances, waits, slots, rows, choices, values)
        going = going[waits[going] != ENDED]
        if len(going) == 0:
            break
        rated = network.rate(rows[going], choices[going])
        slots[going] = rated.argmax(axis=1)
        values[going] = rated.max(axis=1)
        going = going[waits[going] == ASKED]
    return values


@functools.cache
def _networks() -> KoiKoiNetwork:
    return koi_koi_win()


@dataclass(frozen=True)
class KoiKoiSearch:
    """Takes the action that is worth most in imagined worlds, by networks that learned to win."""

    worlds: int = 16
    most: int = 3
    folder: str = ""  # of other networks
    name: str = "koi_koi_search"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the best action."""
        return int(turn.legal[self._search(turn.view.array, np.array([turn.seat]), [rng]).argmax()])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the best action of every turn."""
        nth = self._search(turns.views, turns.seats, rngs).argmax(axis=1)
        places = np.cumsum(turns.mask, axis=1) - 1
        return (turns.mask & (places == nth[:, None])).argmax(axis=1)

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the expected return of every legal action."""
        found = self._search(turn.view.array, np.array([turn.seat]), [rng])
        return found[0, : len(turn.legal)].clip(-1.0, 1.0)

    def _search(self, views: Array, seats: Array, rngs: Sequence[np.random.Generator]) -> Array:
        network = KoiKoiNetwork(self.folder) if self.folder else _networks()
        if network.learned not in ("win", "point"):
            raise CardlabError(
                f"{network.folder} holds networks that learned no values; search with networks of "
                "koi_koi/monte_carlo"
            )
        streams = np.array([rng.integers(1, 1 << 63) for rng in rngs], dtype=np.int64)
        return search(network, views, seats, streams, worlds=self.worlds, most=self.most)
