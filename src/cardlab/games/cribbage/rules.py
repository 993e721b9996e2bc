"""Cribbage for two: discard, play to 31, count the hands and the crib, first to 121 wins.

Rules: American Cribbage Congress, as described in "Policy Improvement in Cribbage through
Reinforcement", section 1.1; points of cards in `scoring`. The seats cut, the lower rank
deals (equal ranks: the next two cards); then the deal alternates. Six cards each; the pone (who
does not deal) discards two, then the dealer; these are the dealer's crib. The next card is turned
up; a jack gives the dealer 2. In the play the pone leads; a seat that cannot play without passing
31 says go automatically, and the other plays on while it can. The last card of a count pegs 1
unless it made 31; the next count starts with the seat that did not play it, or the only one with
cards. The show: the pone's hand, the dealer's hand, the crib. The first seat to reach the target
wins at that moment; nothing more is counted, and no score exceeds the target.

Options: `target` 121 or 61. A loser below 91 of 121 is skunked, below 61 doubly; below 31 of 61
skunked. The result says so; a win is a win in `returns`.

Action ids
        0..51  play the card with this id
     52..1377  discard two cards: 52 + the place of the pair in the list of all pairs of card ids
               (0, 1), (0, 2), ... (50, 51); the k-th legal one always is the k-th pair of places
               in the hand in ascending order, so that learning can count to 15

Deck orders: of the first one, the cut, cards 1 and 2 are those of seats 0 and 1 (3 and 4 and so on
where ranks are equal, six times at most, then the cut is made again). Of every other, cards go to
the pone and the dealer in turn, and the 13th is the one to turn up.

What a seat knows of the other hand: a seat that said go at some count holds no card that fitted,
and `floors` keeps the value that all its cards must exceed; a seat that is to play holds a card
that fits. Nothing is known about discards.
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import Any

import numpy as np

from cardlab.engine.cards import ALL_CARDS, card_text, cards_in, cards_text, parse_card
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Description, Event, Game, Zone, record_type
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import below
from cardlab.games.cribbage import PACKAGE
from cardlab.games.cribbage.scoring import (
    HAND_SIZE,
    JACKS,
    LIMIT,
    card_value,
    explain_deal,
    follow,
    hand_points,
    peg_points,
)

SEATS = 2
DECK = 52
DEALT = 6
USED = 2 * DEALT + 1
PLAYS = 2 * HAND_SIZE
LAY = DECK
PAIRS = np.array(list(combinations(range(DECK), 2)), dtype=np.uint8)
NUM_ACTIONS = LAY + len(PAIRS)
NOBODY = 255
SEAT_BIT = 6  # a logged play is its card and, in this bit, the seat
CARD_BITS = (1 << SEAT_BIT) - 1
TEN = 10
SKUNKS = ("", ", a skunk", ", a double skunk")
MAX_PLIES = 2 * 121 * (2 + PLAYS)  # every deal gives at least the point for the last card

CUT, DEAL, LAY_AWAY, PLAY, FINISHED = range(5)

STATE = record_type(
    [
        ("hands", "i8", (SEATS,)),  # a set of cards for each seat
        ("played", "i8", (SEATS,)),  # cards played in this deal, a set for each seat
        ("laid", "i8", (SEATS,)),  # cards discarded into the crib, a set for each seat
        ("series", "i8"),  # the ranks that make the count, in base 16, the latest lowest
        ("old_crib", "i8"),  # the crib of the deal before, a set
        ("plays", "u1", (PLAYS,)),  # plays of this deal in order: card + 64 x seat; 255: none
        ("old_plays", "u1", (PLAYS,)),  # the same for the deal before
        ("sizes", "u1", (SEATS,)),  # cards in each hand
        ("floors", "u1", (SEATS,)),  # a hand holds only cards worth more, as a go has shown
        ("scores", "u1", (SEATS,)),  # points of each seat
        ("before", "u1", (SEATS,)),  # the points when this deal began
        ("cuts", "u1", (SEATS,)),  # the cards cut for the first deal, kept until the second
        ("play_count", "u1"),  # cards played in this deal
        ("tally", "u1"),  # the count
        ("starter", "u1"),  # the card turned up
        ("old_starter", "u1"),  # the card turned up in the deal before
        ("deals", "u1"),  # deals so far
        ("shown", "u1"),  # how many of the three hands have been counted
        ("dealer", "u1"),  # who deals; 255 before the cut
        ("phase", "u1"),  # 0 cut, 1 deal, 2 discard, 3 play, 4 finished
        ("seat", "u1"),  # the seat to move
        ("seats", "u1"),  # how many play, always 2
        ("winner", "u1"),  # the seat that won; 255: nobody
        ("target", "u1"),  # points that win
    ]
)


def fresh(*, target: int) -> Any:
    """Return an array of one game that waits for the cut."""
    state = np.zeros(1, dtype=STATE)
    s = state[0]
    s.seats, s.target, s.phase, s.winner, s.dealer = SEATS, target, CUT, NOBODY, NOBODY
    s.plays[:] = s.old_plays[:] = s.cuts[:] = s.starter = s.old_starter = NOBODY
    return state


@kernel
def mover(s: Any) -> int:
    """Return the seat to move, DEALER or OVER."""
    if s.phase == PLAY or s.phase == LAY_AWAY:
        return int64(s.seat)
    return OVER if s.phase == FINISHED else DEALER


@kernel
def deal(s: Any, order: Any) -> None:
    """Cut for the first deal, or deal six cards each and place the card to turn up."""
    if s.phase == CUT:
        for i in range(0, USED - 1, 2):
            if order[i] >> 2 != order[i + 1] >> 2:
                s.cuts[0], s.cuts[1] = order[i], order[i + 1]
                s.dealer = 0 if order[i] < order[i + 1] else 1
                s.phase = DEAL
                return
        return
    if s.deals:
        s.dealer = 1 - int64(s.dealer)
        s.cuts[0] = s.cuts[1] = NOBODY
        s.old_crib = s.laid[0] | s.laid[1]
        s.old_starter = s.starter
        for i in range(PLAYS):
            s.old_plays[i] = s.plays[i]
            s.plays[i] = NOBODY
    s.deals += 1
    dealer = int64(s.dealer)
    own, other = int64(0), int64(0)
    for i in range(0, 2 * DEALT, 2):
        other |= bit(order[i])
        own |= bit(order[i + 1])
    s.hands[dealer] = own
    s.hands[1 - dealer] = other
    for seat in range(SEATS):
        s.played[seat] = 0
        s.laid[seat] = 0
        s.sizes[seat] = DEALT
        s.floors[seat] = 0
        s.before[seat] = s.scores[seat]
    s.starter = order[2 * DEALT]
    s.shown = 0
    s.play_count = 0
    s.series = 0
    s.tally = 0
    s.seat = 1 - dealer
    s.phase = LAY_AWAY


@kernel
def fitting(tally: int) -> int:
    """Return the set of cards that can be played at a count without passing 31."""
    return bit(4 * (LIMIT - int64(tally))) - 1 if tally > LIMIT - TEN else int64(ALL_CARDS)


@kernel
def legal(s: Any, out: Any) -> int:
    """Write the legal actions in ascending order and return their number."""
    count = 0
    if s.phase == PLAY:
        rest = s.hands[s.seat] & fitting(s.tally)
        while rest:
            out[count] = lowest_bit(rest)
            rest &= rest - 1
            count += 1
    elif s.phase == LAY_AWAY:
        rest = s.hands[s.seat]
        while rest:
            low = lowest_bit(rest)
            rest &= rest - 1
            first = LAY + low * (2 * DECK - 1 - low) // 2 - low - 1
            more = rest
            while more:
                out[count] = first + lowest_bit(more)
                more &= more - 1
                count += 1
    return count


@kernel
def apply(s: Any, action: int) -> None:
    """Discard or play for the seat to move; turning up, gos and the show follow automatically."""
    if action >= LAY:
        lay_away(s, action - LAY)
    else:
        play(s, action)


@kernel
def lay_away(s: Any, pair: int) -> None:
    """Discard two cards; after the dealer's discard the next card is turned up."""
    seat = int64(s.seat)
    cards = bit(PAIRS[pair, 0]) | bit(PAIRS[pair, 1])
    s.hands[seat] ^= cards
    s.laid[seat] = cards
    s.sizes[seat] = HAND_SIZE
    s.seat = 1 - seat
    if seat == s.dealer:
        s.phase = PLAY
        if bit(s.starter) & JACKS:
            peg(s, seat, 2)


