"""What the commands print: tables, a progress bar, a line while kernels are compiled.

Names, notes, reasons and texts of actions come from records, stores, programs and the network. All
that is printed passes through `plain_text`, so that none of it can command a terminal.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from cardlab.agents.ahead import Helpers
    from cardlab.arena.match import Standing
    from cardlab.arena.standings import Line

__all__ = [
    "compiling",
    "new_console",
    "plain_text",
    "progress_bar",
    "say",
    "table_of",
    "tell_forfeits",
]

# C0 but tab and line feed, DEL, C1, separators of lines, and what turns the direction of text.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

_bars: list[str] = []  # the progress bars on the terminal, which other lines would tear


def plain_text(text: str) -> str:
    """Return a text in which every character that could command a terminal is replaced."""
    return CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def say(sentence: str) -> None:
    """Write a sentence about the command itself to standard error.

    It is one line; on a terminal it is wrapped at words.
    """
    line = f"cardlab: {plain_text(sentence.replace(chr(10), ' '))}"
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        line = textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
    sys.stderr.write(f"{line}\n")


def new_console(*, stderr: bool = False) -> Console:
    """Return the console for tables and sentences; control characters in texts are replaced."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class Output(Console):
        """Replaces control characters; a closed pipe raises, and the command line handles it."""

        def render_str(self, text: str, **settings: Any) -> Text:
            return super().render_str(plain_text(text), **settings)

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                if segment.control is None and CONTROLS.search(segment.text):
                    yield Segment(plain_text(segment.text), segment.style)
                else:
                    yield segment

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    # emoji=False: a name such as module:AB: is not an emoji code.
    return Output(highlight=False, emoji=False, stderr=stderr)


def table_of(*columns: str, title: str | None = None) -> Any:
    """Return an empty table in the style of all commands."""
    from rich import box
    from rich.table import Table

    return Table(*columns, box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)


@contextmanager
def compiling(
    what: str = "these rules and agents", helpers: Helpers | None = None
) -> Iterator[None]:
    """Show on standard error that kernels are being compiled, and how many are left.

    On a terminal that is one line, which is erased at the end or when a progress bar appears;
    elsewhere it is one sentence.
    """
    from cardlab.engine import kernel

    begun: set[str] = set()
    shown = ""
    live = sys.stderr.isatty()

    def count(name: str) -> None:
        nonlocal shown
        first = not shown
        begun.add(name)
        if live and not _bars:
            done, total = helpers.progress() if helpers else (0, 0)
            done, total = max(done, len(begun)), max(total, len(kernel.expected))
            last = name.rpartition(".")[2]
            text = f"compiling {what}, once: {done} of {total} kernels ({last}) ..."
            if text != shown:
                shown = text
                sys.stderr.write(f"\r\x1b[K{text}")
        elif first and not live:
            shown = f"compiling {what}, once; later starts are quick ..."
            sys.stderr.write(f"{shown}\n")
        sys.stderr.flush()

    with kernel.on_compile(count):
        try:
            yield
        finally:
            if shown and live:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()


@contextmanager
def progress_bar(what: str, factor: int = 1) -> Iterator[Callable[..., None]]:
    """Show a progress bar from the first report on, if standard error is a terminal.

    A report is `(done, total)`, or `(done, total, what)` where a new stage begins.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = new_console(stderr=True)
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
            if console.is_terminal:
                sys.stderr.write("\r\x1b[K")
                _bars.append(what)
            bar.start()
        bar.update(row, description=stage, completed=done * factor, total=total * factor)

    try:
        yield report
    finally:
        bar.stop()
        if started and console.is_terminal:
            _bars.remove(what)


def tell_forfeits(out: Console, game: str, agents: Iterable[Standing | Line]) -> None:
    """Print which agents forfeited games, the most frequent reason, and how to find the fault."""
    for row in agents:
        if row.forfeits:
            out.print(
                f"{row.agent} forfeited {row.forfeits:,} game{'s' * (row.forfeits != 1)}; most "
                f"frequent reason: {row.forfeit_reason}; to find the fault run: cardlab "
                f"check-agent {shlex.quote(row.agent.removeprefix('cmd:'))} --game {game}",
                markup=False,
                soft_wrap=True,
            )
