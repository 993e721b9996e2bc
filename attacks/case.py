"""A case of the suite, what comes of it, and the table of all cases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

MOST_SHOWN = 5  # losses of a case that are printed; the JSON file has all


@dataclass(frozen=True)
class Setting:
    """Where a case works, and how much of it is wanted."""

    folder: Path  # empty, and the case's own
    quick: bool = False
    seed: int = 0

    def count(self, full: int, quick: int) -> int:
        """Return how many tries (or seconds) there are: `full` of them, or the quick form's."""
        return quick if self.quick else full


@dataclass
class Outcome:
    """What a case has tried, what was lost, and what it has measured."""

    tries: int = 0
    lost: list[str] = field(default_factory=list)  # a sentence for each loss
    figures: dict[str, Any] = field(default_factory=dict)
    skipped: str | None = None  # why it could not be tried here

    @property
    def survived(self) -> int:
        """How many tries lost nothing; a try counts as lost once, whatever it lost."""
        return max(0, self.tries - len(self.lost))

    def demand(self, held: bool, sentence: str) -> None:
        """Note a loss unless a promise was held."""
        if not held:
            self.lost.append(sentence)

    def add(self, other: Outcome) -> None:
        """Take in what a part of the case has found."""
        self.tries += other.tries
        self.lost += other.lost
        self.figures |= other.figures

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "tries": self.tries,
            "survived": self.survived,
            "lost": self.lost,
            "figures": self.figures,
            "skipped": self.skipped,
        }


class Case(NamedTuple):
    """One kind of attack: a function that carries it out and returns what came of it."""

    name: str
    what: str
    run: Callable[[Setting], Awaitable[Outcome]]
    alone: bool = False  # it measures time, so nothing else runs beside it


def table(rows: Iterable[tuple[str, Outcome]]) -> str:
    """Return the outcomes as a table in plain text."""
    lines = [("case", "tries", "survived", "lost", "figures")]
    for name, outcome in rows:
        figures = ", ".join(f"{key} {value}" for key, value in outcome.figures.items())
        if outcome.skipped:
            figures = f"not tried: {outcome.skipped}"
        counts = (outcome.tries, outcome.survived, len(outcome.lost))
        tries, survived, lost = (f"{count:,}" for count in counts)
        lines.append((name, tries, survived, lost, figures))
    widths = [max(len(line[k]) for line in lines) for k in range(4)]
    shown = []
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [line[k].rjust(widths[k]) for k in (1, 2, 3)]
        shown.append(" | ".join([*cells, line[4]]).rstrip())
    rule = "-+-".join("-" * width for width in (*widths, len(lines[0][4])))
    return "\n".join([shown[0], rule, *shown[1:]])


def losses(rows: Iterable[tuple[str, Outcome]]) -> str:
    """Return the first losses of every case, a line each."""
    lines = []
    for name, outcome in rows:
        lines += [f"{name}: {sentence}" for sentence in outcome.lost[:MOST_SHOWN]]
        if len(outcome.lost) > MOST_SHOWN:
            lines.append(f"{name}: and {len(outcome.lost) - MOST_SHOWN:,} more")
    return "\n".join(lines)