@kernel
def play(s: Any, card: int) -> None:
    """Play a card and find out who is next: gos, the last card and the show need no decision."""
    seat = int64(s.seat)
    other = 1 - seat
    s.hands[seat] ^= bit(card)
    s.played[seat] |= bit(card)
    s.sizes[seat] -= 1
    s.plays[s.play_count] = card | (seat << SEAT_BIT)
    s.play_count += 1
    tally = int64(s.tally) + card_value(card)
    series = follow(s.series, card)
    s.tally = tally
    s.series = series
    if peg(s, seat, peg_points(series, tally)):
        return
    if s.play_count == PLAYS:
        if tally != LIMIT and peg(s, seat, 1):
            return
        show(s)
        return
    if tally != LIMIT:
        fits = fitting(tally)
        if s.hands[other] & fits:
            s.seat = other
            return
        raise_floor(s, other, LIMIT - tally)
        if s.hands[seat] & fits:
            return
        raise_floor(s, seat, LIMIT - tally)
        if peg(s, seat, 1):
            return
    s.tally = 0
    s.series = 0
    if s.sizes[other]:
        s.seat = other


@kernel
def raise_floor(s: Any, seat: int, room: int) -> None:
    """Note that a hand, if any card is left, holds none worth `room` or less."""
    if s.sizes[seat] and s.floors[seat] < room:
        s.floors[seat] = room


