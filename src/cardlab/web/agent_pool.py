"""Agents at work: quick ones answer at once, heavy ones in worker processes with a bounded queue.

Each worker is a process of its own, so that the loss of one (killed, out of memory) costs one
decision, which is asked again elsewhere: decisions carry their random stream and come out alike.
"""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.arena.workers import Pool, become_quiet
from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Agent, Game, HasValues, OpenAgent, State, Turn
from cardlab.engine.manifest import AgentEntry
from cardlab.engine.play import ask_values
from cardlab.web.limits import Limits
from cardlab.web.page_data import page_data_of

QUICK = ("random", "heuristic", "tabular_q")  # microseconds, no matter in which position
MOST_STRIKES = 3  # workers that a decision may be lost with before it is given up
Answer = TypeVar("Answer")


class Busy(CardlabError):
    """Too many decisions wait already."""


def check_agent(
    spec: str, game: Game, limits: Limits, outside: Mapping[str, AgentEntry] | None = None
) -> AgentEntry:
    """Return the entry of an agent that strangers may ask for.

    It is of the catalogue and not too heavy, or one of those from outside, to the letter.
    """
    if outside and spec in outside:
        return outside[spec]
    name = spec.partition(":")[0]
    known = {entry.name: entry for entry in agents_for(game)}
    if name not in known:
        raise CardlabError(
            f"agent {spec!r} does not play {game.name} here; choose one of the list of agents"
        )
    entry = known[name]
    find_agent(spec, game)  # complains about parameters
    usual = {parameter.name: parameter.default for parameter in entry.parameters}
    first = next(iter(usual), None)
    for place, part in enumerate(spec.partition(":")[2].split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            key, value = (first or "", part.strip()) if place == 0 else ("", "")
        most = usual.get(key, 0) * limits.budget_factor
        if key == first and value and most and float(value) > most:
            raise CardlabError(f"agent {spec!r} would think too long; use at most {name}:{most:g}")
        if key in ("threads", "trees") and float(value) > 1:
            raise CardlabError(f"agent {spec!r}: {key} other than 1 are not served here")
    return entry


def is_quick(spec: str) -> bool:
    """Return whether an agent answers within microseconds."""
    return spec.partition(":")[0] in QUICK


def is_open(spec: str) -> bool:
    """Return whether an agent sees all cards; by its name."""
    return spec.partition(":")[0].endswith("_open")


@functools.lru_cache(maxsize=64)
def agent_of(spec: str, game: Game) -> Agent | OpenAgent:
    """Return an agent, made once in each process."""
    return find_agent(spec, game)


def decide(spec: str, what: Turn | State, stream: tuple[int, str | int, int]) -> int:
    """Return the choice of an agent from a turn, or from the state if it is an open one."""
    rng = seeding.generator(stream[0], "web", *stream[1:])
    agent = agent_of(spec, what.game)
    if isinstance(what, State):
        assert isinstance(agent, OpenAgent)
        return int(agent.act_open(what, rng))
    assert isinstance(agent, Agent)
    return int(agent.act(what, rng))


def advise(spec: str, turn: Turn, stream: tuple[int, str | int, int]) -> dict[str, Any]:
    """Return what an adviser thinks of every legal action, in its own unit or as scores in %."""
    rng = seeding.generator(stream[0], "web", *stream[1:])
    adviser = agent_of(spec, turn.game)
    if isinstance(adviser, OpenAgent):
        raise CardlabError(f"{spec} sees all cards; hints come from agents that do not")
    attention = getattr(adviser, "attention", None)
    advice: dict[str, Any] = {
        "values": None,
        "unit": None,
        "scale": None,
        "attention": attention_json(attention(turn)) if callable(attention) else None,
    }
    if not isinstance(adviser, HasValues):
        return {**advice, "best": int(adviser.act(turn, rng))}
    values = ask_values(adviser, turn, rng)
    best = int(turn.legal[int(np.nan_to_num(values, nan=-np.inf).argmax())])
    unit = getattr(adviser, "unit", None)
    if unit is None:
        seats = max(2, int(turn.view.seats))
        values = 100 * ((1 + (seats - 1) * values) / seats).clip(0, 1)
        # Bars tell half a percent apart, so figures do too, unless all of them are whole.
        form = "{:.0f} %" if np.array_equal(values, values.round(), equal_nan=True) else "{:.1f} %"
        words, scale = "expected score in %, a win counts as 100", (0.0, 100.0)
    else:
        words, form, scale = unit.words, unit.form, unit.limits
    rows = [
        {"value": round(value, 3), "shown": form.format(value)}
        if np.isfinite(value)
        else {"value": None, "shown": "unknown"}
        for value in values.tolist()
    ]
    return {**advice, "values": rows, "best": best, "unit": words, "scale": scale}


def attention_json(seen: Any) -> dict[str, Any]:
    """Return how much every action draws from every token, by block, the mean of all heads."""
    weights = np.asarray(seen.weights, dtype=float).mean(axis=1)
    return {
        "tokens": list(seen.tokens),
        "group": seen.group,
        "weights": np.round(weights, 3).tolist(),
    }


def solvable(state: State) -> bool:
    """Return whether a position can still be won, as the game's page data finds out."""
    find = page_data_of(state.game).solvable
    return bool(find and find(state))


class AgentPool:
    """A few worker processes, started when first needed."""

    def __init__(self, workers: int, limits: Limits) -> None:
        self.limits = limits
        self.workers = max(1, workers)
        self.free: list[Pool] = []
        self.started = 0
        self.waiting = 0
        self.room = asyncio.Semaphore(self.workers)
        self.closed = False

    async def call(
        self, function: Callable[..., Answer], *args: Any, seconds: float | None = None
    ) -> Answer:
        """Return what a function answers in a worker; too many at once, or too slow, is refused."""
        if self.closed:
            raise Busy("the server is closing; try again in a moment")
        if self.waiting >= self.limits.waiting:
            raise Busy("too many decisions wait already; try again in a moment")
        limit = seconds or self.limits.decision_seconds
        self.waiting += 1
        try:
            await self.room.acquire()
        finally:
            self.waiting -= 1
        try:
            for _ in range(MOST_STRIKES):
                worker = self.free.pop() if self.free else self._start()
                kept = False
                try:
                    future = asyncio.get_running_loop().run_in_executor(worker, function, *args)
                    answer = await asyncio.wait_for(future, limit)
                    kept = True
                    return answer
                except BrokenProcessPool:
                    continue  # asked again, of a new worker
                except TimeoutError:
                    raise CardlabError(f"no answer came within {limit:g} seconds") from None
                except CardlabError:
                    kept = True
                    raise
                finally:
                    if kept and not self.closed:
                        self.free.append(worker)
                    else:  # lost, too slow, or nobody waits for it any more
                        _end(worker)
            raise CardlabError(
                "a worker process ended unexpectedly, again and again (killed, or out of memory)"
            )
        finally:
            self.room.release()

    def close(self) -> None:
        """End all workers."""
        self.closed = True
        while self.free:
            _end(self.free.pop())

    def _start(self) -> Pool:
        self.started += 1
        return Pool(1, _lower_priority)


def _lower_priority() -> None:
    """Leave Ctrl-C to the server, go when it goes, and let it come first."""
    become_quiet()
    with suppress(OSError, AttributeError):
        os.nice(5)  # the page goes on answering while agents think


def _end(worker: Pool) -> None:
    for process in list((worker._processes or {}).values()):
        process.kill()
    worker.shutdown(wait=False, cancel_futures=True)
