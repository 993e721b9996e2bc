"""What the terminal shows of Koi-Koi beyond zones and facts: captures, yaku, what texts mean."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from cardlab.engine.cards import cards_in
from cardlab.games.koi_koi import table
from cardlab.games.koi_koi.cards import LIGHTS, card_text, cards_text
from cardlab.games.koi_koi.rules import TAKE
from cardlab.games.koi_koi.yaku import BegunYaku, begun_yaku, list_yaku
from cardlab.show.terminal_texts import TerminalTexts

MOST_MISSING = 2  # cards; a yaku that lacks more is not listed
MOST_YAKU = 3
MOST_NAMED = 3  # cards


def effect(s: Any, action: int) -> str:
    """Return which field cards a discard would take."""
    if action >= TAKE:
        return ""
    there = [card_text(card) for card in cards_in(int(table.field_matches(s, action)))]
    if not there:
        return "takes nothing"
    return f"takes {(' or ' if len(there) == 2 else ' ').join(there)}"


def facts(s: Any, seat: int) -> dict[str, str]:
    """Return the yaku that are nearly formed, with the cards that are missing."""
    found = {"you need": _nearly(s, seat), "they need": _nearly(s, 1 - seat)}
    return {name: text for name, text in found.items() if text}


def _nearly(s: Any, seat: int) -> str:
    """Return the yaku that a seat is closest to."""
    pile, other = int(s.piles[seat]), int(s.piles[1 - seat])
    parts = []
    for yaku in near_yaku(pile, other, int(table.sake_worth(s, s.calls[seat])))[:MOST_YAKU]:
        free = list(cards_in(yaku.free))
        cards = cards_text(free) if len(free) <= MOST_NAMED else ""
        if len(free) > yaku.missing:
            cards = f"{yaku.missing} of {cards}" if cards else f"{yaku.missing} more"
        parts.append(f"{cards} for {yaku.name} ({yaku.worth})")
    return "; ".join(parts)


def near_yaku(pile: int, other: int, sake: int) -> list[BegunYaku]:
    """Return the yaku that lack one or two cards, the nearest first.

    Of the lights only the best yaku counts, and the rain man spoils some: there a yaku is listed
    if every choice of the free cards completes it.
    """
    found = []
    for yaku in begun_yaku(pile, other, sake, 0):
        if not 0 < yaku.missing <= MOST_MISSING or yaku.have.bit_count() >= yaku.size:
            continue
        choices = combinations(cards_in(yaku.free), yaku.missing)
        if yaku.have & LIGHTS == yaku.have and not all(
            yaku.name in dict(list_yaku(pile | sum(1 << card for card in cards), sake, 0))
            for cards in choices
        ):
            continue
        found.append(yaku)
    return sorted(found, key=lambda yaku: (yaku.missing, -yaku.worth))


def help_rows(s: Any) -> tuple[tuple[str, str], ...]:
    """Return what the texts of cards and actions mean, and the yaku with their points."""
    paper = int(s.rules) == table.PAPER
    sake = "1 each, 3 after your koi-koi" if paper else "5 each"
    both = "all six: 20" if paper else "all six: 10"
    return (
        (
            "7-boar",
            "discard this card. A card is written as its month and its picture: 7-ribbon has a "
            "plain ribbon, 1-red and 6-blue have a ribbon with a poem, 7-a and 7-b are plain cards "
            "(dross). It takes a field card of its own month",
        ),
        ("take 7-a", "take this card, where two field cards have the month of yours"),
        ("stop", "end the round and win the points of your yaku"),
        ("koi-koi", "continue the round for more points"),
        (
            "yaku",
            "sets of captured cards that are worth points. You can stop when your points have "
            "risen in this turn. These are the sets:",
        ),
        (
            "lights",
            "1-crane 3-curtain 8-moon 11-rainman 12-phoenix: five of them 10, four 8 (7 with "
            "11-rainman), three without 11-rainman 5",
        ),
        ("animals", "7-boar 10-deer 6-butterfly: 5"),
        ("sake", f"9-cup with 3-curtain, 9-cup with 8-moon: {sake}"),
        ("poems", f"1-red 2-red 3-red: 5; 6-blue 9-blue 10-blue: 5; {both}"),
        (
            "seeds",
            "any five of 2-warbler 4-cuckoo 5-bridge 6-butterfly 7-boar 8-geese 9-cup 10-deer "
            "11-swallow: 1, and 1 for each more",
        ),
        ("ribbons", "any five ribbons: 1, and 1 for each more"),
        ("dross", "any ten plain cards, with 9-cup: 1, and 1 for each more"),
    )


TERMINAL = TerminalTexts(help=help_rows, facts=facts, effect=effect)