@kernel
def peg(s: Any, seat: int, points: int) -> bool:
    """Add points to a score and return whether they win."""
    score = int64(s.scores[seat]) + points
    if score < s.target:
        s.scores[seat] = score
        return False
    s.scores[seat] = s.target
    s.winner = seat
    s.phase = FINISHED
    return True


@kernel
def show(s: Any) -> None:
    """Count the pone's hand, the dealer's hand and the crib, up to the one that wins."""
    dealer = int64(s.dealer)
    cut = int64(s.starter)
    s.shown = 1
    if peg(s, 1 - dealer, hand_points(s.played[1 - dealer], cut, False)):
        return
    s.shown = 2
    if peg(s, dealer, hand_points(s.played[dealer], cut, False)):
        return
    s.shown = 3
    if not peg(s, dealer, hand_points(s.laid[0] | s.laid[1], cut, True)):
        s.phase = DEAL


@kernel
def returns(s: Any, seat: int) -> float:
    """Return 1 for the winner, -1 for the loser."""
    if s.winner == NOBODY:
        return 0.0
    return 1.0 if s.winner == seat else -1.0


@kernel
def points(s: Any, seat: int) -> float:
    """Return the score on the board."""
    return float(s.scores[seat])


@kernel
def skunk(s: Any) -> int:
    """Return 1 if the loser of a finished game is skunked, 2 if doubly, otherwise 0."""
    if s.winner == NOBODY:
        return 0
    score = int64(s.scores[1 - int64(s.winner)])
    if s.target == 61:
        return 1 if score < 31 else 0
    return 2 if score < 61 else 1 if score < 91 else 0


@kernel
def conceal(s: Any, seat: int) -> None:
    """Erase the other hand, the other's discards, and the card not yet turned up."""
    s.hands[1 - seat] = 0
    if s.shown < 3:
        s.laid[1 - seat] = 0
    if s.phase == LAY_AWAY:
        s.starter = NOBODY


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    """Fill the other hand, its discards and the cut with unseen cards, uniformly.

    The hand comes first: only the hand has conditions, so the number of ways to fill the rest does
    not depend on it. If the other is to play, it holds a card that fits.
    """
    other = 1 - seat
    unseen = ALL_CARDS & ~(s.hands[seat] | s.laid[seat] | s.played[0] | s.played[1])
    if s.phase != LAY_AWAY:
        unseen &= ~bit(s.starter)
    may = unseen & ~(bit(4 * int64(s.floors[other])) - 1)
    must = fitting(s.tally) if s.phase == PLAY and s.seat == other else int64(-1)
    size = int64(s.sizes[other])
    hand = pick(may, size, rng)
    while size and not hand & must:
        hand = pick(may, size, rng)
    s.hands[other] = hand
    unseen &= ~hand
    if s.shown < 3 and size < DEALT:
        s.laid[other] = pick(unseen, 2, rng)
        unseen &= ~s.laid[other]
    if s.phase == LAY_AWAY:
        s.starter = lowest_bit(pick(unseen, 1, rng))
    return True


@kernel
def pick(cards: int, count: int, rng: Any) -> int:
    """Return so many cards of a set, every choice equally likely."""
    chosen = int64(0)
    for _ in range(count):
        card = bit(below(rng, DECK))
        while not card & cards:
            card = bit(below(rng, DECK))
        chosen |= card
        cards &= ~card
    return chosen


