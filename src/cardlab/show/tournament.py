"""What the arena's commands print: the table as it grows, the cross-table, ratings, verdicts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cardlab.show.tables import margin, new_console, table_of, tell_forfeits

if TYPE_CHECKING:
    from cardlab.arena.ladder import Ladder
    from cardlab.arena.leaderboard import Board
    from cardlab.arena.ratings import Rating
    from cardlab.arena.shard import Chunk
    from cardlab.arena.sprt import Test, Verdict
    from cardlab.arena.standings import Line, Results, Table

__all__ = ["elo_text", "live_table", "live_verdict", "show_boards", "show_table", "show_verdict"]

LIVE_SECONDS = 0.5  # between two looks at the table, or LIVE_SHARE times what the last one took
LIVE_SHARE = 30
ROOM_FOR_POINTS = 96  # columns of the terminal
WIDEST_CROSS_TABLE = 12  # agents
ROOM_FOR_CELL = 11  # columns of the terminal in a cross-table


@contextmanager
def live_table(ladder: Ladder | None = None) -> Iterator[Callable[[Results, Chunk | None], None]]:
    """Show progress with the table so far, on a terminal only."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    console = Console(stderr=True)
    live = Live(console=console, transient=True, auto_refresh=False)
    began, latest, pause, before = time.monotonic(), 0.0, LIVE_SECONDS, 0

    def report(results: Results, chunk: Chunk | None) -> None:
        nonlocal latest, pause, before
        if chunk is None:
            before = results.games
        elif ladder:
            match = results.matches[chunk.pairing]
            for one in chunk.games:
                ladder.game(match.seating(one.rotation), one.returns)
        now = time.monotonic()
        if not console.is_terminal or now - latest < pause:
            return
        if not latest:
            sys.stderr.write("\r\x1b[K")
            live.start()
        games, planned = results.games, results.planned
        pace = (games - before) / max(1e-9, now - began)
        left = f", {_clock((planned - games) / pace)} left" if pace > 0 else ""
        head = Text(f"{games:,} of {planned:,} games, {60 * pace:,.0f} a minute{left}")
        bar = ProgressBar(total=planned, completed=games, width=60)
        live.update(Group(head, bar, _growing(results.table(ratings=False).lines, ladder)))
        live.refresh()
        latest = time.monotonic()
        pause = max(LIVE_SECONDS, LIVE_SHARE * (latest - now))  # millions of games take seconds

    try:
        yield report
    finally:
        live.stop()


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _growing(lines: Sequence[Line], ladder: Ladder | None) -> Any:
    from rich.markup import escape

    skills = {name: (mu, sigma) for name, mu, sigma in ladder.standings()} if ladder else {}
    table = table_of("agent")
    for name in ("games", "score %", *(["ladder"] if ladder else [])):
        table.add_column(name, justify="right")
    for line in lines:
        cells = [f"{line.games:,}", _percent(line.score, line.score_interval)]
        if ladder:
            cells.append(_skill(skills.get(line.agent)))
        table.add_row(escape(line.agent), *cells)
    return table


def _skill(found: tuple[float, float] | None) -> str:
    mu, sigma = found or (25.0, 25 / 3)  # what openskill begins with
    return f"{mu:.1f} ± {2 * sigma:.1f}"


def _percent(value: float, interval: tuple[float, float] | None) -> str:
    return f"{100 * value:.1f}{margin(value, interval, 100)}"


def elo_text(rating: Rating) -> str:
    """Return a rating with its interval, or the one bound that the games hold."""
    if rating.interval is None:
        return f"{rating.elo:.0f} -"
    low, high = rating.interval
    if high == float("inf"):
        return f"> {low:.0f}"
    if low == -float("inf"):
        return f"< {high:.0f}"
    return f"{rating.elo:.0f} [{low:.0f}, {high:.0f}]"


def _rank(rating: Rating) -> str:
    first, last = rating.rank
    return str(first) if first == last else f"{first}-{last}"


