"""The table of Koi-Koi: the record of a game, values computed from it, and its description."""

from __future__ import annotations

from typing import Any

from cardlab.engine.cards import cards_in
from cardlab.engine.game import Description, Event, Zone, record_type
from cardlab.engine.kernel import bit, int64, kernel, short_kernel
from cardlab.games.koi_koi.cards import CATEGORIES, ONE_MONTH, card_text, cards_text
from cardlab.games.koi_koi.yaku import list_yaku, yaku_points

HAND, TURNS, STOCK = 8, 16, 24
MOST_ROUNDS = 12
NOBODY = 255

CUT, DEAL, DISCARD, PICK_FOR_DISCARD, PICK_FOR_DRAW, CALL, FINISHED = range(7)
PAPER, NINTENDO = range(2)
RULES = ("paper", "nintendo")
SILENT, CALLED, STOPPED = range(3)  # how a turn ended
RUNNING, WON, EXHAUSTED, FOUR_OF_A_MONTH, FOUR_PAIRS, BOTH_LUCKY = range(6)  # and a round

STATE = record_type(
    [
        ("hands", "i8", (2,)),  # a set of cards for each seat
        ("piles", "i8", (2,)),  # captured cards, a set for each seat
        ("field_cards", "i8"),  # the open cards, a set
        ("shown", "i8"),  # cards seen since the last discard in deals that were not played
        ("points_now", "i2", (2,)),  # points of each seat
        ("gains", "i2", (MOST_ROUNDS,)),  # what seat 0 won or lost in each round
        ("stock", "u1", (TURNS,)),  # the card to be drawn in each turn; 255 once it is drawn
        ("round_number", "u1"),  # from 1; 0 before the first deal
        ("turn", "u1"),  # turn of the round, from 0; the dealer has the even ones
        ("phase", "u1"),  # 0 cut, 1 deal, 2 discard, 3-4 pick for discard, draw, 5 call, 6 finished
        ("seat", "u1"),  # the seat to move
        ("seats", "u1"),  # how many play, always 2
        ("rules", "u1"),  # 0 paper, 1 nintendo
        ("rounds", "u1"),  # rounds of the game
        ("next_dealer", "u1"),  # the seat that deals the next round
        ("pending", "u1"),  # the card that matches two field cards; 255: none
        ("calls", "u1", (2,)),  # koi-koi calls of each seat in this round
        ("yaku", "u1", (2,)),  # points of each pile after its seat's last turn, without bonuses
        ("dealers", "u1", (2,)),  # who deals; as all below, this round at index round_number & 1
        ("ended", "u1", (2,)),  # 0 running, 1 won, 2 nobody stopped, 3-5 won at once or by both
        ("discarded", "u1", (2, TURNS)),  # the card discarded in each turn; 255: none
        ("discard_took", "u1", (2, TURNS)),  # what it captured: four bits for its month
        ("drawn", "u1", (2, TURNS)),  # the card drawn in each turn; 255: none
        ("draw_took", "u1", (2, TURNS)),  # the field cards it captured
        ("answer", "u1", (2, TURNS)),  # how each turn ended: 1 koi-koi, 2 stop
    ]
)


@kernel
def dealer(s: Any) -> int:
    """Return who deals this round."""
    return int64(s.dealers[int64(s.round_number) & 1])


@kernel
def field_matches(s: Any, card: int) -> int:
    """Return the field cards of a card's month."""
    return s.field_cards & (ONE_MONTH << (card & ~3))


@short_kernel
def played_by(s: Any, seat: int) -> int:
    """Return the cards that a seat has discarded in this round."""
    now = int64(s.round_number) & 1
    cards = int64(0)
    for turn in range(dealer(s) ^ seat, TURNS, 2):  # the dealer has the even turns
        if s.discarded[now, turn] != NOBODY:
            cards |= bit(s.discarded[now, turn])
    return cards


@short_kernel
def cards_drawn(s: Any) -> int:
    """Return how many cards of this round's stock have been drawn."""
    turn = int64(s.turn)
    return turn if s.drawn[int64(s.round_number) & 1, turn] == NOBODY else turn + 1


@short_kernel
def sake_worth(s: Any, calls: int) -> int:
    """Return what each viewing with sake is worth to a seat with so many calls."""
    if s.rules == NINTENDO:
        return 5
    return 3 if calls else 1


