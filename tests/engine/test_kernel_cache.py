"""The files of compiled kernels: damage, owners and folders, with real processes."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardlab.engine import kernel_cache
from cardlab.engine.errors import CardlabWarning
from cardlab.engine.kernel import JIT, kernel
from cardlab.engine.kernel_cache import cache_folder, prune_cache, read_kernel, write_kernel

needs_jit = pytest.mark.skipif(not JIT, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")
posix_only = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX systems")
root_only = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root alone can give files away"
)
STRANGER = 54321  # a user that is not there

ADDS = """
import sys
from cardlab.engine import kernel

@kernel.kernel
def add(x):
    return x + 1

sys.stdout.write(f"{add(1)} {len(kernel.compiled)}")
"""
COMPILED, LOADED = "2 1", "2 0"


def run(cache: Path | None, code: str = ADDS, **env: str) -> tuple[str, list[str]]:
    """Return what a process writes that uses a cache, and the warnings that it gives."""
    given = {name: value for name, value in os.environ.items() if name != "CARDLAB_CACHE_DIR"}
    if cache:
        given["CARDLAB_CACHE_DIR"] = str(cache)
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=given | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, (ended.returncode, ended.stderr)
    return ended.stdout, [row for row in ended.stderr.splitlines() if "CardlabWarning" in row]


@pytest.fixture(scope="module")
def one_kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with one kernel in it, made once."""
    cache = tmp_path_factory.mktemp("one") / "cache"
    assert run(cache) == (COMPILED, [])
    assert run(cache) == (LOADED, [])
    return cache


@pytest.fixture
def filled(one_kernel: Path, tmp_path: Path) -> Path:
    """A cache with one kernel in it, for one test."""
    return Path(shutil.copytree(one_kernel, tmp_path / "cache"))


@pytest.fixture(autouse=True)
def newly_started() -> Iterator[None]:
    """Each test chooses a folder, and is warned, like a process that has just started."""
    kernel_cache._folder_for.cache_clear()
    kernel_cache._warned.clear()
    yield
    kernel_cache._folder_for.cache_clear()
    kernel_cache._warned.clear()


def only_file(cache: Path) -> Path:
    (path,) = cache.glob("*.kernel")
    return path


def flip(path: Path, place: int, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


@pytest.mark.slow
@needs_jit
def test_a_flipped_bit_anywhere_costs_one_line_and_a_compilation(filled: Path) -> None:
    head = [0, 1, len(kernel_cache.MARK), kernel_cache.HEAD - 1, kernel_cache.HEAD]
    for place in [*head, *(part / 12 for part in (1, 4, 6, 8, 11)), -1]:
        length = only_file(filled).stat().st_size  # of each compilation a little different
        flip(only_file(filled), place if isinstance(place, int) else int(length * place), 3)
        out, warnings = run(filled)
        assert out == COMPILED, place
        assert len(warnings) == 1, warnings
        assert f"{only_file(filled)} was damaged and is compiled again" in warnings[0]
        assert run(filled) == (LOADED, []), "it is whole again"


def test_no_flipped_bit_of_a_file_is_overlooked(tmp_path: Path) -> None:
    path = tmp_path / "add-0123.kernel"
    write_kernel(path, b"machine code")
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            path.write_bytes(whole)
            flip(path, place, bit)
            kernel_cache._warned.clear()
            with pytest.warns(CardlabWarning, match=r"add-0123.kernel was damaged"):
                assert read_kernel(path) is None
    path.write_bytes(whole)
    assert bytes(read_kernel(path) or b"") == b"machine code"


@pytest.mark.parametrize("length", [0, 100])
@needs_jit
def test_a_truncated_file_is_compiled_again(filled: Path, length: int) -> None:
    path = only_file(filled)
    path.write_bytes(path.read_bytes()[:length])
    out, warnings = run(filled)
    assert (out, len(warnings)) == (COMPILED, 1)
    assert run(filled) == (LOADED, [])


def test_many_damaged_files_are_one_line(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.kernel" for name in "abc"]
    for path in paths:
        path.write_bytes(b"no kernel")
    with pytest.warns(CardlabWarning) as warned:
        assert [read_kernel(path) for path in paths] == [None, None, None]
    assert len(warned) == 1


def test_a_kernel_under_the_name_of_another_is_not_used(tmp_path: Path) -> None:
    write_kernel(tmp_path / "deal-1.kernel", b"code")
    (tmp_path / "deal-1.kernel").rename(tmp_path / "score-2.kernel")
    with pytest.warns(CardlabWarning, match="damaged"):
        assert read_kernel(tmp_path / "score-2.kernel") is None


def test_a_kernel_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (steps.append("fsync"), sync(file)))
    monkeypatch.setattr(os, "replace", lambda a, b: (steps.append("replace"), replace(a, b)))
    write_kernel(tmp_path / "a.kernel", b"code")
    assert steps == ["fsync", "replace"]


class Runs:
    """What a stranger puts into a pickle."""

    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, (os.environ["CARDLAB_TEST_PROOF"],))


