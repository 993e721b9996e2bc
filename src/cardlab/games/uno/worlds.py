"""Worlds of Uno one after the other, and every action played out in each of them.

`imagine` of the game makes one world from nothing. Here the unseen cards stay in a bag, place by
place, and the next world is made from the last one: the places that are barred from something
exchange cards wherever that is allowed; all others are dealt again, in the stock only the cards
that a play-out may reach. Every such step can be undone with the same probability, so each world is
as likely as any other that agrees with what is known.

What is known is a step of a ladder:

SEAT    what the seat has seen
UNION   also which cards the other hands hold together, but not who holds which: what the network of
        the paper "Winning Uno With Reinforcement Learning" saw
HANDS   also who holds which, but not the order of the stock
ALL     everything
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.game import Array, record_type
from cardlab.engine.hidden_hands import make_bag_kernels, swap
from cardlab.engine.kernel import bit, int64, kernel
from cardlab.engine.playouts import Scratch
from cardlab.engine.seeding import below
from cardlab.games.uno.cards import DECK, KIND_END, TOTAL, add, count, remove
from cardlab.games.uno.hidden_hands import PILE, POOL, RETURNED, TRIES, attributes, fill_bag
from cardlab.games.uno.kernels import apply
from cardlab.games.uno.playouts import expect
from cardlab.games.uno.rules import GAME
from cardlab.search import monte_carlo

SEAT, UNION, HANDS, ALL = range(4)

DEPTH = 40  # cards of the stock that are dealt anew for every world
ROUNDS = 8  # sweeps of exchanges before the first world
BELIEF = 300  # worlds that what the policy's weights think of an action counts for
OPENINGS = 100  # attempts to fill the places for a first world,
PUSHES = 1000  # in which a card may be taken from a place so often

BAG = record_type(
    [
        ("bars", "i8", (DECK,)),  # what a place cannot hold
        ("card", "u1", (DECK,)),
        ("owner", "u1", (DECK,)),  # the seat of a place in a hand
        ("laid", "u1"),  # places before this one exchange cards,
        ("reach", "u1"),  # with all that lie before this one
        ("hands_from", "u1"),
        ("hands_end", "u1"),
        ("stock_from", "u1"),
        ("stock_to", "u1"),
    ]
)


@kernel
def place_bars(bag: Any, seat: int, place: int) -> int:
    """Return the bars of a place in the bag."""
    return bag.bars[place]


find_fitting, exchange = make_bag_kernels(attributes, place_bars)


@kernel
def set_stock_apart(s: Any) -> None:
    """Count the cards of the stock as seen, so that only those of the other hands are not."""
    for i in range(int64(s.stock_at), int64(s.stock_end)):
        kind = int64(s.stock[i])
        returned = count(s.cards[RETURNED], kind)
        if s.shuffled and returned and not s.loose & bit(kind):
            if s.stock_bar or count(s.cards[PILE], kind) + returned >= TOTAL[kind]:
                remove(s.cards[RETURNED], kind)
            else:  # nobody can say whether this one was shuffled in
                s.loose |= bit(kind)
        add(s.cards[PILE], kind)


@kernel
def mark_places(bag: Any, s: Any, seat: int, first: int, stock_bar: int, stock: int) -> None:
    """Note the places of the other hands, those barred from something first."""
    at = first
    for free in range(2):
        for other in range(int64(s.seats)):
            if other == seat:
                continue
            for group in range(int64(s.groups[other])):
                if (s.barred[other, group] == 0) != (free == 1):
                    continue
                for _ in range(int64(s.places[other, group])):
                    bag.bars[at] = s.barred[other, group]
                    bag.owner[at] = other
                    at += 1
        if free == 0:
            bag.laid = at
    bag.hands_from = first
    bag.hands_end = at
    bag.stock_from = 0 if first else at
    bag.stock_to = int64(bag.stock_from) + stock
    for i in range(int64(bag.stock_from), int64(bag.stock_to)):
        bag.bars[i] = stock_bar


@kernel
def open_bag(bag: Any, s: Any, seat: int, knows: int, rng: Any) -> bool:
    """Fill the bag with a first arrangement of what is unknown; `s`, a copy, is used up."""
    stock = int64(s.stock_end) - int64(s.stock_at)
    if knows == SEAT:
        first = stock if s.stock_bar else 0
        mark_places(bag, s, seat, first, s.stock_bar, stock)
        size = fill_bag(s, seat)
        for i in range(size):
            bag.card[i] = s.stock[i]
        if s.stock_bar:
            bag.laid = size
        bag.reach = size
    else:
        mark_places(bag, s, seat, 0, 0, stock)
        if knows == HANDS:
            bag.laid = bag.hands_end = bag.stock_from = 0
            bag.stock_to = stock
        bag.reach = bag.hands_end
        at = int64(bag.stock_from)
        for kind in range(KIND_END):  # sorted: the true order of the stock tells nothing
            for i in range(int64(s.stock_at), int64(s.stock_end)):
                if s.stock[i] == kind:
                    bag.card[at] = kind
                    at += 1
        if knows == UNION:
            set_stock_apart(s)
            size = fill_bag(s, seat)
            for i in range(size):
                bag.card[i] = s.stock[i]
    for _ in range(OPENINGS):
        if lay(bag, rng):
            deal_anew(bag, DECK, rng)
            for sweep in range(ROUNDS):
                stir(bag, sweep % 3 == 0, rng)
            return True
    return False


@kernel
def lay(bag: Any, rng: Any) -> bool:
    """Fill the barred places one by one, each with any card it may hold; False if that fails."""
    reach = int64(bag.reach)
    for place in range(int64(bag.laid)):
        found = find_fitting(bag.card, place, reach, bag.bars[place], TRIES, rng)
        if found >= 0:
            swap(bag.card, place, found)
        elif not push(bag, place, rng):
            return False
    return True


@kernel
def push(bag: Any, place: int, rng: Any) -> bool:
    """Fill a place that no card left seems to fit, if need be with the card of a place before it.

    That place is then filled in the same way, and so on: where hands are known to lack a lot and
    no stock is there to choose from, filling one place after the other hardly ever succeeds.
    """
    hole = place
    for _ in range(PUSHES):
        if not attributes(bag.card[hole]) & bag.bars[hole]:
            return True
        for i in range(place + 1, int64(bag.reach)):
            if not attributes(bag.card[i]) & bag.bars[hole]:
                swap(bag.card, hole, i)
                return True
        q = below(rng, place + 1)
        if not attributes(bag.card[q]) & bag.bars[hole]:
            swap(bag.card, hole, q)
            hole = q
    return False


@kernel
def stir(bag: Any, in_threes: bool, rng: Any) -> None:
    """Exchange cards wherever their places allow it."""
    exchange(bag, bag.card, 0, int64(bag.laid), int64(bag.reach), in_threes, rng)


@kernel
def deal_anew(bag: Any, depth: int, rng: Any) -> None:
    """Deal the free places of the hands again, and so many cards of the stock."""
    reach = int64(bag.reach)
    for i in range(int64(bag.laid), int64(bag.hands_end)):
        swap(bag.card, i, i + below(rng, reach - i))
    end = int64(bag.stock_to)
    for i in range(int64(bag.stock_from), min(end, int64(bag.stock_from) + depth)):
        swap(bag.card, i, i + below(rng, end - i))


@kernel
def lay_out(bag: Any, s: Any, seat: int) -> None:
    """Put the cards of the bag into the hands and the stock of a record."""
    if bag.hands_from < bag.hands_end:
        for other in range(int64(s.seats)):
            if other != seat:
                s.cards[other, 0] = 0
                s.cards[other, 1] = 0
    for i in range(int64(bag.hands_from), int64(bag.hands_end)):
        add(s.cards[bag.owner[i]], int64(bag.card[i]) & (POOL - 1))
    shift = int64(s.stock_at) - int64(bag.stock_from)
    for i in range(int64(bag.stock_from), int64(bag.stock_to)):
        s.stock[i + shift] = int64(bag.card[i]) & (POOL - 1)


PlayOut = Callable[[Any, int, Any, Any, Any], float]  # record, seat, scratch and stream -> worth


@functools.cache
def make_evaluation(play_out: PlayOut) -> Callable[..., bool]:
    """Return the compiled evaluation with one kind of play-outs."""

    @kernel
    def evaluate_actions(
        decision: Any, worlds: int, sums: Any, bags: Any, scratch: Any, rng: Any
    ) -> bool:
        known, seat, actions, knows = decision
        work, order, buffer = scratch
        bag = bags[0]
        work[1] = known[0]
        if knows != ALL:
            work[0] = known[0]
            if not open_bag(bag, work[0], seat, knows, rng):
                return False
        for world in range(worlds):
            if knows != ALL:
                stir(bag, world % 3 == 0, rng)
                deal_anew(bag, DEPTH, rng)
                lay_out(bag, work[1], seat)
            for i in range(len(actions)):
                work[0] = work[1]
                apply(work[0], int64(actions[i]))
                sums[i] += play_out(work[0], seat, order, buffer, rng)
        return True

    return evaluate_actions


class Decision(NamedTuple):
    """What is searched: actions of a seat, and what is known of the game there."""

    known: Array  # the record of a view or, for more than the SEAT knows, of a state
    seat: int
    actions: Array
    knows: int = SEAT


class Evaluation(NamedTuple):
    """What a search found: for every action the worlds it was tried in and its mean worth there.

    The score is the mean with the opinion that was held of the action before; the best score of the
    actions tried most is the choice.
    """

    tried: Array
    means: Array
    scores: Array

    @property
    def best(self) -> int:
        """The place of the best action."""
        return int(np.lexsort((self.scores, self.tried))[-1])


def one_win(s: Any) -> float:
    """Return by how much a win is worth more than a loss."""
    whole = float(s.seats) / (float(s.seats) - 1)
    return whole / 5 if s.target else whole  # a round brings about a fifth of the target


def evaluate(
    decision: Decision,
    playouts: int,
    rng: np.random.Generator,
    play_out: PlayOut,
    *,
    opinion: Array | None = None,
    belief: int = BELIEF,
    threads: int = 1,
) -> Evaluation:
    """Return what a search by so many play-outs finds about actions.

    An opinion of what the actions are worth counts for `belief` worlds; without one, what the
    policy's weights think.
    """
    run = make_evaluation(play_out)
    known, seat, actions, _ = decision

    def play_block(chosen: Array, worlds: int, start: int) -> Array | None:
        out = np.zeros(len(chosen))
        bags = np.zeros(1, dtype=BAG)
        stream = np.array([start], dtype=np.int64)
        asked = decision._replace(actions=actions[chosen])
        sound = run(asked, worlds, out, bags, Scratch.of(GAME, rows=2), stream)
        return out if sound else None

    worlds = max(1, playouts // len(actions))
    if opinion is None:
        opinion = np.zeros(len(actions))
        expect(known, seat, actions, opinion)
        opinion *= one_win(known[0]) / 100
    ahead = belief * (opinion - opinion.max())
    found = monte_carlo.spend(
        len(actions), worlds, rng, play_block, halving=True, threads=threads, ahead=ahead
    )
    if found is None:
        raise monte_carlo.no_world(GAME, seat)
    tried, sums = found
    return Evaluation(tried, sums / tried, (sums + ahead) / tried)
