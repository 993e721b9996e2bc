"""Koi-Koi: capture hanafuda cards by month, form yaku, and stop in time - or call koi-koi.

Rules: "Learning to Play Koi-Koi Hanafuda Card Games With Transformers", appendix, with what it
leaves open decided by its authors' program and their records of human games. Two seats start
with 30 points each. A round deals 8 cards to each hand, 8 to the field and 24 to the stock, of
which only 16 can ever be drawn. A turn: discard a card, then draw one; each takes the field cards
of its month if there are one or three, one of them by choice if there are two, and stays on the
field if there are none. A seat whose yaku points rose in the turn chooses between
stopping, which wins the points from the other seat, and calling koi-koi; a seat without cards stops
automatically. The game ends with its last round, or when a seat has no points left.

Options: `rules` and `rounds` (0 stands for the rule set's own number).
- `paper`: 8 rounds. Four of a month in a hand or on the field: dealt again. A winner who called
  koi-koi n times adds n points (n <= 3) or takes n - 2 times the points. If no seat stops, the
  dealer gets one point and deals again.
- `nintendo`: 12 rounds. Three or four of a month on the field: dealt again. Four of a month or four
  pairs in a dealt hand win 6 points at once (in both hands: no seat wins). Koi-koi can be called
  once by each seat and round; a later rise stops automatically. Yaku points of 7 or more are
  doubled, and the points are doubled if the other seat has called koi-koi. If no seat stops, there
  are no points, and the other seat deals.
The winner of a round deals the next one; the dealer moves first.

Orders: the first one is the cut. Its cards are turned in pairs, one for seat 0 and one for seat 1,
until two months differ; the earlier one deals. Every other order is a deal: 8 cards for seat 0, 8
for seat 1, 8 for the field, then the stock in drawing order.

Action ids
     0..47  discard the card with this id
    48..95  take field card (id - 48), where two match the card just discarded or drawn
        96  stop
        97  koi-koi
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Game
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import below
from cardlab.games.koi_koi import PACKAGE, table
from cardlab.games.koi_koi.cards import (
    ALL_CARDS,
    DECK,
    ONE_MONTH,
    card_text,
    find_cards,
    four_of_a_month,
    four_pairs,
    parse_card,
    three_of_a_month,
)
from cardlab.games.koi_koi.table import (
    BOTH_LUCKY,
    CALL,
    CALLED,
    CUT,
    DEAL,
    DISCARD,
    EXHAUSTED,
    FINISHED,
    FOUR_OF_A_MONTH,
    FOUR_PAIRS,
    HAND,
    MOST_ROUNDS,
    NINTENDO,
    NOBODY,
    PICK_FOR_DISCARD,
    PICK_FOR_DRAW,
    RULES,
    RUNNING,
    SILENT,
    STATE,
    STOPPED,
    TURNS,
    WON,
    cards_drawn,
    dealer,
    field_matches,
    pile_points,
    played_by,
    score,
)

START = 30
ROUNDS = (8, 12)
AT_ONCE = 6
USED_CARDS = 3 * HAND + TURNS
TAKE, STOP, KOI_KOI = DECK, 2 * DECK, 2 * DECK + 1
NUM_ACTIONS = KOI_KOI + 1


def fresh(*, rules: str, rounds: int) -> Any:
    """Return an array of one game that waits for the cut."""
    state = np.zeros(1, dtype=STATE)
    s = state[0]
    s.seats, s.rules = 2, RULES.index(rules)
    s.rounds = rounds or ROUNDS[s.rules]
    s.points_now[:] = START
    s.phase, s.pending = CUT, NOBODY
    s.stock[:] = s.discarded[:] = s.drawn[:] = NOBODY
    return state


@kernel
def mover(s: Any) -> int:
    """Return the seat to move, DEALER or OVER."""
    if s.phase <= DEAL:
        return DEALER
    if s.phase == FINISHED:
        return OVER
    return int64(s.seat)


@kernel
def deal(s: Any, order: Any) -> None:
    """Cut for the first deal, or deal a round; a deal that the rules reject is to be repeated."""
    if s.phase == CUT:
        for i in range(0, DECK, 2):
            months = int64(order[i]) >> 2, int64(order[i + 1]) >> 2
            if months[0] != months[1]:
                s.next_dealer = 0 if months[0] < months[1] else 1
                s.phase = DEAL
                return
        return
    first, second, field = int64(0), int64(0), int64(0)
    for i in range(HAND):
        first |= bit(order[i])
        second |= bit(order[HAND + i])
        field |= bit(order[2 * HAND + i])
    four_in = four_of_a_month(first) | four_of_a_month(second)
    if s.rules == NINTENDO:
        if three_of_a_month(field):
            s.shown |= field
            return
    elif four_in or four_of_a_month(field):
        s.shown |= field | (four_in * ONE_MONTH)
        return
    number = int64(s.round_number) + 1
    now = number & 1
    s.round_number = number
    s.hands[0], s.hands[1], s.field_cards = first, second, field
    s.turn = 0
    s.dealers[now] = s.next_dealer
    s.seat = s.next_dealer
    s.pending = NOBODY
    s.ended[now] = RUNNING
    for seat in range(2):
        s.piles[seat] = 0
        s.calls[seat] = 0
        s.yaku[seat] = 0
    for turn in range(TURNS):
        s.stock[turn] = order[3 * HAND + turn]
        s.discarded[now, turn] = NOBODY
        s.discard_took[now, turn] = 0
        s.drawn[now, turn] = NOBODY
        s.draw_took[now, turn] = 0
        s.answer[now, turn] = SILENT
    s.phase = DISCARD
    if s.rules == NINTENDO:
        win_at_once(s)


@kernel
def luck(hand: int) -> int:
    """Return how a dealt hand wins the round at once, or RUNNING."""
    if four_of_a_month(hand):
        return FOUR_OF_A_MONTH
    return FOUR_PAIRS if four_pairs(hand) else RUNNING


@kernel
def win_at_once(s: Any) -> None:
    """End a round in which a hand wins before the first turn; two such hands cancel out."""
    first, second = luck(s.hands[0]), luck(s.hands[1])
    if first == RUNNING and second == RUNNING:
        return
    s.shown |= s.field_cards
    for seat in range(2):
        if luck(s.hands[seat]) != RUNNING:
            s.shown |= s.hands[seat]
    if first != RUNNING and second != RUNNING:
        end_round(s, 1 - dealer(s), 0, BOTH_LUCKY)
    elif first != RUNNING:
        end_round(s, 0, AT_ONCE, first)
    else:
        end_round(s, 1, AT_ONCE, second)


@kernel
def legal(s: Any, out: Any) -> int:
    """Write the legal actions in ascending order and return their number."""
    rest = int64(0)
    first = 0
    if s.phase == DISCARD:
        rest = s.hands[s.seat]
    elif s.phase in (PICK_FOR_DISCARD, PICK_FOR_DRAW):
        rest = field_matches(s, int64(s.pending))
        first = TAKE
    elif s.phase == CALL:
        out[0] = STOP
        out[1] = KOI_KOI
        return 2
    count = 0
    while rest:
        out[count] = first + lowest_bit(rest)
        rest &= rest - 1
        count += 1
    return count


@kernel
def apply(s: Any, action: int) -> None:
    """Take an action for the seat to move and go on to the next decision."""
    seat, now, turn = int64(s.seat), int64(s.round_number) & 1, int64(s.turn)
    if s.phase == DISCARD:
        s.hands[seat] &= ~bit(action)
        s.discarded[now, turn] = action
        s.shown = 0
        took = lay(s, seat, action)
        if took < 0:
            s.phase = PICK_FOR_DISCARD
            return
        s.discard_took[now, turn] = took
        draw(s, seat, now, turn)
    elif s.phase == PICK_FOR_DISCARD:
        s.discard_took[now, turn] = pick(s, seat, action - TAKE)
        draw(s, seat, now, turn)
    elif s.phase == PICK_FOR_DRAW:
        s.draw_took[now, turn] = pick(s, seat, action - TAKE)
        end_turn(s, seat, now, turn)
    elif action == KOI_KOI:
        s.answer[now, turn] = CALLED
        s.calls[seat] += 1
        s.yaku[seat] = pile_points(s, seat)
        next_turn(s, seat, turn)
    else:
        stop(s, seat, now, turn)


@kernel
def lay(s: Any, seat: int, card: int) -> int:
    """Lay a card on the field or take what it matches; -1: two match, the seat must pick."""
    month = card & ~3
    there = field_matches(s, card)
    count = count_bits(there)
    if count == 2:
        s.pending = card
        return -1
    if count == 0:
        s.field_cards |= bit(card)
        return 0
    s.field_cards &= ~there
    s.piles[seat] |= there | bit(card)
    return there >> month


@kernel
def pick(s: Any, seat: int, taken: int) -> int:
    """Take one of two field cards with the pending card."""
    s.field_cards &= ~bit(taken)
    s.piles[seat] |= bit(taken) | bit(s.pending)
    s.pending = NOBODY
    return bit(taken & 3)


@kernel
def draw(s: Any, seat: int, now: int, turn: int) -> None:
    """Turn the next card of the stock."""
    card = int64(s.stock[turn])
    s.stock[turn] = NOBODY
    s.drawn[now, turn] = card
    took = lay(s, seat, card)
    if took < 0:
        s.phase = PICK_FOR_DRAW
        return
    s.draw_took[now, turn] = took
    end_turn(s, seat, now, turn)


@kernel
def end_turn(s: Any, seat: int, now: int, turn: int) -> None:
    """Ask for a call if the seat's yaku points rose, or stop where it has no choice."""
    if s.discard_took[now, turn] | s.draw_took[now, turn]:
        worth = pile_points(s, seat)
        if worth > s.yaku[seat]:
            s.yaku[seat] = worth
            if turn >= TURNS - 2 or (s.rules == NINTENDO and s.calls[seat]):
                stop(s, seat, now, turn)
            else:
                s.phase = CALL
            return
    next_turn(s, seat, turn)


