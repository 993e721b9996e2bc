"""The start of a command with an empty cache: what is compiled when, and what is said about it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cardlab.agents.ahead import agent_step, batch_step, compile_ahead, table_step
from cardlab.agents.catalog import agents_for
from cardlab.arena.workers import default_workers
from cardlab.engine import kernel
from cardlab.engine.game import Game
from cardlab.engine.kernel import KernelError
from cardlab.engine.kernel_cache import is_done, mark_done
from cardlab.show.console import compiling, progress_bar, say

__all__ = ["compile_now", "match_ready", "table_ready"]

LOOK_SECONDS = 0.1  # between two looks at the helpers


@contextmanager
def table_ready(game: Game, options: dict[str, Any], agents: Sequence[str]) -> Iterator[None]:
    """Compile what a game at the terminal needs, without a word once the table is shown.

    Our games are interpreted while helpers compile them. Another game is compiled before.
    """
    steps = [table_step(game, options), *(agent_step(game, options, agent) for agent in agents)]
    with compile_ahead(steps, default_workers()) as helpers:
        if helpers:
            say(f"compiling {_what(game)} in the background, once; later starts are quick")
        elif kernel.JIT and (step := steps[0]) and not is_done(name := step.name()):
            with compiling(_what(game)), _harmless():
                step.work()
                mark_done(name)
        yield


@contextmanager
def match_ready(game: Game, options: dict[str, Any], agents: Sequence[str]) -> Iterator[None]:
    """Compile what a match needs in helpers, and say how much is left while the match waits."""
    asked = [agent_step(game, options, agent, batches=True) for agent in agents]
    with (
        compile_ahead([batch_step(game, options), *asked], default_workers()) as helpers,
        compiling(_what(game), helpers),
    ):
        yield


def compile_now(game: Game) -> int:
    """Compile all that a game and its agents need in helpers; return how many kernels they did."""
    options = game.read_options({})
    names = [entry.name for entry in agents_for(game)]
    asked = [
        agent_step(game, options, name, batches=batches)
        for batches in (False, True)
        for name in names
    ]
    steps = [table_step(game, options), batch_step(game, options), *asked]
    with compile_ahead(steps, default_workers()) as helpers, progress_bar("kernels") as progress:
        while helpers and helpers.working:
            done, total = helpers.progress()
            if done:
                progress(done, max(total, done))
            time.sleep(LOOK_SECONDS)
        return helpers.progress()[0] if helpers else 0


def _what(game: Game) -> str:
    return f"the rules and agents of {game.title}"


@contextmanager
def _harmless() -> Iterator[None]:
    """Leave a failure to the game itself, which meets it again; but not a kernel's mistake."""
    try:
        yield
    except KernelError:
        raise
    except Exception:  # whatever a person's rules raise
        return