@root_only
@needs_jit
def test_a_file_of_another_user_is_not_unpickled(filled: Path, tmp_path: Path) -> None:
    path, proof = only_file(filled), tmp_path / "proof"
    os.environ["CARDLAB_TEST_PROOF"] = str(proof)
    write_kernel(path, pickle.dumps(Runs()))
    assert run(filled)[0] == COMPILED
    assert proof.exists(), "it would have run"
    proof.rmdir()
    write_kernel(path, pickle.dumps(Runs()))
    os.chown(path, STRANGER, STRANGER)
    assert run(filled)[0] == COMPILED
    assert not proof.exists()
    assert path.stat().st_uid == 0, "it is replaced by a file of one's own"


@posix_only
@needs_jit
@pytest.mark.parametrize("mode", [0o1777, 0o775])
def test_a_folder_that_others_can_write_to_is_not_used(filled: Path, mode: int) -> None:
    temporary = filled.parent / "tmp"
    temporary.mkdir()
    filled.chmod(mode)
    out, warnings = run(filled, TMPDIR=str(temporary))
    assert out == COMPILED
    assert len(warnings) == 1
    assert f"not in {filled} (other users can write to it)" in warnings[0]
    assert "CARDLAB_CACHE_DIR" in warnings[0]
    private = temporary / f"cardlab-{os.geteuid()}" / "kernels"
    assert only_file(private).stat().st_mode & 0o077 == 0
    assert run(filled, TMPDIR=str(temporary))[0] == LOADED, "kept in the private folder"
    filled.chmod(0o755)
    assert run(filled, TMPDIR=str(temporary)) == (LOADED, []), "the way out helps"


@root_only
@needs_jit
def test_root_does_not_run_what_lies_in_the_folder_of_a_user(filled: Path) -> None:
    temporary = filled.parent / "tmp"
    temporary.mkdir()
    os.chown(filled, STRANGER, STRANGER)
    out, warnings = run(filled, TMPDIR=str(temporary))
    assert out == COMPILED
    assert f"not in {filled} (it belongs to another user)" in warnings[0]


@root_only
@needs_jit
def test_where_the_private_folder_is_taken_nothing_is_kept(filled: Path) -> None:
    temporary = filled.parent / "tmp"
    taken = temporary / f"cardlab-{os.geteuid()}"
    taken.mkdir(parents=True)
    os.chown(taken, STRANGER, STRANGER)
    filled.chmod(0o777)
    for _ in range(2):
        out, warnings = run(filled, TMPDIR=str(temporary))
        assert out == COMPILED
        assert len(warnings) == 1
        assert "every start will compile again until CARDLAB_CACHE_DIR names" in warnings[0]
    assert not list(taken.iterdir())


