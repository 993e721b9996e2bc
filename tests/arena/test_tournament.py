"""Tournaments: plans, the store on both databases, resuming, kills at any moment."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cardlab.agents.outside import Limits
from cardlab.arena import export, leaderboard, tournament
from cardlab.arena import store as store_module
from cardlab.arena.export import export_games
from cardlab.arena.leaderboard import leaderboards
from cardlab.arena.ratings import Rating
from cardlab.arena.shard import Played, full_record
from cardlab.arena.standings import Cell, Line, Results, Standings
from cardlab.arena.store import SCHEMA, Entered, Store, default_store
from cardlab.arena.tournament import Plan, enter, play_tournament, resume
from cardlab.engine.errors import CardlabError
from cardlab.engine.records import read_records
from cardlab.engine.registry import find_game
from cardlab.engine.replay import replay
from cardlab.show.tournament import show_standings
from tests.support.waiting import PATIENCE, members_of, wait_until

AGENTS = ["random", "heuristic", "tabular_q"]


def play(plan: Plan, address: str, **settings: Any) -> dict[str, Any]:
    with Store(address) as store:
        results = play_tournament(plan, store, enter(plan, store), **settings)
        table = results.table().to_dict(times=False)
        # What is read back from the store says the same as what was played.
        loaded = Results.load(plan.matches, store, store.tournaments()[-1].id)
        assert loaded.table().to_dict(times=False) == table
        return table


def test_every_pairing_meets_on_the_same_deals(tmp_path: Path) -> None:
    plan = Plan.make("crazy_eights", AGENTS, 20, seed=4)
    with Store(str(tmp_path / "a.db")) as store:
        entered = enter(plan, store)
        play_tournament(plan, store, entered)
        games = list(store.games(entered.id))
        assert len(games) == 60
        decks = {pairing: set() for pairing in range(3)}  # type: ignore[var-annotated]
        for pairing, one in games:
            decks[pairing].add((one.deal, one.orders))
        assert decks[0] == decks[1] == decks[2]
        assert len(decks[0]) == 10
        match = plan.matches[0]
        assert {tuple(match.seating(one.rotation)) for _, one in games[:20]} == {
            ("random", "heuristic"),
            ("heuristic", "random"),
        }


@pytest.mark.parametrize(
    ("agents", "seats", "format", "groups", "games"),
    [
        (["random", "heuristic", "monte_carlo:5"], 3, "round-robin", 1, 6),
        (["random", "heuristic", "monte_carlo:5", "monte_carlo:6"], 3, "round-robin", 4, 24),
        (["random", "heuristic", "monte_carlo:5", "monte_carlo:6"], 3, "gauntlet", 3, 18),
        (["random", "heuristic"], 3, "round-robin", 2, 12),
        (["random", "heuristic"], 4, "round-robin", 1, 4),  # a b a b and b a b a, each once
        (["random", "heuristic", "monte_carlo:5"], 4, "round-robin", 3, 12),
    ],
)
def test_any_number_of_seats(
    tmp_path: Path, agents: list[str], seats: int, format: str, groups: int, games: int
) -> None:
    plan = Plan.make(
        "crazy_eights",
        agents,
        2 * min(seats, 3) if seats == 3 else 4,
        format=format,
        options={"seats": seats},
    )
    assert len(plan.matches) == groups
    table = play(plan, str(tmp_path / "a.db"))
    assert table["games"] == games
    assert sorted(table["ranking"]) == sorted(agents)
    seat_counts = {line["agent"]: line["games"] for line in table["lines"]}
    assert sum(seat_counts.values()) == seats * games
    if format == "round-robin":
        assert len(set(seat_counts.values())) == 1  # nobody sits more often than others
    else:
        assert seat_counts["random"] == games


@pytest.mark.slow
def test_agents_that_play_alone_are_compared_on_the_same_deals(tmp_path: Path) -> None:
    plan = Plan.make("birds_of_a_feather", ["solver", "search_dfs", "random"], 12)
    table = play(plan, str(tmp_path / "a.db"))
    assert table["ranking"] == ["solver", "search_dfs", "random"]
    assert table["games"] == 36
    lines = {line["agent"]: line for line in table["lines"]}
    assert lines["solver"]["score"] == 1.0
    assert 0 < lines["solver"]["nodes"] < lines["search_dfs"]["nodes"]
    assert lines["random"]["nodes"] is None
    better = {(one["agent"], one["other"]): one["share"] for one in table["cells"]}
    assert better["solver", "random"] + better["random", "solver"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        ({"agents": ["random"]}, "needs 2 or more agents, got 1"),
        ({"agents": ["random", "random"]}, "each agent once, got 'random' twice"),
        ({"agents": ["random", "heuristik"]}, "did you mean 'heuristic'"),
        ({"games": 0}, "games must be at least 1, got 0"),
        ({"games": 10**12}, "makes 1,000,000,000,000 games in total, the most is 100,000,000"),
        ({"limits": Limits(log_folder="/proc/none")}, "/proc/none cannot be made"),
        ({"format": "swiss"}, "unknown format 'swiss'"),
        ({"format": "gauntlt"}, "did you mean 'gauntlet'"),
        ({"options": {"seats": 9}}, "seats=9"),
        ({"seed": 1 << 70}, "out of range"),
        ({"game": "birds_of_a_feather", "format": "gauntlet"}, "has one seat"),
        ({"game": "crazy8s"}, "did you mean 'crazy_eights'"),
    ],
)
def test_a_plan_is_checked_before_the_first_game(change: dict[str, Any], answer: str) -> None:
    plan: dict[str, Any] = {"game": "crazy_eights", "agents": ["random", "heuristic"], "games": 10}
    plan |= change
    with pytest.raises(CardlabError, match=answer):
        Plan.make(plan.pop("game"), plan.pop("agents"), plan.pop("games"), **plan)


def test_too_many_pairings_are_refused() -> None:
    agents = [f"monte_carlo:{n}" for n in range(1, 40)]
    with pytest.raises(CardlabError, match="82,251 pairings; name fewer agents"):
        Plan.make("crazy_eights", agents, 10, options={"seats": 4})


def test_both_databases_hold_the_same(store_address: str, tmp_path: Path) -> None:
    plan = Plan.make("uno", AGENTS[:2], 12, seed=9, options={"seats": 2})
    here = play(plan, store_address)
    assert here == play(plan, str(tmp_path / "other.db"))
    with Store(store_address) as one, Store(str(tmp_path / "other.db")) as other:
        assert list(one.games(1)) == list(other.games(1))
        assert one.pairings(1) == [["random", "heuristic"]]
        assert one.tournaments()[0].finished


@pytest.mark.slow
def test_every_game_is_a_full_record(store_address: str, tmp_path: Path) -> None:
    for name in ("cribbage", "koi_koi"):
        plan = Plan.make(name, ["random", "heuristic"], 4)
        play(plan, store_address)
    with Store(store_address) as store:
        for entered in store.tournaments():
            game = find_game(entered.game)
            match = Plan.of(entered).matches[0]
            for _, one in store.games(entered.id):
                record = full_record(game, match, one)
                list(replay(record))
                assert record.result
                assert tuple(record.result.points) == one.points
        out = tmp_path / "games.jsonl"
        assert export_games(store, store.tournaments(), out) == 8
        assert len([list(replay(record)) for _, record in read_records(out)]) == 8


def test_exports_agree(tmp_path: Path) -> None:
    import csv

    import pyarrow.parquet as pq

    play(Plan.make("crazy_eights", AGENTS[:2], 6), str(tmp_path / "a.db"))
    with Store(str(tmp_path / "a.db")) as store:
        for ending in (".csv", ".parquet"):
            assert export_games(store, store.tournaments(), tmp_path / f"x{ending}") == 6
        with pytest.raises(
            CardlabError, match=r"unsupported extension; use .jsonl, .csv or .parquet"
        ):
            export_games(store, [], tmp_path / "x.xlsx")
        with pytest.raises(CardlabError, match="cannot be written"):
            export_games(store, store.tournaments(), Path("/proc/x.csv"))
        games = [one for _, one in store.games(1)]
    with (tmp_path / "x.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert [row["actions"] for row in rows] == [row["actions"] for row in table]
    assert [int(row["seed"]) for row in rows] == [one.seed for one in games]
    assert [json.loads(row["returns"]) for row in table] == [list(one.returns) for one in games]


def test_resume_goes_on_with_the_same_settings_only(store_address: str) -> None:
    plan = Plan.make("crazy_eights", AGENTS, 40, seed=2)
    with Store(store_address) as store:
        with pytest.raises(CardlabError, match="no tournament of crazy_eights to resume"):
            resume(plan, store)
        entered = enter(plan, store, "mine")
        stopped = play_tournament(plan, store, entered, stop=lambda results: results.games >= 20)
        assert 20 <= stopped.games < stopped.planned
        assert not store.find("mine").finished  # its salt stays secret: deals are left to be played
        assert resume(plan, store).id == entered.id
        results = play_tournament(plan, store, resume(plan, store, "mine"))
        assert results.games == results.planned
        assert store.find("mine").finished
        with pytest.raises(CardlabError, match="already holds a tournament 'mine'"):
            enter(plan, store, "mine")
        with pytest.raises(CardlabError, match="has no tournament 'yours'; its latest: mine"):
            resume(plan, store, "yours")
        other = Plan.make("crazy_eights", AGENTS, 60, seed=2)
        with pytest.raises(CardlabError, match="other settings: deals 20, not 30; give the same"):
            resume(other, store)
        with pytest.raises(CardlabError, match="is of crazy_eights, not of uno"):
            resume(Plan.make("uno", AGENTS[:2], 10), store, "mine")
    undisturbed = play(plan, store_address)
    assert results.table().to_dict(times=False) == undisturbed


def test_a_number_that_somebody_took_for_a_name(store_address: str) -> None:
    plan = Plan.make("crazy_eights", AGENTS[:2], 4)
    with Store(store_address) as store:
        assert enter(plan, store, "crazy_eights-2").name == "crazy_eights-2"
        assert enter(plan, store).name == "crazy_eights-2-more"
        assert enter(plan, store).name == "crazy_eights-3"


def test_two_tournaments_write_to_one_store_at_once(store_address: str) -> None:
    plans = [Plan.make("crazy_eights", AGENTS[:2], 200, seed=seed) for seed in (1, 2)]
    Store(store_address).close()
    failures: list[BaseException] = []

    def work(plan: Plan) -> None:
        try:
            with Store(store_address) as store:
                play_tournament(plan, store, enter(plan, store))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(plan,)) for plan in plans]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failures == []
    with Store(store_address) as store:
        assert [store.count(one.id) for one in store.tournaments()] == [200, 200]


def test_a_stretch_that_is_written_twice_counts_once(store_address: str) -> None:
    from cardlab.arena.shard import Shard, play_deals

    plan = Plan.make("crazy_eights", AGENTS[:2], 8)
    with Store(store_address) as store:
        entered = enter(plan, store)
        result = play_deals(Shard(plan.matches[0], 0, 4, True))
        store.add(entered.id, result)
        store.add(entered.id, result)
        assert store.count(entered.id) == 8


@pytest.mark.parametrize("store_address", ["postgresql"], indirect=True)
def test_what_a_database_refuses_is_one_sentence(store_address: str) -> None:
    from cardlab.arena.shard import Shard, play_deals

    plan = Plan.make("crazy_eights", AGENTS[:2], 2)
    with Store(store_address) as store:
        entered = enter(plan, store)
        result = play_deals(Shard(plan.matches[0], 0, 1, True))
        odd = replace(result, games=[one._replace(reason="a\0b") for one in result.games])
        with pytest.raises(CardlabError, match="cannot be used: "):
            store.add(entered.id, odd)
        store.add(entered.id, result)
        assert store.count(entered.id) == 2


def old_store(path: Path) -> None:
    """Write a store as version 1 had it."""
    shutil.copy(path, path.with_suffix(".new"))
    with sqlite3.connect(path) as at:
        for name in ("log", "nodes"):
            at.execute(f"ALTER TABLE games DROP COLUMN {name}")
        at.execute("ALTER TABLE web_tables DROP COLUMN dealing")
        at.execute("UPDATE cardlab SET schema = 1")
    at.close()


def test_an_older_store_is_upgraded_and_a_newer_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    plan = Plan.make("crazy_eights", AGENTS[:2], 8)
    table = play(plan, str(path))
    old_store(path)
    with Store(str(path)) as store:
        assert len(list(store.games(1))) == 8
        results = play_tournament(plan, store, resume(plan, store))
        assert results.table().to_dict(times=False) == table
    with sqlite3.connect(path) as at:
        assert at.execute("SELECT schema FROM cardlab").fetchone() == (SCHEMA,)
        at.execute(f"UPDATE cardlab SET schema = {SCHEMA + 1}")
    at.close()
    with pytest.raises(CardlabError, match=f"newer cardlab .schema {SCHEMA + 1}, this one"):
        Store(str(path))


def test_every_older_version_has_a_way_up() -> None:
    assert sorted(store_module.UPGRADES) == list(range(1, SCHEMA))


@pytest.mark.parametrize(
    ("address", "answer"),
    [
        ("/proc/nowhere/a.db", "cannot be made"),
        ("mysql://host/db", "stores of mysql are not supported"),
        ("postgresql://nobody@127.0.0.1:1/none", "cannot be used: connection"),
        ("://", "is not the address of a store"),
        ("postgresql+none://h/d", "driver of 'postgresql.none' is installed"),
        ("postgresql+psycopg2://h/d", "driver of 'postgresql.psycopg2' is installed"),
        ("sqlite://", "names no file, so its games would be lost"),
        ("/", "is a folder; name a file in it"),
        ("~nobody-of-this-name/a.db", "cannot be made: Could not determine home"),
    ],
)
def test_stores_that_cannot_be(address: str, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        Store(address)


def test_a_file_that_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear all,\n" * 500)
    with pytest.raises(CardlabError, match=r"letter\.txt cannot be used: file is not a database"):
        Store(str(path))
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as at:
        at.execute("CREATE TABLE cardlab (thing TEXT)")
    at.close()
    with pytest.raises(CardlabError, match="cannot be used"):
        Store(str(other))


@pytest.mark.parametrize(
    ("script", "table"),
    [
        ("CREATE TABLE cardlab (schema INTEGER)", "cardlab"),
        ("CREATE TABLE cardlab (schema INTEGER); INSERT INTO cardlab VALUES (0)", "cardlab"),
        ("CREATE TABLE cardlab (schema TEXT); INSERT INTO cardlab VALUES ('x')", "cardlab"),
        ("CREATE TABLE games (title TEXT)", "games"),
    ],
)
def test_a_database_of_something_else(tmp_path: Path, script: str, table: str) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as at:
        at.executescript(script)
    at.close()
    with pytest.raises(CardlabError, match=f"has a table '{table}' that is not cardlab's"):
        Store(str(path))


def test_any_file_name_is_a_store(tmp_path: Path) -> None:
    path = tmp_path / "what? 50 % #1 ünï.db"
    Store(str(path)).close()
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\udcffb", "x" * 201])
def test_names_that_cannot_be(tmp_path: Path, name: str) -> None:
    plan = Plan.make("crazy_eights", AGENTS[:2], 4)
    with Store(str(tmp_path / "a.db")) as store:
        for function in (enter, resume):
            with pytest.raises(CardlabError, match="must be 1 to 200 printable characters"):
                function(plan, store, name)
        assert enter(plan, store, "ünï [/b] ☃").name == "ünï [/b] ☃"


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_an_empty_store_has_nothing_to_export(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"x.{ending}"
    with Store(str(tmp_path / "a.db")) as store:
        enter(Plan.make("crazy_eights", AGENTS[:2], 4), store)
        with pytest.raises(CardlabError, match="holds no games to write"):
            export_games(store, store.tournaments(), out)
    assert not out.exists()


def test_the_leaderboard_rates_over_tournaments(tmp_path: Path) -> None:
    address = str(tmp_path / "a.db")
    play(Plan.make("crazy_eights", ["random", "heuristic"], 60, seed=1), address)
    play(Plan.make("crazy_eights", ["uct_open:100", "heuristic"], 60, seed=1), address)
    play(Plan.make("crazy_eights", ["random", "heuristic"], 6, options={"seats": 3}), address)
    with Store(address) as store:
        two, three = leaderboards(store, "crazy_eights", ladder=True)
        assert [one.agent for one in two.ratings] == ["uct_open:100", "heuristic", "random"]
        assert (two.games, two.deals, two.tournaments) == (120, 30, 2)  # one seed: the same deals
        assert two.ladder
        assert two.ladder[0][0] == "uct_open:100"
        assert three.options["seats"] == 3
        with pytest.raises(CardlabError, match="holds no games of uno"):
            leaderboards(store, "uno")


def test_a_narrow_terminal_shows_every_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    agents = [f"monte_carlo:{number}" for number in range(1, 9)]
    rating = Rating("", 0.0, (-10.0, 10.0), (1, 8), "a")
    lines = [Line(one, 9, 5, 0, 4, 0, 0.5, None, 1.0, None, 0.1, None, rating) for one in agents]
    cells = {
        (one, other): Cell(0.95, (0.8, 1.0), 9)  # it ends at 100 %: 15 below count
        for one in agents
        for other in agents
        if one != other
    }
    show_standings(Standings("crazy_eights", 2, tuple(lines), cells, 9, 9, 9), "here", 1.0)
    shown = capsys.readouterr().out
    assert shown.count("95.0±15.0") == len(cells)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80


DRIVER = """
import json, sys
from cardlab.arena import tournament
from cardlab.arena.store import Store

