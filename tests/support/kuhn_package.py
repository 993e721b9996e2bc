"""The outside package of the examples, installed where a test can run commands with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.paths import EXAMPLES, ROOT

__all__ = ["KUHN_PACKAGE", "install_kuhn_package"]

KUHN_PACKAGE = EXAMPLES / "kuhn_package"


def install_kuhn_package(folder: Path) -> dict[str, Any]:
    """Install the package under a folder, offline; returns where and how commands run with it."""
    source = shutil.copytree(KUHN_PACKAGE, folder / "source")  # building writes into it
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    offline = ["--no-build-isolation", "--no-deps", "--no-index", "--target", str(folder / "site")]
    subprocess.run([*pip, *offline, str(source)], check=True)
    shutil.rmtree(source)
    (folder / "work").mkdir()
    paths = os.pathsep.join([str(folder / "site"), str(ROOT / "src")])
    env = {**os.environ, "PYTHONPATH": paths, "XDG_DATA_HOME": str(folder / "data")}
    return {"cwd": folder / "work", "env": {**env, "COLUMNS": "120"}}
