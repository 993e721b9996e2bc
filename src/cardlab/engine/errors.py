"""Errors for people: one sentence with the input, the place and the way out."""

from __future__ import annotations

import importlib
import inspect
import os
import traceback
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = [
    "CardlabError",
    "CardlabWarning",
    "IllegalAction",
    "one_line",
    "reason_of",
    "require",
    "suggest",
]

LONGEST_REASON = 300
FEWEST_LETTERS = 3  # of a beginning that is completed in a suggestion
OURS = (f"{Path(__file__).parents[1]}{os.sep}", f"{Path(importlib.__file__).parent}{os.sep}", "<")


class CardlabError(ValueError):
    """A mistake in the input, explained in one sentence that can be shown to the person.

    The text is one line, whatever the input that it quotes contains.
    """

    def __str__(self) -> str:
        """Return the text."""
        return one_line(super().__str__())

    @property
    def public(self) -> str:
        """The text that strangers may read; a subclass that names files or hosts says less."""
        return str(self)


class IllegalAction(CardlabError):
    """An action that the rules do not allow in this state."""


class CardlabWarning(UserWarning):
    """Something works less well than it could; the text says what to do."""


def one_line(text: str) -> str:
    """Return text as one line without control characters: what cannot be printed is replaced."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in text
    )


def suggest(what: str, given: object, known: Iterable[str]) -> str:
    """Return a sentence about an unknown name, with the closest known name or all of them."""
    names = sorted(known)
    if not names:
        return f"unknown {what} {given!r}; there are none"
    from difflib import get_close_matches  # loaded for a mistake only

    text = str(given).lower()
    near = get_close_matches(text, names, n=1, cutoff=0.6)
    if len(text) >= FEWEST_LETTERS:  # the beginning of a long name
        near += [name for name in names if name.startswith(text)]
    if near:
        return f"unknown {what} {given!r}; did you mean {near[0]!r}?"
    return f"unknown {what} {given!r}; known: {', '.join(names)}"


def reason_of(error: BaseException, called: Callable[..., Any] | None = None) -> str:
    """Return an exception as one line that begins with the last place in the person's own code.

    Their code begins at the first frame outside cardlab; if there is none, as when the arguments of
    a call do not fit, the place is the definition of `called`.
    """
    message = " ".join(f"{type(error).__name__}: {error}".removesuffix(": ").split())[
        :LONGEST_REASON
    ]
    steps = [
        (Path(step.f_code.co_filename), line)
        for step, line in traceback.walk_tb(error.__traceback__)
        if not step.f_code.co_filename.startswith(OURS)
    ]
    code = getattr(inspect.unwrap(called), "__code__", None) if called else None
    if not steps and code:
        steps = [(Path(code.co_filename), code.co_firstlineno)]
    if not steps:
        return message
    path, line = [step for step in steps if step[0].parent == steps[0][0].parent][-1]
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"{shown}, line {line}: {message}"


def require(what: str, extra: str, *modules: str) -> None:
    """Raise a sentence with the command to install unless the libraries of an extra are there."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise CardlabError(
            f"{what} needs {' and '.join(missing)}; install with: pip install 'cardlab[{extra}]'"
        )
