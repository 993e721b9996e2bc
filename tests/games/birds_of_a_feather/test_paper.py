"""The paper's searches for Birds of a Feather: features, models, nodes, trainings."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import State
from cardlab.engine.kernel import kernel
from cardlab.games.birds_of_a_feather import PACKAGE, features, rules
from cardlab.games.birds_of_a_feather.features import (
    count_fits,
    features_after,
    move_features,
    occupied_cells,
    score,
    top_cards,
)
from cardlab.games.birds_of_a_feather.learning import evolved_ordering, solvability
from cardlab.games.birds_of_a_feather.solvers import depth_first as birds_depth_first
from cardlab.games.birds_of_a_feather.solvers import paper_searches as birds_paper
from cardlab.games.birds_of_a_feather.solvers.models import (
    SHIPPED,
    Model,
    load_model,
    shipped_model,
    shipped_ordering,
)
from cardlab.testing import random_table, retrace
from tests.support import plain_birds_search

GAME = rules.GAME
SMALL = birds_paper.Limits(simulations=2000, attempts=3, queue_nodes=20_000)
LOST = "AC3D5H7S9C" + "--" * 11  # nothing fits
STUCK = "--8S----5C----ACAH8C------8H--2D"  # cards and stacks are joined, yet every line is lost
QUICK = solvability.Config(seeds=6, slow_rows=60, epochs=2)
TINY = evolved_ordering.Config(batch=4, generations=3, children=4, most_nodes=200, report_seeds=4)


def positions(seeds: range) -> list[State]:
    """Return every position of random games."""
    return [
        State(GAME, step.state.array.copy())
        for seed in seeds
        for step in retrace(random_table(GAME, {}, seed))
    ]


def plain_features(tops: list[int]) -> list[float]:
    """Return the six features as the paper words them, from top cards alone."""
    cells = [(cell, card) for cell, card in enumerate(tops) if card != rules.EMPTY]
    pairs = [
        (a, b)
        for a, one in cells
        for b, two in cells
        if a != b and (one % 4 == two % 4 or abs(one // 4 - two // 4) <= 1)
    ]
    moves = [(a, b) for a, b in pairs if a // 4 == b // 4 or a % 4 == b % 4]
    suits = [card % 4 for _, card in cells]
    ranks = [card // 4 for _, card in cells]
    n = len(cells)
    return [
        len(moves) / n,
        len(pairs) / n,
        len(moves),
        len(pairs),
        max(suits.count(suit) for suit in suits),
        max(ranks.count(rank) for rank in ranks),
    ]


# Features and models


def test_features_are_those_of_the_paper() -> None:
    states = positions(range(10))
    array = np.concatenate([state.array for state in states])
    expected = [plain_features([int(card) for card in state.tops]) for state in states]
    assert features.features_of_all(array).tolist() == expected


@kernel
def write_after(states: Any, action: int, out: Any) -> None:
    s = states[0]
    cards = top_cards(s)
    features_after(s, action, cards, count_fits(cards), out)


def test_features_after_a_move_are_those_of_the_next_position() -> None:
    out = np.empty(6)
    for state in positions(range(10)):
        for action in state.legal()[::3]:
            child = state.copy()
            GAME.bindings.apply(child.array, 0, int(action))
            write_after(state.array, int(action), out)
            assert out.tolist() == features.features_of_all(child.array)[0].tolist()


def test_terms_are_those_of_scikit_learn() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    x = np.random.default_rng(0).random((20, 6))
    theirs = preprocessing.PolynomialFeatures(degree=3, include_bias=False).fit_transform(x)
    assert features.NUM_TERMS == theirs.shape[1] == 83
    np.testing.assert_allclose(features.polynomial(x), theirs, rtol=1e-12)


@kernel
def score_rows(weights: Any, rows: Any, out: Any) -> None:
    for i in range(len(rows)):
        out[i] = score(weights, rows[i])


@pytest.mark.parametrize("degree", [1, 3])
def test_the_kernel_predicts_what_scikit_learn_predicts(degree: int) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

    rows = solvability.generate(1_000_000, 8, 0)
    theirs = make_pipeline(
        PolynomialFeatures(degree, include_bias=False),
        MinMaxScaler(),
        linear_model.LogisticRegression(solver="newton-cholesky", max_iter=1000),
    ).fit(rows.features, rows.solvable)
    scaler, fitted = theirs[1], theirs[2]
    model = Model(
        "logistic", fitted.intercept_[0], fitted.coef_[0], scaler.data_min_, scaler.scale_
    )
    states = np.concatenate([state.array for state in positions(range(20, 30))])
    x = features.features_of_all(states)
    total = np.empty(len(x))
    score_rows(model.weights, x, total)
    expected = theirs.predict_proba(x)[:, 1]
    np.testing.assert_allclose(1 / (1 + np.exp(-total)), expected, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-6, atol=1e-12)
    ours = solvability.fit(rows, "logistic", degree)  # equal rows counted instead of repeated
    np.testing.assert_allclose(ours.predict(x), expected, rtol=1e-3, atol=1e-5)


def test_move_features_are_what_their_names_say() -> None:
    out = np.zeros(len(features.MOVE_FEATURES))
    for state in positions(range(3)):
        cells = [cell for cell in range(16) if state.tops[cell] != rules.EMPTY]
        tops = {cell: int(state.tops[cell]) for cell in cells}
        for action in state.legal():
            start, end = rules.MOVES[action]
            write_move(state.array, int(action), out)
            after = {c: tops[start if c == end else c] for c in cells if c != start}
            fits = {c: [d for d in after if fit(after[c], after[d])] for c in after}
            moves = {c: [d for d in fits[c] if in_line(c, d)] for c in after}
            suits = [card % 4 for card in after.values()]
            ranks = [card // 4 for card in after.values()]
            assert out.tolist() == [
                sum(fit(tops[end], tops[c]) for c in cells),
                sum(fit(tops[start], tops[c]) for c in cells),
                sum(in_line(start, c) for c in cells),
                sum(in_line(end, c) for c in cells),
                sum(map(len, moves.values())),
                min(map(len, moves.values())),
                sum(not some for some in moves.values()),
                min(map(len, fits.values())),
                max(suits.count(suit) for suit in suits),
                max(ranks.count(rank) for rank in ranks),
                is_apart(fits),
                is_apart({c: [d for d in after if in_line(c, d)] for c in after}),
            ]


def fit(one: int, two: int) -> bool:
    return one != two and (one % 4 == two % 4 or abs(one // 4 - two // 4) <= 1)


def in_line(a: int, b: int) -> bool:
    return a != b and (a // 4 == b // 4 or a % 4 == b % 4)


def is_apart(links: dict[int, list[int]]) -> bool:
    reached = [next(iter(links))]
    for one in reached:
        reached += [other for other in links[one] if other not in reached]
    return len(reached) < len(links)


@kernel
def write_move(states: Any, action: int, out: Any) -> None:
    s = states[0]
    cards, cells = top_cards(s), occupied_cells(s)
    move_features(s, action, cards, cells, (1 << len(out)) - 1, out)


# Searches


def test_dfs_counts_nodes_as_the_published_program_does() -> None:
    # What the authors' program wrote for seeds 0 to 9: the differences of their running totals.
    published = [102567, 32663, 17475, 801, 1585, 725, 224, 5564, 40690, 1448]
    assert birds_paper.run_seeds("dfs", range(10)).nodes.tolist() == published


def test_dfs_counts_nodes_as_the_plain_search_does() -> None:
    verdicts, nodes = plain_birds_search.decide(range(-60, 0), guided=False, bits=22)
    results = birds_paper.run_seeds("dfs", range(-60, 0))
    assert results.nodes.tolist() == nodes.tolist()
    assert results.solved.tolist() == (verdicts == plain_birds_search.SOLVED).tolist()


def replay(state: State, actions: tuple[int, ...]) -> None:
    """Take actions by the rules, each of them legal, and end with one stack."""
    state = state.copy()
    for action in actions:
        assert action in state.legal()
        GAME.bindings.apply(state.array, 0, action)
    assert state.plies == rules.MOST_MOVES


@pytest.mark.parametrize("name", birds_paper.ALGORITHMS)
def test_every_search_finds_solutions_that_the_rules_allow(name: str) -> None:
    easy = [State(GAME, birds_paper.deal_seed(seed)) for seed in (3, 6)]
    for state in easy:  # a few moves into a solution, so that the weakest search finds the rest
        dfs = birds_paper.run("dfs", state)
        assert dfs.actions is not None
        for action in dfs.actions[:5]:
            GAME.bindings.apply(state.array, 0, action)
        outcome = birds_paper.run(name, state, limits=SMALL)
        assert outcome.actions is not None
        assert outcome.nodes >= len(outcome.actions) == 10
        replay(state, outcome.actions)


@pytest.mark.parametrize("name", birds_paper.ALGORITHMS)
@pytest.mark.parametrize("position", [LOST, STUCK])
def test_no_search_finds_what_is_not_there(name: str, position: str) -> None:
    outcome = birds_paper.run(name, rules.parse_position(position), limits=SMALL)
    assert outcome.actions is None
    assert outcome.gave_up == (name == "mcts")


def test_complete_searches_agree_on_whole_deals() -> None:
    seeds = [3, 5, 6, 9, 10, 11]  # 10 cannot be solved
    expected = birds_paper.run_seeds("dfs", seeds).solved.tolist()
    assert expected == [True, True, True, True, False, True]
    for name in birds_paper.ALGORITHMS.keys() - {"lr_queue", "mcts"}:
        results = birds_paper.run_seeds(name, seeds, limits=SMALL)
        assert results.solved.tolist() == expected, name


def test_a_table_that_fills_up_costs_nodes_but_no_truth() -> None:
    plan = birds_paper._make_plan("dfs", {})
    nodes = {}
    for largest in (11, 14, 26):
        memory = birds_depth_first.Scratch.new()
        tables = birds_depth_first.Tables(largest)
        verdict = birds_depth_first.search(birds_paper.deal_seed(2), plan, memory, tables)
        assert verdict == birds_depth_first.SOLVED
        nodes[largest] = int(memory.progress[birds_depth_first.NODES])
    assert nodes[11] > nodes[14] == nodes[26] == 17475


def test_equal_scores_keep_the_reference_order() -> None:
    flat = Model("logistic", 0.0, np.zeros(83), np.zeros(83), np.ones(83))
    same = birds_paper.run_seeds("lr", range(3, 8), models={"lr": flat})
    assert same.nodes.tolist() == birds_paper.run_seeds("dfs", range(3, 8)).nodes.tolist()


def test_a_budget_ends_a_search_without_a_verdict() -> None:
    outcome = birds_paper.run("dfs", 0, limits=birds_paper.Limits(nodes=100))
    assert (outcome.actions, outcome.nodes, outcome.gave_up) == (None, 100, True)


def test_mcts_is_a_matter_of_its_seed() -> None:
    state = birds_paper.deal_seed(6)
    one, two = (birds_paper.run("mcts", state, seed=5, limits=SMALL) for _ in range(2))
    assert dataclasses.replace(one, seconds=0) == dataclasses.replace(two, seconds=0)


def test_mistakes_are_answered_with_a_sentence() -> None:
    with pytest.raises(CardlabError, match="did you mean 'lr8_dfs'"):
        birds_paper.run("lr8dfs", 0)
    with pytest.raises(CardlabError, match="nothing is dealt"):
        birds_paper.run("dfs", rules.fresh())
    with pytest.raises(CardlabError, match="unknown model"):
        shipped_model("lr9")


def test_breakdown_shares_add_up() -> None:
    shares = birds_paper.breakdown(range(20))
    assert list(shares) == ["features", "prediction", "sorting", "search"]
    assert sum(shares.values()) == pytest.approx(1)


def test_shipped_models_say_how_they_were_made() -> None:
    for name in (*SHIPPED, "evolved"):
        about = json.loads(PACKAGE.shipped("models", f"{name}.json").read_text())
        assert about["rules_version"] == GAME.rules_version
        assert about["config"]["first_seed"] >= 1_000_000  # no deal that is reported on
    assert all(len(shipped_model(name).coefficients) == 83 for name in SHIPPED)
    assert shipped_ordering().features


# Trainings


def test_rows_are_labelled_as_the_plain_search_labels_them() -> None:
    rows = solvability.generate(1_000_000, 3, 0)
    deals = rows.where(rows.cards == 16)
    verdicts, _ = plain_birds_search.decide(range(1_000_000, 1_000_003), guided=True, bits=20)
    assert deals.seeds.tolist() == [1_000_000, 1_000_001, 1_000_002]
    assert deals.solvable.tolist() == (verdicts == plain_birds_search.SOLVED).tolist()
    assert 0 < rows.where(rows.cards < 16).solvable.mean() < 1


@pytest.mark.slow
def test_training_goes_on_where_it_stopped(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("pyarrow")
    seen: list[tuple[str, int, int]] = []

    class Interruption(Exception):
        pass

    def interrupt(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("models", 2):
            raise Interruption

    with pytest.raises(Interruption):
        solvability.train(QUICK, tmp_path / "a", interrupt)
    made = (tmp_path / "a" / "lr.npz").stat().st_mtime_ns
    summary = solvability.train(QUICK, tmp_path / "a", lambda *news: seen.append(news))
    assert (tmp_path / "a" / "lr.npz").stat().st_mtime_ns == made
    assert ("rows", 6, 6) in seen
    assert seen[-1] == ("table 1", 22, 22)
    again = solvability.train(QUICK, tmp_path / "b", lambda *news: None)
    assert summary == again
    rows = solvability.read_rows(tmp_path / "a" / "rows")
    assert summary["rows"] == len(rows.seeds) == len(rows.features)
    with pytest.raises(CardlabError, match="other settings \\(seeds\\)"):
        solvability.train(dataclasses.replace(QUICK, seeds=7), tmp_path / "a", interrupt)
    model = load_model(tmp_path / "a" / "lr.npz")
    outcome = birds_paper.run("lr", 6, models={"lr": model})
    assert outcome.actions is not None


def test_parquet_files_have_named_columns(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = solvability.generate(1_000_000, 2, 0)
    solvability.write_rows(tmp_path / "rows.parquet", rows)
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.column_names == ["seed", "cards", *features.FEATURES, "solvable"]
    for ours, theirs in zip(solvability.read_rows(tmp_path / "rows.parquet"), rows, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
def test_evolution_goes_on_where_it_stopped(tmp_path: Path) -> None:
    class Interruption(Exception):
        pass

    def interrupt(stage: str, done: int, total: int) -> None:
        if done == 2:
            raise Interruption

    with pytest.raises(Interruption):
        evolved_ordering.train(TINY, tmp_path / "a", interrupt)
    one = evolved_ordering.train(TINY, tmp_path / "a", lambda *news: None)
    two = evolved_ordering.train(TINY, tmp_path / "b", lambda *news: None)
    for summary in (one, two):
        for name in ("dfs", "lr", "evolved"):
            del summary["reported"][name]["seconds"]
    assert one == two
    with pytest.raises(CardlabError, match="other settings"):
        evolved_ordering.train(dataclasses.replace(TINY, batch=5), tmp_path / "a", interrupt)
