"""Uno: shed all cards by matching colour or trait; wilds call a colour.

Rules: `official` is Mattel's common game, `rlcard` the game as RLCard 1.2.0 plays it (but for its
defects), which the paper "Winning Uno With Reinforcement Learning" used. Cards are dealt one at a
time in turn, then the start card is turned; seat 0 comes first, in later rounds the next seat.

official   A start card acts as if the seat before the first had played it, except that a wild lets
           the first seat name a colour, a wild draw four is shuffled back, and a reverse lets the
           seat before the first begin. With two seats a reverse is a skip. A wild draw four needs a
           hand without the colour in force. A seat with nothing to play draws one card and may
           play it at once or keep it. The discards below the top card replace an empty stock.
rlcard     Seat 0 begins; a start draw two gives it two cards, a start skip lets seat 1 begin, a
           start reverse the last seat; a start wild gets a colour by chance. A wild draw four needs
           a hand with nothing else that fits. A drawn card of the colour in force is played at
           once, another is kept even if its trait fits; a drawn wild is played at once in a colour
           by chance, without drawing four. A reverse never skips. If fewer cards are left than must
           be drawn, they, all discards and the top card are shuffled first.

Options: `seats` 2-10, `rules`, and with official rules `stacking` (a draw two may be answered by
another, the next seat takes the sum), `keep_drawn` (off: a drawn card that fits must be played),
`voluntary_draw` (drawing is allowed with a fitting card, too), `target` 500 (rounds until a seat
has that many points; the seat that goes out scores the other hands). A last draw two or four is
still drawn and scores. A game of MAX_PLIES actions (with a target MATCH_PLIES) is a tie.

Action ids
     0..59  15 * colour + trait: colours R G B Y; traits 0-9, skip, reverse, draw two, wild and wild
            draw four, where the colour is the one called
        60  draw one card, or what has been stacked up
        61  keep the card just drawn
    62..65  name the colour of a start wild

Chance: the deal and a reshuffle take the sequence of cards from the order handed in, a start wild
draw four goes back to a place that the order gives, and a colour by chance is that of the order's
first coloured card.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Description, Event, Game, Zone
from cardlab.engine.kernel import bit, count_bits, int64, kernel
from cardlab.games.uno import PACKAGE, cards, kernels
from cardlab.games.uno.cards import (
    ACTIONS,
    COLOUR_NAMES,
    COLOURS,
    DECK,
    DRAW,
    FOUR,
    FOUR_BIT,
    KEEP,
    KIND_END,
    NAME,
    TOTAL,
    WILD,
    WILD_BIT,
    cards_in,
    count,
    kind_text,
)
from cardlab.games.uno.hidden_hands import NOBODY, PILE
from cardlab.games.uno.kernels import (
    COLOUR,
    DEAL,
    DRAWN,
    FINISHED,
    LOG,
    MATCH_PLIES,
    MAX_PLIES,
    NAMING,
    PLAY,
    RLCARD,
    SHUFFLED,
    STATE,
    TOOK,
    TURN_AGAIN,
    TURNED,
    WENT_OUT,
    after,
    hands_value,
    points,
)

RULES = ("official", "rlcard")


def fresh(
    *, seats: int, rules: str, stacking: bool, keep_drawn: bool, voluntary_draw: bool, target: int
) -> Any:
    """Return an array of one game that waits for the deal."""
    if rules == "rlcard":
        given = {"stacking": stacking, "voluntary_draw": voluntary_draw, "target": target}
        wrong = [name for name, value in given.items() if value]
        wrong += [] if keep_drawn else ["keep_drawn"]
        if wrong:
            raise CardlabError(
                f"option {wrong[0]} of uno changes the official rules only; "
                "leave it out or use rules=official"
            )
    state = np.zeros(1, dtype=STATE)
    s = state[0]
    s.seats, s.stacking, s.keep_drawn, s.voluntary_draw = (
        seats,
        stacking,
        keep_drawn,
        voluntary_draw,
    )
    s.rules, s.target, s.bound = RULES.index(rules), target, MATCH_PLIES if target else MAX_PLIES
    s.phase, s.winner, s.gone_out, s.drawn = DEAL, NOBODY, NOBODY, NOBODY
    s.top, s.cut = NOBODY, NOBODY
    s.stock[:] = NOBODY
    return state


FAULTS = (
    "sound",
    "a card is missing or lies in two places",
    "a hand has another size than its count",
    "the top card is not on the pile",
    "a hand has more or fewer places than cards",
    "a hand holds a card that no place of it may hold",
    "the points are not the cards of the other hands",
    "cards are owed or stacked up while a seat moves",
)


@kernel
def audit(s: Any) -> int:
    """Return 0 if the record is sound, otherwise the number of a fault."""
    if s.phase in (DEAL, TURN_AGAIN):
        return 0
    total = int64(s.stock_end) - int64(s.stock_at)
    for row in range(int64(s.seats)):
        ones, twos = s.cards[row, 0], s.cards[row, 1]
        size = count_bits(ones) + count_bits(twos)
        total += size
        if size != s.sizes[row]:
            return 2
        places = 0
        held = int64(0)
        for group in range(int64(s.groups[row])):
            places += int64(s.places[row, group])
            held |= ~s.barred[row, group]
        if places != size:
            return 4
        third = (WILD_BIT | FOUR_BIT) << ACTIONS
        if (ones | twos) & ~third & ~held:
            return 5
    total += count_bits(s.cards[PILE, 0]) + count_bits(s.cards[PILE, 1])
    if total != DECK:
        return 1
    for kind in range(KIND_END):
        if TOTAL[kind]:
            found = count(s.cards[PILE], kind)
            for seat in range(int64(s.seats)):
                found += count(s.cards[seat], kind)
            for i in range(int64(s.stock_at), int64(s.stock_end)):
                if s.stock[i] == kind:
                    found += 1
            if found != TOTAL[kind]:
                return 1
    if not s.cards[PILE, 0] & bit(s.top) and not (s.rules == RLCARD and s.shuffled):
        return 3
    if s.phase >= PLAY and (s.owed or s.own_turn or (s.stacked and s.phase != PLAY)):
        return 0 if s.phase == FINISHED else 7
    if s.phase == FINISHED:
        for seat in range(int64(s.seats)):
            if s.winner == seat and points(s, seat) < s.target:
                return 6
            if not s.target and points(s, seat) != (hands_value(s) if s.winner == seat else 0):
                return 6
    return 0


def state_text(s: Any) -> str:
    """Return a state or a view as a few lines of text."""
    if s.phase in (DEAL, TURN_AGAIN):
        what = "not dealt" if s.phase == DEAL else "another start card is to be turned"
        return f"uno, {s.seats} seats, {what}"
    stock = int(s.stock_end) - int(s.stock_at)
    way = ", backwards" if s.backwards else ""
    head = f"top {kind_text(int(s.top))}, colour {COLOURS[int(s.colour)]}, stock {stock}{way}"
    lines = [f"ply {s.plies}: {head}"]
    if s.stacked:
        lines.append(f"  {s.stacked} cards stacked up")
    for seat in range(int(s.seats)):
        cards = " ".join(map(kind_text, cards_in(s.cards[seat]))) or f"{s.sizes[seat]} cards"
        star = "*" if PLAY <= s.phase < FINISHED and s.seat == seat else " "
        score = f" ({s.scores[seat]} points)" if s.target else ""
        lines.append(f"  seat {seat}{star} {cards}{score}")
    if s.phase == DRAWN:
        what = "a card" if s.drawn == NOBODY else kind_text(int(s.drawn))
        lines.append(f"  seat {s.seat} has drawn {what}")
    if s.phase == FINISHED:
        lines.append("  tie" if s.winner == NOBODY else f"  seat {s.winner} wins")
    return "\n".join(lines)


def describe(s: Any, seat: int) -> Description:
    """Return what `seat` knows as plain data."""
    zones = []
    for other in range(int(s.seats)):
        cards = tuple(map(kind_text, cards_in(s.cards[other]))) if other == seat else ()
        zones.append(Zone("hand", int(s.sizes[other]), cards, seat=other))
    zones.append(Zone("stock", int(s.stock_end) - int(s.stock_at)))
    facts: dict[str, str | int] = {}
    if s.phase not in (DEAL, TURN_AGAIN):
        pile = cards_in(s.cards[PILE])
        if int(s.top) in pile:
            pile.remove(int(s.top))
        texts = (kind_text(int(s.top)), *map(kind_text, pile))
        zones.append(Zone("pile", len(texts), texts))
        if s.cut != NOBODY:
            turned = [WILD] * int(s.cut_wilds) + [FOUR] * int(s.cut_fours) + [int(s.cut)]
            zones.append(Zone("cut for the colour", len(turned), tuple(map(kind_text, turned))))
        if s.turned_back and s.plies == 0:
            zones.append(Zone("put back at the start", 1, (kind_text(FOUR),)))
        if s.phase not in (COLOUR, NAMING):
            facts["colour"] = COLOUR_NAMES[int(s.colour)]
        if s.seats > 2:
            facts["next"] = f"seat {after(s, int(s.seat))}"
    if s.stacked:
        facts["to draw"] = f"{s.stacked} cards, or answer with a draw two"
    if s.phase == DRAWN and s.seat == seat:
        facts["you drew"] = kind_text(int(s.drawn))
    if s.target:
        scores = [f"seat {k} {s.scores[k]}" for k in range(int(s.seats)) if s.scores[k]]
        facts["round"] = int(s.rounds) + 1
        facts["points"] = f"{', '.join(scores) or 'nobody has any'}; {s.target} win"
    if s.phase == FINISHED:
        facts["result"] = "tie" if s.winner == NOBODY else f"seat {s.winner} wins"
    return Description(
        seat=seat,
        seats=int(s.seats),
        to_move=int(s.seat) if PLAY <= s.phase < FINISHED else None,
        zones=tuple(zones),
        facts=facts,
        events=tuple(events(s)),
    )


def events(s: Any) -> list[Event]:
    """Return the last entries of the log in words, oldest first."""
    found = []
    logged = int(s.logged)
    entries = list(zip(s.log_seat.tolist(), s.log_what.tolist(), s.log_more.tolist(), strict=True))
    for entry in range(max(0, logged - LOG), logged):
        seat, what, more = entries[entry % LOG]
        if what < DRAW:
            colour, trait = divmod(what, ACTIONS)
            card = kind_text(what if trait < WILD else trait)
            text = f"played {card}" if trait < WILD else f"played {card} and called"
            text = text if trait < WILD else f"{text} {COLOUR_NAMES[colour]}"
            found.append(Event(seat, f"{text}, just drawn" if more else text))
        elif what in (DRAW, TOOK):
            cards = "a card" if more == 1 else f"{more} cards"
            found.append(Event(seat, f"drew {cards}" if more else "found no card to draw"))
        elif what == KEEP:
            found.append(Event(seat, "kept it"))
        elif what == SHUFFLED:
            found.append(Event(None, "the discards were shuffled into a new stock"))
        elif what == TURNED:
            found.append(Event(None, f"the start card was {kind_text(more)}"))
        elif what == WENT_OUT:
            found.append(Event(seat, "went out and scored the other hands"))
        else:
            found.append(Event(seat, f"named {COLOUR_NAMES[what - NAME]}"))
    return found


GAME = Game.from_module(__name__, PACKAGE, cards, kernels, max_plies=MATCH_PLIES)
