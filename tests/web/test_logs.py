"""The server's log: what strangers send fills no disk and leaves no tracebacks."""

from __future__ import annotations

import logging
import sys

from cardlab.web.logs import Sparing


def test_bytes_that_are_no_text_leave_one_line() -> None:
    """The server's library logs where it was reading them, as if that were its own mistake."""
    try:
        b"\xff".decode()
    except UnicodeDecodeError:
        bytes_of_a_stranger = sys.exc_info()
    try:
        raise KeyError("a mistake of ours")
    except KeyError:
        mistake = sys.exc_info()
    for found, kept in ((bytes_of_a_stranger, False), (mistake, True)):
        record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "it failed", (), found)
        assert Sparing().filter(record)
        assert bool(record.exc_info) is kept
