"""Runs agents: quick ones in the server itself, slow ones in worker processes with a fair queue.

Each worker is a separate process, so that losing one (killed, out of memory) costs one decision.
That decision is repeated in another worker and has the same result, because it carries its random
stream. The time that an agent needs is measured before it may join a table, because its parameters
do not tell.
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

QUICK = ("random", "heuristic", "tabular_q")  # need microseconds in every position
MOST_STRIKES = 3  # lost workers after which a decision is not repeated again
WARM_SECONDS = 600  # for a call that may have to compile first
MOST_TRIALS = 1024  # measured agents that are remembered
NICENESS = 10  # lower priority, so that pages are answered while agents think
Answer = TypeVar("Answer")


def check_agent(
    spec: str, game: Game, limits: Limits, outside: Mapping[str, AgentEntry] | None = None
) -> AgentEntry:
    """Return the entry of an agent that visitors may ask for.

    It is in the catalogue and within the limits, or exactly one of those named by the operator.
    """
    if outside and spec in outside:
        return outside[spec]
    name = spec.partition(":")[0]
    known = {entry.name: entry for entry in agents_for(game)}
    if name not in known:
        raise CardlabError(
            f"agent {spec!r} is not available for {game.title} here; choose one from the list"
        )
    entry = known[name]
    find_agent(spec, game)  # raises an error for wrong parameters
    defaults = {parameter.name: parameter.default for parameter in entry.parameters}
    for key, value in parameters_of(spec, entry).items():
        usual = defaults[key]
        if key in ("threads", "trees") and value > 1:
            raise CardlabError(f"{key} of agent {spec!r} must be 1 here, got {value:g}")
        if usual and value > usual * limits.budget_factor:
            raise CardlabError(
                f"{key} of agent {spec!r} may be at most {usual * limits.budget_factor:g} here, "
                f"got {value:g}"
            )
    return entry


def parameters_of(spec: str, entry: AgentEntry) -> dict[str, float]:
    """Return the parameters in an agent's name, which `find_agent` has checked."""
    found = {}
    for part in filter(None, spec.partition(":")[2].split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            key, value = entry.parameters[0].name, key
        found[key] = float(value)
    return found


def is_usual(spec: str, entry: AgentEntry) -> bool:
    """Return whether no parameter of an agent exceeds its default."""
    usual = {parameter.name: parameter.default for parameter in entry.parameters}
    return all(0 < value <= usual[key] for key, value in parameters_of(spec, entry).items())


def is_quick(spec: str) -> bool:
    """Return whether an agent answers within microseconds."""
    return spec.partition(":")[0] in QUICK


def is_open(spec: str) -> bool:
    """Return whether an agent sees all cards, which its name says."""
    return spec.partition(":")[0].endswith("_open")


@functools.lru_cache(maxsize=64)
def agent_of(spec: str, game: Game) -> Agent | OpenAgent:
    """Return an agent, made once in each process."""
    return find_agent(spec, game)


def decide(spec: str, what: Turn | State, stream: tuple[int, str | int, int]) -> int:
    """Return an agent's choice for a turn, or for a state if the agent sees all cards."""
    rng = seeding.generator(stream[0], "web", *stream[1:])
    agent = agent_of(spec, what.game)
    if isinstance(what, State):
        assert isinstance(agent, OpenAgent)
        return int(agent.act_open(what, rng))
    assert isinstance(agent, Agent)
    return int(agent.act(what, rng))


def advise(spec: str, turn: Turn, stream: tuple[int, str | int, int]) -> dict[str, Any]:
    """Return an adviser's values of all legal actions, in its own unit or as scores in %."""
    rng = seeding.generator(stream[0], "web", *stream[1:])
    adviser = agent_of(spec, turn.game)
    if isinstance(adviser, OpenAgent):
        raise CardlabError(
            f"adviser {spec} sees all cards; choose an agent that sees only your cards"
        )
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
        # One decimal, because half a percent is visible in the bars; none if all are whole.
        form = "{:.0f} %" if np.array_equal(values, values.round(), equal_nan=True) else "{:.1f} %"
        words, scale = "expected score in %; win 100, loss 0", (0.0, 100.0)
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
    """Return the seconds that an agent's first decision takes, without compilation."""
    table = Table(game, seed=0, options=options)
    what = table.state.copy() if is_open(spec) else table.turn()
    while True:
        compiled, began = len(kernel.compiled), time.perf_counter()
        decide(spec, what, (0, 0, 0))
        if compiled == len(kernel.compiled):
            return time.perf_counter() - began


def attention_json(seen: Any) -> dict[str, Any]:
    """Return the attention weights of each action to each token, by block, averaged over heads."""
    weights = np.asarray(seen.weights, dtype=float).mean(axis=1)
    return {
        "tokens": list(seen.tokens),
        "group": seen.group,
        "weights": np.round(weights, 3).tolist(),
    }


def solvable(state: State) -> bool:
    """Return whether a position can still be won, by the game's page data."""
    find = page_data_of(state.game).solvable
    return bool(find and find(state))


class AgentPool:
    """A few worker processes, each started when first needed."""

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
        """Return the result of a function in a worker; raise if it is slow or the queue is full."""
        if self.closed:
            raise Busy("the server is stopping; try again in a minute")
        limit = seconds or self.limits.decision_seconds
        async with self.queue.place(payer):
            for _ in range(MOST_STRIKES):
                worker = self.free.pop() if self.free else self._start()
                usable = False
                try:
                    future = asyncio.get_running_loop().run_in_executor(worker, function, *args)
                    answer = await asyncio.wait_for(future, limit)
                    usable = True
                    return answer
                except BrokenProcessPool:
                    continue  # repeated in a new worker
                except TimeoutError:
                    raise CardlabError(
                        f"no answer within {limit:g} seconds; try again, or choose a smaller budget"
                    ) from None
                except CardlabError:
                    usable = True
                    raise
                finally:
                    if usable and not self.closed:
                        self.free.append(worker)
                    else:  # lost, too slow, or its result is no longer needed
                        _end(worker)
            raise CardlabError(
                f"{MOST_STRIKES} worker processes in a row ended unexpectedly (killed, or out of "
                "memory); try again later"
            )

    async def try_out(
        self, spec: str, game: Game, options: dict[str, Any], entry: AgentEntry, payer: Payer
    ) -> None:
        """Refuse an agent whose first decision takes too long; default budgets are not measured."""
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
                f"agent {spec!r} is too slow here: its first decision takes {took:.0f} seconds or "
                f"more, the limit is {most:g}; choose a smaller budget"
            )

    async def _first_decision(
        self, spec: str, game: Game, options: dict[str, Any], entry: AgentEntry, payer: Payer
    ) -> float:
        """Return the seconds of a first decision, or a time above the limit if it fails."""
        small = (entry.usage, game, options)
        await self.call(first_decision, *small, seconds=WARM_SECONDS, payer=payer)
        most = 2 * self.limits.thinking_seconds
        try:
            return await self.call(first_decision, spec, game, options, seconds=most, payer=payer)
        except Busy:
            raise
        except CardlabError:  # no answer in time, or an error
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
    """Leave Ctrl-C to the server, end with it, and give it precedence."""
    become_quiet()
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)


def _end(worker: Pool) -> None:
    for process in list((worker._processes or {}).values()):
        process.kill()
    worker.shutdown(wait=False, cancel_futures=True)
