"""Help and usage errors of all commands: plain text of 80 columns, commands by purpose."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from cardlab.commands.signals import until_readers_leave
from cardlab.engine.arguments import shorten
from cardlab.engine.errors import suggest

WIDTH = 80
TEXTS = {  # in place of Typer's
    "help": "show this help",
    "install_completion": "install completion of commands, games and agents in this shell",
    "show_completion": "print the completion script of this shell",
}


EXTRA = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((?P<words>.*)\)")
NO_COMMAND = re.compile(r"No such command '(?P<name>.*?)'(?:\. Did you mean .*)?")
LONGEST = 60  # characters of a value in a sentence
KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}
BOUNDS = {"ge": "at least", "gt": "greater than", "le": "at most", "lt": "less than"}

OLD_LIMITS = {
    "--move-seconds": "move",
    "--game-seconds": "game",
    "--agent-memory": "memory",
    "--agent-logs": "logs",
}


class _PlainHelp:
    """How commands and their group describe their parameters."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters; those of Typer get our help texts."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of either base class
        for param in params:
            if param.name in TEXTS:
                param.help = TEXTS[param.name]
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, with GAME instead of {GAME}."""
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [piece.replace("{", "").replace("}", "") for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, without their Python type, and the options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and param.param_type_name == "argument":
                sections["Arguments"].append((record[0].partition(" <")[0], record[1]))
            elif record:
                sections["Options"].append(record)
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class Command(_PlainHelp, TyperCommand):
    """One command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; options from before version 0.2 are translated."""
        if any("--limits" in param.opts for param in self.params):
            args = _with_limits(args)
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]  # for the help that it names
            raise


def _with_limits(args: list[str]) -> list[str]:
    """Return the words with `--move-seconds 3` written as `--limits move=3`, and so on."""
    words: list[str] = []
    rest = iter(args)
    for word in rest:
        if word == "--":
            return [*words, word, *rest]
        option, equals, value = word.partition("=")
        if option in OLD_LIMITS and (value := value if equals else next(rest, "")):
            words += ["--limits", f"{OLD_LIMITS[option]}={value}"]
        else:
            words.append(word)
    return words


class Commands(_PlainHelp, TyperGroup):
    """All commands, listed by purpose."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the command line; `--help` and `--version` print their text here."""
        with until_readers_leave():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with until_readers_leave():
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under their headings."""
        shown = [one for one in self.commands.values() if isinstance(one, TyperCommand)]
        width = max(len(str(one.name)) for one in shown)
        for heading in dict.fromkeys(one.rich_help_panel for one in shown):
            rows = [
                (str(one.name).ljust(width), one.get_short_help_str(WIDTH))
                for one in shown
                if one.rich_help_panel == heading
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


def help_of(function: Callable[..., None]) -> str:
    """Return a command's docstring, its examples marked to keep their lines."""
    text = inspect.cleandoc(function.__doc__ or "")
    return text.replace("\n\nExample", "\n\n\b\nExample")


def usage_error(error: TyperException) -> str:
    """Return one sentence about a command line that cannot be read, and where its help is."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context else "cardlab"
    reason = _reason(error)
    return f"{reason}{'' if reason.endswith('?') else ';'} see `{where} --help`"


def _reason(error: TyperException) -> str:
    """Return what is wrong with a command line, in our words where the mistake is a known one."""
    param, option = getattr(error, "param", None), getattr(error, "option_name", None)
    text = " ".join(error.format_message().split()).rstrip(".")
    if option is not None and text.startswith("No such option"):
        meant = getattr(error, "possibilities", None)
        return f"unknown option {option}" + (f"; did you mean {meant[0]}?" if meant else "")
    if option is not None:
        return f"{option} {'needs a value' if 'requires' in text else 'takes no value'}"
    if param is not None and text.startswith("Missing"):
        return f"{param.param_type_name} {_name(param)} is missing"
    if param is not None:
        return _wrong_value(_name(param), error.__cause__) or f"{_name(param)}: {_start(text)}"
    if command := NO_COMMAND.fullmatch(text):
        context: Any = getattr(error, "ctx", None)
        return suggest("command", command["name"], context.command.commands)
    if extra := EXTRA.fullmatch(text):
        return f"too many arguments, got also {extra['words']}{_opponent(error, extra['words'])}"
    return _start(text)


def _opponent(error: TyperException, words: str) -> str:
    """Return how to write an opponent that `cardlab play` got as an argument, or nothing."""
    from cardlab.agents.entries import agents_in
    from cardlab.engine.registry import our_packages

    context: Any = getattr(error, "ctx", None)
    if context is None or context.info_name != "play":
        return ""
    agent = words.split()[0]
    known = {one.name for package in our_packages().values() for one in agents_in(package)}
    named = agent.partition(":")[0]
    return f"; did you mean --against {agent}?" if named in {*known, "cmd"} else ""


def _name(param: Any) -> str:
    """Return a parameter as a person writes it: its long option, or its metavar."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.human_readable_name)
    return str(max(param.opts, key=len))


def _wrong_value(name: str, cause: BaseException | None) -> str | None:
    """Return what is wrong with a value that Pydantic has refused, or None if that is not known."""
    errors = getattr(cause, "errors", None)
    if errors is None:
        return None
    first = errors()[0]
    limits = first.get("ctx", {})
    bounds = [f"{word} {limits[key]:,}" for key, word in BOUNDS.items() if key in limits]
    wanted = bounds[0] if bounds else KINDS.get(first["type"].partition("_")[0])
    given = first["input"] if isinstance(first["input"], str) else shorten(first["input"])
    given = given if len(given) <= LONGEST else f"{given[:LONGEST]}..."
    return f"{name} must be {wanted}, got {given or 'nothing'}" if wanted else None


def _start(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"
