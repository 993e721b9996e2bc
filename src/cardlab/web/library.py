"""The library: reports on the papers as pages, their figures, and how shipped models learned."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from cardlab.engine.registry import find_package, our_games, our_packages
from cardlab.papers.kept_logs import kept_log, kept_result

SHIPPED = Path(__file__).parent / "papers"  # where a wheel has them
CHECKOUT = Path(__file__).parents[3] / "docs" / "papers"
FIGURE = re.compile(r"[a-z0-9_]+\.svg")
POINTS = 200  # of a learning curve
MOST_CURVES = 6  # of a model
ACCURACY = 2  # the rank of curves from training on records


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
    """Return a report as HTML; its text is ours, and no HTML within it is let through."""
    found = folder()
    if name not in our_games() or found is None or not (found / f"{name}.md").exists():
        return None
    text = (found / f"{name}.md").read_text()
    title = text.partition("\n")[0].lstrip("# ").strip()
    # Pages of rules are not served: a link to them would lead nowhere.
    text = re.sub(r"\[([^\]]+)\]\(\.\./[^)]*\)", r"\1", text)
    text = re.sub(r"\]\(([a-z0-9_]+\.svg)\)", r"](/library/figures/\1)", text)
    page = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    page = page.replace("&lt;br&gt;", "<br>")  # the one tag that our tables need
    page = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", page)  # a corner of a table heads nothing
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
    """Return the evaluations that were logged while shipped models were trained."""
    found = []
    for package in our_packages().values():
        logs = package.shipped("logs")
        for path in sorted(logs.glob("*.jsonl.gz")) if logs.is_dir() else ():
            name = path.name.removesuffix(".jsonl.gz")
            about = logs / f"{name}.json"
            command = kept_result(package, name).get("command") if about.is_file() else None
            series = curves_in(kept_log(package, name))
            if series:
                trained = any("fold" in curve["name"] for curve in series)  # on records
                found.append(
                    {
                        "name": f"{package.name}_{name}",
                        "game": package.name,
                        "command": command,
                        "unit": "epochs" if trained else "games",
                        "series": series,
                    }
                )
    return found


def curves_in(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the curves in a log that say how well a model did, the most telling first."""
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
        if place == ACCURACY:  # folds follow one another in the log, each from its own beginning
            points = [[at, *rest] for at, (_, *rest) in enumerate(points, 1)]
        if points[-1][2] is not None:
            title += ", with 95 % intervals"
        if len(points) > 1:
            shown.append((place, {"name": key, "title": title, "points": points[-POINTS:]}))
    return [curve for _, curve in sorted(shown, key=lambda pair: pair[0])][:MOST_CURVES]


def title_of(key: str) -> tuple[int, str, float] | None:
    """Return rank, title and scale of a logged number, or nothing if it is no evaluation."""
    match key.split("/"):
        case [rules, against, seats] if seats.isdecimal():
            return 0, f"wins in % under {rules} rules against {against}, {seats} seats", 1
        case [against, "wins"]:
            return 0, f"wins in % against {against}", 100
        case [against, "points"]:
            return 1, f"points a game against {against}", 1
        case [fold, head, "validation accuracy"]:
            what = head.replace("_", "-")
            return ACCURACY, f"{what}: decisions of held-out games predicted in %, {fold}", 100
    return None
