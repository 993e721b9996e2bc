"""Agents and games as names or as objects: `find_agent`, `find_agents`, `play_game`, strength."""

from __future__ import annotations

import numpy as np
import pytest

from cardlab import find_agent, find_game, play_game
from cardlab.agents.catalog import adviser_of, agents_for, find_agents, strength_of
from cardlab.agents.heuristic import Heuristic
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game, State, Turn


class First:
    """Takes the first legal action."""

    name = "first"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        return int(turn.legal[0])


def test_an_agent_is_found_for_a_game_of_either_form(crazy_eights: Game) -> None:
    by_name = find_agent("monte_carlo:5", "crazy_eights")
    by_object = find_agent("monte_carlo:5", crazy_eights)
    assert by_name == by_object
    assert by_name.name == "monte_carlo:5"


def test_an_agent_that_is_an_object_comes_back_as_it_is(crazy_eights: Game) -> None:
    mine = First()
    assert find_agent(mine, "crazy_eights") is mine
    assert find_agents([mine, "random"], crazy_eights)[0] is mine


def test_play_game_takes_names_and_objects_mixed(crazy_eights: Game) -> None:
    named = play_game("crazy_eights", ["heuristic", "random"], seed=5)
    for game in ("crazy_eights", crazy_eights):
        for agents in (
            ["heuristic", find_agent("random", crazy_eights)],
            [Heuristic(), "random"],
            (Heuristic(), find_agent("random", "crazy_eights")),
        ):
            assert play_game(game, agents, seed=5) == named
    assert play_game("uno", [First(), "random"], seed=1).seats == ["first", "random"]


def test_the_seed_of_play_game_is_0_by_default() -> None:
    agents = ["heuristic", "random"]
    assert play_game("crazy_eights", agents) == play_game("crazy_eights", agents, seed=0)


def test_an_object_that_sees_all_cards_must_say_so() -> None:
    class Peeker:
        name = "peeker"

        def act_open(self, state: State, rng: np.random.Generator) -> int:
            return int(state.legal()[0])

    with pytest.raises(CardlabError, match=r"'peeker' sees the true state, .* end in '_open'"):
        play_game("crazy_eights", [Peeker(), "random"])


def test_an_object_without_a_name_or_a_class_is_answered_with_the_way_out() -> None:
    class Nameless:
        def act(self, turn: Turn, rng: np.random.Generator) -> int:
            return int(turn.legal[0])

    with pytest.raises(CardlabError, match=r'has no name \(write name = "mine" in its class\)'):
        find_agent(Nameless(), "crazy_eights")  # type: ignore[arg-type]
    with pytest.raises(CardlabError, match=r"is a class; make an agent of it: First\(\)"):
        find_agent(First, "crazy_eights")  # type: ignore[arg-type]


def test_catalogue_and_strength_take_names() -> None:
    uno = find_game("uno")
    assert agents_for("uno") == agents_for(uno)
    assert adviser_of("uno") == adviser_of(uno)
    for entry in agents_for(uno):
        measured = strength_of(entry, uno)
        assert strength_of(entry.name, "uno") == measured
        assert strength_of(entry.usage, "uno") == measured
    itself = strength_of("heuristic", "uno")
    assert itself is not None
    assert str(itself) == "50.0"  # without a number of games against itself
    assert strength_of("monte_carlo:playouts=1000", "uno") == strength_of("monte_carlo", "uno")
    assert strength_of("monte_carlo:7", "uno") is None  # nobody has measured this one
