"""Games by name or import string, options, and what an unknown name is answered."""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from cardlab.agents.catalog import agents_for
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Game
from cardlab.engine.importing import import_first_here
from cardlab.engine.manifest import Parameter
from cardlab.engine.registry import find_game, import_named, our_games
from cardlab.learning import all_trainings


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


def test_a_game_is_called_by_its_name_or_by_its_reference(
    crazy_eights: Game, high_card: Game
) -> None:
    assert crazy_eights.identifier == "crazy_eights"
    assert high_card.identifier == "tests.support.high_card:GAME"
    assert find_game(high_card.identifier) is high_card


def test_a_game_made_from_a_module_needs_what_the_contract_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_a_game.py").write_text("STATE = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("half_a_game")
    with pytest.raises(CardlabError, match="game half_a_game: half_a_game defines no `"):
        Game.from_module(module.__name__)


def test_every_training_can_be_found() -> None:
    for name, module in all_trainings().items():
        assert find_spec(module), name


def test_a_module_that_another_thread_loads_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two first requests at once must not see a module without its names."""
    (tmp_path / "loads_slowly.py").write_text(
        "import threading\n"
        "gate = next(thread for thread in threading.enumerate() if thread.name == 'loads').gate\n"
        "gate.started.set()\n"
        "gate.release.wait()\n"
        "NAME = 1\n"
    )
    monkeypatch.chdir(tmp_path)
    started, release = threading.Event(), threading.Event()
    first = threading.Thread(target=import_first_here, args=["loads_slowly"], name="loads")
    first.gate = SimpleNamespace(started=started, release=release)  # type: ignore[attr-defined]
    seen: list[bool] = []
    second = threading.Thread(
        target=lambda: seen.append(hasattr(import_first_here("loads_slowly"), "NAME"))
    )
    try:
        first.start()
        started.wait()
        second.start()
        second.join(0.2)  # the mistake shows at once; what waits goes on waiting
    finally:
        release.set()
        first.join()
        second.join()
        sys.modules.pop("loads_slowly", None)
    assert seen == [True]
