"""Write what the documentation says about the code from the code: `make pages`.

Between two marks of a page, `<!-- begin NAME -->` and `<!-- end NAME -->`, stands what this script
writes there: the strength of every agent (of some in the README), the command line, the Python
reference, the rules of each game. `python website/pages.py --check` only says what is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer

import game_pages
import observations
import reference
from cardlab.agents.catalog import agents_for, strength_of
from cardlab.cli import app
from cardlab.engine.registry import find_game, our_games

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# Whom the README presents; the page of agents has everyone.
PRESENTED = [
    "random",
    "heuristic",
    "tabular_q",
    "monte_carlo",
    "information_set",
    "guided",
    "determinised",
    "uno_net",
    "uno_search",
    "koi_koi_supervised",
    "koi_koi_point",
    "koi_koi_win",
    "koi_koi_linear",
    "koi_koi_search",
    "cribbage_weighted",
    "cribbage_expert",
    "monte_carlo_open",
    "uct_open",
    "oracle_open",
]


def table(heads: list[str], rows: list[list[str]], right: tuple[str, ...] = ()) -> str:
    """Return a Markdown table; the columns named in `right` are flush right."""
    marks = ["---:" if head in right else "---" for head in heads]
    lines = [heads, marks, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def strength() -> str:
    """Return who plays each game, and how well."""
    parts = []
    for name in our_games():
        game = find_game(name)
        alone = game.start().seats < 2
        heads = ["agent", "score, %", "games", "sees", "what it does"]
        rows = []
        for one in agents_for(game):
            found = strength_of(one, game)
            games = f"{found.games:,}" if found and found.games else "by symmetry"
            measured = [found.score_text, games] if found else ["-", "-"]
            sees = "its seat" if one.fair else "**all cards**"
            rows.append([f"`{one.usage}`", *([] if alone else measured), sees, one.summary])
        if alone:
            heads = [head for head in heads if head not in ("score, %", "games")]
        parts.append(f"### {game.title}\n\n{table(heads, rows, ('score, %', 'games'))}")
    return "\n\n".join(parts)


def presented() -> str:
    """Return the agents of the README, with their scores in every game for several."""
    games = [game for game in map(find_game, our_games()) if game.start().seats > 1]
    rows = []
    for name in PRESENTED:
        found = {game.name: one for game in games for one in agents_for(game) if one.name == name}
        scores = []
        for game in games:
            measured = strength_of(found[game.name], game) if game.name in found else None
            scores.append(measured.score_text if measured else "-")
        one = next(iter(found.values()))
        sees = "its seat" if one.fair else "**all cards**"
        rows.append([f"`{one.usage}`", one.summary, sees, *scores])
    titles = [game.title for game in games]
    return table(["agent", "what it does", "sees", *titles], rows, tuple(titles))


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
    ("agents.md", "strength", strength),
    ("command_line.md", "commands", command_line),
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
