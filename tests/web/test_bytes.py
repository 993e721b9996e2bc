"""Every byte that the server sends: nobody gets a card that the seat may not know.

Two ways, both over whole games. First, every card that a text names is compared with the cards
that the true state hides from the seat, told here from the records alone. Second, the hidden cards
are changed into others that the seat cannot tell apart from them: not one byte may change.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import adviser_of
from cardlab.engine import cards
from cardlab.engine.game import DEALER, OVER, State, Turn
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game, our_games
from cardlab.games.cribbage import rules as cribbage
from cardlab.games.koi_koi import cards as koi_koi_cards
from cardlab.games.koi_koi import table as koi_koi_table
from cardlab.games.uno import cards as uno_cards
from cardlab.games.uno.kernels import PILE
from cardlab.web import agent_pool as pool
from cardlab.web import views
from cardlab.web.menu import Menu
from cardlab.web.page_data import moves_seen, page_data_of
from cardlab.web.room import Room
from tests.support.paths import EXAMPLES
from tests.support.web_wire import Wire, open_table, request, run_alone, serving

GAMES_EACH = int(os.environ.get("CARDLAB_WEB_GAMES", "8"))  # 200 take minutes
TOKEN = re.compile(r"[A-Za-z0-9+-]+")
# Zones that say what was seen before the cards were shuffled again.
OF_OLD = ("first cut", "seen before this deal", "cut for the colour", "put back at the start")
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "crazy_eights": [{}, {"seats": 3, "reshuffle": True}, {"seats": 4, "optional_draw": True}],
    "uno": [{}, {"seats": 4, "stacking": True}, {"seats": 3, "rules": "rlcard"}],
    "birds_of_a_feather": [{}],
    "koi_koi": [{"rounds": 3}, {"rules": "nintendo", "rounds": 3}],
    "cribbage": [{"target": 61}],
    "kuhn_poker": [{}],  # from outside
}
KUHN = "kuhn_poker:GAME"


def known_cards(state: State, seat: int | None) -> Counter[str]:
    """Return the cards that a seat, or somebody without one, sees at this moment."""
    name, s = state.game.name, state.array[0]
    if name == "kuhn_poker":
        shown = state.mover == OVER and s.chips[0] == s.chips[1]
        return Counter(
            state.game.card_text(int(s.cards[k])) for k in range(2) if shown or k == seat
        )
    if name == "birds_of_a_feather":
        return Counter(cards.card_text(card) for card in range(52))
    if name == "uno":
        seen = list(uno_cards.cards_in(s.cards[PILE]))
        seen += [] if seat is None else uno_cards.cards_in(s.cards[seat])
        known = Counter(uno_cards.kind_text(kind) for kind in seen)
        known[uno_cards.kind_text(int(s.top))] += 1  # a start card that went back stays in sight
        return known
    if name == "crazy_eights":
        mask = int(s.discards) | 1 << int(s.top)
        mask |= 0 if seat is None else int(s.hands[seat])
        return Counter(cards.card_text(card) for card in cards.cards_in(mask))
    if name == "koi_koi":
        mask = int(s.field_cards) | int(s.piles[0]) | int(s.piles[1])
        mask |= 1 << int(s.pending) if s.pending != koi_koi_table.NOBODY else 0
        for cards_now in (s.discarded, s.drawn):
            for card in cards_now[int(s.round_number) & 1]:
                mask |= 1 << int(card) if card != koi_koi_table.NOBODY else 0
        mask |= 0 if seat is None else int(s.hands[seat])
        return Counter(koi_koi_cards.card_text(card) for card in cards.cards_in(mask))
    mask = int(s.played[0]) | int(s.played[1])
    if s.shown == 3:
        mask |= int(s.laid[0]) | int(s.laid[1])
    if s.phase not in (cribbage.CUT, cribbage.DEAL, cribbage.LAY_AWAY) or s.shown:
        mask |= 1 << int(s.starter)
    if seat is not None:
        mask |= int(s.hands[seat]) | int(s.laid[seat])
    return Counter(cards.card_text(card) for card in cards.cards_in(mask))


def all_cards(game: Any) -> set[str]:
    return {game.card_text(card) for card in range(game.deck)}


def named(value: Any, deck: set[str]) -> list[str]:
    """Return every card that a text, or any text within data, names."""
    if isinstance(value, str):
        return [word for word in TOKEN.findall(value) if word in deck]
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list, tuple)):
        return [card for part in parts for card in named(part, deck)]
    return []


class Watch:
    """Holds the true state of every position beside what is sent about it."""

    def __init__(self) -> None:
        self.states: dict[tuple[str, int], State] = {}
        self.ended: dict[tuple[str, int], list[State]] = {}  # before the deals that led there
        self.dealing: dict[int, list[State]] = {}
        self.rng = np.random.default_rng(1)
        self.worlds = 0
        self.leaks: list[str] = []

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Look over the shoulder of tables, without changing what they do."""
        view, keep, deal = Room.view, Room.save, Table._deal
        watch = self

        def keeping(table: Room) -> None:
            key = (table.id, table.version)
            watch.states[key] = table.table.state.copy()
            watch.ended[key] = watch.dealing.pop(id(table.table), [])
            keep(table)

        def dealing(table: Table) -> None:
            if table.state.mover == DEALER and table.deals:
                watch.dealing.setdefault(id(table), []).append(table.state.copy())
            deal(table)

        def viewing(table: Room, seat: int | None, move: Any = None) -> str:
            text = view(table, seat, move)
            watch.compare_worlds(table, seat, move, text, view)
            return text

        patch.setattr(Room, "save", keeping)
        patch.setattr(Table, "_deal", dealing)
        patch.setattr(Room, "view", viewing)

    def compare_worlds(
        self, table: Room, seat: int | None, move: Any, text: str, view: Any
    ) -> None:
        """Change what is hidden and demand the same bytes."""
        true = table.table.state
        if true.mover == OVER:
            return
        eye = int(self.rng.integers(int(true.seats))) if seat is None else seat
        table.table.state = true.view(eye).imagine(self.rng)
        if view(table, seat, move) != text:
            self.leaks.append(text)
        table.table.state = true
        self.worlds += 1

    def check(self, table: str, wire: Wire, game: Any) -> int:
        """Compare the cards in every text of a socket with what its seat may know."""
        deck = all_cards(game)
        before: set[tuple[Any, str]] = set()
        seat, state, checked = None, None, 0
        for text in wire.texts:
            told = json.loads(text)
            if told["type"] == "view":
                key = (table, told["version"])
                state, seat = self.states[key], told["seat"]
                before = self.check_view(told, state, self.ended[key], before, deck, game)
            elif told["type"] in ("hint", "refused", "solvable"):
                assert state is not None
                known = known_cards(state, seat)
                assert not [card for card in named(told, deck) if not known[card]], text
            else:
                assert told["type"] in ("seats", "thinking", "saving")
                assert not named(told, deck), text
            checked += 1
        return checked

    def check_view(
        self, told: Any, state: State, ended: list[State], before: Any, deck: set[str], game: Any
    ) -> set[tuple[Any, str]]:
        """Compare one view; return its events, which may be told again later."""
        seat = told["seat"]
        known = known_cards(state, seat)
        older = known.copy()
        for one in ended:
            older |= known_cards(one, seat)
        zones = told["description"]["zones"]
        shown = Counter(
            card for zone in zones if zone["name"] not in OF_OLD for card in named(zone, deck)
        )
        if game.name != "cribbage":  # there the pile shows again what the hands have played
            assert not shown - known, (shown - known, told)
        others = [z for z in zones if z["name"] == "hand" and z["seat"] != seat and z["cards"]]
        # A hand that wins at once lies open, and so do both at the end.
        assert not others or game.name in ("koi_koi", "kuhn_poker"), others
        assert (told["legal"] is not None) == (seat is not None and state.mover == seat)
        show = told["extra"].get("show") or []
        rest = {
            "zones": [] if others else [z for z in zones if z["name"] not in OF_OLD],
            "facts": told["description"]["facts"],
            "legal": told["legal"],
            "over": told["over"],
            "extra": {key: value for key, value in told["extra"].items() if key != "show"},
        }
        assert not [card for card in named(rest, deck) if not known[card]], (rest, known)
        move = told["move"]
        if move is not None:
            texts = [move] if move["id"] is None else [move, game.action_text(move["id"])]
            assert not [card for card in named(texts, deck) if not older[card]], move
        events = {(event["seat"], event["text"]) for event in told["description"]["events"]}
        if told["ply"] and before:
            for event in events - before:
                assert not [card for card in named(event[1], deck) if not older[card]], event
        if show and before and ended:
            assert not [card for card in named(show, deck) if not older[card]], show
        assert '"seed":' not in json.dumps(told) or told["over"]
        return events


