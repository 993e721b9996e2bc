"""Kernels compiled ahead: interpreted games are the same, helpers fill the cache and end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cardlab.agents.ahead import agent_step, compile_ahead, table_step
from cardlab.engine.kernel import JIT, interpret_while, kernel, short_kernel, slow_calls
from cardlab.engine.kernel_cache import Turnstile
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game, our_games

pytestmark = pytest.mark.skipif(not JIT, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")
posix_only = pytest.mark.skipif(os.name != "posix", reason="file locks and signals of POSIX")
PATIENCE = 30  # seconds

PLAY = """
import hashlib, sys
import numpy as np
from cardlab.agents.catalog import agents_for, find_agent
from cardlab.engine import kernel
from cardlab.engine.batch import Batch
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game

def play(name):
    game = find_game(name)
    heuristic = find_agent("heuristic", game)
    digest = hashlib.sha256()
    for seed in range(2):
        table, rng = Table(game, seed=seed), np.random.default_rng(seed)
        while not table.over:
            turn = table.turn()
            digest.update(turn.view.array.tobytes() + turn.legal.tobytes())
            digest.update(repr(turn.view.describe()).encode())
            ours = seed and table.mover == 0
            table.act(heuristic.act(turn, rng) if ours else int(rng.choice(turn.legal)))
        digest.update(repr((table.state.returns(), table.state.points())).encode())
    batch = Batch(game, 3, seed=5)
    while not batch.over.all():
        digest.update(batch.states.tobytes() + batch.mask.tobytes())
        waiting = np.flatnonzero(batch.mover >= 0)
        actions = batch.mask.argmax(axis=1)
        actions[waiting] = heuristic.act_many(batch.turns(waiting), [])
        batch.step(actions)
    digest.update(batch.returns.tobytes() + batch.points.tobytes())
    return digest.hexdigest()
"""
INTERPRETED = """
with kernel.interpret_while(lambda: True):
    found = play(sys.argv[1])
at_once = ("_at", "begin", "step", "conceal_all", "find_illegal", "choose_all")
wrong = [one for one in kernel.compiled if one.partition("(")[0].endswith(at_once)]
assert kernel.slow_calls() > len(kernel.compiled) and not wrong, wrong
sys.stdout.write(found)
"""
FILLED = """
import time
from cardlab.agents.ahead import agent_step, batch_step, compile_ahead, table_step
game = find_game(sys.argv[1])
steps = [table_step(game, {}), batch_step(game, {}), agent_step(game, {}, "heuristic"),
         agent_step(game, {}, "heuristic", batches=True)]
with compile_ahead(steps, 2) as helpers:
    while helpers.working:
        begun, expected = helpers.progress()
        assert begun <= expected
        time.sleep(0.05)
    assert begun > 20
with compile_ahead(steps, 2) as helpers:
    assert helpers is None
found = play(sys.argv[1])
assert kernel.compiled == [], kernel.compiled
sys.stdout.write(found)
"""
STARTS = """
import sys, time
from cardlab.agents.ahead import compile_ahead, table_step
from cardlab.engine.registry import find_game
with compile_ahead([table_step(find_game("uno"), {})], 1) as helpers:
    sys.stdout.write(f"{helpers._processes[0].pid}\\n")
    sys.stdout.flush()
    time.sleep(60)
"""
ENTERS = """
import sys
from pathlib import Path
from cardlab.engine.kernel_cache import Turnstile
told = []
def waiting():
    if not told:
        told.append(print("waiting", flush=True))
print(Turnstile().enter(Path(sys.argv[1]), waiting))
"""


def start(code: str, *words: str, cache: Path | None = None) -> subprocess.Popen[str]:
    given = {"CARDLAB_CACHE_DIR": str(cache)} if cache else {}
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **given},
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


@pytest.mark.parametrize("game", our_games())
def test_interpreted_games_are_those_of_compiled_rules(game: str, tmp_path: Path) -> None:
    interpreted = start(PLAY + INTERPRETED, game, cache=tmp_path)
    compiled = start(PLAY + "sys.stdout.write(play(sys.argv[1]))", game)
    assert finish(interpreted) == finish(compiled)


def test_helpers_fill_the_cache_for_the_next_start(tmp_path: Path) -> None:
    filled = finish(start(PLAY + FILLED, "crazy_eights", cache=tmp_path))
    assert filled == finish(start(PLAY + "sys.stdout.write(play(sys.argv[1]))", "crazy_eights"))
    assert not list(tmp_path.glob("*.lock"))


def test_helpers_that_fail_are_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = find_game("crazy_eights")
    monkeypatch.setenv("CARDLAB_CACHE_DIR", str(tmp_path))
    for program in ("/bin/false", str(tmp_path / "nothing")):
        monkeypatch.setattr(sys, "executable", program)
        with compile_ahead([table_step(game, {})], 2) as helpers:
            assert helpers
            last = time.monotonic() + PATIENCE
            while helpers.working and time.monotonic() < last:
                time.sleep(0.01)
            assert not helpers.working
            assert Table(game, seed=1).turn().legal.size
    assert not list(tmp_path.glob("*.done"))


def test_a_damaged_step_does_not_end_a_helper(tmp_path: Path) -> None:
    rows = '[["no.module:no", "uno", {}, ""], ["cardlab.agents.ahead:play_table", "no", {}, ""]]'
    command = [sys.executable, "-m", "cardlab.agents.ahead"]
    env = {**os.environ, "CARDLAB_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=env, text=True) as helper:
        assert helper.stdin
        helper.stdin.write(rows + "\n")
        helper.stdin.flush()
        assert helper.wait(PATIENCE) == 0


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_helper_outlives_its_command(number: signal.Signals, tmp_path: Path) -> None:
    with start(STARTS, cache=tmp_path) as process:
        assert process.stdout
        helper = int(process.stdout.readline())
        os.kill(helper, 0)
        process.send_signal(number)
        process.communicate()
    last = time.monotonic() + PATIENCE
    while is_running(helper):
        assert time.monotonic() < last
        time.sleep(0.05)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")  # one that nobody waits for is no longer running
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


@posix_only
def test_one_process_compiles_and_the_others_wait(tmp_path: Path) -> None:
    path = tmp_path / "f.kernel"
    ours = Turnstile()
    assert not ours.enter(path)
    with start(ENTERS, str(path)) as other:
        assert other.stdout
        assert other.stdout.readline() == "waiting\n"
        path.touch()
        ours.leave(0)
        assert other.stdout.readline() == "True\n"


def test_steps_are_for_agents_of_the_catalogue_with_a_small_budget() -> None:
    game = find_game("uno")
    usual, other = (
        agent_step(game, {}, name) for name in ("monte_carlo", "monte_carlo:9,threads=2")
    )
    assert usual
    assert usual.agent == "monte_carlo:2"
    assert other
    assert other.agent == "monte_carlo:2,threads=2"
    assert agent_step(game, {}, "cmd:./mine") is None
    assert agent_step(game, {}, "mine:Agent") is None


def test_kernels_of_others_are_never_interpreted() -> None:
    @short_kernel
    def double(x: int) -> int:
        return 2 * x

    @kernel
    def triple(x: int) -> int:
        return 3 * x

    with interpret_while(lambda: True):
        before = slow_calls()
        assert (double(2), triple(2)) == (4, 6)
        calls = slow_calls() - before
        assert (double(2), triple(2)) == (4, 6)
        assert slow_calls() - before == calls
