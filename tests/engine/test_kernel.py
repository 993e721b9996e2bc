"""Kernels and the names of their files, with real processes; test_kernel_cache.py has the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import IntEnum
from pathlib import Path

import pytest

from cardlab.engine.kernel import (
    JIT,
    KernelError,
    digest,
    global_names,
    kernel,
    on_compile,
)


class Phase(IntEnum):
    PLAY = 1


needs_jit = pytest.mark.skipif(not JIT, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")

REPORT = """
import json, sys
from cardlab.engine import kernel
from cardlab.games import find_game
from cardlab.testing import fingerprint
prints = [fingerprint(find_game(name), {}, range(3)) for name in sys.argv[1:]]
sys.stdout.write(json.dumps([len(kernel.compiled), prints]))
"""

FACTORY = """
import sys
from cardlab.engine import kernel
from cardlab.engine.kernel import kernel as k

@k
def callee(x):
    return x + {constant}

def make(inner, bonus):
    @k
    def caller(x):
        return inner(x) + bonus
    return caller

answers = [make(callee, bonus)(1) for bonus in (10, 20)]
sys.stdout.write(repr((answers, len(kernel.compiled))))
"""


def start(code: str, cache: Path, *args: str, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CARDLAB_CACHE_DIR": str(cache), **env},
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def run(code: str, cache: Path, *args: str, **env: str) -> str:
    return finish(start(code, cache, *args, **env))


@needs_jit
def test_a_second_process_compiles_nothing_and_agrees_with_interpreted(tmp_path: Path) -> None:
    first, second = (eval(run(REPORT, tmp_path, "tests.support.high_card:GAME")) for _ in range(2))
    assert first[0] > 5
    assert second[0] == 0
    plain = eval(run(REPORT, tmp_path, "tests.support.high_card:GAME", NUMBA_DISABLE_JIT="1"))
    assert first[1] == second[1] == plain[1]


@pytest.mark.slow
@needs_jit
def test_two_games_cached_by_two_processes_keep_apart_in_a_third(tmp_path: Path) -> None:
    # Both games have kernels of the same names over records that Numba numbers alike.
    one = eval(run(REPORT, tmp_path, "tests.support.high_card:GAME"))
    other = eval(run(REPORT, tmp_path, "crazy_eights"))
    for names in (
        ("tests.support.high_card:GAME", "crazy_eights"),
        ("crazy_eights", "tests.support.high_card:GAME"),
    ):
        compiled, prints = eval(run(REPORT, tmp_path, *names))
        assert compiled == 0
        assert sorted(prints) == sorted(one[1] + other[1])


@needs_jit
def test_editing_a_callee_is_noticed_and_factories_keep_apart(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    cache = tmp_path / "cache"

    def answer(constant: int) -> tuple[list[int], int]:
        script.write_text(FACTORY.format(constant=constant))
        code = f"import runpy; runpy.run_path({str(script)!r}, run_name='script')"
        result: tuple[list[int], int] = eval(run(code, cache))
        return result

    assert answer(1) == ([12, 22], 3)
    assert answer(1) == ([12, 22], 0)
    assert answer(5) == ([16, 26], 3)
    assert answer(1) == ([12, 22], 0)


DEFAULTS = """
import sys
from cardlab.engine.kernel import kernel

@kernel
def callee(x, bonus={constant}):
    return x + bonus

@kernel
def caller(x):
    return callee(x)

sys.stdout.write(repr(caller(1)))
"""


@needs_jit
def test_editing_a_default_is_noticed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    code = f"import runpy; runpy.run_path({str(script)!r}, run_name='script')"
    for constant in (1, 5):
        script.write_text(DEFAULTS.format(constant=constant))
        assert run(code, tmp_path / "cache") == str(1 + constant)


@needs_jit
def test_a_class_of_constants_is_refused() -> None:
    @kernel
    def wrong(x: int) -> int:
        return x + Phase.PLAY

    with pytest.raises(KernelError, match="uses Phase"):
        digest(wrong)


@pytest.mark.slow
@needs_jit
def test_six_cold_processes_at_once_leave_a_usable_cache(tmp_path: Path) -> None:
    processes = [start(REPORT, tmp_path, "tests.support.high_card:GAME") for _ in range(6)]
    answers = [eval(finish(process)) for process in processes]
    assert len({answer[1][0] for answer in answers}) == 1
    assert eval(run(REPORT, tmp_path, "tests.support.high_card:GAME"))[0] == 0
    assert not list(tmp_path.glob("*.tmp"))


@needs_jit
def test_what_an_older_version_kept_is_refused_like_what_is_compiled_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(x: int) -> int:  # type: ignore[return]
        if x > 0:
            return 2

    monkeypatch.setenv("CARDLAB_CACHE_DIR", str(tmp_path))
    with monkeypatch.context() as older:
        older.setattr("cardlab.engine.kernel._refuse_missing_return", lambda *_: None)
        assert kernel(half)(1) == 2
    assert len(list(tmp_path.glob("half-*.kernel"))) == 1
    with pytest.raises(KernelError, match=r"half .* does not return a value on every path"):
        kernel(half)(1)


@needs_jit
def test_a_kernel_that_reaches_a_module_of_ours_is_refused() -> None:
    import cardlab.engine.cards

    @kernel
    def wrong(x: int) -> int:
        return x + cardlab.engine.cards.DECK

    with pytest.raises(KernelError, match="import the kernel or constant itself"):
        digest(wrong)


def twice(number: int) -> int:
    return abs(number) + abs(number)


def test_names_that_a_kernel_reaches() -> None:
    assert global_names(twice.__code__) == {"abs"}


@needs_jit
def test_who_waits_is_told_of_every_compilation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDLAB_CACHE_DIR", str(tmp_path))
    told: list[str] = []
    compiled = kernel(twice)
    with on_compile(told.append):
        assert compiled(-2) == 4
        assert compiled(3) == 6
    assert told == [f"{__name__}.twice"]
    kernel(twice)(1.5)  # another signature, but nobody listens any more
    assert len(told) == 1
