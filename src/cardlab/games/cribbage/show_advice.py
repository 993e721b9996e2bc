"""Advice on discards, as the terminal and notebooks show it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rich.text import Text

from cardlab.engine.cards import card_text
from cardlab.games.cribbage.solvers.advice import Advice
from cardlab.show.console import new_console, table_of
from cardlab.show.pictures import card_svg, hand_svg
from cardlab.show.result_tables import html_table
from cardlab.show.terminal import card_look, words_look


def show_advice(advice: Advice) -> None:
    """Print all discards, best first, and one sentence of advice."""

    def look(cards: tuple[int, ...]) -> Text:
        return Text(" ").join(card_look(card_text(card)) for card in cards)

    whose = "your crib" if advice.dealer else "the other's crib"
    own, other = advice.score
    title = Text.assemble(look(advice.cards), f"   {whose}, you {own}, the other {other}")
    table = table_of()
    for head in ("discard", "keep"):
        table.add_column(head, no_wrap=True)
    for head in ("hand", "min/med/max", "crib", "peg", "total", "win %"):
        table.add_column(head, justify="right", no_wrap=True)
    for place, one in enumerate(advice.choices):
        table.add_row(
            look(one.laid),
            look(one.kept),
            f"{one.mean:.2f}",
            f"{one.least}/{one.median:g}/{one.most}",
            f"{one.crib:+.2f}",
            f"{one.pegging:+.2f}",
            f"{one.points:.2f}",
            f"{100 * one.win:.1f}",
            style="" if place else "bold",
        )
    out = new_console()
    out.print(title, table)
    out.print(words_look(advice.sentence()))


def html_of(advice: Advice) -> str:
    """Return the table of choices that a notebook shows."""

    def cards(ids: Sequence[int]) -> str:
        return hand_svg("standard", [card_text(one) for one in ids], size=30)

    rows = [
        [
            cards(one.laid),
            cards(one.kept),
            f"{one.mean:.2f}",
            f"{one.least} / {one.median:g} / {one.most}",
            f"{one.crib:+.2f}",
            f"{one.pegging:+.2f}",
            f"{one.points:.2f}",
            f"{100 * one.win:.1f}",
        ]
        for one in advice.choices
    ]
    whose = "your crib" if advice.dealer else "the other's crib"
    own, other = advice.score
    hand = "".join(card_svg("standard", card_text(one), 64) for one in advice.cards)
    head = ["discard", "keep", "hand", "min / med / max", "crib", "peg", "total", "win %"]
    sides = ["left", "left", *["right"] * (len(head) - 2)]
    return (
        f"<div>{hand}</div>"
        + f"<p>{escape(advice.sentence())}</p>"
        + html_table(head, sides, rows, f"{whose}, you {own}, the other {other}")
    )
