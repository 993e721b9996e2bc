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


@contextmanager
def own_server(folder: Path) -> Iterator[str]:
    """Start a server in an empty folder, yield its address, stop it."""
    programs = binaries()
    assert programs
    user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    if os.getuid() == 0:
        shutil.chown(folder, user)
    as_user = {"user": user, "group": pwd.getpwnam(user).pw_gid} if os.getuid() == 0 else {}
    data = folder / "data"

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [str(programs / program), *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=True,
            **as_user,  # type: ignore[arg-type]
        )

    kind = ("--no-locale", "--encoding=UTF8")  # whatever the shell around speaks
    run("initdb", "-D", str(data), "-U", "cardlab", "--auth=trust", "--no-sync", *kind)
    settings = f"-k {folder} -c listen_addresses='' -c fsync=off"
    run("pg_ctl", "-D", str(data), "-w", "-o", settings, "-l", str(folder / "log"), "start")
    try:
        yield f"postgresql://cardlab@/postgres?host={folder}"
    finally:
        run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
