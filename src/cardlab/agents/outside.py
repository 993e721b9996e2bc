"""Agents that are programs: they exchange JSON lines with cardlab on their standard streams.

    cardlab                                   agent
    {"type": "hello", "game": ..., ...}   ->
                                          <-  {"type": "ready"}
    {"type": "turn", "view": ..., ...}    ->
                                          <-  {"type": "action", "action": 17}    an id or a text
    {"type": "result", ...}               ->
    {"type": "bye"}                       ->  (ends)

docs/reference/protocol.md describes every field. A process plays one game after another, but no
deal twice: it could use what it saw in one seating in the next. So a worker has a process for each
seating, or with `fresh_process` one for each game. A program that makes a mistake loses the game
that it plays and no other: it is killed with all processes that it has started, and started again
for the next game.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from os.path import isfile as is_file  # False for what cannot be a name, too
from typing import Any, NoReturn

import numpy as np

from cardlab.agents.program import DEFAULT_LIMITS, FLOOD, AgentFailed, Limits, Program
from cardlab.engine.arguments import read_text, shorten
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game, Turn

__all__ = [
    "DEFAULT_LIMITS",
    "PROTOCOL",
    "AgentFailed",
    "Limits",
    "OutsideAgent",
    "Program",
    "as_command",
    "dismiss_all",
]

PROTOCOL = 1
PREFIX = "cmd:"
INTERPRETER = re.compile(r"(python|pypy)[0-9.]*|(ba|da|z|k)?sh|node")
SCRIPT = re.compile(r"\.(py|sh|js)$")
MOST_FAILURES = 5  # to start or to answer in time, in a row; after that a program is not asked
MOST_IDLE = 32  # processes of a worker that wait for their next game

_idle: list[Program] = []  # the one that has waited longest comes first
_failures: dict[tuple[str, ...], tuple[int, str]] = {}


@atexit.register
def dismiss_all() -> None:
    """End all programs that wait for their next game, and forget which programs failed."""
    for program in _idle:
        program.dismiss()
    _idle.clear()
    _failures.clear()


class OutsideAgent:
    """An agent that is a program; `begin` and `end` enclose every game."""

    def __init__(self, spec: str, limits: Limits | None = None) -> None:
        """Read the command after `cmd:` and check that its program exists."""
        self.name = read_text(spec, "command", "cmd:./my_agent")
        self.limits = check_limits(limits)
        self.command = read_command(spec)
        self._games: dict[int, tuple[Program, float]] = {}  # by seat: program, seconds left

    def __reduce__(self) -> tuple[Any, ...]:
        return (OutsideAgent, (self.name, self.limits))

    def begin(
        self,
        game: Game,
        options: dict[str, Any],
        seat: int,
        seats: int,
        rng: np.random.Generator,
        deal: int | None = None,
    ) -> None:
        """Tell a process that a game begins, and wait until it is ready.

        `deal` is a number that stands for the cards; a process that has seen it is not used.
        """
        count, last = _failures.get(self.command, (0, ""))
        if count >= MOST_FAILURES:
            raise AgentFailed(f"not asked any more after {count} failures in a row ({last})", seat)
        program = self._process_for(deal)
        self._games[seat] = (program, self.limits.game_seconds)
        hello = self.hello(game, options, seat, seats, int(rng.integers(1 << 31)))
        try:
            answer = self._ask(seat, hello, self.limits.start_seconds)
            if answer["type"] != "ready":
                kind = answer["type"][:40]
                self._give_up(seat, f'garbage: {kind!r} in answer to hello, not "ready"')
        except AgentFailed as error:
            error.hopeless = True
            raise

    def _process_for(self, deal: int | None) -> Program:
        """Return the process that has waited longest among those that have not seen a deal."""
        for program in _idle:
            fits = (program.command, program.limits) == (self.command, self.limits)
            if fits and deal not in program.deals:
                _idle.remove(program)
                break
        else:
            program = Program(self.command, self.limits)
        if deal is not None:
            program.deals.add(deal)
        return program

    def hello(
        self, game: Game, options: dict[str, Any], seat: int, seats: int, seed: int
    ) -> dict[str, Any]:
        """Return the message that opens a game."""
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "game": game.identifier,
            "rules": game.rules_version,
            "options": options,
            "seats": seats,
            "seat": seat,
            "seed": seed,
            "move_seconds": self.limits.move_seconds,
            "game_seconds": self.limits.game_seconds,
        }

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the program's action, or raise AgentFailed."""
        seat = turn.seat
        if seat not in self._games:
            view = turn.view
            self.begin(turn.game, turn.game.read_options({}), seat, int(view.seats), rng)
        program, left = self._games[seat]
        seconds = min(self.limits.move_seconds, left)
        message = {
            "type": "turn",
            "seat": seat,
            "view": dataclasses.asdict(turn.view.describe()),
            "legal": [
                {"id": int(action), "text": text}
                for action, text in zip(turn.legal, turn.texts, strict=True)
            ],
            "seconds": round(seconds, 3),
        }
        answer = self._ask(seat, message, seconds)
        left -= program.seconds_used
        if left <= 0:
            self._give_up(
                seat, f"time-out: {self.limits.game_seconds:g} s for one game are used up"
            )
        self._games[seat] = (program, left)
        return self._read_action(turn, answer)

    def end(
        self,
        seat: int,
        returns: Sequence[float],
        points: Sequence[float],
        failure: AgentFailed | None = None,
    ) -> None:
        """Tell the program how its game ended, if it still runs, and keep it for the next game."""
        if failure and failure.seat == seat:
            count, _ = _failures.get(self.command, (0, ""))
            if failure.hopeless:
                _failures[self.command] = (count + 1, str(failure))
            elif not str(failure).startswith("not asked"):
                # It plays, if badly. If it were not asked again, results would depend on workers.
                _failures.pop(self.command, None)
        if seat not in self._games:
            return
        program, _ = self._games.pop(seat)
        result: dict[str, Any] = {
            "type": "result",
            "returns": list(returns),
            "points": list(points),
        }
        if failure:
            result["forfeit"] = failure.seat
            result["reason"] = str(failure)
        try:
            program.notify(result)
        except AgentFailed:
            return  # the game is over: a failure now costs the process only
        if not failure:
            _failures.pop(self.command, None)
        _idle.append(program)
        if self.limits.fresh_process or len(_idle) > MOST_IDLE:
            _idle.pop(-1 if self.limits.fresh_process else 0).dismiss()

    def _read_action(self, turn: Turn, answer: dict[str, Any]) -> int:
        action = answer.get("action")
        if answer["type"] != "action" or isinstance(action, bool):
            self._give_up(turn.seat, f"garbage: {json.dumps(answer)[:80]} is not an action")
        legal = dict(zip(turn.texts, turn.legal.tolist(), strict=True))
        if isinstance(action, str) and action in legal:
            return int(legal[action])
        if isinstance(action, int) and action in legal.values():
            return action
        if not isinstance(action, (int, str)):
            self._give_up(turn.seat, f"garbage: {json.dumps(answer)[:80]} is not an action")
        self._give_up(turn.seat, f"illegal move: {str(action)[:40]!r} is not legal")

    def _ask(self, seat: int, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        try:
            return self._games[seat][0].exchange(message, seconds)
        except AgentFailed as error:
            del self._games[seat]
            error.seat = seat
            raise

    def _give_up(self, seat: int, reason: str) -> NoReturn:
        program, _ = self._games.pop(seat)
        with contextlib.suppress(AgentFailed):  # it may have ended meanwhile
            reason = FLOOD if program.has_more() else reason  # then this was not the answer
        program.kill()
        raise AgentFailed(reason, seat, program.log)


def check_limits(limits: Limits | None) -> Limits:
    """Return limits that a person gives, after checking them; None stands for the default."""
    if limits is not None and not isinstance(limits, Limits):
        raise CardlabError(
            f"limits must be Limits(move_seconds=...), got {shorten(limits)}; import Limits from "
            "cardlab.agents.outside"
        )
    return (limits or DEFAULT_LIMITS).check()


def read_command(spec: str) -> tuple[str, ...]:
    """Return the words of the command of `cmd:...`, after checking that the program exists."""
    if os.name != "posix":
        raise CardlabError(f"agent {spec!r} needs a POSIX system such as Linux or macOS")
    try:
        words = shlex.split(spec.strip().removeprefix(PREFIX))
    except ValueError as error:
        raise CardlabError(f"agent {spec!r} is not a command ({error})") from None
    if not words:
        raise CardlabError(f"agent {spec!r} names no program; write cmd:./my_agent --flag")
    if shutil.which(words[0]) is None:
        if is_file(words[0]):
            meant = as_command(shlex.join(words))
            ways = [f"write {meant!r}"] if meant != spec else []
            ways += [] if os.access(words[0], os.X_OK) else [f"chmod +x {words[0]}"]
            either = " or " if words[0].endswith(".py") else " and "
            raise CardlabError(
                f"agent {spec!r}: {words[0]} cannot be executed like this; {either.join(ways)}"
            )
        raise CardlabError(
            f"agent {spec!r}: program {words[0]!r} does not exist; give the path of an executable "
            "file (chmod +x)"
        )
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    runs = INTERPRETER.fullmatch(os.path.basename(words[0])) and SCRIPT.search(script)
    if runs and not os.path.exists(script):
        raise CardlabError(f"agent {spec!r}: there is no {script} in this folder")
    program = os.path.abspath(words[0]) if os.sep in words[0] else words[0]
    return program, *map(_absolute, words[1:])


def _absolute(word: str) -> str:
    """Return a word of a command with an absolute path: programs run in another folder."""
    option, equals, value = word.rpartition("=") if word.startswith("-") else ("", "", word)
    if is_file(value) or (os.sep in value and os.path.exists(value)):
        value = os.path.abspath(value)
    return f"{option}{equals}{value}"


def as_command(line: str) -> str:
    """Return the `cmd:` form of a command line, with the prefix that its file needs."""
    line = read_text(line, "command", "./my_agent --flag")
    word = line.partition(" ")[0]
    if is_file(word) and shutil.which(word) is None:
        line = line.removeprefix("./")
        line = f"python {line}" if word.endswith(".py") else f"./{line}"
    return PREFIX + line
