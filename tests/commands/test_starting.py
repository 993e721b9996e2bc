"""What commands say, and do not say, while kernels are compiled for the first time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cardlab.engine.kernel import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")


def cardlab(folder: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command whose cache and games are in a folder, both streams in one."""
    home = {"CARDLAB_CACHE_DIR": str(folder / "kernels"), "XDG_DATA_HOME": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "cardlab", *words],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **home},
        check=True,
    )


def test_play_says_in_one_line_before_the_table_that_it_compiles(tmp_path: Path) -> None:
    words = ("play", "crazy_eights", "--seed", "3", "--adviser", "heuristic")
    lines = cardlab(tmp_path, *words, text="h\n1\n1\n1\nq\n").stdout.splitlines()
    assert lines[0].startswith("cardlab: compiling the rules and agents of Crazy Eights in the ")
    assert "compil" not in "".join(lines[1:])
    assert lines[1].startswith("╭") or lines[1].startswith("+")


def test_a_game_of_ones_own_is_compiled_before_its_table(tmp_path: Path) -> None:
    words = ("play", "tests.support.high_card:GAME", "--against", "random")
    lines = cardlab(tmp_path, *words, text="1\nq\n").stdout.splitlines()
    assert lines[0].startswith("compiling the rules and agents of ")
    assert "compil" not in "".join(lines[1:])


def test_a_first_match_has_the_result_of_a_later_one(tmp_path: Path) -> None:
    words = ("match", "crazy_eights", "random", "heuristic", "--games", "20", "--seed", "1")
    cold = cardlab(tmp_path, *words).stdout
    assert cold.split()[0] == "crazy_eights"
    usual = {**os.environ}
    warm = subprocess.run(
        [sys.executable, "-m", "cardlab", *words],
        capture_output=True,
        text=True,
        env=usual,
        check=True,
    ).stdout

    def scores(text: str) -> list[list[str]]:
        rows = [line.split()[:-1] for line in text.splitlines()]
        return [row for row in rows if row[:1] in (["random"], ["heuristic"])]

    assert scores(cold) == scores(warm) != []
