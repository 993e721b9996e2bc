"""Search in Koi-Koi: the values of networks are corrected by play-outs in sampled worlds.

The value of a network is an estimate, learned from many rounds. The search examines the present
round: it samples some hundred worlds that agree with what the seat has seen and in which the other
seat would have made its discards (`playouts`), takes each of the best actions, and plays the round
to its end in microseconds. The value of the end of a round is known: the chance
to win the game by points, dealer and rounds left. The same worlds serve every action. Play-outs
choose worse than the network but know the cards; `TRUST` is their weight in the mean with it.

`koi_koi_hand_open` sees the other hand, but not the stock, and searches in the same way: what a
perfect guess at that hand would be worth to this search.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, State, Turn, Turns, nth_legal
from cardlab.engine.kernel import int64, kernel
from cardlab.games.koi_koi.agents.linear import shipped_weights
from cardlab.games.koi_koi.agents.network import KoiKoiNetwork, koi_koi_win
from cardlab.games.koi_koi.playouts import Model, Scratch, try_actions
from cardlab.games.koi_koi.tokens import MOST_CHOICES, STOP_TOKEN, action_of_token

MARGIN = 0.06  # of a return from -1 to 1: what the network holds to be worse by more is not tried
EVERY_ACTION = 2.0
TRUST = 0.8
TINY = 1e-9


@kernel
def try_all(
    views: Any,
    seats: Any,
    tokens: Any,
    worlds: int,
    model: Any,
    scratch: Any,
    streams: Any,
    out: Any,
) -> None:
    """Write what the tokens of every view are worth in worlds; -1 ends them."""
    for row in range(len(views)):
        count = 0
        while count < tokens.shape[1] and tokens[row, count] >= 0:
            scratch.actions[count] = action_of_token(views[row], int64(tokens[row, count]))
            count += 1
        if count > 1:  # else nothing is to be decided
            view, stream = views[row : row + 1], streams[row : row + 1]
            actions = scratch.actions[:count]
            try_actions(view, int64(seats[row]), actions, worlds, model, scratch, stream, out[row])


def search(
    network: KoiKoiNetwork,
    views: Array,
    seats: Array,
    streams: Array,
    *,
    worlds: int,
    hands: int,
    most: int,
    margin: float = MARGIN,
) -> Array:
    """Return what the choices of every view are worth, -inf where they are none.

    With no `hands` to sample the other hand is taken as it is: those are states, not views.
    """
    choices, ratings = network.rate_views(views, seats)
    rated = ratings.astype(np.float64)
    best = np.argsort(-rated, axis=1, kind="stable")[:, :most]
    first = np.take_along_axis(rated, best, axis=1)
    close = first >= first[:, :1] - margin
    tokens = np.where(close, np.take_along_axis(choices, best, axis=1).astype(np.int64), -1)
    tried = close.sum(axis=1)
    found = np.zeros(first.shape)
    chances = network.chances if network.learned == "win" else np.zeros((0, 2, 1))
    model = Model(shipped_weights(), chances)
    try_all(views, seats, tokens, worlds, model, Scratch.new(hands), streams, found)
    for row in np.flatnonzero(tried > 1):
        slots, values = best[row, : tried[row]], found[row, : tried[row]]
        known = tokens[row, : tried[row]] == STOP_TOKEN  # what a stop wins, play-outs know exactly
        rated[row, slots] += np.where(known, 1.0, TRUST) * (values - rated[row, slots])
        # What was not tried stays below what was.
        others = np.setdiff1d(np.arange(rated.shape[1]), slots)
        rated[row, others] = np.minimum(rated[row, others], rated[row, slots].min() - TINY)
    return rated


@functools.cache
def _networks() -> KoiKoiNetwork:
    return koi_koi_win()


@dataclass(frozen=True)
class KoiKoiSearch:
    """Takes the action that is worth most to networks that learned to win, and to play-outs."""

    worlds: int = 400
    hands: int = 1000
    most: int = 4
    folder: str = ""  # of other networks
    name: str = "koi_koi_search"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the best action."""
        return int(turn.legal[self._search(turn.view.array, np.array([turn.seat]), [rng]).argmax()])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the best action of every turn."""
        nth = self._search(turns.views, turns.seats, rngs).argmax(axis=1)
        return nth_legal(turns.mask, nth)

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
        if min(self.worlds, self.hands) < 1:
            raise CardlabError(
                f"koi_koi_search with worlds={self.worlds} and hands={self.hands} has nothing to "
                "look at; give 1 or more of both"
            )
        streams = np.array([rng.integers(1, 1 << 63) for rng in rngs], dtype=np.int64)
        return search(
            network, views, seats, streams, worlds=self.worlds, hands=self.hands, most=self.most
        )


@dataclass(frozen=True)
class KoiKoiHandOpen:
    """Searches every action in the same way, but sees the other hand; the stock is sampled."""

    worlds: int = 400
    name: str = "koi_koi_hand_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action that is worth most with both hands known."""
        streams = np.array([rng.integers(1, 1 << 63)], dtype=np.int64)
        found = search(
            _networks(),
            state.array,
            np.array([state.mover]),
            streams,
            worlds=self.worlds,
            hands=0,
            most=MOST_CHOICES,
            margin=EVERY_ACTION,
        )
        return int(state.legal()[found.argmax()])
