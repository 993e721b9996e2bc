"""Explanations as pictures: SVG written by hand, the same bytes for the same data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import require_folder
from cardlab.engine.game import Array
from cardlab.show.explanation import DIGITS, Explanation, words_of
from cardlab.show.terminal import action_look, scale_values

__all__ = ["Drawing", "draw_explanations", "draw_map"]

BLUE, RED, DARK = "#1b6ca8", "#d1495b", "#222222"
LINE = 18  # height of a line of text
CELL = 9  # side of a cell in a map
LABEL = 96  # width of the names of rows
BAR = 320
GAP = 28
NAMES = 62  # height of the names of columns
FAINT = 0.03  # of the darkest: not drawn


class Drawing:
    """Shapes and texts that know how far they reach."""

    def __init__(self) -> None:
        """Start an empty sheet."""
        self._parts: list[str] = []
        self._right = self._bottom = 0.0

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = 12,
        colour: str = DARK,
        bold: bool = False,
        end: bool = False,
        upright: bool = False,
    ) -> None:
        """Write a text at its base line, ending there with `end`, turned upwards if `upright`."""
        style = f'font-size="{size}" fill="{colour}"'
        style += ' font-weight="bold"' * bold + ' text-anchor="end"' * end
        if upright:
            style += f' transform="rotate(-90 {x:g} {y:g})"'
        self._parts.append(f'<text x="{x:g}" y="{y:g}" {style}>{escape(text)}</text>')
        length = 0.6 * size * len(text)
        self._reach(x + (0 if end or upright else length), y + (0 if end else size / 3))

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Draw a filled rectangle."""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:.4g}" height="{height:g}" fill="{colour}"/>'
        )
        self._reach(x + width, y + height)

    def _reach(self, x: float, y: float) -> None:
        self._right, self._bottom = max(self._right, x), max(self._bottom, y)

    @property
    def bottom(self) -> float:
        """Where the lowest part ends."""
        return self._bottom

    def save(self, path: Path) -> None:
        """Write the sheet to a file."""
        width, height = self._right + 12, self._bottom + 12
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif">'
        )
        ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>'
        require_folder(path)
        try:
            path.write_text("\n".join([head, ground, *self._parts, "</svg>"]) + "\n")
        except OSError as error:
            raise CardlabError(
                f"{path} cannot be written: {error.strerror}; name another file with --svg"
            ) from None


def draw_explanations(
    path: Path, explanations: Sequence[Explanation], titles: Sequence[str] = ()
) -> None:
    """Draw positions, the values of their choices, and what networks look at.

    Explanations of one turn that follow each other share its position.
    """
    sheet, before = Drawing(), None
    for place, explanation in enumerate(explanations):
        if explanation.turn is not before:
            top = sheet.bottom + (GAP if place else 8)
            _draw_position(sheet, explanation, titles[place] if titles else "", top)
            before = explanation.turn
        _draw_values(sheet, explanation)
        if explanation.attention is not None:
            _draw_attention(sheet, explanation)
    sheet.save(path)


def _draw_position(sheet: Drawing, explanation: Explanation, title: str, top: float) -> None:
    view = explanation.turn.view.describe()
    turn = explanation.turn
    head = title or f"{turn.game.title}, ply {explanation.ply}, seat {turn.seat} to move"
    sheet.text(12, top + LINE, head, size=15, bold=True)
    y = top + 2 * LINE + 2
    facts = [(name, str(fact)) for name, fact in view.facts.items()]
    for zone in view.zones:
        if zone.cards:
            whose = {None: "", explanation.turn.seat: "your "}.get(zone.seat, f"seat {zone.seat}: ")
            facts.append((f"{whose}{zone.name}", "  ".join(zone.cards)))
    for name, words in facts:
        sheet.text(12, y, name, bold=True)
        sheet.text(12 + 1.3 * LABEL, y, words)
        y += LINE


def _draw_values(sheet: Drawing, explanation: Explanation) -> None:
    texts, shares = scale_values(explanation.turn, explanation.values, explanation.unit, DIGITS)
    y = sheet.bottom + LINE + 6
    sheet.text(12, y, f"{explanation.agent}: {words_of(explanation.unit)}", size=13, bold=True)
    for place in np.argsort(-explanation.values, kind="stable"):
        y += LINE
        best = place == explanation.best
        name = action_look(explanation.turn.texts[place]).plain
        sheet.text(12 + LABEL, y, name, end=True, bold=bool(best))
        sheet.box(
            20 + LABEL, y - 11, max(1.0, BAR * float(shares[place])), 13, RED if best else BLUE
        )
        mark = "  (taken)" if explanation.turn.legal[place] == explanation.taken else ""
        sheet.text(28 + LABEL + BAR, y, texts[place].strip() + mark, bold=bool(best))


def _draw_attention(sheet: Drawing, explanation: Explanation) -> None:
    """Draw a map of choices and tokens for every head, blocks side by side."""
    attention = explanation.attention
    assert attention is not None
    rows = [action_look(text).plain for text in explanation.turn.texts]
    top = sheet.bottom + GAP
    wide = LABEL + _width(len(attention.tokens), attention.group) + GAP
    for block, heads in enumerate(attention.weights):
        y = top
        for head, weights in enumerate(heads):
            title = f"block {block + 1}, head {head + 1}"
            last = head == len(heads) - 1
            columns = attention.tokens if last else ()
            draw_map(sheet, 12 + block * wide, y, title, rows, columns, weights, attention.group)
            y += LINE + CELL * len(rows) + 10


def draw_map(
    sheet: Drawing,
    x: float,
    y: float,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    weights: Array,
    group: int = 0,
) -> None:
    """Draw a map of weights, darker for more, names beside its rows and below its columns."""
    sheet.text(x + LABEL, y, f"{title} (darkest: {weights.max():.0%})", size=11, bold=True)
    top = y + 6
    most = float(weights.max()) or 1.0
    starts = [_place(j, group) for j in range(weights.shape[1])]
    sheet.box(x + LABEL, top, starts[-1] + CELL, CELL * len(rows), _shade(0.0))
    for i, name in enumerate(rows):
        sheet.text(x + LABEL - 4, top + CELL * (i + 1) - 1, name, size=8, end=True)
        for start, share in zip(starts, weights[i] / most, strict=True):
            if share >= FAINT:
                cell = (x + LABEL + start, top + CELL * i, CELL - 1, CELL - 1)
                sheet.box(*cell, _shade(float(share)))
    bottom = top + CELL * len(rows)
    for j, name in enumerate(columns):
        at = x + LABEL + _place(j, group) + CELL - 2
        sheet.text(at, bottom + 4, name, size=8, end=True, upright=True)
    if columns:
        sheet.box(x, bottom + NAMES, 0, 0, "white")  # room for the names


def _place(column: int, group: int) -> float:
    return CELL * column + (3 * (column // group) if group else 0)


def _width(columns: int, group: int) -> float:
    return _place(columns - 1, group) + CELL


def _shade(share: float) -> str:
    """Return a colour between near white and blue."""
    low, high = (238, 242, 246), (16, 62, 110)
    mixed = (round(a + (b - a) * float(share)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{level:02x}" for level in mixed)