@kernel
def next_turn(s: Any, seat: int, turn: int) -> None:
    """Pass the turn on, or end the round after the last one."""
    if turn < TURNS - 1:
        s.turn = turn + 1
        s.seat = 1 - seat
        s.phase = DISCARD
    elif s.rules == NINTENDO:
        end_round(s, 1 - dealer(s), 0, EXHAUSTED)
    else:
        end_round(s, dealer(s), 1, EXHAUSTED)


@kernel
def stop(s: Any, seat: int, now: int, turn: int) -> None:
    """Win the round."""
    s.answer[now, turn] = STOPPED
    end_round(s, seat, score(s, seat), WON)


@kernel
def end_round(s: Any, seat: int, gain: int, how: int) -> None:
    """Give a seat its points and the next deal, or end the game."""
    number = int64(s.round_number)
    s.ended[number & 1] = how
    s.gains[number - 1] = gain if seat == 0 else -gain
    s.points_now[seat] += gain
    s.points_now[1 - seat] -= gain
    s.next_dealer = seat
    s.phase = FINISHED if number == s.rounds or s.points_now[1 - seat] <= 0 else DEAL


@kernel
def round_points(s: Any, seat: int) -> int:
    """Return what the latest round dealt has brought a seat: 0 until it has ended."""
    if s.round_number == 0 or s.ended[int64(s.round_number) & 1] == RUNNING:
        return 0
    gain = int64(s.gains[int64(s.round_number) - 1])
    return gain if seat == 0 else -gain


