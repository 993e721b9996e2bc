"""Checks of outside agents: what each one tests, and how to fix a fault."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.agents.outside import AgentFailed, Limits, OutsideAgent, Program, dismiss_all
from cardlab.agents.random_agent import RandomAgent
from cardlab.engine import seeding
from cardlab.engine.arguments import options_in_a_dict, read_count, shorten
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game

__all__ = ["Finding", "check_program"]

ADVICE = {  # by the first word of a failure
    "crash": "it must answer every line until it reads bye; run it by hand and paste a hello line",
    "memory": "hold less, or give it more with --limits memory=MB",
    "time-out": "answer in time, one line for each hello and turn; flush standard output after it",
    "garbage": 'write one JSON object a line to standard output, such as {"type": "action", '
    '"action": 3}, and everything else to standard error',
    "flood": "write exactly one line for each hello and turn, and nothing else",
    "interference": "leave processes alone that it has not started, its parent above all",
    "illegal": "answer with the id or the text of one of the entries of legal",
}


@dataclass(frozen=True)
class Finding:
    """One check: what the program must do, whether it does, and otherwise how to fix it."""

    check: str  # what was checked, in words
    passed: bool  # whether the program keeps it
    fix: str = ""  # how to fix it; empty if it passed


@options_in_a_dict
def check_program(
    command: str,
    game: str | Game,
    *,
    options: dict[str, Any] | None = None,
    games: int = 2,
    seed: int = 0,
    limits: Limits | None = None,
) -> list[Finding]:
    """Return the findings of all checks up to the first that fails."""
    if not isinstance(command, str):
        raise CardlabError(f"command must be a text such as './my_agent', got {shorten(command)}")
    found = find_game(game)
    values = found.read_options(options)
    games, seed = read_count(games, "games"), seeding.read_seed(seed)
    spec = command if command.startswith("cmd:") else f"cmd:{command}"
    script = _Script(found, values, OutsideAgent(spec, limits), games, seed)
    findings: list[Finding] = []
    try:
        for check, run in script.checks():
            findings.append(_look(check, run))
            if not findings[-1].passed:
                break
    finally:
        dismiss_all()
    return findings


def _look(check: str, run: Callable[[], str]) -> Finding:
    try:
        fix = run()
    except AgentFailed as error:
        advice = ADVICE.get(
            str(error).partition(":")[0].split()[0], "see docs/reference/protocol.md"
        )
        last = error.log.splitlines()[-1][:200] if error.log else ""
        log = "" if last in str(error) else f" (it wrote: {last})"
        return Finding(check, False, f"{error}{log}; {advice}")
    return Finding(check, not fix, fix)


class _Script:
    """The checks, with what they share."""

    def __init__(
        self, game: Game, options: dict[str, Any], agent: OutsideAgent, games: int, seed: int
    ) -> None:
        self.game, self.options, self.agent = game, options, agent
        self.games, self.seed = games, seed
        self.seats = int(game.fresh(**options)[0].seats)

    def checks(self) -> list[tuple[str, Callable[[], str]]]:
        """Return every check in words and as a function that returns how to fix a fault."""
        seats = [
            (f"plays {self.games} games in a row on seat {seat}", self._plays_on(seat))
            for seat in range(self.seats)
        ]
        return [
            ("starts, and answers hello with ready", self._greets),
            *seats,
            ("learns of a game that another seat forfeited", self._goes_on),
            ("plays the same with the same seed", self._repeats),
            ("ends by itself when it reads bye", self._leaves),
            ("ends by itself at the end of its input", self._notices_the_end),
        ]

    def _greets(self) -> str:
        self._begin(0, self.seed)
        self.agent.end(0, [0.0] * self.seats, [0.0] * self.seats)
        return ""

    def _begin(self, seat: int, seed: int) -> None:
        rng = seeding.generator(seed, "seat", seat)
        self.agent.begin(self.game, self.options, seat, self.seats, rng)

    def _play(self, seat: int, seed: int) -> list[int]:
        table = Table(self.game, seed=seed, options=self.options)
        rngs = [seeding.generator(seed, "seat", one) for one in range(self.seats)]
        self._begin(seat, seed)
        while not table.over:
            agent = self.agent if table.mover == seat else RandomAgent()
            table.act(agent.act(table.turn(), rngs[table.mover]))
        self.agent.end(seat, table.state.returns(), table.state.points())
        return table.actions

    def _plays_on(self, seat: int) -> Callable[[], str]:
        def run() -> str:
            for number in range(self.games):
                self._play(seat, self.seed + number)
            return ""

        return run

    def _goes_on(self) -> str:
        self._begin(0, self.seed)
        lost = [0.0] * self.seats
        self.agent.end(0, lost, lost, AgentFailed("crash: as a rehearsal", seat=self.seats - 1))
        self._play(0, self.seed)
        return ""

    def _repeats(self) -> str:
        first, second = (self._play(0, self.seed) for _ in range(2))
        if first == second:
            return ""
        ply = int(np.argmax([a != b for a, b in zip(first, second, strict=False)]))
        return (
            f"two games with one deal and one seed differ from ply {ply} on; draw random numbers "
            "from the seed of hello only, and decide by counts, not by the clock, so that "
            "tournaments can be repeated"
        )

    def _leaves(self) -> str:
        program = self._start()
        if program.dismiss(self.agent.limits.move_seconds):
            return ""
        return "it still ran after bye; end the program when a message of type bye comes"

    def _notices_the_end(self) -> str:
        program = self._start()
        if program.hang_up(self.agent.limits.move_seconds):
            return ""
        return "it still ran after its input was closed; end the program there too"

    def _start(self) -> Program:
        began = time.monotonic()
        program = Program(self.agent.command, self.agent.limits)
        hello = self.agent.hello(self.game, self.options, 0, self.seats, 0)
        program.exchange(hello, self.agent.limits.start_seconds - (time.monotonic() - began))
        return program
