"""One voice for all help: plain text of 80 columns, commands by purpose, examples line by line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from cardlab.commands.signals import until_readers_leave

__all__ = ["WIDTH", "Command", "Commands", "help_of", "usage_error"]

WIDTH = 80
TEXTS = {  # what Typer says in a voice of its own
    "help": "show this help",
    "install_completion": "let this shell complete commands, games and agents",
    "show_completion": "show what --install-completion would install",
}


class _Voice:
    """How commands and their group write about their parameters."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters, those of Typer in our words."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of either base class
        for one in params:
            if one.name in TEXTS:
                one.help = TEXTS[one.name]
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line: GAME where Typer would write {GAME}."""
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [piece.replace("{", "").replace("}", "") for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments by their names alone, without the Python type, and options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record and one.param_type_name == "argument":
                sections["Arguments"].append((record[0].partition(" <")[0], record[1]))
            elif record:
                sections["Options"].append(record)
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class Command(_Voice, TyperCommand):
    """One command."""


class Commands(_Voice, TyperGroup):
    """All commands, listed by what people want to do."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the command line; `--help` and `--version` are answered here."""
        with until_readers_leave():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with until_readers_leave():
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options and after them the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands below their headings."""
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
    """Return one sentence about a line that cannot be read, and where help is."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context else "cardlab"
    said = " ".join(error.format_message().split()).rstrip(".")
    return f"{said[:1].lower()}{said[1:]}; see `{where} --help`"
