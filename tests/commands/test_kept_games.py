"""Where games are kept, and which of them the leaderboard leaves out, is always said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cardlab.arena.leaderboard import leaderboards, played_alone
from cardlab.arena.store import Store, StoreError
from cardlab.cli import app
from cardlab.engine.game import Game
from cardlab.engine.records import append_records
from cardlab.testing import random_table

ALONE = (
    "birds_of_a_feather is played alone, so agents have no ratings there; compare them on the same "
    "deals with `cardlab tournament birds_of_a_feather AGENT AGENT`"
)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, [*words], env={"COLUMNS": "300"})


def succeed(*words: str) -> Result:
    answer = run(*words)
    assert answer.exit_code == 0, answer.output
    return answer


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "a.db")


def test_the_sequential_test_names_its_store(store: str) -> None:
    words = ["sprt", "crazy_eights", "heuristic", "random", "--games", "4", "--workers", "1"]
    text = succeed(*words, "--store", store).stdout
    kept = f"every game is kept in sqlite:///{store} as tournament 'crazy_eights-1'"
    assert f"{kept} and counts on its leaderboard" in text
    assert "4 games of 1 tournament" in succeed("leaderboard", "--store", store).stdout
    data = json.loads(succeed(*words, "--store", store, "--json").stdout)
    assert (data["store"], data["tournament"]) == (f"sqlite:///{store}", "crazy_eights-2")
    counted = succeed("sprt", "--counts", "1,2,3,4,5")
    assert "kept" not in counted.stdout  # nothing was played
    assert json.loads(succeed("sprt", "--counts", "1,2,3,4,5", "--json").stdout)["store"] is None


def test_the_leaderboard_names_games_that_are_played_alone(store: str) -> None:
    where = ["--store", store, "--games", "4", "--workers", "1"]
    succeed("tournament", "birds_of_a_feather", "random", "heuristic", *where)
    for game in ([], ["birds_of_a_feather"]):  # no ratings at all: an error that says why
        answer = run("leaderboard", *game, "--store", store)
        assert isinstance(answer.exception, StoreError)
        assert str(answer.exception) == ALONE
    succeed("tournament", "crazy_eights", "random", "heuristic", *where)
    assert succeed("leaderboard", "--store", store).stdout.endswith(f"{ALONE}\n")
    answer = succeed("leaderboard", "--store", store, "--json")
    assert [board["game"] for board in json.loads(answer.stdout)] == ["crazy_eights"]
    assert answer.stderr == f"cardlab: {ALONE}\n"
    assert ALONE not in succeed("leaderboard", "crazy_eights", "--store", store).output
    with Store(store, read_only=True) as kept:
        assert played_alone(kept) == {"birds_of_a_feather": ALONE}
        assert played_alone(kept, "crazy_eights") == {}
        assert [board.game for board in leaderboards(kept)] == ["crazy_eights"]


def test_explain_skips_damaged_lines(crazy_eights: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("{\n")
    record = random_table(crazy_eights, {}, 1).record(["a", "b"])
    with path.open("a") as file:
        file.write(record.to_line() + "\n")
    answer = succeed("explain", "crazy_eights", str(path), "--agent", "monte_carlo:5")
    assert answer.stderr.startswith(
        f"cardlab: {path}, line 1 is cut off: the disk was full, or the program that wrote it was "
        "stopped; skipped\n"
    )
    chosen = ["--line", "2", "--agent", "monte_carlo:5"]
    assert "skipped" not in succeed("explain", "crazy_eights", str(path), *chosen).stderr
    asked = run("explain", "crazy_eights", str(path), "--line", "1", "--agent", "monte_carlo:5")
    assert f"{path}, line 1 is cut off" in str(asked.exception)
    append_records(path, record)
    none = run("explain", "uno", str(path))
    assert f"{path}, line 1 is cut off" in str(none.exception)