def show_table(table: Table, where: str, seconds: float, ladder: Ladder | None = None) -> None:
    """Print standings, ratings and the cross-table of a tournament."""
    from rich.markup import escape

    out = new_console()
    alone = table.seats == 1
    head = table_of(title=f"[bold]{escape(table.game)}[/]: {'alone' if alone else 'ratings'}")
    head.add_column("", justify="right")
    head.add_column("agent", overflow="fold")
    forfeits = any(line.forfeits for line in table.lines)
    nodes = any(line.nodes is not None for line in table.lines)
    points = alone or out.width >= ROOM_FOR_POINTS
    names = ["solved %"] if alone else ["group", "Elo, 95 %", "score %"]
    names += ["points"] * points + ["nodes"] * nodes + ["forfeits"] * forfeits
    names += ["ladder"] * bool(ladder)
    skills = {name: (mu, sigma) for name, mu, sigma in ladder.standings()} if ladder else {}
    for name in [*names, "ms a deal" if alone else "ms a move"]:
        head.add_column(name, justify="right", no_wrap=True)
    for place, line in enumerate(table.lines, start=1):
        cells = []
        if line.rating:
            cells = [line.rating.groups, escape(elo_text(line.rating))]
        cells.append(_percent(line.score, line.score_interval))
        if points:
            cells.append(f"{line.points:.1f}{margin(line.points, line.points_interval)}")
        if nodes:
            cells.append("-" if line.nodes is None else f"{line.nodes:,.0f}")
        if forfeits:
            cells.append(str(line.forfeits or "-"))
        if ladder:
            cells.append(_skill(skills.get(line.agent)))
        head.add_row(str(place), escape(line.agent), *cells, f"{line.milliseconds:.3f}")
    out.print(head)
    if 1 < len(table.lines) <= WIDEST_CROSS_TABLE:
        count = len(table.lines)
        longest = min(40, max(len(one.agent) for one in table.lines))
        fit = max(1, (out.width - longest - 6) // ROOM_FOR_CELL)
        beside = -(-count // -(-count // fit))  # blocks of about equal width
        out.print(f"[italic]{_meaning(table)}, %[/]")
        for first in range(0, count, beside):
            out.print(_cross_table(table, first, first + beside))
    elif len(table.lines) > WIDEST_CROSS_TABLE:
        out.print(f"no cross-table of more than {WIDEST_CROSS_TABLE} agents here; --json has it")
    stopped = "" if table.games == table.planned else f" of {table.planned:,} planned"
    out.print(
        f"{table.games:,} games{stopped} on {table.deals:,} deals, the same for all, every "
        f"seating; {seconds:.1f} s; ± and brackets are 95 % intervals over deals"
    )
    if not alone and table.games:
        groups = [line.rating.groups for line in table.lines if line.rating]
        if any(len({*one} & {*other}) for one, other in pairwise(groups)):
            out.print("agents that share a letter cannot be told apart by this many games")
    tell_forfeits(out, table.game, table.lines)
    out.print(f"every game is kept in {where}", markup=False, soft_wrap=True)


def _meaning(table: Table) -> str:
    """Say what the cells of a cross-table are."""
    if table.seats == 2:
        return "score of the row against the column"
    if table.seats > 1:
        return "how often the row came before the column, draws half"
    return "deals on which the row did better than the column, draws half"


def _cross_table(table: Table, first: int, end: int) -> Any:
    """Return the columns of a cross-table from `first` up to `end`."""
    from rich.markup import escape

    ranking = table.ranking()
    cross = table_of("")
    cross.add_column("agent", overflow="fold")
    for place, _ in list(enumerate(ranking, start=1))[first:end]:
        cross.add_column(str(place), justify="right", no_wrap=True)
    for place, agent in enumerate(ranking, start=1):
        cells = []
        for other in ranking[first:end]:
            cell = table.cells.get((agent, other))
            text = "·" if agent == other else "-"
            if cell:
                text = _percent(cell.share, cell.interval).replace(" ", "")
            cells.append(text)
        cross.add_row(str(place), escape(agent), *cells)
    return cross


def show_boards(boards: Sequence[Board]) -> None:
    """Print the leaderboards of a store."""
    from rich.markup import escape

    from cardlab.engine.registry import find_game

    out = new_console()
    for board in boards:
        defaults = find_game(board.game).read_options({})
        changed = "".join(
            f", {name}={str(value).lower()}"
            for name, value in board.options.items()
            if value != defaults.get(name)
        )
        table = table_of(title=f"[bold]{escape(board.game)}[/]{escape(changed)}")
        for name in ("", "rank"):
            table.add_column(name, justify="right")
        table.add_column("agent", overflow="fold")
        table.add_column("Elo, 95 %", justify="right")
        table.add_column("group")
        skills = {name: (mu, sigma) for name, mu, sigma in board.ladder or ()}
        if board.ladder is not None:
            table.add_column("ladder", justify="right")
        for place, one in enumerate(board.ratings, start=1):
            more = [] if board.ladder is None else [_skill(skills.get(one.agent))]
            cells = (str(place), _rank(one), escape(one.agent), escape(elo_text(one)), one.groups)
            table.add_row(*cells, *more)
        out.print(table)
        plural = "s" if board.tournaments > 1 else ""
        out.print(
            f"{board.games:,} games of {board.tournaments} tournament{plural} on "
            f"{board.deals:,} deals\n"
        )


def _llr(verdict: Verdict) -> str:
    low, high = verdict.bounds
    return f"LLR {verdict.llr:.3f} [{low:.2f}, {high:.2f}]"


@contextmanager
def live_verdict() -> Iterator[Callable[[Verdict, int], None]]:
    """Write the log-likelihood ratio as it goes, to standard error."""
    live = sys.stderr.isatty()
    latest = 0.0

    def report(verdict: Verdict, planned: int) -> None:
        nonlocal latest
        now = time.monotonic()
        if now - latest < (LIVE_SECONDS if live else 5.0):
            return
        latest = now
        games = 2 * sum(verdict.counts)
        text = f"{games:,} of at most {planned:,} games, {_llr(verdict)}, nElo {verdict.nelo:.1f}"
        sys.stderr.write(f"\r\x1b[K{text}" if live else f"{text}\n")
        sys.stderr.flush()

    try:
        yield report
    finally:
        if live and latest:
            sys.stderr.write("\r\x1b[K")


def show_verdict(verdict: Verdict, test: Test, names: tuple[str, str] | None = None) -> None:
    """Print what a sequential test has found."""
    out = new_console()
    pairs = sum(verdict.counts)
    first = names[0] if names else "the first"
    second = names[1] if names else "the second"
    out.print(
        f"{_llr(verdict)}, nElo {verdict.nelo:.2f} ± {verdict.nelo_margin:.2f}, "
        f"score {100 * verdict.score:.2f} ± {100 * verdict.score_margin:.2f} %",
        markup=False,
    )
    out.print(
        f"{2 * pairs:,} games, pairs by their sum 0, 1/2, 1, 3/2, 2: "
        f"{', '.join(f'{one:,}' for one in verdict.counts)}; ± is a 95 % interval",
        markup=False,
    )
    sentences = {
        "H0": f"H0 accepted: {first} is not {test.elo1:g} nElo stronger than {second}",
        "H1": f"H1 accepted: {first} is stronger than {second} by more than {test.elo0:g} nElo",
        None: "not decided: give more --games" if names else "not decided yet: play on",
    }
    out.print(sentences[verdict.accepted], markup=False)
