"""Batches: steps and new games in some rows, illegal actions, many turns at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import find_agent
from cardlab.engine.batch import Batch, BatchKernels, make_batch_kernels
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import ActsInBatches, Game, Turns, nth_legal
from cardlab.engine.play import Table


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_step_in_some_rows_leaves_the_others(crazy_eights: Game) -> None:
    some, all_rows, untouched = (Batch(crazy_eights, 5, seed=3) for _ in range(3))
    actions = some.mask.argmax(axis=1)
    rows = np.array([1, 4])
    others = np.array([0, 2, 3])
    some.step_some(rows, actions)
    all_rows.step(actions)
    for name in ("states", "mover", "mask"):
        assert np.array_equal(getattr(some, name)[rows], getattr(all_rows, name)[rows])
        assert np.array_equal(getattr(some, name)[others], getattr(untouched, name)[others])
    actions = some.mask.argmax(axis=1)
    actions[4] = -1
    with pytest.raises(CardlabError, match="row 4"):
        some.step_some(rows, actions)
    assert np.array_equal(some.mover[others], untouched.mover[others])


def test_some_rows_begin_anew(crazy_eights: Game) -> None:
    batch = Batch(crazy_eights, 3, seed=3)
    batch.step(batch.mask.argmax(axis=1))
    before = batch.states.copy()
    rows, seeds = np.array([0, 2]), np.array([17, 18])
    batch.restart(rows, seeds)
    fresh = Batch(crazy_eights, 2, seeds=seeds)
    for name in ("states", "mover", "mask", "deals"):
        assert np.array_equal(getattr(batch, name)[rows], getattr(fresh, name))
    assert batch.states[1] == before[1]


def test_kernels_of_a_batch_find_the_first_illegal_action(crazy_eights: Game) -> None:
    kernels = make_batch_kernels(crazy_eights)
    assert isinstance(kernels, BatchKernels)
    assert kernels is make_batch_kernels(crazy_eights)  # compiled once
    batch = Batch(crazy_eights, 4)
    actions = batch.mask.argmax(axis=1)
    assert kernels.find_illegal(0, batch.size, batch.mover, batch.mask, actions) == -1
    actions[2:] = batch.mask[2:].argmin(axis=1)
    assert kernels.find_illegal(0, batch.size, batch.mover, batch.mask, actions) == 2


def test_many_turns_are_answered_as_one_by_one(crazy_eights: Game) -> None:
    agent = find_agent("heuristic", crazy_eights)
    assert isinstance(agent, ActsInBatches)
    tables = [Table(crazy_eights, seed=seed) for seed in range(3)]
    turns = Turns(
        crazy_eights,
        np.array([table.mover for table in tables]),
        np.concatenate([table.turn().view.array for table in tables]),
        np.array([np.isin(np.arange(crazy_eights.num_actions), t.turn().legal) for t in tables]),
    )
    assert len(turns) == 3
    alone = [agent.act(table.turn(), rng(seed)) for seed, table in enumerate(tables)]
    assert agent.act_many(turns, [rng(seed) for seed in range(3)]).tolist() == alone


def test_the_legal_actions_of_a_row_are_counted_from_0() -> None:
    mask = np.array([[False, True, False, True], [True, True, True, False]])
    assert nth_legal(mask, np.array([1, 2])).tolist() == [3, 2]
    assert nth_legal(mask, np.array([0, 0])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"size": 0}, "batch size must be at least 1, got 0"),
        ({"size": -1}, "batch size must be at least 1, got -1"),
        ({"size": "a"}, "batch size must be a whole number, got 'a'"),
        ({"size": True}, "batch size must be a whole number, got True"),
        ({"size": 1.5}, r"batch size must be a whole number, got 1\.5"),
        ({"size": None}, "batch size must be a whole number, got None"),
        (
            {"size": 2**40},
            "a batch of 1,099,511,627,776 games of crazy_eights needs 852,121,511,526,400 bytes",
        ),
        ({"size": 2**70}, "batch size must be at most 9,223,372,036,854,775,807"),
        ({"seed": "x"}, "seed 'x' is not a whole number"),
        ({"seed": 1 << 70}, "is out of range"),
        ({"seed": None}, "seed None is not a whole number"),
        ({"seeds": [1, 2]}, r"seeds of a batch of 3 games must be 3 whole .* shape \(2,\)"),
        ({"seeds": [[1, 2, 3]]}, r"shape \(1, 3\)"),
        ({"seeds": [[1], [2, 3], 4]}, "seeds of a batch of 3 games must be"),
        ({"seeds": 7}, r"shape \(\)"),
        ({"seeds": "abc"}, "seeds of a batch of 3 games must be"),
        ({"seeds": [1.0, 2.0, 3.0]}, "got float64"),
        ({"seeds": [True, False, True]}, "got bool"),
        ({"seeds": [1, 2, 2**70]}, "seeds of a batch of 3 games must be"),
        ({"seeds": [1, 2, 2**63]}, "must be 3 whole numbers below|is out of range"),
        ({"redeal": "yes"}, "redeal must be True or False, got 'yes'"),
        ({"options": {"seats": 9}}, "seats=9"),
        ({"options": {"wat": 9}}, "unknown option"),
        ({"options": [("seats", 3)]}, "options of crazy_eights must be a dict"),
        ({"options": 0}, "options of crazy_eights must be a dict"),
        ({"game": "crazy_eight"}, "unknown game 'crazy_eight'; did you mean 'crazy_eights'"),
        ({"game": None}, "game must be a Game or the name of one, got None"),
    ],
)
def test_every_argument_of_a_batch_is_checked(
    crazy_eights: Game, given: dict[str, object], sentence: str
) -> None:
    arguments: dict[str, Any] = {"game": crazy_eights, "size": 3} | given
    with pytest.raises(CardlabError, match=sentence):
        Batch(arguments.pop("game"), arguments.pop("size"), **arguments)


def test_a_batch_that_does_not_fit_into_memory(
    crazy_eights: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_much(self: Batch, size: int) -> None:
        raise MemoryError

    monkeypatch.setattr(Batch, "_make_arrays", too_much)
    with pytest.raises(
        CardlabError, match="a batch of 7 games of crazy_eights needs 5,425 bytes of memory"
    ):
        Batch(crazy_eights, 7)


@pytest.mark.parametrize("seeds", [range(3), (0, 1, 2), np.arange(3, dtype=np.uint8)])
def test_seeds_may_be_any_whole_numbers(crazy_eights: Game, seeds: Any) -> None:
    batch, same = (
        Batch(crazy_eights, np.int64(3), seeds=seeds),
        Batch(crazy_eights, 3, seeds=[0, 1, 2]),
    )
    assert batch.states.tobytes() == same.states.tobytes()
    given = np.arange(3)
    Batch(crazy_eights, 3, seeds=given).restart(np.array([0]), np.array([9]))
    assert given.tolist() == [0, 1, 2]  # the batch has an array of its own
