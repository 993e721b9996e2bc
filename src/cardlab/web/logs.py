"""The server's log: a line of each kind now and then, however often something happens."""

from __future__ import annotations

import logging
import time

from cardlab.show.console import plain_text

LINES = 20  # of one kind in a period
SECONDS = 60.0


class Sparing(logging.Filter):
    """Lets some lines of each kind through in every period, then says how many it left out."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is written; its kind is where it comes from and its template."""
        kind = (record.name, str(record.msg)[:80])
        if record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError):
            record.exc_info = None  # bytes that a stranger sent: where they were read says nothing
        began, count = self.seen.get(kind, (0.0, 0))
        now = time.monotonic()
        if not began or now - began > SECONDS:
            if count > LINES:
                record.msg = f"{record.getMessage()} ({count - LINES:,} more like it before)"
                record.args = ()
            began, count = now, 0
        if len(self.seen) > 1000:  # kinds are few; what makes many is left out of the memory
            self.seen.clear()
        self.seen[kind] = (began, count + 1)
        return count < LINES


class Plain(logging.Formatter):
    """Writes lines that a terminal only shows: what visitors send cannot command it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return plain_text(super().format(record))


def log_sparingly() -> None:
    """Write warnings and errors to standard error, one line of each kind now and then."""
    handler = logging.StreamHandler()
    handler.setFormatter(Plain("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(Sparing())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
