"""The Python reference, read from the source without importing it: no extra needs to be there."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

PUBLIC = {  # heading -> modules
    "In short": ["cardlab"],
    "Games and play": [
        "cardlab.engine.game",
        "cardlab.games",
        "cardlab.engine.play",
        "cardlab.engine.batch",
        "cardlab.engine.records",
        "cardlab.engine.replay",
        "cardlab.engine.errors",
    ],
    "Writing rules": ["cardlab.engine.kernel", "cardlab.engine.seeding", "cardlab.engine.cards"],
    "Conformance": ["cardlab.testing"],
    "Agents": [
        "cardlab.agents.catalog",
        "cardlab.agents.outside",
        "cardlab.games.crazy_eights.agents.tabular_q",
    ],
    "Search": [
        "cardlab.engine.playouts",
        "cardlab.search.monte_carlo",
        "cardlab.search.information_set",
        "cardlab.search.uct",
        "cardlab.search.alpha_beta",
        "cardlab.search.determinised",
    ],
    "The arena": [
        "cardlab.arena.match",
        "cardlab.arena.tournament",
        "cardlab.arena.sprt",
        "cardlab.arena.standings",
        "cardlab.arena.ratings",
        "cardlab.arena.leaderboard",
        "cardlab.arena.store",
        "cardlab.arena.export",
        "cardlab.arena.compliance",
        "cardlab.arena.workers",
    ],
    "Learning and papers": [
        "cardlab.learning",
        "cardlab.games.crazy_eights.learning.tabular_q",
        "cardlab.engine.observation",
        "cardlab.papers.reproduce",
    ],
    "Cribbage hands": ["cardlab.games.cribbage.scoring", "cardlab.games.cribbage.solvers.advice"],
    "Pictures and reasons": ["cardlab.show.pictures", "cardlab.show.explanation"],
    "Other libraries": [
        "cardlab.interop.pettingzoo",
        "cardlab.interop.gymnasium",
        "cardlab.interop.vector",
        "cardlab.interop.stable_baselines3",
        "cardlab.interop.openspiel",
        "cardlab.show.notebook",
        "cardlab.engine.gpu",
    ],
}
LONGEST = 300  # characters of a signature, beyond which fields are named without their types
LONG = 60  # characters of a constant's value that are shown


@dataclass(frozen=True)
class Module:
    """A module's source: what it is about, what it offers, and what lies in it."""

    name: str
    about: str
    public: tuple[str, ...]
    nodes: dict[str, ast.stmt]


def find(source: Path, name: str) -> Path | None:
    """Return the file of a module, if there is one."""
    path = source.joinpath(*name.split("."))
    for one in (path.with_suffix(".py"), path / "__init__.py"):
        if one.exists():
            return one
    return None


def read(source: Path, name: str) -> Module:
    """Return a module as its source has it."""
    path = find(source, name)
    assert path is not None, name
    tree = ast.parse(path.read_text(encoding="utf-8"))
    public: tuple[str, ...] = ()
    nodes: dict[str, ast.stmt] = {}
    for node in ast.walk(tree):  # outer ones first: a name within `if` counts if none is outside
        for one in _names(node):
            nodes.setdefault(one, node)  # type: ignore[arg-type]
            if one == "__all__":
                public = tuple(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    return Module(name, ast.get_docstring(tree) or "", public, nodes)


def _names(node: ast.AST) -> list[str]:
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


def undocumented(module: Module, name: str, node: ast.stmt) -> list[str]:
    """Return the functions, classes and methods below a public name without a docstring."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return []
    found = [] if ast.get_docstring(node) else [f"{module.name}.{name}"]
    return found + [
        f"{module.name}.{name}.{one.name}" for one in _methods(node) if not ast.get_docstring(one)
    ]


def _methods(node: ast.stmt) -> list[ast.FunctionDef]:
    body = node.body if isinstance(node, ast.ClassDef) else []
    methods = [one for one in body if isinstance(one, ast.FunctionDef) and one.name[0] != "_"]
    return [one for one in methods if ast.unparse(one.body[0]) != "..."]  # fields of a protocol


def _sentence(node: ast.AST) -> str:
    text = ast.get_docstring(node) or ""  # type: ignore[arg-type]
    return " ".join(text.partition("\n\n")[0].split())


def _call(node: ast.FunctionDef, *, bound: bool = False) -> str:
    arguments = node.args
    if bound and arguments.args and not _has(node, "staticmethod"):
        arguments = ast.arguments(**{**vars(arguments), "args": arguments.args[1:]})
    shown = ast.unparse(arguments)
    back = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({shown}){back}"


def _has(node: ast.FunctionDef, decorator: str) -> bool:
    return any(decorator in ast.unparse(one) for one in node.decorator_list)


def _value(node: ast.stmt, name: str) -> ast.expr:
    """Return what a constant is set to, one of several on a line included."""
    assert isinstance(node, ast.Assign | ast.AnnAssign), name
    assert node.value is not None, name
    first = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if isinstance(first, ast.Tuple) and isinstance(node.value, ast.Tuple):
        return node.value.elts[_names(node).index(name)]
    return node.value


def _describe(source: Path, module: Module, name: str) -> list[str]:
    _, node = resolve(source, module, name)
    if isinstance(node, ast.FunctionDef):
        return [f"- `{_call(node)}`  ", f"  {_sentence(node)}"]
    if not isinstance(node, ast.ClassDef):
        shown = ast.unparse(_value(node, name))
        return [f"- `{name} = {shown if len(shown) <= LONG else shown[:LONG] + ' ...'}`"]
    makers = [one for one in node.body if getattr(one, "name", "") == "__init__"]
    fields = [
        ast.unparse(one)
        for one in node.body
        if isinstance(one, ast.AnnAssign) and not ast.unparse(one.target).startswith("_")
    ]
    if makers and isinstance(makers[0], ast.FunctionDef):
        shown = _call(makers[0], bound=True).replace("__init__", name).partition(" -> ")[0]
    else:
        shown = f"{name}({', '.join(fields)})" if fields else name
        if len(shown) > LONGEST:
            shown = f"{name}({', '.join(one.partition(':')[0] for one in fields)})"
    lines = [f"- *class* `{shown}`  ", f"  {_sentence(node)}"]
    for one in _methods(node):
        call = f".{one.name}" if _has(one, "property") else f".{_call(one, bound=True)}"
        lines.append(f"    - `{call}`: {_sentence(one)}")
    return lines


def public_names(source: Path) -> list[str]:
    """Return all that the reference lists: names by module, methods by class."""
    found = []
    for name in (one for names in PUBLIC.values() for one in names):
        module = read(source, name)
        for one in module.public:
            _, node = resolve(source, module, one)
            found += [f"{name}.{one}", *(f"{name}.{one}.{each.name}" for each in _methods(node))]
    return found


def python_reference(source: Path) -> str:
    """Return every public name of every public module, with its sentence."""
    parts = []
    for heading, names in PUBLIC.items():
        parts.append(f"## {heading}")
        for name in names:
            module = read(source, name)
            about = " ".join(module.about.partition("\n\n")[0].split())
            parts += [f"### `{name}`", about]
            if name == "cardlab":  # everything in it has its entry below
                homes = {one: resolve(source, module, one)[0].name for one in module.public}
                rows = [f"`{one}`" for one in sorted(homes) if homes[one] != "cardlab"]
                parts.append(f"`from cardlab import ...`: {', '.join(rows)}.")
                continue
            lines = [_describe(source, module, one) for one in sorted(module.public)]
            parts.append("\n".join(line for one in lines for line in one))
    return "\n\n".join(parts)
