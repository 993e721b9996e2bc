"""Data of the library: reports on papers, their figures, learning curves of shipped models."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from cardlab.engine.registry import find_package, our_games, our_packages
from cardlab.papers.kept_logs import kept_log, kept_result

SHIPPED = Path(__file__).parent / "papers"  # in an installed wheel
CHECKOUT = Path(__file__).parents[3] / "docs" / "papers"
FIGURE = re.compile(r"[a-z0-9_]+\.svg")
POINTS = 200  # of a learning curve
MOST_CURVES = 6  # for each model
ACCURACY = 2  # rank of the curves of supervised training


def folder() -> Path | None:
    """Return the folder of reports, in an installation or in a checkout."""
    return next((folder for folder in (SHIPPED, CHECKOUT) if folder.is_dir()), None)


def library_json() -> dict[str, Any]:
    """Return the titles of all reports, and the learning curves of shipped models."""
    found = folder()
    papers = []
    for name in our_games():
        path = found / f"{name}.md" if found else None
        if path is not None and path.exists():
            title = path.read_text().partition("\n")[0].lstrip("# ").strip()
            papers.append({"name": name, "game": find_package(name).title, "title": title})
    return {"papers": papers, "curves": curves()}


@functools.lru_cache(maxsize=16)
def report_json(name: str) -> dict[str, Any] | None:
    """Return a report as HTML; HTML inside its Markdown text is escaped."""
    found = folder()
    if name not in our_games() or found is None or not (found / f"{name}.md").exists():
        return None
    text = (found / f"{name}.md").read_text()
    title = text.partition("\n")[0].lstrip("# ").strip()
    # Pages of rules are not served, so links to them are replaced by their text.
    text = re.sub(r"\[([^\]]+)\]\(\.\./[^)]*\)", r"\1", text)
    text = re.sub(r"\]\(([a-z0-9_]+\.svg)\)", r"](/library/figures/\1)", text)
    page = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    page = page.replace("&lt;br&gt;", "<br>")  # the only tag that our tables need
    page = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", page)  # an empty corner is not a heading
    # Alignment comes as a style attribute, which the policy of our pages forbids.
    page = re.sub(r' style="text-align:(left|right|center)"', r' class="\1"', page)
    figures = sorted(set(re.findall(r"/library/figures/([a-z0-9_]+\.svg)", page)))
    return {"name": name, "title": title, "html": page, "figures": figures}


def figure_path(name: str) -> Path | None:
    """Return the file of a figure."""
    found = folder()
    if found is None or not FIGURE.fullmatch(name):
        return None
    path = found / name
    return path if path.is_file() else None


@functools.cache
def curves() -> list[dict[str, Any]]:
    """Return the evaluations that were logged during the training of shipped models."""
    found = []
    for package in our_packages().values():
        logs = package.shipped("logs")
        for path in sorted(logs.glob("*.jsonl.gz")) if logs.is_dir() else ():
            name = path.name.removesuffix(".jsonl.gz")
            about = logs / f"{name}.json"
            command = kept_result(package, name).get("command") if about.is_file() else None
            series = curves_in(kept_log(package, name))
            if series:
                supervised = any("fold" in curve["name"] for curve in series)
                found.append(
                    {
                        "name": f"{package.name}_{name}",
                        "game": package.name,
                        "command": command,
                        "unit": "epochs" if supervised else "games",
                        "series": series,
                    }
                )
    return found


def curves_in(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the curves of a log that evaluate the model, the most important first."""
    series: dict[str, list[list[float | None]]] = {}
    for row in rows:
        for key, value in row.items():
            known = title_of(key)
            if known is not None and isinstance(value, (int, float)):
                margin = row.get(f"{key}/margin", row.get(f"{key} margin"))
                scale = known[2]
                spread = None if margin is None else scale * margin
                at = row.get("games", row["step"])
                series.setdefault(key, []).append([at, scale * value, spread])
    shown = []
    for key, points in series.items():
        place, title, _ = title_of(key) or (0, key, 1)
        if place == ACCURACY:  # the log has one fold after the other, each starting at step 1
            points = [[at, *rest] for at, (_, *rest) in enumerate(points, 1)]
        if points[-1][2] is not None:
            title += ", with 95 % intervals"
        if len(points) > 1:
            shown.append((place, {"name": key, "title": title, "points": points[-POINTS:]}))
    return [curve for _, curve in sorted(shown, key=lambda pair: pair[0])][:MOST_CURVES]


def title_of(key: str) -> tuple[int, str, float] | None:
    """Return rank, title and scale of a logged number, or None for one without a curve."""
    match key.split("/"):
        case [rules, against, seats] if seats.isdecimal():
            return 0, f"games won against {against}, {seats} seats, {rules} rules, %", 1
        case [against, "wins"]:
            return 0, f"games won against {against}, %", 100
        case [against, "points"]:
            return 1, f"points per game against {against}", 1
        case [fold, head, "validation accuracy"]:
            what = head.replace("_", "-")
            return ACCURACY, f"{what}: accuracy on held-out games, {fold}, %", 100
    return None
