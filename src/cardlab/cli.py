"""The command line: a thin layer over the library; every user error is one sentence."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from cardlab import __version__
from cardlab.commands import analysis, measuring, playing, serving, study, upkeep
from cardlab.commands.help_format import WIDTH, Command, Commands, help_of, usage_error
from cardlab.commands.signals import BY_CTRL_C, BY_SIGTERM, exit_code, listen
from cardlab.engine.errors import CardlabError, CardlabWarning
from cardlab.engine.manifest import load
from cardlab.engine.registry import known_packages, our_packages
from cardlab.show.console import plain_text, say

COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Play": (
        playing.games,
        playing.agents,
        playing.play,
        serving.serve,
        playing.replay,
    ),
    "Measure": (
        playing.match,
        measuring.tournament,
        measuring.sprt,
        measuring.leaderboard,
        measuring.export,
        measuring.check_agent,
    ),
    "Analyse": (
        *(
            load(reference)
            for one in our_packages().values()
            for reference in one.commands.values()
        ),
        analysis.explain,
    ),
    "Learn": (
        study.train,
        study.reproduce,
    ),
    "Maintain": (
        upkeep.check,
        upkeep.warmup,
    ),
}


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,  # plain text: it fits 80 columns, and copies well
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
)


def _register(command: Callable[..., None], heading: str, name: str | None = None) -> None:
    app.command(name, cls=Command, help=help_of(command), rich_help_panel=heading)(command)


for heading, commands in COMMANDS.items():
    for command in commands:
        _register(command, heading)


def _register_from_outside(words: list[str]) -> None:
    """Register the commands of installed games, unless the first word is a command of ours."""
    group: Any = typer.main.get_command(app)
    known = set(group.commands)
    if words and words[0] in known:
        return
    for package in known_packages().values():
        for name, reference in package.commands.items():
            if name not in known:
                known.add(name)
                _register(load(reference), "Analyse", name)


def main() -> None:
    """Run the command line; a user error ends with one sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± still gets its numbers
    listen()
    warnings.showwarning = _show_warning  # type: ignore[assignment]  # it takes more and uses less
    try:
        _register_from_outside(sys.argv[1:])
        code = exit_code(app(prog_name="cardlab", standalone_mode=False))
    except CardlabError as error:
        if os.environ.get("CARDLAB_TRACEBACK"):
            sys.stderr.write(plain_text(traceback.format_exc()))
        say(str(error))
        sys.exit(2)
    except TyperException as error:
        say(usage_error(error))
        sys.exit(2)
    except typer.Abort:
        code = BY_CTRL_C
    if code in (BY_CTRL_C, BY_SIGTERM):
        say("stopped")
    sys.exit(code)


def _show_warning(message: Any, category: Any, *rest: Any) -> None:
    if issubclass(category, CardlabWarning):
        say(str(message))


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="show the version")] = False,
) -> None:
    """Card-playing AI: play it, measure it, build it.

    Exit codes: 0 success; 1 `check-agent` found a fault; 2 an error, explained in one sentence; 130
    stopped by Ctrl-C; 143 stopped by SIGTERM; 141 the output pipe was closed early, as by `head`.

    \b
    Examples:
      cardlab play crazy_eights --against heuristic
      cardlab match crazy_eights heuristic random --games 1000
      cardlab COMMAND --help
    """
    if version:
        typer.echo(f"cardlab {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


if __name__ == "__main__":
    main()
