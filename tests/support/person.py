"""A person at the page: opens tables from the lobby and plays by real clicks or real keys."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # without it the fixtures say what is lacking
    from playwright.sync_api import Locator, Page

__all__ = ["AXE_RULES", "CHOICES", "EDGE", "FREE", "HELD", "Person", "axe_violations", "open_table"]

WAITING = '.board[data-turn="yes"], .result'
CHOICES = "dialog[open] .dialog-choices button"
HELD = ".hand.active .hold.can"
FREE = ".field button.lies, .action-bar button:not([aria-disabled])"
EDGE = {"x": 24, "y": 60}  # a part of a fanned and tilted card that no other card covers
AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class Person:
    """Somebody who takes the first thing that can be done, over and over."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address

    def visit(self, path: str) -> None:
        """Open a page and wait until it works."""
        self.page.goto(self.address + path)
        self.page.wait_for_selector('body[data-ready="yes"]')

    def deal(
        self,
        game: str,
        *,
        seed: int = 7,
        options: dict[str, str | int] | None = None,
        seats: Sequence[str] = (),
    ) -> str:
        """Choose a game and who plays in the lobby, deal, and return the table's id."""
        page = self.page
        self.visit("/")
        page.check(f'input[name="game"][value="{game}"]')
        for name, value in (options or {}).items():
            page.select_option(f"#option-{name}", str(value))
        for seat, who in enumerate(seats):
            page.select_option(f"#seat-{seat}", who)
        page.fill("#seed", str(seed))
        page.click("text=Deal the cards")
        page.wait_for_url("**/table/*")
        page.wait_for_selector(".board > *")
        return page.url.rsplit("/", 1)[-1]

    @property
    def version(self) -> str:
        """The position that the page shows."""
        return self.page.get_attribute(".board", "data-version") or ""

    def hand(self) -> list[str]:
        """The cards in the own hand, as they lie."""
        cards: list[str] = self.page.eval_on_selector_all(
            ".hold", "all => all.map(one => one.dataset.held)"
        )
        return cards

    def turn(self) -> bool:
        """Wait for the own turn and take it by clicks; False once there is a result."""
        page = self.page
        page.wait_for_selector(WAITING)
        if page.query_selector(".result"):
            return False
        before = self.version
        if page.query_selector(CHOICES):
            page.click(f"{CHOICES} >> nth=0")
        elif page.query_selector(".lay-bar"):
            for place in (0, 1):
                page.click(f".hold >> nth={place}", position=EDGE)
            page.click(".lay-bar button:not([aria-disabled])")
        elif page.query_selector(".birds"):
            page.click(".cell.can >> nth=0")
            page.click(".cell.target >> nth=0")
        else:
            if page.query_selector(HELD):
                page.click(f"{HELD} >> nth=0", position=EDGE)
            else:
                page.click(f"{FREE} >> nth=0")
            page.wait_for_selector(f'.board:not([data-version="{before}"]), {CHOICES}')
            if page.query_selector(CHOICES) and self.version == before:
                page.click(f"{CHOICES} >> nth=0")
        page.wait_for_selector(f'.board:not([data-version="{before}"])')
        return True

    def play_on(self, most: int = 400) -> int:
        """Play until there is a result; returns the number of own turns."""
        for turns in range(most):
            if not self.turn():
                return turns
        raise AssertionError(f"no result after {most} turns of {self.page.url}")

    def result(self) -> str:
        """The result in words."""
        return self.page.inner_text(".result h2")

    def picture(self, name: str) -> None:
        """Write a screenshot for a human look, where somebody has named a folder for them."""
        folder = os.environ.get("CARDLAB_SCREENSHOTS")
        if folder:
            size = self.page.viewport_size or {"width": 0}
            path = Path(folder) / f"{name.strip('/').replace('/', '_') or 'lobby'}_{size['width']}"
            theme = self.page.evaluate("document.documentElement.dataset.theme ?? 'light'")
            self.page.screenshot(path=f"{path}_{theme}.png", full_page=True)

    def fits(self) -> bool:
        """Whether nothing sticks out sideways, of the page or of a panel."""
        inside: bool = self.page.evaluate(
            "[document.documentElement, ...document.querySelectorAll('.panel')].every("
            "(one) => one.scrollWidth <= one.clientWidth)"
        )
        return inside

    def focused(self) -> Locator:
        """What has the focus."""
        return self.page.locator("*:focus")

    def press_until(self, key: str, selector: str, most: int = 60) -> None:
        """Press a key until the focus is on something."""
        for _ in range(most):
            if self.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"{selector} cannot be reached with {key}")


def open_table(person: Person, setup: dict[str, Any]) -> str:
    """Open a table as the page does, without the lobby's clicks; returns its id."""
    if not person.page.url.startswith(person.address):
        person.visit("/")
    script = "setup => import('/static/open_table.js').then(module => module.openTable(setup))"
    path: str = person.page.evaluate(
        script, {"options": {}, "seed": 7, "hints": True, "adviser": None, **setup}
    )
    person.visit(path)
    person.page.wait_for_selector(".board > *")
    return path.rsplit("/", 1)[-1]


def axe_violations(page: Page, source: str) -> list[str]:
    """Return what axe-core objects to, one line each."""
    page.evaluate(source)
    found = page.evaluate(
        "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", AXE_RULES
    )
    return [
        f"{one['id']}: {one['help']}; {node['html'][:160]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
