"""Data of the lobby: games with their options and agents, and the pictures of the cards."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from cardlab.agents.ahead import Step, agent_step, play_table
from cardlab.agents.catalog import adviser_of, find_agent, strength_of
from cardlab.engine.game import Game
from cardlab.engine.kernel import on_compile
from cardlab.engine.manifest import AgentEntry, GamePackage, load
from cardlab.engine.play import Table
from cardlab.engine.registry import package_of
from cardlab.show.pictures import DECKS, Deck, deck_for, sprite
from cardlab.web.agent_pool import advise, decide
from cardlab.web.files import CachedFile, cache_file, page_file
from cardlab.web.menu import Menu
from cardlab.web.page_data import page_data_of
from cardlab.web.views import open_description, public_description, view_json

WARMING: dict[str, threading.Lock] = {}
WARM: set[str] = set()


def ready(game: Game) -> None:
    """Compile or load a game's rules before the event loop needs them."""
    if game.reference in WARM:
        return
    with WARMING.setdefault(game.reference, threading.Lock()):
        if game.reference in WARM:
            return
        agents = ["random", *(("heuristic",) if package_of(game).heuristic else ())]
        table = Table(game, seed=0)
        for ply in range(4):
            if table.over:
                break
            turn = table.turn()
            view_json(turn.view, turn.seat, turn.legal)
            public_description(table.state, turn.seat)
            table.act([decide(agent, turn, (0, 0, ply)) for agent in agents][-1])
        open_description(table.state, 0)
        table.state.returns(), table.state.points()
        WARM.add(game.reference)


def steps(game: Game) -> list[Step | None]:
    """Return the steps in which helpers compile a game's rules and its adviser."""
    options = game.read_options({})
    rules = Step("cardlab.web.lobby:prepare", game.identifier, options)
    return [rules, agent_step(game, options, adviser_of(game))]


def prepare(game: Game, options: dict[str, Any]) -> None:
    """Make a game ready, in a helper."""
    ready(game)
    play_table(game, options)


class _Stopped(BaseException):
    """The server stops while kernels are being compiled."""


def warm_up(games: Iterable[Game], stop: threading.Event) -> None:
    """Make games ready, one after the other; a server that stops waits for one kernel at most."""
    thread = threading.get_ident()

    def check(_: str) -> None:
        if stop.is_set() and threading.get_ident() == thread:  # called for other threads as well
            raise _Stopped

    with on_compile(check), suppress(_Stopped):
        for game in games:
            check(game.name)
            ready(game)


def warm_worker(game: Game) -> None:
    """Prepare the game's adviser in a worker, so that the first hint comes fast."""
    advise(adviser_of(game), Table(game, seed=0).turn(), (0, 0, 0))


@functools.lru_cache(maxsize=4)
def games_json(menu: Menu) -> list[dict[str, Any]]:
    """Return every game with its options and agents."""
    return [_game_json(game, menu) for game in menu.games.values()]


def _game_json(game: Game, menu: Menu) -> dict[str, Any]:
    counts = [option for option in game.options if option.name == "seats"]
    usual = int(game.fresh(**game.read_options({}))[0].seats)
    seats = [counts[0].allowed[0], counts[0].allowed[-1]] if counts else [usual, usual]
    package, page = package_of(game), page_data_of(game)
    some = dict.fromkeys((0, game.deck // 2, game.deck - 1))
    return {
        "name": game.name,
        "command": game.identifier,
        "title": game.title,
        "summary": game.summary,
        "seats": seats,
        "options": [option.to_dict() for option in game.options],
        "agents": [
            _agent_json(entry, game, entry.name in menu.agents) for entry in menu.agents_for(game)
        ],
        "adviser": package.adviser,
        "cards": list(page.cards) or [game.card_text(card) for card in some],
        "levels": [
            {
                "name": level.name,
                "agent": level.agent,
                "portrait": f"/games/{game.name}/{level.portrait}" if level.portrait else None,
            }
            for level in package.levels
        ],
        "page": page_json(game),
    }


def _agent_json(entry: AgentEntry, game: Game, outside: bool) -> dict[str, Any]:
    maker = None if outside else load(entry.maker)
    kind = maker if isinstance(maker, type) else type(find_agent(entry.name, game))
    return {
        "spec": entry.usage,
        "what": entry.summary,
        "open": not entry.fair,
        "strength": str(strength_of(entry, game) or ""),
        "values": entry.fair and hasattr(kind, "values"),
        "attention": entry.fair and hasattr(kind, "attention"),
    }


@functools.cache
def page_json(game: Game) -> dict[str, Any]:
    """Return what a game's page consists of: module and style, deck, short rules, keys."""
    package, page = package_of(game), page_data_of(game)
    folder = f"/games/{game.name}/"
    files = {name: page_file(package, name) is not None for name in ("page.js", "page.css")}
    return {
        "module": f"{folder}page.js" if files["page.js"] else None,
        "style": f"{folder}page.css" if files["page.css"] else None,
        "deck": deck_for(game).name,
        "rules": rules_in_short(package),
        "keys": page.keys,
        "undo": page.solvable is not None,
        "numbered_deals": bool(page.most_seed),
    }


def rules_in_short(package: GamePackage) -> str:
    """Return the first paragraph of a game's rules."""
    path = package.file(package.rules) if package.rules else None
    if path is None or not path.is_file():
        return ""
    paragraphs = path.read_text(encoding="utf-8").split("\n\n")
    return next((" ".join(part.split()) for part in paragraphs if not part.startswith("#")), "")


@functools.lru_cache(maxsize=64)
def deck_file(deck: Deck) -> CachedFile:
    """Return a deck for the pages: its cards in the order of a sorted hand, with their names."""
    aloud, word = deck.aloud or deck.title, deck.word or deck.title
    cards = {
        text: {
            "name": aloud(text),
            "word": word(text),
            **({"paint": deck.paint(text)} if deck.paint else {}),
            **({"rank": deck.rank(text)} if deck.rank else {}),
        }
        for text in deck.held or deck.texts
    }
    facts = {
        "name": deck.name,
        "width": deck.wide,
        "height": deck.high,
        "ordered": bool(deck.held),
        "cards": cards,
    }
    return cache_file(json.dumps(facts, ensure_ascii=False).encode(), "application/json")


@functools.lru_cache(maxsize=64)
def sprite_file(deck: Deck) -> CachedFile | None:
    """Return the pictures of a deck as one SVG file, or None for a deck without pictures."""
    return cache_file(sprite(deck).encode(), "image/svg+xml") if deck.texts else None


def find_deck(name: str, menu: Menu) -> Deck | None:
    """Return a deck of a game that this server offers, or a general one."""
    decks = {deck.name: deck for deck in map(deck_for, menu.games.values())}
    return decks.get(name) or DECKS.get(name)
