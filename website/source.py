"""Python modules as their source has them, read without importing: names, comments, signatures."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WIDE = 88  # characters of a signature, beyond which each argument has a line of its own
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Module:
    """A module's source: what it is about, what it offers, what lies in it, its comments."""

    name: str
    about: str
    public: tuple[str, ...]
    nodes: dict[str, ast.stmt]
    comments: dict[int, str]  # behind code, by line
    remarks: dict[int, str]  # on lines of their own

    def comment_of(self, node: ast.stmt | ast.expr) -> str:
        """Return the comment behind a statement, or else the one above it."""
        if node.end_lineno in self.comments:
            return self.comments[node.end_lineno]
        above: list[str] = []
        line = node.lineno - 1
        while line in self.remarks:
            above.insert(0, self.remarks[line])
            line -= 1
        return " ".join(above)


@dataclass(frozen=True)
class Attribute:
    """What can be read from an object: a field, a property, or what its constructor sets."""

    name: str
    type: str
    about: str
    default: str = ""


def find(source: Path, name: str) -> Path | None:
    """Return the file of a module, if there is one."""
    path = source.joinpath(*name.split("."))
    for one in (path.with_suffix(".py"), path / "__init__.py"):
        if one.exists():
            return one
    return None


@cache
def read(source: Path, name: str) -> Module:
    """Return a module as its source has it."""
    path = find(source, name)
    assert path is not None, name
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    public: tuple[str, ...] = ()
    nodes: dict[str, ast.stmt] = {}
    for node in ast.walk(tree):  # outer ones first: a name within `if` counts if none is outside
        for one in names_in(node):
            nodes.setdefault(one, node)  # type: ignore[arg-type]
            if one == "__all__":
                public = tuple(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    return Module(name, ast.get_docstring(tree) or "", public, nodes, *_comments(text))


def _comments(text: str) -> tuple[dict[int, str], dict[int, str]]:
    behind, alone = {}, {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            words = token.string.lstrip("#: ").strip()
            words = words.partition("  #")[0] if words.startswith(("noqa", "type:")) else words
            found = alone if token.line.lstrip().startswith("#") else behind
            found[token.start[0]] = words
    return behind, alone


def names_in(node: ast.AST) -> list[str]:
    """Return the names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.ImportFrom):
        return [one.asname or one.name for one in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    flat = [
        one for each in targets for one in (each.elts if isinstance(each, ast.Tuple) else [each])
    ]
    return [one.id for one in flat if isinstance(one, ast.Name)]


def resolve(source: Path, module: Module, name: str) -> tuple[Module, ast.stmt]:
    """Return where a public name is made, behind all imports."""
    node = module.nodes[name]
    if isinstance(node, ast.ImportFrom) and node.module:
        there = next((one for one in node.names if (one.asname or one.name) == name), None)
        if there is not None and find(source, node.module):
            return resolve(source, read(source, node.module), there.name)
    return module, node


def classes_of(source: Path, module: Module, node: ast.ClassDef) -> list[tuple[Module, ast.stmt]]:
    """Return a class after the private ones that it is made of: their members are its own."""
    found: list[tuple[Module, ast.stmt]] = []
    for base in node.bases:
        name = ast.unparse(base)
        if name.startswith("_") and name in module.nodes:
            home, there = resolve(source, module, name)
            if isinstance(there, ast.ClassDef):
                found += classes_of(source, home, there)
    return [*found, (module, node)]


def methods(node: ast.stmt, *, private: bool = False) -> list[Function]:
    """Return the public methods of a class, or those that it uses itself."""
    body = node.body if isinstance(node, ast.ClassDef) else []
    found = [one for one in body if isinstance(one, ast.FunctionDef)]
    return [one for one in found if (one.name[0] == "_") == private]


def has(node: Function, decorator: str) -> bool:
    """Return whether a function has a decorator whose text contains this."""
    return any(decorator in ast.unparse(one) for one in node.decorator_list)


def constructor(source: Path, module: Module, node: ast.ClassDef) -> Function | None:
    """Return the `__init__` of a class, be it of a private one that it is made of."""
    for _, each in reversed(classes_of(source, module, node)):
        for one in methods(each, private=True):
            if one.name == "__init__":
                return one
    return None


def attributes(source: Path, module: Module, node: ast.ClassDef) -> list[Attribute]:
    """Return all public attributes of a class in the order of its source."""
    found: dict[str, Attribute] = {}
    for home, each in classes_of(source, module, node):
        for one in _attributes_here(home, each):
            found.setdefault(one.name, one)
    return list(found.values())


def _attributes_here(module: Module, node: ast.stmt) -> Iterator[Attribute]:
    assert isinstance(node, ast.ClassDef)
    for one in node.body:
        if isinstance(one, ast.AnnAssign):
            name = ast.unparse(one.target)
            kind = ast.unparse(one.annotation)
        elif isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            name, kind = one.targets[0].id, ""
        else:
            continue
        if name[0] != "_" and name != "model_config":
            yield Attribute(name, kind, module.comment_of(one), _default(one.value))
    makers = methods(node, private=True)
    for maker in sorted(makers, key=lambda one: one.name != "__init__"):
        given = {one.arg: one.annotation for one in (*maker.args.args, *maker.args.kwonlyargs)}
        for name, one in _set_here(maker):
            kind = one.annotation if isinstance(one, ast.AnnAssign) else None
            if kind is None and isinstance(one.value, ast.Name):
                kind = given.get(one.value.id)
            yield Attribute(name, ast.unparse(kind) if kind else "", module.comment_of(one))
    for one in methods(node):
        if has(one, "property"):
            kind = ast.unparse(one.returns) if one.returns else ""
            yield Attribute(one.name, kind, sentence(one, full=True))


def fields_text(name: str, node: ast.ClassDef) -> str:
    """Return how a class of fields is made: their names and defaults, types left to the list."""
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    parts = [
        ast.unparse(one.target) + (f"={_default(one.value)}" if one.value else "") for one in fields
    ]
    parts = [one for one in parts if one[0] != "_"]
    if not parts:
        return f"class {name}"
    indent = " " * (len(name) + 1)
    text = textwrap.fill(", ".join(parts), WIDE - len(indent), break_on_hyphens=False)
    return f"{name}({textwrap.indent(text, indent).strip()})"


def _default(value: ast.expr | None) -> str:
    text = ast.unparse(value) if value else ""
    made = re.fullmatch(r"field\(default_factory=(\w+)\)", text)
    return f"{made[1]}()" if made else text


def _set_here(maker: Function) -> Iterator[tuple[str, ast.Assign | ast.AnnAssign]]:
    for one in ast.walk(maker):
        targets = one.targets if isinstance(one, ast.Assign) else []
        if isinstance(one, ast.AnnAssign):
            targets = [one.target]
        for each in targets:
            for target in each.elts if isinstance(each, ast.Tuple) else [each]:
                ours = isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
                if ours and isinstance(target, ast.Attribute) and target.attr[0] != "_":
                    assert isinstance(one, ast.Assign | ast.AnnAssign)
                    yield target.attr, one


def sentence(node: ast.AST, *, full: bool = False) -> str:
    """Return the first paragraph of a docstring in one line, or all of it."""
    text = ast.get_docstring(node) or ""  # type: ignore[arg-type]
    return text if full else " ".join(text.partition("\n\n")[0].split())


def signature(name: str, node: Function, *, bound: bool = False, wide: int = WIDE) -> str:
    """Return how a function is called, on one line or with a line for each argument."""
    parts = _arguments(node, bound=bound)
    tail = f" -> {ast.unparse(node.returns)}" if node.name != "__init__" and node.returns else ""
    line = f"{name}({', '.join(parts)}){tail}"
    if len(line) <= wide:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in parts), f"){tail}"])


def _arguments(node: Function, *, bound: bool) -> list[str]:
    given = node.args
    names = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(names) - len(given.defaults)) + given.defaults
    parts = [_argument(*pair) for pair in zip(names, defaults, strict=True)]
    if bound and names and not has(node, "staticmethod"):
        parts = parts[1:]
    if given.vararg:
        parts.append(f"*{_argument(given.vararg, None)}")
    elif given.kwonlyargs:
        parts.append("*")
    parts += [_argument(*pair) for pair in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    if given.kwarg:
        parts.append(f"**{_argument(given.kwarg, None)}")
    return parts


def _argument(node: ast.arg, default: ast.expr | None) -> str:
    kind = f": {ast.unparse(node.annotation)}" if node.annotation else ""
    if default is None:
        return node.arg + kind
    return f"{node.arg}{kind}{' = ' if kind else '='}{ast.unparse(default)}"


def value_of(node: ast.stmt, name: str) -> ast.expr:
    """Return what a constant is set to, one of several on a line included."""
    assert isinstance(node, ast.Assign | ast.AnnAssign), name
    assert node.value is not None, name
    first = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if isinstance(first, ast.Tuple) and isinstance(node.value, ast.Tuple):
        return node.value.elts[names_in(node).index(name)]
    return node.value


def raised(source: Path, module: Module, node: ast.stmt, name: str = "") -> dict[str, list[str]]:
    """Return what a function raises itself, or through private functions beside it: class -> texts.

    Of a text, what is filled in stands in braces.
    """
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    left: list[ast.AST] = [node]
    while left:
        for one in ast.walk(left.pop(0)):
            if isinstance(one, ast.Raise) and isinstance(one.exc, ast.Call):
                kind = ast.unparse(one.exc.func)
                if kind[0].isupper() and one.exc.args:
                    text = _text(one.exc.args[0])
                    texts = found.setdefault(kind, [])
                    texts += [text] if text and text not in texts else []
            if isinstance(one, ast.Call):
                called = ast.unparse(one.func)
                if called[0] == "_" and called in module.nodes and called not in seen:
                    seen.add(called)
                    left.append(module.nodes[called])
    return found


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(one) for one in node.values)
    if isinstance(node, ast.FormattedValue):
        words = [one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)]
        words += [one.attr for one in ast.walk(node.value) if isinstance(one, ast.Attribute)]
        words = [one for one in words if one[0] != "_"]
        return f"{{{words[-1] if words else '...'}}}"
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "suggest":
        return f"unknown {_text(node.args[0])}, with the nearest known one"
    return ""
