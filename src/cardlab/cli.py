"""The command line: thin edges over the library; every mistake of a person's is one sentence."""

from __future__ import annotations

import io
import signal
import sys
import warnings
from typing import Annotated, Any

import typer

from cardlab import __version__
from cardlab.commands import analysis, measuring, playing, serving, study, upkeep
from cardlab.errors import CardlabError, CardlabWarning

app = typer.Typer(
    help="Card-playing AI: play it, measure it, build it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    playing.games,
    playing.agents,
    playing.match,
    measuring.tournament,
    measuring.sprt,
    measuring.leaderboard,
    measuring.export,
    measuring.check_agent,
    playing.play,
    playing.replay,
    serving.serve,
    analysis.score,
    analysis.analyse,
    analysis.solve,
    analysis.explain,
    study.train,
    study.reproduce,
    upkeep.check,
    upkeep.warmup,
)
for command in COMMANDS:
    app.command()(command)


def main() -> None:
    """Run the command line; mistakes end in one sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± still gets its numbers
    for name in (signal.SIGINT, signal.SIGTERM):  # both end a command alike: keep, tidy up
        signal.signal(name, signal.default_int_handler)
    warnings.showwarning = _show_warning  # type: ignore[assignment]  # it takes more and uses less
    try:
        app(prog_name="cardlab")
    except CardlabError as error:
        sys.stderr.write(f"cardlab: {error}\n")
        sys.exit(2)
    except SystemExit as end:
        if end.code == 130:
            sys.stderr.write("cardlab: stopped\n")
        raise


def _show_warning(message: Any, category: Any, *rest: Any) -> None:
    if issubclass(category, CardlabWarning):
        sys.stderr.write(f"cardlab: {message}\n")


@app.callback(invoke_without_command=True)
def about(
    version: Annotated[bool, typer.Option("--version", help="show the version")] = False,
) -> None:
    """Card-playing AI: play it, measure it, build it."""
    if version:
        typer.echo(f"cardlab {__version__}")
        raise typer.Exit


if __name__ == "__main__":
    main()
