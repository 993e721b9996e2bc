"""Replacing one record of a file: the other lines keep every byte, and nothing is half written."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cardlab.engine import records
from cardlab.engine.errors import CardlabError
from cardlab.engine.play import Table
from cardlab.engine.records import Record, append_records, read_records, replace_record


def record(seed: int, plies: int = 2) -> Record:
    table = Table("crazy_eights", seed=seed)
    for _ in range(plies):
        table.act(int(table.turn().legal[0]))
    return table.record(["you", "random"], note="left unfinished")


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"  \n", b""])
def test_other_lines_keep_every_byte(ending: bytes, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    before = b'{"no": "record"}\n\xff\xfe\n\n  ' + record(1).to_line().encode() + b"\n"
    after = b"" if not ending else b'{"torn": '
    path.write_bytes(before + record(2).to_line().encode() + ending + after)
    replace_record(path, record(2), record(2, 5))
    assert path.read_bytes() == before + record(2, 5).to_line().encode() + ending + after


def test_a_line_is_found_however_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(record(1).model_dump_json() + "\n")  # another order of fields and nulls
    assert path.read_text() != record(1).to_line() + "\n"
    replace_record(path, record(1), record(3))
    assert [found for _, found in read_records(path)] == [record(3)]


def test_of_equal_records_the_last_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    append_records(path, record(1), record(1))
    replace_record(path, record(1), record(2))
    assert [found for _, found in read_records(path)] == [record(1), record(2)]


def test_a_record_that_is_gone_is_not_replaced_but_appended(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    append_records(path, record(1))
    replace_record(path, record(7), record(2))
    assert [found for _, found in read_records(path)] == [record(1), record(2)]


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX systems")
def test_links_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "games.jsonl", tmp_path / "link.jsonl"
    append_records(path, record(1))
    path.chmod(0o600)
    link.symlink_to(path)
    replace_record(link, record(1), record(2))
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [found for _, found in read_records(path)] == [record(2)]


def test_if_writing_fails_the_file_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.jsonl"
    append_records(path, record(1), record(2))
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(records.shutil, "copymode", full)
    with pytest.raises(CardlabError, match="No space left on device; it is as it was before"):
        replace_record(path, record(2), record(2, 5))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["games.jsonl"]


def test_a_table_goes_back_to_an_earlier_ply() -> None:
    table = Table("koi_koi", seed=5, options={"rounds": 2})
    while not table.over:
        table.act(int(table.turn().legal[-1]))
    for ply in (0, 1, len(table.actions) // 2, len(table.actions)):
        again = table.at_ply(ply)
        assert again.actions == table.actions[:ply]
        assert again.dealt_by_seed
        for action in table.actions[ply:]:
            again.act(action)
        assert again.state.array == table.state.array
    given = Table("koi_koi", seed=6, deals=table.deals, options={"rounds": 2}).at_ply(0)
    assert [list(order) for order in given.given_deals] == [list(order) for order in table.deals]