@kernel
def returns(s: Any, seat: int) -> float:
    """Return 1 for the seat with more points, -1 for the other, 0 in a draw."""
    lead = int64(s.points_now[seat]) - int64(s.points_now[1 - seat])
    if lead == 0:
        return 0.0
    return 1.0 if lead > 0 else -1.0


@kernel
def points(s: Any, seat: int) -> float:
    """Return a seat's points."""
    return float(s.points_now[seat])


@kernel
def is_shown(s: Any, seat: int) -> bool:
    """Return whether a hand lies open because it won the round at once."""
    lucky = s.ended[int64(s.round_number) & 1] >= FOUR_OF_A_MONTH
    return lucky and s.hands[seat] != 0 and luck(s.hands[seat]) != RUNNING


@kernel
def conceal(s: Any, seat: int) -> None:
    """Erase the stock and the other hand, unless that lies open."""
    if not is_shown(s, 1 - seat):
        s.hands[1 - seat] = 0
    for turn in range(TURNS):
        s.stock[turn] = NOBODY


@kernel
def cannot_be_dealt(s: Any, hand: int) -> bool:
    """Return whether a dealt hand would have been rejected or have won the round at once."""
    if s.rules == NINTENDO:
        return luck(hand) != RUNNING
    return four_of_a_month(hand) != 0


@kernel
def random_card(cards: int, rng: Any) -> int:
    """Return a card of a set at random."""
    card = below(rng, DECK)
    while not cards & bit(card):
        card = below(rng, DECK)
    return card


@kernel
def imagine_stock(s: Any, cards: int, rng: Any) -> None:
    """Lay some of these cards into what is left of the stock, in any order."""
    for turn in range(cards_drawn(s), TURNS):
        card = random_card(cards, rng)
        cards &= ~bit(card)
        s.stock[turn] = card


