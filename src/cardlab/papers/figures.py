"""Figures of the reports: SVG, the same bytes for the same data."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.errors import require
from cardlab.engine.game import Array

__all__ = [
    "Dots",
    "Scale",
    "draw_bars",
    "draw_curves",
    "draw_dots",
    "draw_histograms",
    "draw_lines",
    "draw_maps",
    "draw_steps",
    "require_figures",
]

COLOURS = (
    "#1b6ca8",
    "#d1495b",
    "#3a7d44",
    "#8d6a9f",
    "#b08900",
    "#555555",
    "#2ba6a1",
    "#e07b39",
)
MARKS = "osD^vP"
PICTURE = re.compile(r"(data:image/png;base64,)([A-Za-z0-9+/=\s]+)")
PALETTE = 256  # most colours of a picture that is stored by number


def require_figures() -> None:
    """Make sure that figures can be drawn."""
    require("`cardlab reproduce`", "papers", "matplotlib")


def _new(width: float, height: float) -> tuple[Any, Any, Any]:
    pyplot, figure, grid = _new_grid(width, height, 1, 1)
    return pyplot, figure, grid[0, 0]


def _new_grid(
    width: float, height: float, rows: int, columns: int, **shared: Any
) -> tuple[Any, Any, Any]:
    require_figures()
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "cardlab"
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(
        rows, columns, figsize=(width, height), layout="constrained", squeeze=False, **shared
    )
    for axes in grid.flat:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return pyplot, figure, grid


def _save(pyplot: Any, figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    text = PICTURE.sub(_with_palette, path.read_text())
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")


def _with_palette(found: re.Match[str]) -> str:
    """Return an embedded picture of few colours in a quarter of the bytes."""
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(found[2]))).convert("RGB")
    colours = picture.getcolors(PALETTE)
    if colours is None:  # more than a map has
        return found[0]
    small = io.BytesIO()
    picture.quantize(len(colours)).save(small, format="png", optimize=True)
    return found[1] + base64.b64encode(small.getvalue()).decode()


def _draw_line(
    axes: Any, place: int, name: str, points: Sequence[tuple[float, float, float]]
) -> None:
    """Draw one line of (x, y, margin), the look of which follows from its place among others."""
    at, values, margins = zip(*points, strict=True)
    axes.errorbar(
        at,
        values,
        yerr=margins if any(margins) else None,
        label=name,
        color=COLOURS[place % len(COLOURS)],
        marker=MARKS[place % len(MARKS)],
        markersize=3 if len(points) > 20 else 4,
        capsize=2,
    )


def draw_curves(
    path: Path,
    curves: Mapping[str, Sequence[tuple[float, float, float]]],
    *,
    x: str,
    y: str,
    log_x: bool = True,
    log_y: bool = False,
) -> None:
    """Draw curves of (x, y, margin)."""
    pyplot, figure, axes = _new(7, 4)
    for place, (name, points) in enumerate(curves.items()):
        _draw_line(axes, place, name, points)
    if log_x:
        axes.set_xscale("log")
    if log_y:
        axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    _save(pyplot, figure, path)


def draw_bars(path: Path, bars: Sequence[tuple[str, float, float, bool]], x: str) -> None:
    """Draw horizontal bars of (name, value, margin, sees all cards), a colour for each kind."""
    pyplot, figure, axes = _new(7, 0.8 + 0.32 * len(bars))
    for sees_all, label, colour, hatch in (
        (False, "sees its seat", COLOURS[0], ""),
        (True, "sees all cards", COLOURS[1], "//"),
    ):
        mine = [(place, bar) for place, bar in enumerate(bars) if bar[3] == sees_all]
        axes.barh(
            [place for place, _ in mine],
            [bar[1] for _, bar in mine],
            xerr=[bar[2] for _, bar in mine],
            color=colour,
            hatch=hatch,
            edgecolor="white",
            capsize=2,
            label=label,
        )
    axes.set_yticks(range(len(bars)), [bar[0] for bar in bars])
    axes.set_xlabel(x)
    axes.axvline(50, color="#555555", linewidth=0.8)
    axes.legend(frameon=False, loc="lower right")
    _save(pyplot, figure, path)


def draw_lines(
    path: Path,
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    *,
    x: str,
    y: str,
    columns: int = 2,
    same_x: bool = True,
) -> None:
    """Draw panels of plain lines of (x, y), the same names in each, with one legend beside them."""
    rows = -(-len(panels) // columns)
    pyplot, figure, grid = _new_grid(9, 0.6 + 2.5 * rows, rows, columns, sharex=same_x, sharey=True)
    for axes, (title, lines) in zip(grid.flat, panels.items(), strict=True):
        for place, (name, points) in enumerate(lines.items()):
            axes.plot(
                *zip(*points, strict=True),
                label=name,
                color=COLOURS[place % len(COLOURS)],
                linewidth=1.5,
            )
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3)
        axes.ticklabel_format(axis="x", style="plain")
    figure.supxlabel(x, fontsize=10)
    figure.supylabel(y, fontsize=10)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=9)
    _save(pyplot, figure, path)


class Scale(NamedTuple):
    """What the colours of a map mean."""

    label: str
    limits: tuple[float, float]
    colours: str = "Blues"  # of matplotlib
    steps: int = 5  # few keep noisy maps small


def draw_maps(
    path: Path,
    rows: Mapping[str, Sequence[Array]],
    titles: Sequence[str],
    scale: Scale,
    *,
    x: str,
    y: str,
    extent: float,
    level: float | None = None,
) -> None:
    """Draw small multiples of square maps, the first index downwards, with one scale of colours.

    A dotted line is the diagonal; `level` draws the contour where a map has that value.
    """
    count = len(titles)
    side = 3.2 if count <= 2 else 1.25
    width, height = side * count + 1.4, (side - 0.05) * len(rows) + 0.9
    pyplot, figure, grid = _new_grid(width, height, len(rows), count, sharex=True, sharey=True)
    import matplotlib

    palette = matplotlib.colormaps[scale.colours].resampled(scale.steps)
    for axes, title in zip(grid[0], titles, strict=True):
        axes.set_title(title, fontsize=8 if count > 2 else 10)
    for line, (name, maps) in zip(grid, rows.items(), strict=True):
        for axes, values in zip(line, maps, strict=True):
            image = axes.imshow(
                values,
                cmap=palette,
                vmin=scale.limits[0],
                vmax=scale.limits[1],
                extent=(0, extent, extent, 0),
                interpolation="none",
            )
            axes.plot([0, extent], [0, extent], color="#777777", linewidth=0.5, linestyle=":")
            if level is not None:
                middle = (np.arange(len(values)) + 0.5) * extent / len(values)
                axes.contour(middle, middle, values, levels=[level], colors="black", linewidths=1)
            axes.set_xticks([0, 60, 120])
            axes.set_yticks([0, 60, 120])
            axes.tick_params(labelsize=7 if count > 2 else 9)
        line[0].set_ylabel(name, fontsize=8 if count > 2 else 10)
    figure.supxlabel(x, fontsize=9)
    figure.supylabel(y, fontsize=9)
    bar = figure.colorbar(image, ax=grid, shrink=0.8, pad=0.01)
    bar.set_label(scale.label, fontsize=9)
    bar.ax.tick_params(labelsize=8)
    _save(pyplot, figure, path)


class Dots(NamedTuple):
    """Values observed at one place, and what a paper has there."""

    place: float
    ours: Sequence[float]
    theirs: float | None


def draw_dots(path: Path, panels: Mapping[str, Sequence[Dots]], *, x: str, y: str) -> None:
    """Draw panels of repeated values, their means, and a paper's values beside them."""
    pyplot, figure, grid = _new_grid(9, 3.6, 1, len(panels), sharey=True)
    for axes, (title, dots) in zip(grid.flat, panels.items(), strict=True):
        for dot in dots:
            axes.plot(
                [dot.place] * len(dot.ours),
                dot.ours,
                linestyle="",
                marker="o",
                markersize=3,
                color=COLOURS[0],
                alpha=0.35,
                label="ours, one match each",
            )
        axes.plot(
            [dot.place for dot in dots],
            [sum(dot.ours) / len(dot.ours) for dot in dots],
            color=COLOURS[0],
            marker="_",
            markersize=10,
            label="ours, mean",
        )
        stated = [(dot.place, dot.theirs) for dot in dots if dot.theirs is not None]
        axes.plot(
            [place for place, _ in stated],
            [value for _, value in stated],
            linestyle="",
            marker="D",
            markersize=5,
            color=COLOURS[1],
            label="theirs, one match",
        )
        axes.axhline(0, color="#555555", linewidth=0.8)
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3)
    figure.supxlabel(x, fontsize=10)
    grid[0, 0].set_ylabel(y)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    figure.legend(
        unique.values(), unique, loc="outside upper center", ncols=3, frameon=False, fontsize=9
    )
    _save(pyplot, figure, path)


