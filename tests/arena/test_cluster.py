"""Many machines: a real Ray cluster of two nodes, one of which is lost in mid-tournament."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from cardlab.arena.shard import Match, Shard, ShardResult, play_deals
from cardlab.arena.standings import Results
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.arena.workers import stream_results
from cardlab.engine.errors import CardlabError

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

ray = pytest.importorskip("ray", reason="the extra `cluster` is not installed")

SMALL = {"num_cpus": 1, "object_store_memory": 80 << 20}
PLAN = ("crazy_eights", ["random", "heuristic", "monte_carlo:300"], 120)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one core each."""
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        made = Cluster(
            initialize_head=True,
            head_node_args={**SMALL, "include_dashboard": False},
        )
        made.second = made.add_node(**SMALL, wait=False)
        made.wait_for_nodes(timeout=300)
        yield made
        ray.shutdown()
        made.shutdown()


def first(result: Any) -> int:
    return int(result.first)


@pytest.mark.filterwarnings("ignore")
def test_serial_processes_and_ray_agree_while_a_node_is_lost(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cardlab.arena.tournament.MOST_DEALS_IN_A_SHARD", 2)
    monkeypatch.setattr("cardlab.arena.tournament.ALONE", 0.0)
    plan = Plan.make(PLAN[0], PLAN[1], PLAN[2], seed=8)
    tables = {}

    def lose_a_node(results: Results, result: ShardResult | None) -> None:
        if result is not None and results.games > 60 and cluster.second is not None:
            lost, cluster.second = cluster.second, None
            cluster.remove_node(lost, allow_graceful=False)

    ways: dict[str, dict[str, Any]] = {
        "serial": {"workers": 1},
        "processes": {"workers": 2},
        "ray": {"ray": cluster.address, "progress": lose_a_node},
    }
    for way, settings in ways.items():
        with Store(str(tmp_path / f"{way}.db")) as store:
            entered = enter(plan, store)
            results = play_tournament(plan, store, entered, **settings)
            assert store.count(entered.id) == results.planned
            tables[way] = json.dumps(results.table().to_dict(times=False))
            tables[way] += json.dumps([str(one) for one in store.games(entered.id)])
    assert tables["serial"] == tables["processes"] == tables["ray"]
    assert cluster.second is None, "the node was to be lost before the end"


@pytest.mark.filterwarnings("ignore")
def test_errors_and_answers_come_back(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = Match.plan("crazy_eights", ["random", "heuristic"], 20)
    shards = [Shard(match, deal, 1, True) for deal in range(10)]
    answers = sorted(stream_results(play_deals, shards, 1, ray=cluster.address), key=first)
    assert [one.games for one in answers] == [play_deals(task).games for task in shards]
    broken = Shard(replace(match, agents=("random", "heuristik")), 0, 1, True)
    with pytest.raises(CardlabError, match="did you mean 'heuristic'"):
        list(stream_results(play_deals, [broken], 1, ray=cluster.address))
    (tmp_path / "known_here_only.py").write_text("def answer(task): return task\n")
    monkeypatch.syspath_prepend(tmp_path)
    unknown = import_module("known_here_only").answer
    with pytest.raises(CardlabError, match="cannot import known_here_only; install the same"):
        list(stream_results(unknown, [1], 1, ray=cluster.address))


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_is_not_there() -> None:
    with pytest.raises(CardlabError, match=r"--ray 127\.0\.0\.1:1: no cluster answers"):
        list(stream_results(first, [1], 1, ray="127.0.0.1:1"))


@pytest.mark.filterwarnings("ignore")
def test_without_its_cluster_a_tournament_leaves_nothing(tmp_path: Path) -> None:
    address = str(tmp_path / "store.db")
    for arguments in (
        ["tournament", "crazy_eights", "random", "heuristic", "--games", "20"],
        ["sprt", "crazy_eights", "random", "heuristic"],
    ):
        line = [sys.executable, "-m", "cardlab", *arguments, "--ray", "127.0.0.1:1"]
        ended = subprocess.run(
            [*line, "--store", address], capture_output=True, text=True, check=False
        )
        assert ended.returncode == 2
        assert "no cluster answers" in ended.stderr
        assert ended.stderr.count("\n") <= 3
    with Store(address) as store:
        assert store.tournaments() == []
