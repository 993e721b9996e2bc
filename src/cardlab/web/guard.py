"""Checks on every request: host name, origin, size and rate; and the security headers."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from cardlab.web.admission import SENTENCES, Admission, network_of

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
LOG = logging.getLogger(__name__)
ANY_ADDRESS = "*"  # among hosts: every IP address
LOCAL = ("localhost", "127.0.0.1", "::1")


def hosts_of(names: Iterable[str]) -> frozenset[str]:
    """Return the host names that requests may use, this machine's own included."""
    own = socket.gethostname().lower()
    return frozenset({*LOCAL, own, f"{own}.local", *(name.lower() for name in names)})


def host_in(header: str) -> str:
    """Return the name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{header}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_ours(host: str, hosts: frozenset[str]) -> bool:
    """Return whether a host name is allowed: a foreign one is an attack (DNS rebinding).

    An IP address cannot be redirected, so that on a network all of them are allowed.
    """
    name = host_in(host)
    if name in hosts - {ANY_ADDRESS}:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return ANY_ADDRESS in hosts


class Guard:
    """Refuses requests of other sites and too large ones, and adds the security headers."""

    def __init__(self, app: App, admission: Admission, hosts: frozenset[str]) -> None:
        self.app, self.admission, self.limits = app, admission, admission.limits
        self.hosts = hosts
        self.warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if b"x-forwarded-for" in headers and not self.admission.proxies and not self.warned:
            self.warned = True
            LOG.warning(
                "a request from %s has the header X-Forwarded-For, which is ignored; if it comes "
                "from your reverse proxy, start the server with --proxy and the proxy's address, "
                "otherwise all visitors share the limits of one",
                scope["client"][0] if scope.get("client") else "nowhere",
            )
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin")
        if scope["type"] == "websocket":
            if not self._is_allowed(host, origin) or not self._may_ask(scope):
                await send({"type": "websocket.close", "code": 1008, "reason": "not allowed"})
                return
            await self.app(scope, receive, send)
            return

        async def answer(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        if not self._may_ask(scope):
            await _refuse(answer, 429, SENTENCES["requests"])
        elif not is_ours(host, self.hosts):
            name = host_in(host)[:80]
            way = f"its operator can add --host-name {name}" if name else "send a Host header"
            await _refuse(answer, 421, f"this server does not answer to the name {name!r}; {way}")
        elif scope["method"] not in ("GET", "HEAD") and not self._is_allowed(host, origin):
            await _refuse(
                answer, 403, "this request comes from another site; use this server's own pages"
            )
        else:
            await self._pass(scope, receive, answer, headers)

    def _may_ask(self, scope: Scope) -> bool:
        """Return whether this address is within its rate of requests."""
        client = scope.get("client")
        return self.admission.may("requests", network_of(client[0]) if client else "nowhere")

    def _is_allowed(self, host: str, origin: bytes | None) -> bool:
        """Return whether a request comes from our own pages; programs send no origin."""
        if not is_ours(host, self.hosts):
            return False
        if origin is None:
            return True
        try:
            parts = urlsplit(origin.decode("latin-1"))
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()

    async def _pass(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        limits = self.limits
        replay = scope["path"].startswith("/api/replays")
        most = limits.record_bytes if replay else limits.body_bytes
        if scope["method"] in ("GET", "HEAD"):
            most = 0
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            await _refuse(send, 413, f"this request is too large; the limit is {most:,} bytes")
            return
        body = b""
        if scope["method"] not in ("GET", "HEAD"):
            more = True
            until = asyncio.get_running_loop().time() + limits.header_seconds
            while more:
                try:
                    async with asyncio.timeout_at(until):
                        message = await receive()
                except TimeoutError:
                    await _refuse(send, 408, "this request arrived too slowly; send it again")
                    return
                if message["type"] != "http.request":
                    return
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > most:
                    sentence = f"this request is too large; the limit is {most:,} bytes"
                    await _refuse(send, 413, sentence)
                    return
            kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
            if kind != b"application/json":  # a form of another site can send other types
                await _refuse(send, 415, "send JSON with the content type application/json")
                return
        whole = started = False

        async def answer(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            started = True
            await send(message)

        async def read() -> MutableMapping[str, Any]:
            nonlocal whole
            if not whole and scope["method"] not in ("GET", "HEAD"):
                whole = True
                return {"type": "http.request", "body": body, "more_body": False}
            return await receive()

        try:
            await self.app(scope, read, answer)
        except Exception:
            LOG.exception("%s %s", scope["method"], scope["path"])
            if not started:
                await _refuse(send, 500, "the server failed; try again, its log has the reason")


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
