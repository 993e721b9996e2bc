"""A record survives its line; a changed record replays to a consistent game or is refused."""

from __future__ import annotations

import copy
import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.records import Record, append_records, read_records
from cardlab.engine.registry import find_game, our_games
from cardlab.engine.replay import replay
from cardlab.testing import random_table
from cardlab.web.limits import Limits
from cardlab.web.menu import Menu
from cardlab.web.messages import Review, read_body
from cardlab.web.replays import packed_replay, read_record
from tests.support.strategies import any_text, json_values, numbers, value_or_error

SHORT = {"uno": {"target": 0}, "koi_koi": {"rounds": 1}, "cribbage": {"target": 61}}
SEEDS = 3


@functools.cache
def played(name: str, seed: int) -> Record:
    """Return the record of a short random game, whole or broken off."""
    game = find_game(name)
    table = random_table(game, game.read_options(SHORT.get(name, {})), seed, None if seed else 5)
    return table.record([f"player {seat}" for seat in range(table.seats)])


@functools.cache
def menu() -> Menu:
    return Menu.of()


def place_in(data: Any, draw: Any) -> list[Any]:
    """Return the path of a value within data, at any depth."""
    path = []
    while isinstance(data, (dict, list)) and data and (not path or draw(st.integers(0, 3))):
        keys = list(data) if isinstance(data, dict) else range(len(data))
        path.append(draw(st.sampled_from(keys)))
        data = data[path[-1]]
    return path


def change(data: Any, draw: Any) -> Any:
    """Return data with one thing about it changed."""
    data = copy.deepcopy(data)
    path = place_in(data, draw)
    home = data
    for step in path[:-1]:
        home = home[step]
    last, old = path[-1], home[path[-1]]
    kinds = ["replace", "drop", "near", "more", "swap", "nest"]
    kind = draw(st.sampled_from(kinds))
    if kind == "drop":
        del home[last]
    elif kind == "near" and isinstance(old, (int, float)):
        home[last] = old + draw(st.sampled_from([-1, 1, 0.5, 0.0, 2**63]))
    elif kind == "near" and isinstance(old, str):
        home[last] = draw(st.sampled_from([old.lower(), f" {old}", old[::-1], old[1:], old * 2]))
    elif kind == "more":
        home["odd" if isinstance(home, dict) else slice(last, last)] = (
            draw(json_values) if isinstance(home, dict) else [copy.deepcopy(old)]
        )
    elif kind == "swap" and isinstance(home, list):
        other = draw(st.integers(0, len(home) - 1))
        home[last], home[other] = home[other], old
    elif kind == "nest":
        home[last] = [old] if draw(st.booleans()) else {"": old}
    else:
        home[last] = draw(json_values | numbers.filter(lambda one: abs(one) < 10**3999) | any_text)
    return data


def check_consistent(record: Record) -> None:
    """Every action is legal where it is taken, and the result is what the rules say."""
    tables = 0
    for table in replay(record):
        assert table.actions == [action for action, _ in record.actions[:tables]]
        assert table.game.audit(table.state.array[0]) == 0
        tables += 1
        last = table
    assert tables == len(record.actions) + 1
    assert [last.game.order_text(order) for order in last.deals] == [
        last.game.order_text(last.game.parse_order(text)) for text in record.deals
    ]
    if record.forfeit is None:
        assert last.record(record.seats).result == record.result


@pytest.mark.parametrize("name", our_games())
def test_a_game_survives_its_line_and_its_file(name: str, tmp_path: Path) -> None:
    records = [played(name, seed) for seed in range(SEEDS)]
    file = tmp_path / "records.jsonl"
    for record in records:
        assert Record.from_line(record.to_line()) == record
        check_consistent(record)
        append_records(file, record)
    assert [record for _, record in read_records(file)] == records


@pytest.mark.parametrize("value", ["NaN", "Infinity", '"nan"'])
def test_a_result_has_finite_numbers(value: str) -> None:
    whole = played("crazy_eights", 1).model_dump()
    line = json.dumps({**whole, "result": {"returns": ["?", 0], "points": [0, 0]}})
    assert isinstance(value_or_error(Record.from_line, line.replace('"?"', value)), CardlabError)


@pytest.mark.parametrize("name", our_games())
@given(data=st.data())
def test_a_changed_record_is_refused_or_replays_to_a_consistent_game(
    name: str, data: st.DataObject
) -> None:
    record = played(name, data.draw(st.integers(0, SEEDS - 1)))
    changed = change(json.loads(record.to_line()), data.draw)
    line = json.dumps(changed)
    read = value_or_error(Record.from_line, line)
    if not isinstance(read, CardlabError):
        assert Record.from_line(read.to_line()) == read
        value_or_error(check_consistent, read)
    for sent in (line, changed):  # as the web takes it: a line, or what a line holds
        found = value_or_error(as_sent, sent)
        assert not isinstance(read, CardlabError) or isinstance(found, CardlabError)
        if not isinstance(found, CardlabError):
            assert found[1] == read
            value_or_error(packed_replay, *found)


def as_sent(record: Any) -> tuple[Game, Record]:
    """Return game and record of a request for a review."""
    body = json.dumps({"record": record, "adviser": "heuristic"})
    return read_record(read_body(body, Review).record, menu(), Limits())


@given(
    any_text
    | json_values.map(json.dumps)
    | st.integers(1, 200_000).map(lambda depth: "[" * depth)
    | st.sampled_from(['{"a":"\\ud800"}', '{"seed":1e999}', '{"rules":NaN}', '{"a\\nb":1}'])
)
def test_any_line_is_a_record_or_a_mistake(line: str) -> None:
    value_or_error(Record.from_line, line)


@given(
    st.binary(max_size=200)
    | st.lists(any_text).map(lambda ls: "\n".join(ls).encode(errors="replace"))
)
def test_any_file_is_one_of_records_or_a_mistake(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "records.jsonl"
        file.write_bytes(content)
        value_or_error(lambda: list(read_records(file)))
