"""Tables and lists whose names stay whole: what does not fit beside a name goes below it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from cardlab.engine.errors import one_line
from cardlab.show.console import plain_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_lines", "print_list", "table_lines"]

GAP = "   "  # between columns
INDENT = "    "  # of what belongs to the name above


def table_lines(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: Iterable[int],
    name: int = 0,
    title: Text | None = None,
    width: int = 80,
    rule: str = "─",
    texts: Sequence[str] = (),
) -> list[Text]:
    """Return the lines of a table; if a row does not fit, the name gets a line of its own.

    Columns in `left` are flush left, the others flush right; `name` is the column of names. Each of
    `texts` stands below its row, folded at spaces alone.
    """
    cells = [[_plain(cell) for cell in row] for row in rows]
    flush, own_line = set(left), False
    widths = _widths(heads, cells)
    if _total(widths) > width:
        own_line = True
        names = [row.pop(name) for row in cells]
        flush = {at - (at > name) for at in flush if at != name}
        above, heads = heads[name], [head for at, head in enumerate(heads) if at != name]
        widths = _widths(heads, cells)
    edge = INDENT if own_line else " "
    lines = [title] if title is not None else []
    lines.append(Text())
    if own_line:
        lines.append(Text(f" {above}", style="bold"))
    lines.append(Text(edge + _joined(heads, widths, flush), style="bold"))
    lines.append(Text(" " + rule * (_total(widths) - 2 + len(edge) - 1)))
    for at, row in enumerate(cells):
        if own_line:
            lines.append(Text(f" {names[at]}"))
        lines.append(Text(edge + _joined(row, widths, flush)))
        if texts:
            before = " " + INDENT * (1 + own_line)
            below = fold(texts[at], width - len(before))
            lines += [Text(before + line, style="dim") for line in below]
    return [*lines, Text()]


def print_lines(out: Console, lines: Iterable[Text]) -> None:
    """Print lines as they are: one that is longer than the terminal is wide is not cut."""
    for line in lines:
        out.print(line, soft_wrap=True)


def print_list(out: Console, entries: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Print names, and below each its texts; long texts are folded at spaces alone."""
    for name, texts in entries:
        out.print(Text(_plain(name), style="bold"), soft_wrap=True)
        for text in texts:
            for line in fold(text, out.width - len(INDENT)):
                out.print(Text(INDENT + line), soft_wrap=True)


def fold(text: str, width: int) -> list[str]:
    """Return a text as lines of a width, folded at spaces alone."""
    return textwrap.wrap(
        _plain(text), max(20, width), break_long_words=False, break_on_hyphens=False
    )


def _plain(text: str) -> str:
    return plain_text(one_line(text))


def _widths(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cell_len, column)) for column in zip(heads, *cells, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1) + 2  # a space at both edges


def _joined(cells: Sequence[str], widths: Sequence[int], left: set[int]) -> str:
    filled = []
    for at, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (width - cell_len(cell))
        filled.append(cell + space if at in left else space + cell)
    return GAP.join(filled).rstrip()
