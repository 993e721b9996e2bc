"""How the paper of a game is measured again; `cardlab reproduce GAME` runs it.

A game gives a `Report`: how much is measured, by which functions, and what the text says of it. All
else is the same for every game: folders, the ledger of what is measured already, the claims, the
text of `paper/report.md`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from cardlab.arena.match import Match
from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import make_folder
from cardlab.engine.manifest import GamePackage, load
from cardlab.engine.registry import find_package, known_packages
from cardlab.papers.claim import Claim, claims_table, fill_template
from cardlab.papers.code_digest import source_digest
from cardlab.papers.measurements import Games, Ledger, measure

__all__ = ["Report", "Study", "find_report", "reproduce"]

Plan = TypeVar("Plan")
Findings = TypeVar("Findings")


@dataclass(frozen=True)
class Study(Generic[Plan]):
    """One run of a reproduction: how much is measured, and where it is kept."""

    plan: Plan
    folder: Path
    ledger: Ledger
    workers: int
    report: Callable[[str, int, int], None]

    def progress(self, stage: str) -> Callable[[int, int], None]:
        """Return what a stage reports its progress to."""
        return functools.partial(self.report, stage)

    def play(
        self, stage: str, matches: Mapping[str, Match], workers: int | None = None
    ) -> dict[str, Games]:
        """Play all matches that are not kept yet; return the games of every one."""
        crew = self.workers if workers is None else workers
        return measure(matches, self.ledger, workers=crew, progress=self.progress(stage))


@dataclass(frozen=True)
class Report(Generic[Plan, Findings]):
    """What a game's report is made of."""

    package: GamePackage
    full: Plan
    quick: Plan
    measure: Callable[[Study[Plan]], Findings]
    draw: Callable[[Findings, Path], None]  # figures into a folder
    claims: Callable[[Findings], Sequence[Claim]]
    facts: Callable[[Findings], Mapping[str, object]]  # the other numbers of paper/report.md
    reductions: str = "wide intervals"  # what a quick run lacks


def find_report(game: str) -> Report[object, object]:
    """Return how a game's paper is measured again."""
    package = find_package(game)
    if not package.paper:
        known = ", ".join(name for name, one in known_packages().items() if one.paper)
        raise CardlabError(f"{package.name} has no paper; these games have one: {known}")
    report: Report[object, object] = load(package.paper)
    return report


def reproduce(
    report: Report[Plan, Findings],
    out: Path,
    work: Path,
    *,
    quick: bool,
    workers: int,
    progress: Callable[[str, int, int], None],
) -> Path:
    """Measure everything that is not yet measured, draw, write the report; return its path."""
    code = source_digest(report.package)
    make_folder(out)
    make_folder(work)
    work /= code  # measurements of other code stay apart
    ledger = Ledger(work / "ledger.jsonl", code)
    plan = report.quick if quick else report.full
    findings = report.measure(Study(plan, work, ledger, workers, progress))
    report.draw(findings, out)
    facts = {
        "size": f"quick run: {report.reductions}" if quick else "full run",
        "claims": claims_table(report.claims(findings)),
        **report.facts(findings),
    }
    path = out / f"{report.package.name}.md"
    path.write_text(fill_template(report.package, facts))
    return path
