"""The shape of the source: machinery without names of games, small functions, own tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardlab.engine.registry import our_packages

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cardlab"
GAMES = SOURCE / "games"
NAMES = re.compile(
    r"crazy[ _-]?eights|\buno\b|birds|koi[ _-]?koi|cribbage|hanafuda|\byaku\b|\bpegging\b", re.I
)
LINES, ARGUMENTS = 100, 8
# Kernels of the contract (`engine/game.py`) and Typer commands take what they are given.
WIDE: set[str] = set()


def machinery(ending: str) -> list[Path]:
    files = (path for path in SOURCE.rglob(f"*{ending}") if GAMES not in path.parents)
    return sorted(path for path in files if path.name != "aliases.py")


def code_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the names and texts of a module with their lines; docstrings are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, documented)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node not in docstrings:
                yield node.lineno, node.value
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def test_the_machinery_names_no_game() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line} {text[:60]!r}"
        for path in machinery(".py")
        for line, text in code_of(path)
        if NAMES.search(text)
    ]
    assert found == []


@pytest.mark.parametrize("ending", [".js", ".ts", ".css", ".html"])
def test_the_shell_of_the_pages_names_no_game(ending: str) -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{number} {line.strip()[:80]}"
        for path in machinery(ending)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if NAMES.search(line)
    ]
    assert found == []


def functions() -> Iterator[tuple[str, int, int]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args
                names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                count = len(names) - (names[:1] in (["self"], ["cls"]))
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                yield f"{path.relative_to(SOURCE)}:{node.name}", lines, count


def test_functions_are_small() -> None:
    commands = {"commands/measuring.py", "commands/playing.py", "commands/serving.py"}
    found = [
        f"{where}: {lines} lines, {count} arguments"
        for where, lines, count in functions()
        if (lines > LINES or count > ARGUMENTS)
        and where not in WIDE
        and where.partition(":")[0] not in commands
    ]
    assert found == []


@pytest.mark.parametrize("package", our_packages().values(), ids=lambda package: package.name)
def test_files_of_a_manifest_are_there(package: object) -> None:
    from cardlab.engine.manifest import GamePackage

    assert isinstance(package, GamePackage)
    assert package.file(package.rules).is_file()
    assert package.file(package.page, "page.js").is_file()
    for level in package.levels:
        if level.portrait:
            assert package.file(package.page, level.portrait).is_file()


def test_no_test_imports_another() -> None:
    wrong = re.compile(r"^\s*(?:from|import)\s+(?:tests\.)?(?:[\w.]+\.)?test_\w+", re.M)
    paths = (ROOT / "tests").rglob("*.py")
    found = [path.relative_to(ROOT) for path in paths if wrong.search(path.read_text())]
    assert found == []
