"""Stopping: Ctrl-C and SIGTERM end every command alike; a reader that goes away ends it quietly."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from cardlab.show.console import say

CLOSED_PIPE = 141  # what a shell reports of a program that SIGPIPE ends
BY_CTRL_C, BY_SIGTERM = 130, 143
AGAIN_SECONDS = 0.05
_received: list[int] = []  # the signals so far


def listen() -> None:
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt, so that commands keep and tidy up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop here, or a moment later: a callback of LLVM's would swallow the exception, or crash."""
    _received.append(number)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("llvmlite.binding"):
            threading.Timer(AGAIN_SECONDS, _thread.interrupt_main, [number]).start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def exit_code(code: int | None) -> int:
    """Return the code to end with: that of SIGTERM after one, even where work was counted."""
    return BY_SIGTERM if _received[:1] == [signal.SIGTERM] else code or 0


@contextmanager
def when_stopped(sentence: Callable[[], str]) -> Iterator[None]:
    """Say how a command goes on that is stopped here."""
    try:
        yield
    except KeyboardInterrupt:
        say(sentence())
        raise


@contextmanager
def until_readers_leave() -> Iterator[None]:
    """End quietly, with a code of its own, when nobody reads standard output any more."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to come
        raise typer.Exit(CLOSED_PIPE) from None
