"""`make strength`: how the budget is split, what is kept, and what the tables say about it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from cardlab.agents.catalog import Strength
from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def strength() -> ModuleType:
    spec = importlib.util.spec_from_file_location("strength", ROOT / "benchmarks" / "strength.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "strength", module)
        spec.loader.exec_module(module)
        yield module


@pytest.mark.parametrize(
    ("needs", "budget", "given"),
    [
        ([1, 1, 1], 30, [1, 1, 1]),
        ([100, 100], 30, [15, 15]),
        ([100, 2, 100], 30, [14, 2, 14]),
        ([0, 8, 50], 30, [0, 8, 22]),
    ],
)
def test_a_pairing_leaves_what_it_does_not_need_to_slower_ones(
    strength: ModuleType, needs: list[float], budget: float, given: list[float]
) -> None:
    assert strength.fill(needs, budget) == given


@pytest.fixture
def ladder(strength: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """A ladder of Crazy Eights in which every deal costs a tenth of a second."""
    monkeypatch.setattr(strength, "source_digest", lambda _: "code")
    return strength.Ladder("crazy_eights", tmp_path, 60.0)


def result_of(strength: ModuleType, shard: object, cold: bool = False) -> object:
    """Return what a worker sends: agents that stand earlier in the list win both games."""
    deals = range(shard.first, shard.first + shard.count)
    halves = [[2, 2] if deal % 4 else [0, 1] for deal in deals]
    return strength.Part(shard.match.agents, shard.first, halves, 0.1 * shard.count, cold)


def test_every_pairing_plays_and_the_budget_is_kept(strength: ModuleType, ladder: object) -> None:
    while shard := ladder.next_shard():
        ladder.add(result_of(strength, shard))
    played = {pair: len(one.halves) for pair, one in ladder.pairings.items()}
    assert min(played.values()) >= 1
    assert 0.1 * sum(played.values()) == pytest.approx(60, rel=0.1)
    with_reference = sum(count for pair, count in played.items() if "heuristic" in pair)
    assert 0.1 * with_reference == pytest.approx(30, rel=0.1)


def test_a_killed_run_resumes_where_it_stopped(
    strength: ModuleType, ladder: object, tmp_path: Path
) -> None:
    for _ in range(90):
        ladder.add(result_of(strength, ladder.next_shard()))
    ladder.next_shard()  # handed out, and lost
    again = strength.Ladder("crazy_eights", tmp_path, 60.0)
    kept = {pair: one.halves for pair, one in ladder.pairings.items()}
    assert {pair: one.halves for pair, one in again.pairings.items()} == kept
    while shard := again.next_shard():
        again.add(result_of(strength, shard))
    assert all(
        sorted(one.halves) == list(range(len(one.halves))) for one in again.pairings.values()
    )


def test_games_of_other_code_do_not_count(
    strength: ModuleType, ladder: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder.add(result_of(strength, ladder.next_shard()))
    monkeypatch.setattr(strength, "source_digest", lambda _: "other code")
    again = strength.Ladder("crazy_eights", tmp_path, 60.0)
    assert not any(one.halves for one in again.pairings.values())


def test_the_time_of_cold_workers_does_not_count(strength: ModuleType, ladder: object) -> None:
    pairing = next(iter(ladder.pairings.values()))
    pairing.add(strength.Part(pairing.agents, 0, [[2, 2]], 30.0, True))
    assert pairing.pace is None
    assert not pairing.is_waiting  # it plays on, to be measured
    pairing.add(strength.Part(pairing.agents, 1, [[2, 2]] * 10, 1.0, False))
    assert pairing.pace == pytest.approx(0.1)


def test_the_table_has_scores_and_ratings_beside_the_reference(
    strength: ModuleType, ladder: object
) -> None:
    while shard := ladder.next_shard():
        ladder.add(result_of(strength, shard))
    table = json.loads(json.dumps(ladder.table()))
    rows = {agent: Strength(**values) for agent, values in table["agents"].items()}
    assert list(rows) == ladder.agents  # each beats those behind it
    assert rows["heuristic"] == Strength(50.0, 0.0, 0, 0, 0, 0)
    first, third = rows[ladder.agents[0]], rows[ladder.agents[2]]
    deals = first.games // 2
    split = -(-deals // 4)  # every fourth deal is lost and drawn, the others are won twice
    assert first.score == pytest.approx(100 * (deals - 0.75 * split) / deals, abs=0.1)
    assert third.score == pytest.approx(100 - first.score, abs=0.5)
    assert first.margin
    assert first.rating_low < first.rating < first.rating_high
    assert first.rating > 0 > third.rating


def test_the_shipped_tables_rank_every_agent_of_the_manifests(strength: ModuleType) -> None:
    for name in strength.our_games():
        if strength.find_game(name).start().seats != 2:
            continue
        path = strength.find_package(name).shipped("strength.json")
        table = json.loads(path.read_text(encoding="utf-8"))
        found = {entry.usage for entry in strength.agents_for(strength.find_game(name))}
        assert set(table["agents"]) == found, name
        ratings = [row["rating"] for row in table["agents"].values()]
        assert ratings == sorted(ratings, reverse=True)
