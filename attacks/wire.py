"""Requests to a server, from any address of this machine: 127.0.0.1, 127.0.0.2 and so on."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

SECONDS = 60.0
JSON = {"content-type": "application/json"}


async def line_to(
    address: str, source: str | None = None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a connection to a server, from an address of this machine."""
    parts = urlsplit(address)
    own = None if source is None else (source, 0)
    return await asyncio.open_connection(parts.hostname, parts.port, local_addr=own)


def request_bytes(
    method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> bytes:
    """Return a request as it goes over the line."""
    lines = {"host": "localhost", "connection": "close"}
    if body is not None:
        lines |= {"content-length": str(len(body))}
    lines |= headers or {}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + (body or b"")


async def exchange(
    address: str, sent: bytes, source: str | None = None, seconds: float = SECONDS
) -> bytes:
    """Send bytes and return all that comes back until the server hangs up."""
    async with asyncio.timeout(seconds):
        reader, writer = await line_to(address, source)
        try:
            with suppress(ConnectionError):  # refused before all was read
                writer.write(sent)
                await writer.drain()
            answer = b""
            with suppress(ConnectionError):
                while piece := await reader.read(65_536):
                    answer += piece
            return answer
        finally:
            writer.close()


async def ask(
    address: str,
    method: str,
    path: str,
    body: Any = None,
    *,
    headers: dict[str, str] | None = None,
    source: str | None = None,
    seconds: float = SECONDS,
) -> tuple[int, bytes]:
    """Return status and body of the answer to a request; OSError: there was none."""
    sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    lines = {**(JSON if body is not None else {}), **(headers or {})}
    answer = await exchange(address, request_bytes(method, path, sent, lines), source, seconds)
    head, _, rest = answer.partition(b"\r\n\r\n")
    words = head.split(None, 2)
    if len(words) < 2 or not words[1].isdigit():
        raise ConnectionResetError("no answer came")
    if b"transfer-encoding: chunked" in head.lower():
        rest = _join_chunks(rest)
    return int(words[1]), rest


def _join_chunks(body: bytes) -> bytes:
    """Return a chunked body in one piece."""
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        whole, body = whole + body[:length], body[length + 2 :]
        if not length:
            break
    return whole


def percentile(values: list[float], share: float) -> float:
    """Return the value below which so many percent lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share / 100 * len(ordered)))] if ordered else 0.0
