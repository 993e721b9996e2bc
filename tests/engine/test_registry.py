"""Games by name or import string, options, and what an unknown name is answered."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from cardlab.agents.catalog import agents_for
from cardlab.engine import registry
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Game
from cardlab.engine.importing import import_first_here
from cardlab.engine.manifest import Parameter
from cardlab.engine.registry import find_game, find_package, import_named, our_games
from cardlab.engine.replay import replay
from cardlab.learning import all_trainings
from cardlab.testing import random_table


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
    for given in ("nope", "cr"):  # not near enough, too short
        assert suggest("game", given, ["uno", "cribbage"]).endswith("known: cribbage, uno")
    assert suggest("network", "feed", ["feedforward"]).endswith("did you mean 'feedforward'?")


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


# Names that come from files


@pytest.fixture
def downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder from a stranger: any module of it that is imported leaves a file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("trap", "colorsys", "installed_game"):
        monkeypatch.delitem(sys.modules, name, raising=False)
        (tmp_path / f"{name}.py").write_text(f"open('ran_{name}', 'w').close()\nGAME = 1\n")
    return tmp_path


def ran(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("ran_*"))


@pytest.mark.parametrize("name", ["trap:GAME", "trap.sub:GAME", "trap:GAME:x", "colorsys:GAME"])
@pytest.mark.parametrize("find", [find_game, find_package])
def test_a_name_from_a_file_runs_no_code(
    downloads: Path, name: str, find: Callable[..., object]
) -> None:
    with pytest.raises(CardlabError, match=r"is code from outside, .* give --trust if you know"):
        find(name, trust=False)
    assert ran(downloads) == []


def test_a_record_runs_no_code(downloads: Path, crazy_eights: Game) -> None:
    record = random_table(crazy_eights, {}, 1).record(["a", "b"])
    foreign = record.model_copy(update={"game": "trap:GAME"})
    with pytest.raises(CardlabError, match="give --trust"):
        next(replay(foreign))
    assert "trap:GAME" in foreign._repr_html_()  # a look in a notebook
    assert ran(downloads) == []
    with pytest.raises(CardlabError, match="not a cardlab Game"):
        next(replay(foreign, trust=True))
    assert ran(downloads) == ["ran_trap"]
    assert list(replay(foreign, game=crazy_eights))[-1].over  # the game itself: nothing is found


def test_what_is_known_here_needs_no_trust(high_card: Game, crazy_eights: Game) -> None:
    assert find_game("crazy_eights", trust=False) is crazy_eights
    assert find_game(crazy_eights.reference, trust=False) is crazy_eights
    assert find_game(high_card.reference, trust=False) is high_card  # these tests have loaded it
    assert find_package("uno", trust=False).name == "uno"
    with pytest.raises(CardlabError, match="unknown game 'crazy8s'; did you mean"):
        find_game("crazy8s", trust=False)
    with pytest.raises(CardlabError, match="give --trust"):
        find_game("os:sep", trust=False)  # loaded, but no game


def test_an_installed_name_is_never_a_file_of_the_working_folder(
    downloads: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path_factory.mktemp("site")
    (site / "installed_game.py").write_text("from cardlab.games.crazy_eights.rules import GAME\n")
    monkeypatch.syspath_prepend(str(site))
    offered = {"theirs": "installed_game:GAME"}
    monkeypatch.setattr(
        registry, "installed", lambda group: offered if group == "cardlab.games" else {}
    )
    assert find_game("theirs", trust=False).name == "crazy_eights"
    assert find_game("installed_game:GAME", trust=False).name == "crazy_eights"
    assert ran(downloads) == []


def test_our_own_modules_bring_nothing_from_the_working_folder(downloads: Path) -> None:
    """What a module of ours imports is not looked for in the working folder, now or later."""
    code = (
        "import sys; sys.path[0:1] = [path for path in sys.path[0:1] if path]\n"
        "from cardlab.engine.manifest import load\n"
        "from cardlab.engine.registry import find_game, our_packages\n"
        "for package in our_packages().values():\n"
        "    find_game(package.name)\n"
        "    package.folder\n"
        "    [load(entry.maker) for entry in package.agents]\n"
        "import colorsys\n"
        "assert hasattr(colorsys, 'rgb_to_hls')\n"
        "assert sys.path == [path for path in sys.path if path not in ('', sys.argv[1])]\n"
    )
    subprocess.run([sys.executable, "-c", code, str(downloads)], check=True, cwd=downloads)
    assert ran(downloads) == []
