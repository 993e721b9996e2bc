"""At 80 columns no name and no setting is broken, however long it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.text import Text
from typer.testing import CliRunner

from cardlab.agents.entries import agents_in
from cardlab.cli import app
from cardlab.commands import study
from cardlab.engine.registry import our_packages
from cardlab.learning import all_trainings
from cardlab.show.layout import fold, table_lines

WIDTH = 80
LONG = "tests.support.own_agents_with_a_very_long_module_name_indeed:TheAgentOfTheLongName"
MODULE = """
from cardlab.agents.random_agent import RandomAgent


class First(RandomAgent):
    name = "first"
"""


def shown(*words: str) -> str:
    answer = CliRunner().invoke(app, [*words], env={"COLUMNS": str(WIDTH)})
    assert answer.exit_code == 0, answer.output
    return answer.stdout


@pytest.mark.parametrize("game", our_packages())
def test_agents_and_parameters_are_whole(game: str) -> None:
    text = shown("agents", game)
    assert max(map(len, text.splitlines())) <= WIDTH
    words = text.replace(",", " ").split()
    for entry in agents_in(our_packages()[game]):
        assert entry.usage in words
        for each in entry.parameters:
            assert f"{each.name}={each.default:g}:" in words
    assert "…" not in text


def test_trainings_and_settings_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    abouts = {name: study._about(name) for name in all_trainings()}
    missing = {**abouts["uno/dqn"], "summary": study._missing("it", ImportError(name="torch"))}
    monkeypatch.setattr(study, "_about", lambda name: abouts.get(name, missing))
    abouts["uno/dqn"] = missing
    text = shown("train")
    assert max(map(len, text.splitlines())) <= WIDTH
    for name, about in abouts.items():
        assert f"\n{name}\n" in f"\n{text}"
        for key, value in about["settings"].items():
            assert f"{key}={value}" in text
    assert "it needs torch; install with: pip install 'cardlab[train]'" in text


def test_games_and_options_are_whole() -> None:
    text = shown("games")
    assert max(map(len, text.splitlines())) <= WIDTH
    for name, package in our_packages().items():
        assert f"\n{name}\n" in f"\n{text}"
        for option in package.options:
            assert f"{option.name}={str(option.default).lower()}:" in text


@pytest.fixture
def long_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the name of an agent that fills most of a line."""
    module = "agents_of_a_person_who_likes_names_that_are_long"
    (tmp_path / f"{module}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield f"{module}:First"
    sys.modules.pop(module, None)


@pytest.mark.filterwarnings("ignore")
def test_names_of_results_are_whole(long_name: str, tmp_path: Path) -> None:
    store = str(tmp_path / "a.db")
    names = [long_name, "monte_carlo:2,threads=1", "random"]
    for line in (
        ["match", "crazy_eights", *names[:2], "--games", "4"],
        ["tournament", "crazy_eights", *names, "--games", "4", "--store", store, "--ladder"],
        ["leaderboard", "--store", store, "--ladder"],
    ):
        text = shown(*line, *(["--workers", "1"] if line[0] != "leaderboard" else []))
        wide = [one for one in text.splitlines() if len(one) > WIDTH]
        assert [one for one in wide if not one.startswith("every game is kept")] == []
        for name in names[:2] if line[0] == "match" else names:
            assert name in text


def test_a_table_that_fits_has_one_line_a_row() -> None:
    lines = table_lines(["agent", "games"], [("random", "7"), ("heuristic", "12")], left=[0])
    assert [line.plain for line in lines] == [
        "",
        " agent       games",
        " ─────────────────",
        " random          7",
        " heuristic      12",
        "",
    ]


def test_a_name_that_does_not_fit_has_a_line_of_its_own() -> None:
    lines = table_lines(
        ["", "agent", "games"],
        [("1", LONG, "7"), ("2", "random", "12")],
        left=[1],
        name=1,
        title=Text("uno"),
        width=40,
        rule="-",
        texts=["one two", "a-name-that-is-not-broken " * 2],
    )
    assert [line.plain for line in lines] == [
        "uno",
        "",
        " agent",
        "        games",
        " ------------",
        f" {LONG}",
        "    1       7",
        "         one two",
        " random",
        "    2      12",
        "         a-name-that-is-not-broken",
        "         a-name-that-is-not-broken",
        "",
    ]
    assert fold("x" * 50 + " y", 30) == ["x" * 50, "y"]
