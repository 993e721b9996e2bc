"""What a network sees of Koi-Koi: one compact row of bytes for each decision, made by a kernel.

The paper ("Learning to Play Koi-Koi Hanafuda Card Games With Transformers", section IV-A) gives
each of 48 cards and two special tokens, stop and koi-koi, about 300 features: where the card is and
what each turn did with it, its own attributes, and the progress of the game, the same for all
tokens. Here a decision is kept as the `WIDTH` bytes that these follow from; `networks.transformer`
expands them where it computes. `FEATURES` lists every feature by number.

A row, only from what the seat has seen:

      0..47   where each card is (a zone), plus LEGAL where the card can be chosen now
     48..95   how it came to the table: 0 by the deal or not at all, else 1 + its event
     96..143  how it came to a pile: 0 not at all, else 1 + its event
    144..164  the game: see `KIND` and the places after it

An event is a turn, counted for each seat by itself: 0..7 my turns, 8..15 theirs, and 16 more where
the card of the stock did it rather than the discard.
"""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import bit, int64, kernel, lowest_bit
from cardlab.engine.token_blocks import number_blocks, write_zone
from cardlab.games.koi_koi.cards import (
    BLUE,
    BOAR_DEER_BUTTERFLY,
    CUP,
    CURTAIN,
    DECK,
    DROSS,
    LIGHTS,
    MOON,
    RAINMAN,
    RED,
    RIBBONS,
    SEEDS,
)
from cardlab.games.koi_koi.rules import KOI_KOI, STOP, TAKE
from cardlab.games.koi_koi.table import (
    CALL,
    CALLED,
    DISCARD,
    HAND,
    NOBODY,
    STOCK,
    TURNS,
    cards_drawn,
    dealer,
    field_matches,
    pile_points,
    score,
)
from cardlab.games.koi_koi.yaku import YAKU_CARDS, beyond, has, lights

ENCODING = 1  # raised whenever a row or a feature changes its meaning
TOKENS = DECK + 2
STOP_TOKEN, KOI_KOI_TOKEN = DECK, DECK + 1
MOST_CHOICES = HAND

UNSEEN, MY_HAND, FIELD, MY_PILE, THEIR_PILE, PENDING = range(6)
ZONES = ("unseen", "my hand", "field", "my pile", "their pile", "waiting for a pick")
LEGAL = 8

ENTERED, TAKEN = DECK, 2 * DECK
KIND = 3 * DECK
(
    I_DEAL,
    ROUNDS_LEFT,
    TURN,
    LEAD,
    THEIR_HAND,
    STOCK_LEFT,
    MY_CALLS,
    THEIR_CALLS,
    MY_YAKU_POINTS,
    THEIR_YAKU_POINTS,
    MY_SCORE,
    THEIR_SCORE,
    MY_CALL_TURNS,
    THEIR_CALL_TURNS,
    MY_YAKU,
    MY_YAKU_HIGH,
    THEIR_YAKU,
    THEIR_YAKU_HIGH,
    PENDING_CARD,
    RULES,
) = range(KIND + 1, KIND + 21)
WIDTH = RULES + 1
LEAD_ZERO = 128
BYTE = 255

# What is decided, by the paper's three models; the kernel tells the two picks apart.
DECISIONS = ("discard", "pick", "koi_koi")
KINDS = ("discard", "pick for the discard", "pick for the draw", "koi-koi or stop")
DECISION_OF_KIND = (0, 1, 1, 2)

YAKU = {name: cards for name, (cards, _) in YAKU_CARDS.items()}  # in the order of their bits
LIGHT_POINTS = (10, 8, 7, 5)  # of the first four yaku

# The sets that are counted in each zone, with the number that makes 1.
COUNTED = {
    "lights": (LIGHTS, 5),
    "lights but the rainman": (LIGHTS & ~RAINMAN, 4),
    "seeds": (SEEDS, 5),
    "ribbons": (RIBBONS, 5),
    "dross": (DROSS, 10),
    "boar, deer, butterfly": (BOAR_DEER_BUTTERFLY, 3),
    "red ribbons": (RED, 3),
    "blue ribbons": (BLUE, 3),
    "curtain, cup": (CURTAIN | CUP, 2),
    "moon, cup": (MOON | CUP, 2),
}
COUNTED_ZONES = (MY_HAND, FIELD, MY_PILE, THEIR_PILE, UNSEEN)
CATEGORY_SETS = {"light": LIGHTS, "seed": SEEDS, "ribbon": RIBBONS, "dross": DROSS}
MOST_LEAD = 20  # leads are distinguished up to here
MOST_CALLS = 4
ROUNDS_TOLD = 8