# Small stretches and processes from the start: there is something to kill at any moment.
tournament.ALONE, tournament.MOST_DEALS_IN_A_SHARD = 0.05, 2

if __name__ == "__main__":
    plan = tournament.Plan.make("crazy_eights", sys.argv[2:], 80, seed=3)
    with Store(sys.argv[1]) as store:
        entered = tournament.resume(plan, store)
        results = tournament.play_tournament(plan, store, entered, workers=2)
    sys.stdout.write(json.dumps(results.table().to_dict(times=False)))
"""


MORE_GAMES = (0, 2, 10, 30)  # that are kept before the next kills
KILLS = 2 * len(MORE_GAMES)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
def test_kills_at_any_moment_lose_nothing(tmp_path: Path) -> None:
    """Eight times something is killed for good: the run and one of its workers in turn.

    It has just begun then, or has kept a few more games. After each kill, all games that were
    finished are there, just as an undisturbed run has them, and every table is that of that run.
    """
    agents = ["random", "heuristic", "monte_carlo:300"]
    plan = Plan.make("crazy_eights", agents, 80, seed=3)
    expected = json.dumps(play(plan, str(tmp_path / "undisturbed.db")))

    def games_in(store: Store, tournament: int) -> dict[tuple[int, ...], Played]:
        return {(n, one.deal, one.rotation): one for n, one in store.games(tournament)}

    with Store(str(tmp_path / "undisturbed.db")) as store:
        undisturbed = games_in(store, 1)
    path, driver = tmp_path / "a.db", tmp_path / "driver.py"
    driver.write_text(DRIVER)
    with Store(str(path)) as store:
        tournament = enter(plan, store).id
    kept: set[tuple[int, ...]] = set()
    kills = ended = 0

    def kept_or_ended(run: subprocess.Popen[str], count: int) -> bool:
        with Store(str(path)) as store:
            return store.count(tournament) >= count or run.poll() is not None

    def workers_or_end(run: subprocess.Popen[str]) -> list[int]:
        workers = [pid for pid in members_of(run.pid) if pid != run.pid]
        return [*workers, run.pid] if workers or run.poll() is not None else []

    while True:
        run = subprocess.Popen(
            [sys.executable, str(driver), str(path), *agents],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        while kills < KILLS and run.poll() is None:
            more = MORE_GAMES[kills // 2]
            wait_until(partial(kept_or_ended, run, len(kept) + more), "more games")
            found = wait_until(partial(workers_or_end, run), "a worker")
            with contextlib.suppress(ProcessLookupError):
                os.kill(found[-(kills % 2)], signal.SIGKILL)  # a worker, then the run
                kills += 1
            with Store(str(path)) as store:
                now = games_in(store, tournament)
            assert kept <= now.keys(), "a finished game was lost"
            assert all(undisturbed[key] == one for key, one in now.items())
            assert len(now) % 2 == 0, "half a deal was kept"
            kept = set(now)
        out, err = run.communicate()
        if run.returncode == 0:
            assert out == expected
            ended += 1
            if kills >= KILLS:
                break
            with Store(str(path)) as store:  # nothing was left to kill: play another one
                tournament, kept = enter(plan, store).id, set()
        elif run.returncode != -signal.SIGKILL:
            assert "a worker process ended unexpectedly" in err  # thrice before it did anything
    assert ended
    wait_until(lambda: not members_of(run.pid), "the end of the workers")  # of a run that is gone


LARGE = """
from cardlab.arena.workers import stream_results

