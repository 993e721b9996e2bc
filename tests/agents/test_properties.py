"""Any text names an agent or is a mistake in one sentence; aliases and references hold still."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.agents.entries import Strength
from cardlab.agents.outside import AgentFailed, Limits, OutsideAgent, dismiss_all
from cardlab.aliases import AGENTS, MODULES, OBJECTS, current_agent, current_reference
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Agent, OpenAgent
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game, our_games
from tests.support.paths import PROGRAMS
from tests.support.strategies import (
    any_text,
    check_sentence,
    json_values,
    texts_near,
    value_or_error,
)

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


@given(
    st.floats(0, 100).map(lambda value: round(value, 1)),
    st.none() | st.floats(0.1, 50).map(lambda value: round(value, 1)),
    st.integers(0, 10**9),
    st.integers(-2000, 2000),
    st.none() | st.integers(1, 500),
    st.none() | st.integers(1, 500),
)
def test_a_strength_survives_its_file(
    score: float,
    margin: float | None,
    games: int,
    rating: int,
    below: int | None,
    above: int | None,
) -> None:
    low, high = below and rating - below, above and rating + above
    strength = Strength(score, margin, games, rating, low, high)
    kept = json.loads(json.dumps(asdict(strength)))
    assert Strength(**kept) == strength
    check_sentence(f"{strength} {strength.rating_text}")
    assert ("[" in strength.rating_text) == (low is not None and high is not None)


READY = b'{"type":"ready"}'
# What a program may write in one line, legal or not, and what is no line of JSON at all.
ANSWERS = (
    st.builds(
        lambda kind, action, more: json.dumps({"type": kind, "action": action} | more).encode(),
        st.sampled_from(["action", "ready", "turn"]) | json_values,
        st.integers(-2, 60) | st.sampled_from(["7H", "draw", True, None]) | json_values,
        st.just({}) | st.dictionaries(st.text(max_size=4), json_values, max_size=2),
    )
    | json_values.map(json.dumps).map(str.encode)
    | st.binary(max_size=60)
    | st.sampled_from([b"[" * 60_000, b'{"type":"action","action":1e999}', b'{"type":"\\ud800"}'])
)


@pytest.mark.skipif(os.name != "posix", reason="outside agents need a POSIX system")
@given(ANSWERS | st.just(READY), ANSWERS)
@settings(max_examples=max(15, settings().max_examples // 4))
def test_whatever_a_program_answers_it_moves_legally_or_loses(hello: bytes, answer: bytes) -> None:
    limits = Limits(move_seconds=60, start_seconds=60)
    command = [sys.executable, str(PROGRAMS / "answers.py"), hello.hex() or "00", answer.hex()]
    agent = OutsideAgent(f"cmd:{shlex.join(command)}", limits)
    table, rng = Table(find_game("crazy_eights"), seed=3), np.random.default_rng(0)
    try:
        agent.begin(table.game, table.options, 0, 2, rng)
        action = agent.act(table.turn(), rng)
        assert type(action) is int
        assert action in table.state.legal()
    except AgentFailed as error:
        check_sentence(error)
    finally:
        dismiss_all()