TURN_NUMBERS = "my turns 1 to 8, then theirs"
COUNTS = "; ".join(f"{name} / {whole}" for name, (_, whole) in COUNTED.items())
FEATURES, TOKEN_FEATURES, GLOBAL_FEATURES = number_blocks(
    (
        (6, "zone", "the card is " + ", ".join(ZONES)),
        (1, "dealt", "it was dealt to the field"),
        (16, "discarded", f"it was discarded in turn: {TURN_NUMBERS}"),
        (16, "drawn", f"it was drawn in turn: {TURN_NUMBERS}"),
        (16, "taken by discard", f"it came to a pile with the discard of turn: {TURN_NUMBERS}"),
        (16, "taken by draw", f"it came to a pile with the drawn card of turn: {TURN_NUMBERS}"),
        (12, "month", "its month, 1 to 12"),
        (4, "number", "its number within the month, 1 to 4"),
        (4, "category", "it is a " + ", ".join(CATEGORY_SETS) + " (the cup is two of them)"),
        (13, "part of", "it can be part of " + ", ".join(YAKU)),
        (2, "special", "the token is stop, koi-koi"),
        (1, "legal", "it can be chosen now"),
        (1, "matches", "it has the month of the card that waits for a pick"),
        (5, "month counts", "cards of its month in my hand, field, my pile, theirs, unseen; / 4"),
    ),
    (
        (2, "dealer", "I deal, they deal"),
        (8, "rounds left", "rounds left with this one, 1 to 8 (more count as 8)"),
        (16, "turn", "turn of the round, 1 to 16"),
        (4, "decision", "what is decided: " + ", ".join(KINDS)),
        (1, "lead", "half the lead in points / 30: what I have won so far"),
        (41, "lead from", "that lead is at least -20, -19, ... 20"),
        (
            6,
            "cards",
            "in my hand / 8, theirs / 8, field / 8, my pile / 16, theirs / 16, stock / 24",
        ),
        (50, "set counts", f"in my hand, field, my pile, theirs, unseen: {COUNTS}"),
        (13, "my yaku", "I have " + ", ".join(YAKU)),
        (13, "their yaku", "they have the same"),
        (2, "yaku points", "yaku points of my pile, theirs; / 10"),
        (2, "score", "what a stop would win me, them, bonus included; / 10"),
        (2, "calls", "koi-koi calls of mine, theirs; / 4"),
        (10, "calls so far", "I have called 0, 1, 2, 3, 4 or more times; they likewise"),
        (16, "called in turn", f"koi-koi was called in turn: {TURN_NUMBERS}"),
        (1, "nintendo", "the rules are Nintendo's"),
    ),
)


@kernel
def token_of_action(action: int) -> int:
    """Return the token that stands for an action."""
    if action >= STOP:
        return STOP_TOKEN + action - STOP
    return action - TAKE if action >= TAKE else action


@kernel
def action_of_token(s: Any, token: int) -> int:
    """Return the action that a token means in a state."""
    if token >= STOP_TOKEN:
        return STOP if token == STOP_TOKEN else KOI_KOI
    return token if s.phase == DISCARD else TAKE + token


@kernel
def legal_cards(s: Any, seat: int) -> int:
    """Return the cards that the seat to move can choose."""
    if s.phase == DISCARD:
        return s.hands[seat]
    if s.phase == CALL:
        return int64(0)
    return field_matches(s, int64(s.pending))


@kernel
def write_choices(s: Any, seat: int, out: Any) -> int:
    """Write the tokens that can be chosen, the first repeated to the end; return their number."""
    count = 0
    if s.phase == CALL:
        out[0] = STOP_TOKEN
        out[1] = KOI_KOI_TOKEN
        count = 2
    rest = legal_cards(s, seat)
    while rest:
        out[count] = lowest_bit(rest)
        rest &= rest - 1
        count += 1
    for i in range(count, MOST_CHOICES):
        out[i] = out[0]
    return count


