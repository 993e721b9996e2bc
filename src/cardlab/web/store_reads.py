"""Reads from the store in separate threads, so that a store that hangs blocks nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from cardlab.arena.store import TROUBLE
from cardlab.web.fair_queue import Busy
from cardlab.web.limits import Limits

THREADS = 4
Answer = TypeVar("Answer")


class StoreReads:
    """Calls functions that read from the store, with a time limit."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.threads = ThreadPoolExecutor(THREADS, "cardlab store")

    async def call(self, function: Callable[..., Answer], *args: Any) -> Answer:
        """Return the result of a function, or raise `Busy` after the time limit."""
        reading = asyncio.get_running_loop().run_in_executor(self.threads, function, *args)
        try:
            return await asyncio.wait_for(reading, self.limits.reading_seconds)
        except TimeoutError:
            raise Busy(TROUBLE) from None

    def close(self) -> None:
        """Take no more calls."""
        self.threads.shutdown(wait=False, cancel_futures=True)
