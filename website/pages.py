"""Write what the documentation says about the code from the code: `make pages`.

Between two marks of a page, `<!-- begin NAME -->` and `<!-- end NAME -->`, stands what this script
writes there: the strength of every agent (of some in the README), the command line, the Python
reference, the rules of each game. `python website/pages.py --check` only says what is stale.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer

import game_pages
import observations
import reference
from cardlab.agents.catalog import Strength, agents_for, strength_of
from cardlab.cli import app
from cardlab.engine.manifest import AgentEntry
from cardlab.engine.registry import find_game, our_games

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MEASURED = ("rating", "score, %", "games")  # columns that are flush right
PRESENTED = 3  # agents of each game in the README, beside `heuristic` and `random`


def table(heads: list[str], rows: list[list[str]], right: tuple[str, ...] = ()) -> str:
    """Return a Markdown table; the columns named in `right` are flush right."""
    marks = ["---:" if head in right else "---" for head in heads]
    lines = [heads, marks, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ranked(name: str) -> list[tuple[AgentEntry, Strength | None]]:
    """Return the agents of a game with their strength, the highest rating first."""
    game = find_game(name)
    found = [(one, strength_of(one, game)) for one in agents_for(game)]
    return sorted(found, key=lambda row: -row[1].rating if row[1] else math.inf)


def strength() -> str:
    """Return who plays each game, and how well."""
    parts = []
    for name in our_games():
        game = find_game(name)
        alone = game.start().seats < 2
        heads = ["agent", "rating", "score, %", "games", "sees", "what it does"]
        rows = []
        for one, found in ranked(name):
            measured = ["-", "-", "-"]
            if found:
                games = f"{found.games:,}" if found.games else "by symmetry"
                measured = [found.rating_text, found.score_text, games]
            sees = "its seat" if one.fair else "**all cards**"
            rows.append([f"`{one.usage}`", *([] if alone else measured), sees, one.summary])
        if alone:
            heads = [head for head in heads if head not in MEASURED]
        parts.append(f"### {game.title}\n\n{table(heads, rows, MEASURED)}")
    return "\n\n".join(parts)


def presented() -> str:
    """Return the agents of the README: of each game the strongest fair ones, and who is weaker."""
    parts = []
    for name in our_games():
        if find_game(name).start().seats < 2:
            continue
        fair = [(one, found) for one, found in ranked(name) if one.fair and found]
        first = fair[:PRESENTED]
        first += [row for row in fair[PRESENTED:] if row[0].name in ("heuristic", "random")]
        for place, (one, found) in enumerate(first):
            title = find_game(name).title if place == 0 else ""
            parts.append(
                [title, f"`{one.usage}`", found.rating_text, found.score_text, one.summary]
            )
    return table(["game", "agent", "rating", "score, %", "what it does"], parts, MEASURED)


def walk_commands() -> list[tuple[str, Any, Any]]:
    """Return every command of the command line: its name, itself, its context."""
    group: Any = typer.main.get_command(app)
    root = group.make_context("cardlab", [], resilient_parsing=True)
    return [
        (name, one, one.context_class(one, info_name=name, parent=root))
        for name, one in group.commands.items()
    ]


def command_line() -> str:
    """Return all commands with their arguments, options and examples."""
    parts: list[str] = []
    heading = ""
    for name, command, context in walk_commands():
        if command.rich_help_panel != heading:
            heading = command.rich_help_panel
            parts.append(f"## {heading}")
        text, _, examples = command.help.partition("\n\n\b\n")
        lines = [line.strip() for line in examples.partition(":")[2].strip().splitlines()]
        usage = " ".join(["cardlab", name, *command.collect_usage_pieces(context)])
        rows = []
        for one in command.get_params(context):
            record = one.get_help_record(context)
            if record is None or one.name == "help":
                continue
            words = record[0].partition(" <")[0]
            told, _, default = record[1].partition("  [default: ")
            told = told.replace("  [required]", "")
            rows.append([f"`{words}`", told, f"`{default.rstrip(']')}`" if default else ""])
        parts += [
            f"### {name}",
            text,
            f"```text\n{usage}\n```",
            "\n".join(["```console", *(f"$ {line}" for line in lines), "```"]),
        ]
        if rows:
            parts.append(table(["", "what it is", "default"], rows))
    return "\n\n".join(parts)


# Page, name of its part, and what writes it.
PARTS: list[tuple[str, str, Callable[[], str]]] = [
    ("../README.md", "presented", presented),
    ("reference/agents.md", "strength", strength),
    ("reference/command_line.md", "commands", command_line),
    ("reference/python.md", "python", lambda: python().first_page()),
    ("reference/observations.md", "observations", observations.observations),
    *(
        (f"games/{name}.md", part, partial(make, name))
        for name in our_games()
        for part, make in (
            ("rules", game_pages.rules),
            ("options", game_pages.options),
            ("opponents", game_pages.opponents),
        )
    ),
    *(
        ("reference/states.md", f"fields {name}", partial(observations.fields, ROOT / "src", name))
        for name in our_games()
    ),
]


@cache
def python() -> reference.Reference:
    """Return the reference of the source."""
    return reference.Reference(ROOT / "src")


def written() -> dict[Path, str]:
    """Return every file that this script writes, as it should be."""
    files = {
        DOCS / "reference" / reference.FOLDER / f"{page.slug}.md": python().page(page)
        for page in reference.PAGES
    }
    files |= {DOCS / path: text for path, text in game_pages.pictures().items()}
    for page, name, make in PARTS:
        path = (DOCS / page).resolve()
        begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
        known = files[path] if path in files else path.read_text(encoding="utf-8")
        before, _, rest = known.partition(begin)
        _, _, after = rest.partition(end)
        if not rest or end not in rest:
            raise SystemExit(f"{path} has no marks {begin.strip()} and {end.strip()}")
        files[path] = f"{before}{begin}\n{make().strip()}\n\n{end}{after}"
    return files


def left_over() -> list[Path]:
    """Return files among those that this script writes which nothing needs any more."""
    folders = [DOCS / "reference" / reference.FOLDER, DOCS / game_pages.CARDS]
    folders.append(DOCS / game_pages.TABLES)
    found = {path for folder in folders for path in folder.rglob("*.*")}
    return sorted(found - set(written()))


def stale() -> list[Path]:
    """Return the files that are not what the code says."""
    return [
        path
        for path, text in written().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ] + left_over()


def main() -> None:
    """Write all files, or say which are stale."""
    if "--check" in sys.argv[1:]:
        found = [str(path.relative_to(ROOT)) for path in stale()]
        if found:
            raise SystemExit(f"stale: {', '.join(found)}; `make pages` writes them anew")
        return
    for path, text in written().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in left_over():
        path.unlink()


if __name__ == "__main__":
    main()