async def play_one(app: Any, game: Any, number: int, watch: Watch, rng: random.Random) -> int:
    """Play a game with one person or several, and somebody who looks on; check all texts."""
    options = VARIANTS[game.name][number % len(VARIANTS[game.name])]
    count = int(game.fresh(**game.read_options(options))[0].seats)
    people = max(1, (1, count, count - 1)[number % 3])
    agent = "heuristic" if game.name in our_games() else "random"
    seats = [{"person": f"P{k}"} if k < people else {"agent": agent} for k in range(count)]
    rng.shuffle(seats)
    name, keys = await open_table(
        app, game=game.name, options=options, seats=seats, seed=rng.getrandbits(60), adviser=agent
    )
    wires: dict[int | None, Wire] = {None: Wire(app, name)}
    await wires[None].join(None)
    latest: dict[int, Any] = {}
    for seat, key in enumerate(keys):
        if key is not None:
            wires[seat] = Wire(app, name)
            latest[seat] = await wires[seat].join(key)
    lead = min(latest)
    while not latest[lead]["over"]:
        version, seat = latest[lead]["version"], latest[lead]["description"]["to_move"]
        if seat not in latest:  # an agent moves
            latest[lead] = await wires[lead].hear("view")
            continue
        while latest[seat]["version"] < version:
            latest[seat] = await wires[seat].hear("view")
        wire = wires[seat]
        other = wires[(seat + 1) % count if (seat + 1) % count in wires else None]
        dice = rng.random()
        if dice < 0.1:
            wire.say({"type": "hint", "version": version})
            assert await wire.hear("hint")
        elif dice < 0.2:  # nonsense from the seat to move, and from another
            legal = {one["id"] for one in latest[seat]["legal"]}
            wrong = next(one for one in range(game.num_actions + 1) if one not in legal)
            wire.say({"type": "act", "version": version, "action": wrong})
            wire.say({"type": "act", "version": version + 1, "action": 0})
            if other is not wire:
                other.say({"type": "act", "version": version, "action": 0})
                other.say({"type": "hint", "version": version})
        elif dice < 0.23:
            status, _, body = await request(app, "GET", f"/api/tables/{name}")
            assert status == 200
            assert b"seed" not in body
            assert not named(json.loads(body)["seats"], all_cards(game))
        action = rng.choice(latest[seat]["legal"])["id"]
        wire.say({"type": "act", "version": version, "action": action})
        while latest[lead]["version"] == version:
            latest[lead] = await wires[lead].hear("view")
    for wire in wires.values():
        await wire.end()
    return sum(watch.check(name, wire, game) for wire in wires.values())


