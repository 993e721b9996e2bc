"""What the commands print: tables, a progress bar, a word to those who wait for the compiler."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from cardlab.arena.match import MatchResult, Standing
    from cardlab.arena.standings import Line

__all__ = [
    "compiling",
    "margin",
    "new_console",
    "progress_bar",
    "show_match",
    "table_of",
    "tell_forfeits",
]


def new_console() -> Console:
    """Return where tables and sentences go."""
    from rich.console import Console

    class Output(Console):
        """Leaves it to the command line to end when the reader goes away."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Output(highlight=False, emoji=False)  # names such as module:AB are no pictures


def table_of(*columns: str, title: str | None = None) -> Any:
    """Return an empty table in the one look that all commands share."""
    from rich import box
    from rich.table import Table

    return Table(*columns, box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)


@contextmanager
def compiling() -> Iterator[None]:
    """Tell the person who waits that kernels are being compiled, and how many so far."""
    from cardlab.engine.kernel import on_compile

    told = 0
    live = sys.stderr.isatty()

    def tell(name: str) -> None:
        nonlocal told
        told += 1
        if live:
            last = name.rpartition(".")[2]
            sys.stderr.write(
                f"\r\x1b[Kcompiling these rules and agents, once: {told} kernels ({last}) ..."
            )
        elif told == 1:
            sys.stderr.write("compiling these rules and agents, once; later starts are quick ...\n")
        sys.stderr.flush()

    with on_compile(tell):
        try:
            yield
        finally:
            if told and live:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()


@contextmanager
def progress_bar(what: str, factor: int = 1) -> Iterator[Callable[..., None]]:
    """Show a progress bar from the first report on, on a terminal only.

    A report is `(done, total)`, or `(done, total, what)` where a new stage begins.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    row = bar.add_task(what, total=None)
    started = False

    def report(done: int, total: int, stage: str = what) -> None:
        nonlocal started
        if not started:
            started = True
            sys.stderr.write("\r\x1b[K" if console.is_terminal else "")
            bar.start()
        bar.update(row, description=stage, completed=done * factor, total=total * factor)

    try:
        yield report
    finally:
        bar.stop()


def margin(mean: float, interval: tuple[float, float] | None, scale: float = 1) -> str:
    """Return how far an interval reaches from the mean, behind a plus-minus sign, or a dash.

    One that ends at what is possible, as 100 %, is longer on its other side: that one counts.
    """
    if interval is None:
        return " -"
    return f" ± {scale * max(mean - interval[0], interval[1] - mean):.1f}"


def _changed(result: MatchResult) -> list[tuple[str, Any]]:
    from cardlab.engine.registry import find_game

    defaults = find_game(result.game).read_options({})
    return [(name, value) for name, value in result.options.items() if value != defaults[name]]


def show_match(result: MatchResult) -> None:
    """Print how a match went, and whether it tells the agents apart."""
    from rich.markup import escape

    from cardlab.arena.match import FEWEST_DEALS

    seats = result.games // result.deals
    seating = "seats swapped" if seats == 2 else f"{seats} seatings each"
    options = "".join(f", {name}={str(value).lower()}" for name, value in _changed(result))
    table = table_of(title=f"[bold]{result.game}[/]{options}")
    table.add_column("agent", overflow="fold")  # names that differ at their end stay apart
    for name in ("wins", "ties", "losses", "score %", "points", "ms a move"):
        table.add_column(name, justify="right")
    for one in result.standings:
        table.add_row(
            escape(one.agent),
            str(one.wins),
            str(one.ties),
            str(one.losses),
            f"{100 * one.score:.1f}{margin(one.score, one.score_interval, 100)}",
            f"{one.points:.1f}{margin(one.points, one.points_interval)}",
            f"{one.milliseconds:.3f}",
        )
    out = new_console()
    out.print(table)
    stopped = f" of {result.planned:,} planned (stopped early)" if result.stopped else ""
    out.print(
        f"{result.games:,} games{stopped} on {result.deals:,} deal{'s' * (result.deals != 1)}, "
        f"{seating}; "
        f"seed {result.seed}; {result.seconds:.1f} s; ± is a 95 % interval over deals"
    )
    tell_forfeits(out, result.game, result.standings)
    first, even = result.standings[0], 1 / seats
    interval = first.score_interval
    if interval is None:
        few = result.deals < FEWEST_DEALS
        verdict = "too few deals for an interval" if few else "all deals ended alike: no interval"
    elif interval[0] > even:
        verdict = f"{first.agent} is ahead: its interval lies above an even {100 * even:.3g} %"
    elif interval[1] < even:
        verdict = f"{first.agent} is behind: its interval lies below an even {100 * even:.3g} %"
    else:
        verdict = "the agents cannot be told apart by this many games"
    out.print(verdict, markup=False)


def tell_forfeits(out: Console, game: str, agents: Iterable[Standing | Line]) -> None:
    """Print who gave games away, for what reason most often, and how to find the fault."""
    for one in agents:
        if one.forfeits:
            out.print(
                f"{one.forfeits:,} game{'s' * (one.forfeits != 1)} forfeited by {one.agent}, most "
                f"often for this: {one.forfeit_reason}; to mend it run: cardlab check-agent "
                f"{shlex.quote(one.agent.removeprefix('cmd:'))} --game {game}",
                markup=False,
                soft_wrap=True,
            )
