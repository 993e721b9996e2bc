"""Hands and whole tables as pictures: what a notebook shows of a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from cardlab.engine.arguments import read_kind, shorten
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Description, State, View, Zone
from cardlab.engine.play import Table
from cardlab.show.pictures.decks import (
    BACK,
    EMPTY,
    Deck,
    deck_of,
    find_deck,
    read_cards,
    read_size,
)
from cardlab.show.pictures.drawing import DEFAULTS

__all__ = ["describe_openly", "hand_svg", "picture_of", "table_svg"]

CARD = 54  # width of a card on a table, in pixels
NARROW, TABLE = 320, 760  # least and greatest width of a table
EDGE, GAP, LABEL = 14, 18, 17
NOBODY = -1  # as the seat of a description: all cards are open
SHOW_BACKS = 10  # of hidden cards; the count says how many there are
FELT, RIM, WORDS, FAINT = "#1f5a44", "#123a2b", "#fff", "#cfe3d8"
FONT = 'font-family="system-ui, sans-serif"'


@dataclass(frozen=True)
class Block:
    """A zone as it is laid out: label, cards to draw, step from one to the next."""

    label: str
    cards: tuple[str, ...]
    step: float
    own_line: bool

    @property
    def wide(self) -> float:
        """How much room it takes."""
        row = CARD + (len(self.cards) - 1) * self.step if self.cards else 0
        return max(row, 6.6 * len(self.label))


def describe_openly(state: State) -> Description:
    """Return a description with the cards of every seat, each as its owner knows them."""
    state = read_kind(state, State, "state", "give the state of a table")
    array, game = state.array[0], state.game
    all_seats = [game.describe(array, seat) for seat in range(int(state.seats))]
    first = all_seats[0]
    zones = [
        all_seats[zone.seat].zones[place]
        if zone.seat is not None and _same_places(first, all_seats[zone.seat])
        else zone
        for place, zone in enumerate(first.zones)
    ]
    names = {"your ": "seat 0, ", "their ": "seat 1, "}
    facts = {
        next(
            (seat + name[len(whose) :] for whose, seat in names.items() if name.startswith(whose)),
            name,
        ): value
        for name, value in first.facts.items()
    }
    return Description(NOBODY, first.seats, first.to_move, tuple(zones), facts, first.events)


def _same_places(mine: Description, other: Description) -> bool:
    places = [
        [(zone.name, zone.seat) for zone in description.zones] for description in (mine, other)
    ]
    return places[0] == places[1]


def picture_of(value: State | View | Table) -> str:
    """Return the table of a state, with all cards open, or of a view."""
    if isinstance(value, Table):
        value = value.state
    if not isinstance(value, (State, View)):
        raise CardlabError(f"a picture shows a Table, a State or a View, got {shorten(value)}")
    description = value.describe() if isinstance(value, View) else describe_openly(value)
    return table_svg(description, deck_of(value.game))


def hand_svg(deck: str | Deck, cards: str | Sequence[str], size: float = 70) -> str:
    """Return cards side by side as one picture, each `size` pixels wide."""
    found, cards, size = find_deck(deck), read_cards(cards), read_size(size)
    step = size * 1.06
    high = size * found.high / found.wide
    drawn = [_card(found, text, k * step, 0, size) for k, text in enumerate(cards)]
    words = ", ".join(found.words(text) for text in cards) or "no cards"
    return _picture(max(size, step * len(cards) - 0.06 * size), high, words, drawn)


def table_svg(description: Description, deck: str | Deck) -> str:
    """Return a table as one seat knows it: the others above, the seat's own cards below."""
    found = find_deck(deck)
    description = read_kind(description, Description, "description", "view.describe() returns one")
    own = description.seat
    high = CARD * found.high / found.wide
    parts: list[str] = []
    y, widest = EDGE + 4.0, 0.0

    def order(zone: Zone) -> tuple[int, int]:
        if zone.seat is None:
            return (1, 0)
        return (2, 0) if zone.seat == own else (0, zone.seat)

    for _, group in groupby(sorted(description.zones, key=order), key=order):
        for line in _lines([_block(zone, description) for zone in group]):
            x = float(EDGE)
            for block in line:
                parts.append(_text(block.label, x, y + 11, WORDS))
                for k, card in enumerate(block.cards):
                    parts.append(_card(found, card, x + k * block.step, y + LABEL, CARD))
                widest = max(widest, x + block.wide)
                x += block.wide + GAP
            y += LABEL + (high if any(block.cards for block in line) else 0) + 10
    for fact in _fact_lines(description.facts):
        parts.append(_text(fact, EDGE, y + 11, FAINT))
        widest = max(widest, EDGE + 6.6 * len(fact))
        y += LABEL
    y += EDGE - 4
    wide = min(TABLE, max(NARROW, widest + EDGE))
    felt = f'<rect width="{wide:g}" height="{y:g}" rx="12" fill="{FELT}" stroke="{RIM}"/>'
    return _picture(wide, y, _words(description, found), [felt, *parts])


