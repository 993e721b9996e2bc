"""Connections: how many there may be, how long they may be silent, how much may wait unread.

These are the HTTP and socket protocols of uvicorn with a watch over each connection. One that has
sent no request in time is closed; beyond the bound of an address new ones are refused; when the
server is full the one that has been silent longest makes room. What a browser does not read is
bounded too: pings are counted like messages, and a connection that is not read is let go.
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
    """What is known of one connection, from its start to its end."""

    def __init__(self, watches: Watches, transport: Any) -> None:
        self.watches, self.transport = watches, transport
        peer = transport.get_extra_info("peername")
        host = str(peer[0]) if peer else "local"
        self.address, self.shared = network_of(host), watches.admission.is_proxy(host)
        self.silence: asyncio.TimerHandle | None = None  # ends the wait for a request
        self.reading: asyncio.TimerHandle | None = None  # looks whether the browser reads
        self.unread = 0
        self.limits = watches.admission.limits
        self.frames = Bucket(self.limits.frames_a_second, self.limits.frame_burst)

    def bound_system(self) -> None:
        """Have the system hold no more unread bytes than we do: by itself it takes megabytes."""
        line = self.transport.get_extra_info("socket")
        if line is not None:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.limits.unread_bytes)

    def wait_for_request(self) -> None:
        """Close the connection unless a request comes in time."""
        if self.silence is None:
            self.watches.silent[self.transport] = None
            self.silence = self._later(self.limits.header_seconds, self.give_up)

    def heard(self) -> None:
        """A request has come."""
        self.watches.silent.pop(self.transport, None)
        _cancel(self.silence)
        self.silence = None

    def blocked(self) -> None:
        """The browser reads slower than it is sent to: look whether it reads at all."""
        _cancel(self.reading)
        self.unread = self.transport.get_write_buffer_size()
        self.reading = self._later(self.limits.unread_seconds, self._look)

    def flowing(self) -> None:
        """The browser has read what waited."""
        _cancel(self.reading)
        self.reading = None

    def ended(self) -> None:
        """Nothing is waited for any more."""
        self.heard()
        self.flowing()

    def give_up(self) -> None:
        """Let the connection go at once, with everything that waits to be sent."""
        self.watches.admission.refused["silent or unread"] += 1
        self.transport.abort()

    def frame(self) -> bool:
        """Count a frame of a socket; return whether it is one too many."""
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
    """The watches over all connections of a server."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.open: dict[Any, Watch] = {}  # by transport: a socket takes over that of its request
        self.silent: dict[Any, None] = {}  # connections without a request, the longest first

    def begin(self, transport: Any) -> Watch | None:
        """Return the watch over a new connection; None: it was refused."""
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
        """Forget a connection that has ended."""
        watch = self.open.pop(transport, None)
        if watch is not None:
            watch.ended()
            self.admission.leave("connections", watch.address)


def watched_protocols(
    watches: Watches,
) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """Return the protocols of HTTP and of sockets under these watches."""

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
                return  # refused: nothing is read any more
            super().data_received(data)
            if self.transport.get_protocol() is not self:
                return  # a socket by now
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
