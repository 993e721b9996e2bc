"""Any text names an agent or is a mistake in one sentence; aliases and references hold still."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.agents.entries import Strength
from cardlab.aliases import AGENTS, MODULES, OBJECTS, current_agent, current_reference
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Agent, OpenAgent
from cardlab.engine.registry import find_game, our_games
from tests.support.strategies import any_text, texts_near, value_or_error

SHAPES = (
    "{name}:{number}",
    "{name}:{key}={number}",
    "{name}:{number},{key}={number}",
    "{name}:{key}={number},{key}={number}",
    "{name}:{odd}",
    "{name}:{key}={odd}",
    "cmd:{name} {odd}",
    "cmd:{odd}",
    "cardlab.agents.random_agent:{odd}",
    "cardlab.agents.random_agent:RandomAgent:{odd}",
    "cardlab.agents.random_agent:RandomAgent:{key}={odd}",
    "cardlab.agents.{odd}:RandomAgent",
    "tests.support:paths:{odd}",
    "{odd}",
)


@pytest.mark.parametrize("name", our_games())
@given(data=st.data())
def test_any_text_is_an_agent_or_a_mistake(name: str, data: st.DataObject) -> None:
    game = find_game(name)
    entry = data.draw(st.sampled_from(agents_for(game)))
    keys = [one.name for one in entry.parameters] or ["playouts"]
    drawn = {
        "name": st.just(entry.name),
        "key": st.sampled_from(keys),
        "number": st.sampled_from(["1", "2", "1.5", "0", "-1", "1e3"]),
        "odd": any_text,
    }
    shape = data.draw(st.sampled_from(SHAPES))
    spec = shape.format(**{part: data.draw(what) for part, what in drawn.items()})
    agent = value_or_error(find_agent, spec, game)
    if not isinstance(agent, CardlabError):
        assert isinstance(agent, (Agent, OpenAgent))
        assert isinstance(agent.name, str)


OLD = [*MODULES, *OBJECTS, *(name for names in AGENTS.values() for name in names)]


@given(texts_near([*OLD, *MODULES.values(), *OBJECTS.values()], signs=":.,= "), any_text)
def test_a_name_that_is_current_stays_as_it_is(text: str, game: str) -> None:
    now = current_reference(text)
    assert current_reference(now) == now
    for place in (*AGENTS, game):
        agent = current_agent(text, place)
        assert current_agent(agent, place) == agent


@given(texts_near(["59.5 ± 0.6 (20,000 games)", "50 (1 games)", "± (,) games", "."]))
def test_any_text_is_a_strength_or_a_mistake(text: str) -> None:
    value_or_error(Strength.read, text)


@given(
    st.floats(0, 100).map(lambda value: round(value, 1)),
    st.none() | st.floats(0.1, 50).map(lambda value: round(value, 1)),
    st.integers(1, 10**9),
)
def test_a_strength_survives_its_text(score: float, margin: float | None, games: int) -> None:
    strength = Strength(score, margin, games)
    assert Strength.read(str(strength)) == strength