@kernel
def both_sets_worth(s: Any) -> int:
    """Return what red and blue ribbons together are worth beyond each set."""
    return 0 if s.rules == NINTENDO else 10


@kernel
def pile_points(s: Any, seat: int) -> int:
    """Return the yaku points of a seat's pile, without bonus or doubling."""
    return yaku_points(s.piles[seat], sake_worth(s, s.calls[seat]), both_sets_worth(s))


@short_kernel
def score(s: Any, seat: int) -> int:
    """Return what a seat wins if it stops now."""
    worth, calls = pile_points(s, seat), int64(s.calls[seat])
    if s.rules == NINTENDO:
        if worth >= 7:
            worth *= 2
        return 2 * worth if s.calls[1 - seat] else worth
    return worth + calls if calls < 4 else worth * (calls - 2)


def state_text(s: Any) -> str:
    """Return a state or a view as a few lines of text."""
    head = f"koi_koi ({RULES[s.rules]}), round {s.round_number} of {s.rounds}"
    if s.round_number == 0:
        return f"{head}, not dealt"
    drawn = int(cards_drawn(s))
    held = f"points {s.points_now[0]} {s.points_now[1]}, stock {STOCK - drawn}"
    lines = [f"{head}, turn {int(s.turn) + 1}: {held}"]
    for seat in range(2):
        count = HAND - int(played_by(s, seat)).bit_count()
        hand = cards_text(cards_in(s.hands[seat])) or f"{count} cards"
        mark = "*" if DISCARD <= s.phase <= CALL and s.seat == seat else " "
        pile = f" | {cards_text(cards_in(s.piles[seat]))}" if s.piles[seat] else ""
        lines.append(f"  seat {seat}{mark}{' deals' if dealer(s) == seat else ''} {hand}{pile}")
        if pile_points(s, seat):
            lines.append(f"    {yaku_text(s, seat)}")
    lines.append(f"  field {cards_text(cards_in(s.field_cards))}")
    if s.pending != NOBODY:
        what = "discarded" if s.phase == PICK_FOR_DISCARD else "drew"
        lines.append(f"  seat {s.seat} {what} {card_text(s.pending)} and picks")
    if s.phase == CALL:
        lines.append(f"  seat {s.seat} stops for {score(s, s.seat)} or calls koi-koi")
    if s.phase == FINISHED:
        lines.append(f"  {result_text(s)}")
    return "\n".join(lines)


def result_text(s: Any) -> str:
    """Return the result of a finished game in words."""
    first, second = (int(one) for one in s.points_now)
    if first == second:
        return f"a draw at {first} points"
    return f"{max(first, second)} points to {min(first, second)} for seat {int(first < second)}"


def yaku_text(s: Any, seat: int) -> str:
    """Return a seat's yaku in words, with what stopping would win where that is not their sum."""
    return _yaku_words(s, int(s.piles[seat]), int(s.calls[seat]), int(score(s, seat)))


def _yaku_words(s: Any, pile: int, calls: int, won: int = 0) -> str:
    found = list(list_yaku(pile, int(sake_worth(s, calls)), int(both_sets_worth(s))))
    words = ", ".join(f"{name} {points}" for name, points in found)
    total = sum(points for _, points in found)
    if won in (0, total):
        return words or "none"
    more = f"times {won // total}" if s.rules == NINTENDO or calls > 3 else f"koi-koi {won - total}"
    return f"{words}, {more}"


def _points(count: int) -> str:
    return f"{count} point{'' if count == 1 else 's'}"


def describe(s: Any, seat: int) -> Description:
    """Return what `seat` knows as plain data."""
    dealt = s.round_number > 0
    mine = tuple(card_text(card) for card in cards_in(s.hands[seat]))
    zones = []
    for other in range(2):
        count = HAND - int(played_by(s, other)).bit_count() if dealt else 0
        zones.append(Zone("hand", count, mine if other == seat else (), seat=other))
    zones.append(_zone("field", int(s.field_cards)))
    zones.append(Zone("stock", STOCK - int(cards_drawn(s))))
    if s.pending != NOBODY:
        what = "discarded" if s.phase == PICK_FOR_DISCARD else "drawn"
        zones.append(_zone(what, 1 << int(s.pending)))
    zones += [
        _zone(name, int(s.piles[other]) & cards, other)
        for other in range(2)
        for name, cards in CATEGORIES.items()
        if int(s.piles[other]) & cards
    ]
    if s.phase == DISCARD and s.turn == 0 and _shown_before(s):
        zones.append(_zone("seen before this deal", _shown_before(s)))
    return Description(
        seat=seat,
        seats=2,
        to_move=int(s.seat) if DISCARD <= s.phase <= CALL else None,
        zones=tuple(zones),
        facts=_facts(s, seat) if dealt else {},
        events=tuple(events(s)),
    )


