"""`cardlab explain`: values and attention of a position in a record, in text and as a picture."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from cardlab.agents.catalog import find_agent
from cardlab.agents.play import play_game
from cardlab.cli import app
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Attention, Turn, Unit
from cardlab.engine.records import Record, append_records
from cardlab.engine.registry import find_game
from cardlab.show.explanation import Explanation, ask_about, explain, show
from cardlab.show.explanation_svg import draw_explanations

SVG = "{http://www.w3.org/2000/svg}"


class Adviser:
    """Finds later actions better, and looks at one token for each."""

    name = "adviser"
    unit: Unit | None = None

    def act(self, turn: Turn, rng: Any) -> int:
        return int(turn.legal[-1])

    def values(self, turn: Turn, rng: Any) -> Any:
        return np.linspace(-0.5, 0.5, len(turn.legal))

    def attention(self, turn: Turn) -> Attention:
        weights = np.full((2, 3, len(turn.legal), 10), 0.05)
        weights[..., 6] = 0.55
        return Attention(weights, tuple(f"t{place}" for place in range(10)), group=4)


def recorded(game: str = "koi_koi", seed: int = 1) -> Record:
    found = find_game(game)
    agents = [find_agent("random", found)] * int(found.fresh(**found.read_options({}))[0].seats)
    return play_game(found, agents, seed=seed)


def printed(told: Explanation) -> str:
    console = Console(width=80, file=io.StringIO(), highlight=False)
    show(told, console)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= 80
    return text


def test_a_position_of_a_record_is_explained() -> None:
    record = recorded()
    told = explain(record, 7, Adviser())
    assert told.taken == record.actions[7][0]
    assert told.best == len(told.turn.legal) - 1
    text = printed(told)
    assert "adviser, expected score, with a win as 100%" in text
    assert "75.0%" in text
    assert "25.0%" in text
    assert "taken" in text
    assert "most at t6 55%" in text
    assert text.count("head 3") == 2  # once for each block
    assert "ply 7, seat" in text
    plain = told.to_dict()
    assert [one["value"] for one in plain["choices"]] == told.values.tolist()
    assert plain["attention"]["tokens"][6] == "t6"


def test_values_are_shown_in_their_unit() -> None:
    agent = Adviser()
    agent.unit = Unit("points won in this round", "{:+.2f}")
    text = printed(explain(recorded(), 0, agent))
    assert "adviser, points won in this round" in text
    assert "+0.50" in text


def test_a_picture_shows_every_choice_and_every_head(tmp_path: Path) -> None:
    told = explain(recorded(), 3, Adviser())
    path = tmp_path / "it.svg"
    draw_explanations(path, [told])
    first = path.read_bytes()
    root = ElementTree.fromstring(first)
    texts = [one.text or "" for one in root.iter(f"{SVG}text")]
    for name in told.turn.texts:
        assert texts.count(name) >= 7  # beside its bar and in six maps
    assert sum("head" in one for one in texts) == 6
    dark = [one for one in root.iter(f"{SVG}rect") if one.get("fill") == "#103e6e"]
    assert len(dark) == 6 * len(told.turn.legal)  # the token looked at, in every row
    draw_explanations(path, [told])
    assert path.read_bytes() == first
    with pytest.raises(CardlabError, match="cannot be written"):
        draw_explanations(path / "below" / "a.svg", [told])


def test_texts_in_pictures_are_escaped(tmp_path: Path) -> None:
    told = ask_about(Adviser(), explain(recorded(), 0, Adviser()).turn)
    draw_explanations(tmp_path / "it.svg", [told], ["a < b & c"])
    root = ElementTree.fromstring((tmp_path / "it.svg").read_bytes())
    assert any(one.text == "a < b & c" for one in root.iter(f"{SVG}text"))


# The command


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    append_records(path, recorded("uno"), recorded("koi_koi", 2), recorded("koi_koi", 3))
    return path


def run(*words: object) -> Any:
    return CliRunner().invoke(app, ["explain", *map(str, words)], env={"COLUMNS": "80"})


def test_the_command_explains_games_with_and_without_attention(file: Path, tmp_path: Path) -> None:
    svg = tmp_path / "it.svg"
    answer = run("uno", file, "--agent", "uno_net", "--ply", 2, "--svg", svg)
    assert answer.exit_code == 0, answer.output
    assert "uno_net, expected score" in answer.output
    assert "block" not in answer.output
    assert ElementTree.fromstring(svg.read_bytes()).tag == f"{SVG}svg"
    answer = run("koi_koi", file, "--line", 3, "--agent", "monte_carlo:20", "--ply", 5, "--json")
    plain = json.loads(answer.stdout)
    assert (plain["agent"], plain["ply"], plain["attention"]) == ("monte_carlo:20", 5, None)
    assert plain["taken"] == recorded("koi_koi", 3).actions[5][0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--agent", "random"), "does not say what actions are worth"),
        (
            ("--agent", "uct_open"),
            "--agent must be a fair agent, got uct_open, which sees all cards",
        ),
        (("--agent", "monte_carlo:20", "--ply", "9999"), "--ply 9999 is not in the game"),
        (("--agent", "monte_carlo:20", "--ply", "-1"), "--ply -1 is not in the game"),
        (("--agent", "monte_carlo:20", "--line", "1"), "line 1 is a game of uno, not koi_koi"),
        (("--agent", "monte_carlo:20", "--line", "9"), "has no record in line 9"),
    ],
)
def test_mistakes_are_one_sentence(file: Path, words: tuple[str, ...], sentence: str) -> None:
    answer = run("koi_koi", file, *words)
    assert isinstance(answer.exception, CardlabError)
    assert sentence in str(answer.exception)
    assert "\n" not in str(answer.exception)


def test_the_end_of_a_game_cannot_be_explained(file: Path) -> None:
    record = recorded("koi_koi", 2)
    last = len(record.actions)
    with pytest.raises(CardlabError, match="the game is over"):
        explain(record, last, Adviser())
    unfinished = record.model_copy(update={"actions": record.actions[:4], "result": None})
    assert explain(unfinished, 4, Adviser()).taken is None
    answer = run("cribbage", file, "--agent", "monte_carlo:20")
    assert "holds no record of cribbage" in str(answer.exception)
