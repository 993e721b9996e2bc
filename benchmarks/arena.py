"""What the arena costs: games kept a minute, overhead beside thinking, the price of one game.

All in CPU time, of one process or of a program and its worker, so that a busy machine changes
little.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from cardlab.agents import outside
from cardlab.agents.outside import OutsideAgent
from cardlab.agents.program import Limits, Program
from cardlab.agents.searchers import InformationSet, UctOpen
from cardlab.arena.shard import Match, Shard, play_deals
from cardlab.arena.standings import Results
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament

ROUNDS = 5  # of which the best counts: others may use the machine
thinking = 0.0
decisions = 0


def timed(function: Callable[..., int]) -> Callable[..., int]:
    """Return a method that adds its CPU time to what agents have thought."""

    def act(*arguments: Any) -> int:
        global thinking, decisions
        began = time.process_time()
        action = function(*arguments)
        thinking += time.process_time() - began
        decisions += 1
        return action

    return act


def play(store: Store, game: str, agents: list[str], games: int) -> float:
    """Play a tournament and return its CPU seconds."""
    plan = Plan.make(game, agents, games)
    entered = enter(plan, store)
    began = time.process_time()
    play_tournament(plan, store, entered)
    return time.process_time() - began


def kept_games(store: Store) -> None:
    """Print how many games of the quickest agents are played and kept in a minute."""
    agents = ["random", "cardlab.agents.random_agent:RandomAgent"]
    for game, games in [("crazy_eights", 20_000), ("uno", 4000), ("koi_koi", 4000)]:
        play(store, game, agents, 20)
        seconds = play(store, game, agents, games)
        print(f"{game:14} random against random: {60 * games / seconds:10,.0f} kept games a minute")


def overhead(store: Store) -> None:
    """Print what the arena adds to agents that think about a millisecond."""
    global thinking, decisions
    UctOpen.act_open = timed(UctOpen.act_open)  # type: ignore[method-assign]
    InformationSet.act = timed(InformationSet.act)  # type: ignore[method-assign]
    agents = ["uct_open:4000", "information_set:2000"]
    play(store, "crazy_eights", agents, 4)
    thinking, decisions = 0.0, 0
    seconds = play(store, "crazy_eights", agents, 300)
    print(
        f"overhead at {1000 * thinking / decisions:.2f} ms a decision: "
        f"{100 * (seconds / thinking - 1):.1f} %, {1e6 * (seconds - thinking) / decisions:.0f} µs"
    )


def price(store: Store) -> None:
    """Print what a game costs the process that keeps them."""
    plan = Plan.make("crazy_eights", ["random", "heuristic"], 4096)
    entered, results = enter(plan, store), Results(plan.matches)
    chunks = [play_deals(Shard(plan.matches[0], first, 256, True)) for first in range(0, 2048, 256)]
    for name, work in [
        ("written to SQLite", lambda chunk: store.add(entered.id, chunk)),
        ("counted", results.add),
    ]:
        began = time.process_time()
        for chunk in chunks:
            work(chunk)
        print(f"a game {name}: {1e6 * (time.process_time() - began) / 4096:.1f} µs")


def programs() -> None:
    """Print what fair deals cost where a program plays: processes by seating, or by game."""
    command = f"cmd:{sys.executable} examples/careful_agent.py"
    asked = OutsideAgent._process_for
    ways = [
        ("one process, deals from the seed", any_process, {"salt": ""}, 400),
        ("a process for each seating, secret deals", asked, {}, 400),
        ("a process for each game", asked, {"limits": Limits(fresh_process=True)}, 50),
    ]
    seconds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, process_for, settings, games in ways:
            OutsideAgent._process_for = process_for  # type: ignore[method-assign]
            match = Match.plan("crazy_eights", [command, "heuristic"], games, salt="a")
            match = replace(match, **settings)
            outside.dismiss_all()
            began = sum(os.times()[:4])
            play_deals(Shard(match, 0, match.deals, True))
            outside.dismiss_all()
            seconds.setdefault(name, []).append((sum(os.times()[:4]) - began) / games)
    first = min(seconds[ways[0][0]])
    for name, values in seconds.items():
        best = min(values)
        print(f"{name:42} {1000 * best:6.2f} ms a game, {100 * (first / best - 1):+.1f} % games")


def any_process(agent: OutsideAgent, deal: int | None) -> Program:
    """Return any idle process, as if nothing were secret."""
    return outside._idle.pop() if outside._idle else Program(agent.command, agent.limits)


def main() -> None:
    """Measure everything in a store of its own."""
    with tempfile.TemporaryDirectory() as folder, Store(str(Path(folder) / "arena.db")) as store:
        kept_games(store)
        overhead(store)
        price(store)
    programs()


if __name__ == "__main__":
    main()
