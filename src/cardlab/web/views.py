"""Views as JSON: everything that a seat is sent is computed from its own view."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from cardlab.engine.game import Array, Description, Event, Game, State, View, Zone
from cardlab.show.pictures import Deck, deck_for
from cardlab.web.page_data import page_data_of

Part = str | dict[str, str | int]  # text, {"card": ...} or {"seat": ...}


def action_json(game: Game, action: int) -> dict[str, Any]:
    """Return an action as JSON, with the cards or cells that it names."""
    return dict(_action(game, action))


@functools.lru_cache(maxsize=8192)
def _action(game: Game, action: int) -> dict[str, Any]:
    page, text = page_data_of(game), game.action_text(action)
    found = {"id": action, "text": text, "card": None, **page.action(action)}
    cards = [word for word in text.partition("=")[0].split() if word in _cards(game)]
    if cards:
        found.update({"card": cards[0]} if len(cards) == 1 else {"cards": cards})
    words = page.words(action) if page.words else text
    parts = text_parts(game, words)
    return found if parts == [text] else {**found, "parts": parts}


@functools.cache
def _cards(game: Game) -> frozenset[str]:
    return frozenset(game.card_text(card) for card in range(game.deck))


@functools.lru_cache(maxsize=8192)
def text_parts(game: Game, text: str) -> list[Part]:
    """Return text split into plain text, cards and seats, which the page writes as pictures."""
    parts: list[Part] = []
    at = 0
    for found in _marks(deck_for(game)).finditer(text):
        parts.append(text[at : found.start()])
        seat, card = found["seat"], found["card"]
        parts.append({"card": card} if seat is None else {"seat": int(seat)})
        at = found.end()
    return [part for part in (*parts, text[at:]) if part] or [text]


@functools.cache
def _marks(deck: Deck) -> re.Pattern[str]:
    """Return a pattern that finds seats and the cards of a deck in text."""
    cards = "|".join(re.escape(text) for text in sorted(deck.texts, key=len, reverse=True))
    card = rf"(?<![\w=-])(?P<card>{cards})(?![\w+-])" if cards else "(?P<card>(?!))"
    return re.compile(rf"\bseat (?P<seat>\d{{1,2}})\b|{card}")


def move_json(game: Game, seat: int, action: int, watcher: int | None) -> dict[str, Any]:
    """Return a move as `watcher` saw it; a card played face down has no text, id or card."""
    hidden = page_data_of(game).hidden(action)
    if hidden and watcher != seat:
        return {"seat": seat, "id": None, "text": hidden, "card": None}
    return {"seat": seat, **action_json(game, action)}


def description_json(
    game: Game, description: Description, seat: int | None, to_move: int | None
) -> dict[str, Any]:
    """Return a description as JSON, for a seat or for a spectator (None)."""
    facts = {name: text_parts(game, str(value)) for name, value in description.facts.items()}
    return {
        "seat": seat,
        "seats": description.seats,
        "to_move": to_move,
        "zones": [
            {"name": zone.name, "count": zone.count, "cards": zone.cards, "seat": zone.seat}
            for zone in description.zones
        ],
        "facts": description.facts,
        "parts": {
            name: parts for name, parts in facts.items() if parts != [str(description.facts[name])]
        },
        "events": [_event_json(game, event) for event in description.events],
    }


def _event_json(game: Game, event: Event) -> dict[str, Any]:
    parts = text_parts(game, event.text)
    found = {"seat": event.seat, "text": event.text}
    return found if parts == [event.text] else {**found, "parts": parts}


def view_json(view: View, to_move: int | None, legal: Array | None) -> dict[str, Any]:
    """Return what a seat knows as JSON; `legal` is None unless the seat is to move."""
    game = view.game
    return {
        "description": description_json(game, view.describe(), view.own_seat, to_move),
        "legal": None if legal is None else [action_json(game, int(action)) for action in legal],
        "extra": page_data_of(game).view(view.array[0], view.own_seat),
    }


def public_description(state: State, to_move: int | None) -> dict[str, Any]:
    """Return what all seats know, which is what a spectator may see."""
    views = [state.view(seat) for seat in range(int(state.seats))]
    descriptions = [view.describe() for view in views]
    first = descriptions[0]
    zones = []
    for zone in first.zones:
        same = [_find(description.zones, zone.name, zone.seat) for description in descriptions]
        shared = Counter(zone.cards)
        for other in same:
            shared &= Counter(other.cards if other else ())
        # A zone keeps its order, such as the top card first; cards not known to all are left out.
        cards = []
        for card in zone.cards:
            if shared[card]:
                shared[card] -= 1
                cards.append(card)
        if all(other and other.count == zone.count for other in same):
            zones.append(Zone(zone.name, zone.count, tuple(cards), zone.seat))
    facts = {
        name: value
        for name, value in first.facts.items()
        if all(description.facts.get(name) == value for description in descriptions)
    }
    events: tuple[Event, ...] = tuple(
        event
        for place, event in enumerate(first.events)
        if all(
            place < len(description.events) and description.events[place] == event
            for description in descriptions
        )
    )
    common = Description(0, first.seats, first.to_move, tuple(zones), facts, events)
    extras = [page_data_of(state.game).view(view.array[0], view.own_seat) for view in views]
    return {
        "description": description_json(state.game, common, None, to_move),
        "legal": None,
        "extra": _shared(extras),
    }


def open_description(state: State, seat: int) -> Description:
    """Return a description with the cards of all seats, for finished games."""
    descriptions = [state.game.describe(state.array[0], k) for k in range(int(state.seats))]
    base = descriptions[seat]
    zones = []
    for zone in base.zones:
        known = [_find(description.zones, zone.name, zone.seat) for description in descriptions]
        cards = max((same.cards for same in known if same), key=len)
        zones.append(Zone(zone.name, zone.count, cards, zone.seat))
    for other in descriptions:  # a game may describe to each seat its own hand only
        zones += [
            zone
            for zone in other.zones
            if zone.seat == other.seat and _find(zones, zone.name, zone.seat) is None
        ]
    return Description(seat, base.seats, base.to_move, tuple(zones), base.facts, base.events)


def words_of(
    game: Game,
    returns: Sequence[float],
    points: Sequence[float],
    names: Sequence[str],
    seat: int | None,
) -> str:
    """Return the result of a game as a sentence for the person on `seat`."""
    best = max(returns)
    page = page_data_of(game)
    if len(returns) == 1:
        words = page.result(points, best > 0) if page.result else None
        if words is None:
            words = f"{'Won' if best > 0 else 'Lost'} with {points[0]:g} points"
        return words if seat == 0 or best <= 0 else f"{names[0]}: {words}"
    winners = [k for k, value in enumerate(returns) if value == best]
    if len(winners) == len(returns):
        return "A tie"
    if len(winners) > 1:
        who = " and ".join("you" if k == seat else names[k] for k in winners)
        return f"{who[:1].upper()}{who[1:]} share the win"
    winner = winners[0]
    who = "You win" if winner == seat else f"{names[winner]} wins"
    rest = sorted((points[k] for k in range(len(points)) if k != winner), reverse=True)
    if page.margin:
        return f"{who} by {points[winner] - rest[0]:g} points, {points[winner]:g} to {rest[0]:g}"
    return who


def _find(zones: Sequence[Zone], name: str, seat: int | None) -> Zone | None:
    return next((zone for zone in zones if (zone.name, zone.seat) == (name, seat)), None)


def _shared(values: list[Any]) -> Any:
    """Return the parts that are equal in all values."""
    first = values[0]
    if all(isinstance(value, dict) for value in values):
        keys = [key for key in first if all(key in value for value in values)]
        parts = {key: _shared([value[key] for value in values]) for key in keys}
        return {key: part for key, part in parts.items() if part is not None}
    return first if all(value == first for value in values) else None
