"""The web application: pages, the JSON interface, and the sockets of tables."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial

from fastapi import FastAPI, HTTPException, Request, WebSocket
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from cardlab.agents.ahead import compile_ahead
from cardlab.arena.store import Store, StoreError
from cardlab.arena.workers import default_workers
from cardlab.engine.errors import CardlabError
from cardlab.engine.registry import package_of
from cardlab.web import lobby
from cardlab.web.admission import SENTENCES, Admission
from cardlab.web.agent_pool import WARM_SECONDS, AgentPool
from cardlab.web.fair_queue import Busy, Payer
from cardlab.web.files import CachedFile, answer, page_file, static_file
from cardlab.web.guard import Guard, hosts_of
from cardlab.web.health import health_json, metrics_text
from cardlab.web.limits import Limits
from cardlab.web.menu import Menu
from cardlab.web.messages import NewTable, read_body
from cardlab.web.pages import PAGES, Page, page_document
from cardlab.web.replay_routes import add_replay_routes, recent
from cardlab.web.room_writer import RoomWriter
from cardlab.web.rooms import Rooms
from cardlab.web.server_state import Site, address_of, refused, site_of
from cardlab.web.sockets import serve_socket
from cardlab.web.store_reads import StoreReads

LOG = logging.getLogger(__name__)
DAY = 86_400
HELPERS_SECONDS = 0.2  # between two looks whether helpers are still compiling
CHECK_LINK = "check the link, or open a new table on the start page"

Handler = Callable[..., Awaitable[Response]]


def make_app(
    store: str | None = None,
    *,
    menu: Menu | None = None,
    limits: Limits | None = None,
    hosts: list[str] | None = None,
    workers: int = 0,
    prestart: bool = False,
    admission: Admission | None = None,
    metrics: bool = False,
) -> FastAPI:
    """Return the web application for a store.

    `hosts` are the host names that requests may use; `ANY_ADDRESS` among them allows all IP
    addresses. `prestart` starts a worker before the first hint is asked for; `metrics` adds the
    page /metrics for Prometheus.
    """
    offered, counts = menu or Menu.of(), admission or Admission(limits or Limits())
    bounds = counts.limits

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        base = Store(store)
        writer = RoomWriter(base)
        pool = AgentPool(workers or default_workers(), bounds)
        replay_pool = AgentPool(1, bounds)
        reads = StoreReads(bounds)
        rooms = Rooms(offered, writer, reads, pool, bounds)
        site = Site(offered, base, writer, reads, pool, rooms, replay_pool, bounds, counts)
        app.state.site = site
        stop = threading.Event()
        warming = app.state.warming = asyncio.create_task(_warm_up(offered, pool, stop, prestart))
        try:
            yield
        finally:
            stop.set()
            warming.cancel()
            await site.rooms.close()
            await asyncio.gather(warming, return_exceptions=True)
            pool.close()
            replay_pool.close()
            reads.close()
            await asyncio.to_thread(writer.close)
            base.close()

    app = FastAPI(
        title="cardlab", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None
    )
    _add_pages(app)
    _add_tables(app)
    _add_health(app, metrics)
    add_replay_routes(app)
    app.add_exception_handler(CardlabError, _complain)
    app.add_exception_handler(404, _missing)
    app.add_exception_handler(405, _missing)
    app.add_middleware(Guard, admission=counts, hosts=hosts_of(hosts or []))
    return app


async def _warm_up(menu: Menu, pool: AgentPool, stop: threading.Event, prestart: bool) -> None:
    """Prepare the rules of all games, and the advisers if workers may start before they are asked.

    With an empty cache tables open at once, interpreted, while helpers compile.
    """
    games = list(menu.games.values())
    steps = [step for game in games for step in lobby.steps(game)] if prestart else []
    with ExitStack() as stack:
        begin = partial(stack.enter_context, compile_ahead(steps, default_workers()))
        helpers = await asyncio.to_thread(begin)
        await asyncio.to_thread(lobby.warm_up, games, stop)
        while helpers and helpers.working:
            await asyncio.sleep(HELPERS_SECONDS)
    if helpers:  # now load what they have compiled
        lobby.WARM.clear()
        await asyncio.to_thread(lobby.warm_up, games, stop)
    for game in games if prestart else ():  # one call each, so that a visitor waits for one at most
        with suppress(CardlabError):
            await pool.call(lobby.warm_worker, game, seconds=WARM_SECONDS)


async def _complain(request: Request, error: Exception) -> Response:
    assert isinstance(error, CardlabError)
    if isinstance(error, StoreError):
        LOG.warning("%s", error)
    return refused(503 if isinstance(error, (Busy, StoreError)) else 400, error.public)


async def _missing(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    if request.url.path.startswith("/api/") or status != 404:
        sentence = f"nothing found at {request.url.path[:200]}; the start page is /"
        return JSONResponse({"error": sentence}, status)
    return PlainTextResponse(
        f"There is no page at {request.url.path[:200]}. The start page is /.\n", status
    )


def _add_pages(app: FastAPI) -> None:
    def handler_of(page: Page) -> Handler:
        async def document(request: Request) -> Response:
            made = page_document(page)
            if made is None:
                return PlainTextResponse(
                    "The files of the web pages are missing; reinstall cardlab.\n", 404
                )
            return answer(request, made)

        return document

    def found_file(request: Request, file: CachedFile | None) -> Response:
        if file is None:
            raise HTTPException(404)
        return answer(request, file)

    async def static(request: Request, path: str) -> Response:
        return found_file(request, static_file(path))

    async def game_page(request: Request, game: str, path: str) -> Response:
        known = site_of(request).menu.games.get(game)
        return found_file(request, page_file(package_of(known), path) if known else None)

    async def deck(request: Request, name: str, kind: str) -> Response:
        menu = site_of(request).menu
        found = lobby.find_deck(name, menu)
        make = {"svg": lobby.sprite_file, "json": lobby.deck_file}.get(kind)
        made = await asyncio.to_thread(make, found) if found and make else None
        if made is None:
            names = sorted({lobby.page_json(game)["deck"] for game in menu.games.values()})
            return refused(404, f"unknown deck {name[:40]!r}; known: {', '.join(names)}")
        return answer(request, made, f"max-age={DAY}")

    for path, handler in (
        *((path, handler_of(page)) for path, page in PAGES.items()),
        ("/static/{path:path}", static),
        ("/games/{game}/{path:path}", game_page),
        ("/cards/{name}.{kind}", deck),
    ):
        app.add_api_route(path, handler, methods=["GET", "HEAD"], include_in_schema=False)


def _add_tables(app: FastAPI) -> None:
    async def games(request: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(lobby.games_json, site_of(request).menu))

    async def open_table(request: Request) -> Response:
        site = site_of(request)
        wish = read_body((await request.body()).decode(errors="replace"), NewTable)
        address = address_of(request)
        if not site.admission.may("new tables", address):
            return refused(429, SENTENCES["new tables"])
        await asyncio.to_thread(lobby.ready, site.menu.game(wish.game))
        room, keys = await site.rooms.open(wish, Payer(address))
        seats = [{"seat": k, "secret": key} for k, key in enumerate(keys)]
        return JSONResponse({"id": room.id, "seats": seats}, 201)

    async def show_table(request: Request, id: str) -> Response:
        room = await site_of(request).rooms.find_settled(id)
        if room is None:
            return refused(404, f"table {id[:40]!r} not found; {CHECK_LINK}")
        return JSONResponse(room.public())

    async def record(request: Request, id: str) -> Response:
        room = await site_of(request).rooms.find_settled(id)
        if room is None:
            return refused(404, f"table {id[:40]!r} not found; {CHECK_LINK}")
        if not room.over:
            return refused(409, "the game is not over; its record is available afterwards")
        name = f"{room.game.name}-{room.id}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        line = room.record().to_line() + "\n"
        return Response(line, media_type="application/x-ndjson", headers=headers)

    async def socket(socket: WebSocket, id: str) -> None:
        await serve_socket(site_of(socket), socket, id)

    app.add_api_route("/api/games", games, methods=["GET"])
    app.add_api_route("/api/games/recent", recent, methods=["GET"])
    app.add_api_route("/api/tables", open_table, methods=["POST"])
    app.add_api_route("/api/tables/{id}", show_table, methods=["GET"])
    app.add_api_route("/api/tables/{id}/record", record, methods=["GET"])
    app.add_api_websocket_route("/api/tables/{id}/socket", socket)


def _add_health(app: FastAPI, metrics: bool) -> None:
    async def show_health(request: Request) -> Response:
        found = health_json(site_of(request))
        return JSONResponse(found, 200 if found["ok"] else 503)

    async def show_metrics(request: Request) -> Response:
        return PlainTextResponse(metrics_text(site_of(request)))

    app.add_api_route("/api/health", show_health, methods=["GET"])
    if metrics:
        app.add_api_route("/metrics", show_metrics, methods=["GET"])
