"""Programs that cheat: by memory, by the seed, and by everything else that costs a game.

A curious program and its honest twin play the same deals against the same opponent. What the
curious one would gain without protection is measured, too, so that the case can fail.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

from attacks.case import Outcome, Setting
from cardlab.agents import outside
from cardlab.agents.outside import OutsideAgent
from cardlab.agents.program import Limits, Program
from cardlab.arena.match import shares
from cardlab.arena.shard import Match, Shard, ShardResult, full_record, play_deals
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.engine.game import Array
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.engine.statistics import mean_and_interval
from tests.support.paths import PROGRAMS

GAME, OPPONENT = "crazy_eights", "heuristic"
CURIOUS = shlex.join([sys.executable, str(PROGRAMS / "curious.py")])


async def curious(setting: Setting) -> Outcome:
    """Programs that remember deals, or compute them from guessed seeds, beside an honest twin."""
    return await asyncio.to_thread(_curious, setting)


def _curious(setting: Setting) -> Outcome:
    deals, outcome = setting.count(150, 10), Outcome()
    salt = f"attack {setting.seed}"
    honest = _scores(_play(setting, "honest", deals, salt))
    for mode in ("remember", "seed"):
        played = _play(setting, mode, deals, salt)
        known = _known_hands(played, setting.folder / mode)
        gain, interval = mean_and_interval(_scores(played) - honest)
        low, high = interval or (gain, gain)
        outcome.tries += 2 * deals
        for _ in range(known):
            outcome.demand(False, f"{mode}: the hand of the other seat was known")
        outcome.demand(low <= 0, f"{mode}: scores {100 * gain:+.1f} % beside its honest twin")
        outcome.figures[mode] = (
            f"{known} hands known, {100 * gain:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}] %"
        )
    unprotected = _scores(_play(setting, "seed", deals, "")) - _scores(
        _play(setting, "honest", deals, "")
    )
    outcome.figures["seed, unprotected"] = f"{100 * unprotected.mean():+.1f} %"
    with mock.patch.object(OutsideAgent, "_process_for", _forgetful):
        gained = _scores(_play(setting, "remember", deals, salt)) - honest
    outcome.figures["remember, unprotected"] = f"{100 * gained.mean():+.1f} %"
    return outcome


def _forgetful(agent: OutsideAgent, deal: int | None) -> Program:
    """Return any idle process of a program, even if it has met the deal."""
    return outside._idle.pop() if outside._idle else Program(agent.command, agent.limits)


def _play(setting: Setting, mode: str, deals: int, salt: str) -> ShardResult:
    log = setting.folder / mode
    log.unlink(missing_ok=True)
    agent = f"cmd:{CURIOUS} {mode} {shlex.quote(str(log))}"
    match = replace(Match.plan(GAME, [agent, OPPONENT], 2 * deals), salt=salt)
    try:
        return play_deals(Shard(match, 0, deals, True))
    finally:
        outside.dismiss_all()


def _scores(result: ShardResult) -> Array:
    """Return the score of the first agent by deal, over both seatings."""
    won = shares(result.returns)
    mean: Array = (won[:, 0, 0] + won[:, 1, 1]) / 2
    return mean


def _known_hands(result: ShardResult, log: Path) -> int:
    """Return in how many games the program named the hand that the other seat was dealt."""
    match, game = Match.plan(GAME, [OPPONENT, "random"], 2), find_game(GAME)
    count = 0
    for played, line in zip(result.games, log.read_text().splitlines(), strict=True):
        state = Table(game, deals=full_record(game, match, played).deals).state
        zones = state.view(1 - played.rotation).describe().zones
        hand = next(zone.cards for zone in zones if zone.name == "hand" and zone.cards)
        count += set(line.split()) == set(hand)
    return count


async def misbehaving(setting: Setting) -> Outcome:
    """Programs that crash, hang, flood, lie, fork and devour memory, in one tournament."""
    return await asyncio.to_thread(_misbehaving, setting)


def _misbehaving(setting: Setting) -> Outcome:
    others = ("answers.py", "curious.py")  # these play to the rules
    bad = [f"cmd:{path}" for path in sorted(PROGRAMS.iterdir()) if path.name not in others]
    limits = Limits(move_seconds=0.5, game_seconds=20, start_seconds=10, memory_mb=300)
    games = setting.count(10, 2)
    plan = Plan.make(GAME, ["random", *bad], games, format="gauntlet", limits=limits)
    outcome = Outcome(tries=games * len(bad))
    with Store(str(setting.folder / "games.db")) as store:
        results = play_tournament(plan, store, enter(plan, store))
    lines = [line for line in results.table().lines if line.agent != "random"]
    outcome.demand(results.games == results.planned, "the tournament did not end")
    for line in lines:
        outcome.demand(line.forfeits > 0, f"{line.agent} gave no game away")
    names = {Path(spec.removeprefix("cmd:")).name for spec in bad} | {"cardlab-hidden-child"}
    left = [words for words in _commands() if any(name in words for name in names)]
    outcome.demand(not left, f"{len(left)} processes were left")
    outcome.figures = {"games given away": sum(line.forfeits for line in lines), "left": len(left)}
    return outcome


def _commands() -> Iterator[str]:
    """Yield the command of every process of this machine."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield place.read_text(errors="replace")
