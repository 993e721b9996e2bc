"""How arguments are read, and that names and objects, texts and paths mean the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab import Batch, Table, play_game
from cardlab.engine.arguments import (
    options_in_a_dict,
    read_count,
    read_kind,
    read_number,
    read_path,
    read_text,
    shorten,
)
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import OVER, Game
from cardlab.engine.observation import observation_of
from cardlab.engine.records import append_records, read_records
from cardlab.engine.replay import replay
from cardlab.interop.gymnasium import CardEnv


class Undescribable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("given", [3, np.int8(3), np.uint64(3)])
def test_a_count_is_a_whole_number_of_any_kind(given: Any) -> None:
    assert read_count(given, "games") == 3
    assert type(read_count(given, "games")) is int


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("3", "games must be a whole number, got '3'"),
        (3.0, "games must be a whole number, got 3.0"),
        (True, "games must be a whole number, got True"),
        (np.array([3]), "games must be a whole number, got array([3])"),
        (0, "games must be at least 1, got 0"),
        (10**30, "games must be at most 9,223,372,036,854,775,807, got 1"),
        (Undescribable(), "games must be a whole number, got an object of type Undescribable"),
    ],
)
def test_another_count_is_a_sentence(given: Any, sentence: str) -> None:
    with pytest.raises(CardlabError) as caught:
        read_count(given, "games")
    assert str(caught.value).startswith(sentence)


def test_numbers_texts_paths_and_kinds() -> None:
    assert read_number(np.float32(0.5), "size") == 0.5
    assert read_number(2, "size") == 2.0
    for wrong in ("1", True, None, float("nan"), float("inf"), 1j):
        with pytest.raises(CardlabError, match="size must be a number, got"):
            read_number(wrong, "size")
    assert read_text("7H", "card", "7H") == "7H"
    with pytest.raises(CardlabError, match=r"card must be a text such as '7H', got b'7H'"):
        read_text(b"7H", "card", "7H")
    assert read_path("a/b") == read_path(Path("a/b")) == Path("a/b")
    for wrong in (None, 3, b"x", "", "a\0b", "\ud800"):
        with pytest.raises(CardlabError, match="path"):
            read_path(wrong)
    assert read_kind(True, bool, "redeal", "give one") is True
    with pytest.raises(CardlabError, match=r"^at must be an OSError, got 3; raise one$"):
        read_kind(3, OSError, "at", "raise one")


def test_a_long_argument_is_quoted_in_short() -> None:
    assert shorten("x" * 500) == "'" + "x" * 59 + "..."


def test_options_are_given_in_one_dict_everywhere() -> None:
    """A keyword that is an option is refused with the dict to write; a dict is accepted."""
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (Table, ("crazy_eights",)),
        (Batch, ("crazy_eights", 2)),
        (play_game, ("crazy_eights", ["random", "random", "random"])),
        (CardEnv, ("crazy_eights",)),
    ]
    for function, arguments in calls:
        with pytest.raises(CardlabError) as caught:
            function(*arguments, seats=3, hand_size=5)
        words = "has no argument seats, hand_size; give options of the game in one dict: "
        assert words + "options={'seats': 3, 'hand_size': 5}" in str(caught.value)
        function(*arguments, options={"seats": 3}, **({"seed": 1} if function is Table else {}))

    class Cards:
        @options_in_a_dict
        def __init__(self, game: str, *, options: dict[str, Any] | None = None) -> None:
            self.options = options

    assert Cards("uno", options={"a": 1}).options == {"a": 1}
    with pytest.raises(CardlabError, match=r"Cards has no argument a; .*options=\{'a': 1\}"):
        Cards("uno", a=1)  # type: ignore[call-arg]


def test_a_game_may_be_a_name_or_an_object(crazy_eights: Game) -> None:
    tables = [Table(game, seed=7) for game in ("crazy_eights", crazy_eights)]
    assert tables[0].state.array.tobytes() == tables[1].state.array.tobytes()
    assert tables[0].game is tables[1].game is crazy_eights
    batches = [Batch(game, 5, seed=7) for game in ("crazy_eights", crazy_eights)]
    assert batches[0].states.tobytes() == batches[1].states.tobytes()
    assert observation_of("crazy_eights") is observation_of(crazy_eights)
    record = play_game("crazy_eights", ["random", "random"])
    states = [list(replay(record, game=game))[-1] for game in (None, "crazy_eights", crazy_eights)]
    assert len({table.state.array.tobytes() for table in states}) == 1


def test_a_path_may_be_a_text_or_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    records = [play_game("crazy_eights", ["random", "random"], seed=seed) for seed in range(3)]
    append_records("x.jsonl", *records[:2])
    append_records(tmp_path / "x.jsonl", records[2])
    for path in ("x.jsonl", Path("x.jsonl"), str(tmp_path / "x.jsonl")):
        assert list(read_records(path)) == list(enumerate(records, start=1))


def test_over_ends_a_loop_over_a_batch() -> None:
    """`done` tells of the last step only, `over` of every game that has ended."""
    batch = Batch("crazy_eights", 40, seed=2)
    rng, steps = np.random.default_rng(0), 0
    assert not batch.over.any()
    ended = np.zeros(40, dtype=bool)
    while not batch.over.all():
        batch.step(
            np.array([rng.choice(np.flatnonzero(row)) if row.any() else -1 for row in batch.mask])
        )
        ended |= batch.done
        steps += 1
        assert (batch.over == ended).all()
        assert (batch.over == (batch.mover == OVER)).all()
    assert not batch.done.all()
    assert batch.over.dtype == np.bool_
    assert steps <= batch.game.max_plies
    assert (batch.returns.sum(axis=1) == 0).all()


def test_over_is_never_true_where_games_are_dealt_again() -> None:
    batch = Batch("crazy_eights", 8, seed=2, redeal=True)
    met = 0
    for _ in range(300):
        batch.step(batch.mask.argmax(axis=1))
        met += int(batch.done.sum())
        assert not batch.over.any()
    assert met


def test_rows_of_a_batch_are_numbers_a_slice_or_a_mask() -> None:
    batch = Batch("crazy_eights", 4)
    mask = np.array([False, True, False, True])
    for rows in ([1, 3], (1, 3), np.array([1, 3]), mask, slice(1, None, 2), slice(-3, None, 2)):
        given: Any = np.array(rows) if isinstance(rows, tuple) else rows
        assert (batch.turns(given).views == batch.turns(np.array([1, 3])).views).all()
    assert len(batch.turns([])) == 0