@kernel
def yaku_bits(pile: int) -> int:
    """Return which of `YAKU` a pile forms, as bits."""
    best = lights(pile)
    bits = int64(0)
    for i in range(4):
        if best == LIGHT_POINTS[i]:
            bits |= bit(i)
    bits |= has(pile, BOAR_DEER_BUTTERFLY, 1 << 4)
    bits |= has(pile, CURTAIN | CUP, 1 << 5)
    bits |= has(pile, MOON | CUP, 1 << 6)
    bits |= (beyond(pile, SEEDS, 4) > 0) << 7
    bits |= has(pile, RED, 1 << 8)
    bits |= has(pile, BLUE, 1 << 9)
    bits |= has(pile, RED | BLUE, 1 << 10)
    bits |= (beyond(pile, RIBBONS, 4) > 0) << 11
    bits |= (beyond(pile, DROSS, 9) > 0) << 12
    return bits


@kernel
def write_events(s: Any, seat: int, out: Any) -> None:
    """Write what every turn of the round did with the cards, and who called koi-koi."""
    now = int64(s.round_number) & 1
    first = dealer(s)
    for turn in range(int64(s.turn) + 1):
        mine = (first ^ (turn & 1)) == seat
        event = (turn >> 1) + (0 if mine else HAND)
        card = int64(s.discarded[now, turn])
        if card != NOBODY:
            out[ENTERED + card] = 1 + event
            took = int64(s.discard_took[now, turn])
            if took:
                write_zone(bit(card) | (took << (card & ~3)), 1 + event, out[TAKEN:KIND])
        card = int64(s.drawn[now, turn])
        if card != NOBODY:
            out[ENTERED + card] = 1 + TURNS + event
            took = int64(s.draw_took[now, turn])
            if took:
                write_zone(bit(card) | (took << (card & ~3)), 1 + TURNS + event, out[TAKEN:KIND])
        if s.answer[now, turn] == CALLED:
            place = MY_CALL_TURNS if mine else THEIR_CALL_TURNS
            out[place] |= bit(turn >> 1)


@kernel
def write_view(s: Any, seat: int, out: Any) -> None:
    """Write the row of the decision that `seat` is to take."""
    other = 1 - seat
    for i in range(WIDTH):
        out[i] = 0
    write_zone(s.hands[seat], MY_HAND, out)
    write_zone(s.field_cards, FIELD, out)
    write_zone(s.piles[seat], MY_PILE, out)
    write_zone(s.piles[other], THEIR_PILE, out)
    out[PENDING_CARD] = s.pending
    if s.pending != NOBODY:
        out[s.pending] = PENDING
    rest = legal_cards(s, seat)
    while rest:
        out[lowest_bit(rest)] |= LEGAL
        rest &= rest - 1
    write_events(s, seat, out)
    their_discards = 0
    for card in range(DECK):
        entered = int64(out[ENTERED + card])
        their_discards += HAND < entered <= TURNS
    out[KIND] = int64(s.phase) - DISCARD
    out[I_DEAL] = dealer(s) == seat
    out[ROUNDS_LEFT] = int64(s.rounds) - int64(s.round_number) + 1
    out[TURN] = s.turn
    lead = (int64(s.points_now[seat]) - int64(s.points_now[other])) // 2
    out[LEAD] = LEAD_ZERO + min(max(lead, 1 - LEAD_ZERO), LEAD_ZERO - 1)
    out[THEIR_HAND] = HAND - their_discards
    out[STOCK_LEFT] = STOCK - cards_drawn(s)
    out[MY_CALLS], out[THEIR_CALLS] = s.calls[seat], s.calls[other]
    out[MY_YAKU_POINTS] = min(pile_points(s, seat), BYTE)
    out[THEIR_YAKU_POINTS] = min(pile_points(s, other), BYTE)
    out[MY_SCORE] = min(score(s, seat), BYTE)
    out[THEIR_SCORE] = min(score(s, other), BYTE)
    mine, theirs = yaku_bits(s.piles[seat]), yaku_bits(s.piles[other])
    out[MY_YAKU], out[MY_YAKU_HIGH] = mine & BYTE, mine >> 8
    out[THEIR_YAKU], out[THEIR_YAKU_HIGH] = theirs & BYTE, theirs >> 8
    out[RULES] = s.rules


@kernel
def write_rows(states: Any, seats: Any, rows: Any, choices: Any) -> None:
    """Write the rows and the choices of many decisions, states or views alike."""
    for i in range(len(states)):
        write_view(states[i], seats[i], rows[i])
        write_choices(states[i], seats[i], choices[i])
