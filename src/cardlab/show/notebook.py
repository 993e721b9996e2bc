"""What notebooks show of turns, records, matches, tournaments and leaderboards.

Plain tables that take their colours from the notebook, light or dark; intervals are drawn beside
their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from html import escape
from typing import Any

from cardlab.arena.leaderboard import Board
from cardlab.arena.match import MatchResult
from cardlab.arena.standings import Table
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Turn
from cardlab.engine.records import Record
from cardlab.engine.registry import find_game
from cardlab.engine.replay import replay
from cardlab.show.pictures import picture_of
from cardlab.show.tables import margin
from cardlab.show.tournament import elo_text

__all__ = ["html_of", "html_table"]

Interval = tuple[float, float] | None

BAR = 120  # pixels from 0 to 100 per cent
CELL = "padding:3px 10px;white-space:nowrap;text-align:"


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
    if ":" not in record.game:  # code from outside is not run for a look at a record
        title = escape(find_game(record.game).title)
        try:
            picture = picture_of(list(replay(record))[-1])
        except CardlabError as error:
            picture = f"<p>{escape(str(error))}</p>"
    lines = "".join(f"<li>{escape(text)}</li>" for _, text in record.actions)
    moves = f"{len(record.actions)} moves"
    note = "" if record.result else ", not finished"
    if record.forfeit is not None:
        note = f", given away by seat {record.forfeit}"
    return (
        html_table(
            head, rows, f"<b>{title}</b>, {moves}{note}{_options(record.game, record.options)}"
        )
        + picture
        + f'<details><summary>{moves}</summary><ol start="0">{lines}</ol></details>'
    )


@html_of.register
def _match(result: MatchResult) -> str:
    even = result.deals / result.games
    rows = [
        [
            escape(one.agent),
            f"{one.wins:,}",
            f"{one.ties:,}",
            f"{one.losses:,}",
            _percent(one.score, one.score_interval),
            _whisker(one.score, one.score_interval, even),
            f"{one.points:.1f}{margin(one.points, one.points_interval)}",
            f"{one.milliseconds:.3f}",
        ]
        for one in result.standings
    ]
    head = ["agent", "wins", "ties", "losses", "score %", "", "points", "ms a move"]
    stopped = f" of {result.planned:,} planned" if result.stopped else ""
    return html_table(
        head,
        rows,
        f"<b>{escape(result.game)}</b>{_options(result.game, result.options)}",
        f"{result.games:,} games{stopped} on {result.deals:,} deals, every seating; seed "
        f"{result.seed}; {result.seconds:.1f} s; ± is a 95 % interval over deals",
    )


@html_of.register
def _tournament(table: Table) -> str:
    alone = table.seats == 1
    even = 0.5 if alone else 1 / table.seats
    rows = []
    for place, line in enumerate(table.lines, start=1):
        cells = [str(place), escape(line.agent)]
        if line.rating:
            cells += [line.rating.groups, escape(elo_text(line.rating))]
        elif not alone:
            cells += ["", ""]
        cells += [
            _percent(line.score, line.score_interval),
            _whisker(line.score, line.score_interval, even),
            f"{line.points:.1f}{margin(line.points, line.points_interval)}",
            f"{line.milliseconds:.3f}",
        ]
        rows.append(cells)
    rated = ["solved %"] if alone else ["group", "Elo, 95 %", "score %"]
    head = ["", "agent", *rated, "", "points", "ms a deal" if alone else "ms a move"]
    played = f"{table.games:,} games" + (
        "" if table.games == table.planned else f" of {table.planned:,} planned"
    )
    return html_table(
        head,
        rows,
        f"<b>{escape(table.game)}</b>",
        f"{played} on {table.deals:,} deals, the same for all, every seating; ± and brackets are "
        "95 % intervals over deals; agents that share a letter cannot be told apart",
    ) + _crosshtml_table(table)


def _crosshtml_table(table: Table) -> str:
    ranking = table.ranking()
    if len(ranking) < 2:
        return ""
    rows = []
    for place, agent in enumerate(ranking, start=1):
        cells = [str(place), escape(agent)]
        for other in ranking:
            cell = table.cells.get((agent, other))
            cells.append(_percent(cell.share, cell.interval) if cell else "·")
        rows.append(cells)
    head = ["", "agent", *(str(place) for place in range(1, len(ranking) + 1))]
    return html_table(head, rows, "how often the row came before the column, draws half, %")


@html_of.register
def _board(board: Board) -> str:
    rows = [
        [str(place), escape(one.agent), escape(elo_text(one)), one.groups]
        for place, one in enumerate(board.ratings, start=1)
    ]
    return html_table(
        ["", "agent", "Elo, 95 %", "group"],
        rows,
        f"<b>{escape(board.game)}</b>{_options(board.game, board.options)}",
        f"{board.games:,} games of {board.tournaments} tournaments on {board.deals:,} deals",
    )


def _options(game: str, options: dict[str, Any]) -> str:
    """Return the options that differ from the game's defaults, as words behind a comma."""
    if ":" in game:
        changed = list(options.items())
    else:
        usual = find_game(game).read_options({})
        changed = [(name, value) for name, value in options.items() if value != usual.get(name)]
    return escape("".join(f", {name}={str(value).lower()}" for name, value in changed))


def _percent(value: float, interval: Interval) -> str:
    return f"{100 * value:.1f}{margin(value, interval, 100)}"


def _whisker(value: float, interval: Interval, even: float) -> str:
    """Return a share and its interval as a small picture, with a line where all are even."""
    low, high = interval or (value, value)
    words = f"{100 * value:.1f} %, from {100 * low:.1f} to {100 * high:.1f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{BAR}" height="14" role="img" '
        f'stroke="currentColor"><title>{words}</title>'
        f'<path d="M0 7H{BAR}" stroke-opacity=".25"/>'
        f'<path d="M{even * BAR:.1f} 1V13" stroke-opacity=".5" stroke-dasharray="2 2"/>'
        f'<path d="M{low * BAR:.1f} 7H{high * BAR:.1f}" stroke="#d2691e" stroke-width="3"/>'
        f'<circle cx="{value * BAR:.1f}" cy="7" r="3.5" fill="#d2691e" stroke="none"/></svg>'
    )


def html_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], title: str, note: str = ""
) -> str:
    """Return a table; its cells are HTML already."""
    left = {"agent", "lay away", "keep"}
    sides = ["left" if name in left else "right" for name in head]
    top = "".join(
        f'<th scope="col" style="{CELL}{side}">{name}</th>'
        for name, side in zip(head, sides, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{CELL}{side}">{cell}</td>' for cell, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    below = f"<p><small>{note}</small></p>" if note else ""
    caption = f'<caption style="text-align:left;caption-side:top">{title}</caption>'
    return f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{below}"
