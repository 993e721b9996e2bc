"""What a seat is sent: made from its view, and from nothing else."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from cardlab.engine.game import Array, Description, Event, Game, State, View, Zone
from cardlab.web.page_data import page_data_of

__all__ = [
    "action_json",
    "description_json",
    "move_json",
    "open_description",
    "public_description",
    "view_json",
    "words_of",
]


def action_json(game: Game, action: int) -> dict[str, Any]:
    """Return an action with the cards or cells that it names."""
    return dict(_action(game, action))


@functools.lru_cache(maxsize=8192)
def _action(game: Game, action: int) -> dict[str, Any]:
    text = game.action_text(action)
    told = {"id": action, "text": text, "card": None, **page_data_of(game).action(action)}
    cards = [word for word in text.partition("=")[0].split() if word in _deck(game)]
    if len(cards) == 1:
        return {**told, "card": cards[0]}
    return {**told, "cards": cards} if cards else told


@functools.cache
def _deck(game: Game) -> frozenset[str]:
    return frozenset(game.card_text(card) for card in range(game.deck))


def move_json(game: Game, seat: int, action: int, watcher: int | None) -> dict[str, Any]:
    """Return a move as `watcher` saw it; what was laid face down has no text, id or card."""
    hidden = page_data_of(game).hidden(action)
    if hidden and watcher != seat:
        return {"seat": seat, "id": None, "text": hidden, "card": None}
    return {"seat": seat, **action_json(game, action)}


def description_json(told: Description) -> dict[str, Any]:
    """Return a description as JSON holds it."""
    return {
        "seat": told.seat,
        "seats": told.seats,
        "to_move": told.to_move,
        "zones": [
            {"name": zone.name, "count": zone.count, "cards": zone.cards, "seat": zone.seat}
            for zone in told.zones
        ],
        "facts": told.facts,
        "events": [{"seat": event.seat, "text": event.text} for event in told.events],
    }


def view_json(view: View, to_move: int | None, legal: Array | None) -> dict[str, Any]:
    """Return what a seat knows; `legal` only where it is the seat to move."""
    game = view.game
    told = description_json(view.describe())
    told["to_move"] = to_move
    return {
        "description": told,
        "legal": None if legal is None else [action_json(game, int(one)) for one in legal],
        "extra": page_data_of(game).view(view.array[0], view.own_seat),
    }


def public_description(state: State, to_move: int | None) -> dict[str, Any]:
    """Return what every seat knows alike: all that somebody without a seat may see."""
    views = [state.view(seat) for seat in range(int(state.seats))]
    told = [view.describe() for view in views]
    first = told[0]
    zones = []
    for zone in first.zones:
        same = [_find(one.zones, zone.name, zone.seat) for one in told]
        shared = Counter(zone.cards)
        for other in same:
            shared &= Counter(other.cards if other else ())
        # A zone keeps its order, such as the top card first; cards that not all know are left out.
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
        if all(one.facts.get(name) == value for one in told)
    }
    events: tuple[Event, ...] = tuple(
        event
        for place, event in enumerate(first.events)
        if all(place < len(one.events) and one.events[place] == event for one in told)
    )
    shown = Description(0, first.seats, first.to_move, tuple(zones), facts, events)
    extras = [page_data_of(state.game).view(view.array[0], view.own_seat) for view in views]
    return {
        "description": {**description_json(shown), "seat": None, "to_move": to_move},
        "legal": None,
        "extra": _shared(extras),
    }


def open_description(state: State, seat: int) -> Description:
    """Return a description with the cards of every seat, for games that are over."""
    told = [state.game.describe(state.array[0], one) for one in range(int(state.seats))]
    base = told[seat]
    zones = []
    for zone in base.zones:
        known = [_find(one.zones, zone.name, zone.seat) for one in told]
        cards = max((one.cards for one in known if one), key=len)
        zones.append(Zone(zone.name, zone.count, cards, zone.seat))
    for one in told:  # a game may tell each seat of its own hand only
        zones += [
            zone
            for zone in one.zones
            if zone.seat == one.seat and _find(zones, zone.name, zone.seat) is None
        ]
    return Description(seat, base.seats, base.to_move, tuple(zones), base.facts, base.events)


def words_of(
    game: Game,
    returns: Sequence[float],
    points: Sequence[float],
    names: Sequence[str],
    seat: int | None,
) -> str:
    """Return how a game ended, in words for the person on `seat`."""
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
        told = " and ".join("you" if k == seat else names[k] for k in winners)
        return f"{told[:1].upper()}{told[1:]} share the win"
    winner = winners[0]
    who = "You win" if winner == seat else f"{names[winner]} wins"
    rest = sorted((points[k] for k in range(len(points)) if k != winner), reverse=True)
    if page.margin:
        return f"{who} by {points[winner] - rest[0]:g} points, {points[winner]:g} to {rest[0]:g}"
    return who


def _find(zones: Sequence[Zone], name: str, seat: int | None) -> Zone | None:
    return next((zone for zone in zones if (zone.name, zone.seat) == (name, seat)), None)


def _shared(values: list[Any]) -> Any:
    """Return what is the same in all values, part by part."""
    first = values[0]
    if all(isinstance(value, dict) for value in values):
        keys = [key for key in first if all(key in value for value in values)]
        parts = {key: _shared([value[key] for value in values]) for key in keys}
        return {key: part for key, part in parts.items() if part is not None}
    return first if all(value == first for value in values) else None
