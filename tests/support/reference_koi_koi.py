"""Koi-Koi, written slowly and plainly: the oracle for testing a fast implementation.

Cards are pairs (month 1..12, number 1..4), the most valuable card of a month first. A round is
driven by `discard`, `take`, `stop` and `koi_koi`; `offers` says what may be done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Card = tuple[int, int]

NAMES: dict[str, Card] = {
    "crane": (1, 1),
    "curtain": (3, 1),
    "moon": (8, 1),
    "rainman": (11, 1),
    "phoenix": (12, 1),
    "warbler": (2, 1),
    "cuckoo": (4, 1),
    "bridge": (5, 1),
    "butterfly": (6, 1),
    "boar": (7, 1),
    "geese": (8, 2),
    "sake cup": (9, 1),
    "deer": (10, 1),
    "swallow": (11, 2),
}
LIGHTS = {NAMES[name] for name in ("crane", "curtain", "moon", "rainman", "phoenix")}
SEEDS = set(NAMES.values()) - LIGHTS
RED = {(1, 2), (2, 2), (3, 2)}
BLUE = {(6, 2), (9, 2), (10, 2)}
RIBBONS = RED | BLUE | {(4, 2), (5, 2), (7, 2), (11, 3)}
DECK = [(month, number) for month in range(1, 13) for number in range(1, 5)]
DROSS = set(DECK) - LIGHTS - SEEDS - RIBBONS | {NAMES["sake cup"]}


def yaku(pile: set[Card], *, rules: str, called: bool) -> dict[str, int]:
    """Return every yaku of a pile with its points."""
    found: dict[str, int] = {}
    held = LIGHTS & pile
    dry = held - {NAMES["rainman"]}
    if held == LIGHTS:
        found["five lights"] = 10
    elif len(dry) == 4:
        found["four lights"] = 8
    elif len(held) == 4:
        found["rainy four lights"] = 7
    elif len(dry) == 3:
        found["three lights"] = 5
    if {NAMES["boar"], NAMES["deer"], NAMES["butterfly"]} <= pile:
        found["boar-deer-butterfly"] = 5
    sake = 5 if rules == "nintendo" else 3 if called else 1
    for name, view in (("flower sake", "curtain"), ("moon sake", "moon")):
        if {NAMES[view], NAMES["sake cup"]} <= pile:
            found[name] = sake
    if RED.issubset(pile):
        found["red ribbons"] = 5
    if BLUE.issubset(pile):
        found["blue ribbons"] = 5
    if rules == "paper" and (RED | BLUE).issubset(pile):
        found["red and blue ribbons"] = 10
    for name, cards, least in (("seeds", SEEDS, 5), ("ribbons", RIBBONS, 5), ("dross", DROSS, 10)):
        if len(cards & pile) >= least:
            found[name] = 1 + len(cards & pile) - least
    return found


def settle(yaku_points: int, *, rules: str, own_calls: int, other_calls: int) -> int:
    """Return what a winner gets for so many yaku points."""
    if rules == "nintendo":
        doubled = (yaku_points >= 7) + (other_calls > 0)
        return yaku_points * 2**doubled
    factor = {4: 2, 5: 3, 6: 4, 7: 5}.get(own_calls)
    return yaku_points + own_calls if factor is None else yaku_points * factor


def verdict(hands: Sequence[set[Card]], field: set[Card], *, rules: str) -> str:
    """Return what becomes of a deal: "redeal", "play", "seat 0", "seat 1" or "both" at once."""

    def most(cards: set[Card]) -> int:
        return max(Counter(month for month, _ in cards).values())

    def pairs(cards: set[Card]) -> bool:
        return set(Counter(month for month, _ in cards).values()) == {2}

    if rules == "paper":
        return "redeal" if max(most(cards) for cards in (*hands, field)) == 4 else "play"
    if most(field) >= 3:
        return "redeal"
    lucky = [seat for seat in (0, 1) if most(hands[seat]) == 4 or pairs(hands[seat])]
    if len(lucky) == 2:
        return "both"
    return f"seat {lucky[0]}" if lucky else "play"


class ReferenceRound:
    """One round from the deal to its end; then `gain` tells what `next_dealer` has won."""

    def __init__(
        self,
        hands: Sequence[set[Card]],
        field: set[Card],
        stock: Sequence[Card],
        *,
        dealer: int,
        rules: str,
    ) -> None:
        self.hands = [set(hand) for hand in hands]
        self.piles: list[set[Card]] = [set(), set()]
        self.field = set(field)
        self.stock = list(stock)
        self.rules = rules
        self.dealer = self.seat = dealer
        self.calls = [0, 0]
        self.turn = 1
        self.phase = "discard"
        self.card: Card | None = None
        self.gain: int | None = None
        self.next_dealer: int | None = None
        self._worth_before = 0
        at_once = verdict(hands, field, rules=rules)
        if at_once == "both":
            self._end(1 - dealer, 0)
        elif at_once != "play":
            self._end(int(at_once[-1]), 6)

    @property
    def over(self) -> bool:
        """Whether the round has ended."""
        return self.gain is not None

    def offers(self) -> set[Card]:
        """Return the cards that the seat to move may discard or take; none at a call."""
        if self.phase == "discard":
            return self.hands[self.seat]
        return self._matches() if "take" in self.phase else set()

    def worth(self, seat: int) -> int:
        """Return what a seat would win by stopping now."""
        found = yaku(self.piles[seat], rules=self.rules, called=self.calls[seat] > 0)
        return settle(
            sum(found.values()),
            rules=self.rules,
            own_calls=self.calls[seat],
            other_calls=self.calls[1 - seat],
        )

    def discard(self, card: Card) -> None:
        """Discard a card, and go on to the draw unless there is something to choose."""
        self._worth_before = self.worth(self.seat)
        self.hands[self.seat].remove(card)
        self.card = card
        if len(self._matches()) == 2:
            self.phase = "take for discard"
        else:
            self._lay(self._matches())
            self._draw()

    def take(self, card: Card) -> None:
        """Take one of two matching field cards."""
        self._lay({card})
        if self.phase == "take for discard":
            self._draw()
        else:
            self._check()

    def stop(self) -> None:
        """Win the round."""
        self._end(self.seat, self.worth(self.seat))

    def koi_koi(self) -> None:
        """Go on."""
        self.calls[self.seat] += 1
        self._pass_on()

    def _matches(self) -> set[Card]:
        assert self.card
        return {card for card in self.field if card[0] == self.card[0]}

    def _lay(self, taken: set[Card]) -> None:
        assert self.card
        if taken:
            self.field -= taken
            self.piles[self.seat] |= taken | {self.card}
        else:
            self.field.add(self.card)
        self.card = None

    def _draw(self) -> None:
        self.card = self.stock.pop(0)
        if len(self._matches()) == 2:
            self.phase = "take for draw"
        else:
            self._lay(self._matches())
            self._check()

    def _check(self) -> None:
        if self.worth(self.seat) == self._worth_before:
            self._pass_on()
        elif not self.hands[self.seat] or (self.rules == "nintendo" and self.calls[self.seat]):
            self.stop()
        else:
            self.phase = "call"

    def _pass_on(self) -> None:
        self.phase = "discard"
        self.seat = 1 - self.seat
        self.turn += 1
        if self.turn > 16:
            if self.rules == "paper":
                self._end(self.dealer, 1)
            else:
                self._end(1 - self.dealer, 0)

    def _end(self, next_dealer: int, gain: int) -> None:
        self.next_dealer, self.gain, self.phase = next_dealer, gain, "over"
