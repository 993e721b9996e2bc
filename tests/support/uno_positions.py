"""Positions of Uno in which a seat does not see a few cards, and every way to lay them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from cardlab.engine.game import State, View
from cardlab.games.uno import cards as uno_cards
from cardlab.games.uno import hidden_hands as uno_knowledge
from cardlab.games.uno import kernels as uno_rules
from cardlab.games.uno.rules import GAME


def kind(name: str) -> int:
    return int(uno_cards.KIND[uno_cards.parse_card(name)])


def kind_set(names: str) -> int:
    """Return kinds as a mask; `R*` means every card of the colour."""
    mask = 0
    for name in names.split():
        colour = uno_cards.COLOURS.find(name[0])
        mask |= uno_cards.ONE_COLOUR << (15 * colour) if name[1:] == "*" else 1 << kind(name)
    return mask


OUT, IN = uno_knowledge.KEPT_OUT, uno_knowledge.SHUFFLED_IN


Group = tuple[int, int]


def position(
    hidden: str,
    groups: Sequence[Sequence[Group]],
    *,
    own: str = "R1 R2",
    own_groups: Sequence[Group] = ((2, 0),),
    shuffled_in: str = "",
    loose: str = "",
    stock_bar: int = 0,
    drawn: bool = False,
    **options: Any,
) -> View:
    """Return the view of seat 0 in a made-up position in which only a few cards are unseen.

    `groups` are those of the other seats as (places, barred); the stock is what else is hidden.
    """
    state = GAME.start({"seats": len(groups) + 1, **options})
    s = state.array[0]
    left = Counter(uno_cards.card_text(card) for card in range(108))
    left -= Counter(hidden.split()) + Counter(own.split())
    for row, names in ((0, own.split()), (uno_knowledge.PILE, left.elements())):
        for name in names:
            uno_cards.add(s.cards[row], kind(name))
    for name in shuffled_in.split():
        uno_cards.add(s.cards[uno_knowledge.RETURNED], kind(name))
    for seat, listed in enumerate([own_groups, *groups]):
        s.groups[seat] = len(listed)
        s.sizes[seat] = sum(places for places, _ in listed)
        for i, (places, barred) in enumerate(listed):
            s.places[seat, i], s.barred[seat, i] = places, barred
    s.shuffled = bool(shuffled_in)
    s.loose, s.stock_bar = kind_set(loose), stock_bar
    s.stock_end = len(hidden.split()) - sum(s.sizes[1 : len(groups) + 1].tolist())
    s.phase, s.seat = (uno_rules.DRAWN, 1) if drawn else (uno_rules.PLAY, 0)
    uno_rules.set_top(s, kind("B9"), 2)
    return state.view(0)


def unseen_cards(view: View) -> list[tuple[int, int]]:
    """Return the unseen cards as (kind, bars that keep it away)."""
    found = []
    pile, own = view.cards[uno_knowledge.PILE], view.cards[view.own_seat]
    own_places = [int(view.barred[view.own_seat, g]) for g in range(view.groups[view.own_seat])]
    for one in sorted(set(uno_cards.KIND.tolist())):
        left = int(uno_cards.TOTAL[one]) - int(uno_cards.count(pile, one))
        mine = int(uno_cards.count(own, one))
        inside = int(uno_cards.count(view.cards[uno_knowledge.RETURNED], one))
        pools = [IN] * inside + [OUT] * (left - inside)
        if not view.shuffled or int(view.loose) >> one & 1:
            pools = [0] * left
        if mine and len(set(pools)) > 1:
            if all(barred & IN for barred in own_places):
                pools = [IN] * inside + [OUT] * (left - inside - mine)
            else:
                pools = [0] * (left - mine)
        found += [(one, pool) for pool in pools[: left - mine]]
    return found


def ways_to_lay(view: View) -> list[bytes]:
    """Return the state for every way to lay the unseen cards on hidden places and the stock."""
    places = [(other, int(view.barred[other, group]))
              for other in range(view.seats) if other != view.own_seat
              for group in range(view.groups[other])
              for _ in range(view.places[other, group])]  # fmt: skip
    stock = int(view.stock_end) - int(view.stock_at)
    places += [(-1, int(view.stock_bar))] * stock
    ways = []
    for cards in itertools.permutations(unseen_cards(view)):
        if any(
            barred & (pool | 1 << one)
            for (one, pool), (_, barred) in zip(cards, places, strict=True)
        ):
            continue
        state = State(GAME, view.array.copy())
        at = int(view.stock_at)
        for (one, _), (other, _) in zip(cards, places, strict=True):
            if other >= 0:
                uno_cards.add(state.cards[other], one)
                if view.phase == uno_rules.DRAWN and other == view.seat:
                    state.array["drawn"] = one
            else:
                state.stock[at] = one
                at += 1
        if view.phase != uno_rules.DRAWN or view.keep_drawn or len(state.legal()):
            ways.append(state.array.tobytes())
    return ways


SMALL = {
    "one hand": position("G1 G2 B1 B1 W Y3", [[(1, kind_set("G* W")), (2, kind_set("G*"))]]),
    "two copies": position("G1 G1 B1 B1 W W", [[(2, kind_set("G*")), (1, 0)]]),
    "two hands": position(
        "G1 G2 B1 B2 Y1 W", [[(2, kind_set("G*"))], [(1, kind_set("G* B*")), (1, kind_set("Y1"))]]
    ),
    "three hands, no stock": position(
        "G1 G1 B1 B2 Y1 W",
        [[(2, kind_set("G*"))], [(2, kind_set("B1 Y*"))], [(1, kind_set("W")), (1, 0)]],
    ),
    "official reshuffle": position(
        "G1 G1 B1 B2 Y1 Y2", [[(2, IN), (1, OUT)]], shuffled_in="G1 Y1 Y2 B2", stock_bar=OUT
    ),
    "with a kind that is loose": position(
        "G1 B1 B2 Y1 Y2 R7",
        [[(2, IN), (1, OUT)]],
        shuffled_in="Y1 Y2 B2",
        loose="G1",
        stock_bar=OUT,
    ),
    "and a joined group": position(
        "G1 B1 B2 Y1 Y2 R7",
        [[(2, 0), (1, OUT)], [(1, IN | kind_set("B*"))]],
        shuffled_in="Y1 Y2 B2",
        stock_bar=OUT,
    ),
    "own copy shuffled in or not": position(
        "R1 B1 B2 Y1 Y2",
        [[(2, IN), (1, OUT)]],
        own_groups=[(1, IN), (1, OUT)],
        shuffled_in="R1 Y1 Y2 B2",
        stock_bar=OUT,
    ),
    "own copy kept out": position(
        "R1 B1 B2 Y1 Y2",
        [[(2, IN), (1, OUT)]],
        own_groups=[(2, IN)],
        shuffled_in="R1 Y1 B2",
        stock_bar=OUT,
    ),
    "reshuffle by RLCard": position(
        "G1 G1 B1 B2 Y1 Y2",
        [[(2, IN | kind_set("B*")), (1, kind_set("G*"))]],
        shuffled_in="G1 Y1",
        rules="rlcard",
    ),
    "just drawn": position("G1 G2 B1 B2 Y1 W", [[(2, kind_set("B* W")), (1, 0)]], drawn=True),
    "just drawn and to be played": position(
        "G1 B1 B2 Y1 W+4 W",
        [[(2, 0), (1, uno_rules.ALL_KINDS & ~kind_set("B* W W+4"))]],
        drawn=True,
        keep_drawn=False,
        voluntary_draw=True,
    ),
}
