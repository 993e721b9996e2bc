"""What the documentation shows: commands, Python, and how each is run small.

A line `cardlab ...` or `$ cardlab ...` in a block (fenced as console, bash, sh or without a name,
or indented) is a command. It is run as it stands, with smaller numbers: few games, small budgets.
`ELSEWHERE` lists what takes longer than that, with the test that runs it. A remark follows after
` # ` or three spaces. Blocks fenced as `text` and lines with a placeholder in capitals are only
shown.
A Python block with a title, or whose first line is `# name.py`, is a file; others are run, those
that speak of `127.0.0.1:8080` against a server.
"""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner, Result

from cardlab.cli import app
from tests.support.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GROUP: Any = typer.main.get_command(app)

FENCE = re.compile(
    r'^(?P<indent> *)```(?P<lang>[\w-]*)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^ *```$',
    re.MULTILINE | re.DOTALL,
)
SHELLS = ("", "console", "bash", "sh")
LINE = re.compile(r"^ *(?:\$ )?(?P<line>(?:cardlab|python -m cardlab\.\w+) .*)$", re.MULTILINE)
INDENTED = re.compile(r"^ {4}(?:\$ )?(?P<line>cardlab .*)$", re.MULTILINE)
INLINE = re.compile(r"`(?P<line>cardlab\s[^`\n]+(?:\n[^`\n]+)*)`")
REMARK = re.compile(r"\s{3,}.*| # .*")
PLACEHOLDER = re.compile(r"(?<!:)\b[A-Z]{4,}\b|\.\.\.")
FILE_NAME = re.compile(r"# (?P<name>\w+\.py)\n")

# Beginnings of commands that are not run here -> the test that runs them, or why nothing does.
ELSEWHERE = {
    "train birds_of_a_feather/": "games/birds_of_a_feather/test_paper.py",
    "train cribbage/greedy_pegging": "games/cribbage/test_strategies.py",
    "train cribbage/pegging_mix": "games/cribbage/test_pegging.py",
    "train cribbage/pegging_statistics": "games/cribbage/test_expert.py",
    "train cribbage/pegging_values": "games/cribbage/test_pegging.py",
    "train cribbage/strategy_weights": "games/cribbage/test_strategies.py",
    "train cribbage/discards": "games/cribbage/test_expert.py",
    "train cribbage/win_probability": "games/cribbage/test_expert.py",
    "train koi_koi/linear": "games/koi_koi/test_terms.py",
    "train koi_koi/": "games/koi_koi/test_learning.py",
    "train uno/": "games/uno/test_learning.py",
    "reproduce birds_of_a_feather": "games/birds_of_a_feather/test_paper.py",
    "reproduce crazy_eights": "papers/test_papers.py",
    "reproduce cribbage": "games/cribbage/test_paper.py",
    "reproduce koi_koi": "games/koi_koi/test_paper.py",
    "reproduce uno": "games/uno/test_paper.py",
    "serve": "web/test_command.py",
    "explain": "commands/test_explain.py",
}
# Pages that a test of their own follows word by word.
FOLLOWED = {
    "README.md": "docs/test_tutorials.py",
    "first_game.md": "docs/test_tutorials.py",
    "first_agent.md": "docs/test_tutorials.py",
    "your_own_game.md": "docs/test_tutorials.py",
    "environments.md": "interop/test_environments.py",
}
SERVER = "127.0.0.1:8080"  # where pages say that a server is
GAMES, BUDGET, SEEDS, FEW = "4", "2", "0:20", "games=2000"


@dataclass(frozen=True)
class Shown:
    """A command as a page shows it."""

    page: str
    line: str

    @property
    def words(self) -> list[str]:
        """The arguments after `cardlab`."""
        return shlex.split(self.line)[1:]

    @property
    def is_form(self) -> bool:
        """Whether it has placeholders: how to write a command, not a command."""
        return PLACEHOLDER.search(self.line) is not None

    @property
    def elsewhere(self) -> str | None:
        """The test that runs it, if it is not run small."""
        said = " ".join(self.words)
        if "--ray" in self.words:
            return "arena/test_cluster.py"
        return next((test for start, test in ELSEWHERE.items() if said.startswith(start)), None)


def followed(page: Path) -> bool:
    """Return whether a test of its own follows a page."""
    test = ROOT / "tests" / FOLLOWED.get(page.name, "-")
    return test.exists() and page.name in test.read_text(encoding="utf-8")


