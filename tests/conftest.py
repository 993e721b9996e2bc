"""What tests share: games, a database server, an empty store."""

from __future__ import annotations

import os
import re
import tempfile
import uuid
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

# One thread for each worker: torch's would wait for each other on cores that others use.
os.environ["OMP_NUM_THREADS"] = "1"

import pytest
from hypothesis import HealthCheck, settings

from cardlab.engine.game import Game
from cardlab.engine.registry import find_game
from tests.support import postgres
from tests.support.paths import ROOT

TORCH = find_spec("torch") is not None
NEEDS_TORCH = re.compile(r"^import torch$", re.MULTILINE)

# Properties are tried on the same few examples each time, or on as many new ones as are asked for.
EXAMPLES = os.environ.get("CARDLAB_EXAMPLES")
settings.register_profile(
    "cardlab",
    max_examples=int(EXAMPLES or 50),
    derandomize=EXAMPLES is None,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
settings.load_profile("cardlab")


def pytest_configure() -> None:
    """Processes print without colours, find `tests.support`, and ask local servers directly."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        os.environ.pop(name, None)
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1,localhost"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no worker is left alone with it at the end."""

    def order(item: pytest.Item) -> tuple[bool, bool]:
        return not item.get_closest_marker("xdist_group"), not item.get_closest_marker("slow")

    items.sort(key=order)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the tests of trainings where the extra `train` is not installed."""
    if TORCH or collection_path.suffix != ".py":
        return None
    return bool(NEEDS_TORCH.search(collection_path.read_text(encoding="utf-8"))) or None


@pytest.fixture(scope="session")
def crazy_eights() -> Game:
    return find_game("crazy_eights")


@pytest.fixture(scope="session")
def high_card() -> Game:
    return find_game("tests.support.high_card:GAME")


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real PostgreSQL server; without one its tests are skipped."""
    given = os.environ.get("CARDLAB_TEST_POSTGRES")
    if given:
        yield given
    elif postgres.binaries() is None:
        pytest.skip(postgres.MISSING)
    else:
        with (
            tempfile.TemporaryDirectory(prefix="cardlab-pg-") as folder,  # short: for a socket
            postgres.own_server(Path(folder)) as address,
        ):
            yield address


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def store_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty store, of each kind in turn."""
    if request.param == "sqlite":
        yield str(tmp_path / "arena.db")
        return
    import sqlalchemy

    server = request.getfixturevalue("postgres_server")
    url = sqlalchemy.make_url(server.replace("postgresql://", "postgresql+psycopg://", 1))
    name = f"cardlab_{uuid.uuid4().hex}"
    engine = sqlalchemy.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as at:
        at.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    yield url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
    with engine.connect() as at:
        at.execute(sqlalchemy.text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line each what was not tested for want of a server or a browser."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(postgres.MISSING in str(one.longrepr) for one in skipped)
    if count:
        terminalreporter.write_line(f"{count} tests skipped: {postgres.MISSING}")
    lacking = [str(one.longrepr[2]) for one in skipped if isinstance(one.longrepr, tuple)]
    for reason in sorted({one for one in lacking if "no browser tests" in one}):
        told = reason.removeprefix("Skipped: ")
        terminalreporter.write_line(f"{lacking.count(reason)} tests skipped: {told}")
