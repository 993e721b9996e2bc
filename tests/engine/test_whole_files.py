"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cardlab.engine.whole_files import whole_file


def test_a_file_appears_whole_with_the_mode_of_a_new_file(tmp_path: Path) -> None:
    path, plain = tmp_path / "config.json", tmp_path / "plain"
    plain.touch()
    path.write_text("old")
    with whole_file(path) as rough:
        rough.write_text("half")
        assert path.read_text() == "old"
        rough.write_text("whole")
    assert path.read_text() == "whole"
    assert path.stat().st_mode == plain.stat().st_mode
    assert sorted(tmp_path.iterdir()) == [path, plain]


def test_what_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), whole_file(path) as rough:
        rough.write_text(str(1 // 0))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_has_left_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    left = tmp_path / ".config.json.new-killed"
    left.mkdir()
    (left / "config.json").write_text("half")
    with whole_file(path) as rough:
        rough.write_text("whole")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX systems")
def test_no_link_is_followed(tmp_path: Path) -> None:
    path, precious = tmp_path / "config.json", tmp_path / "precious"
    precious.write_text("a person's file")
    for name in ("config.json", "config.json.new"):
        (tmp_path / name).symlink_to(precious)
    with whole_file(path) as rough:
        assert rough.parent.stat().st_mode & 0o777 == 0o700
        rough.write_text("new")
    assert precious.read_text() == "a person's file"
    assert path.read_text() == "new"


def test_it_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (steps.append("fsync"), sync(file)))
    monkeypatch.setattr(os, "replace", lambda a, b: (steps.append("replace"), replace(a, b)))
    with whole_file(tmp_path / "a") as rough:
        rough.touch()
    assert steps == ["fsync", "replace"]
