"""Run the quick tests with the lowest versions of the libraries that pyproject.toml allows.

    python tests/floors.py [PART ...]

Each part of PARTS gets a virtual environment of its own in build/floors. Its libraries have the
versions behind `>=`, which must exist and come as wheels; the test tools have those of
constraints.txt. `make floors` runs this with the oldest Python that is supported. It is not part of
`make check`, since it downloads some hundred megabytes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "floors"
FLOOR = re.compile(r"([\w.-]+)(?:\[[^]]*\])?\s*>=\s*([\d.]+)")
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "setuptools")

PARTS = {  # extra: its tests; "base" is what comes without any extra
    "base": (
        *("tests/engine", "tests/search", "tests/agents", "tests/arena", "tests/show"),
        *("tests/web", "--ignore", "tests/web/browser"),
    ),
    "papers": ("tests/papers",),
    "postgres": ("tests/arena", "-m", "slow or not slow", "-k", "postgresql"),
    "cluster": ("tests/arena/test_cluster.py", "-m", "slow or not slow"),
    "ladder": ("tests/arena/test_tournament.py", "-k", "leaderboard"),
    "interop": ("tests/interop/test_observations.py", "tests/interop/test_plugins.py"),
    "examples": ("tests/interop/test_environments.py",),
    "train": ("tests/learning", "tests/networks"),
}
WITH_TORCH = ("examples", "train")  # only where they are named: it has one version, a large one


def floors(part: str) -> dict[str, str]:
    """Return the lowest version of each library of the base and of an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = [] if part == "base" else project["optional-dependencies"][part]
    return dict(
        found.groups()
        for line in [*project["dependencies"], *extra]
        if (found := FLOOR.match(line))
    )


def tools() -> list[str]:
    """Return the test tools in the versions of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    return [line for line in lines if line.partition("==")[0].lower() in TOOLS]


def install(part: str) -> Path:
    """Make the environment of a part, and return its Python."""
    folder = FOLDER / part
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    lowest = folder / "floors.txt"
    lowest.write_text("".join(f"{name}=={version}\n" for name, version in floors(part).items()))
    python = folder / "bin" / "python"
    what = f"{ROOT}[{part}]" if part != "base" else str(ROOT)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wheels = ["--only-binary", ":all:", "--constraint", lowest]
    subprocess.run([*pip, *wheels, "--editable", what, *tools()], check=True)
    return python


def test(part: str) -> bool:
    """Install a part and run its tests; return whether all is well."""
    sys.stdout.write(f"\n{part}: {', '.join(map('=='.join, floors(part).items()))}\n")
    sys.stdout.flush()
    try:
        python = install(part)
    except subprocess.CalledProcessError:
        return False  # pip has said why
    chosen = PARTS[part]
    marks = [] if "-m" in chosen else ["-m", "not slow"]
    quiet = ["-W", "ignore::DeprecationWarning"]  # of old libraries about older ones
    command = [python, "-m", "pytest", "-n", "2", "--dist", "loadfile", *quiet, *marks, *chosen]
    return subprocess.run(command, cwd=ROOT, env=os.environ, check=False).returncode == 0


def main(parts: list[str]) -> None:
    """Test the parts that are named, or all but those that need torch."""
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        sys.exit(f"floors: unknown part {unknown[0]!r}; known: {', '.join(PARTS)}")
    failed = [part for part in parts or sorted(PARTS.keys() - WITH_TORCH) if not test(part)]
    if failed:
        sys.exit(f"floors: {', '.join(failed)} failed with the lowest versions of pyproject.toml")


if __name__ == "__main__":
    main(sys.argv[1:])
