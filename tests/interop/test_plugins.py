"""Games and agents from outside: by reference, by entry point, through the whole house."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cardlab.agents.catalog import find_agent
from cardlab.cli import app
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.kernel import JIT
from cardlab.engine.observation import observation_of
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game, installed
from cardlab.testing import GAME_CHECKS, GameCheck, audit_random_games, check_uniform
from tests.support.paths import ROOT

AGENT = """
class Bold:
    '''Always bets.'''
    name = "bold"
    def __init__(self, nerve=1):
        self.nerve = nerve
    def act(self, turn, rng):
        return int(turn.legal[-1 if self.nerve else 0])
"""


@pytest.fixture
def kuhn(monkeypatch: pytest.MonkeyPatch) -> Game:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "examples"))
    return find_game("kuhn_poker:GAME")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages: Kuhn poker, an agent, a broken game, a name offered twice."""
    for name, text in {
        "one": "[cardlab.games]\nkuhn_poker = kuhn_poker:GAME\nbroken = nowhere:GAME\n"
        "twice = kuhn_poker:GAME\nuno = kuhn_poker:GAME\n"
        "[cardlab.agents]\nbold = bold_agents:Bold\nrandom = bold_agents:Bold\n",
        "two": "[cardlab.games]\ntwice = another:GAME\n",
    }.items():
        folder = tmp_path / f"{name}-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (folder / "entry_points.txt").write_text(text)
    (tmp_path / "bold_agents.py").write_text(AGENT)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    installed.cache_clear()
    yield tmp_path
    installed.cache_clear()


@pytest.mark.parametrize("check", GAME_CHECKS, ids=lambda check: check.__name__)
def test_kuhn_poker_conforms(check: GameCheck, kuhn: Game) -> None:
    check(kuhn, {}, range(6))


def test_kuhn_poker_pays_what_kuhn_says(kuhn: Game) -> None:
    for deal, said, chips in (
        ("K J", "pass pass", 1),
        ("K J", "bet bet", 2),
        ("J K", "bet bet", -2),
        ("J K", "bet pass", 1),
        ("K Q", "pass bet pass", -1),
        ("K Q", "pass bet bet", 2),
    ):
        table = Table(kuhn, deals=[deal])
        for word in said.split():
            table.act(kuhn.parse_action(word))
        assert table.over
        assert table.state.points() == [chips, -chips]
        assert table.state.returns() == [chips / 2, -chips / 2]
        shown = table.state.view(1).describe().zones[0].cards
        assert shown == ((deal[0],) if abs(chips) == 2 or said == "pass pass" else ())


def test_kuhn_poker_says_what_learners_see(kuhn: Game) -> None:
    encoder, table = observation_of(kuhn), Table(kuhn, deals=["Q J"])

    def seen(seat: int) -> set[str]:
        row = encoder.one(table.state.view(seat).array, seat)
        assert set(row.tolist()) == {0, 1}
        return {words for words, number in zip(encoder.words, row, strict=True) if number}

    assert seen(0) == {"I hold Q", "I am to move", "I began"}
    table.act(kuhn.parse_action("pass"))
    assert seen(1) == {"I hold J", "action 1 was pass", "I am to move"}
    table.act(kuhn.parse_action("bet"))
    table.act(kuhn.parse_action("bet"))
    said = {"action 1 was pass", "action 2 was bet", "action 3 was bet"}
    assert seen(1) == {"I hold J", "the other seat has shown Q"} | said


def test_kuhn_poker_imagines_both_cards(kuhn: Game) -> None:
    view = Table(kuhn, deals=["Q J"]).state.view(0)
    worlds = [Table(kuhn, deals=[f"Q {card}"]).state.array.tobytes() for card in "JK"]
    check_uniform(view, worlds, draws=2000)
    audit_random_games(kuhn, 2000 if JIT else 20)


def test_entry_points_name_games_and_agents(packages: Path) -> None:
    game = find_game("kuhn_poker")
    assert game.title == "Kuhn poker"
    assert find_agent("bold", game).name == "bold"
    assert find_agent("bold:nerve=0", game).nerve == 0  # type: ignore[union-attr]
    assert type(find_agent("random", game)).__name__ == "RandomAgent"  # ours come first
    assert find_game("uno").title == "Uno"
    with pytest.raises(CardlabError, match="unknown game 'twice'"):
        find_game("twice")
    with pytest.raises(CardlabError, match="did you mean 'kuhn_poker'"):
        find_game("kuhn_pocker")
    with pytest.raises(CardlabError, match="did you mean 'bold'"):
        find_agent("bald", game)


def test_a_score_counts_wins_however_high(kuhn: Game, tmp_path: Path) -> None:
    words = [kuhn.reference, "monte_carlo:50", "random", "--games", "100", "--workers", "1"]
    store = ["--store", str(tmp_path / "games.db")]
    for command in (["match", *words], ["tournament", *words, *store]):
        answer = CliRunner().invoke(app, [*command, "--json"])
        told = json.loads(answer.stdout)
        lines = told.get("standings") or told["lines"]
        assert all(one["points"] for one in lines)  # chips, and a bet makes two of one
        for one in lines:
            assert one["score"] == pytest.approx((one["wins"] + one["ties"] / 2) / 100)


def test_commands_know_installed_packages(packages: Path) -> None:
    def run(*words: str) -> str:
        answer = CliRunner().invoke(app, list(words), env={"COLUMNS": "150"})
        assert answer.exit_code == 0, answer.output
        return answer.output

    listed = run("games")
    assert "Kuhn poker: three cards" in listed
    assert "cannot be imported" in listed  # the broken one is named, and the others are listed
    assert "bold_agents:Bold" in run("agents", "kuhn_poker")
    assert "bold" in run("match", "kuhn_poker", "bold", "random", "--games", "40", "--workers", "1")
    store = str(packages / "games.db")
    words = ["kuhn_poker", "bold", "monte_carlo:20", "random", "--games", "24", "--workers", "1"]
    assert "monte_carlo:20" in run("tournament", *words, "--store", store)
    assert "bold" in run("leaderboard", "kuhn_poker", "--store", store)
    assert "no fault" in run("check", "kuhn_poker", "--games", "100", "--workers", "1")


def test_gymnasium_finds_our_games_without_an_import_of_ours() -> None:
    code = "import gymnasium; gymnasium.make('cardlab.interop.gymnasium:cardlab/KoiKoi-v0')"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("pettingzoo", "pettingzoo", "interop"),
        ("gymnasium", "gymnasium", "interop"),
        ("vector", "gymnasium", "interop"),
        ("stable_baselines3", "stable_baselines3", "examples"),
        ("openspiel", "pyspiel", "bench"),
    ],
)
def test_a_missing_library_is_one_sentence(
    module: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"cardlab.interop.{module}", raising=False)
    for name in [one for one in sys.modules if one.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)  # another test may have imported it
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(CardlabError, match=rf"needs {library}; .*pip install 'cardlab\[{extra}\]'"):
        import_module(f"cardlab.interop.{module}")
