"""Agents that follow a few sensible rules: one kernel per game, over a view."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardlab.errors import CardlabError
from cardlab.game import Array, Game, Turn, Turns
from cardlab.games.crazy_eights import DRAW, EIGHT_ACTIONS, FIRST_EIGHT, ONE_RANK, ONE_SUIT, PASS
from cardlab.games.crazy_eights import GAME as CRAZY_EIGHTS
from cardlab.games.crazy_eights import hand_value as crazy_eights_value
from cardlab.kernel import bit, count_bits, kernel

__all__ = ["CHOICES", "Heuristic"]


@kernel
def choose_crazy_eights(s: Any, seat: int, actions: Any, count: int) -> int:
    """Keep eights for need; lead towards cards of one's own, costly ones first.

    A card scores by how many cards in hand could follow it, then by its value. An eight is played
    when nothing else fits or it is the last card, for the suit held most.
    """
    best = -1
    choice = np.int64(actions[0])
    hand = s.hands[seat]
    for i in range(count):
        action = np.int64(actions[i])
        if action == PASS:
            return action
        if action == DRAW:
            score = 0
        elif action < EIGHT_ACTIONS:
            card = action if action < FIRST_EIGHT else action + 4
            rest = hand & ~bit(card)
            followers = (ONE_SUIT << (card & 3)) | (ONE_RANK << (card & ~3))
            score = 1000 + 100 * count_bits(rest & followers) + crazy_eights_value(bit(card))
        else:
            rest = hand & ~(np.int64(ONE_RANK) << FIRST_EIGHT)
            score = 1 + count_bits(rest & (ONE_SUIT << (action & 3)))
        if score > best:
            best = score
            choice = action
    return choice


CHOICES: dict[str, Callable[[Any, int, Any, int], int]] = {
    CRAZY_EIGHTS.name: choose_crazy_eights,
}


class Heuristic:
    """Follows a few sensible rules of the game."""

    name = "heuristic"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action that the rules of thumb prefer."""
        return int(_make(turn.game)[0](turn.view.array, 0, turn.seat, turn.legal))

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the preferred action of every turn."""
        out = np.empty(len(turns), dtype=np.int64)
        buffer = np.empty(turns.game.num_actions, dtype=np.int16)
        _make(turns.game)[1](turns.views, turns.seats, turns.mask, buffer, out)
        return out


@functools.cache
def _make(game: Game) -> tuple[Callable[..., int], Callable[..., None]]:
    if game.name not in CHOICES:
        raise CardlabError(f"heuristic knows no rules of thumb for {game.name}")
    choose = CHOICES[game.name]

    @kernel
    def choose_at(views: Any, row: int, seat: int, actions: Any) -> int:
        return choose(views[row], seat, actions, len(actions))

    @kernel
    def choose_all(views: Any, seats: Any, mask: Any, buffer: Any, out: Any) -> None:
        for row in range(len(views)):
            count = 0
            for action in range(mask.shape[1]):
                if mask[row, action]:
                    buffer[count] = action
                    count += 1
            out[row] = choose(views[row], seats[row], buffer, count)

    return choose_at, choose_all
