"""Tables of results, made once and rendered for the terminal or a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from cardlab.engine.errors import CardlabError
from cardlab.engine.registry import find_package
from cardlab.show.console import plain_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from cardlab.arena.leaderboard import Board
    from cardlab.arena.match import MatchResult
    from cardlab.arena.ratings import Rating
    from cardlab.arena.standings import Standings

__all__ = [
    "Column",
    "ResultTable",
    "Share",
    "board_table",
    "changed_options",
    "cross_table",
    "html_table",
    "match_table",
    "rating_text",
    "skill_text",
    "standings_table",
    "with_margin",
]

Interval = tuple[float, float] | None
Skills = dict[str, tuple[float, float]]  # of the ladder: mean and standard deviation by agent

ELO_ZERO = "Elo: 0 is the mean of these agents"
BAR = 120  # pixels from 0 to 100 per cent
CELL = "padding:3px 10px;white-space:nowrap;text-align:"
FIRST_SKILL = (25.0, 25 / 3)  # what openskill begins with


def with_margin(mean: float, interval: Interval, scale: float = 1) -> str:
    """Return a mean with the margin of its interval after ±, or with a dash if there is none.

    An interval that ends at a bound, such as 100 %, is asymmetric: the longer side is shown.
    """
    if interval is None:
        return f"{scale * mean:.1f} -"
    margin = scale * max(mean - interval[0], interval[1] - mean)
    return f"{scale * mean:.1f} ± {margin:.1f}"


@dataclass(frozen=True)
class Share:
    """A share with its interval, and the share of equally strong agents."""

    value: float
    interval: Interval
    even: float = 0.5

    def __str__(self) -> str:
        return with_margin(self.value, self.interval, 100)

    def picture(self) -> str:
        """Return share and interval as a small SVG, with a line at the share of equal agents."""
        low, high = self.interval or (self.value, self.value)
        words = f"{100 * self.value:.1f} %, from {100 * low:.1f} to {100 * high:.1f}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{BAR}" height="14" role="img" '
            f'stroke="currentColor"><title>{words}</title>'
            f'<path d="M0 7H{BAR}" stroke-opacity=".25"/>'
            f'<path d="M{self.even * BAR:.1f} 1V13" stroke-opacity=".5" stroke-dasharray="2 2"/>'
            f'<path d="M{low * BAR:.1f} 7H{high * BAR:.1f}" stroke="#d2691e" stroke-width="3"/>'
            f'<circle cx="{self.value * BAR:.1f}" cy="7" r="3.5" fill="#d2691e" stroke="none"/>'
            "</svg>"
        )


@dataclass(frozen=True)
class Column:
    """The head of a column; text such as names is flush left."""

    name: str
    text: bool = False


@dataclass(frozen=True)
class ResultTable:
    """Rows of cells under a title, for any display."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Share, ...], ...]
    more: str = ""  # what follows the title, not in bold
    note: str = ""

    def to_lines(
        self, width: int, texts: Sequence[str] = (), *, ascii_only: bool = False
    ) -> list[Text]:
        """Return the table for a terminal of a width; names stay whole, texts go below rows."""
        from rich.text import Text

        from cardlab.show.layout import table_lines

        left = [place for place, column in enumerate(self.columns) if column.text]
        title = Text(plain_text(self.title), style="bold").append(
            plain_text(self.more), style="not bold"
        )
        return table_lines(
            [column.name for column in self.columns],
            [[str(cell) for cell in row] for row in self.rows],
            left=left,
            name=left[0] if left else 0,
            title=title if self.title else None,
            width=width,
            rule="-" if ascii_only else "─",
            texts=texts,
        )

    def show(self, out: Console, texts: Sequence[str] = ()) -> None:
        """Print the table, below each row its text."""
        from cardlab.show.layout import print_lines

        print_lines(out, self.to_lines(out.width, texts, ascii_only=out.options.ascii_only))

    def to_html(self) -> str:
        """Return the table for a notebook, light or dark."""
        heads, sides = [], []
        drawn = [
            any(isinstance(row[place], Share) for row in self.rows)
            for place in range(len(self.columns))
        ]
        for column, has_picture in zip(self.columns, drawn, strict=True):
            heads += [escape(column.name), *([""] * has_picture)]
            sides += ["left" if column.text else "right", *(["right"] * has_picture)]
        rows = []
        for row in self.rows:
            cells: list[str] = []
            for cell, has_picture in zip(row, drawn, strict=True):
                cells.append(escape(str(cell)))
                if has_picture:
                    cells.append(cell.picture() if isinstance(cell, Share) else "")
            rows.append(cells)
        title = f"<b>{escape(self.title)}</b>{escape(self.more)}"
        return html_table(heads, sides, rows, title, escape(self.note))


