"""Uno, written slowly and plainly: the oracle for testing a fast implementation.

Cards are the ids 0..107; `FACES[card]` is (colour, trait) with colours 0..3 (None for wilds) and
traits 0..12 (numbers, skip, reverse, draw two), 13 (wild), 14 (wild draw four). Actions: 15 *
colour + trait plays a card (for wilds the colour called), 60 draws, 61 keeps, 62 + colour names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from cardlab.engine.seeding import branch

SKIP, REVERSE, DRAW_TWO, WILD, FOUR = 10, 11, 12, 13, 14
DRAW, KEEP, NAME = 60, 61, 62

FACES: list[tuple[int | None, int]] = [(c, t) for c in range(4) for t in range(13)]
FACES += [(c, t) for c in range(4) for t in range(1, 13)]
FACES += [(None, WILD)] * 4 + [(None, FOUR)] * 4


def card_points(card: int) -> int:
    """Return what a card left in a hand is worth to the winner."""
    colour, trait = FACES[card]
    if colour is None:
        return 50
    return 20 if trait >= SKIP else trait


def number(face: tuple[int | None, int]) -> int:
    """Return a face as one number: 15 * colour + trait, wilds 13 and 14."""
    colour, trait = face
    return trait if colour is None else 15 * colour + trait


Face = tuple[int | None, int]


def check_sum(order: Sequence[int], counted: set[Face]) -> int:
    """Return a number made of the places at which an order has some faces."""
    check = 1
    for at, card in enumerate(order):
        if FACES[card] in counted:
            check = (check * 109 + at) % 2**48
    return check


def insert(stock: list[int], card: int, check: int) -> None:
    """Put a card somewhere into a stock."""
    at = int(branch(check, 4096 + len(stock))) // 2**16 % (len(stock) + 1)
    stock.insert(at, card)


def arrange(order: Sequence[int], cards: Iterable[int], top: Face) -> tuple[list[int], int]:
    """Return cards in the sequence of an order that names every face as often as the deck has it.

    If only some cards of a face are there, a check sum, returned too, chooses which mentions count.
    """
    faces = [FACES[card] for card in order]
    cards = list(cards)
    check = check_sum(order, {top, *(FACES[card] for card in cards)})
    waiting: dict[tuple[int | None, int], list[int]] = {}
    for card in cards:
        waiting.setdefault(FACES[card], []).append(card)
    mentions_left = Counter(faces)
    arranged = []
    for face in faces:
        left = mentions_left[face]
        mentions_left[face] -= 1
        wanted = len(waiting.get(face, []))
        if wanted == 0:
            continue
        chance = int(branch(check, 64 * left + number(face))) // 2**16 % left
        if wanted == left or chance < wanted:
            arranged.append(waiting[face].pop())
    return arranged, check


class ReferenceGame:
    """One game or match, from the deal on; every attribute is public and may be inspected."""

    def __init__(
        self,
        orders: Iterable[Sequence[int]],
        *,
        seats: int = 2,
        rules: str = "official",
        stacking: bool = False,
        keep_drawn: bool = True,
        voluntary_draw: bool = False,
        target: int = 0,
    ) -> None:
        self.orders = iter(orders)
        self.seats = seats
        self.rlcard = rules == "rlcard"
        self.stacking = stacking
        self.keep_drawn = keep_drawn
        self.voluntary_draw = voluntary_draw
        self.target = target
        self.bound = 15000 if target else 2000
        self.plies = 0
        self.rounds = 0
        self.scores = [0] * seats
        self.over = False
        self.winner: int | None = None
        self.deal()

    # Chance

    def deal(self) -> None:
        """Start a round."""
        deck = [int(card) for card in next(self.orders)]
        self.first = self.rounds % self.seats
        self.hands: list[list[int]] = [[] for _ in range(self.seats)]
        for _ in range(7):
            for k in range(self.seats):
                self.hands[(self.first + k) % self.seats].append(deck.pop(0))
        self.stock = deck
        self.discards: list[int] = []
        self.shuffled_in: set[int] | None = None  # at the last reshuffle
        self.direction = 1
        self.stacked = 0
        self.drawn: int | None = None
        self.naming = False
        while FACES[self.stock[0]][1] == FOUR:
            four = self.stock.pop(0)
            insert(self.stock, four, check_sum(next(self.orders), {(None, FOUR)}))
        self.top = self.stock.pop(0)
        self.discards.append(self.top)
        self.colour, trait = FACES[self.top]
        self.seat = self.first
        if self.rlcard:
            if trait == WILD:
                self.colour = self.chance_colour()
            elif trait == SKIP:
                self.seat = 1
            elif trait == REVERSE:
                self.direction = -1
                self.seat = self.seats - 1
            elif trait == DRAW_TWO:
                self.hands[0] += [self.stock.pop(0), self.stock.pop(0)]
        elif trait == WILD:
            self.naming = True
        elif trait == SKIP or (trait == REVERSE and self.seats == 2):
            self.seat = self.next_of(self.seat)
        elif trait == REVERSE:  # the seat before the first begins, the other way round
            self.direction = -1
            self.seat = self.next_of(self.seat)
        elif trait == DRAW_TWO and self.stacking:
            self.stacked = 2
        elif trait == DRAW_TWO:
            self.give(self.seat, 2)
            self.seat = self.next_of(self.seat)

    def chance_colour(self) -> int:
        """Return the colour of the first coloured card of the next order."""
        return next(c for c, _ in (FACES[card] for card in next(self.orders)) if c is not None)

    def next_of(self, seat: int) -> int:
        return (seat + self.direction) % self.seats

    def prepare(self, owed: int) -> None:
        """Reshuffle if fewer cards are left than must be drawn next."""
        if self.rlcard:
            if len(self.stock) < owed and self.discards:
                self.shuffled_in = set(self.discards)
                old = self.stock
                order = next(self.orders)
                self.stock, check = arrange(order, self.discards, FACES[self.top])
                for card in old:
                    insert(self.stock, card, check)
                self.discards = []
        elif not self.stock and len(self.discards) > 1:
            self.shuffled_in = set(self.discards) - {self.top}
            self.stock, _ = arrange(next(self.orders), self.shuffled_in, FACES[self.top])
            self.discards = [self.top]

    def give(self, seat: int, owed: int) -> None:
        """Let a seat draw cards into its hand."""
        for left in range(owed, 0, -1):
            self.prepare(left)
            if self.stock:
                self.hands[seat].append(self.stock.pop(0))

    # Moves

    def fits(self, card: int, hand: list[int]) -> bool:
        """Tell whether a card of this hand may be laid on the top card now."""
        colour, trait = FACES[card]
        if trait == WILD:
            return True
        if trait == FOUR:
            if self.rlcard:
                return not any(FACES[c][1] != FOUR and self.fits(c, hand) for c in hand)
            return not any(FACES[c][0] == self.colour for c in hand)
        return colour == self.colour or trait == FACES[self.top][1]

    def plays(self, card: int) -> list[int]:
        """Return the actions that play a card."""
        colour, trait = FACES[card]
        if colour is None:
            return [15 * called + trait for called in range(4)]
        return [15 * colour + trait]

    def legal(self) -> list[int]:
        """Return the legal actions in ascending order; none when the game is over."""
        if self.over:
            return []
        if self.naming:
            return [NAME, NAME + 1, NAME + 2, NAME + 3]
        hand = self.hands[self.seat]
        if self.drawn is not None:
            found = set(self.plays(self.drawn)) if self.fits(self.drawn, hand) else set()
            return sorted(found) + [KEEP] * self.keep_drawn
        if self.stacked:
            cards = [card for card in hand if FACES[card][1] == DRAW_TWO]
        else:
            cards = [card for card in hand if self.fits(card, hand)]
        found = {action for card in cards for action in self.plays(card)}
        draw = not found or bool(self.stacked) or self.voluntary_draw
        return sorted(found) + [DRAW] * draw

    def apply(self, action: int) -> None:
        """Take a legal action for the seat to move."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal here")
        self.plies += 1
        if action >= NAME:
            self.colour = action - NAME
            self.naming = False
        elif action == KEEP:
            self.drawn = None
            self.seat = self.next_of(self.seat)
        elif action == DRAW and self.stacked:
            owed, self.stacked = self.stacked, 0
            self.give(self.seat, owed)
            self.seat = self.next_of(self.seat)
        elif action == DRAW:
            self.draw()
        else:
            self.play(action)
        if self.plies >= self.bound:
            self.over = True  # a tie, unless this very action has won

    def draw(self) -> None:
        self.prepare(1)
        if not self.stock:
            self.seat = self.next_of(self.seat)
            return
        card = self.stock.pop(0)
        colour = FACES[card][0]
        hand = self.hands[self.seat]
        if not self.rlcard:
            hand.append(card)
            if self.keep_drawn or self.fits(card, hand):
                self.drawn = card
            else:
                self.seat = self.next_of(self.seat)
        elif colour is None:
            self.discards.append(card)
            self.top = card
            self.colour = self.chance_colour()
            self.seat = self.next_of(self.seat)
        elif colour == self.colour:
            self.land(card, colour)
        else:
            hand.append(card)
            self.seat = self.next_of(self.seat)

    def play(self, action: int) -> None:
        hand = self.hands[self.seat]
        card = self.drawn
        if card is None:
            card = next(card for card in hand if action in self.plays(card))
        hand.remove(card)
        self.drawn = None
        self.land(card, action // 15)

    def land(self, card: int, colour: int) -> None:
        """Lay a card and let it act."""
        self.discards.append(card)
        self.top = card
        self.colour = colour
        trait = FACES[card][1]
        out = not self.hands[self.seat]
        if trait == REVERSE and (self.seats > 2 or self.rlcard):
            self.direction = -self.direction
        seat = self.seat
        following = self.next_of(seat)
        if trait == SKIP or (trait == REVERSE and self.seats == 2 and not self.rlcard):
            following = self.next_of(following)
        elif trait == DRAW_TWO and self.stacking and not out:
            self.stacked += 2
        elif trait in (DRAW_TWO, FOUR):
            owed = 4 if trait == FOUR else 2 + self.stacked
            self.stacked = 0
            self.give(following, owed)
            following = self.next_of(following)
        self.seat = following
        if out:
            self.end_round(seat)

    def end_round(self, seat: int) -> None:
        worth = sum(card_points(card) for hand in self.hands for card in hand)
        self.scores[seat] += worth
        if self.scores[seat] >= self.target:
            self.winner = seat
            self.over = True
        elif self.plies >= self.bound:
            self.over = True
        else:
            self.rounds += 1
            self.deal()

    def points(self) -> list[float]:
        """Return the points of each seat."""
        return [float(score) for score in self.scores]

    def returns(self) -> list[float]:
        """Return +1 for the winner and -1 shared among the others, or all 0."""
        if self.winner is None:
            return [0.0] * self.seats
        return [
            1.0 if seat == self.winner else -1.0 / (self.seats - 1) for seat in range(self.seats)
        ]
