"""How much memory is available, so that a batch that cannot fit is refused before it is made."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from cardlab.engine.errors import CardlabError

__all__ = ["available_memory", "memory_error", "require_memory"]

SMALL = 1 << 26  # bytes that are not worth a look at the system's files
GROUPS = Path("/sys/fs/cgroup")
# version 2 and version 1 of control groups: limit, use, and what of the use can be dropped
GROUP_FILES = (
    ("memory.max", "memory.current", ("inactive_file", "active_file")),
    (
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),
    ),
)


def require_memory(needed: int, what: str, row: int) -> None:
    """Raise a sentence unless `needed` bytes are available for `what`, in rows of `row` bytes."""
    if needed > SMALL:
        available = available_memory()
        if available is not None and needed > available:
            raise memory_error(needed, what, row, available)


def memory_error(needed: int, what: str, row: int, available: int | None = None) -> CardlabError:
    """Return the sentence about memory that is not there; None: how much there is, is unknown."""
    if available is None:
        return CardlabError(
            f"{what} needs {needed:,} bytes of memory, and so much is not available; give a "
            "smaller number"
        )
    return CardlabError(
        f"{what} needs {needed:,} bytes of memory, but {available:,} bytes are available; give at "
        f"most {available // row:,}"
    )


def available_memory() -> int | None:
    """Return the bytes of memory that this process can still get, or None if nothing says so."""
    found = [*_of_the_machine(), *_of_control_groups()]
    return max(0, min(found)) if found else None


def _of_the_machine() -> Iterator[int]:
    """Yield what the kernel calls available, elsewhere all memory of the machine."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) << 10
                return
    with contextlib.suppress(AttributeError, OSError, ValueError):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_control_groups() -> Iterator[int]:
    """Yield what the limits of this process's control groups leave, from its own group upwards."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            top = GROUPS / "memory" if controllers else GROUPS
            own = top / path.strip("/")
            for folder in (own, *own.parents):
                if folder.is_relative_to(top):
                    yield from _left_in(folder, *GROUP_FILES[bool(controllers)])


def _left_in(folder: Path, limit: str, used: str, droppable: tuple[str, ...]) -> Iterator[int]:
    """Yield the bytes that the limit of one control group leaves, if it has one."""
    with contextlib.suppress(OSError, ValueError):  # no such file, or "max"
        left = int((folder / limit).read_text()) - int((folder / used).read_text())
        for line in (folder / "memory.stat").read_text().splitlines():
            name, _, count = line.partition(" ")
            left += int(count) if name in droppable else 0
        yield left
