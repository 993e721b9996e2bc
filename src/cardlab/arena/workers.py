"""Work spread over processes: same tasks, same results, in any order of arrival."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

__all__ = ["default_workers", "stream_results"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")

WORTH_STARTING = 3.0  # seconds of work below which starting processes costs more than it saves


def default_workers() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def stream_results(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    workers: int,
    expected_seconds: float = float("inf"),
) -> Iterator[Answer]:
    """Yield the answer to every task as it arrives, from processes if that is worth it."""
    if workers < 2 or len(tasks) < 2 or expected_seconds < WORTH_STARTING:
        yield from map(function, tasks)
        return
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with multiprocessing.get_context("spawn").Pool(min(workers, len(tasks)), _quiet) as pool:
        yield from pool.imap_unordered(function, tasks)


def _quiet() -> None:
    """Leave Ctrl-C to the process that the person talks to."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
