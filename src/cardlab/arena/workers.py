"""Work spread over processes: same tasks, same results, in any order of arrival."""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from cardlab.errors import CardlabError, CardlabWarning

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
    pool = ProcessPoolExecutor(
        min(workers, len(tasks)), multiprocessing.get_context("spawn"), _become_quiet
    )
    waiting = deque(tasks)
    running: set[Future[Answer]] = set()
    try:
        while waiting or running:
            while waiting and len(running) < 2 * workers:  # a short queue: quick to stop
                running.add(pool.submit(function, waiting.popleft()))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool:
        raise CardlabError(
            "a worker process ended unexpectedly (killed, out of memory, or a script that starts "
            "work outside `if __name__ == '__main__'`); try again with --workers 1"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _become_quiet() -> None:
    """Leave Ctrl-C and warnings to the process that the person talks to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", CardlabWarning)
