"""Parts of one search side by side, in threads: kernels release the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["spread"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def spread(function: Callable[[Task], Answer], tasks: Sequence[Task], threads: int) -> list[Answer]:
    """Return the answers in the order of the tasks, with any number of threads."""
    if threads < 2 or len(tasks) < 2:
        return [function(task) for task in tasks]
    with ThreadPoolExecutor(min(threads, len(tasks))) as pool:
        return list(pool.map(function, tasks))
