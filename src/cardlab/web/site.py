"""What the server's parts share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fastapi import Request, WebSocket
from fastapi.responses import JSONResponse, Response

from cardlab.arena.store import Store
from cardlab.web.agent_pool import Thinkers
from cardlab.web.limits import Limits, Visitors
from cardlab.web.menu import Menu
from cardlab.web.room_writer import Keeper
from cardlab.web.rooms import Tables

__all__ = ["Site", "address_of", "refused", "site_of"]


@dataclass
class Site:
    """Menu, store, tables, workers and limits of one server."""

    menu: Menu
    store: Store
    keeper: Keeper
    thinkers: Thinkers
    tables: Tables
    limits: Limits
    openers: Visitors
    students: Visitors
    sockets: int = 0
    shelf: dict[Any, Any] = field(default_factory=dict)  # answers that are kept for a while


def site_of(request: Request | WebSocket) -> Site:
    """Return the site that a request is for."""
    site: Site = request.app.state.site
    return site


def address_of(request: Request) -> str:
    """Return where a request comes from."""
    return request.client.host if request.client else "nowhere"


def refused(status: int, sentence: str) -> Response:
    """Return an answer that says why not."""
    return JSONResponse({"error": sentence}, status)
