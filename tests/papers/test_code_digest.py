"""A digest follows what a measurement reaches: no name, no comment, but every rule."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from cardlab.engine.manifest import GamePackage
from cardlab.engine.registry import our_packages
from cardlab.papers.code_digest import source_digest

numbers = itertools.count()
MANIFEST = '''
"""A toy."""
from cardlab.engine.manifest import AgentEntry, GamePackage, Option, Parameter

PACKAGE = GamePackage(
    module=__name__,
    game=f"{__name__}.rules:GAME",
    summary="the summary",
    options=(Option("seats", 2, (2, 3), "how many play"),),
    agents=(
        AgentEntry("best", "its words", f"{__name__}.agents:Best", (Parameter("n", 5, 1, "of"),)),
    ),
    paper=f"{__name__}.paper:REPORT",
)
'''
FILES = {
    "__init__.py": MANIFEST,
    "rules.py": '"""Rules."""\nfrom NAME import cards\n\nGAME = cards.DECK + 1  # a comment\n',
    "cards.py": "DECK = 52\n",
    "agents.py": (
        "import math\nfrom NAME.rules import GAME\nfrom NAME.worth import low as worth\n\n\n"
        'class Best:\n    """Plays."""\n\n    def act(self):\n'
        '        """Act."""\n        return worth(GAME)\n'
    ),
    "worth.py": "def low(n):\n    return -n\n\n\ndef high(n):\n    return n\n",
    "paper.py": "from NAME.rules import GAME\nfrom NAME import show\n\nREPORT = 'text'\n",
    "show.py": "LOOK = 'wide'\n",
    "unused.py": "X = 1\n",
    "data/weights.npz": "numbers",
    "data/strength.json": "{}",
}
Edit = Callable[[dict[str, str]], None]


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Edit], str]:
    monkeypatch.syspath_prepend(str(tmp_path))

    def digest_of(edit: Edit) -> str:
        """Return the digest of the toy after an edit, under a name of its own."""
        files = dict(FILES)
        edit(files)
        name = f"toy_{next(numbers)}"
        for path, text in files.items():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text.replace("NAME", name))
        importlib.invalidate_caches()
        package = importlib.import_module(name).PACKAGE
        assert isinstance(package, GamePackage)
        return source_digest(package)

    return digest_of


def nothing(files: dict[str, str]) -> None:
    """Leave all as it is."""


def replacing(path: str, old: str, new: str) -> Edit:
    def edit(files: dict[str, str]) -> None:
        assert old in files[path]
        files[path] = files[path].replace(old, new)

    return edit


def move_cards(files: dict[str, str]) -> None:
    files["deck/__init__.py"] = ""
    files["deck/faces.py"] = files.pop("cards.py")
    files["rules.py"] = files["rules.py"].replace(
        "from NAME import cards", "from NAME.deck import faces as cards"
    )


def move_agents(files: dict[str, str]) -> None:
    files["players.py"] = files.pop("agents.py")
    files["__init__.py"] = MANIFEST.replace(".agents:Best", ".players:Best")


@pytest.mark.parametrize(
    "edit",
    [
        replacing("rules.py", "  # a comment", ""),
        replacing("rules.py", '"""Rules."""\n', '"""The rules.\n\nIn more lines."""\n\n\n'),
        replacing("agents.py", '"""Act."""', '"""Choose."""'),
        replacing("agents.py", "import math\n", "__all__ = ['Best']\nimport math\n"),
        replacing(
            "agents.py",
            "from NAME.rules import GAME\nfrom NAME.worth import low as worth\n",
            "from .worth import low as worth\nfrom .rules import GAME\n",
        ),
        replacing("paper.py", "text", "other text"),
        replacing("show.py", "wide", "narrow"),
        replacing("unused.py", "1", "2"),
        replacing("data/strength.json", "{}", '{"best": "60"}'),
        replacing("__init__.py", "the summary", "other words"),
        replacing("__init__.py", "its words", "other words"),
        move_cards,
        move_agents,
    ],
)
def test_what_changes_no_measurement_keeps_the_digest(
    digest: Callable[[Edit], str], edit: Edit
) -> None:
    assert digest(edit) == digest(nothing)


@pytest.mark.parametrize(
    "edit",
    [
        replacing("rules.py", "+ 1", "+ 2"),
        replacing("cards.py", "52", "54"),
        replacing("agents.py", "return worth(GAME)", "return worth(GAME) + 1"),
        replacing("agents.py", "low as worth", "high as worth"),
        replacing("worth.py", "-n", "-2 * n"),
        replacing("data/weights.npz", "numbers", "other"),
        replacing("__init__.py", '"n", 5', '"n", 6'),
        replacing("__init__.py", '"seats", 2', '"seats", 3'),
        replacing("__init__.py", "summary=", "rules_version=2, summary="),
        replacing("paper.py", "from NAME import show", "from NAME import unused"),
    ],
)
def test_what_may_change_a_measurement_changes_the_digest(
    digest: Callable[[Edit], str], edit: Edit
) -> None:
    assert digest(edit) != digest(nothing)


def test_games_have_digests_of_their_own() -> None:
    digests = {source_digest(package) for package in our_packages().values()}
    assert len(digests) == len(our_packages())
