"""What the arena's commands print: live tables, cross-tables, ratings, verdicts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from shlex import quote
from typing import TYPE_CHECKING

from cardlab.show.console import new_console, tell_forfeits
from cardlab.show.result_tables import (
    Column,
    ResultTable,
    board_table,
    cross_table,
    match_table,
    skill_text,
    standings_table,
    with_margin,
)

if TYPE_CHECKING:
    from rich.console import Console

    from cardlab.arena.ladder import Ladder
    from cardlab.arena.leaderboard import Board
    from cardlab.arena.match import MatchResult
    from cardlab.arena.shard import ShardResult
    from cardlab.arena.sprt import Test, Verdict
    from cardlab.arena.standings import Line, Results, Standings

__all__ = [
    "cell_meaning",
    "live_table",
    "live_verdict",
    "show_boards",
    "show_match",
    "show_standings",
    "show_verdict",
]

LIVE_SECONDS = 0.5  # between two looks at the table, or LIVE_SHARE times what the last one took
LIVE_SHARE = 30
ROOM_FOR_POINTS = 96  # columns of the terminal
WIDEST_CROSS_TABLE = 12  # agents
ROOM_FOR_CELL = 11  # columns of the terminal in a cross-table
LONGEST_NAME = 40  # columns in a cross-table; longer names are numbers there
FINE_MARGIN = 0.01  # of a score; below it two decimals are shown
SAME_LETTER = "agents that share a letter: no significant difference at this sample size"


def cell_meaning(standings: Standings) -> str:
    """Return what the cells of a cross-table are."""
    if standings.seats == 2:
        return "score of the row against the column, %"
    if standings.seats > 1:
        return "% of games the row finished ahead of the column (draws half)"
    return "% of deals the row did better than the column (draws half)"


@contextmanager
def live_table(
    ladder: Ladder | None = None,
) -> Iterator[Callable[[Results, ShardResult | None], None]]:
    """Show progress and the table so far, if standard error is a terminal."""
    from rich.console import Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    console = new_console(stderr=True)
    live = Live(console=console, transient=True, auto_refresh=False)
    began, latest, pause, before = time.monotonic(), 0.0, LIVE_SECONDS, 0

    def report(results: Results, chunk: ShardResult | None) -> None:
        nonlocal latest, pause, before
        if chunk is None:
            before = results.games
        elif ladder:
            match = results.matches[chunk.pairing]
            for game in chunk.games:
                ladder.game(match.seating(game.rotation), game.returns)
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
        table = _growing(results.table(ratings=False).lines, ladder)
        live.update(Group(head, bar, *table.to_lines(console.width)))
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


def _skills(ladder: Ladder | None) -> dict[str, tuple[float, float]] | None:
    if ladder is None:
        return None
    return {name: (mean, spread) for name, mean, spread in ladder.standings()}


def _growing(lines: Sequence[Line], ladder: Ladder | None) -> ResultTable:
    skills = _skills(ladder)
    rows = []
    for line in lines:
        cells = [line.agent, f"{line.games:,}", with_margin(line.score, line.score_interval, 100)]
        if skills is not None:
            cells.append(skill_text(skills.get(line.agent)))
        rows.append(tuple(cells))
    heads = ("games", "score %", *(["ladder"] if ladder else []))
    return ResultTable("", (Column("agent", text=True), *map(Column, heads)), tuple(rows))


def show_match(result: MatchResult) -> None:
    """Print the result of a match, and whether the agents differ significantly."""
    from cardlab.engine.statistics import FEWEST_VALUES

    out = new_console()
    table = match_table(result)
    table.show(out)
    out.print(table.note, markup=False)
    tell_forfeits(out, result.game, result.standings)
    print_salt(out, result.salt)
    first, even = result.standings[0], result.deals / result.games
    interval = first.score_interval
    if interval is None:
        few = result.deals < FEWEST_VALUES
        verdict = "too few deals for an interval" if few else "all deals ended alike: no interval"
    elif interval[0] > even:
        verdict = f"{first.agent} is ahead: its interval lies above an even {100 * even:.3g} %"
    elif interval[1] < even:
        verdict = f"{first.agent} is behind: its interval lies below an even {100 * even:.3g} %"
    else:
        verdict = "no significant difference at this sample size"
    out.print(verdict, markup=False)


def show_standings(
    standings: Standings,
    where: str,
    seconds: float,
    ladder: Ladder | None = None,
    salt: str | None = None,
) -> None:
    """Print standings, ratings and the cross-table of a tournament."""
    from rich.cells import cell_len

    out = new_console()
    alone = standings.seats == 1
    points = alone or out.width >= ROOM_FOR_POINTS
    table = standings_table(standings, _skills(ladder), points=points)
    table.show(out)
    count = len(standings.lines)
    if 1 < count <= WIDEST_CROSS_TABLE:
        longest = max(cell_len(line.agent) for line in standings.lines)
        names = longest <= LONGEST_NAME
        longest = longest if names else 0
        fit = max(1, (out.width - longest - 6) // ROOM_FOR_CELL)
        beside = -(-count // -(-count // fit))  # blocks of about equal width
        out.print(f"[italic]{cell_meaning(standings)}[/]")
        for first in range(0, count, beside):
            cross_table(standings, first, first + beside, names=names).show(out)
    elif count > WIDEST_CROSS_TABLE:
        out.print(
            f"the cross-table of more than {WIDEST_CROSS_TABLE} agents is shown by --json only"
        )
    out.print(f"{table.note}; {seconds:.1f} s", markup=False)
    groups = [line.rating.groups for line in standings.lines if line.rating]
    if not alone and standings.games and _share_letters(groups):
        out.print(SAME_LETTER)
    tell_forfeits(out, standings.game, standings.lines)
    print_salt(out, salt)
    out.print(f"every game is kept in {where}", markup=False, soft_wrap=True)


def _share_letters(groups: Iterable[str]) -> bool:
    """Return whether agents that follow each other in a table share a letter."""
    return any({*group} & {*other} for group, other in pairwise(groups))


def print_salt(out: Console, salt: str | None) -> None:
    """Print the option that plays the same deals again, if the deals depend on a salt."""
    if salt:
        text = f"the deals depend on a secret salt; to play them again use --salt {quote(salt)}"
        out.print(text, markup=False, soft_wrap=True)


def show_boards(boards: Sequence[Board], notes: Iterable[str] = ()) -> None:
    """Print the leaderboards of a store, and notes on games that have none."""
    out = new_console()
    for board in boards:
        table = board_table(board)
        table.show(out)
        out.print(table.note, markup=False)
        spread = next((one.rank for one in board.ratings if one.rank[0] < one.rank[1]), None)
        if spread:
            low, high = spread
            out.print(f"rank {low}-{high}: no rank from {low} to {high} can be excluded")
        if _share_letters(one.groups for one in board.ratings):
            out.print(SAME_LETTER)
        out.print()
    for note in notes:
        out.print(note, markup=False)


def _llr(verdict: Verdict) -> str:
    low, high = verdict.bounds
    return f"LLR {verdict.llr:.3f} [{low:.2f}, {high:.2f}]"


@contextmanager
def live_verdict() -> Iterator[Callable[[Verdict, int], None]]:
    """Write the current log-likelihood ratio to standard error."""
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


def show_verdict(
    verdict: Verdict, test: Test, names: tuple[str, str] | None = None, store: str = ""
) -> None:
    """Print the result of a sequential test, and which store keeps its games."""
    out = new_console()
    pairs = sum(verdict.counts)
    first = names[0] if names else "the first"
    second = names[1] if names else "the second"
    by = f" by more than {test.elo0:g} nElo" if test.elo0 else ""
    sentences = {
        "H0": f"{first} is not stronger than {second} by {test.elo1:g} nElo",
        "H1": f"{first} is stronger than {second}{by}",
        None: f"not decided whether {first} is stronger than {second}",
    }
    digits = 1 if verdict.score_margin >= FINE_MARGIN else 2
    score, margin = 100 * verdict.score, 100 * verdict.score_margin
    out.print(
        f"{sentences[verdict.accepted]}: score {score:.{digits}f} ± {margin:.{digits}f} % in "
        f"{2 * pairs:,} games",
        markup=False,
    )
    if verdict.accepted is None:
        out.print("give a higher --games" if names else "play more games")
    out.print(
        f"details: {f'{verdict.accepted} accepted, ' if verdict.accepted else ''}{_llr(verdict)}, "
        f"nElo {verdict.nelo:.2f} ± {verdict.nelo_margin:.2f}, pairs of games by their sum 0, 1/2, "
        f"1, 3/2, 2: {', '.join(f'{count:,}' for count in verdict.counts)}; ± is a 95 % interval",
        markup=False,
    )
    print_salt(out, verdict.salt)
    if verdict.tournament is not None:
        text = (
            f"every game is kept in {store} as tournament {verdict.tournament!r} and counts on its "
            "leaderboard"
        )
        out.print(text, markup=False, soft_wrap=True)
