"""A claim: what a paper says, what we measured, and whether the two agree.

A verdict on a number follows from intervals: two measurements differ when they lie further apart
than both margins together allow. The margin of a paper that states none follows from its sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass

from cardlab.engine.manifest import GamePackage
from cardlab.engine.statistics import difference

__all__ = [
    "Claim",
    "agreement",
    "claims_table",
    "compare",
    "fill_template",
    "markdown_table",
    "with_margin",
]


@dataclass(frozen=True)
class Claim:
    """One statement of a paper beside what we found."""

    where: str
    statement: str
    theirs: str
    ours: str
    verdict: str


def agreement(holds: bool) -> str:
    """Return the verdict on a statement that holds or does not."""
    return "agrees" if holds else "differs"


def compare(theirs: float, their_margin: float, ours: float, our_margin: float) -> str:
    """Return whether two measurements of one quantity agree."""
    apart, margin = difference((theirs, their_margin), (ours, our_margin))
    return agreement(abs(apart) <= margin)


def with_margin(value: Sequence[float], digits: int = 1, *, sign: bool = False) -> str:
    """Return a value with its margin, the first two of `value`, as text."""
    return f"{value[0]:{'+' if sign else ''}.{digits}f} ± {value[1]:.{digits}f}"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: int = 1) -> str:
    """Return a table in Markdown; columns from `right` on are right-aligned."""
    marks = ["---" if place < right else "---:" for place in range(len(head))]
    lines = [head, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def claims_table(claims: Iterable[Claim]) -> str:
    """Return the claims as a table in Markdown."""
    head = ("where", "the paper says", "theirs", "ours", "verdict")
    return markdown_table(head, map(astuple, claims), right=5)


def fill_template(package: GamePackage, facts: Mapping[str, object]) -> str:
    """Return a report: the text of `paper/report.md` with the numbers of `facts`, all of them.

    A fact that the text does not mention was measured in vain.
    """
    text = package.file("paper", "report.md").read_text(encoding="utf-8")
    for fact in facts:
        assert f"{{{fact}}}" in text, f"{package.name}: {fact} is not in the report"
    return text.format_map(facts)
