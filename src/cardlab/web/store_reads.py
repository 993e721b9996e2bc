"""Reading from the store in threads of its own: a store that hangs holds up nothing else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from cardlab.engine.errors import CardlabError
from cardlab.web.fair_queue import Busy
from cardlab.web.limits import Limits
from cardlab.web.room_writer import DamagedTable

LOG = logging.getLogger(__name__)
STORE_TROUBLE = "games cannot be read or kept at the moment; try again in a minute"
THREADS = 4
Answer = TypeVar("Answer")


@contextmanager
def store_kept_secret() -> Iterator[None]:
    """Log what goes wrong with a store: its files, hosts and users are nothing for visitors."""
    try:
        yield
    except (Busy, DamagedTable):
        raise
    except CardlabError as error:
        LOG.warning("%s", error)
        raise Busy(STORE_TROUBLE) from None


class StoreReads:
    """Calls functions that read from the store, each for a bounded time."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.threads = ThreadPoolExecutor(THREADS, "cardlab store")

    async def call(self, function: Callable[..., Answer], *args: Any) -> Answer:
        """Return what a function reads; whoever asks is not kept waiting for a hanging store."""
        reading = asyncio.get_running_loop().run_in_executor(self.threads, function, *args)
        try:
            with store_kept_secret():
                return await asyncio.wait_for(reading, self.limits.reading_seconds)
        except TimeoutError:
            raise Busy(STORE_TROUBLE) from None

    def close(self) -> None:
        """Take no more calls."""
        self.threads.shutdown(wait=False, cancel_futures=True)
