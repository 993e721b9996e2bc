"""Deals that nobody chooses, deals that somebody chose, and moves that wait for the store."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.person import CHOICES, EDGE, FREE, HELD, Person, axe_violations, open_table

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]  # one browser and server

PHONE: Any = {"width": 360, "height": 740}
PAIR = {"game": "kuhn_poker", "seats": [{"person": "Ann"}, {"person": None}]}
ALONE = {"game": "crazy_eights", "seats": [{"person": "Ann"}, {"agent": "heuristic"}]}


def _gather(ann: Person, setup: dict[str, Any]) -> tuple[str, str]:
    """Open a table without a seed; return its id and the link of the second seat."""
    ann.visit("/")
    script = "setup => import('/static/open_table.js').then(module => module.openTable(setup))"
    wish = {"options": {}, "seed": None, "hints": True, "adviser": None, **setup}
    path = ann.page.evaluate(script, wish)
    ann.visit(path)
    ann.page.wait_for_selector(".gathering")
    table = path.rsplit("/", 1)[-1]
    secret = ann.page.evaluate(
        "id => JSON.parse(localStorage['cardlab.tables'])[id].links[0].secret", table
    )
    return table, f"{path}#{secret}"


def _both_play_on(ann: Person, bob: Person) -> None:
    """Let whoever is to move do so, until both see the result."""
    for _ in range(400):
        for person in (ann, bob):
            if person.page.query_selector('.board[data-turn="yes"]'):
                person.turn()
        if all(person.page.query_selector(".result") for person in (ann, bob)):
            return
        ann.page.wait_for_timeout(20)
    raise AssertionError("the game does not end")


def _label(person: Person) -> str:
    return person.page.inner_text(".deal-label")


@pytest.mark.parametrize("secure", [True, False])
def test_two_browsers_deal_fairly_and_prove_it(
    server: Any, somebody: Any, axe: str, secure: bool
) -> None:
    """Without HTTPS, on a home network, browsers offer no hashes: the page has its own."""
    ann: Person = somebody(server)
    bob: Person = somebody(server, name="Bob")
    if not secure:
        for person in (ann, bob):
            person.page.add_init_script(
                "Object.defineProperty(Crypto.prototype, 'subtle', {get: () => undefined});"
            )
    table, link = _gather(ann, PAIR)
    assert ann.page.inner_text(".gathering h2") == "Waiting for Seat 2"
    assert _label(ann) == "Fair deal"
    ann.picture("gathering")
    assert axe_violations(ann.page, axe) == []
    ann.page.set_viewport_size(PHONE)
    ann.picture("gathering")
    assert ann.fits()
    ann.page.set_viewport_size({"width": 1280, "height": 800})
    number = ann.page.evaluate(
        "id => JSON.parse(localStorage['cardlab.tables'])[id].numbers", table
    )
    ann.page.reload()
    ann.page.wait_for_selector(".gathering")
    kept = ann.page.evaluate("id => JSON.parse(localStorage['cardlab.tables'])[id].numbers", table)
    assert kept == number  # a reload draws no other one

    bob.visit(link)
    for person in (ann, bob):
        person.page.wait_for_selector(".board > *")
        assert person.page.locator(".gathering").count() == 0
        assert _label(person) == "Fair deal"
    bob.page.click(".deal-label")
    explained = bob.page.inner_text("dialog[open] p >> nth=0")
    assert "no player could choose or know them" in explained
    assert axe_violations(bob.page, axe) == []
    bob.picture("fair_deal")
    bob.page.keyboard.press("Escape")
    _both_play_on(ann, bob)
    for person in (ann, bob):
        person.page.wait_for_selector(".proof")
        assert "has checked the deal" in person.page.inner_text(".proof summary")
        assert person.page.locator(".checks .right").count() == 5
        person.page.click(".proof summary")
        assert axe_violations(person.page, axe) == []
        person.picture("proof")
    ann.page.set_viewport_size(PHONE)
    ann.picture("proof")
    assert ann.fits()
    shown = ann.page.inner_text(".numbers")
    facts = ann.page.request.get(f"{server.address}/api/tables/{table}").json()
    assert all(share in shown for share in facts["over"]["deal"]["shares"])
    assert next(iter(number.values())) == facts["over"]["deal"]["shares"][0]

    eve: Person = somebody(server, name="Eve")  # she was not there: some of it she cannot check
    eve.visit(f"/table/{table}")
    eve.page.wait_for_selector(".proof")
    assert "All checks that this browser can make" in eve.page.inner_text(".proof summary")
    assert eve.page.locator(".checks .wrong").count() == 0


def test_a_proof_that_does_not_hold_is_shown_as_such(server: Any, somebody: Any, axe: str) -> None:
    """A server that exchanges a deck after the game is found out."""
    ann: Person = somebody(server)
    bob: Person = somebody(server, name="Bob")
    table, link = _gather(ann, PAIR)
    bob.visit(link)

    def exchange(route: Any) -> None:
        record = json.loads(route.fetch().text())
        record["deals"] = [" ".join(reversed(deal.split())) for deal in record["deals"]]
        route.fulfill(json=record)

    ann.page.route(f"**/api/tables/{table}/record", exchange)
    _both_play_on(ann, bob)
    ann.page.wait_for_selector(".proof.wrong[open]")
    assert "A check has failed" in ann.page.inner_text(".proof summary")
    assert ann.page.locator(".checks .wrong").count() == 1
    assert axe_violations(ann.page, axe) == []


def test_whoever_comes_to_a_seat_that_was_used_is_told(server: Any, somebody: Any) -> None:
    """Who opens a friend's link first sees the friend's cards, but not without a trace."""
    ann: Person = somebody(server)
    _, link = _gather(ann, PAIR)
    other = Person(ann.page.context.new_page(), ann.address)
    other.visit(link)  # Ann herself, in another tab
    other.page.wait_for_selector(".board > *")
    other.page.close()
    bob: Person = somebody(server, name="Bob")
    bob.visit(link)
    bob.page.wait_for_selector(".board > *")
    assert _label(bob) == "Seat opened elsewhere before"
    bob.picture("dealt_before")
    assert _label(ann) == "Fair deal"


@pytest.mark.parametrize("watch", [False, True])
def test_a_chosen_deal_is_marked_for_everybody(
    server: Any, somebody: Any, axe: str, watch: bool
) -> None:
    ann: Person = somebody(server)
    ann.visit("/")
    assert "Deal chosen by the host" in ann.page.inner_text("#about-seed")
    table = ann.deal("uno", options={"seats": 4}, seats=["me", "heuristic", "guest", "random"])
    link = ann.page.evaluate(
        "id => JSON.parse(localStorage['cardlab.tables'])[id].links[0].secret", table
    )
    bob: Person = somebody(server, name="Bob")
    bob.visit(f"/table/{table}{'' if watch else f'#{link}'}")
    bob.page.wait_for_selector(".board > *")
    for person in (ann, bob):
        assert _label(person) == "Deal chosen by the host"
        assert person.page.locator(".deal-label").is_visible()
    bob.picture("chosen")
    bob.page.set_viewport_size(PHONE)
    assert bob.page.locator(".deal-label").is_visible()
    assert bob.fits()
    bob.page.click(".deal-label")
    assert "can know every hand" in bob.page.inner_text("dialog[open]")
    bob.picture("chosen")
    assert axe_violations(bob.page, axe) == []


def test_a_deal_of_the_server_is_proved_too(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    open_table(ann, {**ALONE, "seed": None})
    assert _label(ann) == "Dealt by the server"
    ann.play_on()
    ann.page.wait_for_selector(".proof")
    assert "has checked the deal" in ann.page.inner_text(".proof summary")
    assert ann.page.locator(".checks .right").count() == 4


def test_a_move_waits_for_the_store_and_a_reload_never_goes_back(
    own_server: Any, somebody: Any, axe: str
) -> None:
    ann: Person = somebody(own_server, expected=(503,))
    open_table(ann, ALONE)
    ann.page.wait_for_selector('.board[data-turn="yes"]')
    before = int(ann.version)
    with own_server.store_held():
        _move(ann)
        ann.page.wait_for_selector(".saving > span:has-text('Saving your move')")
        assert ann.page.get_attribute(".board", "data-turn") == "no"
        assert int(ann.version) == before
        assert axe_violations(ann.page, axe) == []
        ann.picture("saving")
        health = ann.page.request.get(f"{own_server.address}/api/health")
        assert health.json()["unsaved"] == 1
        ann.page.evaluate("document.querySelector('.hand.active .hold')?.click()")
        with ann.page.expect_response(lambda answer: answer.status == 503):  # asked in vain
            ann.page.reload()
            ann.page.wait_for_selector(".notice:has-text('is being saved')")
            ann.picture("saving_reload")
        assert ann.page.locator(".board > *").count() == 0
        assert ann.page.locator(".notice:has-text('is being saved')").count() == 1
    ann.page.wait_for_selector('.board[data-turn="yes"], .result')
    assert int(ann.version) > before
    ann.play_on()
    assert ann.result()


def test_everybody_is_told_that_the_store_is_busy(own_server: Any, somebody: Any) -> None:
    ann: Person = somebody(own_server, expected=(503,))
    bob: Person = somebody(own_server, name="Bob")
    table, link = _gather(ann, {**PAIR, "game": "crazy_eights"})
    bob.visit(link)
    bob.page.wait_for_selector(".board > *")
    ann.page.wait_for_selector('.board[data-turn="yes"]')
    before = ann.version
    with own_server.store_held():
        _move(ann)
        ann.page.wait_for_selector(".saving > span:has-text('Saving your move')")
        bob.page.wait_for_selector(".saving > span:has-text('Saving …')")
        assert bob.page.get_attribute(".board", "data-turn") == "no"
        bob.page.set_viewport_size(PHONE)
        bob.picture("saving_phone")
        assert bob.fits()
        # A line that is opened anew meanwhile does not make the old position playable again.
        other = Person(ann.page.context.new_page(), ann.address)
        other.page.goto(f"{ann.address}/table/{table}")
        ann.page.wait_for_selector("text=in another tab")
        ann.page.click("text=Play here instead")
        ann.page.wait_for_selector(".saving > span")
        assert (ann.version, ann.page.get_attribute(".board", "data-turn")) == (before, "no")
        other.page.close()
    bob.page.wait_for_selector('.board[data-turn="yes"]')
    for person in (ann, bob):
        person.page.wait_for_selector(".saving:empty", state="attached")
        assert int(person.version) > int(before)
    _both_play_on(ann, bob)


def test_a_move_that_a_crash_has_lost_was_shown_to_nobody(own_server: Any, somebody: Any) -> None:
    ann: Person = somebody(own_server)
    bob: Person = somebody(own_server, name="Bob")
    _, link = _gather(ann, {**PAIR, "game": "crazy_eights"})
    bob.visit(link)
    bob.page.wait_for_selector(".board > *")
    ann.page.wait_for_selector('.board[data-turn="yes"]')
    before = ann.version, ann.hand(), bob.version
    with own_server.store_held():
        _move(ann)
        ann.page.wait_for_selector(".saving > span:has-text('Saving your move')")
        own_server.kill()
        ann.page.wait_for_selector("text=Connection lost")
    own_server.start()
    ann.page.wait_for_selector(".toast:has-text('was not saved')")
    ann.page.wait_for_selector('.board[data-turn="yes"]')
    bob.page.wait_for_selector("text=Connection lost", state="detached")
    assert (ann.version, ann.hand(), bob.version) == before
    _both_play_on(ann, bob)


def _move(person: Person) -> None:
    """Play a card without waiting for what comes of it."""
    page = person.page
    if page.query_selector(HELD):
        page.click(f"{HELD} >> nth=0", position=EDGE)
    else:
        page.click(f"{FREE} >> nth=0")
    page.wait_for_selector(f".saving > span, {CHOICES}")
    if page.query_selector(CHOICES):
        page.click(f"{CHOICES} >> nth=0")
