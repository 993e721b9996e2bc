"""Figures of the reports: SVG, the same bytes for the same data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cardlab.errors import require

__all__ = ["draw_bars", "draw_curves", "require_figures"]

COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8d6a9f", "#b08900", "#555555")
MARKS = "osD^vP"


def require_figures() -> None:
    """Make sure that figures can be drawn."""
    require("figures", "papers", "matplotlib")


def _new(width: float, height: float) -> tuple[Any, Any, Any]:
    require_figures()
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "cardlab"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return pyplot, figure, axes


def _save(pyplot: Any, figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n")


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
        axes.errorbar(
            [one[0] for one in points],
            [one[1] for one in points],
            yerr=[one[2] for one in points] if any(one[2] for one in points) else None,
            label=name,
            color=COLOURS[place % len(COLOURS)],
            marker=MARKS[place % len(MARKS)],
            markersize=3 if len(points) > 20 else 4,
            capsize=2,
        )
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
    """Draw horizontal bars of (name, value, margin, sees all cards), both kinds told apart."""
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