FAULTS = (
    "sound",
    "a card lies in two places",
    "a seat has more or fewer cards than it should",
    "the count is not that of the cards played",
    "a seat said go with a card that it could have played",
    "the scores are not what this deal has given",
    "the winner is not the one who reached the target",
    "the seat to play has no card that fits",
)


@kernel
def audit(s: Any) -> int:
    """Return 0 if the record is sound, otherwise the number of a fault."""
    if s.deals == 0:
        return 0
    cards = bit(s.starter)
    for seat in range(SEATS):
        held = count_bits(s.hands[seat])
        laid = count_bits(s.laid[seat])
        cards |= s.hands[seat] | s.played[seat] | s.laid[seat]
        if held != s.sizes[seat] or held + laid + count_bits(s.played[seat]) != DEALT:
            return 2
        if laid != 2 and (laid != 0 or s.phase != LAY_AWAY):
            return 2
        if s.hands[seat] & (bit(4 * int64(s.floors[seat])) - 1):
            return 4
        if (s.scores[seat] == s.target) != (s.winner == seat) or s.scores[seat] > s.target:
            return 6
    if count_bits(cards) != USED:
        return 1
    if (s.phase == FINISHED) != (s.winner != NOBODY):
        return 6
    if s.phase == PLAY and not s.hands[s.seat] & fitting(s.tally):
        return 7
    return audit_points(s)


@kernel
def audit_points(s: Any) -> int:
    """Count this deal again from its log; the scores must be the same."""
    dealer, cut = int64(s.dealer), int64(s.starter)
    gains = int64(0)
    if s.phase != LAY_AWAY and bit(cut) & JACKS:
        gains += gain(dealer, 2)
    series = tally = last = int64(0)
    for i in range(int64(s.play_count)):
        card = int64(s.plays[i]) & CARD_BITS
        if tally + card_value(card) > LIMIT:
            if tally != LIMIT:
                gains += gain(last, 1)
            series = tally = int64(0)
        last = int64(s.plays[i]) >> SEAT_BIT
        tally += card_value(card)
        series = follow(series, card)
        gains += gain(last, peg_points(series, tally))
    if s.phase == PLAY and s.tally == 0:
        if tally not in (0, LIMIT):
            gains += gain(last, 1)
    elif s.tally != tally or s.series != series:
        return 3
    if s.shown > 0:
        gains += gain(last, 0 if tally == LIMIT else 1)
        gains += gain(1 - dealer, hand_points(s.played[1 - dealer], cut, False))
    if s.shown > 1:
        gains += gain(dealer, hand_points(s.played[dealer], cut, False))
    if s.shown > 2:
        gains += gain(dealer, hand_points(s.laid[0] | s.laid[1], cut, True))
    first = int64(s.before[0]) + (gains & 0xFFFF)
    second = int64(s.before[1]) + (gains >> 16)
    if s.phase == FINISHED and s.shown == 0 and max(first, second) < s.target:
        first += 1 - last  # the game ended with a go or the last card
        second += last
    target = int64(s.target)
    return 0 if s.scores[0] == min(first, target) and s.scores[1] == min(second, target) else 5


@kernel
def gain(seat: int, points: int) -> int:
    """Return points in a number for both seats, with 16 bits for each."""
    return int64(points) << (16 * seat)


def action_text(action: int) -> str:
    """Return an action in words: `7H` plays it, `lay 5H JD` discards two cards."""
    if action < LAY:
        return card_text(action)
    return f"lay {cards_text(int(card) for card in PAIRS[action - LAY])}"


def parse_action(text: str) -> int:
    """Return the action that a person means by `7h`, `lay 5h jd` or just `5h jd`."""
    words = text.upper().replace("10", "T").replace(",", " ").split()
    lays = words[:1] == ["LAY"]
    words = words[lays:]
    if len(words) == 1 and len(words[0]) == 4:  # two cards without a space
        words = [words[0][:2], words[0][2:]]
    if not words or len(words) > 2 or (lays and len(words) != 2):
        raise CardlabError(
            f"{text.strip()!r} is not an action; write one card to play it, such as 7H, or two "
            "to discard them, such as 5H JD"
        )
    cards = sorted(parse_card(word) for word in words)
    if len(cards) == 1:
        return cards[0]
    low, high = cards
    if low == high:
        raise CardlabError(f"{card_text(low)} cannot be discarded twice; name two cards")
    return LAY + low * (2 * DECK - 1 - low) // 2 + high - low - 1


