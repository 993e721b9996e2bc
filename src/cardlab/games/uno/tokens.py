"""What a card transformer sees of Uno: the bytes of the encoding `fair`, as features of tokens.

Tokens: the 60 cards that can be laid, 15 x colour + trait, wilds once for each colour that they
can call, and one for drawing; as for other networks of Uno, keeping a drawn card shares the token
of drawing, and naming the colour of a start wild those of wilds. A row is the encoding `fair` of
`features`, so that a transformer and `uno_net` know the same; `networks.token_networks` expands
it to features, which `FEATURES` lists.

Colours are exchangeable: `symmetries` tells how a row changes with each of their 24 orders.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from cardlab.engine.game import Array
from cardlab.engine.kernel import kernel
from cardlab.engine.token_blocks import number_blocks
from cardlab.games.uno.cards import ACTIONS, DRAW
from cardlab.games.uno.features import (
    BY_COLOUR,
    COLOUR_ROWS,
    FAIR_SIZE,
    NUM_OUTPUTS,
    OTHERS,
    SEAT_SIZE,
    SEATS,
    VERSION,
    action_of,
    encode_fair,
    output_of,
    outputs_of,
)
from cardlab.games.uno.kernels import legal

ENCODING = 100 + VERSION  # raised whenever a feature changes its meaning
WIDTH = FAIR_SIZE
TOKENS = NUM_OUTPUTS
MOST_CHOICES = 13 + 3 + 4 + 1  # of the colour, of the trait, colours for a wild, draw

SEEN = "places of the next hand, of the hand before mine"
FEATURES, TOKEN_FEATURES, SHARED_FEATURES = number_blocks(
    (
        (2, "mine", "I hold at least one, two"),
        (2, "unseen", "at least one, two of it are unseen"),
        (1, "target", "the top card has its trait, in the colour in force"),
        (1, "legal", "it can be laid now"),
        (2, "held", f"{SEEN} that may hold it; / 7"),
        (OTHERS, "lacking", "places of each other hand that lack its colour; / 7"),
        (1, "mine of colour", "my cards of its colour / 7"),
        (1, "unseen of colour", "unseen cards of its colour / 25"),
        (1, "in force", "its colour is in force"),
        (1, "mine of trait", "my cards of its trait / 4"),
        (1, "unseen of trait", "unseen cards of its trait / 8"),
        (4, "colour", "red, green, blue, yellow"),
        (ACTIONS, "trait", "0 to 9, skip, reverse, draw two, wild, wild draw four"),
        (1, "draw", "the token is drawing"),
    ),
    (
        (4 * COLOUR_ROWS, "colours", "of `fair`, numbers 480 to 527, scaled as for tokens"),
        (SEAT_SIZE * OTHERS, "seats", "of `fair`, numbers 528 to 581; cards and places / 7"),
        (20, "table", "of `fair`, numbers 582 to 601, scaled to about 1"),
        (OTHERS, "how many", "there are 2, 3, ... 10 seats"),
        (ACTIONS, "top", "trait of the top card"),
    ),
)
assert DRAW == TOKENS - 1


@kernel
def token_of_action(action: int) -> int:
    """Return the token that stands for an action."""
    return output_of(action)


@kernel
def action_of_token(s: Any, token: int) -> int:
    """Return the action that a token means for the seat to move."""
    return action_of(s, token)


@kernel
def write_choices(s: Any, seat: int, out: Any) -> int:
    """Write the tokens that can be chosen, the first repeated to the end; return their number."""
    count = legal(s, out)
    for i in range(count):
        out[i] = output_of(out[i])
    for i in range(count, MOST_CHOICES):
        out[i] = out[0]
    return count


@kernel
def write_view(s: Any, seat: int, out: Any) -> None:
    """Write the row of the decision that `seat` is to take."""
    # Kernels allocate nothing: legal actions lie at the beginning of the row for a moment.
    count = legal(s, out)
    encode_fair(s, seat, outputs_of(out, count), out)


def symmetries() -> tuple[Array, Array]:
    """Return for each order of the colours where the bytes of its row come from, and its tokens."""
    orders = np.array(list(permutations(range(4))))  # colour k becomes colour orders[which, k]
    sources = np.tile(np.arange(WIDTH), (len(orders), 1))
    moves = np.tile(np.arange(TOKENS), (len(orders), 1))
    planes, table = np.arange(BY_COLOUR), np.arange(BY_COLOUR, SEATS)
    for source, move, order in zip(sources, moves, orders, strict=True):
        colour = planes // ACTIONS % 4
        source[planes + ACTIONS * (order[colour] - colour)] = planes
        source[table + order[table % 4] - table % 4] = table
        move[:DRAW] = (planes + ACTIONS * (order[colour] - colour))[:DRAW]
    return sources, moves
