"""Exact solutions of small games against published values and against brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Game
from cardlab.engine.registry import find_game
from cardlab.learning.best_response import (
    best_response,
    expected_points,
    exploitability,
    nash_conv,
)
from cardlab.learning.cfr import CfrSolver
from cardlab.learning.game_tree import GameTree, build_tree
from tests.support.paths import EXAMPLES

KUHN_VALUE = -1 / 18  # of seat 0: H. W. Kuhn, 1950
LEDUC_VALUE = -0.0856  # as OpenSpiel's own solvers find it
UNIFORM = {"kuhn": 0.458333333, "leduc": 2.373611111}  # exploitability, by OpenSpiel


@pytest.fixture(scope="module")
def kuhn() -> Game:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        return find_game("kuhn_poker:GAME")


@pytest.fixture(scope="module")
def leduc() -> Game:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        return find_game("leduc_poker:GAME")


@pytest.fixture(scope="module")
def trees(kuhn: Game, leduc: Game) -> dict[str, GameTree]:
    return {"kuhn": build_tree(kuhn), "leduc": build_tree(leduc)}


def test_sizes_of_trees(trees: dict[str, GameTree]) -> None:
    """Known sizes: 12 information sets of Kuhn poker, 936 of Leduc poker with its suits."""
    kuhn, leduc = trees["kuhn"], trees["leduc"]
    assert (len(kuhn.infosets), kuhn.slots, kuhn.positions) == (12, 24, 55)
    assert len(leduc.infosets) == 936


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_chances_add_up(trees: dict[str, GameTree], name: str) -> None:
    nodes = trees[name].nodes
    for node in np.flatnonzero(nodes.mover == DEALER):
        children = slice(nodes.first[node], nodes.first[node] + nodes.count[node])
        assert nodes.chance[children].sum() == pytest.approx(1)
    assert (nodes.count[nodes.mover == OVER] == 0).all()
    assert np.allclose(nodes.payoffs.sum(axis=1), 0)


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_exploitability_of_uniform_play_is_the_published_one(
    trees: dict[str, GameTree], name: str
) -> None:
    tree = trees[name]
    assert exploitability(tree, tree.uniform()) == pytest.approx(UNIFORM[name])
    assert nash_conv(tree, tree.uniform()) == pytest.approx(2 * UNIFORM[name])


def test_a_best_response_beats_every_pure_strategy(trees: dict[str, GameTree]) -> None:
    """All 64 pure strategies of a seat of Kuhn poker, against random mixed strategies."""
    tree = trees["kuhn"]
    rng = np.random.default_rng(0)
    for seat in (0, 1):
        own = [k for k, (who, _) in enumerate(tree.infosets) if who == seat]
        for _ in range(3):
            shares = rng.dirichlet([1, 1], size=len(tree.infosets)).ravel()
            best = -np.inf
            for choices in itertools.product((0, 1), repeat=len(own)):
                pure = shares.copy()
                for infoset, choice in zip(own, choices, strict=True):
                    pure[2 * infoset : 2 * infoset + 2] = (1 - choice, choice)
                best = max(best, expected_points(tree, pure)[seat])
            reply = best_response(tree, shares, seat)
            assert reply.points == pytest.approx(best)
            assert expected_points(tree, reply.strategies)[seat] == pytest.approx(best)


@pytest.mark.parametrize(
    ("name", "value", "iterations"), [("kuhn", KUHN_VALUE, 2000), ("leduc", LEDUC_VALUE, 1000)]
)
def test_cfr_plus_finds_the_value_of_the_game(
    trees: dict[str, GameTree], name: str, value: float, iterations: int
) -> None:
    tree = trees[name]
    average = CfrSolver(tree).run(iterations).average()
    assert exploitability(tree, average) < 1e-3
    assert expected_points(tree, average)[0] == pytest.approx(value, abs=1e-3)


def test_external_sampling_converges_and_is_reproducible(trees: dict[str, GameTree]) -> None:
    tree = trees["kuhn"]
    solver = CfrSolver(tree, "external_sampling", seed=1)
    early = exploitability(tree, solver.run(100).average())
    late = exploitability(tree, solver.run(50_000).average())
    assert late < early / 5
    assert late < 0.02
    again = CfrSolver(tree, "external_sampling", seed=1).run(100).run(50_000)
    assert (again.average() == solver.average()).all()


def test_iterations_can_be_done_in_parts(trees: dict[str, GameTree]) -> None:
    tree = trees["kuhn"]
    whole, parts = CfrSolver(tree).run(50), CfrSolver(tree).run(20).run(30)
    assert (whole.average() == parts.average()).all()


def test_openspiel_finds_our_strategy_as_hard_to_exploit(trees: dict[str, GameTree]) -> None:
    """Their best response, on their own game, against our average strategy."""
    pyspiel = pytest.importorskip("pyspiel", reason="pip install 'cardlab[bench]'")
    from open_spiel.python.algorithms import exploitability as theirs
    from open_spiel.python.policy import tabular_policy_from_callable

    tree = trees["leduc"]
    average = CfrSolver(tree).run(100).average()
    shares = {
        (seat, *_seen(view, tree.game, seat)): row
        for (seat, view), row in tree.table(average).items()
    }

    def policy(state: Any) -> list[tuple[int, float]]:
        seat = state.current_player()
        deals = [action for action, who in _history(state) if who < 0]
        public = deals[2] if len(deals) > 2 else None
        acted = tuple(action for action, who in _history(state) if who >= 0)
        return list(shares[seat, deals[seat], public, acted].items())

    game = pyspiel.load_game("leduc_poker")
    found = theirs.exploitability(game, tabular_policy_from_callable(game, policy))
    assert found == pytest.approx(exploitability(tree, average), rel=1e-6)


def _history(state: Any) -> list[tuple[int, int]]:
    return [(pair.action, pair.player) for pair in state.full_history()]


def _seen(view: bytes, game: Game, seat: int) -> tuple[int, int | None, tuple[int, ...]]:
    """Return own card, public card and actions from a view."""
    record = np.frombuffer(view, dtype=game.state)[0]
    public = int(record["cards"][2])
    acted = [int(action) for row in record["bets"] for action in row if action != 255]
    return int(record["cards"][seat]), None if public == 255 else public, tuple(acted)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda tree: build_tree("uno"), r"uno has [\d,]+ deals, more than 50,000"),
        (lambda tree: build_tree(tree.game, most=10), "more than 10 positions, too many"),
        (lambda tree: build_tree(tree.game, most="x"), "positions must be a whole number, got 'x'"),
        (lambda tree: CfrSolver(tree, "cfr"), "unknown method 'cfr'"),
        (lambda tree: CfrSolver(tree).run(0), "iterations must be at least 1, got 0"),
        (lambda tree: exploitability(tree, [1.0]), "must be 24 numbers, one for each action"),
        (lambda tree: exploitability(tree, np.ones(24)), "probabilities that add up to 1"),
        (lambda tree: best_response(tree, tree.uniform(), 2), "seat must be from 0 to 1, got 2"),
    ],
)
def test_mistakes_are_sentences(trees: dict[str, GameTree], call: Any, sentence: str) -> None:
    with pytest.raises(CardlabError, match=sentence):
        call(trees["kuhn"])
