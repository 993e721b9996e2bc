"""A full disk during `match --save`: the last whole record, one sentence, and the result."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardlab.arena.match import Match, SavingFailed, play_match
from cardlab.engine.errors import CardlabError
from cardlab.engine.records import Record, append_records, read_records

SIZE = 128 * 1024  # bytes: a few dozen games of a few hundred
MATCH = ["match", "crazy_eights", "heuristic", "random", "--games", "4000", "--workers", "1"]


def cardlab(*words: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    def shrink() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "cardlab", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
        preexec_fn=None if limit is None else shrink,
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of `SIZE` bytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def check(ended: subprocess.CompletedProcess[str], path: Path) -> None:
    """Check how a match ended, and what it left."""
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    sentence = ended.stderr.splitlines()[-1]
    assert sentence.startswith(f"cardlab: {path} cannot be written: ")
    assert "it ends with its last whole record" in sentence
    played = re.search(r"the match ended after ([\d,]+) games$", sentence)
    assert played
    assert f"{played[1]} games of 4,000 planned (stopped early)" in ended.stdout
    assert "heuristic" in ended.stdout
    saved = [record for _, record in read_records(path)]  # every line is whole
    assert 0 < len(saved) <= int(played[1].replace(",", "")) < 4000
    again = cardlab("replay", str(path), "--brief")
    assert again.returncode == 0, again.stderr
    assert f"{len(saved)} games replayed, every one as recorded" in again.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="disks of POSIX systems")
def test_a_disk_that_is_full(small_disk: Path) -> None:
    path = small_disk / "games.jsonl"
    check(cardlab(*MATCH, "--save", str(path)), path)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX systems")
def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    assert cardlab(*MATCH).returncode == 0  # compiles, so that only records are written below
    path = tmp_path / "games.jsonl"
    check(cardlab(*MATCH, "--save", str(path), limit=SIZE), path)


def test_the_error_carries_the_result(tmp_path: Path) -> None:
    saved: list[Record] = []

    def save(records: list[Record]) -> None:
        if saved:
            append_records(tmp_path / "nowhere" / "games.jsonl")
        saved.extend(records)

    match = Match.plan("crazy_eights", ["heuristic", "random"], 40)
    with pytest.raises(SavingFailed, match=r"nowhere does not exist; .* ended after") as raised:
        play_match(match, save=save)
    assert isinstance(raised.value, CardlabError)
    result = raised.value.result
    assert result.stopped
    assert len(saved) < result.games < 40
    assert sum(row.wins + row.ties + row.losses for row in result.standings) == 2 * result.games
