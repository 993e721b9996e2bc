"""The files of compiled kernels: written whole, and checked before they are read.

A file holds machine code in a pickle. If a bit of it is flipped, the process that reads it is
killed by a signal that no `except` can catch; a person who can write it can run any code in that
process. So every file begins with a digest of its name and content, and it is used only if nobody
but this user or root can have written it or its folder.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from cardlab.engine.arguments import read_path
from cardlab.engine.errors import CardlabError, CardlabWarning
from cardlab.engine.private_folders import distrust, temporary_folder

try:
    import fcntl
except ImportError:  # Windows: several processes may compile the same kernel
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "Turnstile",
    "cache_folder",
    "is_done",
    "mark_done",
    "prune_cache",
    "read_kernel",
    "write_kernel",
]

KEEP_DAYS = 30
MOST_WAIT = 120.0  # seconds for which one process waits for a kernel of another
WAIT_STEP = 0.02
SETTINGS = ("CARDLAB_CACHE_DIR", "HOME", "XDG_CACHE_HOME")  # the folder depends on these
MARK = b"cardlab kernel\n"
HEAD = len(MARK) + hashlib.sha256().digest_size
NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

_warned: set[str] = set()


def cache_folder() -> Path | None:
    """Return the folder of compiled kernels: `CARDLAB_CACHE_DIR` or the user's cache folder.

    If others can write to that folder or it cannot be made, it is a private folder for temporary
    files instead, or None if there is none.
    """
    return _folder_for(*(os.environ.get(name) for name in SETTINGS))


def prune_cache(folder: str | Path | None = None, *, days: float = KEEP_DAYS) -> int:
    """Delete kernels that no process has used for `days`, and return their number."""
    folder = cache_folder() if folder is None else read_path(folder, "folder")
    oldest = time.time() - days * 86400
    removed = 0
    for path in folder.glob("*.kernel*") if folder else ():
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
                removed += 1
    return removed


def read_kernel(path: Path) -> memoryview | None:
    """Return the kernel in a file, or None if the file is missing, damaged or not trusted."""
    try:
        with open(os.open(path, os.O_RDONLY | NO_LINKS), "rb") as file:
            if distrust(os.fstat(file.fileno())):
                return None  # compiled again, and replaced
            content = file.read()
            if os.utime in os.supports_fd:
                with contextlib.suppress(OSError):
                    os.utime(file.fileno())  # used: pruning goes by this time
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_once("reading", f"{path} cannot be read ({error.strerror}) and is compiled again")
        return None
    kept = memoryview(content)[HEAD:]
    if content[:HEAD] != MARK + _digest(path, kept):
        _warn_once("reading", f"the compiled kernel {path} was damaged and is compiled again")
        return None
    return kept


def write_kernel(path: Path, data: bytes) -> None:
    """Write a compiled kernel to its file; if that fails, warn once and continue."""
    temporary = ""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(suffix=".kernel.tmp", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(MARK + _digest(path, data))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power cut leaves the name without the content
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        _warn_uncached(f"cannot be kept in {path.parent} ({error.strerror})")


def is_done(name: str) -> bool:
    """Return whether `mark_done` was called for a name with this cache folder."""
    folder = cache_folder()
    path = folder / f"{name}.kernel.done" if folder else None
    if path is None or not path.exists():
        return False
    with contextlib.suppress(OSError):
        os.utime(path)  # used: pruning goes by this time
    return True


def mark_done(name: str) -> None:
    """Note in the cache folder that something has been compiled completely."""
    folder = cache_folder()
    if folder:
        with contextlib.suppress(OSError):
            (folder / f"{name}.kernel.done").touch()


class Turnstile:
    """Lets one process at a time compile a kernel; the others wait and load the result.

    A process holds what it compiles and what calls it, and waits only for what these call, so no
    two processes can wait for each other. A lock ends with its process. Where files cannot be
    locked, or after a long wait, several processes compile the same kernel: that costs time only.
    """

    def __init__(self) -> None:
        self._held: list[tuple[Path, int]] = []  # under the compiler's own lock

    def enter(self, path: Path, waiting: Callable[[], None] = lambda: None) -> bool:
        """Take the lock of a kernel; return whether another process had it before.

        `waiting` is called while another process has it.
        """
        if fcntl is None:
            return False
        waited = False
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(_lock_path(path), os.O_RDWR | os.O_CREAT | NO_LINKS, 0o600)
        except OSError:
            return False
        last = time.monotonic() + MOST_WAIT
        try:
            while time.monotonic() < last:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    waited = True
                    waiting()
                    time.sleep(WAIT_STEP)
                    continue
                self._held.append((path, handle))
                return waited or path.exists()
        except OSError:
            pass  # a file system without locks
        except BaseException:  # Ctrl-C
            os.close(handle)
            raise
        os.close(handle)
        return waited

    def mark(self) -> int:
        """Return a number for `leave`."""
        return len(self._held)

    def leave(self, mark: int) -> None:
        """Give up all locks that were taken since `mark`, as after an error."""
        while len(self._held) > mark:
            self.leave_one(self._held[-1][0])

    def leave_one(self, path: Path) -> None:
        """Give up the lock of a kernel, if it is held."""
        for place in range(len(self._held) - 1, -1, -1):
            if self._held[place][0] == path:
                handle = self._held.pop(place)[1]
                with contextlib.suppress(OSError):
                    os.unlink(_lock_path(path))
                os.close(handle)
                return


def _lock_path(path: Path) -> str:
    return f"{path}.lock"


def _digest(path: Path, data: bytes | memoryview) -> bytes:
    """Return the digest of a kernel and its name, so that a renamed file is not used."""
    digest = hashlib.sha256(path.name.encode() + b"\0")
    digest.update(data)
    return digest.digest()


@functools.lru_cache
def _folder_for(chosen: str | None, *_others: str | None) -> Path | None:
    """Return the folder for these settings; warn if it is not the first choice."""
    if chosen:
        folder = Path(chosen)
    else:
        from platformdirs import user_cache_path  # not needed where the folder is chosen

        try:
            folder = user_cache_path("cardlab", appauthor=False)
        except RuntimeError:  # what newer versions of it raise
            folder = Path("~")
        if not folder.is_absolute():  # a user without a home would get a folder named ~
            return _instead_of("~/.cache", "there is no home folder")
    reason = _reason_against(folder, ours=not chosen)
    return _instead_of(str(folder), reason) if reason else folder


def _reason_against(folder: Path, *, ours: bool) -> str:
    """Return why kernels cannot be kept in a folder, or ''; the folder is made if needed."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if ours and hasattr(os, "geteuid") and found.st_uid == os.geteuid():
            # Nobody but cardlab uses it. Files that others have put there show their owner.
            folder.chmod(stat.S_IMODE(found.st_mode) & 0o755)
            found = folder.stat()
    except OSError as error:
        return error.strerror or str(error)
    return distrust(found) or ("" if os.access(folder, os.R_OK | os.X_OK) else "it is closed")


def _instead_of(folder: str, reason: str) -> Path | None:
    """Return the private folder that replaces another, and warn once."""
    try:
        private = temporary_folder() / "kernels"
        private.mkdir(mode=0o700, exist_ok=True)
    except (CardlabError, OSError):
        _warn_uncached(f"are not kept in {folder} ({reason})")
        return None
    _warn_once(
        "folder",
        f"compiled kernels are kept in {private}, not in {folder} ({reason}); name a folder of "
        "your own that nobody else can write to in CARDLAB_CACHE_DIR",
    )
    return private


def _warn_uncached(what: str) -> None:
    _warn_once(
        "folder",
        f"compiled kernels {what}; every start will compile again until CARDLAB_CACHE_DIR names a "
        "folder of your own that can be written to",
    )


def _warn_once(about: str, text: str) -> None:
    """Warn in one line, once for each kind of problem."""
    if about not in _warned:
        _warned.add(about)
        warnings.warn(text, CardlabWarning, stacklevel=2)
