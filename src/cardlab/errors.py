"""What can go wrong for a person: one sentence with the input, the place and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib.util import find_spec

__all__ = ["CardlabError", "CardlabWarning", "IllegalAction", "require", "suggest"]


class CardlabError(ValueError):
    """A mistake in what was asked; the text is fit to be shown to the person who asked."""


class IllegalAction(CardlabError):
    """An action that the rules do not allow in this state."""


class CardlabWarning(UserWarning):
    """Something works less well than it could; the text says what to do."""


def suggest(what: str, given: str, known: Iterable[str]) -> str:
    """Return a sentence about an unknown name, with the nearest known one or all of them."""
    names = sorted(known)
    if not names:
        return f"unknown {what} {given!r}; there are none"
    near = difflib.get_close_matches(given.lower(), names, n=1, cutoff=0.5)
    if near:
        return f"unknown {what} {given!r}; did you mean {near[0]!r}?"
    return f"unknown {what} {given!r}; known: {', '.join(names)}"


def require(what: str, extra: str, *modules: str) -> None:
    """Make sure that the libraries of an extra are installed before `what` starts."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise CardlabError(
            f"{what} needs {' and '.join(missing)}; install with: pip install 'cardlab[{extra}]'"
        )
