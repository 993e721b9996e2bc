"""Random games on one GPU beside one CPU core, the same games on both.

    python benchmarks/gpu.py [GAME ...]

Every game is checked first: decisions and returns of the first games must be those of the CPU, and
batches must step alike. Times are the best of several runs; a first run compiles.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from cardlab import Batch, find_game
from cardlab.engine import gpu
from cardlab.engine.playouts import Scratch, make_playouts, play_randomly
from cardlab.engine.registry import our_games
from cardlab.engine.seeding import branch, stream

CHECKED = 2000
STEPS = 200
SHAPES = ((32, 1056), (32, 4224), (64, 1056), (128, 528), (128, 1056), (128, 4096), (256, 528))


def check(name: str) -> None:
    """Compare games and batch steps with the CPU's."""
    game = find_game(name)
    played = gpu.play_randomly(game, CHECKED, seed=1)
    scratch, rng = Scratch.of(game), np.zeros(1, dtype=np.int64)
    fresh = game.fresh(**game.read_options({}))
    kernels = make_playouts(game)
    for i in range(CHECKED):
        totals = np.zeros(played.returns.shape[1])
        scratch.work[:] = fresh
        seed = branch(stream(1, "game"), i)
        made = kernels.play_one(scratch.work[0], seed, scratch.order, scratch.buffer, rng)
        assert made == played.decisions[i], (name, i)
        for seat in range(len(totals)):
            assert np.float32(game.returns(scratch.work[0], seat)) == played.returns[i, seat]
    ours, theirs = (
        Batch(game, 500, seed=2, redeal=True),
        gpu.GpuBatch(game, 500, seed=2, redeal=True),
    )
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        actions = (ours.mask * rng.random(ours.mask.shape)).argmax(1)
        ours.step(actions)
        theirs.step(actions)
    for what in ("mover", "mask", "done", "returns", "points"):
        assert (getattr(theirs, what).copy_to_host() == getattr(ours, what)).all(), (name, what)
    assert (theirs.states.copy_to_host().astype(game.state) == ours.states).all(), name


def cpu_speed(name: str) -> float:
    """Return random games a second on one core."""
    game = find_game(name)
    play_randomly(game, 100)
    games, best = 2000, 0.0
    for seed in range(5):
        began = time.process_time()
        play_randomly(game, games, seed=seed)
        took = time.process_time() - began
        best = max(best, games / took)
        games = max(games, int(0.5 * best))
    return best


def gpu_speed(name: str, games: int) -> float:
    """Return random games a second on the GPU; results stay there, as a training wants them."""
    game = find_game(name)
    best = 0.0
    for seed in range(5):
        began = time.perf_counter()
        gpu.play_randomly(game, games, seed=seed, bring=False)
        gpu.cuda.synchronize()
        best = max(best, games / (time.perf_counter() - began))
    return best


def step_speed(name: str, rows: int) -> float:
    """Return steps of single games a second in a batch that stays on the GPU."""
    game = find_game(name)
    batch = gpu.GpuBatch(game, rows, seed=3, redeal=True)
    spent, steps = 0.0, 0
    for _ in range(12):
        actions = gpu.cuda.to_device(batch.mask.copy_to_host().argmax(1).astype(np.int64))
        gpu.cuda.synchronize()
        began = time.perf_counter()
        batch.step(actions)
        gpu.cuda.synchronize()
        spent, steps = spent + time.perf_counter() - began, steps + 1
        if steps == 2:  # compiled and warm
            spent = 0.0
    return 10 * rows / spent


def main() -> None:
    """Print a line for each game, and all as JSON."""
    gpu.require_gpu()
    told, usual = {}, (gpu.THREADS, gpu.BLOCKS)
    for name in sys.argv[1:] or list(our_games()):
        began = time.perf_counter()
        check(name)
        core = cpu_speed(name)
        device = 0.0
        for threads, blocks in SHAPES:
            gpu.THREADS, gpu.BLOCKS = threads, blocks
            speed = gpu_speed(name, 1 << 23)
            print(f"{name:20} {blocks:5} blocks of {threads:4}: {speed:14,.0f} games/s", flush=True)
            device = max(device, speed)
        gpu.THREADS, gpu.BLOCKS = usual
        steps = step_speed(name, 1 << 18)
        told[name] = {"cpu games/s": core, "gpu games/s": device, "gpu steps/s": steps}
        print(
            f"{name:20} CPU core {core:12,.0f} games/s, GPU {device:14,.0f} games/s, "
            f"{device / core:6.0f} times; batch {steps:14,.0f} steps/s "
            f"({time.perf_counter() - began:.0f} s)",
            flush=True,
        )
    print(json.dumps(told))


if __name__ == "__main__":
    main()