def play_games(name: str, games: int, store: str, patch: pytest.MonkeyPatch) -> tuple[Watch, int]:
    """Play whole games under watch; return it and how many texts it has checked."""
    game, watch, rng = find_game(name), Watch(), random.Random(name)
    watch.install(patch)

    async def run() -> int:
        checked = 0
        menu = Menu.of([] if name in our_games() else [name])
        async with serving(store, menu=menu) as app:
            for number in range(games):
                checked += await asyncio.wait_for(play_one(app, game, number, watch, rng), 300)
                watch.states.clear()
                watch.ended.clear()
        return checked

    return watch, run_alone(run())


@pytest.mark.parametrize("name", [*our_games(), KUHN])
def test_no_byte_tells_a_hidden_card(
    name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    games = 4 * GAMES_EACH if name == KUHN else GAMES_EACH  # a few moves each
    watch, checked = play_games(name, games, str(tmp_path / "games.db"), monkeypatch)
    assert not watch.leaks
    assert checked > 15 * GAMES_EACH
    assert watch.worlds > 10 * GAMES_EACH


@pytest.mark.parametrize("leak", ["text", "number", "move"])
def test_a_server_that_tells_too_much_is_caught(
    leak: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = Room.view

    def too_much(table: Room, seat: int | None, move: Any = None) -> str:
        told = json.loads(view(table, seat, move))
        s = table.table.state.array[0]
        if leak == "text":
            told["extra"]["theirs"] = cards.cards_text(cards.cards_in(s.hands[1 - (seat or 0)]))
        elif leak == "number":
            told["extra"]["next"] = int(s.starter)  # a card's id, which no text names
        return json.dumps(told)

    if leak == "move":
        seen = replace(page_data_of(find_game("cribbage")), hidden=moves_seen)
        monkeypatch.setattr(views, "page_data_of", lambda game: seen)
    monkeypatch.setattr(Room, "view", too_much)
    store = str(tmp_path / "games.db")
    if leak == "number":
        assert play_games("cribbage", 1, store, monkeypatch)[0].leaks
    else:
        with pytest.raises(AssertionError):
            play_games("cribbage", 1, store, monkeypatch)


@pytest.mark.parametrize("name", [*our_games(), KUHN])
def test_a_hint_is_the_same_whatever_is_hidden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    rng = np.random.default_rng(5)
    table, asked = Table(find_game(name), seed=9), 0
    for ply in range(12):
        turn = table.turn()
        other = table.state.view(turn.seat).imagine(rng)
        same = Turn(turn.game, turn.seat, other.view(turn.seat), other.legal())
        if len(turn.legal) > 1:
            stream = (table.seed or 0, "hint", ply)
            adviser = adviser_of(find_game(name))
            told = [pool.advise(adviser, one, stream) for one in (turn, same)]
            assert told[0] == told[1]
            asked += 1
        table.act(int(rng.choice(turn.legal)))
        if table.over:
            break
    assert asked >= (2 if name == KUHN else 3)
