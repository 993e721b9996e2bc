"""The server's log, with a limited number of lines of each kind."""

from __future__ import annotations

import logging
import time

from cardlab.show.console import plain_text

LINES = 20  # most lines of one kind in a period
SECONDS = 60.0  # length of a period


class Sparing(logging.Filter):
    """Passes `LINES` lines of each kind in a period, then logs how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is written; its kind is its logger and its template."""
        kind = (record.name, str(record.msg)[:80])
        if record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError):
            record.exc_info = None  # invalid bytes from outside: the traceback is of no use
        began, count = self.seen.get(kind, (0.0, 0))
        now = time.monotonic()
        if not began or now - began > SECONDS:
            if count > LINES:
                record.msg = f"{record.getMessage()} ({count - LINES:,} similar lines left out)"
                record.args = ()
            began, count = now, 0
        if len(self.seen) > 1000:  # never with our own kinds, which are few
            self.seen.clear()
        self.seen[kind] = (began, count + 1)
        return count < LINES


class Plain(logging.Formatter):
    """Writes lines without control characters, so that visitors cannot control a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return plain_text(super().format(record))


def log_sparingly() -> None:
    """Write warnings and errors to standard error, with a limited number of each kind."""
    handler = logging.StreamHandler()
    handler.setFormatter(Plain("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(Sparing())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
