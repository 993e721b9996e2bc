"""A digest of the code that a game's measurements reach: they hold as long as it is the same.

Reached is what the report's module imports, and what the manifest names: rules, heuristic,
observation, agents. Of a module its syntax tree counts, without docstrings, `__all__` and
positions. A module enters by its content, never by its name, so that a moved file, an edited
comment or another order of imports voids nothing; other rules or another agent void everything.
Reports and pages may be reworded: their modules are followed, but not counted.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

from cardlab.engine.manifest import GamePackage

__all__ = ["source_digest"]

REFERENCE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+(?::\w+)?")
WEIGHTS = ("*.npz", "*.onnx")  # in the folder of a game's data
FOLLOWED = ("paper", "papers")  # parts of a module's name
IGNORED = ("aliases", "commands", "page", "show", "terminal", "web")


def source_digest(package: GamePackage) -> str:
    """Return the digest of the code and the data behind a game's measurements."""
    paper = package.paper.partition(":")[0]
    named = (package.game, package.heuristic, package.observation, package.tokens)
    makers = [entry.maker for entry in package.agents]
    roots = [one.partition(":")[0] for one in (paper, *named, *makers) if one]
    texts = {"cardlab", package.module} - set(roots)  # names and summaries
    parts = _Reader({"cardlab", package.module.partition(".")[0]}, texts).digests_of(roots)
    for maker, entry in zip(makers, package.agents, strict=True):
        settings = [(one.name, one.default) for one in entry.parameters]
        parts.append(_digest(repr((entry.name, maker.partition(":")[2], settings))))
    options = [(one.name, one.default, list(one.allowed)) for one in package.options]
    parts.append(_digest(repr((package.rules_version, options))))
    folder = package.folder / package.data
    parts += [_digest(path.read_bytes()) for kind in WEIGHTS for path in folder.rglob(kind)]
    return _digest("".join(sorted(parts)), size=8)


def _digest(content: str | bytes, size: int = 16) -> str:
    data = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=size).hexdigest()


class _Module:
    """A module's tree without what does not count, and the modules that it refers to."""

    def __init__(self, reader: _Reader, name: str, path: Path) -> None:
        self.imports: set[tuple[str, str, str]] = set()  # module, name in it, name here
        self._reader, self._name = reader, name
        self._home = name if path.name == "__init__.py" else name.rpartition(".")[0]
        tree = ast.parse(path.read_bytes())
        self._strip(tree)
        self.body = _digest(ast.dump(tree))

    def _strip(self, node: ast.AST) -> None:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                kept = [one for one in value if not self._is_left_out(one)]
                if _is_docstring(node, field, kept):
                    del kept[0]
                setattr(node, field, kept)
                for one in kept:
                    if isinstance(one, ast.AST):
                        self._strip(one)
            elif isinstance(value, ast.AST):
                self._strip(value)
            elif field == "value" and isinstance(node, ast.Constant) and isinstance(value, str):
                self._read_reference(node, value)

    def _is_left_out(self, node: object) -> bool:
        """Return whether a statement does not count; what it imports is noted."""
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return not node.orelse
        if isinstance(node, ast.Assign):
            return any(isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets)
        if isinstance(node, ast.Import):
            for one in node.names:
                if not self._reader.holds(one.name):
                    return False
                self.imports.add((one.name, "", one.asname or one.name))
            return True
        if not isinstance(node, ast.ImportFrom):
            return False
        module = node.module or ""
        if node.level:
            above = self._home.split(".")[: len(self._home.split(".")) - node.level + 1]
            module = ".".join([*above, *filter(None, [module])])
        if not self._reader.holds(module):
            return False
        for one in node.names:
            inner = f"{module}.{one.name}"
            found = (inner, "") if self._reader.path_of(inner) else (module, one.name)
            self.imports.add((*found, one.asname or one.name))
        return True

    def _read_reference(self, node: ast.Constant, text: str) -> None:
        """Take an import string for an import."""
        module, _, name = text.partition(":")
        if REFERENCE.fullmatch(text) and self._reader.path_of(module):
            self.imports.add((module, name, ""))
            node.value = f":{name}"


def _is_docstring(node: ast.AST, field: str, body: list[object]) -> bool:
    return (
        field == "body"
        and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and bool(body)
        and isinstance(first := body[0], ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )


class _Reader:
    """Finds and reads the modules of some top-level packages, each once."""

    def __init__(self, tops: set[str], texts: set[str]) -> None:
        self._tops, self._texts = tops, texts
        self._paths: dict[str, Path | None] = {}
        self._modules: dict[str, _Module] = {}

    def holds(self, name: str) -> bool:
        """Return whether a module is of these packages."""
        return name.partition(".")[0] in self._tops

    def path_of(self, name: str) -> Path | None:
        """Return the source file of a module, or None where these packages have none."""
        if not self.holds(name):
            return None
        if name not in self._paths:
            home, _, _ = name.rpartition(".")
            above = self.path_of(home) if home else None
            if home and (above is None or above.name != "__init__.py"):
                spec = None
            else:
                spec = PathFinder.find_spec(name, [str(above.parent)]) if above else find_spec(name)
            origin = spec.origin if spec else None
            self._paths[name] = Path(origin) if origin and origin.endswith(".py") else None
        return self._paths[name]

    def module(self, name: str) -> _Module | None:
        """Return a module that matters: none of presentation."""
        path = self.path_of(name)
        if path is None or name in self._texts or set(name.split(".")) & set(IGNORED):
            return None
        if name not in self._modules:
            self._modules[name] = _Module(self, name, path)
        return self._modules[name]

    def digests_of(self, roots: Iterable[str]) -> list[str]:
        """Return the digests of all modules that are reached from some, without repetition."""
        reached, left = set(), list(roots)
        while left:
            name = left.pop()
            if name not in reached and (module := self.module(name)):
                reached.add(name)
                left += [one for one, _, _ in module.imports]
        counted = (one for one in reached if not set(one.split(".")) & set(FOLLOWED))
        return sorted({self._digest_of(one) for one in counted})

    def _digest_of(self, name: str) -> str:
        """Return the digest of a module's body, and of the bodies that its imports come from."""
        module = self.module(name)
        assert module
        return _digest(module.body + "".join(sorted(self._bindings(module))))

    def _bindings(self, module: _Module) -> Iterator[str]:
        for source, name, here in module.imports:
            found = self.module(source)
            yield f"{here}={found.body if found else ''}:{name} "
