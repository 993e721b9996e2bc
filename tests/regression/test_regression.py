"""Games, agents and commands do what they did: the stored data, compared by its script."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cardlab.engine.kernel import JIT

HERE = Path(__file__).parent
# The data were written with these kernels of OpenBLAS; others round differently, and the evolved
# ordering takes eigenvectors of a matrix in which some eigenvalues are equal.
KERNELS = {"OPENBLAS_CORETYPE": "Haswell"}
GAMES = sorted(file.stem for file in (HERE / "data").glob("*.json"))


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="interpreted kernels take hours")
@pytest.mark.parametrize("game", GAMES)
def test_everything_is_as_it_was(game: str) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "write.py"), "--check", "--game", game],
        capture_output=True,
        text=True,
        env={**os.environ, **KERNELS},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
