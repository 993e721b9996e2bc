"""The start page lists every page of the documentation under its kind, as `mkdocs.yml` does."""

from __future__ import annotations

import re

from tests.support.paths import ROOT

KIND = re.compile(r"^  - ([^:]+):\s*$")
PAGE = re.compile(r":\s+(\S+\.md)\s*$")
LINK = re.compile(r"\]\(([^)#]+\.md)(?:#[^)]*)?\)")


def navigation() -> dict[str, set[str]]:
    """Return the pages of `mkdocs.yml` by kind, without the start page."""
    _, _, lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    pages: dict[str, set[str]] = {}
    kind = ""
    for line in lines.splitlines():
        if found := KIND.match(line):
            kind = found[1]
        elif (found := PAGE.search(line)) and found[1] != "index.md":
            pages.setdefault(kind, set()).add(found[1])
    return pages


def listed() -> dict[str, set[str]]:
    """Return the pages that the start page links to, by heading."""
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {section.partition("\n")[0]: set(LINK.findall(section)) for section in sections}


def test_every_page_is_on_the_start_page_under_its_kind() -> None:
    pages, links = navigation(), listed()
    assert len(pages) > 5
    missing = {kind: sorted(names - links.get(kind, set())) for kind, names in pages.items()}
    assert {kind: names for kind, names in missing.items() if names} == {}


def test_every_page_is_in_the_navigation() -> None:
    docs = ROOT / "docs"
    files = {str(page.relative_to(docs)) for page in docs.rglob("*.md")} - {"index.md"}
    assert files == set().union(*navigation().values())
