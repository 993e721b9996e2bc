"""Limits on connections: their number, how long they may be silent, how much may wait unread.

These are the HTTP and socket protocols of uvicorn with a watch on each connection. A connection
without a request in time is closed; new ones beyond the limit of their address are refused; when
the server is full the connection that has been silent for longest is closed. Unread data is limited
too: pings count like messages, and a connection whose browser does not read is closed.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from cardlab.web.admission import SENTENCES, Admission, network_of
from cardlab.web.limits import Bucket

REFUSAL = (
    "HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\nconnection: close\r\n"
    "content-type: text/plain\r\n\r\n{}.\n"
)


class Watch:
    """The state of one connection: its address, timers and unread data."""

    def __init__(self, watches: Watches, transport: Any) -> None:
        self.watches, self.transport = watches, transport
        peer = transport.get_extra_info("peername")
        host = str(peer[0]) if peer else "local"
        self.address, self.shared = network_of(host), watches.admission.is_proxy(host)
        self.silence: asyncio.TimerHandle | None = None  # closes it if no request comes
        self.reading: asyncio.TimerHandle | None = None  # checks whether the browser reads
        self.unread = 0
        self.limits = watches.admission.limits
        self.frames = Bucket(self.limits.frames_a_second, self.limits.frame_burst)

    def bound_system(self) -> None:
        """Limit the system's send buffer, which would otherwise grow to megabytes."""
        own = self.transport.get_extra_info("socket")
        if own is not None:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.limits.unread_bytes)

    def wait_for_request(self) -> None:
        """Close the connection unless a request comes in time."""
        if self.silence is None:
            self.watches.silent[self.transport] = None
            self.silence = self._later(self.limits.header_seconds, self.give_up)

    def heard(self) -> None:
        """Note that a request has arrived."""
        self.watches.silent.pop(self.transport, None)
        _cancel(self.silence)
        self.silence = None

    def blocked(self) -> None:
        """Note that the browser reads too slowly; check later whether it reads at all."""
        _cancel(self.reading)
        self.unread = self.transport.get_write_buffer_size()
        self.reading = self._later(self.limits.unread_seconds, self._look)

    def flowing(self) -> None:
        """Note that the browser has read what waited."""
        _cancel(self.reading)
        self.reading = None

    def ended(self) -> None:
        """Note that the connection has ended."""
        self.heard()
        self.flowing()

    def give_up(self) -> None:
        """Close the connection immediately, without sending what waits."""
        self.watches.admission.refused["silent or unread"] += 1
        self.transport.abort()

    def frame(self) -> bool:
        """Count a frame of a socket; return whether the limit is exceeded."""
        full = self.transport.get_write_buffer_size() > self.limits.unread_bytes
        if self.frames.take() and not full:
            return False
        self.give_up()
        return True

    def _look(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        if waiting > self.unread - self.limits.slowest_bytes:
            self.give_up()
        else:
            self.blocked()

    def _later(self, seconds: float, function: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, function)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class Watches:
    """The watches of all connections of a server."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.open: dict[Any, Watch] = {}  # by transport, which a socket shares with its request
        self.silent: dict[Any, None] = {}  # connections without a request, the oldest first

    def begin(self, transport: Any) -> Watch | None:
        """Return the watch of a new connection, or None if it was refused."""
        watch = Watch(self, transport)
        bound = self.admission.bounds["connections"].in_all
        if self.admission.total["connections"] >= bound and self.silent:
            oldest = next(iter(self.silent))
            self.open[oldest].give_up()
            self.end(oldest)
        if not self.admission.enter("connections", watch.address, watch.shared):
            transport.write(REFUSAL.format(SENTENCES["connections"]).encode())
            transport.close()
            return None
        self.open[transport] = watch
        watch.bound_system()
        watch.wait_for_request()
        return watch

    def end(self, transport: Any) -> None:
        """Remove a connection that has ended."""
        watch = self.open.pop(transport, None)
        if watch is not None:
            watch.ended()
            self.admission.leave("connections", watch.address)


def watched_protocols(
    watches: Watches,
) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """Return the protocols for HTTP and sockets with these watches."""

    class WatchedHttp(H11Protocol):
        watch: Watch | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.watch = watches.begin(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            watches.end(self.transport)

        def data_received(self, data: bytes) -> None:
            if self.watch is None:
                return  # refused: nothing more is read
            super().data_received(data)
            if self.transport.get_protocol() is not self:
                return  # it has become a socket
            if self.cycle is None or self.cycle.response_complete:
                self.watch.wait_for_request()
            else:
                self.watch.heard()

        def pause_writing(self) -> None:
            super().pause_writing()
            if self.watch is not None:
                self.watch.blocked()

        def resume_writing(self) -> None:
            super().resume_writing()
            if self.watch is not None:
                self.watch.flowing()

    class WatchedSocket(WebSocketsSansIOProtocol):
        watch: Watch

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.watch = watches.open[transport]
            self.watch.heard()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            watches.end(self.transport)

        def handle_ping(self) -> None:
            if not self.watch.frame():
                super().handle_ping()

        def handle_pong(self, event: Any) -> None:
            if not self.watch.frame():
                super().handle_pong(event)

        def handle_cont(self, event: Any) -> None:
            if not self.watch.frame():
                super().handle_cont(event)

        def handle_text(self, event: Any) -> None:
            if not self.watch.frame():
                super().handle_text(event)

        def handle_bytes(self, event: Any) -> None:
            if not self.watch.frame():
                super().handle_bytes(event)

        def pause_writing(self) -> None:
            super().pause_writing()
            self.watch.blocked()

        def resume_writing(self) -> None:
            super().resume_writing()
            self.watch.flowing()

    return WatchedHttp, WatchedSocket
