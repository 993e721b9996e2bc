"""Fair deals: nobody chooses the cards or knows them before the others; everybody can check."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from cardlab.engine.errors import CardlabError
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.engine.secret_deals import derive_key, secret_order
from cardlab.web.room_deal import Dealing, draw_number, hash_of
from tests.support.web_wire import (
    AGENT,
    Wire,
    finish,
    in_app,
    open_table,
    request,
    run_alone,
    serving,
    site_of,
)

FAIR = {
    "game": "uno",
    "options": {"seats": 3},
    "seats": [{"person": "Ann"}, AGENT, {"person": None}],
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


def fair_dealing(people: int = 2) -> tuple[Dealing, list[str]]:
    """Return a deal between people, none of whom has come, and the numbers that they draw."""
    return Dealing.plan(None, False, list(range(people))), [draw_number() for _ in range(people)]


@pytest.mark.parametrize(
    ("seed", "numbered", "people", "kind"),
    [
        (None, False, [0, 2], "fair"),
        (None, False, [1], "server"),
        (None, False, [], "server"),
        (7, False, [0, 2], "chosen"),
        (7, False, [0], "chosen"),
        (None, True, [0], "numbered"),
        (7, True, [0], "numbered"),
    ],
)
def test_a_deal_says_where_it_comes_from(
    seed: int | None, numbered: bool, people: list[int], kind: str
) -> None:
    dealing = Dealing.plan(seed, numbered, people)
    assert dealing.facts(3)["kind"] == kind
    assert (dealing.commitment is None) == (kind in ("chosen", "numbered"))
    assert dealing.ready == (kind != "fair")
    assert Dealing.of(json.loads(json.dumps(dealing.to_dict()))) == dealing


def test_every_number_decides_the_cards() -> None:
    dealing, numbers = fair_dealing(3)
    for seat, number in enumerate(numbers):
        dealing.commit(seat, hash_of(number))
    for seat, number in enumerate(numbers):
        assert not dealing.ready
        dealing.reveal(seat, number)
    key = dealing.key
    assert key == derive_key("fair deal", dealing.secret, *numbers)
    for seat in range(3):
        dealing.shares[seat] = draw_number()
        assert dealing.key != key
        dealing.shares[seat] = numbers[seat]
    dealing.secret = draw_number()
    assert dealing.key != key


def test_no_number_is_taken_before_all_are_fixed() -> None:
    dealing, (ann, bob) = fair_dealing()
    with pytest.raises(CardlabError, match="wait until all players"):
        dealing.reveal(0, ann)
    dealing.commit(0, hash_of(ann))
    with pytest.raises(CardlabError, match="wait until all players"):
        dealing.reveal(0, ann)
    assert dealing.progress(2)["reveal"] is False
    dealing.commit(1, hash_of(bob))
    assert dealing.progress(2)["reveal"] is True
    with pytest.raises(CardlabError, match="does not match the hash"):
        dealing.reveal(0, bob)
    dealing.reveal(0, ann)
    with pytest.raises(CardlabError, match="received already"):
        dealing.reveal(0, ann)
    assert dealing.waiting_for == [1]


def test_a_hash_can_be_replaced_only_before_a_number_is_known() -> None:
    dealing, (ann, bob) = fair_dealing()
    dealing.commit(0, hash_of(ann))
    other = draw_number()
    assert dealing.commit(0, hash_of(other))  # a browser that has lost its number
    dealing.commit(1, hash_of(bob))
    dealing.reveal(1, bob)
    assert not dealing.commit(0, hash_of(ann))  # now it would be a choice
    assert not dealing.commit(1, hash_of(ann))
    dealing.reveal(0, other)
    assert dealing.ready


def test_a_program_without_a_number_gets_one_from_the_server() -> None:
    dealing, (ann, _) = fair_dealing()
    assert dealing.commit(1, None)
    assert not dealing.commit(1, None)
    assert not dealing.commit(1, hash_of(draw_number()))
    dealing.commit(0, hash_of(ann))
    assert dealing.waiting_for == [0]
    dealing.reveal(0, ann)
    proof = dealing.proof(2, ["a", "b"])
    assert proof is not None
    assert proof["by_server"] == [1]
    assert hash_of(proof["shares"][1]) == proof["commitments"][1]


async def come(app: Any, table: str, key: str | None, number: str | None) -> Wire:
    """Return a browser that has joined with the hash of its number."""
    wire = Wire(app, table)
    hashed = None if number is None else hash_of(number)
    wire.say({"type": "join", "secret": key, "name": None, "commitment": hashed})
    return wire


async def hear_reveal(wire: Wire) -> Any:
    """Return the message that asks for numbers."""
    while not (told := await wire.hear("gathering"))["deal"]["reveal"]:
        pass
    return told


def test_people_deal_together_and_the_proof_gives_the_decks(store: Path) -> None:
    ann_number, bob_number = draw_number(), draw_number()

    async def play(app: Any) -> None:
        table, keys = await open_table(app, **FAIR)
        ann = await come(app, table, keys[0], ann_number)
        first = await ann.hear("gathering")
        assert first["deal"]["waiting_for"] == [2]
        assert first["deal"]["reveal"] is False
        assert first["table"]["deal"]["kind"] == "fair"
        ann.say({"type": "share", "share": ann_number})
        assert "wait until all players" in (await ann.hear("refused"))["error"]
        ann.say({"type": "act", "version": 0, "action": 0})
        assert "the cards are not dealt yet" in (await ann.hear("refused"))["error"]
        eve = await come(app, table, None, None)
        assert (await eve.hear("gathering"))["seat"] is None
        eve.say({"type": "share", "share": ann_number})
        assert "without a seat" in (await eve.hear("refused"))["error"]
        bob = await come(app, table, keys[2], bob_number)
        for wire, number in ((ann, ann_number), (bob, bob_number)):
            asked = await hear_reveal(wire)
            assert asked["deal"]["commitment"] == first["deal"]["commitment"]
            assert asked["deal"]["commitments"] == [hash_of(ann_number), None, hash_of(bob_number)]
            wire.say({"type": "share", "share": number})
        views = [await wire.hear("view") for wire in (ann, bob)]
        secret = site_of(app).rooms.live[table].dealing.secret
        while not views[0]["over"]:
            for place, wire in enumerate((ann, bob)):
                if views[place]["legal"]:
                    await move(wire, views[place])
            views = [await wire.hear("view") for wire in (ann, bob)]
        texts = [text for wire in (ann, bob, eve) for text in wire.texts if '"over":null' in text]
        assert texts
        assert not any(one in text for text in texts for one in (secret, ann_number, bob_number))
        proof = views[0]["over"]["deal"]
        assert proof["shares"] == [ann_number, None, bob_number]
        assert hash_of(proof["secret"]) == proof["commitment"] == first["deal"]["commitment"]
        key = derive_key("fair deal", proof["secret"], ann_number, bob_number)
        assert proof["key"] == key.hex()
        game = find_game("uno")
        assert proof["cards"] == [game.card_text(card) for card in range(game.deck)]
        record = json.loads((await request(app, "GET", f"/api/tables/{table}/record"))[2])
        orders = [secret_order(key, n, game.deck) for n in range(len(record["deals"]))]
        assert record["deals"] == [game.order_text(order) for order in orders]
        assert Table(game, deals=orders, options=record["options"]).deals

    in_app(store, play)


async def move(wire: Wire, view: Any) -> None:
    """Play the first legal action."""
    wire.say({"type": "act", "version": view["version"], "action": view["legal"][0]["id"]})


def test_a_deal_goes_on_after_a_restart(store: Path) -> None:
    ann_number, bob_number = draw_number(), draw_number()

    async def run() -> None:
        async with serving(str(store)) as app:
            table, keys = await open_table(app, **FAIR)
            ann = await come(app, table, keys[0], ann_number)
            before = await ann.hear("gathering")
        async with serving(str(store)) as app:
            ann = await come(app, table, keys[0], ann_number)
            bob = await come(app, table, keys[2], bob_number)
            asked = await hear_reveal(ann)
            assert asked["deal"]["commitment"] == before["deal"]["commitment"]
            ann.say({"type": "share", "share": ann_number})
            while (await bob.hear("gathering"))["deal"]["shares"] < 1:
                pass
        async with serving(str(store)) as app:  # one number is known, one is missing
            bob = await come(app, table, keys[2], bob_number)
            assert (await hear_reveal(bob))["deal"]["waiting_for"] == [2]
            bob.say({"type": "share", "share": bob_number})
            assert await bob.hear("view") is not None
            deck = site_of(app).rooms.live[table].table.deals[0].tolist()
        async with serving(str(store)) as app:
            bob = await come(app, table, keys[2], bob_number)
            assert await bob.hear("view") is not None
            assert site_of(app).rooms.live[table].table.deals[0].tolist() == deck

    run_alone(run())


def test_tables_of_one_person_have_a_proof_too(store: Path) -> None:
    wish = {"game": "crazy_eights", "seats": [{"person": "Ann"}, AGENT]}

    async def play(app: Any) -> None:
        table, keys = await open_table(app, **wish)
        wire = Wire(app, table)
        view = await wire.join(keys[0])
        promised = view["table"]["deal"]
        assert promised["kind"] == "server"
        over = (await finish(wire, view))["over"]
        assert over["seed"] is None  # no seed gives the cards, only the number
        proof = over["deal"]
        assert hash_of(proof["secret"]) == promised["commitment"]
        assert proof["key"] == derive_key("server deal", proof["secret"]).hex()

    in_app(store, play)


def test_every_seat_sees_that_a_deal_was_chosen(store: Path) -> None:
    async def play(app: Any) -> None:
        table, keys = await open_table(app, **{**FAIR, "seed": 5})
        for key in (keys[0], keys[2], None):
            view = await Wire(app, table).join(key)
            assert view["table"]["deal"]["kind"] == "chosen"
        facts = json.loads((await request(app, "GET", f"/api/tables/{table}"))[2])
        assert facts["deal"]["kind"] == "chosen"

    in_app(store, play)


def test_nothing_that_gives_the_cards_is_told_during_the_game(store: Path) -> None:
    """Neither the server's number nor a player's nor the seed of the agents is in the facts."""

    async def play(app: Any) -> None:
        table, keys = await open_table(app, **FAIR)
        numbers = {key: draw_number() for key in keys if key}
        wires = [await come(app, table, key, number) for key, number in numbers.items()]
        for wire, number in zip(wires, numbers.values(), strict=True):
            await hear_reveal(wire)
            wire.say({"type": "share", "share": number})
        for wire in wires:
            await wire.hear("view")
        room = site_of(app).rooms.live[table]
        text = (await request(app, "GET", f"/api/tables/{table}"))[2].decode()
        secrets = (room.dealing.secret, *numbers.values(), str(room.settings.seed))
        for secret in (*secrets, room.dealing.key.hex()):
            assert secret not in text
            assert not any(secret in sent for wire in wires for sent in wire.texts)

    in_app(store, play)


def test_a_name_that_comes_while_others_move_holds_up_no_move(store: Path) -> None:
    """Only a position must be in the store before the next one: what waits may be a name alone."""

    async def play(app: Any) -> None:
        wish = {"game": "crazy_eights", "seats": [{"person": "Ann"}, {"person": None}], "seed": 5}
        table, keys = await open_table(app, **wish)
        ann = Wire(app, table)
        view = await ann.join(keys[0])
        at = sqlite3.connect(store, isolation_level=None)
        at.execute("BEGIN IMMEDIATE")
        try:
            bob = Wire(app, table)
            bob.say({"type": "join", "secret": keys[1], "name": "Bob"})
            assert await bob.hear("saving") is not None
            await move(ann, view)
            eve = Wire(app, table)  # whoever comes meanwhile hears what the others wait for
            eve.say({"type": "join", "secret": None})
            assert await eve.hear("saving") is not None
            room = site_of(app).rooms.live[table]
            assert room.ply == 1
            assert not any('"refused"' in text or '"ply":1' in text for text in ann.texts)
        finally:
            at.execute("ROLLBACK")
            at.close()
        for wire in (ann, eve):
            assert (await wire.hear("view"))["ply"] == 1

    in_app(store, play)
