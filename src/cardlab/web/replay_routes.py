"""Routes about finished games: replays, advice, leaderboard, people, library."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.records import Record
from cardlab.web import leaderboards, library, replays
from cardlab.web.admission import SENTENCES
from cardlab.web.fair_queue import Busy, Payer
from cardlab.web.messages import Advice, Review, read_body
from cardlab.web.server_state import Site, address_of, refused, site_of

FRESH_SECONDS = 30  # for which a computed answer is reused
BOARD_SECONDS = 120
RECENT_SECONDS = 1
PIECE = 65_536  # bytes that are decompressed at a time


def add_replay_routes(app: FastAPI) -> None:
    """Add the routes."""
    for path, function in (
        ("/api/replays/{id}", stored_replay),
        ("/api/leaderboard", leaderboard),
        ("/api/people", people),
        ("/api/library", library_index),
        ("/api/library/{paper}", report),
        ("/library/figures/{name}", figure),
    ):
        app.add_api_route(path, function, methods=["GET"])
    for path, function in (
        ("/api/replays", sent_replay),
        ("/api/replays/advice", advice),
        ("/api/replays/review", review),
    ):
        app.add_api_route(path, function, methods=["POST"])


def _asker(request: Request) -> tuple[Site, Payer]:
    """Return the site and the payer of a request; raise `Busy` if there are too many requests."""
    site, address = site_of(request), address_of(request)
    site.admission.check_rate("records", address)
    return site, Payer(address, "replays")


class _Held(Response):
    """A large response that counts against its address until it is sent."""

    def __init__(self, site: Site, address: str, inner: Response) -> None:
        super().__init__()
        self.site, self.address, self.inner = site, address, inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.inner(scope, receive, send)
        finally:
            self.site.admission.leave("replays", self.address)


async def _held(
    site: Site, payer: Payer, make: Callable[[], Coroutine[Any, Any, Response]]
) -> Response:
    """Make a large response; an address may have a few of them at the same time.

    One too many is refused before its body is read.
    """
    if not site.admission.enter("replays", payer.address):
        raise Busy(SENTENCES["replays"])
    try:
        return _Held(site, payer.address, await make())
    except BaseException:
        site.admission.leave("replays", payer.address)
        raise


async def _replay(request: Request, site: Site, payer: Payer, record: Record) -> Response:
    """Answer with every position of a record, made in a worker."""
    game = site.menu.game(record.game)
    packed = await site.replay_pool.call(replays.packed_replay, game, record, payer=payer)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Response(packed, media_type="application/json", headers=headers)
    return StreamingResponse(_unpack(packed), media_type="application/json")


async def _unpack(packed: bytes) -> AsyncIterator[bytes]:
    """Decompress in pieces, so that no more is in memory than is being sent."""
    opened = zlib.decompressobj(wbits=31)
    while packed:
        yield opened.decompress(packed, PIECE)
        packed = opened.unconsumed_tail
    yield opened.flush()


async def stored_replay(request: Request, id: str) -> Response:
    """Return the positions of a finished table, or of a game of a tournament."""
    site, payer = _asker(request)
    room = await site.rooms.find_settled(id)
    record: Record | None
    if room is not None:
        if not room.over:
            return refused(409, "this game is not over; its replay is available afterwards")
        record = room.record()
    else:
        record = await site.reads.call(leaderboards.stored_record, site.store, site.menu, id)
    if record is None:
        return refused(404, f"game {id[:40]!r} not found; choose one from the page of replays")
    return await _held(site, payer, partial(_replay, request, site, payer, record))


async def sent_replay(request: Request) -> Response:
    """Return the positions of a record from a visitor's file."""
    site, payer = _asker(request)

    async def make() -> Response:
        text = (await request.body()).decode(errors="replace")
        _, record = replays.read_record(text, site.menu, site.limits)
        return await _replay(request, site, payer, record)

    return await _held(site, payer, make)


async def advice(request: Request) -> Response:
    """Return an adviser's values at one move of a record."""
    site, payer = _asker(request)
    asked = read_body((await request.body()).decode(errors="replace"), Advice)
    game, record = replays.read_record(asked.record, site.menu, site.limits)
    await replays.check_adviser(asked.adviser, game, record, site.menu, site.replay_pool, payer)
    question = (game, record, asked.ply, asked.adviser)
    return JSONResponse(await site.replay_pool.call(replays.advice_at, *question, payer=payer))


async def review(request: Request) -> Response:
    """Stream an adviser's values at all moves of a record, one line of JSON each."""
    site, payer = _asker(request)
    pool = site.replay_pool

    async def lines(game: Game, record: Record, adviser: str) -> AsyncIterator[str]:
        try:
            async for line in replays.review(pool, game, record, adviser, payer):
                yield json.dumps(line, separators=(",", ":")) + "\n"
        except CardlabError as error:
            yield json.dumps({"type": "error", "error": error.public}) + "\n"

    async def make() -> Response:
        asked = read_body((await request.body()).decode(errors="replace"), Review)
        game, record = replays.read_record(asked.record, site.menu, site.limits)
        await replays.check_adviser(asked.adviser, game, record, site.menu, pool, payer)
        await pool.call(replays.check_record, game, record, payer=payer)
        return StreamingResponse(
            lines(game, record, asked.adviser), media_type="application/x-ndjson"
        )

    return await _held(site, payer, make)


async def _kept(site: Site, key: Any, make: Any, seconds: float = FRESH_SECONDS) -> Any:
    """Return a cached answer, or compute it once for all who ask in the meantime."""
    now = time.monotonic()
    known = site.cached.get(key)
    if known is None or now - known[0] > seconds or (known[1].done() and known[1].exception()):
        known = (now, asyncio.ensure_future(make()))
        site.cached[key] = known
    return await asyncio.shield(known[1])


async def leaderboard(request: Request, game: str | None = None) -> Response:
    """Return ratings and cross-tables from the store's tournaments."""
    site = site_of(request)
    name = None if game is None else site.menu.game(game).name
    asked = (site.store.address, site.menu.names, name)

    async def make() -> Any:
        return await site.pool.call(leaderboards.leaderboard_json, *asked, seconds=BOARD_SECONDS)

    return JSONResponse(await _kept(site, ("leaderboard", name), make))


async def recent(request: Request) -> Response:
    """Return games that can be watched."""
    site = site_of(request)

    def make() -> Any:
        return site.reads.call(leaderboards.recent_json, site.store, site.writer, site.menu)

    return JSONResponse(await _kept(site, "recent", make, RECENT_SECONDS))


async def people(request: Request) -> Response:
    """Return the scores of people against agents."""
    site = site_of(request)

    def make() -> Any:
        return site.reads.call(leaderboards.people_json, site.writer)

    return JSONResponse(await _kept(site, "people", make))


async def library_index(request: Request) -> Response:
    """Return the index of the library."""
    return JSONResponse(await asyncio.to_thread(library.library_json))


async def report(request: Request, paper: str) -> Response:
    """Return a report."""
    found = await asyncio.to_thread(library.report_json, paper)
    return (
        refused(404, f"report {paper[:40]!r} not found; the library lists all reports")
        if found is None
        else JSONResponse(found)
    )


async def figure(request: Request, name: str) -> Response:
    """Return a figure of a report."""
    path = library.figure_path(name)
    if path is None:
        return refused(404, f"figure {name[:80]!r} not found; the reports link to all figures")
    headers = {"Cache-Control": "no-cache"}
    return FileResponse(path, media_type="image/svg+xml", headers=headers)
