"""What the lobby offers: games, their options, who can play them; and the pictures of the cards."""

from __future__ import annotations

import functools
import gzip
import hashlib
import threading
from importlib import import_module
from typing import Any

from cardlab.agents.catalog import Entry, agents_for, strength_of
from cardlab.game import Game, Option
from cardlab.games import GAMES, find_game
from cardlab.play import Table
from cardlab.web.extras import DECKS
from cardlab.web.tables import ADVISERS, USUAL_ADVISER
from cardlab.web.thinkers import advise, decide
from cardlab.web.views import open_description, public_description, view_json

__all__ = ["games_json", "ready", "sprite_of", "warm_up", "warm_worker"]

WARMING = {name: threading.Lock() for name in GAMES}
WARM: set[str] = set()


def ready(name: str) -> None:
    """Compile a game's rules, or load them, before the event loop needs them."""
    if name not in GAMES or name in WARM:
        return
    with WARMING[name]:
        if name in WARM:
            return
        game = find_game(name)
        table = Table(game, seed=0)
        for ply in range(4):
            if table.over:
                break
            turn = table.turn()
            view_json(turn.view, turn.seat, turn.legal)
            public_description(table.state, turn.seat)
            decide("random", turn, (0, 0, ply))
            table.act(decide("heuristic", turn, (0, 0, ply)))
        open_description(table.state, 0)
        table.state.returns(), table.state.points()
        WARM.add(name)


def warm_up(stop: threading.Event) -> None:
    """Make all games ready, one after the other."""
    for name in GAMES:
        if not stop.is_set():
            ready(name)


def warm_worker() -> None:
    """Make the usual advisers ready in a worker, so that the first hint comes soon."""
    for name in GAMES:
        spec = ADVISERS.get(name, "monte_carlo:4")
        advise(spec, Table(find_game(name), seed=0).turn(), (0, 0, 0))


@functools.cache
def games_json() -> list[dict[str, Any]]:
    """Return every game with its options and agents."""
    return [_game_json(find_game(name)) for name in GAMES]


def _game_json(game: Game) -> dict[str, Any]:
    counts = [option for option in game.options if option.name == "seats"]
    usual = int(game.fresh(**game.read_options({}))[0].seats)
    seats = [counts[0].allowed[0], counts[0].allowed[-1]] if counts else [usual, usual]
    entries, adviser = agents_for(game), ADVISERS.get(game.name, USUAL_ADVISER)
    return {
        "name": game.name,
        "title": game.title,
        "summary": game.summary,
        "seats": seats,
        "options": [_option_json(option) for option in game.options],
        "agents": [_agent_json(entry, game) for entry in entries],
        "adviser": next((one.usage for one in entries if one.name == adviser), adviser),
        "deck": DECKS.get(game.name, "standard"),
    }


def _option_json(option: Option) -> dict[str, Any]:
    kind, allowed = "choice", list(option.allowed)
    if isinstance(option.default, bool):
        kind = "bool"
    elif isinstance(option.allowed, range):
        kind = "range"
    told = {"name": option.name, "default": option.default, "help": option.help, "kind": kind}
    if kind == "range":
        return {**told, "allowed": {"from": allowed[0], "to": allowed[-1]}}
    return {**told, "allowed": allowed}


def _agent_json(entry: Entry, game: Game) -> dict[str, Any]:
    module, _, name = entry.maker.partition(":")
    maker = getattr(import_module(module), name)
    kind = maker if isinstance(maker, type) else None
    if kind is None:
        kind = type(maker())
    return {
        "spec": entry.usage,
        "what": entry.summary,
        "open": not entry.fair,
        "strength": strength_of(entry, game),
        "budget": entry.parameters[0].default if entry.parameters else None,
        "values": entry.fair and hasattr(kind, "values"),
        "attention": entry.fair and hasattr(kind, "attention"),
    }


@functools.cache
def sprite_of(deck: str) -> tuple[bytes, bytes, str] | None:
    """Return the pictures of a deck in one file, the same compressed, and its tag."""
    if deck not in {"standard", *DECKS.values()}:
        return None
    from cardlab.pictures import sprite

    body = sprite(deck).encode()
    return body, gzip.compress(body, mtime=0), f'"{hashlib.sha256(body).hexdigest()[:16]}"'
