"""How public functions read their arguments: options in one dict, paths as text, numbers, kinds."""

from __future__ import annotations

import functools
import inspect
import math
import os
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import Path
from typing import ParamSpec, TypeVar

from cardlab.engine.errors import CardlabError

__all__ = [
    "options_in_a_dict",
    "read_count",
    "read_function",
    "read_kind",
    "read_number",
    "read_path",
    "read_text",
    "shorten",
]

P = ParamSpec("P")
R = TypeVar("R")
Kind = TypeVar("Kind")
SHOWN = 60  # characters of a wrong argument in a message
MOST = 2**63 - 1  # what a signed 64-bit integer holds


def shorten(given: object) -> str:
    """Return a wrong argument as a message quotes it: its repr, cut to a readable length."""
    try:
        text = repr(given)
    except Exception:  # an object that cannot even describe itself
        text = f"an object of type {type(given).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def options_in_a_dict(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function that takes `options`: an unknown keyword is answered with the dict.

    Every public function takes the options of a game as `options={...}`, never as keywords.
    """
    known = frozenset(inspect.signature(function).parameters)
    name = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if not kwargs.keys() <= known:
            loose = {key: value for key, value in kwargs.items() if key not in known}
            written = ", ".join(f"{key!r}: {shorten(value)}" for key, value in loose.items())
            raise CardlabError(
                f"{name} has no argument {', '.join(loose)}; give options of the game in one dict: "
                f"options={{{written}}}"
            )
        return function(*args, **kwargs)

    return checked


def read_count(given: object, name: str, lowest: int = 1, highest: int = MOST) -> int:
    """Return an argument that must be a whole number in a range."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise CardlabError(f"{name} must be a whole number, got {shorten(given)}")
    number = int(given)
    if number < lowest:
        raise CardlabError(f"{name} must be at least {lowest}, got {number}")
    if number > highest:
        raise CardlabError(f"{name} must be at most {highest:,}, got {number}")
    return number


def read_number(given: object, name: str) -> float:
    """Return an argument that must be a finite number."""
    if isinstance(given, bool) or not isinstance(given, Real) or not math.isfinite(given):
        raise CardlabError(f"{name} must be a number, got {shorten(given)}")
    return float(given)


def read_text(given: object, name: str, example: str) -> str:
    """Return an argument that must be a text; `example` is one as a person would write it."""
    if not isinstance(given, str):
        raise CardlabError(f"{name} must be a text such as {example!r}, got {shorten(given)}")
    return given


def read_kind(given: object, kind: type[Kind], name: str, way: str) -> Kind:
    """Return an argument that must be an object of a class; `way` says how to get one."""
    if not isinstance(given, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise CardlabError(f"{name} must be {article} {kind.__name__}, got {shorten(given)}; {way}")
    return given


def read_function(given: object, name: str) -> None:
    """Check an argument that must be a function, or None for none."""
    if given is not None and not callable(given):
        raise CardlabError(f"{name} must be a function, got {shorten(given)}")


def read_path(given: object, name: str = "path") -> Path:
    """Return a path that was given as text or as a `Path`."""
    if not isinstance(given, (str, os.PathLike)) or not isinstance(os.fspath(given), str):
        raise CardlabError(f"{name} must be a text or a pathlib.Path, got {shorten(given)}")
    text = os.fspath(given)
    try:
        named = bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:  # half a character, which no file system can hold
        named = False
    if not named:
        raise CardlabError(f"{name} {shorten(text)} cannot name a file; give a path")
    return Path(text)