@kernel
def imagine(s: Any, seat: int, rng: Any) -> bool:
    """Fill the other hand and the stock with unseen cards; False: such a hand cannot be dealt.

    Play shows nothing of the other hand, but the deal was not rejected: the hand that was dealt,
    discards included, has no four of a month (nor four pairs, by `nintendo`).
    """
    if s.round_number == 0:
        return True
    other = 1 - seat
    unseen = ALL_CARDS & ~(s.hands[seat] | s.piles[0] | s.piles[1] | s.field_cards)
    if s.pending != NOBODY:
        unseen &= ~bit(s.pending)
    if is_shown(s, other):
        unseen &= ~s.hands[other]
    else:
        played = played_by(s, other)
        hand = int64(0)
        for _ in range(HAND - count_bits(played)):
            card = random_card(unseen, rng)
            unseen &= ~bit(card)
            hand |= bit(card)
        if cannot_be_dealt(s, hand | played):
            return False
        s.hands[other] = hand
    imagine_stock(s, unseen, rng)
    return True


FAULTS = (
    "sound",
    "a card is missing or lies in two places",
    "a hand has another size than its discards leave",
    "the yaku points are not those of the pile",
    "the points are not what the rounds brought",
    "a hand was dealt that the rules reject",
    "the piles are not what the turns took",
    "the phase does not fit the table",
)


@kernel
def audit(s: Any) -> int:
    """Return 0 if the record is sound, otherwise the number of a fault."""
    if s.round_number == 0:
        return 0
    now = int64(s.round_number) & 1
    cards = s.field_cards
    total = count_bits(cards)
    for i in range(TURNS + 1):
        card = int64(s.stock[i]) if i < TURNS else int64(s.pending)
        if card != NOBODY:
            cards |= bit(card)
            total += 1
    won = int64(START)
    for i in range(MOST_ROUNDS):
        won += int64(s.gains[i])
    for seat in range(2):
        cards |= s.hands[seat] | s.piles[seat]
        total += count_bits(s.hands[seat]) + count_bits(s.piles[seat])
        played = played_by(s, seat)
        if count_bits(s.hands[seat]) + count_bits(played) != HAND or s.hands[seat] & played:
            return 2
        in_turn = s.phase == PICK_FOR_DRAW and s.seat == seat
        if s.yaku[seat] != pile_points(s, seat) and not in_turn:
            return 3
        if s.points_now[seat] != (won if seat == 0 else 2 * START - won):
            return 4
        if s.ended[now] < FOUR_OF_A_MONTH and cannot_be_dealt(s, s.hands[seat] | played):
            return 5
        taken = int64(0)
        for turn in range(dealer(s) ^ seat, TURNS, 2):
            if s.discard_took[now, turn]:
                card = int64(s.discarded[now, turn])
                taken |= bit(card) | int64(s.discard_took[now, turn]) << (card & ~3)
            if s.draw_took[now, turn]:
                card = int64(s.drawn[now, turn])
                taken |= bit(card) | int64(s.draw_took[now, turn]) << (card & ~3)
        if taken != s.piles[seat]:
            return 6
    if total != USED_CARDS or count_bits(cards) != USED_CARDS or cards & ~ALL_CARDS:
        return 1
    picking = s.phase in (PICK_FOR_DISCARD, PICK_FOR_DRAW)
    if picking != (s.pending != NOBODY):
        return 7
    if picking and count_bits(field_matches(s, int64(s.pending))) != 2:
        return 7
    if s.phase == CALL and (s.hands[s.seat] == 0 or s.yaku[s.seat] == 0):
        return 7
    if (s.ended[now] == RUNNING) != (DISCARD <= s.phase <= CALL):
        return 7
    return 0


def action_text(action: int) -> str:
    """Return an action in words: `8-moon` (discard it), `take 8-moon`, `stop`, `koi-koi`."""
    if action >= STOP:
        return "stop" if action == STOP else "koi-koi"
    return card_text(action) if action < TAKE else f"take {card_text(action - TAKE)}"


def parse_action(text: str) -> int:
    """Return the action that a person means by `8-moon`, `moon`, `take 8-2`, `stop`, `koi-koi`."""
    clean = " ".join(text.lower().split())
    if clean == "stop":
        return STOP
    if clean.replace("-", "").replace(" ", "") in ("koikoi", "koi"):
        return KOI_KOI
    if clean.startswith("take "):
        return TAKE + parse_card(clean.removeprefix("take "))
    if not find_cards(clean):
        raise CardlabError(
            f"unknown action {text.strip()!r}; write a card such as 1-crane or 1-1 to discard it, "
            "take 1-crane, stop or koi-koi"
        )
    return parse_card(clean)


GAME = Game.from_module(__name__, PACKAGE, table, max_plies=MOST_ROUNDS * TURNS * 4)
