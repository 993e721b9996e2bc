"""The command that serves the web table."""

from __future__ import annotations

from typing import Annotated

import typer

from cardlab.commands.arguments import StoreAddress, Workers
from cardlab.engine.errors import CardlabError
from cardlab.show.console import say


def show(address: str) -> None:
    """Open a browser if there is a screen; a browser in the terminal would block this one."""
    import os
    import sys
    import webbrowser

    has_screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_screen:
        webbrowser.open(address)


def serve(
    host: Annotated[
        str,
        typer.Option(
            help="the address to listen on; 0.0.0.0: the whole network",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            help="the port to listen on; 0: any free port",
            min=0,
            max=65535,
            metavar="N",
        ),
    ] = 8080,
    store: StoreAddress = None,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            help="a host name under which people reach the server; repeatable", metavar="NAME"
        ),
    ] = None,
    game: Annotated[
        list[str] | None,
        typer.Option(help="a game from outside, package.module:NAME; repeatable", metavar="GAME"),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="an agent from outside, package.module:NAME; repeatable", metavar="AGENT"
        ),
    ] = None,
    workers: Workers = 0,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="a reverse proxy whose X-Forwarded-For header is trusted, such as 127.0.0.1 or "
            "10.0.0.0/8; repeatable",
            metavar="ADDRESS",
        ),
    ] = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="serve Prometheus metrics at /metrics")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="open a browser, if there is one")
    ] = False,
) -> None:
    """Serve the web table: play all games in the browser.

    Examples:
      cardlab serve --open
      cardlab serve --host 0.0.0.0 --port 8000 --host-name cards.example.org
      cardlab serve --game kuhn_poker:GAME --agent my_agents:HighestCard
    """
    from cardlab.web.menu import Menu
    from cardlab.web.running import ServerSettings, run

    if workers < 0:
        raise CardlabError(f"--workers must be at least 0, got {workers}")

    menu = Menu.of(game or (), agent or ())
    for name, reason in menu.left_out.items():
        say(f"{name} is left out: {reason}")

    def announce(address: str) -> None:
        typer.echo(f"cardlab is at {address} (Ctrl-C ends it)")
        if open_browser:
            show(address)

    settings = ServerSettings(
        host, port, store, tuple(host_name or ()), workers, tuple(proxy or ()), metrics
    )
    run(settings, menu, announce)
