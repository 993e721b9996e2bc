"""The pages of the games: rules with pictures, options, opponents, and the pictures as files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from cardlab.agents.catalog import agents_for
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game, find_package, our_games
from cardlab.show.card_groups import APART, replace_card_groups
from cardlab.show.pictures import card_svg, deck_for, symbol_id, table_svg
from cardlab.show.pictures.decks import Deck

CARDS, TABLES = Path("images/cards"), Path("images/tables")
SEEDS = {  # of the deal that the rules explain; other games: 0
    "cribbage": 10,
    "koi_koi": 8,
    "uno": 6,
}
ROW, CELL, LINE = 54, 44, 38  # widths in pixels: alone in a paragraph, in a table, in a sentence
SHOWN = 108  # width of a picture in its own file


def file_of(deck: Deck, card: str) -> Path:
    """Return where the picture of a card lies, beside the pages."""
    return CARDS / deck.name / f"{symbol_id(card).removeprefix('card-')}.svg"


def rules_text(name: str) -> str:
    """Return the rules of a game as its folder has them, without the title."""
    package = find_package(name)
    text = package.file(package.rules).read_text(encoding="utf-8")
    return text.partition("\n\n")[2].strip()


def cards_shown(name: str) -> list[str]:
    """Return every card that the rules of a game show, in the order of their first appearance."""
    found: list[str] = []

    def note(cards: Sequence[str]) -> str:
        found.extend(cards)
        return ""

    replace_card_groups(rules_text(name), deck_for(find_game(name)), note)
    return [card for card in dict.fromkeys(found) if card != APART]


def rules(name: str) -> str:
    """Return the rules of a game with pictures of its cards and of the table that they explain."""
    deck = deck_for(find_game(name))

    lines = [_with_pictures(line, deck) for line in rules_text(name).splitlines()]
    parts = re.split(r"^(?=## )", "\n".join(lines), flags=re.MULTILINE)
    picture = (
        f"The same deal as a table (`Table({name!r}, seed={SEEDS.get(name, 0)})` in a notebook):"
        f"\n\n![The table of this deal](../{TABLES}/{name}.svg)\n\n"
    ).replace("'", '"')
    return "".join(part + (picture if part.startswith("## A first") else "") for part in parts)


def _with_pictures(line: str, deck: Deck) -> str:
    width = CELL if line.startswith("|") else LINE
    if re.fullmatch(r"\[[^\[\]]+\]", line):
        width = ROW
    return replace_card_groups(line, deck, lambda cards: _pictures(deck, cards, width))


def _pictures(deck: Deck, cards: Sequence[str], width: int) -> str:
    images = [
        '<span class="apart">+</span>'
        if card == APART
        else f'<img src="../{file_of(deck, card)}" alt="{escape(deck.words(card))}" '
        f'title="{escape(deck.words(card))} ({escape(card)})" width="{width}">'
        for card in cards
    ]
    kind = "cards alone" if width == ROW else "cards"
    return f'<span class="{kind}">{" ".join(images)}</span>'


def options(name: str) -> str:
    """Return the options of a game, from its manifest."""
    package = find_package(name)
    if not package.options:
        return "This game has no options."
    lines = ["| option | default | values | meaning |", "|---|---|---|---|"]
    for one in package.options:
        default = str(one.default).lower() if isinstance(one.default, bool) else one.default
        values = one.allowed_text.replace("a whole number from ", "")
        lines.append(f"| `{one.name}` | `{default}` | {values} | {one.help} |")
    return "\n".join(lines)


def opponents(name: str) -> str:
    """Return the levels that a game offers to people, from its manifest."""
    known = {one.name: one.summary for one in agents_for(find_game(name))}
    lines = ["| level | agent | what it does |", "|---|---|---|"]
    for one in find_package(name).levels:
        summary = known[one.agent.partition(":")[0]]
        lines.append(f"| {one.name} | `{one.agent}` | {summary} |")
    return "\n".join(lines)


@cache
def table_picture(name: str) -> str:
    """Return the picture of the deal that the rules explain, as the seat to move sees it."""
    turn = Table(find_game(name), seed=SEEDS.get(name, 0)).turn()
    return table_svg(turn.view.describe(), deck_for(turn.game).name)


def pictures() -> dict[Path, str]:
    """Return every picture of the pages by its place beside them."""
    found = {}
    for name in our_games():
        deck = deck_for(find_game(name))
        for card in cards_shown(name):
            found[file_of(deck, card)] = card_svg(deck.name, card, SHOWN) + "\n"
        found[TABLES / f"{name}.svg"] = table_picture(name) + "\n"
    return found
