"""The tables of docs/interop.md: the meaning of every number of every observation.

    python -m cardlab.interop.observation_docs docs/interop.md

writes the tables into a page, between its two marks.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cardlab.engine.arguments import read_path
from cardlab.engine.errors import CardlabError
from cardlab.engine.observation import Block, observation_of
from cardlab.engine.registry import find_game, our_games

__all__ = ["tables", "write_tables"]

BEGIN, END = "<!-- observations -->", "<!-- end of observations -->"
FEW = 8


def tables() -> str:
    """Return the tables of all games as Markdown."""
    parts = []
    for name in our_games():
        game = find_game(name)
        encoder = observation_of(game)
        lines = [
            f"### {game.title}",
            "",
            f"{encoder.size} numbers, {game.num_actions} actions.",
            "",
        ]
        lines += ["| index | what | meaning |", "|---|---|---|"]
        first = 0
        for block in encoder.blocks:
            last = first + len(block.words) - 1
            index = str(first) if first == last else f"{first}..{last}"
            lines.append(f"| {index} | {block.name} | {_meaning(block)} |")
            first = last + 1
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _meaning(block: Block) -> str:
    if len(block.words) <= FEW or not block.summary:
        return "; ".join(block.words)
    return f"{block.summary}. First: {block.words[0]}; last: {block.words[-1]}"


def write_tables(page: str | Path) -> None:
    """Write the tables between the two marks of a page."""
    page = read_path(page, "page")
    text = page.read_text()
    if BEGIN not in text or END not in text:
        raise CardlabError(f"{page} must contain the marks {BEGIN} and {END}")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}")


if __name__ == "__main__":
    write_tables(sys.argv[1])
