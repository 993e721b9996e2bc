"""Folders that a person names: a mistyped one is an error with a way out, never made silently."""

from __future__ import annotations

from pathlib import Path

import pytest

from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import check_folder, make_data_folder, make_folder, require_folder


def test_the_folder_of_a_file_must_exist(tmp_path: Path) -> None:
    require_folder(tmp_path / "games.jsonl")
    with pytest.raises(CardlabError) as raised:
        require_folder(tmp_path / "a b" / "games.jsonl")
    assert str(raised.value) == (
        f"{tmp_path}/a b/games.jsonl cannot be written: folder {tmp_path}/a b does not exist; make "
        f"it with mkdir -p '{tmp_path}/a b'"
    )
    (tmp_path / "file").touch()
    with pytest.raises(CardlabError, match="is a file, not a folder; name another folder"):
        require_folder(tmp_path / "file" / "games.jsonl")
    with pytest.raises(CardlabError, match="File name too long; name another folder"):
        require_folder(tmp_path / ("x" * 300) / "games.jsonl")


def test_a_similar_folder_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "records" / "uno").mkdir(parents=True)
    with pytest.raises(CardlabError, match=f"did you mean {tmp_path}/records/uno. otherwise make"):
        require_folder(tmp_path / "recodrs" / "uno" / "games.jsonl")
    with pytest.raises(CardlabError) as raised:  # nothing like it
        require_folder(tmp_path / "elsewhere" / "games.jsonl")
    assert "did you mean" not in str(raised.value)


def test_only_the_last_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_folder(tmp_path / "run")
    make_folder(tmp_path / "run")
    assert (tmp_path / "run").is_dir()
    for call in (check_folder, make_folder):
        with pytest.raises(CardlabError, match=f"make it with mkdir -p {tmp_path}/no/a$"):
            call(tmp_path / "no" / "a" / "b")
    (tmp_path / "file").touch()
    with pytest.raises(CardlabError, match="cannot be made: File name too long"):
        make_folder(tmp_path / ("x" * 300))
    with pytest.raises(CardlabError, match=r"cannot be made: .*null"):
        make_folder(tmp_path / "a\0b")
    with pytest.raises(CardlabError, match="file cannot be made: File exists"):
        make_folder(tmp_path / "file")
    monkeypatch.chdir(tmp_path)
    make_folder(Path("runs") / "uno" / "mine")  # the place of runs without a name
    assert (tmp_path / "runs" / "uno" / "mine").is_dir()
    assert not (tmp_path / "no").exists()


def test_the_folder_of_a_users_data_is_made(tmp_path: Path) -> None:
    make_data_folder(tmp_path / "data" / "games")
    assert (tmp_path / "data" / "games").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(CardlabError, match="name another data folder in XDG_DATA_HOME"):
        make_data_folder(tmp_path / "file" / "games")