def _zone(name: str, cards: int, seat: int | None = None) -> Zone:
    texts = tuple(card_text(card) for card in cards_in(cards))
    return Zone(name, len(texts), texts, seat)


def _shown_before(s: Any) -> int:
    """Return what was seen since the seats last moved: the round's last turn, deals not played."""
    before = 1 - (int(s.round_number) & 1)
    ends = zip(s.discarded[before], s.drawn[before], strict=True)
    last = [int(card) for pair in ends for card in pair if card != NOBODY][-2:]
    return sum(1 << card for card in last) | int(s.shown)


def _facts(s: Any, seat: int) -> dict[str, str | int]:
    facts: dict[str, str | int] = {
        "round": f"{s.round_number} of {s.rounds}, turn {int(s.turn) + 1} of {TURNS}",
        "dealer": f"seat {dealer(s)}",
        "points": ", ".join(f"seat {k} {s.points_now[k]}" for k in (seat, 1 - seat)),
        "your yaku": yaku_text(s, seat),
        "their yaku": yaku_text(s, 1 - seat),
    }
    calls = [f"seat {k} {_times(int(s.calls[k]))}" for k in (seat, 1 - seat) if s.calls[k]]
    if calls:
        facts["koi-koi"] = ", ".join(calls)
    if s.phase == FINISHED:
        facts["result"] = result_text(s)
    elif s.seat == seat and s.phase in (PICK_FOR_DISCARD, PICK_FOR_DRAW):
        facts["question"] = f"which card does {card_text(int(s.pending))} take?"
    elif s.seat == seat and s.phase == CALL:
        facts["question"] = f"stop and win {_points(int(score(s, seat)))}, or go on: koi-koi?"
    return facts


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def events(s: Any) -> list[Event]:
    """Return what happened in this round and the one before in words, oldest first."""
    last = int(s.round_number)
    return [event for n in (last - 1, last) if n > 0 for event in _round_events(s, n)]


def _round_events(s: Any, number: int) -> list[Event]:
    now = number & 1
    first, how, gain = int(s.dealers[now]), int(s.ended[now]), int(s.gains[number - 1])
    won = _points(abs(gain))
    found = [Event(None, f"round {number} begins, dealer seat {first}")]
    piles, calls = [0, 0], [0, 0]
    waits = int(s.pending) if number == s.round_number else NOBODY
    moves = (
        ("discarded", s.discarded[now].tolist(), s.discard_took[now].tolist()),
        ("drew", s.drawn[now].tolist(), s.draw_took[now].tolist()),
    )
    for turn, answer in enumerate(s.answer[now].tolist()):
        seat = first ^ (turn & 1)
        for verb, cards, takes in moves:
            card, taken = cards[turn], takes[turn]
            if card in (NOBODY, waits):
                break  # a card that waits for a pick gets one event, with what it takes
            text = f"{verb} {card_text(card)}"
            if taken:
                taken <<= card & ~3
                piles[seat] |= 1 << card | taken
                text += f" and took {cards_text(cards_in(taken))}"
            found.append(Event(seat, text))
        if answer == CALLED:
            words = _yaku_words(s, piles[seat], calls[seat])
            found.append(Event(seat, f"called koi-koi with {words}"))
            calls[seat] += 1
        elif answer == STOPPED:
            words = _yaku_words(s, piles[seat], calls[seat], abs(gain))
            found.append(Event(seat, f"stopped and won {won}: {words}"))
    if how == EXHAUSTED:
        whose = f"dealer seat {first} gets {won}" if gain else "no points"
        found.append(Event(None, f"nobody stopped in round {number}: {whose}"))
    elif how == BOTH_LUCKY:
        found.append(Event(None, "both hands would win at once: no points"))
    elif how in (FOUR_OF_A_MONTH, FOUR_PAIRS):
        what = "four of a month" if how == FOUR_OF_A_MONTH else "four pairs"
        found.append(Event(0 if gain > 0 else 1, f"showed {what} and won {won} at once"))
    return found