def html_table(
    heads: Sequence[str],
    sides: Sequence[str],
    rows: Sequence[Sequence[str]],
    title: str,
    note: str = "",
) -> str:
    """Return an HTML table; title, heads, cells and note must be HTML."""
    top = "".join(
        f'<th scope="col" style="{CELL}{side}">{name}</th>'
        for name, side in zip(heads, sides, strict=True)
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


def changed_options(game: str, options: dict[str, Any]) -> str:
    """Return the options that differ from the defaults of the game, each after a comma."""
    try:  # a title must not run code from outside
        known = find_package(game, trust=False).options
    except CardlabError:
        known = ()
    usual = {option.name: option.default for option in known}
    changed = [(name, value) for name, value in options.items() if value != usual.get(name)]
    return "".join(f", {name}={str(value).lower()}" for name, value in changed)


def _milliseconds(value: float) -> str:
    """Return a mean time; 0 if every decision waited for the compiler or ran interpreted."""
    return f"{value:.3f}" if value else "-"


def match_table(result: MatchResult) -> ResultTable:
    """Return the result of a match, one row per agent."""
    even = result.deals / result.games
    rows = [
        (
            row.agent,
            f"{row.wins:,}",
            f"{row.ties:,}",
            f"{row.losses:,}",
            Share(row.score, row.score_interval, even),
            with_margin(row.points, row.points_interval),
            _milliseconds(row.milliseconds),
        )
        for row in result.standings
    ]
    stopped = f" of {result.planned:,} planned (stopped early)" if result.stopped else ""
    timed = all(row.milliseconds for row in result.standings)
    untimed = "" if timed else "; - under ms a move: every decision waited for the compiler"
    seats = result.games // result.deals
    return ResultTable(
        result.game,
        (
            Column("agent", text=True),
            *map(Column, ("wins", "ties", "losses", "score %", "points", "ms a move")),
        ),
        tuple(rows),
        changed_options(result.game, result.options),
        f"{result.games:,} games{stopped} on {result.deals:,} deal{'s' * (result.deals != 1)}, "
        f"{'seats swapped' if seats == 2 else f'{seats} seatings each'}; seed {result.seed}; "
        f"{result.seconds:.1f} s; ± is a 95 % interval over deals{untimed}",
    )


def rating_text(rating: Rating) -> str:
    """Return a rating with its interval, or its only finite bound."""
    if rating.interval is None:
        return f"{rating.elo:.0f} -"
    low, high = rating.interval
    if high == float("inf"):
        return f"> {low:.0f}"
    if low == -float("inf"):
        return f"< {high:.0f}"
    return f"{rating.elo:.0f} [{low:.0f}, {high:.0f}]"


def skill_text(found: tuple[float, float] | None) -> str:
    """Return a rating of the ladder, with a margin of two standard deviations."""
    mean, deviation = found or FIRST_SKILL
    return f"{mean:.1f} ± {2 * deviation:.1f}"


def standings_table(
    standings: Standings, skills: Skills | None = None, *, points: bool = True
) -> ResultTable:
    """Return the standings of a tournament, with ratings if agents met."""
    alone = standings.seats == 1
    even = 0.5 if alone else 1 / standings.seats
    lines = standings.lines
    forfeits = any(line.forfeits for line in lines)
    nodes = any(line.nodes is not None for line in lines)
    names = ["solved %"] if alone else ["group", "Elo, 95 %", "score %"]
    names += ["points"] * points + ["nodes"] * nodes + ["forfeits"] * forfeits
    names += ["ladder"] * (skills is not None) + ["ms a deal" if alone else "ms a move"]
    rows = []
    for place, line in enumerate(lines, start=1):
        cells: list[str | Share] = [str(place), line.agent]
        if not alone:
            rating = line.rating
            cells += [rating.groups, rating_text(rating)] if rating else ["", ""]
        cells.append(Share(line.score, line.score_interval, even))
        if points:
            cells.append(with_margin(line.points, line.points_interval))
        if nodes:
            cells.append("-" if line.nodes is None else f"{line.nodes:,.0f}")
        if forfeits:
            cells.append(str(line.forfeits or "-"))
        if skills is not None:
            cells.append(skill_text(skills.get(line.agent)))
        rows.append((*cells, _milliseconds(line.milliseconds)))
    stopped = "" if standings.games == standings.planned else f" of {standings.planned:,} planned"
    return ResultTable(
        standings.game,
        (Column(""), Column("agent", text=True), *map(Column, names)),
        tuple(rows),
        f": {'alone' if alone else 'ratings'}",
        f"{standings.games:,} games{stopped} on {standings.deals:,} deals, the same for all, every "
        f"seating; ± and brackets are 95 % intervals over deals{'' if alone else f'; {ELO_ZERO}'}",
    )


def cross_table(
    standings: Standings,
    first: int = 0,
    end: int | None = None,
    title: str = "",
    *,
    names: bool = True,
) -> ResultTable:
    """Return the score of every pair: the columns from `first` up to `end`.

    Without `names`, rows have the numbers of the standings alone.
    """
    ranking = standings.ranking()
    shown = ranking[first:end]
    rows = []
    for place, agent in enumerate(ranking, start=1):
        cells: list[str | Share] = [str(place), *([agent] if names else [])]
        for other in shown:
            cell = standings.cells.get((agent, other))
            empty = "·" if agent == other else "-"
            cells.append(str(Share(cell.share, cell.interval)).replace(" ", "") if cell else empty)
        rows.append(tuple(cells))
    places = (Column(str(first + place)) for place in range(1, len(shown) + 1))
    agent_column = [Column("agent", text=True)] if names else []
    return ResultTable(title, (Column(""), *agent_column, *places), tuple(rows))


def board_table(board: Board) -> ResultTable:
    """Return the ratings of a leaderboard."""
    skills = {name: (mean, deviation) for name, mean, deviation in board.ladder or ()}
    ladder = board.ladder is not None
    rows = []
    for place, rating in enumerate(board.ratings, start=1):
        first, last = rating.rank
        rank = str(first) if first == last else f"{first}-{last}"
        cells = (str(place), rank, rating.agent, rating_text(rating), rating.groups)
        rows.append((*cells, *([skill_text(skills.get(rating.agent))] if ladder else [])))
    return ResultTable(
        board.game,
        (
            *map(Column, ("", "rank")),
            Column("agent", text=True),
            Column("Elo, 95 %"),
            Column("group", text=True),
            *([Column("ladder")] if ladder else []),
        ),
        tuple(rows),
        changed_options(board.game, board.options),
        f"{board.games:,} games of {board.tournaments} tournament{'s' * (board.tournaments != 1)} "
        f"on {board.deals:,} deals; brackets are 95 % intervals over deals; {ELO_ZERO}",
    )
