"""Plain technical English: whole phrases that a reader must read twice appear nowhere.

Checked are all pages and notebooks, the help of every command, and every text and docstring of the
source. A phrase stands here only if it has no good use; each row says what to write instead.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

# phrase (a regular expression, words only) -> what to write
PHRASES = {
    r"begun by chance": "randomly initialised",
    r"drawn by lot": "sampled uniformly",
    r"foretell|foretells|foretold": "predict",
    r"(?:go|goes|went|going) on where": "resume",
    r"started again it goes on": "rerun to resume",
    r"ends of a round": "outcomes",
    r"(?:what|how|where) to mend|to mend|mends|mended": "fix",
    r"cannot be told apart|told apart by": "no significant difference at this sample size",
    r"imagined worlds?": "sampled worlds",
    r"rules? of thumb": "heuristic",
    r"nothing to believe": "check it yourself",
    r"(?<!there )is no (?:agent|game|number|whole number|file|folder|JSON|command|program"
    r"|record|network|census|seat|action|card|decision|checkpoint|store)": "is not a ...",
    r"a batch of 0 games cannot be": "batch size must be at least 1, got 0",
    r"plays? out worlds in which the others acted sensibly": "samples likely hidden cards",
    r"everything erased": "only what their seat has seen",
    r"nothing lost by a kill": "a killed run keeps every finished game",
    r"when the reader of its output has left": "when the output pipe closes early",
    r"ways? to lay (?:two )?of (?:six )?cards? away|laying away|lays? away|laid away": "discard",
    r"none of the endings": "unsupported extension",
    r"called like something of": "clashes with",
    r"who opens the link": "whoever opens the link",
    r"how often the row came before": "% of games the row finished ahead",
    r"tells a network in a table": "distils a network into a table",
    r"what stands for the others": "entries for finished games",
    r"the line to the table is broken": "connection lost",
    r"a shared host, so ranges": "given as ranges because the host was shared",
    r"a word to those": "(name the thing)",
    r"anew": "again",
    r"its last words": "its last line of standard error",
    r"gives? itself up|gave games away": "forfeits",
    r"nothing is left to chance": "the result is exact",
    r"as chance has it|as if nothing had happened": "by chance; with the same result",
    r"whatever lies or does not lie": "(name the condition)",
    r"for its authors? to read": "for its author",
    r"at sight|by heart": "by a test; memorised",
    r"what everybody has seen": "what all seats have seen",
    r"ever more (?:games|knowledge|worlds)": "more and more",
    r"is the merit of": "comes from",
    r"one voice|kind answers": "(name the thing)",
    r"hitherto|thereof|whereof|therein|upon which|unbeknownst|betwixt|amiss": "(a plain word)",
}
BANNED = {phrase: re.compile(rf"\b(?:{phrase})\b", re.IGNORECASE) for phrase in PHRASES}
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("src/**/*.md")])
SCRIPTS = sorted([*ROOT.glob("src/**/*.js"), *ROOT.glob("src/**/*.html")])
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOURCES = sorted(ROOT.glob("src/**/*.py"))


def texts_of(source: Path) -> Iterator[tuple[int, str]]:
    """Return every text of a Python file, docstrings and parts of f-strings included."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):  # a phrase may run over a value
            parts = (part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
            yield node.lineno, "".join(map(str, parts))


def found_in(texts: Iterator[tuple[int, str]], path: Path) -> list[str]:
    """Return what to change in some texts of a file."""
    wrong = set()
    for line, text in texts:
        plain = " ".join(text.split())
        for phrase, pattern in BANNED.items():
            for match in pattern.finditer(plain):
                place = f"{path.relative_to(ROOT)}:{line}"
                wrong.add(f"{place}: {match[0]!r}; write: {PHRASES[phrase]}")
    return sorted(wrong)


def test_pages() -> None:
    assert len(PAGES) > 50
    wrong = [
        hit
        for page in [*PAGES, *SCRIPTS]
        for hit in found_in(iter([(1, page.read_text(encoding="utf-8"))]), page)
    ]
    assert wrong == []


def test_notebooks() -> None:
    assert len(NOTEBOOKS) > 2
    wrong = []
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        texts = ((place, "".join(cell["source"])) for place, cell in enumerate(cells, 1))
        wrong += found_in(texts, notebook)
    assert wrong == []


def test_help_errors_and_docstrings() -> None:
    """The help of the commands is made of docstrings and texts of the source."""
    assert len(SOURCES) > 200
    assert [hit for source in SOURCES for hit in found_in(texts_of(source), source)] == []


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("a network begun by\n    chance", "begun by chance"),
        ("it goes on where it was", "(?:go|goes|went|going) on where"),
        ("'x' is no number", r"(?<!there )is no (?:agent|game|number"),
    ],
)
def test_phrases_are_found(text: str, phrase: str) -> None:
    (hit,) = found_in(iter([(3, text)]), ROOT / "README.md")
    assert hit.startswith("README.md:3: ")
    assert any(known.startswith(phrase) and PHRASES[known] in hit for known in PHRASES)
