"""Files of arrays with any damage give their arrays or a mistake in one sentence."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cardlab.engine.array_files import load_array
from cardlab.engine.errors import CardlabError
from tests.support.strategies import value_or_error

VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)


def content(compressed: bool) -> bytes:
    """Return the bytes of a file with one array."""
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, q=VALUES)
    return file.getvalue()


@given(st.booleans(), st.data())
def test_a_damaged_file_of_arrays_is_read_or_is_a_mistake(
    compressed: bool, data: st.DataObject
) -> None:
    whole = content(compressed)
    first = data.draw(st.integers(0, len(whole)))
    gone = data.draw(st.integers(0, 8) | st.just(len(whole)))
    more = data.draw(st.binary(max_size=8))
    damaged = whole[:first] + more + whole[first + gone :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        path.write_bytes(damaged)
        found = value_or_error(load_array, path, "q", (3, 4), "values")
        if not isinstance(found, CardlabError):
            assert found.shape == (3, 4)
