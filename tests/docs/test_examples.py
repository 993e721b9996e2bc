"""Every public name of the Python reference has an example, which prints what the page shows."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from cardlab.engine.kernel import JIT
from tests.support.paths import ROOT

EXAMPLES = ROOT / "website" / "examples"
FILES = sorted(EXAMPLES.rglob("*.py"))


@pytest.fixture(scope="module")
def website() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "website")
        yield importlib.import_module("pages")


def test_every_public_name_has_an_example(website: ModuleType) -> None:
    have = importlib.import_module("examples").all_examples()
    names = {(entry.module, entry.name) for entry in website.python().entries}
    assert len(names) > 200
    assert sorted(names - have.keys()) == []
    assert sorted(have.keys() - names) == [], "examples of names that the reference does not list"


@pytest.mark.slow
@pytest.mark.xdist_group("documentation")
@pytest.mark.skipif(not JIT, reason="interpreted examples take minutes")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_examples_print_what_they_show(website: ModuleType, path: Path) -> None:
    examples = importlib.import_module("examples")
    wrong = {}
    for example in examples.read(path):
        if not example.missing and "gpu" not in example.needs:  # its figures depend on the machine
            printed = examples.run(example)
            if not examples.agrees(example.output, printed):
                wrong[example.names] = printed
    assert wrong == {}
