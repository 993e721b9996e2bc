"""What one visitor, one table and the whole server may take."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of the server; the defaults suit a few dozen people on a small machine."""

    tables: int = 1000  # that are in use at once; others wait in the store
    sockets: int = 4000
    sockets_at_table: int = 24
    message_bytes: int = 4096
    body_bytes: int = 16_384
    record_bytes: int = 524_288
    messages_a_second: float = 10.0
    message_burst: int = 40
    tables_a_minute: float = 60.0  # by one address
    replays_a_minute: float = 60.0  # replays, advice and reviews by one address
    waiting: int = 64  # decisions of heavy agents that wait for a worker
    decision_seconds: float = 60.0
    join_seconds: float = 10.0  # within which a socket must say who it is
    unsent: int = 256  # messages that a slow browser may be behind
    budget_factor: int = 20  # a heavy agent's budget, as a multiple of its usual one


class Bucket:
    """Lets `rate` things a second pass on average, `burst` at once."""

    __slots__ = ("burst", "left", "rate", "then")

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.left, self.then = rate, burst, burst, time.monotonic()

    def take(self) -> bool:
        """Return whether one more may pass now."""
        now = time.monotonic()
        self.left = min(self.burst, self.left + (now - self.then) * self.rate)
        self.then = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class RateLimiter:
    """A bucket for each address, the longest unseen forgotten first."""

    MOST = 4096

    def __init__(self, a_minute: float) -> None:
        self.a_minute = a_minute
        self.buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, address: str) -> bool:
        """Return whether an address may do one more thing now."""
        bucket = self.buckets.get(address)
        if bucket is None:
            bucket = self.buckets[address] = Bucket(self.a_minute / 60, self.a_minute)
        self.buckets.move_to_end(address)
        if len(self.buckets) > self.MOST:
            self.buckets.popitem(last=False)
        return bucket.take()
