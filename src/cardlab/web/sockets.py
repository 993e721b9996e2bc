"""The socket of a table: reads one browser's messages and sends it its views."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from cardlab.engine.errors import CardlabError
from cardlab.web.admission import SENTENCES
from cardlab.web.limits import Bucket
from cardlab.web.messages import Act, Hint, Join, Leave, Share, Solvable, Undo, read_message
from cardlab.web.room import Listener, NotSaved, Room
from cardlab.web.server_state import Site, address_of

LOG = logging.getLogger(__name__)
WRONG_SECRET, NO_TABLE, TOO_MANY, TOO_MANY_OPEN = 4401, 4404, 4408, 4429
TOO_LARGE, TOO_SLOW, FULL = 1009, 1013, 1013
JOIN_FIRST = 'the first message must be {"type": "join"}'


class _Gone(Exception):
    """The browser left, or was disconnected with a code."""

    def __init__(self, code: int = 1000, reason: str = "") -> None:
        self.code, self.reason = code, reason


class _Connection:
    """The connection to one browser: the messages that wait, and why it was closed."""

    __slots__ = ("address", "bucket", "ending", "limits", "questions", "queue", "socket", "unread")

    def __init__(self, socket: WebSocket, site: Site) -> None:
        self.limits = limits = site.limits
        self.socket, self.address = socket, address_of(socket)
        self.queue: asyncio.Queue[str | None] = asyncio.Queue(limits.unsent)
        self.unread = 0  # bytes that wait
        self.bucket = Bucket(limits.messages_a_second, limits.message_burst)
        self.ending: tuple[int, str] | None = None
        self.questions: asyncio.Task[None] | None = None

    def send(self, text: str) -> None:
        """Have a message sent; a browser that has too many unread ones is disconnected."""
        if self.ending is not None:
            return
        self.unread += len(text)
        if self.unread > self.limits.unread_bytes or self.queue.full():
            self.close(TOO_SLOW, "this browser reads too slowly; reload the page")
        else:
            self.queue.put_nowait(text)

    def close(self, code: int, reason: str) -> None:
        """Close the connection after the waiting messages, or immediately if there are too many."""
        if self.ending is None:
            self.ending = (code, reason)
            if self.queue.full():
                self.queue.get_nowait()
            self.queue.put_nowait(None)

    async def read(self) -> str:
        """Return the next message, within the limits of size and rate."""
        message = await self.socket.receive()
        if message["type"] != "websocket.receive":
            raise _Gone
        text = message.get("text")
        if text is None:
            raise _Gone(1003, "send text, not bytes")
        most = self.limits.message_bytes
        if len(text) > most or len(text.encode(errors="replace")) > most:
            raise _Gone(TOO_LARGE, f"a message may have at most {most} bytes")
        if not self.bucket.take():
            raise _Gone(TOO_MANY, "too many messages; wait and join again")
        return str(text)

    async def write(self) -> None:
        """Send the waiting messages until the connection is closed."""
        while (text := await self.queue.get()) is not None:
            await self.socket.send_text(text)
            self.unread -= len(text)


async def serve_socket(site: Site, socket: WebSocket, name: str) -> None:
    """Serve one browser at a table until it leaves or is disconnected."""
    address = address_of(socket)
    await socket.accept()
    if not site.admission.enter("sockets", address):
        await socket.close(TOO_MANY_OPEN, SENTENCES["sockets"])
        return
    try:
        await _serve(site, socket, name)
    finally:
        site.admission.leave("sockets", address)


async def _serve(site: Site, socket: WebSocket, name: str) -> None:
    line = _Connection(socket, site)
    writer = asyncio.create_task(line.write())
    reader = asyncio.create_task(_converse(site, line, name))
    try:
        await asyncio.wait({writer, reader}, return_when=asyncio.FIRST_COMPLETED)
        if reader.done() and not writer.done():
            gone = reader.exception()
            if isinstance(gone, _Gone):
                line.close(gone.code, gone.reason)
            elif gone is not None:
                line.close(1011, "the server failed; reload the page")
            await asyncio.wait({writer}, timeout=5)
        code, reason = line.ending or (1000, "")
        await socket.close(code, reason)
    except (WebSocketDisconnect, RuntimeError):
        pass  # the browser has left already
    finally:
        for task in (writer, reader, line.questions):
            if task is not None and not task.done():
                task.cancel()
        done = await asyncio.gather(writer, reader, return_exceptions=True)
        for error in done:
            expected = (_Gone, WebSocketDisconnect, RuntimeError, asyncio.CancelledError, OSError)
            if isinstance(error, Exception) and not isinstance(error, expected):
                raise error


async def _converse(site: Site, line: _Connection, name: str) -> None:
    """Let a browser join, then handle its messages."""
    try:
        first = read_message(await asyncio.wait_for(line.read(), site.limits.join_seconds))
    except TimeoutError:
        seconds = site.limits.join_seconds
        raise _Gone(1008, f"no message within {seconds:g} seconds; send a join") from None
    except CardlabError as error:
        line.send(_refusal(error))
        raise _Gone(1008, JOIN_FIRST) from None
    if not isinstance(first, Join):
        line.send(_refusal(JOIN_FIRST))
        raise _Gone(1008, JOIN_FIRST)
    try:
        room = await site.rooms.find(name)
        if room is None:
            raise _Gone(NO_TABLE, "table not found; check the link")
        seat = None if first.secret is None else room.find_seat(first.secret)
        if first.secret is not None and seat is None:
            raise _Gone(WRONG_SECRET, "this link does not match any seat of the table")
        room = site.rooms.use(room)
        listener = Listener(seat, line.send, line.close, line.address)
        room.join(listener, first.name, first.commitment)
    except CardlabError as error:
        line.send(_refusal(error))
        raise _Gone(FULL, "the table has no room for you now; try again later") from None
    try:
        while await _follow(site, line, room, listener):
            pass
    finally:
        room.leave(listener)


async def _follow(site: Site, line: _Connection, room: Room, listener: Listener) -> bool:
    """Handle the next message; return whether the browser stays."""
    text = await line.read()
    if listener not in room.listeners:
        return False  # another tab has taken the seat
    try:
        message = read_message(text)
        if isinstance(message, Leave):
            return False
        if isinstance(message, Join):
            raise CardlabError("you have joined already")
        if isinstance(message, Act):
            room.act(listener.seat, message.version, message.action)
        elif isinstance(message, Undo):
            room.undo(listener.seat)
        elif isinstance(message, Share):
            room.reveal(listener.seat, message.share)
        else:
            if line.questions is not None and not line.questions.done():
                raise CardlabError("your last question is not answered yet; wait a moment")
            site.admission.check_rate("hints", line.address)
            line.questions = asyncio.create_task(_answer(line, room, listener, message))
    except CardlabError as error:
        line.send(_refusal(error))
    return True


async def _answer(
    line: _Connection, room: Room, listener: Listener, message: Hint | Solvable
) -> None:
    """Answer a question that takes a while, without blocking the connection."""
    try:
        if isinstance(message, Hint):
            answer = await room.hint(listener.seat, message.version)
        else:
            answer = await room.solvable(listener.seat)
        line.send(json.dumps(answer, separators=(",", ":")))
    except CardlabError as error:
        line.send(_refusal(error))
    except Exception:
        LOG.exception("table %s, a question", room.id)
        line.send(_refusal("the adviser failed and cannot answer; choose another adviser"))


def _refusal(error: CardlabError | str) -> str:
    words = error.public if isinstance(error, CardlabError) else error
    message: dict[str, Any] = {"type": "refused", "error": words}
    if isinstance(error, NotSaved):
        message["saving"] = True
    return json.dumps(message, separators=(",", ":"))
