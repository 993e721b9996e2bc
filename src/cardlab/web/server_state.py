"""The objects that all parts of the server share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fastapi import Request, WebSocket
from fastapi.responses import JSONResponse, Response

from cardlab.arena.store import Store
from cardlab.web.admission import Admission, network_of
from cardlab.web.agent_pool import AgentPool
from cardlab.web.limits import Limits
from cardlab.web.menu import Menu
from cardlab.web.room_writer import RoomWriter
from cardlab.web.rooms import Rooms
from cardlab.web.store_reads import StoreReads


@dataclass
class Site:
    """Menu, store, rooms, workers and limits of one server.

    Replays, advice on them and reviews have separate workers, so that players never wait for them.
    """

    menu: Menu
    store: Store
    writer: RoomWriter
    reads: StoreReads
    pool: AgentPool
    rooms: Rooms
    replay_pool: AgentPool
    limits: Limits
    admission: Admission
    cached: dict[Any, Any] = field(default_factory=dict)  # answers that are reused for a while


def site_of(request: Request | WebSocket) -> Site:
    """Return the site that serves a request."""
    site: Site = request.app.state.site
    return site


def address_of(request: Request | WebSocket) -> str:
    """Return the address that a request counts against."""
    return network_of(request.client.host) if request.client else "nowhere"


def refused(status: int, sentence: str) -> Response:
    """Return a JSON response with the reason of a refusal."""
    return JSONResponse({"error": sentence}, status)
