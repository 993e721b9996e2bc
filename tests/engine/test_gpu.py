"""The rules on a GPU: on Numba's simulator everywhere, compiled for CUDA where that is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from cardlab import find_game
from cardlab.engine.errors import CardlabError
from cardlab.engine.registry import our_games

SIMULATED = """
import json
import sys
import numpy as np
from cardlab import Batch, find_game
from cardlab.engine import gpu
from cardlab.engine.playouts import Scratch, make_playouts
from cardlab.engine.seeding import branch, stream

gpu.require_gpu = lambda: None  # the simulator needs neither GPU nor numba-cuda
gpu.THREADS = 2
game = find_game(sys.argv[1])
assert gpu.device_function(game.mover) is gpu.device_function(game.mover)  # made once
games = int(sys.argv[2])
options = json.loads(sys.argv[4])
played = gpu.play_randomly(game, games, seed=5, first=3, options=options)
scratch, rng = Scratch.of(game), np.zeros(1, dtype=np.int64)
fresh = game.fresh(**game.read_options(options))
for i in range(games):
    scratch.work[0] = fresh[0]
    seed = branch(stream(5, "game"), 3 + i)
    made = make_playouts(game).play_one(scratch.work[0], seed, scratch.order, scratch.buffer, rng)
    assert made == played.decisions[i], (i, made, played.decisions[i])
    for seat in range(int(fresh[0].seats)):
        assert np.float32(game.returns(scratch.work[0], seat)) == played.returns[i, seat]
assert played.totals()[0] == played.decisions.sum() > games

settings = {"seed": 9, "redeal": True, "options": options}
ours, theirs = Batch(game, 2, **settings), gpu.GpuBatch(game, 2, **settings)
rng = np.random.default_rng(0)
for _ in range(int(sys.argv[3])):
    actions = np.array([rng.choice(np.flatnonzero(row)) for row in ours.mask])
    ours.step(actions)
    theirs.step(actions)
    for name in ("mover", "mask", "done", "over", "returns", "points"):
        assert (getattr(theirs, name).copy_to_host() == getattr(ours, name)).all(), name
    assert (theirs.states.copy_to_host().astype(game.state) == ours.states).all()
try:
    theirs.step(np.array([-1, -1]))
except gpu.IllegalAction as error:
    assert "row 0: seat" in str(error) and "cannot take action -1" in str(error)
else:
    raise AssertionError("an illegal action was taken")
"""


@pytest.mark.parametrize("name", our_games())
def test_fields_of_every_row_lie_where_a_gpu_can_read_them(name: str) -> None:
    from cardlab.engine.gpu import aligned

    game = find_game(name)
    record = aligned(game.state)
    assert record.names == game.state.names
    for field, place in ((record[one].base, record.fields[one][1]) for one in record.names):
        assert place % field.itemsize == 0
        assert record.itemsize % field.itemsize == 0
    fresh = game.fresh(**game.read_options({}))
    assert fresh.astype(record).astype(game.state).tobytes() == fresh.tobytes()


@pytest.mark.parametrize(
    ("game", "games", "steps", "options"),
    [
        ("crazy_eights", 2, 6, {}),
        ("crazy_eights", 1, 6, {"seats": 4}),
        ("uno", 1, 4, {}),
        ("uno", 1, 4, {"rules": "official", "seats": 3}),
        ("birds_of_a_feather", 3, 6, {}),
        ("koi_koi", 1, 4, {}),
        ("koi_koi", 1, 4, {"rules": "nintendo", "rounds": 2}),
        ("cribbage", 1, 4, {}),
    ],
)
def test_the_simulator_plays_the_games_of_the_cpu(
    game: str, games: int, steps: int, options: dict[str, Any]
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SIMULATED, game, str(games), str(steps), json.dumps(options)],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def test_without_a_gpu_one_sentence_says_so() -> None:
    from cardlab.engine import gpu
    from cardlab.engine.registry import find_game

    if find_spec("numba_cuda") is not None and gpu.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(CardlabError, match=r"needs (numba_cuda; install|an NVIDIA GPU)"):
        gpu.play_randomly(find_game("uno"), 10)
    with pytest.raises(CardlabError, match="playing on a GPU needs"):
        gpu.GpuBatch(find_game("uno"), 10)


COMPILED = """
import sys
import numba
import numba.cuda.dispatcher
from numba import cuda
from cardlab import find_game
from cardlab.engine import gpu
from cardlab.engine.batch import Results, Rows

class Hopper:
    compute_capability = (9, 0)

numba.cuda.dispatcher.get_current_device = Hopper
game = find_game(sys.argv[1])
records = numba.from_dtype(gpu.aligned(game.state))[::1]
numbers, marks, floats = numba.int64[::1], numba.boolean[::1], numba.float32[:, ::1]
rows = (records, numbers, numbers, numba.int8[::1], numba.boolean[:, ::1])
rows = numba.types.NamedTuple(rows, Rows)
results = numba.types.NamedTuple((marks, floats, floats), Results)
play = (records, numba.int64, numba.int64, numba.int32[::1], floats)
begin, find_illegal, step = gpu._make_steps(game)
for kernel, arguments in (
    (gpu._make_play(game), play),
    (begin, (rows, marks)),
    (find_illegal, (numba.int8[::1], numba.boolean[:, ::1], numbers, numbers)),
    (step, (numbers, numba.boolean, records, results, rows, marks)),
):
    text, _ = cuda.compile_ptx(kernel.py_func, numba.void(*arguments), cc=(9, 0))
    assert ".visible .entry" in text
"""


@pytest.mark.skipif(
    find_spec("numba_cuda") is None, reason="the extra `gpu` (numba-cuda) is not installed"
)
@pytest.mark.parametrize("game", our_games())
def test_every_game_compiles_for_cuda(game: str) -> None:
    """No GPU is needed to compile, only to run."""
    ended = subprocess.run(
        [sys.executable, "-c", COMPILED, game], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
