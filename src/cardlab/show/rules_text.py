"""The rules of a game, from the file that its manifest names, as pages for the terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from rich.markdown import Markdown

from cardlab.engine.cards import RANKS, SUIT_SYMBOLS, SUITS
from cardlab.engine.game import Game
from cardlab.engine.registry import package_of

__all__ = ["Section", "read_rules"]

# A group such as [7H 8C], but no link; the definition of a link is found too, without a group.
DEFINITION = r"^ {0,3}\[[^\[\]]+\]:"
CARDS = re.compile(rf"{DEFINITION}|(?<!\])\[([^\[\]]+)\](?![(\[])", re.MULTILINE)
CARD = re.compile(f"[{RANKS}][{SUITS}]")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Section:
    """One section of the rules; the first one has no title."""

    title: str
    text: str

    def rendered(self) -> Markdown:
        """Return the text for a console."""
        return Markdown(self.text, hyperlinks=False)


def read_rules(game: Game) -> list[Section]:
    """Return the rules of a game: what stands before the first section, then each section.

    A game without a file of rules has no sections.
    """
    package = package_of(game)
    path = package.file(package.rules) if package.rules else None
    if path is None or not path.is_file():
        return []
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    first, *parts = re.split(r"^## +", text, flags=re.MULTILINE)
    sections = [Section("", _plain(re.sub(r"^# .*$", "", first, flags=re.MULTILINE)))]
    for part in parts:
        title, _, body = part.partition("\n")
        sections.append(Section(title.strip(), _plain(body)))
    return sections


def _plain(text: str) -> str:
    """Return Markdown with cards as the terminal shows them, without columns that repeat others."""
    text = CARDS.sub(lambda found: _cards(found[1]) if found[1] else found[0], text)
    lines: list[str] = []
    for in_table, group in groupby(text.strip().split("\n"), lambda line: line.startswith("|")):
        rows = list(group)
        lines += _without_repeats(rows) if in_table else rows
    return "\n".join(lines)


def _cards(words: str) -> str:
    return CARD.sub(
        lambda card: card[0][0].replace("T", "10") + SUIT_SYMBOLS[SUITS.index(card[0][1])], words
    )


def _without_repeats(rows: list[str]) -> list[str]:
    """Return the rows of a table without a column whose cells all repeat an earlier column."""
    cells = [[cell.strip() for cell in row.strip()[1:-1].split("|")] for row in rows]
    if len(cells) < 3 or len({len(row) for row in cells}) > 1:
        return rows
    columns = [[row[place].replace("`", "") for row in cells[2:]] for place in range(len(cells[0]))]
    kept = [place for place, column in enumerate(columns) if column not in columns[:place]]
    return ["| " + " | ".join(row[place] for place in kept) + " |" for row in cells]
