"""Files of arrays from strangers: damaged in any way they are one sentence, and nothing is run."""

from __future__ import annotations

import pickle
import random
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from cardlab.engine.array_files import load_array, read_arrays
from cardlab.engine.errors import CardlabError
from cardlab.games.birds_of_a_feather.solvers.models import (
    FOLDER,
    load_model,
    load_ordering,
    shipped_model,
    shipped_ordering,
)
from cardlab.games.crazy_eights.agents.tabular_q import load_table
from cardlab.learning.runs import load_arrays, save_arrays

Loader = Callable[[Path], object]
LOADERS: list[Loader] = [
    load_table,
    load_model,
    load_ordering,
    load_arrays,
    lambda path: read_arrays(path, "table"),
    lambda path: load_array(path, "q", None, "table"),
]


def damaged(path: Path) -> dict[str, bytes]:
    """Return files that are like a good one, but not quite."""
    np.savez_compressed(path, q=np.arange(300.0))
    whole = path.read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.npy", b"\x93NUMPY\x01\x00\x06\x00{'a':\n" + b"x" * 40)
    header = path.read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.npy", pickle.dumps(print))
    pickled = path.read_bytes()
    np.savez(path, q=np.array([{}], dtype=object))
    objects = path.read_bytes()
    encrypted = bytearray(whole)
    encrypted[6] |= 1  # the flag of a file with a password, in both places
    encrypted[whole.index(b"PK\x01\x02") + 8] |= 1
    method = bytearray(whole)
    method[8] = method[whole.index(b"PK\x01\x02") + 10] = 99
    return {
        "empty": b"",
        "text": b"Dear all,\n" * 50,
        "half": whole[: len(whole) // 2],
        "no end": whole[:-10],
        "flipped": whole[:60] + bytes([whole[60] ^ 255]) + whole[61:],
        "header": header,
        "pickle": pickled,
        "objects": objects,
        "encrypted": bytes(encrypted),
        "method": bytes(method),
    }


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    for name, data in damaged(path).items():
        path.write_bytes(data)
        for load in LOADERS:
            with pytest.raises(CardlabError, match=r"table\.npz") as caught:
                pytest.fail(f"{name}: {load(path)!r}")
            assert "\n" not in str(caught.value), name


def test_any_flipped_byte_is_one_sentence_or_another_number(tmp_path: Path) -> None:
    path, rng = tmp_path / "table.npz", random.Random(3)
    for save in (np.savez, np.savez_compressed):
        save(path, q=np.arange(40.0))
        whole = path.read_bytes()
        for _ in range(400):
            data = bytearray(whole)
            for _ in range(rng.choice((1, 2, 8))):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path.write_bytes(data)
            with suppress(CardlabError):
                load_array(path, "q", (40,), "table")


def test_a_model_of_which_parts_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    for load, whole in ((load_model, "lr"), (load_ordering, "evolved")):
        with np.load(FOLDER / f"{whole}.npz") as file:
            arrays = dict(file)
        for name in arrays:
            for wrong in (None, np.array(["x"]), np.zeros((2, 2, 2)), np.array([np.nan])):
                if name == "kind" and wrong is not None:
                    continue
                changed = {key: value for key, value in arrays.items() if key != name}
                if wrong is not None:
                    changed[name] = wrong
                np.savez(path, **changed)
                with pytest.raises(CardlabError, match=r"model\.npz holds no (model|ordering)"):
                    load(path)
    assert shipped_model("lr").coefficients.size
    assert shipped_ordering().features


def test_what_is_saved_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    assert load_arrays(path) is None
    save_arrays(path, q=np.arange(3), r=np.ones((2, 2)))
    found = load_arrays(path)
    assert found is not None
    assert found.keys() == {"q", "r"}
    assert load_array(path, "q", (3,), "table").tolist() == [0, 1, 2]
    with pytest.raises(CardlabError, match=r"shape \(3,\); needed is \(4,\)"):
        load_array(path, "q", (4,), "table")
    with pytest.raises(CardlabError, match="holds no table"):
        load_array(path, "s", None, "table")
