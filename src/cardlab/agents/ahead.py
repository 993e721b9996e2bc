"""Kernels compiled ahead: helper processes fill the cache while a command is already at work.

Numba compiles one kernel at a time in a process, so the work is shared between processes. Each
works through some steps (play a game, ask an agent), which compile what they call. Meanwhile the
command interprets short kernels (`engine/kernel.py`) and loads what the helpers have written. What
no helper has done is compiled by the command itself: losing one costs time only. A step that was
finished is noted in the cache folder; a command whose steps are all noted starts no helper.

A helper ends with the command: its standard input is a pipe that closes with it, however it ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.engine import kernel, seeding
from cardlab.engine.batch import Batch
from cardlab.engine.game import ActsInBatches, Game, HasValues, OpenAgent
from cardlab.engine.kernel_cache import cache_folder, is_done, mark_done
from cardlab.engine.manifest import load
from cardlab.engine.play import Table, ask, ask_values
from cardlab.engine.registry import find_game, our_packages

__all__ = ["Helpers", "Step", "agent_step", "batch_step", "compile_ahead", "table_step"]

MOST_PLIES = 400  # of a game that is played to compile its kernels
SMALL_BUDGET = 2  # of an agent that is asked for its kernels' sake


@dataclass(frozen=True)
class Step:
    """A piece of work that compiles kernels: a function as `module:name`, and its arguments."""

    function: str
    game: str
    options: dict[str, Any] = field(default_factory=dict)
    agent: str = ""

    def name(self) -> str:
        """Return the name under which the cache folder notes that this step was finished.

        Options change numbers, not the types that kernels are compiled for.
        """
        text = json.dumps([self.function, self.game, self.agent])
        code = kernel.versions(find_game(self.game).bindings)
        return "ahead-" + hashlib.sha256(f"{text} {code}".encode()).hexdigest()[:40]

    def work(self) -> None:
        """Do it here."""
        run: Callable[..., None] = load(self.function)
        run(find_game(self.game), self.options, *([self.agent] if self.agent else []))


def table_step(game: Game, options: dict[str, Any]) -> Step:
    """Return the step that compiles what a table of a game needs."""
    return Step("cardlab.agents.ahead:play_table", game.identifier, options)


def batch_step(game: Game, options: dict[str, Any]) -> Step:
    """Return the step that compiles what a batch of games needs."""
    return Step("cardlab.agents.ahead:play_batch", game.identifier, options)


def agent_step(
    game: Game, options: dict[str, Any], agent: str, *, batches: bool = False
) -> Step | None:
    """Return the step that compiles what an agent needs, None for one from outside.

    It is asked with a small budget, which needs the same kernels.
    """
    name, _, rest = agent.partition(":")
    entry = next((entry for entry in agents_for(game) if entry.name == name), None)
    if entry is None:
        return None
    if entry.parameters:
        budget = entry.parameters[0].name
        parts = [part.strip() for part in rest.split(",") if "=" in part]
        kept = [part for part in parts if part.partition("=")[0].strip() != budget]
        name += ":" + ",".join([str(SMALL_BUDGET), *kept])
    how = "ask_in_batch" if batches else "ask_at_table"
    return Step(f"cardlab.agents.ahead:{how}", game.identifier, options, name)


# What the steps do


def play_table(game: Game, options: dict[str, Any]) -> None:
    """Play a game at a table, with all that a person is shown."""
    table = Table(game, seed=0, options=options)
    rng = np.random.default_rng(0)
    for _ in range(MOST_PLIES):
        if table.over:
            break
        turn = table.turn()
        turn.view.describe()
        table.act(int(rng.choice(turn.legal)))
    table.state.returns(), table.state.points()
    if table.over:
        table.state.view(0).describe()


def play_batch(game: Game, options: dict[str, Any]) -> None:
    """Play two games in step, as a match does."""
    batch = Batch(game, 2, seeds=np.arange(2), options=options)
    for _ in range(MOST_PLIES):
        waiting = np.flatnonzero(batch.mover >= 0)
        if not len(waiting):
            break
        batch.turns(waiting)
        batch.step(batch.mask.argmax(axis=1))


def ask_at_table(game: Game, options: dict[str, Any], spec: str) -> None:
    """Let an agent play a game at a table and give hints in it."""
    agent = find_agent(spec, game)
    table = Table(game, seed=0, options=options)
    rng = seeding.generator(0, "ahead")
    for _ in range(MOST_PLIES):
        if table.over:
            break
        if isinstance(agent, HasValues) and not isinstance(agent, OpenAgent):
            ask_values(agent, table.turn(), rng)
        table.act(ask(agent, table.state, rng))


def ask_in_batch(game: Game, options: dict[str, Any], spec: str) -> None:
    """Let an agent play two games in step, if it can; otherwise one at a table."""
    agent = find_agent(spec, game)
    if isinstance(agent, OpenAgent) or not isinstance(agent, ActsInBatches):
        ask_at_table(game, options, spec)
        return
    batch = Batch(game, 2, seeds=np.arange(2), options=options)
    rng = seeding.generator(0, "ahead")
    actions = np.zeros(2, dtype=np.int64)
    for _ in range(MOST_PLIES):
        waiting = np.flatnonzero(batch.mover >= 0)
        if not len(waiting):
            break
        actions[waiting] = agent.act_many(batch.turns(waiting), [rng] * len(waiting))
        batch.step(actions)


# The processes


class Helpers:
    """Processes that work through steps; `progress` says how far they are."""

    def __init__(self, steps: Sequence[Step], workers: int) -> None:
        self.begun: set[str] = set()  # kernels
        self.expected: set[str] = set()  # kernels, as far as they are known
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._rests: dict[int, bytes] = {}
        groups = [steps[first::workers] for first in range(min(workers, len(steps)))]
        try:
            for group in groups:
                self._start(group)
        except OSError:
            pass  # no process can be started: the command compiles by itself
        except BaseException:
            self.end()
            raise

    def _start(self, steps: Sequence[Step]) -> None:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "cardlab.agents.ahead"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the command alone, which ends its helpers
        )
        self._processes.append(process)
        assert process.stdin
        assert process.stdout
        rows = [[one.function, one.game, one.options, one.agent] for one in steps]
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(rows).encode() + b"\n")
            process.stdin.flush()
        with contextlib.suppress(OSError, AttributeError):
            os.set_blocking(process.stdout.fileno(), False)

    @property
    def working(self) -> bool:
        """Whether a helper is still at work."""
        return any(process.poll() is None for process in self._processes)

    def progress(self) -> tuple[int, int]:
        """Return how many kernels were begun, and how many will be, as far as that is known."""
        with self._lock:
            for process in self._processes:
                assert process.stdout
                data = b""
                with contextlib.suppress(OSError, ValueError):
                    data = process.stdout.read() or b""
                *lines, rest = (self._rests.get(process.pid, b"") + data).split(b"\n")
                self._rests[process.pid] = rest
                for line in lines:
                    kind, _, name = line.decode(errors="replace").partition(" ")
                    (self.begun if kind == "begun" else self.expected).add(name)
        return len(self.begun), len(self.begun | self.expected)

    def end(self) -> None:
        """End all helpers; what they have compiled is kept."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    with contextlib.suppress(OSError):
                        pipe.close()


