"""A claim: what a paper says, what we measured, and whether the two agree.

A verdict on a number follows from intervals: two measurements differ when they lie further apart
than both margins together allow. The margin of a paper that gives none comes from its sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cardlab.engine.manifest import GamePackage
from cardlab.engine.statistics import difference

__all__ = [
    "Claim",
    "claims_table",
    "compare",
    "fill_template",
    "markdown_table",
]


@dataclass(frozen=True)
class Claim:
    """One statement of a paper beside what we found."""

    where: str
    statement: str
    theirs: str
    ours: str
    verdict: str


def compare(theirs: float, their_margin: float, ours: float, our_margin: float) -> str:
    """Return whether two measurements of one quantity agree."""
    apart, margin = difference((theirs, their_margin), (ours, our_margin))
    return "agrees" if abs(apart) <= margin else "differs"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: int = 1) -> str:
    """Return a table in Markdown; columns from `right` on are right-aligned."""
    marks = ["---" if place < right else "---:" for place in range(len(head))]
    lines = [head, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def claims_table(claims: Iterable[Claim]) -> str:
    """Return the claims as a table in Markdown."""
    return markdown_table(
        ("where", "the paper says", "theirs", "ours", "verdict"),
        ((one.where, one.statement, one.theirs, one.ours, one.verdict) for one in claims),
        right=5,
    )


def fill_template(package: GamePackage, facts: Mapping[str, object]) -> str:
    """Return a report: the text of `paper/report.md` with the numbers of `facts`, all of them.

    A fact that the text does not mention is a number that was measured and not told.
    """
    text = package.file("paper", "report.md").read_text(encoding="utf-8")
    for fact in facts:
        assert f"{{{fact}}}" in text, f"{package.name}: {fact} is not in the report"
    return text.format_map(facts)
