"""Links of the pages beside `docs/`: every file and every heading is there.

The pages in `docs/` are checked by `mkdocs build --strict` (test_documentation.py).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

from tests.support.paths import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("src/**/rules.md"), *ROOT.glob("examples/**/*.md")])
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the names that a link can give to the headings of a page."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return {slugify(heading.replace("`", ""), "-") for heading in HEADING.findall(text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        linked = page if not path else (page.parent / path).resolve()
        if not linked.exists() or (anchor and anchor not in anchors(linked)):
            dead.append(target)
    assert dead == []


def test_there_are_links_to_check() -> None:
    links = sum(len(LINK.findall(page.read_text(encoding="utf-8"))) for page in PAGES)
    assert links > 30