def draw_histograms(path: Path, groups: Mapping[str, Sequence[float]], *, x: str) -> None:
    """Draw one histogram below the other on the same scale, each with its mean."""
    pyplot, figure, grid = _new_grid(7, 0.7 + 0.9 * len(groups), len(groups), 1, sharex=True)
    every = [value for values in groups.values() for value in values]
    low, high = min(every), max(every)
    edges = [low + (high - low) * place / 60 for place in range(61)]
    for place, (axes, (name, values)) in enumerate(zip(grid.flat, groups.items(), strict=True)):
        axes.hist(values, bins=edges, color=COLOURS[place % len(COLOURS)])
        axes.axvline(sum(values) / len(values), color="#222222", linewidth=1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=9)
    grid[-1, 0].set_xlabel(x)
    _save(pyplot, figure, path)


def draw_steps(
    path: Path,
    lines: Mapping[str, Sequence[tuple[float, float, float]]],
    *,
    names: Sequence[str],
    y: str,
) -> None:
    """Draw lines of (step, y, margin) over named steps."""
    pyplot, figure, axes = _new(7, 4)
    for place, (name, points) in enumerate(lines.items()):
        _draw_line(axes, place, name, points)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3, axis="y")
    axes.legend(frameon=False)
    _save(pyplot, figure, path)
