"""Work spread over processes or machines: same tasks, same results, in any order of arrival.

A task that was lost with its worker (killed, out of memory, a machine gone) is simply done again:
tasks carry their seeds, so the answer is the same.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import connection
from queue import SimpleQueue
from types import FrameType
from typing import Any, TypeVar

from cardlab.engine.errors import CardlabError, CardlabWarning, require

__all__ = ["Pool", "become_quiet", "default_workers", "joined_cluster", "stream_results"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")

WORTH_STARTING = 3.0  # seconds of work below which starting processes costs more than it saves
MOST_STRIKES = 3  # workers that a task may be lost with before it is given up
ANSWER_SECONDS = 10  # within which the head of a cluster must answer
SAFE_PATH, UNTIL_STARTED = "PYTHONSAFEPATH", "until started"  # any value means yes
LOOK_SECONDS = 5  # between two looks at the size of a cluster
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def default_workers() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Pool(ProcessPoolExecutor):
    """Processes with a thread each, which leave Ctrl-C to this one, even while they start."""

    def __init__(self, workers: int, initializer: Callable[[], None] | None = None) -> None:
        """Prepare them; each starts when it is needed. An own initializer calls `become_quiet`."""
        for name, value in ONE_THREAD.items():
            os.environ.setdefault(name, value)
        spawn = multiprocessing.get_context("spawn")
        with _without_working_folder():  # locks have a process that looks after them
            super().__init__(workers, spawn, initializer or become_quiet)

    def submit(self, *args: Any, **options: Any) -> Future[Any]:
        """Hand out a task, to a new process if all are busy."""
        with _signals_later(), _without_working_folder():
            return super().submit(*args, **options)


@contextmanager
def _without_working_folder() -> Iterator[None]:
    """Start processes that do not look for Python's own modules in the working folder.

    They are started as `python -c`, which looks there first until it hears where its parent looks.
    """
    ours = not os.environ.get(SAFE_PATH)
    if ours:
        os.environ[SAFE_PATH] = UNTIL_STARTED
    try:
        yield
    finally:
        if ours:
            os.environ.pop(SAFE_PATH, None)


@contextmanager
def _signals_later() -> Iterator[None]:
    """Hear of Ctrl-C and SIGTERM afterwards, so that a process is started whole or not at all.

    One left half started would print a traceback, or stay; one that still imports would die of
    Ctrl-C with a traceback. So it is deaf to Ctrl-C until `become_quiet`.
    """
    came: list[int] = []
    handlers: dict[int, Any] = {}
    later = True

    def hear(number: int, _: FrameType | None) -> None:
        if later:
            came.append(number)
        else:  # another signal has come before this handler was put back
            signal.signal(number, handlers[number])
            signal.raise_signal(number)

    masked = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, []) if masked else set()
    try:
        if threading.current_thread() is threading.main_thread():
            for one in (signal.SIGINT, signal.SIGTERM):
                handlers[one] = signal.getsignal(one)
                if handlers[one] is not None:  # None: somebody's own, not of Python
                    signal.signal(one, hear)
        if masked:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        if masked:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        later = False
        for number, handler in handlers.items():
            if handler is not None:
                signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def stream_results(
    function: Callable[[Task], Answer],
    tasks: Iterable[Task],
    workers: int,
    expected_seconds: float = float("inf"),
    *,
    alone: float = 0.0,
    ray: str | None = None,
) -> Iterator[Answer]:
    """Yield the answer to every task as it arrives, from processes if that is worth it.

    Tasks are taken one by one as workers get free, so an iterator may shape the next ones by the
    answers so far. The first `alone` seconds are worked here: short work never starts a process.
    `ray` is the address of a Ray cluster to work on instead.
    """
    source = iter(tasks)
    if ray is not None:
        yield from _on_cluster(function, source, ray)
        return
    if (
        workers < 2
        or expected_seconds < WORTH_STARTING
        or (isinstance(tasks, Sized) and len(tasks) < 2)
    ):
        yield from map(function, source)
        return
    began = time.perf_counter()
    while time.perf_counter() - began < alone:
        for task in source:
            yield function(task)
            break
        else:
            return
    yield from _on_processes(function, source, workers)


def _on_processes(
    function: Callable[[Task], Answer], source: Iterator[Task], workers: int
) -> Iterator[Answer]:
    """Work on a pool of processes; after the loss of one, what it had is done again."""
    again: deque[tuple[Task, int]] = deque()  # with the number of workers it was lost with
    before = set(multiprocessing.active_children())
    while True:
        pool = Pool(workers)
        running: dict[Future[Answer], tuple[Task, int]] = {}
        arrived: SimpleQueue[Future[Answer]] = SimpleQueue()  # asking all of them takes longer
        finished = False
        try:
            while True:
                broken = _fill(pool, function, running, again, source, 2 * workers, arrived)
                if not running:
                    finished = not broken
                    break
                future = arrived.get()
                try:
                    answer = future.result()
                except BrokenProcessPool:
                    break
                del running[future]
                yield answer
        finally:
            if not finished:  # what still runs is not wanted any more, or lost
                for child in set(multiprocessing.active_children()) - before:
                    child.terminate()
                    child.join()
                # An answer that was cut off in mid-sentence would be waited for: end the line.
                with suppress(AttributeError):  # a private name, which may be another one day
                    pool._result_queue._writer.close()  # type: ignore[attr-defined]
            pool.shutdown(cancel_futures=True)
        if finished:
            return
        again.extend((task, strikes + 1) for task, strikes in running.values())
        if any(strikes >= MOST_STRIKES for _, strikes in again):
            raise CardlabError(
                "a worker process ended unexpectedly (killed, out of memory, or a script that "
                "starts work outside `if __name__ == '__main__'`), again and again; try again with "
                "--workers 1"
            )


def _fill(
    pool: Pool,
    function: Callable[[Task], Answer],
    running: dict[Future[Answer], tuple[Task, int]],
    again: deque[tuple[Task, int]],
    source: Iterator[Task],
    most: int,
    arrived: SimpleQueue[Future[Answer]],
) -> bool:
    """Hand out tasks up to a short queue, quick to stop; return whether the pool is broken."""
    while len(running) < most:
        if not again:
            again.extend((task, 0) for task in islice(source, 1))
        if not again:
            return False
        try:
            future = pool.submit(function, again[0][0])
        except BrokenProcessPool:
            return True
        running[future] = again.popleft()
        future.add_done_callback(arrived.put)
    return False


def become_quiet() -> None:
    """Leave Ctrl-C and warnings to the process that the person talks to, and go when it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see `_signals_later`
    if os.environ.get(SAFE_PATH) == UNTIL_STARTED:
        del os.environ[SAFE_PATH]  # programs that are agents find what lies beside them
    warnings.simplefilter("ignore", CardlabWarning)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _on_cluster(
    function: Callable[[Task], Answer], source: Iterator[Task], address: str
) -> Iterator[Answer]:
    """Work as tasks of a Ray cluster, which does again what a lost machine had."""
    with joined_cluster(address):
        yield from _as_tasks(function, source)


