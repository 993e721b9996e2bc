"""Routes for those who look back: replays, advice, leaderboard, people, library."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse

from cardlab.engine.errors import CardlabError
from cardlab.engine.records import Record
from cardlab.web import leaderboards, library, replays
from cardlab.web.agent_pool import Busy
from cardlab.web.messages import Advice, Review, read_body
from cardlab.web.server_state import Site, address_of, refused, site_of

FRESH_SECONDS = 30  # that a leaderboard is shown again before it is computed anew
BOARD_SECONDS = 120


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


def _site_within_rate(request: Request) -> Site:
    site = site_of(request)
    if not site.replay_limit.take(address_of(request)):
        raise Busy("too many questions from here; wait a minute")
    return site


async def stored_replay(request: Request, id: str) -> Response:
    """Return the positions of a finished table, or of a game of a tournament."""
    site = _site_within_rate(request)
    room = await site.rooms.find(id)
    record: Record | None
    if room is not None:
        if not room.over:
            return refused(409, "this game is still played; its replay comes when it is over")
        record = room.record()
    else:
        record = await asyncio.to_thread(leaderboards.stored_record, site.store, site.menu, id)
    if record is None:
        return refused(404, f"there is no game {id[:40]!r}")
    game = site.menu.game(record.game)
    return JSONResponse(await asyncio.to_thread(replays.replay_json, game, record))


async def sent_replay(request: Request) -> Response:
    """Return the positions of a record that somebody has in a file."""
    site = _site_within_rate(request)
    text = (await request.body()).decode(errors="replace")
    game, record = replays.read_record(text, site.menu)
    return JSONResponse(await asyncio.to_thread(replays.replay_json, game, record))


async def advice(request: Request) -> Response:
    """Return an adviser's values at one move of a record."""
    site = _site_within_rate(request)
    asked = read_body((await request.body()).decode(errors="replace"), Advice)
    game, record = replays.read_record(asked.record, site.menu)
    replays.check_adviser(asked.adviser, game, site.limits, site.menu)
    turn = await asyncio.to_thread(replays.turn_at, game, record, asked.ply)
    return JSONResponse(await replays.advice(site.pool, record, turn, asked.ply, asked.adviser))


async def review(request: Request) -> Response:
    """Stream an adviser's values at all moves of a record, one line of JSON each."""
    site = _site_within_rate(request)
    asked = read_body((await request.body()).decode(errors="replace"), Review)
    game, record = replays.read_record(asked.record, site.menu)
    replays.check_adviser(asked.adviser, game, site.limits, site.menu)
    await asyncio.to_thread(replays.replay_json, game, record)  # a wrong one is refused whole

    async def lines() -> AsyncIterator[str]:
        try:
            async for line in replays.review(site.pool, game, record, asked.adviser):
                yield json.dumps(line, separators=(",", ":")) + "\n"
        except CardlabError as error:
            yield json.dumps({"type": "error", "error": str(error)}) + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def _kept(site: Site, key: Any, make: Any) -> Any:
    """Return an answer of the last half minute, or make it; those who ask meanwhile share it."""
    now = time.monotonic()
    known = site.cached.get(key)
    if (
        known is None
        or now - known[0] > FRESH_SECONDS
        or (known[1].done() and known[1].exception())
    ):
        known = (now, asyncio.ensure_future(make()))
        site.cached[key] = known
    return await asyncio.shield(known[1])


async def leaderboard(request: Request, game: str | None = None) -> Response:
    """Return ratings and cross-tables from the store's tournaments."""
    site = site_of(request)
    name = None if game is None else site.menu.game(game).name
    asked = (site.store.address, site.menu.names, name)

    def make() -> Any:
        return site.pool.call(leaderboards.leaderboard_json, *asked, seconds=BOARD_SECONDS)

    return JSONResponse(await _kept(site, ("leaderboard", name), make))


async def recent(request: Request) -> Response:
    """Return games that can be watched."""
    site = site_of(request)
    return JSONResponse(
        await asyncio.to_thread(leaderboards.recent_json, site.store, site.writer, site.menu)
    )


async def people(request: Request) -> Response:
    """Return how people did against agents."""
    site = site_of(request)

    def make() -> Any:
        return asyncio.to_thread(leaderboards.people_json, site.writer)

    return JSONResponse(await _kept(site, "people", make))


async def library_index(request: Request) -> Response:
    """Return what the library has."""
    return JSONResponse(await asyncio.to_thread(library.library_json))


async def report(request: Request, paper: str) -> Response:
    """Return a report."""
    found = await asyncio.to_thread(library.report_json, paper)
    return (
        refused(404, f"there is no report {paper[:40]!r}") if found is None else JSONResponse(found)
    )


async def figure(request: Request, name: str) -> Response:
    """Return a figure of a report."""
    path = library.figure_path(name)
    if path is None:
        return refused(404, f"there is no figure {name[:80]!r}")
    headers = {"Cache-Control": "no-cache"}
    return FileResponse(path, media_type="image/svg+xml", headers=headers)
