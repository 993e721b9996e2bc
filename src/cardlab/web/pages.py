"""The HTML document of each page: one shell, filled in with title and modules."""

from __future__ import annotations

import functools
import re
from html import escape
from string import Template
from typing import NamedTuple

from cardlab.web.files import STATIC, CachedFile, cache_file, static_file

IMPORT = re.compile(r'^import [^;]*?from "\./([\w/]+\.js)";', re.MULTILINE)
BOARD = "board/kit.js"  # which every game's own module imports


class Page(NamedTuple):
    """A page: its name (also of its module), title and description."""

    name: str
    title: str
    description: str
    modules: tuple[str, ...] = ()  # to preload beside those that its own module imports


LOBBY = Page("lobby", "Play", "Play card games against agents and people.")
TABLE = Page("table", "Table", "A card table.", (BOARD,))
REPLAY = Page("replay", "Replay", "Step through a finished game move by move.", (BOARD,))
LEADERBOARD = Page("leaderboard", "Leaderboard", "Ratings, cross-tables and recent games.")
LIBRARY = Page("library", "Library", "Reports that reproduce published papers.")
PAGES = {
    "/": LOBBY,
    "/table/{id}": TABLE,
    "/replay": REPLAY,
    "/replay/{id}": REPLAY,
    "/leaderboard": LEADERBOARD,
    "/library": LIBRARY,
    "/library/{paper}": LIBRARY,
}


@functools.cache
def page_document(page: Page) -> CachedFile | None:
    """Return the document of a page, or None where the pages are not installed."""
    shell = static_file("page.html")
    if shell is None:
        return None
    preloads = "\n".join(
        f'<link rel="modulepreload" href="/static/{name}">' for name in modules_of(page)
    )
    text = Template(shell.body.decode()).substitute(
        name=page.name,
        title=escape(page.title),
        description=escape(page.description),
        preloads=preloads,
    )
    return cache_file(text.encode(), "text/html")


def modules_of(page: Page) -> list[str]:
    """Return the modules that a page imports, so that the browser fetches them in parallel."""
    found = [f"{page.name}.js", *page.modules]
    for name in found:  # grows during the loop
        if "/" in name:
            continue  # its imports are already among those of the pages
        imports = IMPORT.findall((STATIC / name).read_text(encoding="utf-8"))
        found += [module for module in dict.fromkeys(imports) if module not in found]
    return found
