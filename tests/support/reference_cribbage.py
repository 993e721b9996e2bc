"""Cribbage, written slowly and plainly: the oracle for testing a fast implementation.

Cards are ``4 * rank + suit`` (rank 0 is the ace, 12 the king). Actions 0..51 play a card; the
others discard the pairs of ``PAIRS``, in that order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, combinations

PAIRS = list(combinations(range(52), 2))
PAIR_ACTIONS = {pair: 52 + place for place, pair in enumerate(PAIRS)}
JACK = 10


def value(card: int) -> int:
    """Return what a card adds to a count."""
    return min(card // 4 + 1, 10)


def is_run(cards: Sequence[int]) -> bool:
    """Tell whether cards are three or more of consecutive ranks, in any order."""
    ranks = sorted(card // 4 for card in cards)
    return len(ranks) >= 3 and ranks == list(range(ranks[0], ranks[0] + len(ranks)))


def show_points(four: Iterable[int], cut: int, *, crib: bool) -> int:
    """Return the points of a hand or crib with the cut card."""
    four = list(four)
    five = [*four, cut]
    subsets = list(chain.from_iterable(combinations(five, size) for size in range(2, 6)))
    points = 2 * sum(sum(map(value, some)) == 15 for some in subsets)
    points += 2 * sum(len(some) == 2 and some[0] // 4 == some[1] // 4 for some in subsets)
    runs = [len(some) for some in subsets if is_run(some)]
    if runs:
        points += max(runs) * runs.count(max(runs))
    if len({card % 4 for card in five}) == 1:
        points += 5
    elif len({card % 4 for card in four}) == 1 and not crib:
        points += 4
    return points + any(card // 4 == JACK and card % 4 == cut % 4 for card in four)


def play_points(pile: Sequence[int]) -> int:
    """Return what the last card of a count scores."""
    total = sum(map(value, pile))
    points = 2 * (total == 15) + 2 * (total == 31)
    for size in (4, 3, 2):
        if len(pile) >= size and len({card // 4 for card in pile[-size:]}) == 1:
            return points + size * (size - 1)
    for size in range(len(pile), 2, -1):
        if is_run(pile[-size:]):
            return points + size
    return points


class Won(Exception):
    """Somebody has reached the target."""


class ReferenceGame:
    """One game, from the cut on; every attribute is public and may be inspected."""

    def __init__(self, orders: Iterable[Sequence[int]], *, target: int = 121) -> None:
        """Cut and deal; every later deal takes the next of ``orders``."""
        self.orders = iter(orders)
        self.target = target
        self.scores = [0, 0]
        self.winner: int | None = None
        order = next(self.orders)
        while all(order[2 * i] // 4 == order[2 * i + 1] // 4 for i in range(6)):
            order = next(self.orders)
        pairs = [order[i : i + 2] for i in range(0, 12, 2)]
        zero, one = next(pair for pair in pairs if pair[0] // 4 != pair[1] // 4)
        self.dealer = 0 if zero // 4 < one // 4 else 1
        self.deal()

    def deal(self) -> None:
        """Deal six cards each, one at a time, to the pone first."""
        deck = list(next(self.orders))
        self.pone = 1 - self.dealer
        self.hands: list[list[int]] = [[], []]
        for _ in range(6):
            self.hands[self.pone].append(deck.pop(0))
            self.hands[self.dealer].append(deck.pop(0))
        self.starter = deck.pop(0)
        self.turned = False
        self.crib: list[int] = []
        self.kept: list[list[int]] = [[], []]
        self.pile: list[int] = []
        self.go = [False, False]
        self.said: list[tuple[int, int]] = []  # seat and count at every go of this deal
        self.last = self.pone
        self.seat = self.pone

    def can_play(self, seat: int) -> list[int]:
        """Return the cards that a seat could play now."""
        total = sum(map(value, self.pile))
        return [card for card in self.hands[seat] if total + value(card) <= 31]

    def legal(self) -> list[int]:
        """Return the legal actions in ascending order; none when the game is over."""
        if self.winner is not None:
            return []
        if self.turned:
            return sorted(self.can_play(self.seat))
        return sorted(PAIR_ACTIONS[pair] for pair in combinations(sorted(self.hand), 2))

    @property
    def hand(self) -> list[int]:
        """The cards of the seat to move."""
        return self.hands[self.seat]

    def apply(self, action: int) -> None:
        """Take a legal action for the seat to move."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal here")
        try:
            if action >= 52:
                self.lay_away(PAIRS[action - 52])
            else:
                self.play(action)
        except Won:
            pass

    def score(self, seat: int, points: int) -> None:
        """Move a peg; the first to reach the target has won at that moment."""
        self.scores[seat] = min(self.scores[seat] + points, self.target)
        if self.scores[seat] == self.target:
            self.winner = seat
            raise Won

    def lay_away(self, pair: tuple[int, int]) -> None:
        """Put two cards into the crib; then the other seat, or the play."""
        for card in pair:
            self.hand.remove(card)
            self.crib.append(card)
        self.kept[self.seat] = list(self.hand)
        if self.seat == self.pone:
            self.seat = self.dealer
            return
        self.turned = True
        self.seat = self.pone
        if self.starter // 4 == JACK:
            self.score(self.dealer, 2)

    def play(self, card: int) -> None:
        """Play a card, then go round the table until somebody has to decide something."""
        self.hand.remove(card)
        self.pile.append(card)
        self.last = self.seat
        self.score(self.seat, play_points(self.pile))
        if sum(map(value, self.pile)) == 31:
            self.start_count()
        while True:
            if not self.hands[0] and not self.hands[1]:
                if self.pile:
                    self.score(self.last, 1)
                self.show()
                return
            self.seat = 1 - self.seat
            if self.can_play(self.seat):
                return
            if self.hand and not self.go[self.seat]:
                self.said.append((self.seat, sum(map(value, self.pile))))
            self.go[self.seat] = True
            if all(self.go):
                self.score(self.last, 1)
                self.start_count()

    def start_count(self) -> None:
        """Start the count anew: the seat that did not play the last card is next."""
        self.pile = []
        self.go = [False, False]
        self.seat = self.last

    def show(self) -> None:
        """Count both hands and the crib, and deal again."""
        self.score(self.pone, show_points(self.kept[self.pone], self.starter, crib=False))
        self.score(self.dealer, show_points(self.kept[self.dealer], self.starter, crib=False))
        self.score(self.dealer, show_points(self.crib, self.starter, crib=True))
        self.dealer = self.pone
        self.deal()

    def returns(self) -> list[float]:
        """Return +1 for the winner and -1 for the loser."""
        return [1.0 if seat == self.winner else -1.0 for seat in range(2)]