@contextmanager
def joined_cluster(address: str | None) -> Iterator[None]:
    """Be part of a Ray cluster for a while, unless this process is already; None: of none."""
    if address is None:
        yield
        return
    require("--ray", "cluster", "ray")
    import ray

    ours = not ray.is_initialized()
    if ours:
        _join(ray, address)
    try:
        yield
    finally:
        if ours:
            ray.shutdown()


def _as_tasks(function: Callable[[Task], Answer], source: Iterator[Task]) -> Iterator[Answer]:
    import ray

    remote: Any = ray.remote(num_cpus=1, max_retries=MOST_STRIKES)(function)
    running: list[Any] = []
    room, looked = 0, 0.0
    try:
        while True:
            if time.monotonic() - looked > LOOK_SECONDS:  # machines come and go
                room, looked = (
                    2 * max(1, int(ray.cluster_resources().get("CPU", 1))),
                    time.monotonic(),
                )
            while len(running) < room and (tasks := list(islice(source, 1))):
                running.append(remote.remote(tasks[0]))
            if not running:
                return
            ray.wait(running, num_returns=1)  # for one; then all that are there, at one go
            done, running = ray.wait(running, num_returns=len(running), timeout=0)
            for one in done:
                try:
                    yield ray.get(one)
                except ray.exceptions.RayTaskError as error:
                    if "failed to import" in str(error.cause):
                        raise CardlabError(
                            f"a machine of the cluster cannot import {function.__module__}; "
                            "install the same cardlab on every one, see docs/how_to/clusters.md"
                        ) from None
                    raise error.cause from None
                except ray.exceptions.RayError as error:
                    raise CardlabError(
                        f"work was lost with {MOST_STRIKES} workers of the cluster "
                        f"({type(error).__name__}); rerun with --resume to resume"
                    ) from None
    finally:
        for one in running:
            ray.cancel(one, force=True)


def _join(ray: Any, address: str) -> None:
    try:
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if host and port.isdigit():  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level="ERROR",
            runtime_env={"env_vars": ONE_THREAD},
        )
    except (RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CardlabError(
            f"--ray {address}: no cluster answers ({reason}); start one with `ray start --head`, "
            "see docs/how_to/clusters.md"
        ) from None
