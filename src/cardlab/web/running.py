"""Runs the server: listens on a port, reports when it is ready, stops cleanly."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import uvicorn
from fastapi import FastAPI

from cardlab.arena.store import Store
from cardlab.engine.errors import CardlabError
from cardlab.web.admission import Admission
from cardlab.web.connections import Watches, watched_protocols
from cardlab.web.guard import ANY_ADDRESS, LOCAL
from cardlab.web.limits import Limits
from cardlab.web.logs import log_sparingly
from cardlab.web.menu import Menu
from cardlab.web.server import make_app

GRACE_SECONDS = 3
EVERYWHERE = ("0.0.0.0", "::")
MOST_DESCRIPTORS = 16_384
OWN_DESCRIPTORS = 200  # reserved for files, workers and the store
BACKLOG = 1024  # connections that wait to be accepted, if there are enough descriptors
IN_PASSING = 4  # descriptors kept free for each waiting connection, some of which are refused
GARBAGE = (20_000, 20, 50)  # tables create no reference cycles, so the collector can run rarely


@dataclass(frozen=True)
class ServerSettings:
    """The settings of a server."""

    host: str = "127.0.0.1"  # address to listen on
    port: int = 8080  # 0: any free port
    store: str | None = None  # address of the store; None: the user's own
    names: tuple[str, ...] = ()  # host names that requests may use, beside `host`
    workers: int = 0  # processes in which agents think; 0: one for each core
    proxies: tuple[str, ...] = ()  # reverse proxies whose X-Forwarded-For is trusted
    metrics: bool = False  # serve /metrics for Prometheus
    limits: Limits = field(default_factory=Limits)


class _Server(uvicorn.Server):
    """Calls `ready` when it has started, and stops without a traceback."""

    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on Ctrl-C and SIGTERM without raising the signal again afterwards."""
        names = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(name, self.handle_exit) for name in names]
        try:
            yield
        finally:
            for name, handler in zip(names, before, strict=True):
                signal.signal(name, handler)


def run(
    settings: ServerSettings,
    menu: Menu | None = None,
    on_ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; `on_ready` is called with the server's address."""
    Store(settings.store).close()  # an unusable store raises its error here, before the start
    host, files = settings.host, raise_descriptors()
    most = min(settings.limits.connections, max(files // 2, files - OWN_DESCRIPTORS))
    admission = Admission.of(replace(settings.limits, connections=most), settings.proxies)
    listener = _listen(host, settings.port)
    port = listener.getsockname()[1]
    shown = _own_address() if host in EVERYWHERE else host
    app = make_app(
        settings.store,
        menu=menu,
        hosts=[host, *settings.names, *([] if host in LOCAL else [ANY_ADDRESS])],
        workers=settings.workers,
        prestart=True,
        admission=admission,
        metrics=settings.metrics,
    )
    log_sparingly()
    backlog = max(1, min(BACKLOG, (files - most) // IN_PASSING))
    server = _Server(configuration(app, admission, list(settings.proxies), backlog))
    address = f"[{shown}]" if ":" in shown else shown

    def ready() -> None:
        on_ready(f"http://{address}:{port}/")
        app.state.warming.add_done_callback(_settle)

    server.ready = ready
    with listener:
        asyncio.run(server.serve(sockets=[listener]))


def configuration(
    app: FastAPI, admission: Admission, proxies: list[str], backlog: int = BACKLOG
) -> uvicorn.Config:
    """Return uvicorn's configuration, with limits on every connection."""
    http, sockets = watched_protocols(Watches(admission))
    return uvicorn.Config(
        app,
        http=http,
        ws=sockets,
        backlog=backlog,
        ws_max_size=4 * admission.limits.message_bytes,  # larger ones are not read
        ws_per_message_deflate=False,  # compression would use more memory than a table
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        proxy_headers=bool(proxies),  # X-Forwarded-For of others is ignored
        forwarded_allow_ips=proxies,
    )


def raise_descriptors() -> int:
    """Raise the limit of open files as far as the system allows; return it."""
    most = MOST_DESCRIPTORS
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most


def _own_address() -> str:
    """Return the address by which others on the network reach this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing, only looks up the route
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()


def _settle(_: object) -> None:
    """Exclude loaded modules from garbage collection, which would delay every table."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, where = found[0]
    except (OSError, UnicodeError):  # UnicodeError: a text that cannot be a name
        raise CardlabError(
            f"--host must be an address of this machine, got {host}; use 127.0.0.1, or 0.0.0.0 "
            "for all of its addresses"
        ) from None
    # With IPPROTO_TCP asyncio sets TCP_NODELAY: parts of an answer are not delayed by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(where)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise CardlabError(
            f"cannot listen on {host}:{port} ({reason.lower()}); give another --port, or "
            "--port 0 for any free one"
        ) from None
    return listener
