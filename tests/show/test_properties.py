"""Whatever a person types at the terminal, the game goes on by the rules and its record replays."""

from __future__ import annotations

import functools
import io
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from cardlab.agents.catalog import find_agent
from cardlab.engine.play import Table
from cardlab.engine.records import read_records
from cardlab.engine.registry import find_game, our_games
from cardlab.engine.replay import replay
from cardlab.show.terminal import play_in_terminal
from tests.support.strategies import texts_near


@functools.cache
def agent(name: str) -> Any:
    return find_agent("heuristic", find_game(name))


@pytest.mark.parametrize("name", our_games())
@settings(max_examples=max(15, settings().max_examples // 4))
@given(data=st.data())
def test_any_answers_at_the_terminal_leave_a_record_that_replays(
    name: str, data: st.DataObject
) -> None:
    game = find_game(name)
    table = Table(game, seed=data.draw(st.integers(0, 2**60)))
    actions = [game.action_text(action) for action in range(0, game.num_actions, 7)]
    answer = texts_near([*actions, "?", "h", "1", "2", "5", "q"]) | st.sampled_from(["1", "h", ""])
    answers = data.draw(st.lists(answer, max_size=8))
    seat = data.draw(st.integers(0, table.seats - 1))
    rest = iter(answers)

    def read(question: str) -> str:
        try:
            return next(rest)
        except StopIteration:
            raise EOFError from None

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.jsonl"
        play_in_terminal(
            table,
            [agent(name)] * (table.seats - 1),
            seat=seat,
            adviser=agent(name),
            record_path=path,
            console=Console(file=io.StringIO(), width=80),
            read=read,
        )
        [(_, record)] = read_records(path)
    *_, last = replay(record)
    assert last.actions == table.actions
