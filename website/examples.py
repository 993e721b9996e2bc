"""The examples of the Python reference, run: one file for each public module, a cell for each name.

    # %% Table, play_game

    from cardlab import Table

    table = Table("crazy_eights", seed=1)
    print(table.over)

    #: False

The file of `cardlab.engine.play` is `examples/engine/play.py`. A cell runs by itself, in an empty
folder; what it prints stands behind it, each line after `#: `, with `...` for what differs from
one run to the next. `(needs ray)` behind the names says what must be installed, `(needs gpu)` that
there must be one. `python website/examples.py [MODULE ...]` runs them and writes what they print.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import sys
import tempfile
import traceback
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

HOME = Path(__file__).parent / "examples"
HEAD = re.compile(r"^# %% (?P<names>[^(\n]+?)(?: \(needs (?P<needs>[\w., ]+)\))?$\n", re.MULTILINE)
PRINTED = "#: "


@dataclass(frozen=True)
class Example:
    """A cell: the names that it shows, what must be there, its code, and what it prints."""

    module: str
    names: tuple[str, ...]
    needs: tuple[str, ...]
    code: str
    output: str
    head: str  # the line of its names

    @property
    def missing(self) -> list[str]:
        """What is not installed of what it needs."""
        return [one for one in self.needs if not _is_there(one)]


def _is_there(what: str) -> bool:
    if what == "gpu":
        return Path("/dev/nvidia0").exists() and find_spec("numba_cuda") is not None
    return find_spec(what) is not None


def read(path: Path) -> list[Example]:
    """Return the cells of a file."""
    parts = path.relative_to(HOME).with_suffix("").parts
    module = ".".join(["cardlab", *parts])
    text = path.read_text(encoding="utf-8")
    found = []
    heads = list(HEAD.finditer(text))
    for head, end in zip(heads, [*(one.start() for one in heads[1:]), len(text)], strict=True):
        lines = text[head.end() : end].strip("\n").splitlines()
        printed = [one for one in lines if one.startswith(PRINTED.rstrip())]
        code = "\n".join(one for one in lines if one not in printed).strip("\n") + "\n"
        output = "".join(one.removeprefix(PRINTED).removeprefix("#:") + "\n" for one in printed)
        names = tuple(re.split(r",\s*", head["names"].strip()))
        needs = tuple(re.split(r",\s*", head["needs"])) if head["needs"] else ()
        found.append(Example(module, names, needs, code, output, head[0].strip()))
    return found


def files() -> list[Path]:
    """Return the files of examples."""
    return sorted(HOME.rglob("*.py"))


def all_examples() -> dict[tuple[str, str], Example]:
    """Return the example of every public name: by module and name."""
    found = {}
    for path in files():
        for one in read(path):
            for name in one.names:
                if (one.module, name) in found:
                    raise SystemExit(f"{path}: {name} has two examples; keep one")
                found[one.module, name] = one
    return found


def run(example: Example) -> str:
    """Return what an example prints, run in an empty folder."""
    where = f"{example.module}: {', '.join(example.names)}"
    out = io.StringIO()
    path = os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        sys.path.insert(0, folder)
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{path}"  # for `python`
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(example.code, where, "exec"), {"__name__": "__example__"})
        finally:
            os.environ["PATH"] = path
            sys.path.remove(folder)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def agrees(expected: str, printed: str) -> bool:
    """Return whether an example prints what stands behind it; `...` stands for anything."""
    return doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)


def written(example: Example, printed: str) -> str:
    """Return a cell as it stands in its file, with this output."""
    lines = [f"{PRINTED}{line}".rstrip() for line in printed.splitlines()]
    return "\n".join([example.head, "", example.code, *lines, ""]).rstrip("\n") + "\n"


def main() -> None:
    """Run the examples of some modules, or of all, and write what they print."""
    failed = False
    for path in files():
        cells = read(path)
        if sys.argv[1:] and not {cells[0].module, cells[0].module[8:]} & set(sys.argv[1:]):
            continue
        texts = []
        for one in cells:
            output = one.output
            if not one.missing:
                try:
                    printed = run(one)
                except Exception:
                    failed = True
                    sys.stderr.write(f"{path}: {one.head}\n{traceback.format_exc()}\n")
                else:
                    output = output if agrees(output, printed) else printed
            texts.append(written(one, output))
        path.write_text("\n\n".join(texts), encoding="utf-8")
    raise SystemExit(int(failed))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
