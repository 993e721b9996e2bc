"""What notebooks show of turns, records, matches, tournaments and leaderboards.

Plain tables that take their colours from the notebook, light or dark; intervals are drawn beside
their numbers.
"""

from __future__ import annotations

import dataclasses
from functools import singledispatch
from html import escape

from cardlab.arena.leaderboard import Board
from cardlab.arena.match import MatchResult
from cardlab.arena.standings import Standings
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Turn
from cardlab.engine.records import Record
from cardlab.engine.registry import find_game
from cardlab.engine.replay import replay
from cardlab.show.pictures import picture_of
from cardlab.show.result_tables import (
    board_table,
    changed_options,
    cross_table,
    html_table,
    match_table,
    standings_table,
)
from cardlab.show.tournament import SAME_LETTER, cell_meaning

__all__ = ["html_of"]


@singledispatch
def html_of(value: object) -> str:
    """Return the HTML that a notebook shows of a value."""
    raise CardlabError(f"a {type(value).__name__} has no display of its own; print it")


@html_of.register
def _turn(turn: Turn) -> str:
    choices = ", ".join(escape(text) for text in turn.texts)
    return f"{picture_of(turn.view)}<p>seat {turn.seat} may: {choices}</p>"


@html_of.register
def _record(record: Record) -> str:
    rows = []
    for seat, name in enumerate(record.seats):
        cells = [str(seat), escape(name)]
        if record.result:
            cells += [f"{record.result.returns[seat]:g}", f"{record.result.points[seat]:g}"]
        rows.append(cells)
    head = ["seat", "agent", *(["return", "points"] if record.result else [])]
    picture, title = "", escape(record.game)
    try:  # code from outside is not run for a look at a record
        title = escape(find_game(record.game, trust=False).title)
        picture = picture_of(list(replay(record))[-1])
    except CardlabError as error:
        picture = f"<p>{escape(str(error))}</p>"
    lines = "".join(f"<li>{escape(text)}</li>" for _, text in record.actions)
    moves = f"{len(record.actions)} moves"
    note = "" if record.result else ", not finished"
    if record.forfeit is not None:
        note = f", given away by seat {record.forfeit}"
    options = escape(changed_options(record.game, record.options))
    sides = ["left" if name == "agent" else "right" for name in head]
    return (
        html_table(head, sides, rows, f"<b>{title}</b>, {moves}{note}{options}")
        + picture
        + f'<details><summary>{moves}</summary><ol start="0">{lines}</ol></details>'
    )


@html_of.register
def _match(result: MatchResult) -> str:
    return match_table(result).to_html()


@html_of.register
def _tournament(standings: Standings) -> str:
    table = standings_table(standings)
    note = f"{table.note}; {SAME_LETTER}"
    first = dataclasses.replace(table, note=note).to_html()
    if len(standings.lines) < 2:
        return first
    return first + cross_table(standings, title=cell_meaning(standings)).to_html()


@html_of.register
def _board(board: Board) -> str:
    return board_table(board).to_html()
