"""The documentation keeps its word: commands and Python run, generated parts are fresh."""

from __future__ import annotations

import ast
import importlib
import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import nullcontext
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from cardlab.engine.kernel import JIT
from cardlab.learning import find_training
from tests.support import documented
from tests.support.documented import PAGES, ROOT, Shown

pytestmark = [
    pytest.mark.skipif(not JIT, reason="documentation shows compiled speed"),
    pytest.mark.xdist_group("documentation"),  # one folder, kernels compiled once
]

SHOWN = [
    one for page in PAGES if not documented.followed(page) for one in documented.commands(page)
]
RUN = {
    " ".join(documented.small(one.words)): one  # many are the same once they are small
    for one in SHOWN
    if not one.is_form and not one.elsewhere
}
REFERENCE = ROOT / "docs" / "reference" / "python"  # signatures; its examples have their own test
PYTHON = [page for page in PAGES if documented.python_blocks(page) and page.parent != REFERENCE]
SOURCE = ROOT / "src"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which everything is there that the documentation speaks of."""
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("documentation")
        patch.chdir(path)
        patch.setenv("XDG_DATA_HOME", str(path / "data"))
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.setattr(sys, "path", [*sys.path, str(path)])
        documented.prepare(path)
        yield path


@pytest.mark.slow
@pytest.mark.parametrize("shown", RUN.values(), ids=RUN)
def test_a_command_runs(shown: Shown, folder: Path) -> None:
    words = documented.small(shown.words)
    result = documented.run(words)
    assert result.exit_code == 0, (shown.page, words, result.output, result.exception)
    assert result.stdout.strip(), f"{shown.page}: {shown.line} says nothing"


def test_every_command_can_be_read() -> None:
    assert len(RUN) > 40
    for one in SHOWN:
        if not one.is_form:
            documented.parse(one.words)
    for page in PAGES:
        for one in documented.inline(page):  # often no more than a command and an option
            word, *rest = one.words
            if not word.startswith("-") and not word.isupper():
                assert word in documented.GROUP.commands, f"{one.page}: `{one.line}`"
                given = {each.partition("=")[0] for each in rest if each.startswith("--")}
                assert given <= documented.options_of(word), f"{one.page}: `{one.line}`"


def test_what_runs_elsewhere_does_run_there() -> None:
    for one in SHOWN:
        if one.elsewhere and not one.is_form:
            text = (ROOT / "tests" / one.elsewhere).read_text(encoding="utf-8")
            command, *rest = one.words
            module = (
                find_training(rest[0]).__name__.rpartition(".")[2]
                if command == "train"
                else command
            )
            assert command in text, f"{one.elsewhere} does not {command}"
            assert module in text, f"{one.elsewhere} has nothing of {module}"


@pytest.mark.slow
@pytest.mark.parametrize("page", PYTHON, ids=lambda page: page.name)
def test_python_runs(page: Path, folder: Path) -> None:
    if documented.followed(page):
        pytest.skip("a test of its own follows this page")
    blocks = documented.python_blocks(page)
    needs_server = any(documented.SERVER in text for _, text in blocks)
    names: dict[str, object] = {"__name__": "documentation"}
    with documented.served() if needs_server else nullcontext(documented.SERVER) as address:
        for name, text in blocks:
            here = text.replace(documented.SERVER, address)
            code = compile(here, f"{page.name}: {name or 'a block'}", "exec")
            exec(code, {"__name__": name} if name else names)


SCRIPT = re.compile(r"python ((?:benchmarks|crosscheck|examples)/\w+\.py)")
SCRIPTS = sorted({one for page in PAGES for one in SCRIPT.findall(page.read_text("utf-8"))})


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_that_measures_can_be_loaded(script: str) -> None:
    """They take minutes to hours, so that nobody runs them here; what they use must be there."""
    try:
        runpy.run_path(str(ROOT / script), run_name="documentation")
    except ModuleNotFoundError as error:
        if str(error.name).startswith("cardlab"):
            raise
        pytest.skip(f"{error.name} is not installed")


def test_targets_and_extras_exist() -> None:
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE):
            assert target in made, f"{page.name}: make {target}"
        for listed in re.findall(r"cardlab\[([a-z,]+)\]", text):
            for extra in listed.split(","):
                assert extra in project["optional-dependencies"], f"{page.name}: [{extra}]"


@pytest.fixture(scope="module")
def pages() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "website")
        yield importlib.import_module("pages")


def test_promises_of_security_name_tests_and_cases_that_are_there() -> None:
    text = (ROOT / "docs" / "explanation" / "security.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(tests/[\w/.]+)`", text))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
    cases = (ROOT / "attacks" / "attack.py").read_text(encoding="utf-8")
    told = {
        case for row in re.findall(r"`make attack`: ([^|]+) \|", text) for case in row.split("; ")
    }
    assert len(told) > 8
    assert [case for case in sorted(told) if f'Case("{case}"' not in cases] == []


def test_generated_parts_are_fresh(pages: ModuleType) -> None:
    stale = [path.name for path in pages.stale()]
    assert stale == [], "run `make pages`"


def test_public_names_have_docstrings(pages: ModuleType) -> None:
    code = importlib.import_module("source")
    files = sorted((SOURCE / "cardlab").rglob("*.py"))
    names = [".".join(one.relative_to(SOURCE).with_suffix("").parts) for one in files]
    missing, count = [], 0
    for name in names:
        module = code.read(SOURCE, name.removesuffix(".__init__"))
        for public in module.public:
            count += 1
            home, node = code.resolve(SOURCE, module, public)
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                named = [(public, node)]
                named += [
                    (f"{public}.{method.name}", method)
                    for method in code.methods(node)
                    if ast.unparse(method.body[0]) != "..."  # the body of a protocol's field
                ]
                missing += [
                    f"{home.name}.{text}" for text, each in named if not code.sentence(each)
                ]
    assert count > 400
    assert sorted(set(missing)) == []


def test_every_module_of_the_reference_offers_something(pages: ModuleType) -> None:
    code = importlib.import_module("source")
    for name in pages.python().modules:
        assert code.read(SOURCE, name).public, f"{name} has no __all__"


def test_public_names_are_tested(pages: ModuleType) -> None:
    names = {entry.name for entry in pages.python().entries}
    assert len(names) > 240
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    assert sorted(names - words) == []


class Resources(HTMLParser):
    """Collects what a browser would fetch for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the addresses of scripts, styles, pictures and frames."""
        given = dict(attrs)
        kind = "href" if tag == "link" else "src"
        if tag != "a" and given.get(kind) and given.get("rel") != "canonical":
            self.found.append(str(given[kind]))


@pytest.mark.slow
def test_the_site_builds_strictly_and_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the extra docs is not installed")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    made = sorted(tmp_path.rglob("*.html"))
    assert len(made) >= len(PAGES) - 1
    for path in made:
        parser = Resources()
        parser.feed(path.read_text(encoding="utf-8"))
        assert parser.found
        away = [one for one in parser.found if re.match(r"(?:https?:)?//", one)]
        assert away == [], f"{path.name} fetches {away}"
    for path in tmp_path.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", path.read_text()), path.name
