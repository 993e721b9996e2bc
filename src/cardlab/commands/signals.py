"""Ctrl-C, SIGTERM and a closed output pipe end every command in the same way."""

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
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt, so that commands save their work."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, but never inside a callback of LLVM: it would be lost, or crash."""
    _received.append(number)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("llvmlite.binding"):
            threading.Timer(AGAIN_SECONDS, _thread.interrupt_main, [number]).start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def exit_code(code: int | None) -> int:
    """Return the exit code: after SIGTERM always that of SIGTERM."""
    return BY_SIGTERM if _received[:1] == [signal.SIGTERM] else code or 0


@contextmanager
def when_stopped(sentence: Callable[[], str]) -> Iterator[None]:
    """Say how to resume a command that is stopped here."""
    try:
        yield
    except KeyboardInterrupt:
        say(sentence())
        raise


@contextmanager
def until_readers_leave() -> Iterator[None]:
    """End without a message, with exit code 141, when the output pipe closes early."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for later output
        raise typer.Exit(CLOSED_PIPE) from None
