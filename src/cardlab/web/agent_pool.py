"""Agents at work: quick ones answer at once, heavy ones in worker processes with a fair queue.

Each worker is a process of its own, so that the loss of one (killed, out of memory) costs one
decision, which is asked again elsewhere: decisions carry their random stream and come out alike.
What an agent costs is measured before it is let in: its parameters do not say.
"""

from __future__ import annotations

import asyncio
import functools
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.arena.workers import Pool, become_quiet
from cardlab.engine import kernel, seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Agent, Game, HasValues, OpenAgent, State, Turn
from cardlab.engine.manifest import AgentEntry
from cardlab.engine.play import Table, ask_values
from cardlab.web.fair_queue import SERVER, Busy, FairQueue, Payer
from cardlab.web.limits import Limits
from cardlab.web.page_data import page_data_of

QUICK = ("random", "heuristic", "tabular_q")  # microseconds, no matter in which position
MOST_STRIKES = 3  # workers that a decision may be lost with before it is given up
WARM_SECONDS = 600  # for what may have to compile first
MOST_TRIALS = 1024  # costs of agents that are remembered
NICENESS = 10  # the page goes on answering while agents think
Answer = TypeVar("Answer")


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
    for key, value in parameters_of(spec, entry).items():
        usual = next(one.default for one in entry.parameters if one.name == key)
        if key in ("threads", "trees") and value > 1:
            raise CardlabError(f"agent {spec!r}: {key} other than 1 are not served here")
        if usual and value > usual * limits.budget_factor:
            raise CardlabError(
                f"agent {spec!r} would think too long; use at most "
                f"{key}={usual * limits.budget_factor:g}"
            )
    return entry


def parameters_of(spec: str, entry: AgentEntry) -> dict[str, float]:
    """Return the parameters that a name sets, which `find_agent` has found right."""
    found = {}
    for part in filter(None, spec.partition(":")[2].split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            key, value = entry.parameters[0].name, key
        found[key] = float(value)
    return found


def is_usual(spec: str, entry: AgentEntry) -> bool:
    """Return whether an agent is asked for no more than it usually does."""
    usual = {one.name: one.default for one in entry.parameters}
    return all(0 < value <= usual[key] for key, value in parameters_of(spec, entry).items())


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


def first_decision(spec: str, game: Game, options: dict[str, Any]) -> float:
    """Return the seconds that an agent's first decision of a game takes, compilation aside."""
    table = Table(game, seed=0, options=options)
    what = table.state.copy() if is_open(spec) else table.turn()
    while True:
        compiled, began = len(kernel.compiled), time.perf_counter()
        decide(spec, what, (0, 0, 0))
        if compiled == len(kernel.compiled):
            return time.perf_counter() - began


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
        self.queue = FairQueue(self.workers, limits)
        self.trials: OrderedDict[Any, asyncio.Future[float]] = OrderedDict()
        self.closed = False

    @property
    def waiting(self) -> int:
        """How many decisions wait for a worker."""
        return self.queue.waiting

    async def call(
        self,
        function: Callable[..., Answer],
        *args: Any,
        seconds: float | None = None,
        payer: Payer = SERVER,
    ) -> Answer:
        """Return what a function answers in a worker; too many at once, or too slow, is refused."""
        if self.closed:
            raise Busy("the server is closing; try again in a moment")
        limit = seconds or self.limits.decision_seconds
        async with self.queue.place(payer):
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

    async def try_out(
        self, spec: str, game: Game, options: dict[str, Any], entry: AgentEntry, payer: Payer
    ) -> None:
        """Refuse an agent whose first decision takes too long; what is usual need not be tried."""
        if is_quick(spec) or is_usual(spec, entry):
            return
        key = (spec, game.name, tuple(sorted(options.items())))
        trial = self.trials.get(key)
        if trial is None or (trial.done() and (trial.cancelled() or trial.exception())):
            trial = asyncio.ensure_future(self._first_decision(spec, game, options, entry, payer))
            self.trials[key] = trial
            if len(self.trials) > MOST_TRIALS:
                self.trials.popitem(last=False)
        took, most = await asyncio.shield(trial), self.limits.thinking_seconds
        if took > most:
            raise CardlabError(
                f"agent {spec!r} would think too long: {took:.0f} seconds or more for its first "
                f"decision, {most:g} are the most here; use a smaller budget"
            )

    async def _first_decision(
        self, spec: str, game: Game, options: dict[str, Any], entry: AgentEntry, payer: Payer
    ) -> float:
        """Return the seconds of a first decision, or a time that is too long."""
        small = (entry.usage, game, options)
        await self.call(first_decision, *small, seconds=WARM_SECONDS, payer=payer)
        most = 2 * self.limits.thinking_seconds
        try:
            return await self.call(first_decision, spec, game, options, seconds=most, payer=payer)
        except Busy:
            raise
        except CardlabError:  # no answer in time, or none at all
            return most

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
        os.nice(NICENESS)


def _end(worker: Pool) -> None:
    for process in list((worker._processes or {}).values()):
        process.kill()
    worker.shutdown(wait=False, cancel_futures=True)