@contextlib.contextmanager
def compile_ahead(steps: Sequence[Step | None], workers: int) -> Iterator[Helpers | None]:
    """Start helpers for the steps that are not noted as finished; end them afterwards.

    Meanwhile short kernels run interpreted. Without such a step the value is None.
    """
    todo: list[Step] = []
    if kernel.JIT and sys.executable and cache_folder():
        for step in steps:
            if step and step not in todo and step.game in our_packages():
                todo += [] if is_done(step.name()) else [step]
    if not todo:
        yield None
        return
    helpers = Helpers(todo, max(1, workers))
    try:
        with kernel.interpret_while(lambda: helpers.working):
            yield helpers
    finally:
        helpers.end()


def _help() -> None:
    """Work through the steps that a command has sent."""
    rows = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_command, daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):
        os.set_blocking(1, False)  # a command that does not read must not stop the work
    known: set[str] = set()

    def report(name: str) -> None:
        new = kernel.expected - known
        known.update(new)
        text = "".join(f"expect {one}\n" for one in new) + f"begun {name}\n"
        with contextlib.suppress(OSError):
            os.write(1, text.encode())

    with kernel.on_compile(report):
        for step in (Step(*row) for row in rows):
            with contextlib.suppress(Exception):  # the command will meet it and say so
                name = step.name()
                if not is_done(name):
                    step.work()
                    mark_done(name)


def _end_with_command() -> None:
    while os.read(0, 1024):  # not through `sys.stdin`, whose lock would outlive the work
        pass
    os._exit(1)


if __name__ == "__main__":
    _help()
