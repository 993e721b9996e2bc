"""Running the server: a port of its own, a word when it is ready, a clean end."""

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
OWN_DESCRIPTORS = 200  # files, workers and the store: never given to connections
BACKLOG = 1024  # connections that wait to be accepted, where there are descriptors for all of them
IN_PASSING = 4  # times as many are open for a moment before the first of them is refused
GARBAGE = (20_000, 20, 50)  # tables leave no cycles: looking for some can wait


@dataclass(frozen=True)
class ServerSettings:
    """What an operator chooses."""

    host: str = "127.0.0.1"  # to listen on
    port: int = 8080  # 0: any that is free
    store: str | None = None  # its address; None: the user's own
    names: tuple[str, ...] = ()  # that the server may be called by, beside the host
    workers: int = 0  # processes that think; 0: one for each core
    proxies: tuple[str, ...] = ()  # addresses and networks whose X-Forwarded-For is believed
    metrics: bool = False  # serve numbers for Prometheus
    limits: Limits = field(default_factory=Limits)


class _Server(uvicorn.Server):
    """Says when it is ready, and ends without noise."""

    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on Ctrl-C and SIGTERM, and end well: the signal is not raised again afterwards."""
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
    tell: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; what cannot start is one sentence."""
    Store(settings.store).close()  # one that cannot be used is a sentence now, not a logged error
    host, files = settings.host, raise_descriptors()
    most = min(settings.limits.connections, max(files // 2, files - OWN_DESCRIPTORS))
    admission = Admission.of(replace(settings.limits, connections=most), settings.proxies)
    line = _listen(host, settings.port)
    port = line.getsockname()[1]
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
        tell(f"http://{address}:{port}/")
        app.state.warming.add_done_callback(_settle)

    server.ready = ready
    with line:
        asyncio.run(server.serve(sockets=[line]))


def configuration(
    app: FastAPI, admission: Admission, proxies: list[str], backlog: int = BACKLOG
) -> uvicorn.Config:
    """Return how the application is served: every connection under watch."""
    http, sockets = watched_protocols(Watches(admission))
    return uvicorn.Config(
        app,
        http=http,
        ws=sockets,
        backlog=backlog,
        ws_max_size=4 * admission.limits.message_bytes,  # larger ones are not even read
        ws_per_message_deflate=False,  # compression would keep more memory than a table
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        proxy_headers=bool(proxies),  # what others say of themselves is not believed
        forwarded_allow_ips=proxies,
    )


def raise_descriptors() -> int:
    """Allow as many open files as the system lets this process have; return how many."""
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
            probe.connect(("192.0.2.1", 9))  # sends nothing: only the way there is looked up
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()


def _settle(_: object) -> None:
    """Keep what is loaded out of the search for garbage, which would hold up every table."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, where = found[0]
    except (OSError, UnicodeError):  # UnicodeError: a text that cannot be a name
        raise CardlabError(
            f"--host {host} is no address of this machine; use 127.0.0.1, or 0.0.0.0 for all"
        ) from None
    # Named TCP, asyncio sends every part of an answer at once instead of after 40 ms.
    line = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        line.bind(where)
        line.listen(BACKLOG)
    except OSError as error:
        line.close()
        reason = error.strerror or str(error)
        raise CardlabError(
            f"{host}:{port} cannot be listened on ({reason.lower()}); give another --port, or 0"
        ) from None
    return line
