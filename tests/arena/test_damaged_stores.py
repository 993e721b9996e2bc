"""Stores whose bytes are damaged: one sentence, whatever the database's driver makes of them."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.engine.errors import CardlabError


def test_a_description_of_tables_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    """SQLite quotes the damaged bytes in its message, which is then no UTF-8."""
    path = tmp_path / "games.db"
    Store(str(path)).close()
    data = path.read_bytes()
    entry = b"tabletimestimes"
    start = data.index(entry)
    broken = (
        data[start:].replace(entry, b"table\xb9\xb9mestimes", 1).replace(b"CREATE", b"CR\xb9ATE", 1)
    )
    path.write_bytes(data[:start] + broken)
    with pytest.raises(CardlabError, match=r"games\.db cannot be used: its description"):
        Store(str(path))


@pytest.mark.filterwarnings("ignore::cardlab.engine.errors.CardlabWarning")
def test_bytes_overwritten_anywhere_end_in_a_sentence_or_in_games(tmp_path: Path) -> None:
    sound = tmp_path / "sound.db"
    plan = Plan.make("crazy_eights", ["random", "heuristic"], 4)
    with Store(str(sound)) as store:
        play_tournament(plan, store, enter(plan, store))
    data, rng = sound.read_bytes(), random.Random(1)
    for number in range(150):
        path = tmp_path / f"{number}.db"
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 8))):
            at = rng.randrange(len(data))
            damaged[at : at + 16] = rng.randbytes(len(damaged[at : at + 16]))
        path.write_bytes(damaged)
        with suppress(CardlabError), Store(str(path)) as store:
            for entered in store.tournaments():
                store.count(entered.id)
                list(store.games(entered.id))