def state_text(s: Any) -> str:
    """Return a state or a view as a few lines of text."""
    if s.deals == 0:
        return "cribbage, not dealt"
    starter = "not turned" if s.phase == LAY_AWAY else card_text(int(s.starter))
    lines = [f"deal {s.deals}: dealer seat {s.dealer}, cut {starter}, count {s.tally}"]
    for seat in range(SEATS):
        mark = "*" if s.phase in (LAY_AWAY, PLAY) and s.seat == seat else " "
        hand, played, laid = (
            cards_text(cards_in(cards[seat])) for cards in (s.hands, s.played, s.laid)
        )
        line = f"  seat {seat}{mark} {s.scores[seat]:3}  hand {hand or f'{s.sizes[seat]} cards'}"
        lines.append(f"{line}; played {played or '-'}; discarded {laid or '-'}")
    if s.phase == FINISHED:
        lines.append(f"  {result_text(s)}")
    return "\n".join(lines)


def result_text(s: Any) -> str:
    """Return who won a finished game, and how clearly."""
    return f"seat {s.winner} wins{SKUNKS[int(skunk(s))]}"


def describe(s: Any, seat: int) -> Description:
    """Return what `seat` knows as plain data."""
    zones = []
    for other in range(SEATS if s.deals else 0):
        zones.append(_zone("hand", s.hands[other], other, int(s.sizes[other])))
        if s.played[other]:
            zones.append(_zone("cards played", s.played[other], other))
        if s.sizes[other] < DEALT:
            zones.append(_zone("discards", s.laid[other], other, 2))
        if s.deals == 1:
            zones.append(Zone("first cut", 1, (card_text(int(s.cuts[other])),), other))
    facts: dict[str, str | int] = {}
    if s.deals:
        turned = () if s.phase == LAY_AWAY else (card_text(int(s.starter)),)
        zones.append(Zone("cut", 1, turned))
        facts["score"] = f"seat 0 {s.scores[0]}, seat 1 {s.scores[1]}, to {s.target}"
        facts["dealer"] = f"seat {s.dealer}"
    if s.phase == LAY_AWAY:
        whose = "your own" if seat == s.dealer else "the dealer's"
        facts["discard"] = f"two cards to {whose} crib"
    elif s.phase == PLAY:
        first = int(s.play_count) - (int(s.series).bit_length() + 3) // 4
        table = [card_text(card) for _, card in log(s.plays[first : int(s.play_count)])]
        if table:
            zones.append(Zone("pile", len(table), tuple(reversed(table))))
        facts["count"] = f"{s.tally} with {' '.join(table)}" if table else 0
    elif s.phase == FINISHED:
        facts["result"] = result_text(s)
    to_move = int(s.seat) if s.phase in (LAY_AWAY, PLAY) else None
    return Description(seat, SEATS, to_move, tuple(zones), facts, tuple(events(s)))


def _zone(name: str, cards: int, seat: int, count: int = 0) -> Zone:
    known = tuple(card_text(card) for card in cards_in(cards))
    return Zone(name, count or len(known), known, seat)


def log(plays: Any) -> list[tuple[int, int]]:
    """Return logged plays as seats and cards."""
    return [(int(one) >> SEAT_BIT, int(one) & CARD_BITS) for one in plays]


def events(s: Any) -> list[Event]:
    """Return the deal before and this one in words, oldest first."""
    found: list[Event] = []
    if s.deals == 1:
        found += [Event(seat, f"cut {card_text(int(s.cuts[seat]))}") for seat in range(SEATS)]
    elif s.deals > 1:
        crib = cards_in(s.old_crib)
        course = explain_deal(1 - int(s.dealer), int(s.old_starter), log(s.old_plays), crib)
        found += [Event(seat, text) for seat, text, _ in course]
    if s.deals:
        crib = cards_in(s.laid[0] | s.laid[1])
        plays = log(s.plays[: int(s.play_count)])
        count_over = bool(s.phase != PLAY or s.tally == 0)
        course = explain_deal(
            int(s.dealer), int(s.starter), plays, crib, count_over=count_over, leads=int(s.seat)
        )
        if s.phase == LAY_AWAY:
            course = islice(course, 2 if s.seat == s.dealer else 1)
        scores = [int(score) for score in s.before]
        for seat, text, points in course:
            found.append(Event(seat, text))
            scores[seat] += points
            if scores[seat] >= s.target:
                how = SKUNKS[int(skunk(s))]
                found.append(Event(seat, f"won {s.target} to {s.scores[1 - seat]}{how}"))
                break
    return found


GAME = Game.from_module(__name__, PACKAGE, used_cards=USED)
