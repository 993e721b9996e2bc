"""Crazy Eights, written slowly and plainly: the oracle for testing a fast implementation.

Cards are ``4 * rank + suit`` (rank 0 is the ace, 12 the king; suits in the order of ``SUITS``).
Actions 0..47 play a card other than an eight, 48..63 play an eight and declare a suit, 64 passes
and 65 draws a card (only with ``optional_draw``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SUITS = "CDHS"
EIGHT = 7  # the rank of an eight, as the ace has rank 0
PASS = 64
DRAW = 65
MAX_PLIES = 1000

# PLAYS[action] is (card played, suit in force afterwards), for the actions 0..63.
PLAYS: list[tuple[int, int]] = [(card, card % 4) for card in range(52) if card // 4 != EIGHT]
PLAYS += [(4 * EIGHT + suit, declared) for suit in range(4) for declared in range(4)]


def card_points(card: int) -> int:
    """Return what a card left in a hand is worth to the winner."""
    rank = card // 4
    if rank == EIGHT:
        return 50
    return min(rank + 1, 10)  # the ace counts 1; jack, queen and king count 10


class ReferenceGame:
    """One game, from the deal on; every attribute is public and may be inspected.

    Once the game is over ``seat`` stays with the seat that acted or drew last.
    """

    def __init__(
        self,
        order: Sequence[int],
        *,
        seats: int = 2,
        hand_size: int = 5,
        reshuffle: bool = False,
        optional_draw: bool = False,
        reshuffle_orders: Iterable[Sequence[int]] = (),
    ) -> None:
        """Deal the permutation ``order`` one card at a time, then turn the start card."""
        if sorted(order) != list(range(52)):
            raise ValueError("order must be a permutation of range(52)")
        if not 2 <= seats <= 4:
            raise ValueError("seats must be 2, 3 or 4")
        if not 1 <= hand_size <= 51 // seats:
            raise ValueError("hand_size must leave a start card and be at least 1")
        self.seats = seats
        self.reshuffle = reshuffle
        self.optional_draw = optional_draw
        self._reshuffle_orders = iter(reshuffle_orders)

        deck = list(order)
        self.hands: list[set[int]] = [set() for _ in range(seats)]
        for _ in range(hand_size):
            for hand in self.hands:
                hand.add(deck.pop(0))
        self.top = deck.pop(0)
        self.suit = self.top % 4  # also when the start card is an eight
        self.discards = {self.top}
        self.stock = deck

        self.seat = 0
        self.over = False
        self.winner: int | None = None
        self.plies = 0
        self.passes_in_a_row = 0
        self._begin_turn()

    def playable(self, card: int) -> bool:
        """Tell whether a card may be laid on the top card now."""
        return card // 4 == EIGHT or card // 4 == self.top // 4 or card % 4 == self.suit

    def legal(self) -> list[int]:
        """Return the legal actions in ascending order; none when the game is over."""
        if self.over:
            return []
        hand = self.hands[self.seat]
        actions = [
            action for action, (card, _) in enumerate(PLAYS) if card in hand and self.playable(card)
        ]
        if self.optional_draw and self.stock:
            actions.append(DRAW)
        if not actions:  # nothing to play and nothing to draw from
            actions.append(PASS)
        return actions

    def apply(self, action: int) -> None:
        """Take a legal action for the seat to move."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal here")
        self.plies += 1
        if action == DRAW:
            self._draw_one()
        elif action == PASS:
            self.passes_in_a_row += 1
            if self.passes_in_a_row == self.seats:
                self.over = True
        else:
            self._play(action)

        if self.plies == MAX_PLIES:
            self.over = True  # a tie, unless this very action has won
        if self.over or action == DRAW:
            return
        self.seat = (self.seat + 1) % self.seats
        self._begin_turn()

    def points(self) -> list[float]:
        """Return the points of each seat: the winner scores all other hands."""
        points = [0.0] * self.seats
        if self.winner is not None:
            # The winner's own hand is empty, so that all hands are the other hands.
            points[self.winner] = float(sum(card_points(c) for hand in self.hands for c in hand))
        return points

    def returns(self) -> list[float]:
        """Return +1 for the winner and -1 shared among the others, or all 0."""
        if self.winner is None:
            return [0.0] * self.seats
        return [
            1.0 if seat == self.winner else -1.0 / (self.seats - 1) for seat in range(self.seats)
        ]

    def _play(self, action: int) -> None:
        card, suit = PLAYS[action]
        self.hands[self.seat].remove(card)
        self.discards.add(card)
        self.top = card
        self.suit = suit
        self.passes_in_a_row = 0
        if not self.hands[self.seat]:
            self.over = True
            self.winner = self.seat

    def _begin_turn(self) -> None:
        """Let the seat to move draw until it can play, where drawing is forced."""
        if self.optional_draw:
            return
        hand = self.hands[self.seat]
        while not self.over and self.stock and not any(self.playable(card) for card in hand):
            self._draw_one()

    def _draw_one(self) -> None:
        """Draw one card; if it was the last one, reshuffle, tie or go on without a stock."""
        self.hands[self.seat].add(self.stock.pop(0))
        if self.stock:
            return
        if self.reshuffle and len(self.discards) > 1:
            order = next(self._reshuffle_orders, None)
            if order is None:
                raise ValueError("reshuffle_orders has run out")
            self.stock = [card for card in order if card in self.discards and card != self.top]
            self.discards = {self.top}
        elif all(len(hand) > 1 for hand in self.hands):
            self.over = True
