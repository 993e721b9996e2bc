"""Batches: steps and new games in some rows, illegal actions, many turns at once."""

from __future__ import annotations

import numpy as np
import pytest

from cardlab.agents.catalog import find_agent
from cardlab.engine.batch import Batch, BatchKernels, make_batch_kernels
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import ActsInBatches, Game, Turns
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
