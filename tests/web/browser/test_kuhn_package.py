"""A game from outside with a manifest and a page of its own, installed, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.kuhn_package import install_kuhn_package
from tests.support.person import Person, axe_violations, open_table
from tests.web.browser.conftest import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]  # one browser and server

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
LEVELS = {"Easy": "bluffer:80", "Medium": "heuristic", "Hard": "equilibrium"}
WIDTH_OF_PICTURE = """path => new Promise((resolve, reject) => {
  const image = new Image();
  image.onload = () => resolve(image.naturalWidth);
  image.onerror = () => reject(new Error(path));
  image.src = path;
})"""
LOOK = """chip => {
  const { backgroundColor, borderTopStyle, borderTopLeftRadius } = getComputedStyle(chip);
  return [backgroundColor, borderTopStyle, borderTopLeftRadius];
}"""


@pytest.fixture(scope="module")
def kuhn_server(
    browser: Browser, compiled: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server beside which the package is installed; no option names the game."""
    folder = tmp_path_factory.mktemp("kuhn")
    server = Server(folder, place=install_kuhn_package(folder))
    yield server
    server.stop()


@pytest.fixture
def visit_kuhn(kuhn_server: Server, somebody: Any) -> Iterator[Any]:
    """Make people at that server; a refused or failed request fails the test."""
    refused: list[str] = []

    def make(**more: Any) -> Person:
        person: Person = somebody(kuhn_server, **more)
        page = person.page
        page.on("requestfailed", lambda request: refused.append(f"{request.failure} {request.url}"))
        page.on(
            "response",
            lambda answer: refused.append(answer.url) if answer.status >= 400 else None,
        )
        return person

    yield make
    assert refused == []


def test_the_lobby_offers_it_with_levels_and_portraits(visit_kuhn: Any) -> None:
    ann: Person = visit_kuhn()
    with ann.page.expect_response("**/api/games") as answer:
        ann.visit("/")
    kuhn = {game["name"]: game for game in answer.value.json()}["kuhn"]
    assert {level["name"]: level["agent"] for level in kuhn["levels"]} == LEVELS
    for level in kuhn["levels"]:
        assert ann.page.evaluate(WIDTH_OF_PICTURE, level["portrait"]) > 0
    tile = ann.page.locator('.tile[data-game="kuhn"]')
    assert tile.locator(".tile-name").inner_text() == "Kuhn poker"
    assert tile.locator(".tile-cards > *").count() == 3
    ann.page.check('input[name="game"][value="kuhn"]')
    assert "default: equilibrium" in ann.page.inner_text("#adviser")
    assert {"heuristic", "equilibrium"} <= set(
        ann.page.eval_on_selector_all("#seat-1 option", "all => all.map(option => option.value)")
    )
    ann.picture("lobby_kuhn")


@pytest.mark.parametrize("size", SIZES)
def test_its_own_page_is_played_by_clicks(visit_kuhn: Any, axe: str, size: str) -> None:
    width, height = SIZES[size]
    ann: Person = visit_kuhn(width=width, height=height)
    page = ann.page
    ann.deal("kuhn", seats=["me", "equilibrium"])
    page.wait_for_selector('.board[data-turn="yes"]')
    assert page.locator(".kuhn .pot .chip").count() == 2  # only page.js draws chips
    looks = page.locator(".kuhn .chip").evaluate_all(f"all => all.map({LOOK})")
    assert looks == [  # only page.css makes them round and in the colours of the seats
        ["rgb(51, 101, 155)", "dashed", "50%"],
        ["rgb(181, 71, 60)", "dashed", "50%"],
    ]
    held = page.locator(".hand .hold")
    assert held.evaluate("card => getComputedStyle(card).filter") == "none"  # never out of play
    assert page.locator(".action-bar button").all_inner_texts() == ["Pass", "Bet a chip"]
    page.keyboard.press("h")
    page.wait_for_selector(".hint-table")
    assert page.inner_text(".hint-who strong") == "equilibrium"
    assert page.locator(".action-bar .hint-bar").count() == 2
    assert page.locator(".action-bar .hint-bar.best").count() == 1
    assert axe_violations(page, axe) == []
    assert ann.fits()
    ann.picture("kuhn")
    before = ann.version
    page.click("text=Bet a chip")
    page.wait_for_selector(f'.board:not([data-version="{before}"])')
    assert ann.play_on() == 0  # whoever is asked to see a bet ends the game
    assert ann.result()
    assert page.locator(".kuhn .of-0 .chip").count() == 2
    assert page.get_attribute("text=Watch the replay", "href")
    assert axe_violations(page, axe) == []
    assert ann.fits()
    ann.picture("kuhn_result")


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_is_played_to_the_end(visit_kuhn: Any, level: str) -> None:
    ann: Person = visit_kuhn()
    seats = [{"agent": LEVELS[level]}, {"person": "Ann"}]
    open_table(ann, {"game": "kuhn", "seats": seats})
    assert ann.play_on() == 1  # who sits second has one turn
    assert ann.result()
