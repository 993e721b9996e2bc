"""A PostgreSQL server for tests: the one that CARDLAB_TEST_POSTGRES names, or one of our own.

Our own is started from Debian's binaries in a temporary folder, by an unprivileged user where the
tests run as root, and listens on a socket in that folder only.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MISSING = (
    "no PostgreSQL here: install Debian's package postgresql, or name a server's address in "
    "CARDLAB_TEST_POSTGRES"
)


def binaries() -> Path | None:
    """Return the folder of the newest server that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    elsewhere = shutil.which("initdb")
    return Path(elsewhere).parent if elsewhere else None


class OwnServer:
    """A server in a folder, which can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        """Lay out its data in an empty folder; `start` starts it."""
        self.folder, self.data = folder, folder / "data"
        self.address = f"postgresql://cardlab@/postgres?host={folder}"
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        kind = ("--no-locale", "--encoding=UTF8")  # whatever the shell around speaks
        self._run(
            "initdb", "-D", str(self.data), "-U", "cardlab", "--auth=trust", "--no-sync", *kind
        )

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.data), "-w", "-o", settings, "-l", log, "start")

    def stop(self) -> None:
        """Stop it at once, without a word to its clients."""
        self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        programs = binaries()
        assert programs
        user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        as_user = {"user": user, "group": pwd.getpwnam(user).pw_gid} if os.getuid() == 0 else {}
        subprocess.run(
            [str(programs / program), *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=True,
            **as_user,  # type: ignore[call-overload]
        )


@contextmanager
def own_server(folder: Path) -> Iterator[str]:
    """Start a server in an empty folder, yield its address, stop it."""
    server = OwnServer(folder)
    server.start()
    try:
        yield server.address
    finally:
        server.stop()
