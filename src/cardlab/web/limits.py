"""Limits for one visitor, one table and the whole server."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of the server; the defaults suit a few dozen people on a small machine.

    An address is an IPv4 address or a /64 network of IPv6 (`admission.network_of`).
    """

    # Connections
    connections: int = 4000  # in all; fewer where the system allows fewer open files
    connections_of_address: int = 128
    header_seconds: float = 10.0  # within which a request, and its body, must have arrived
    requests_a_second: float = 50.0  # of one address, on average
    request_burst: int = 600
    unread_bytes: int = 262_144  # that may wait for a browser that does not read
    unread_seconds: float = 20.0  # after which a browser that reads too little is disconnected
    slowest_bytes: int = 16_384  # the least that it must read in this time
    # Sockets
    sockets: int = 3000
    sockets_of_address: int = 64
    sockets_at_table: int = 24
    join_seconds: float = 10.0  # within which a socket must send its `join` message
    frames_a_second: float = 30.0  # of every kind, pings included
    frame_burst: int = 120
    message_bytes: int = 4096
    messages_a_second: float = 10.0
    message_burst: int = 40
    unsent: int = 256  # messages that may wait for a slow browser
    # Requests
    body_bytes: int = 16_384
    record_bytes: int = 131_072
    record_plies: int = 1500  # of a record that somebody sends
    tables: int = 1000  # in use at the same time; the others stay in the store
    tables_a_minute: float = 30.0  # by one address
    replays_a_minute: float = 60.0  # replays, advice and reviews by one address
    hints_a_minute: float = 60.0  # hints and questions by one address
    replays_of_address: int = 4  # replays and reviews that are made or sent at the same time
    # Thinking
    waiting: int = 64  # decisions of heavy agents that wait for a worker
    waiting_of_address: int = 24
    thinking_seconds: float = 5.0  # that the first decision of an agent may take
    decision_seconds: float = 30.0  # after which a decision is cancelled
    budget_factor: int = 20  # the most that a parameter may be, as a multiple of its default
    # The store
    saving_seconds: float = 0.4  # after which players see that their move is still being saved
    opening_seconds: float = 10.0  # that a new table waits for the store
    reading_seconds: float = 15.0  # after which a read from the store is cancelled


class Bucket:
    """A token bucket: allows `rate` events a second on average, and bursts of `burst` events."""

    __slots__ = ("burst", "left", "rate", "then")

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.left, self.then = rate, burst, burst, time.monotonic()

    def take(self) -> bool:
        """Return whether one more event is allowed now, and count it."""
        now = time.monotonic()
        self.left = min(self.burst, self.left + (now - self.then) * self.rate)
        self.then = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class RateLimiter:
    """A token bucket for each address; the address unused for longest is forgotten first."""

    MOST = 4096

    def __init__(self, a_minute: float, burst: float | None = None) -> None:
        self.a_minute, self.burst = a_minute, a_minute if burst is None else burst
        self.buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, address: str) -> bool:
        """Return whether one more event of an address is allowed now, and count it."""
        bucket = self.buckets.get(address)
        if bucket is None:
            bucket = self.buckets[address] = Bucket(self.a_minute / 60, self.burst)
        self.buckets.move_to_end(address)
        if len(self.buckets) > self.MOST:
            self.buckets.popitem(last=False)
        return bucket.take()
