"""Locks, and the private folder for temporary files that they lie in."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from cardlab.engine.errors import CardlabError
from cardlab.engine.locks import only_one
from cardlab.engine.private_folders import distrust, temporary_folder

if os.name != "posix":
    pytest.skip("owners and links of POSIX systems", allow_module_level=True)

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="root alone can give files away")
STRANGER = 54321  # a user that is not there


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the private folder will be, in a folder for temporary files that all can write to."""
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    return shared / f"cardlab-{os.geteuid()}"


def test_locks_lie_in_a_folder_that_is_closed_to_others(private: Path, tmp_path: Path) -> None:
    with only_one(tmp_path / "run"):
        assert private.stat().st_mode & 0o777 == 0o700
        assert len(list(private.glob("*.lock"))) == 1


def test_a_link_in_place_of_the_folder_is_not_followed(private: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    private.symlink_to(theirs)
    with pytest.raises(CardlabError, match=r"cannot be used .* another folder for them in TMPDIR"):
        only_one(tmp_path / "run").__enter__()
    assert not list(theirs.iterdir())


@root_only
def test_a_folder_that_another_user_has_made_before_is_refused(private: Path) -> None:
    private.mkdir()
    os.chown(private, STRANGER, STRANGER)
    with pytest.raises(CardlabError, match="it belongs to another user"):
        temporary_folder()
    assert not list(private.iterdir())


def test_a_folder_that_was_open_to_others_is_closed(private: Path) -> None:
    private.mkdir()
    private.chmod(0o777)
    assert temporary_folder() == private
    assert private.stat().st_mode & 0o777 == 0o700


def test_a_link_in_place_of_a_lock_is_not_followed(private: Path, tmp_path: Path) -> None:
    with only_one(tmp_path / "run"):
        (lock,) = private.glob("*.lock")
    precious = tmp_path / "precious"
    precious.write_text("a person's file")
    lock.unlink(missing_ok=True)
    lock.symlink_to(precious)
    with pytest.raises(OSError, match="symbolic links"), only_one(tmp_path / "run"):
        pass
    assert precious.read_text() == "a person's file"


def test_the_folder_for_temporary_files_may_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not there"))
    with pytest.raises(CardlabError, match="No such file"):
        temporary_folder()


@root_only
@pytest.mark.parametrize(
    ("owner", "mode", "reason"),
    [
        (0, 0o700, ""),
        (0, 0o755, ""),
        (0, 0o775, "other users can write to it"),
        (0, 0o1777, "other users can write to it"),
        (STRANGER, 0o700, "it belongs to another user"),
    ],
)
def test_what_speaks_against_a_folder(tmp_path: Path, owner: int, mode: int, reason: str) -> None:
    os.chown(tmp_path, owner, owner)
    tmp_path.chmod(mode)
    assert distrust(tmp_path.stat()) == reason
