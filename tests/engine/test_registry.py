"""Games by name or import string, options, and what an unknown name is answered."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cardlab.agents.catalog import agents_for
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Game
from cardlab.engine.manifest import Parameter
from cardlab.engine.registry import find_game, import_named, our_games


def test_options_and_parameters_say_what_they_allow(crazy_eights: Game) -> None:
    texts = {one.name: one.allowed_text for one in crazy_eights.options}
    assert texts["seats"] == "a whole number from 2 to 4"
    assert texts["reshuffle"] == "true or false"
    depth = Parameter("depth", 4, 1, "plies", high=12)
    assert depth.read("7", "x") == 7
    with pytest.raises(CardlabError, match="depth=13 of agent 'x' is not allowed; use a whole"):
        depth.read("13", "x")
    parameters = [
        each
        for name in our_games()
        for entry in agents_for(find_game(name))
        for each in entry.parameters
    ]
    assert all(one.low <= one.default <= one.high for one in parameters)


def test_modules_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "lying_here.py").write_text("THING = 7\n")
    assert import_named("lying_here:THING", "game") == 7
    with pytest.raises(CardlabError, match="game 'lying_here:OTHER': lying_here has no 'OTHER'"):
        import_named("lying_here:OTHER", "game")


def test_unknown_names_are_answered_with_known_ones() -> None:
    assert suggest("game", "Unno", ["uno"]) == "unknown game 'Unno'; did you mean 'uno'?"
    assert suggest("game", "x", ["b", "a"]) == "unknown game 'x'; known: a, b"
    assert suggest("game", "x", []) == "unknown game 'x'; there are none"
