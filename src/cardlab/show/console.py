"""What the commands print: tables, a progress bar, a word to those who wait for the compiler."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from cardlab.arena.match import Standing
    from cardlab.arena.standings import Line

__all__ = [
    "compiling",
    "new_console",
    "progress_bar",
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

    compiled = 0
    live = sys.stderr.isatty()

    def tell(name: str) -> None:
        nonlocal compiled
        compiled += 1
        if live:
            last = name.rpartition(".")[2]
            sys.stderr.write(
                f"\r\x1b[Kcompiling these rules and agents, once: {compiled} kernels ({last}) ..."
            )
        elif compiled == 1:
            sys.stderr.write("compiling these rules and agents, once; later starts are quick ...\n")
        sys.stderr.flush()

    with on_compile(tell):
        try:
            yield
        finally:
            if compiled and live:
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


def tell_forfeits(out: Console, game: str, agents: Iterable[Standing | Line]) -> None:
    """Print who gave games away, for what reason most often, and how to find the fault."""
    for row in agents:
        if row.forfeits:
            out.print(
                f"{row.forfeits:,} game{'s' * (row.forfeits != 1)} forfeited by {row.agent}, most "
                f"often for this: {row.forfeit_reason}; to mend it run: cardlab check-agent "
                f"{shlex.quote(row.agent.removeprefix('cmd:'))} --game {game}",
                markup=False,
                soft_wrap=True,
            )
