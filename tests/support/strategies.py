"""Input that nobody expects, for tests with hypothesis; and what any answer to it must be."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from cardlab.engine.errors import CardlabError

__all__ = ["check_sentence", "json_values", "numbers", "odd_values", "texts_near", "value_or_error"]

Value = TypeVar("Value")

ODD_TEXTS = (
    "",
    " ",
    "\0",
    "\ud800",  # half a character, as an argument that is not UTF-8 becomes
    "²",  # a digit that is no decimal
    "١",  # a decimal that is not ASCII
    "ß",  # longer in capitals
    "İ",  # longer in small letters
    "\u202e",  # turns the line round
    "\x1b[2J",  # clears a terminal
    "a\nb\r\u2028c",
    "9" * 5000,  # more digits than int() reads
    "-0",
    "1e309",
    "nan",
    "inf",
    "1_0",
    "../..",
    "%s{}%00",
)
any_text = st.text(max_size=40) | st.sampled_from(ODD_TEXTS)
numbers = (
    st.integers(-3, 60)
    | st.integers()
    | st.sampled_from([2**31, 2**63 - 1, 2**63, -(2**63), 2**64, 10**4000])
    | st.floats()
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
odd_values: st.SearchStrategy[Any] = (
    numbers | any_text | json_values | st.binary(max_size=4) | st.just(object())
)


def texts_near(words: Sequence[str], signs: str = " ,=:-.\n") -> st.SearchStrategy[str]:
    """Return texts made of words that a reader knows, in odd cases, orders and company."""
    word = st.sampled_from(words)
    piece = word | word.map(str.upper) | word.map(str.lower) | st.sampled_from(signs) | any_text
    known = st.lists(word, max_size=6).flatmap(
        lambda parts: st.sampled_from(signs).map(lambda sign: sign.join(parts))
    )
    bent = st.tuples(word, any_text, st.integers(0, 2)).map(lambda given: _bend(*given))
    return any_text | known | bent | st.lists(piece, max_size=6).map("".join)


def _bend(word: str, odd: str, place: int) -> str:
    """Return a word in which one run of letters or of digits is another text."""
    runs = list(re.finditer(r"[^\W\d]+|\d+", word))
    if not runs:
        return odd
    run = runs[place % len(runs)]
    return word[: run.start()] + odd + word[run.end() :]


def check_sentence(error: CardlabError) -> None:
    """A mistake is explained in one line, which a terminal and a page can show as it is."""
    text = str(error)
    assert text
    assert text.isprintable(), f"not one line of printable text: {text!r}"


def value_or_error(read: Callable[..., Value], *given: Any, **named: Any) -> Value | CardlabError:
    """Return what is read, or the mistake that is explained; nothing else may be raised."""
    try:
        return read(*given, **named)
    except CardlabError as error:
        check_sentence(error)
        return error