@posix_only
@needs_jit
def test_the_folder_of_cardlab_itself_is_closed_instead(tmp_path: Path) -> None:
    # An earlier version made it with the user's mask, which may let the group write.
    folder = tmp_path / ".cache" / "cardlab"
    folder.mkdir(parents=True)
    folder.chmod(0o775)
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    assert run(None, **home) == (COMPILED, [])
    assert run(None, **home) == (LOADED, [])
    assert folder.stat().st_mode & 0o777 == 0o755


@posix_only
@needs_jit
def test_a_new_folder_is_closed_to_others_under_any_mask(tmp_path: Path) -> None:
    opened = "import os; os.umask(0)" + ADDS
    assert run(tmp_path / "new" / "cache", opened) == (COMPILED, [])
    assert run(tmp_path / "new" / "cache", opened) == (LOADED, [])
    assert (tmp_path / "new" / "cache").stat().st_mode & 0o777 == 0o700


@posix_only
@needs_jit
def test_without_a_home_kernels_are_kept_in_a_private_folder(tmp_path: Path) -> None:
    nobody = "import os, pwd; del os.environ['HOME']; pwd.getpwuid = {}.__getitem__" + ADDS
    here = {"TMPDIR": str(tmp_path), "XDG_CACHE_HOME": ""}
    out, warnings = run(None, nobody, **here)
    assert (out, len(warnings)) == (COMPILED, 1)
    assert "there is no home folder" in warnings[0]
    assert run(None, nobody, **here)[0] == LOADED
    assert not Path("~").exists()


@needs_jit
def test_a_folder_that_cannot_be_made_is_said_once(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    out, warnings = run(blocked / "cache", TMPDIR=str(tmp_path))
    assert (out, len(warnings)) == (COMPILED, 1)
    assert "in CARDLAB_CACHE_DIR" in warnings[0]


@posix_only
@root_only
@needs_jit
def test_what_root_has_compiled_serves_a_user_who_cannot_write(filled: Path) -> None:
    for folder in (filled, *filled.parents):
        if folder.owner() == "root" and folder != Path("/tmp") and folder.name:
            folder.chmod(folder.stat().st_mode | 0o055)
    only_file(filled).chmod(0o644)
    again = f"""
import os
assert add(1) == 2  # all of Numba is imported
os.setgid({STRANGER})
os.setuid({STRANGER})
kernel.kernel(add.py_func)(1)
assert not os.access({str(filled)!r}, os.W_OK)
assert not kernel.compiled
"""
    assert run(filled, ADDS + again) == (LOADED, [])


def test_a_link_in_place_of_a_kernel_is_not_followed(tmp_path: Path) -> None:
    write_kernel(tmp_path / "a.kernel", b"code")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a.kernel").rename(tmp_path / "elsewhere" / "a.kernel")
    (tmp_path / "a.kernel").symlink_to(tmp_path / "elsewhere" / "a.kernel")
    with pytest.warns(CardlabWarning, match="cannot be read"):
        assert read_kernel(tmp_path / "a.kernel") is None


@needs_jit
def test_pruning_removes_what_nobody_uses(tmp_path: Path) -> None:
    for name in "ab":
        write_kernel(tmp_path / f"{name}.kernel", b"code")
        os.utime(tmp_path / f"{name}.kernel", (0, 0))
    assert read_kernel(tmp_path / "a.kernel") is not None  # used: it is young again
    assert prune_cache(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.kernel"]


@needs_jit
def test_a_cache_that_cannot_be_written_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    def twice(number: int) -> int:
        return number + number

    monkeypatch.setenv("CARDLAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "fsync", full)
    compiled = kernel(twice)
    with pytest.warns(CardlabWarning, match="CARDLAB_CACHE_DIR names a folder") as warned:
        assert [compiled(number) for number in (2, 2.0)] == [4, 4]
    assert len(warned) == 1
    assert not list(tmp_path.iterdir()), "nothing half written is left"
    assert cache_folder() == tmp_path