def answer(task):
    return bytes(1 << 24)  # far more than a pipe holds

if __name__ == "__main__":
    answers = stream_results(answer, range(40), 2)
    next(answers)
    answers.close()
"""


def test_work_that_is_stopped_in_mid_answer_ends(tmp_path: Path) -> None:
    script = tmp_path / "large.py"
    script.write_text(LARGE)
    subprocess.run([sys.executable, str(script)], check=True, timeout=PATIENCE)


def test_a_tournament_as_the_store_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert tournament.FORMATS == ("round-robin", "gauntlet")
    agents = ["random", "heuristic"]
    for form in tournament.FORMATS:
        assert len(tournament.Plan.make("crazy_eights", agents, 20, format=form).matches) == 1
    plan = tournament.Plan.make("crazy_eights", agents, 20)
    with Store() as kept:
        assert kept.address == default_store()
        entered = tournament.enter(plan, kept)
        assert isinstance(entered, Entered)
        assert (entered.name, entered.finished) == ("crazy_eights-1", False)
        results = tournament.play_tournament(plan, kept, entered)
        rows = list(kept.outcomes(entered.id))
        counts = results.outcomes()
        with kept.reading() as at:
            assert at.exec_driver_sql("SELECT count(*) FROM games").scalar() == 20
        boards = leaderboard.leaderboards(kept)
        for ending in export.FORMATS:
            path = tmp_path / f"games{ending}"
            assert export.export_games(kept, kept.tournaments(), path) == 20
            assert path.stat().st_size
    assert len(rows) == 20
    assert sum(sum(one.values()) for one in counts.values()) == 20
    assert set().union(*counts.values()) <= {((0,), (1,)), ((1,), (0,)), ((0, 1),)}
    (board,) = boards
    assert isinstance(board, leaderboard.Board)
    assert (board.games, board.tournaments) == (20, 1)
