"""The heuristic of Crazy Eights: keep eights, play towards suits and ranks of the own hand.

`choose` is the agent; `choose_loosely` follows it most of the time and serves play-outs;
`plausibility` says how well the last plays of the others fit such a player, by which sampled
hands are weighed; `worth` values a position by the cards in the two hands.
"""

from __future__ import annotations

from typing import Any

from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.engine.seeding import below
from cardlab.games.crazy_eights.rules import (
    DRAW,
    EIGHT_ACTIONS,
    EIGHTS,
    FIRST_EIGHT,
    LOG,
    ONE_RANK,
    ONE_SUIT,
    PASS,
    hand_value,
)

EIGHT_WITHOUT_NEED = 0.05  # how often a seat is thought to play an eight that it could keep
ANOTHER_CARD = 0.1  # how often it is thought to play another card than `choose` would


@kernel
def preference(hand: int, card: int) -> int:
    """Return how much a card is liked: by how many cards in hand could follow it, then by value."""
    rest = hand & ~bit(card)
    followers = (ONE_SUIT << (card & 3)) | (ONE_RANK << (card & ~3))
    return 100 * count_bits(rest & followers) + hand_value(bit(card))


@kernel
def card_of(action: int) -> int:
    """Return the card that an action plays."""
    if action >= EIGHT_ACTIONS:
        return FIRST_EIGHT + ((action - EIGHT_ACTIONS) >> 2)
    return action if action < FIRST_EIGHT else action + 4


@kernel
def choose(s: Any, seat: int, actions: Any, count: int) -> int:
    """Keep eights; play towards suits and ranks of the own hand, expensive cards first.

    An eight is played when nothing else fits or it is the last card, for the suit held most.
    """
    best = -1
    choice = int64(actions[0])
    hand = s.hands[seat]
    for i in range(count):
        action = int64(actions[i])
        if action == PASS:
            return action
        if action == DRAW:
            score = 0
        elif action < EIGHT_ACTIONS:
            score = 1000 + preference(hand, card_of(action))
        else:
            score = 1 + count_bits(hand & ~EIGHTS & (ONE_SUIT << (action & 3)))
        if score > best:
            best = score
            choice = action
    return choice


@kernel
def choose_loosely(s: Any, seat: int, actions: Any, count: int, rng: Any) -> int:
    """Play as `choose` four times of five, otherwise any card but an eight, if there is one."""
    if below(rng, 5):
        return choose(s, seat, actions, count)
    plain = 0
    while plain < count and actions[plain] < EIGHT_ACTIONS:
        plain += 1
    if plain:
        return int64(actions[below(rng, plain)])
    return choose(s, seat, actions, count)


@kernel
def plausibility(s: Any, seat: int) -> float:
    """Return how well the last plays of the others fit their hands in this world, in (0, 1].

    For each other seat its plays are taken back one by one, as far as the log reaches without a
    draw of its own, and compared with what `choose` would have liked better at that moment.
    """
    share = 1.0
    plies = int64(s.plies)
    oldest = max(1, plies - LOG + 1)
    for other in range(int64(s.seats)):
        if other == seat or other == s.seat:
            continue
        hand = s.hands[other]
        ply = plies - 1
        while ply >= oldest:
            action = int64(s.log_action[ply % LOG])
            before = int64(s.log_action[(ply - 1) % LOG])
            mine = s.log_seat[ply % LOG] == other
            if mine and (action >= PASS or before >= PASS or s.log_drew[ply % LOG]):
                break
            if mine:
                card = card_of(action)
                under = card_of(before)
                suit = before & 3 if before >= EIGHT_ACTIONS else under & 3
                fitting = (ONE_SUIT << suit) | (ONE_RANK << (under & ~3))
                others = hand & fitting & ~EIGHTS
                if action >= EIGHT_ACTIONS:
                    if others:
                        share *= EIGHT_WITHOUT_NEED
                else:
                    whole = hand | bit(card)
                    liked = preference(whole, card)
                    while others:
                        if preference(whole, lowest_bit(others)) > liked:
                            share *= ANOTHER_CARD
                            break
                        others &= others - 1
                hand |= bit(card)
            ply -= 1
    return share


@kernel
def worth(s: Any, seat: int) -> float:
    """Return the value of the other hands less that of the own hand: small hands are good."""
    total = -2 * hand_value(s.hands[seat])
    for other in range(int64(s.seats)):
        total += hand_value(s.hands[other])
    return float(total)
