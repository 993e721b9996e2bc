"""Games from the lobby to the result, by clicks and by keys, alone and with others."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.support.person import CHOICES, HELD, Person, open_table

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]  # one browser and server

PATIENCE = 60  # seconds that the others may take
SHORT: dict[str, dict[str, str | int]] = {
    "crazy_eights": {},
    "uno": {"seats": 3},
    "birds_of_a_feather": {},
    "koi_koi": {"rounds": 2},
    "cribbage": {"target": 61},
    "kuhn_poker": {},  # from outside, at the generic table
}


@pytest.mark.parametrize("game", SHORT)
def test_a_game_is_played_by_clicks(server: Any, somebody: Any, game: str) -> None:
    ann: Person = somebody(server)
    table = ann.deal(game, options=SHORT[game])
    turns = ann.play_on()
    assert turns >= (1 if game in ("birds_of_a_feather", "kuhn_poker") else 2)
    assert ann.result()
    facts = ann.page.request.get(f"{server.address}/api/tables/{table}").json()
    assert facts["over"]
    assert ann.page.locator(".log-list li").count() >= turns
    record = ann.page.request.get(f"{server.address}/api/tables/{table}/record").text()
    assert json.loads(record)["game"].partition(":")[0] == game
    assert ann.page.get_attribute("text=Watch the replay", "href") == f"/replay/{table}"
    ann.page.click("text=New game")
    ann.page.wait_for_url(lambda url: "/table/" in url and table not in url)
    ann.page.wait_for_selector(".board > *")


def test_a_game_is_played_by_keys_alone(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    ann.visit("/")
    keys = ann.page.keyboard
    ann.press_until("Tab", 'input[name="game"]')
    ann.press_until("ArrowRight", 'input[name="game"][value="crazy_eights"]')
    ann.press_until("Tab", "#seed")
    keys.type("11")
    ann.press_until("Tab", ".deal")
    keys.press("Enter")
    ann.page.wait_for_url("**/table/*")
    ann.page.wait_for_selector(".board > *")
    keys.press("l")
    assert not ann.page.locator(".panel-log").evaluate("panel => panel.open")
    keys.press("?")
    assert "an eight may always be played" in ann.page.inner_text("dialog[open]")
    keys.press("Escape")
    ann.page.wait_for_selector("dialog[open]", state="detached")
    for _ in range(200):
        ann.page.wait_for_selector('.board[data-turn="yes"], .result')
        if ann.page.query_selector(".result"):
            break
        before = ann.version
        if not ann.page.evaluate("document.activeElement.closest('.hand') !== null"):
            ann.press_until("Tab", ".hold")
        ann.press_until("ArrowRight", ".hold.can")
        keys.press("Enter")
        ann.page.wait_for_selector(f'.board:not([data-version="{before}"]), dialog[open]')
        if ann.page.query_selector("dialog[open]"):
            keys.press("Tab")
            keys.press("Enter")
            ann.page.wait_for_selector(f'.board:not([data-version="{before}"])')
    assert ann.result()
    assert ann.focused().inner_text() == ann.result()
    ann.press_until("Tab", '.result a[href^="/replay/"]')
    keys.press("Enter")
    ann.page.wait_for_url("**/replay/*")


def test_a_reload_changes_nothing(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    ann.deal("cribbage", options={"target": 61})
    for _ in range(3):
        assert ann.turn()
    ann.page.wait_for_selector('.board[data-turn="yes"]')
    before = (ann.version, ann.hand(), ann.page.inner_text(".log-list"))
    ann.page.reload()
    ann.page.wait_for_selector('.board[data-turn="yes"]')
    assert (ann.version, ann.hand(), ann.page.inner_text(".log-list")) == before
    assert ann.turn()


def test_a_restart_of_the_server_changes_nothing(own_server: Any, somebody: Any) -> None:
    ann: Person = somebody(own_server)
    ann.deal("koi_koi", options={"rounds": 1})
    assert ann.turn()
    ann.page.wait_for_selector('.board[data-turn="yes"]')
    before = (ann.version, ann.hand())
    own_server.stop()
    ann.page.wait_for_selector("text=Connection lost")
    own_server.start()
    ann.page.wait_for_selector("text=Connection lost", state="detached")
    assert (ann.version, ann.hand()) == before
    ann.play_on()
    assert ann.result()


def test_two_people_and_two_agents_play_uno(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    bob: Person = somebody(server, name="Bob")
    ann.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    table = ann.deal("uno", options={"seats": 4}, seats=["me", "heuristic", "guest", "random"])
    ann.page.click("text=Copy the seat’s link")
    ann.page.wait_for_selector(".toast")
    link = ann.page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{server.address}/table/{table}#")
    bob.page.goto(link)
    bob.page.wait_for_selector(".board > *")
    assert "#" not in bob.page.url
    ann.page.wait_for_selector(".plate:has-text('Bob')")
    hands = ann.hand(), bob.hand()
    assert all(len(hand) >= 7 for hand in hands)
    over = [False, False]
    deadline = time.monotonic() + PATIENCE
    while not all(over):
        assert time.monotonic() < deadline, "nobody has anything to do"
        for person in (ann, bob):
            assert person.page.locator(".backs .face").count() == 0
            if person.page.query_selector('.board[data-turn="yes"]') or any(over):
                person.turn()
                deadline = time.monotonic() + PATIENCE
        over = [person.page.query_selector(".result") is not None for person in (ann, bob)]
    assert {ann.result(), bob.result()} != {""}
    winners = {"You win" in ann.result(), "You win" in bob.result()}
    assert len(winners) == 2 or ann.result() == bob.result()


def test_a_spectator_sees_backs_only(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    eve: Person = somebody(server, name="Eve")
    table = ann.deal("crazy_eights")
    eve.visit(f"/table/{table}")
    eve.page.wait_for_selector(".hand.watched")
    assert eve.page.locator(".hold").count() == 0
    assert eve.page.locator(".backs .face").count() == 0
    assert eve.page.locator(".backs .back").count() >= 10
    assert ann.turn()
    ann.page.wait_for_selector('.board[data-turn="yes"]')  # where both stay until she plays
    eve.page.wait_for_selector(f'.board[data-version="{ann.version}"]')
    assert eve.page.locator(".backs .face").count() == 0


def test_wrong_links_are_explained(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    table = ann.deal("crazy_eights")
    eve: Person = somebody(server, name="Eve")
    eve.visit(f"/table/{table}#not-a-secret")
    eve.page.wait_for_selector("text=This link does not match any seat")
    assert eve.page.locator(".card").count() == 0
    eve.page.click("text=Watch without a seat")
    eve.page.wait_for_selector(".hand.watched")
    eve.page.goto(f"{server.address}/table/nowhere")
    eve.page.wait_for_selector("text=Table 'nowhere' not found")


def test_one_browser_can_hold_two_seats(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    made = open_table(ann, {"game": "crazy_eights", "seats": [{"person": "Ann"}, {"person": None}]})
    link = ann.page.evaluate("id => JSON.parse(localStorage['cardlab.tables'])[id].links[0]", made)
    other = Person(ann.page.context.new_page(), ann.address)
    other.visit(f"/table/{made}#{link['secret']}")
    other.page.wait_for_selector(".hold")
    ann.page.reload()
    ann.page.wait_for_selector('.board[data-turn="yes"]')
    assert not set(ann.hand()) & set(other.hand())
    assert ann.turn()
    assert other.turn()


def test_a_second_tab_takes_the_seat_over(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    table = ann.deal("crazy_eights")
    other = Person(ann.page.context.new_page(), ann.address)
    other.visit(f"/table/{table}")
    ann.page.wait_for_selector("text=in another tab")
    ann.page.click("text=Play here instead")
    other.page.wait_for_selector("text=in another tab")
    assert ann.turn()


def test_hints_stand_on_cards_and_in_a_table(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    setup = {"game": "crazy_eights", "adviser": "monte_carlo:50", "options": {"hand_size": 8}}
    open_table(ann, {**setup, "seats": [{"person": "Ann"}, {"agent": "heuristic"}]})
    for _ in range(20):  # until there is a choice
        ann.page.wait_for_selector('.board[data-turn="yes"]')
        if ann.page.locator(".hold.can").count() > 1:
            break
        ann.turn()
    cards = ann.page.locator(".hold.can").count()
    ann.page.keyboard.press("h")
    ann.page.wait_for_selector(".hint-table")
    assert ann.page.locator(".hold .hint-bar").count() == cards
    assert ann.page.locator(".hold .hint-bar.best").count() == 1
    figures = ann.page.eval_on_selector_all(
        ".hint-table .figure", "all => all.slice(1).map(one => parseFloat(one.textContent))"
    )
    assert len(figures) >= cards
    assert figures == sorted(figures, reverse=True)
    assert all(0 <= one <= 100 for one in figures)
    assert ann.turn()
    assert ann.page.locator(".hint-bar").count() == 0


def test_a_hint_asked_for_too_early_comes_with_the_turn(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server, pace="slow")
    setup = {"game": "uno", "options": {"seats": 4}, "adviser": "monte_carlo:50"}
    open_table(ann, {**setup, "seats": [{"person": "Ann"}, *[{"agent": "heuristic"}] * 3]})
    ann.turn()
    ann.page.wait_for_selector('.board[data-turn="no"]')  # three moves of others, seconds apart
    ann.page.keyboard.press("h")
    ann.page.wait_for_selector(".toast:has-text('when it is your turn')")
    ann.page.wait_for_selector(".hint-table")
    assert ann.page.get_attribute(".board", "data-turn") == "yes"
    ann.turn()
    ann.page.select_option("#pace", "instant")
    # The title changes with the turn, and in the same moment a hint would be asked for.
    ann.page.wait_for_function("document.title.startsWith('●')")
    assert ann.page.locator(".hint-table, .busy").count() == 0  # once asked, once answered


def test_birds_by_drag_with_undo_and_a_verdict(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server)
    ann.deal("birds_of_a_feather", seed=5)
    page = ann.page
    page.locator('[data-cell="C4"]').drag_to(page.locator('[data-cell="A4"]'))
    page.wait_for_selector('.board[data-version="1"]')
    assert page.get_attribute('[data-cell="A4"]', "aria-label") == "A4: king of hearts, 2 cards"
    assert page.locator(".cell.empty").count() == 1
    page.click("text=Still solvable?")
    page.wait_for_selector(".verdict:not(:empty)", timeout=120_000)
    assert "solved" in page.inner_text(".verdict")
    page.keyboard.press("u")
    page.wait_for_selector(".cell.empty", state="detached")
    assert page.locator(".log-list li").count() == 0
    assert page.inner_text(".stacks").startswith("16")


def test_moves_of_others_come_one_by_one_and_glide(server: Any, somebody: Any) -> None:
    ann: Person = somebody(server, pace="fast", reduced_motion="no-preference")
    setup = {"game": "uno", "options": {"seats": 4}}
    agents = [{"agent": "heuristic"}] * 3
    open_table(ann, {**setup, "seats": [{"person": "Ann"}, *agents]})
    ann.page.evaluate(
        """() => {
          window.versions = [];
          window.glides = 0;
          const start = document.startViewTransition.bind(document);
          document.startViewTransition = (draw) => { window.glides += 1; return start(draw); };
          new MutationObserver(() => {
            window.versions.push(Number(document.querySelector('.board').dataset.version));
          }).observe(document.querySelector('.board'), {attributeFilter: ['data-version']});
        }"""
    )
    first = int(ann.version)
    assert ann.turn()
    ann.page.wait_for_selector(f'{".board"}[data-turn="yes"]:not([data-version="{first}"])')
    versions = ann.page.evaluate("window.versions")
    assert sorted(set(versions)) == list(range(first + 1, int(ann.version) + 1))
    assert ann.page.evaluate("window.glides") >= 2


def _keys_take(ann: Person, first: str, selector: str) -> None:
    """Tab to a group, walk in it with arrows, and press Enter on what is wanted."""
    page = ann.page
    if not page.evaluate("s => document.activeElement.matches(s)", first):
        ann.press_until("Tab", first)
    if page.query_selector(f"{selector}:focus") is None:
        page.keyboard.press("Home")
        ann.press_until("ArrowRight", selector)
    ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring != "none", selector  # who works with keys must see where
    page.keyboard.press("Enter")


def _keys_turn(ann: Person) -> None:
    """Take a turn with keys alone, whatever the game asks for."""
    page, before = ann.page, ann.version
    if page.query_selector("dialog[open]"):
        ann.press_until("Tab", CHOICES)
        page.keyboard.press("Enter")
    elif page.query_selector(".lay-bar"):
        _keys_take(ann, ".hold", ".hold:not(.chosen)")
        _keys_take(ann, ".hold", ".hold:not(.chosen)")
        ann.press_until("Tab", ".lay-bar button")
        page.keyboard.press("Enter")
    elif page.query_selector(".birds"):
        _keys_take(ann, ".cell", ".cell.can")
        _keys_take(ann, ".cell", ".cell.target")
    elif page.query_selector(HELD):
        _keys_take(ann, ".hold", ".hold.can")
    else:
        ann.press_until("Tab", ".field button.lies, .action-bar button, .place.can")
        page.keyboard.press("Enter")
    moved = f'.board:not([data-version="{before}"])'
    page.wait_for_selector(f"{moved}, dialog[open]")
    if page.query_selector("dialog[open]") and ann.version == before:
        ann.press_until("Tab", CHOICES)
        page.keyboard.press("Enter")
        page.wait_for_selector(moved)


@pytest.mark.parametrize("game", [name for name in SHORT if name != "crazy_eights"])
def test_every_other_game_is_played_by_keys_too(server: Any, somebody: Any, game: str) -> None:
    ann: Person = somebody(server)
    others = {"birds_of_a_feather": 0, "uno": 2}.get(game, 1)
    agent = "random" if game == "kuhn_poker" else "heuristic"
    seats = [{"person": "Ann"}, *[{"agent": agent}] * others]
    open_table(ann, {"game": game, "seats": seats, "options": SHORT[game]})
    for _ in range(200):
        ann.page.wait_for_selector('.board[data-turn="yes"], .result')
        if ann.page.query_selector(".result"):
            break
        _keys_turn(ann)
    assert ann.focused().inner_text() == ann.result()