def commands(page: Path) -> list[Shown]:
    """Return the commands in the blocks of a page, without their remarks."""
    text = page.read_text(encoding="utf-8")
    found = [
        each["line"]
        for block in FENCE.finditer(text)
        if block["lang"] in SHELLS
        for each in LINE.finditer(block["text"].replace("\\\n", " "))
    ]
    found += [each["line"] for each in INDENTED.finditer(FENCE.sub("", text))]
    return [Shown(page.name, REMARK.sub("", line).strip()) for line in found]


def inline(page: Path) -> list[Shown]:
    """Return the commands that a page mentions in its sentences."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [Shown(page.name, " ".join(each["line"].split())) for each in INLINE.finditer(text)]


def python_blocks(page: Path) -> list[tuple[str | None, str]]:
    """Return the Python blocks of a page, each with the name of its file if it is one."""
    blocks = []
    for block in FENCE.finditer(page.read_text(encoding="utf-8")):
        if block["lang"] == "python":
            named = FILE_NAME.match(block["text"])
            blocks.append((block["title"] or (named["name"] if named else None), block["text"]))
    return blocks


def options_of(command: str) -> set[str]:
    """Return the options that a command offers."""
    return {name for one in GROUP.commands[command].params for name in one.opts}


def parse(words: list[str]) -> None:
    """Read a command line; one that cannot be read raises."""
    if not words[0].startswith("-"):
        root = GROUP.make_context("cardlab", list(words))
        name, command, rest = GROUP.resolve_command(root, list(words))
        command.make_context(name, rest, parent=root)


def small(words: list[str]) -> list[str]:
    """Return the same command with few games, small budgets and one process."""
    if words[0].startswith("-"):
        return words
    if words == ["warmup"]:  # every game: minutes of compiling
        return ["warmup", "crazy_eights"]
    offered = options_of(words[0])
    less = [re.sub(r"^([a-z_]+(?:_open)?):\d+", rf"\g<1>:{BUDGET}", word) for word in words]
    less = [re.sub(r"^games=\d+", FEW, word) for word in less]
    if less[0] == "train" and len(less) > 1 and FEW not in less:
        less += ["--set", FEW]
        if less[1].endswith("/transformer"):  # with the full network and its evaluation, minutes
            less += ["--set", "width=16", "--set", "evaluate_games=100"]
    for option, value in [("--games", GAMES), ("--workers", "1"), ("--seeds", SEEDS)]:
        if option in less:
            less[less.index(option) + 1] = value
        elif option in offered and option != "--seeds":
            less += [option, value]
    return less


def run(words: list[str]) -> Result:
    """Run a command in this process, a module of ours in another; at a table it leaves at once."""
    if words[0] == "-m":
        done = subprocess.run([sys.executable, *words], capture_output=True, check=False)
        return Result(
            CliRunner(), done.stdout, done.stderr, done.stdout, None, done.returncode, None
        )
    if "--resume" in words:  # what is to be resumed must be there
        run([word for word in words if word != "--resume"])
    return CliRunner().invoke(app, words, input="q\n", catch_exceptions=True)


@contextmanager
def served() -> Iterator[str]:
    """Run the web table on a free port and yield its host and port."""
    words = [sys.executable, "-m", "cardlab", "serve", "--port", "0", "--store", "served.db"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://([\w.]+:\d+)", server.stdout.readline())
            assert found, "the server does not say where it is"
            yield found[1]
        finally:
            server.send_signal(signal.SIGINT)


def prepare(folder: Path) -> None:
    """Put into a folder what the documentation takes for granted: agents, games, a store."""
    agent = (ROOT / "examples" / "first_legal.sh").read_text(encoding="utf-8")
    (folder / "my_agent").write_text(agent, encoding="utf-8")
    (folder / "my_agent").chmod(0o755)
    program = (ROOT / "examples" / "careful_agent.py").read_text(encoding="utf-8")
    (folder / "my_agent.py").write_text(program, encoding="utf-8")
    for page in PAGES:
        for name, text in python_blocks(page):
            if name and not followed(page):
                (folder / name).write_text(text, encoding="utf-8")
    few = ["--games", "4", "--workers", "1"]
    for words in (
        ["match", "crazy_eights", "heuristic", "random", "--save", "games.jsonl", *few],
        ["play", "crazy_eights", "--save", "games.jsonl"],  # left at once
        ["tournament", "crazy_eights", "heuristic", "random", *few],
        ["tournament", "crazy_eights", "heuristic", "random", "--store", "games.db", *few],
        ["train", "crazy_eights/tabular_q", "--set", FEW, "--out", "runs/mine"],
        ["export", "games.csv"],
    ):
        result = run(words)
        assert result.exit_code == 0, (words, result.output, result.exception)
