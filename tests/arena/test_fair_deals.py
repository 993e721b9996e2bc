"""Programs that try to know the other hand, by memory or by the seed, play like honest ones."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cardlab.agents import outside
from cardlab.agents.outside import Limits, OutsideAgent
from cardlab.agents.program import Program
from cardlab.arena.export import export_games
from cardlab.arena.leaderboard import leaderboards
from cardlab.arena.match import play_match
from cardlab.arena.shard import Match, Shard, ShardResult, full_record, play_deals
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament, resume
from cardlab.engine.batch import Batch
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, Game
from cardlab.engine.play import Table
from cardlab.engine.records import Record
from cardlab.engine.registry import find_game, our_games
from cardlab.engine.replay import replay
from cardlab.engine.secret_deals import secret_order
from cardlab.engine.seeding import generator
from tests.support.paths import EXAMPLES, PROGRAMS
from tests.support.waiting import wait_until

if os.name != "posix":
    pytest.skip("outside agents need a POSIX system", allow_module_level=True)

CURIOUS = shlex.join([sys.executable, str(PROGRAMS / "curious.py")])
FIRST_LEGAL = f"cmd:{EXAMPLES}/first_legal.sh"
DEALS = 30


def curious(mode: str, log: Path) -> str:
    """Return the curious program as an agent."""
    return f"cmd:{CURIOUS} {mode} {log}"


def play(agent: str, *, salt: str, limits: Limits | None = None) -> ShardResult:
    """Play an agent against the heuristic, both seatings of every deal."""
    match = Match.plan("crazy_eights", [agent, "heuristic"], 2 * DEALS, 0, limits=limits)
    match = replace(match, salt=salt)
    try:
        return play_deals(Shard(match, 0, DEALS, True))
    finally:
        outside.dismiss_all()


def known_hands(result: ShardResult, log: Path) -> int:
    """Return in how many games the program knew the hand that the other seat was dealt."""
    match = Match.plan("crazy_eights", ["random", "heuristic"], 2 * DEALS)
    believed = [frozenset(line.split()) for line in log.read_text().splitlines()]
    count = 0
    for played, belief in zip(result.games, believed, strict=True):
        game = find_game(match.game)
        state = Table(game, deals=full_record(game, match, played).deals).state
        zones = state.view(1 - played.rotation).describe().zones
        hand = next(zone for zone in zones if zone.name == "hand" and zone.cards)
        count += belief == frozenset(hand.cards)
    return count


@pytest.mark.slow
def test_the_curious_program_profits_where_nothing_is_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What follows would mean nothing if the program could not use what it learns.
    log = tmp_path / "log"
    assert known_hands(play(curious("seed", log), salt=""), log) > 1.8 * DEALS
    log.unlink()
    monkeypatch.setattr(OutsideAgent, "_process_for", forgetful)
    known = known_hands(play(curious("remember", log), salt="one"), log)
    assert known > 0.9 * DEALS, "the second seating of every deal"


def forgetful(agent: OutsideAgent, deal: int | None) -> Program:
    """Return any idle process of a program, even if it has met the deal."""
    return outside._idle.pop() if outside._idle else Program(agent.command, agent.limits)


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("mode", ["remember", "seed"])
def test_a_curious_program_plays_like_its_honest_twin(
    mode: str, fresh: bool, tmp_path: Path
) -> None:
    limits = Limits(fresh_process=fresh)
    log, honest = tmp_path / "log", tmp_path / "honest"
    result = play(curious(mode, log), salt="two", limits=limits)
    assert known_hands(result, log) == 0
    twin = play(curious("honest", honest), salt="two", limits=limits)
    believed = log.read_text().splitlines()  # seldom something: two deals begin with one card
    assert believed.count("") > 1.5 * DEALS
    for one, other, belief in zip(result.games, twin.games, believed, strict=True):
        assert belief or one.actions == other.actions


def test_no_process_meets_a_deal_twice(tmp_path: Path) -> None:
    log = tmp_path / "met"
    spy = tmp_path / "spy.sh"
    text = (EXAMPLES / "first_legal.sh").read_text()
    spy.write_text(
        text.replace("    case $line in", f'    echo "$$ $line" >>{log}\n    case $line in')
    )
    spy.chmod(0o755)
    agents = [f"cmd:{spy}", "random", "heuristic"]
    plan = Plan.make("crazy_eights", agents, 8, format="gauntlet", salt="three")
    with Store(str(tmp_path / "games.db")) as store:
        play_tournament(plan, store, enter(plan, store))
    deals = {  # by the seed that a program is sent
        int(rng.integers(1 << 31)): deal
        for deal in range(plan.deals)
        for seat in range(2)
        for rng in [generator(plan.matches[0].game_seed(deal), "seat", seat, seat)]
    }
    hellos = re.findall(r'^(\d+) .*"type":"hello".*"seed":(\d+)', log.read_text(), re.MULTILINE)
    met = Counter((process, deals[int(seed)]) for process, seed in hellos)
    assert len(met) == 16, "four deals in two seatings against two opponents"
    assert set(met.values()) == {1}
    processes = Counter(process for process, _ in met)
    assert sorted(processes.values()) == [4] * 4, "each seating of a pairing has a lasting process"


def test_idle_processes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "MOST_IDLE", 3)
    match = Match.plan("crazy_eights", [FIRST_LEGAL, "random"], 4, options={"seats": 4})
    play_deals(Shard(match, 0, 1, False))
    assert len(outside._idle) == 3
    outside.dismiss_all()


def test_fresh_processes_play_one_game() -> None:
    limits = Limits(fresh_process=True)
    match = Match.plan("crazy_eights", [FIRST_LEGAL, "random"], 4, limits=limits)
    play_deals(Shard(match, 0, 2, False))
    assert outside._idle == []


def test_a_program_works_in_a_temporary_folder_of_its_own(tmp_path: Path) -> None:
    spy = tmp_path / "spy.sh"
    spy.write_text(
        f'#!/bin/sh\necho "$PWD $TMPDIR" >>{tmp_path}/log\nmkdir -p a/b\nln -s / a/c\n'
        f"touch a/b/kept\nexec {EXAMPLES}/first_legal.sh\n"
    )
    spy.chmod(0o755)
    match = Match.plan("crazy_eights", [f"cmd:{spy}", "random"], 2, salt="four")
    play_deals(Shard(match, 0, 1, False))
    outside.dismiss_all()
    rows = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    folders = {Path(row[0]) for row in rows}
    assert len(folders) == len(rows) == 2
    for row in rows:
        assert row[0] == row[1] != str(Path.cwd())
    wait_until(lambda: not any(folder.exists() for folder in folders), "the folders' removal")
    assert Path("/usr").is_dir(), "a link is removed, not what it names"


def test_files_of_a_command_are_found_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "net").mkdir()
    for name in ("mine.sh", "net/weights", "python"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    command = outside.read_command("cmd:./mine.sh net/weights --at=net/weights net uno --fast=3")
    here = str(tmp_path)
    assert command[:2] == (f"{here}/mine.sh", f"{here}/net/weights")
    assert command[2:] == (f"--at={here}/net/weights", "net", "uno", "--fast=3")
    assert outside.read_command("cmd:sh mine.sh") == ("sh", f"{here}/mine.sh")


def test_a_module_of_the_own_folder_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_program.py").write_text((EXAMPLES / "careful_agent.py").read_text())
    monkeypatch.chdir(tmp_path)
    agent = f"cmd:{shlex.quote(sys.executable)} -m my_program"
    result = play_match(Match.plan("crazy_eights", [agent, "random"], 2))
    assert [row.forfeits for row in result.standings] == [0, 0]


def test_a_salt_decides_the_deals(tmp_path: Path) -> None:
    def records(**settings: str) -> list[Record]:
        found: list[Record] = []
        match = Match.plan("crazy_eights", [FIRST_LEGAL, "random"], 4, seed=1, **settings)
        result = play_match(match, save=found.extend)
        assert result.salt == match.salt
        assert len(match.salt) == 32 or settings
        return found

    first, second = records(), records()
    assert first[0].deals != second[0].deals, "by default nobody knows the deals"
    again = records(salt="five")
    assert again == records(salt="five")
    for record in again:
        assert record.seed is None, "the cards do not come from a seed"
        list(replay(record))
    assert Match.plan("crazy_eights", ["heuristic", "random"], 4, seed=1).salt == ""


@pytest.mark.parametrize("salt", ["", "x" * 101, "a\nb"])
def test_salts_that_are_wrong(salt: str) -> None:
    with pytest.raises(CardlabError, match="--salt must be 1 to 100 printable characters, got '"):
        Plan.make("crazy_eights", ["random", "heuristic"], 2, salt=salt)


def test_all_pairings_have_the_same_salted_deals(tmp_path: Path) -> None:
    plan = Plan.make("crazy_eights", ["random", "heuristic", FIRST_LEGAL], 4)
    with Store(str(tmp_path / "games.db")) as store:
        entered = enter(plan, store)
        play_tournament(plan, store, entered)
        orders: dict[int, set[bytes]] = {}
        for _, played in store.games(entered.id):
            orders.setdefault(played.deal, set()).add(played.orders[:52])
    assert [len(each) for each in orders.values()] == [1, 1]


def test_a_stopped_tournament_resumes_with_its_salt(tmp_path: Path) -> None:
    plan = Plan.make("crazy_eights", ["random", FIRST_LEGAL], 6, seed=2)
    assert plan.has_program
    assert plan.salt is None, "a salt is drawn when a tournament begins"

    with Store(str(tmp_path / "a.db")) as store, Store(str(tmp_path / "b.db")) as other:
        entered = enter(plan, store)
        assert entered.salt
        with pytest.raises(CardlabError, match="has other settings: salt"):
            resume(replace(plan, salt="mine"), store)
        resumed = resume(plan, store)
        assert resumed == entered
        play_tournament(plan, store, resumed)
        whole = enter(replace(plan, salt=entered.salt), other)
        play_tournament(plan, other, whole)
        assert list(store.games(entered.id)) == list(other.games(whole.id))


def test_games_of_a_running_tournament_stay_secret(tmp_path: Path) -> None:
    plan = Plan.make("crazy_eights", ["random", "heuristic"], 4)
    with Store(str(tmp_path / "games.db")) as store:
        open_one = enter(plan, store, "open")
        secret = enter(replace(plan, salt="six"), store, "secret")
        assert open_one.public
        assert not secret.public
        play_tournament(replace(plan, salt="six"), store, secret)
        assert store.find("secret").public


def test_a_leaderboard_keeps_deals_of_different_salts_apart(tmp_path: Path) -> None:
    with Store(str(tmp_path / "games.db")) as store:
        for salt in (None, "seven", "eight"):
            plan = Plan.make("crazy_eights", ["random", "heuristic"], 20, salt=salt)
            play_tournament(plan, store, enter(plan, store))
        (board,) = leaderboards(store)
    assert board.deals == 30


def test_exported_rows_name_no_seed_that_deals_nothing(tmp_path: Path) -> None:
    with Store(str(tmp_path / "games.db")) as store:
        plan = Plan.make("crazy_eights", ["random", "heuristic"], 4, salt="nine")
        entered = enter(plan, store)
        play_tournament(plan, store, entered)
        export_games(store, [entered], tmp_path / "games.jsonl")
    records = [
        Record.from_line(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()
    ]
    assert {record.seed for record in records} == {None}
    for record in records:
        list(replay(record))


@pytest.mark.parametrize("name", our_games())
def test_a_batch_with_a_dealer_plays_what_a_table_plays(name: str) -> None:
    game = find_game(name)

    def deal(row: int, n: int) -> Array:
        return secret_order(bytes([row]) * 32, n, game.deck)

    batch = Batch(game, 3, dealer=deal)
    tables = [Table(game, dealer=lambda n, row=row: deal(row, n)) for row in range(3)]
    for _ in range(60):
        actions = np.zeros(3, dtype=np.int64)
        for row, table in enumerate(tables):
            assert batch.mover[row] == table.mover
            if not table.over:
                legal = table.state.legal()
                assert batch.mask[row].nonzero()[0].tolist() == sorted(legal.tolist())
                actions[row] = legal[len(legal) // 2]
        batch.step(actions)
        for row, table in enumerate(tables):
            if not table.over:
                table.act(int(actions[row]))
    for row, table in enumerate(tables):
        assert batch.deals[row] == len(table.deals)
        if table.over:
            assert batch.mover[row] == -1 or batch.mover[row] == table.mover


def test_a_batch_with_a_dealer_takes_no_seeds(crazy_eights: Game) -> None:
    def deal(row: int, n: int) -> Array:
        return np.arange(crazy_eights.deck, dtype=np.uint8)

    for wrong in ({"seeds": [1]}, {"redeal": True}):
        with pytest.raises(CardlabError, match="takes neither seeds nor redeal"):
            Batch(crazy_eights, 1, dealer=deal, **wrong)  # type: ignore[arg-type]
