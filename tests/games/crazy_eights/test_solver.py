"""The exact solver against the general search, and the agents that use it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from cardlab.agents.catalog import find_agent
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game, OpenAgent, State
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.games.crazy_eights.solver import Scratch, solve, solves
from cardlab.search import alpha_beta
from cardlab.testing import random_table, retrace

pytestmark = pytest.mark.skipif(not JIT, reason="too much searching to interpret")


def late_states(game: Game, seeds: range) -> list[State]:
    found = []
    for seed in seeds:
        states = [table.state.copy() for table in retrace(random_table(game, {}, seed))]
        found += [state for state in states if state.mover >= 0][-7:]
    return found


def test_verdicts_are_those_of_a_full_alpha_beta(crazy_eights: Game) -> None:
    met = {-1: 0, 0: 0, 1: 0}
    small = Scratch.of(bits=8)
    for state in late_states(crazy_eights, range(60)):
        plain = alpha_beta.evaluate(state, 60, table_bits=18)
        exact = solve(state)
        assert exact
        assert exact.values.tolist() == plain.tolist()
        crowded = solve(
            state, scratch=small._replace(table_bounds=np.zeros_like(small.table_bounds))
        )
        assert crowded
        assert crowded.values.tolist() == plain.tolist()
        quick = solve(state, all_exact=False)
        assert quick
        assert plain[np.argmax(quick.values)] == plain.max()
        for value in exact.values:
            met[int(value)] += 1
    assert min(met.values()) > 50


def test_a_case_in_which_two_hands_once_shared_a_key(crazy_eights: Game) -> None:
    states = [table.state.copy() for table in retrace(random_table(crazy_eights, {}, 51))]
    state = [one for one in states if one.mover >= 0][-8]
    found = solve(state)
    assert found
    assert found.values.tolist() == [0, -1, -1, 1]


def test_the_interpreted_solver_says_the_same(crazy_eights: Game) -> None:
    code = (
        "from cardlab.games.crazy_eights import GAME; from cardlab.testing import *;"
        "from cardlab.games.crazy_eights.solver import Scratch, solve;"
        "states = [table.state.copy() for table in retrace(random_table(GAME, {}, 51))];"
        "states = [one for one in states if one.mover >= 0][-7:];"
        "print([solve(one, scratch=Scratch.of(10)).values.tolist() for one in states])"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={**os.environ, "NUMBA_DISABLE_JIT": str(off)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for off in (0, 1)
    ]
    assert answers[0] == answers[1]


def test_a_limit_stops_the_search(crazy_eights: Game) -> None:
    state = Table(crazy_eights, seed=0).state
    assert solve(state, limit=10) is None


@pytest.mark.parametrize(
    "options", [{"seats": 3}, {"reshuffle": True}, {"optional_draw": True}], ids=str
)
def test_other_rules_are_refused_by_the_solver(crazy_eights: Game, options: dict[str, int]) -> None:
    state = Table(crazy_eights, seed=0, options=options).state
    assert not solves(state)
    with pytest.raises(CardlabError, match="only Crazy Eights with two seats"):
        solve(state)
    agent = find_agent("oracle_open:50", crazy_eights)
    assert isinstance(agent, OpenAgent)
    assert agent.act_open(state, np.random.default_rng(0)) in state.legal()


def test_the_oracle_never_gives_a_win_away(crazy_eights: Game) -> None:
    agent = find_agent("oracle_open:20", crazy_eights)
    assert isinstance(agent, OpenAgent)
    for state in late_states(crazy_eights, range(30)):
        legal = state.legal()
        exact = solve(state)
        assert exact
        chosen = agent.act_open(state, np.random.default_rng(1))
        assert exact.values[list(legal).index(chosen)] == exact.values.max()