def _block(zone: Zone, description: Description) -> Block:
    whose = "" if zone.seat is None or zone.name.startswith("row ") else f"seat {zone.seat}, "
    if zone.seat is not None and zone.seat == description.seat:
        whose = "your "
    moves = zone.name == "hand" and zone.seat is not None and zone.seat == description.to_move
    hidden = zone.count and not zone.cards
    count = f" ({zone.count})" if zone.count > 1 or hidden else ""
    label = f"{whose}{zone.name}{count}{' - to move' if moves else ''}"
    if hidden:
        stack = zone.seat is None
        backs = (BACK,) * min(zone.count, 3 if stack else SHOW_BACKS)
        return Block(label, backs, 3 if stack else 13, own_line=False)
    # What lies on top of a pile comes first; it is drawn last.
    cards = zone.cards[::-1] if zone.name == "pile" else zone.cards
    room = TABLE - 2 * EDGE
    step = CARD * 1.06
    if len(zone.cards) > 1:
        step = min(step, (room - CARD) / (len(zone.cards) - 1))
    if zone.name == "pile" and len(zone.cards) > 5:
        step = min(step, CARD * 0.3)
    return Block(label, cards, step, own_line=zone.name.startswith("row "))


def _lines(blocks: Sequence[Block]) -> list[list[Block]]:
    lines: list[list[Block]] = []
    room = 0.0
    for block in blocks:
        if not lines or block.own_line or lines[-1][-1].own_line or block.wide > room:
            lines.append([])
            room = TABLE - 2 * EDGE
        lines[-1].append(block)
        room -= block.wide + GAP
    return lines


def _fact_lines(facts: dict[str, str | int]) -> list[str]:
    lines: list[str] = []
    for name, value in facts.items():
        fact = f"{name}: {value}"
        if lines and len(lines[-1]) + len(fact) < 100:
            lines[-1] += f"   {fact}"
        else:
            lines.append(fact)
    return lines


def _words(description: Description, deck: Deck) -> str:
    words = []
    for zone in description.zones:
        whose = "" if zone.seat is None else f"seat {zone.seat}, "
        cards = ", ".join(deck.words(card) for card in zone.cards if card != EMPTY)
        words.append(f"{whose}{zone.name}: {cards or zone.count}")
    return "; ".join(words)


def _card(deck: Deck, text: str, x: float, y: float, size: float) -> str:
    high = size * deck.high / deck.wide
    return (
        f'<svg x="{x:.4g}" y="{y:.4g}" width="{size:g}" height="{high:.4g}" '
        f'viewBox="0 0 {deck.wide} {deck.high}">{deck.draw(text)}</svg>'
    )


def _text(words: str, x: float, y: float, colour: str) -> str:
    shown = escape(words).replace("   ", " \u00a0 ")
    return f'<text x="{x:.4g}" y="{y:.4g}" font-size="12.5" {FONT} fill="{colour}">{shown}</text>'


def _picture(wide: float, high: float, words: str, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.5g}" height="{high:.5g}" '
        f'viewBox="0 0 {wide:.5g} {high:.5g}" role="img" {DEFAULTS}>'
        f"<title>{escape(words)}</title>{''.join(parts)}</svg>"
    )
