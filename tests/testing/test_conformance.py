"""The public suites, run on every game of the catalogue and every agent, in both modes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game, OpenAgent, Turn
from cardlab.engine.kernel import JIT
from cardlab.engine.manifest import AgentEntry
from cardlab.engine.registry import find_game, our_games
from cardlab.testing import (
    AGENT_CHECKS,
    GAME_CHECKS,
    AgentCheck,
    GameCheck,
    audit_random_games,
    check_agent,
    check_always_legal,
    check_game,
    check_playthrough,
    random_table,
)
from tests.support.paths import GOLDEN
from tests.support.variants import VARIANTS

# Interpreted they take minutes; tested apart.
SOLVING = (
    "oracle_open",
    "determinised",
    "solver",
    "cribbage_expert",
    "cribbage_searched_pegging",
    "koi_koi_search",
    "koi_koi_hand_open",
    *(one.name for one in agents_for(find_game("birds_of_a_feather")) if "search_" in one.name),
)
# Without options the suite is quick; with them it is slow.
EVERY_VARIANT = [
    pytest.param(name, options, marks=[pytest.mark.slow] * bool(options))
    for name, variants in VARIANTS.items()
    for options in variants
]


def names(value: object) -> str:
    return getattr(value, "__name__", None) or str(value)


@pytest.mark.parametrize(("name", "options"), EVERY_VARIANT, ids=names)
@pytest.mark.parametrize("check", GAME_CHECKS, ids=names)
def test_game(check: GameCheck, name: str, options: dict[str, Any]) -> None:
    check(find_game(name), options, range(3))


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="this run is interpreted already")
@pytest.mark.parametrize(("name", "options"), EVERY_VARIANT, ids=names)
def test_interpreted(name: str, options: dict[str, Any]) -> None:
    """The whole suite without compilation, where an index out of bounds raises."""
    code = (
        "import json, sys;"
        "from cardlab.games import find_game; from cardlab.testing import *;"
        "game, options = find_game(sys.argv[1]), json.loads(sys.argv[2]);"
        "[check(game, options, range(1)) for check in GAME_CHECKS"
        " if 'compiled' not in check.__name__];"
        "from cardlab.agents.catalog import *;"
        "budget = lambda e: (':1' if 'monte_carlo' in e.name else ':3') * bool(e.parameters);"
        "[check(lambda: find_agent(e.name + budget(e), game), game, {})"
        " for e in agents_for(game) for check in AGENT_CHECKS[:2]"
        f" if not options and e.name not in {SOLVING}]"
    )
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, name, json.dumps(options)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr


def modest(entry: AgentEntry, budget: int) -> str:
    """Return an agent's name with a small budget."""
    if not entry.parameters:
        return entry.name
    return f"{entry.name}:{min(budget, max(1, int(entry.parameters[0].default) // 10))}"


EVERY_AGENT = [
    (modest(entry, 40), name) for name in our_games() for entry in agents_for(find_game(name))
]


@pytest.mark.parametrize(
    ("agent", "name"), [*EVERY_AGENT, ("monte_carlo:40", "tests.support.high_card:GAME")]
)
@pytest.mark.parametrize("check", AGENT_CHECKS, ids=names)
def test_agent(check: AgentCheck, agent: str, name: str) -> None:
    game = find_game(name)
    check(lambda: find_agent(agent, game), game, {})  # type: ignore[arg-type, return-value]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), EVERY_VARIANT, ids=names)
def test_agents_play_every_variant(name: str, options: dict[str, Any]) -> None:
    game = find_game(name)
    for entry in agents_for(game):
        spec = modest(entry, 4)
        check_always_legal(lambda spec=spec: find_agent(spec, game), game, options)


def test_every_game_has_golden_playthroughs() -> None:
    for name in our_games():
        assert len(list(GOLDEN.glob(f"{name}-*.txt"))) >= 2, (
            f"{name}: write playthroughs with cardlab.testing.playthrough into tests/golden"
        )


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_golden_playthrough(path: Path) -> None:
    check_playthrough(find_game(path.stem.partition("-")[0]), path)


@pytest.mark.parametrize(("name", "options"), EVERY_VARIANT, ids=names)
def test_many_random_games(name: str, options: dict[str, Any]) -> None:
    audit_random_games(find_game(name), 20_000 if JIT else 5, options=options)


def test_names_tell_who_cheats() -> None:
    for game in map(find_game, our_games()):
        for entry in agents_for(game):
            assert entry.fair != isinstance(find_agent(entry.name, game), OpenAgent)


# The suites themselves: each must catch what it is there to catch.


def broken(game: Game, **changes: Any) -> Game:
    import dataclasses

    return dataclasses.replace(game, **changes)


def test_the_suite_catches_a_leak(crazy_eights: Game) -> None:
    from cardlab.engine.kernel import kernel

    original = crazy_eights.conceal

    @kernel
    def leaky(s: Any, seat: int) -> None:
        """Keep the next card of the stock in a field that nobody looks at."""
        drawn = s.stock[s.stock_at]
        original(s, seat)
        s.log_drew[63] = drawn

    check = next(one for one in GAME_CHECKS if one.__name__ == "check_nothing_leaks")
    with pytest.raises(AssertionError, match="changes with hidden cards"):
        check(broken(crazy_eights, conceal=leaky), {}, range(3))


def test_the_suite_catches_rules_that_lose_a_card(high_card: Game) -> None:
    from cardlab.engine.kernel import kernel

    original = high_card.apply

    @kernel
    def forgetful(s: Any, action: int) -> None:
        original(s, action)
        s.played &= ~1

    game = broken(high_card, apply=forgetful)
    with pytest.raises(CardlabError, match=r"game .* of seed 0 .* a card is missing"):
        audit_random_games(game, 200)
    with pytest.raises(AssertionError):
        check_game(game)


class Forgetful:
    """An agent that breaks most rules: it counts its calls and uses a global generator."""

    name = "forgetful"
    calls = 0

    def act(self, turn: Any, rng: Any) -> int:
        import random

        Forgetful.calls += 1
        random.random()
        return int(turn.legal[Forgetful.calls % len(turn.legal)])


def test_the_suite_catches_an_agent_with_a_memory(high_card: Game) -> None:
    caught = []
    for check in AGENT_CHECKS:
        try:
            check(Forgetful, high_card, {})
        except AssertionError:
            caught.append(check.__name__)
    assert {"check_remembers_nothing", "check_leaves_generators_alone"} <= set(caught)
    with pytest.raises(AssertionError):
        check_agent(Forgetful, high_card)


class Lowest:
    """Takes the first legal action."""

    name = "lowest"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        return int(turn.legal[0])


@pytest.mark.parametrize(
    "agent",
    ["random", Lowest(), Lowest, lambda: Lowest()],
    ids=["name", "object", "class", "function"],
)
def test_agents_are_checked_by_name_as_objects_and_by_what_makes_them(agent: Any) -> None:
    check_agent(agent, "tests.support.high_card:GAME")


def test_games_are_checked_by_name(high_card: Game) -> None:
    for game in ("tests.support.high_card:GAME", high_card):
        check_game(game, seeds=(seed for seed in range(2)))  # a generator is read once, for all
        audit_random_games(game, 50)
        assert random_table(game, None, 3).over
