"""Agents of matches and tournaments as names and as objects, and where objects can play."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab import find_agent, find_game
from cardlab.agents.heuristic import Heuristic
from cardlab.arena.match import Match, MatchResult, play_match
from cardlab.arena.players import find_named_game, require_sendable, usable_workers
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament, resume
from cardlab.engine.errors import CardlabError, CardlabWarning
from cardlab.engine.game import Game, Turn


class Highest:
    """Takes the last legal action; a module defines it, so it can be sent to other processes."""

    name = "highest"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        return int(turn.legal[-1])


class Unsendable(Highest):
    """Holds what cannot be pickled."""

    name = "unsendable"

    def __init__(self) -> None:
        self.choose = lambda legal: legal[-1]


def results_of(result: MatchResult) -> list[tuple[Any, ...]]:
    return [(one.wins, one.losses, one.ties, one.score_interval) for one in result.standings]


def test_names_objects_and_both_are_one_match(crazy_eights: Game) -> None:
    spec = "monte_carlo:8"
    found = find_agent(spec, crazy_eights)
    pairs = [[spec, "heuristic"], [found, "heuristic"], [found, Heuristic()], [spec, Heuristic()]]
    matches = [
        Match.plan(game, pair, 12, seed=3)
        for game in ("crazy_eights", crazy_eights)
        for pair in pairs
    ]
    assert {match.agents for match in matches} == {(spec, "heuristic")}
    first, *others = [results_of(play_match(match)) for match in matches]
    assert all(one == first for one in others)


def test_an_object_of_ones_own_plays_a_match_with_intervals_and_records(crazy_eights: Game) -> None:
    kept: list[Any] = []
    result = play_match(Match.plan("crazy_eights", [Highest(), "random"], 40), save=kept.extend)
    assert [one.agent for one in result.standings] == ["highest", "random"]
    for one in result.standings:
        assert one.score_interval is not None
        low, high = one.score_interval
        assert low < one.score < high
    assert {name for record in kept for name in record.seats} == {"highest", "random"}
    shown = result._repr_html_()
    assert "highest" in shown
    assert "±" in shown


def test_two_agents_of_one_name_are_refused() -> None:
    for pair in ([Highest(), Highest()], [Heuristic(), "heuristic"]):
        with pytest.raises(CardlabError, match=r"two agents are named '\w+'; give each agent"):
            Match.plan("crazy_eights", pair)
    same = Highest()
    assert Match.plan("crazy_eights", [same, same]).agents == ("highest", "highest")


def test_a_game_that_its_name_does_not_find_is_refused(high_card: Game) -> None:
    assert find_named_game("uno") == ("uno", find_game("uno"))
    assert find_named_game(find_game("uno")) == ("uno", find_game("uno"))
    assert find_named_game(high_card)[0] == high_card.reference
    lost = replace(high_card, reference="tests.support.high_card:LOST")
    with pytest.raises(CardlabError, match="but the name leads to another object"):
        Match.plan(lost, ["random", "random"])


def test_a_tournament_takes_objects_and_stores_their_names(tmp_path: Path) -> None:
    plan = Plan.make("crazy_eights", [Highest(), "random", "heuristic"], 4)
    with Store(tmp_path / "arena.db") as store:
        entered = enter(plan, store, "mixed")
        results = play_tournament(plan, store, entered)
        assert results.agents == ["highest", "random", "heuristic"]
        assert store.find("mixed").settings["agents"] == ["highest", "random", "heuristic"]
        assert resume(plan, store).name == "mixed"
    with pytest.raises(CardlabError, match="'heuristic' is the name of another agent"):
        Plan.make("crazy_eights", [Heuristic(), "random"], 4)


def test_objects_that_can_be_sent_keep_all_workers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert usable_workers([Highest(), None], 4) == 4
        assert usable_workers([Unsendable()], 1) == 1
        require_sendable([Highest(), None])


def test_an_object_that_cannot_be_sent_plays_here_and_says_so() -> None:
    with pytest.warns(CardlabWarning, match=r"'unsendable' cannot be sent .* to use 3 workers"):
        assert usable_workers([None, Unsendable()], 3) == 1
    with pytest.raises(CardlabError, match=r"'unsendable' cannot be sent to other machines"):
        require_sendable([Highest(), Unsendable()])
    match = Match.plan("crazy_eights", [Unsendable(), "random"], 12)
    with pytest.warns(CardlabWarning, match="this one plays all games"):
        alone = play_match(match, workers=2)
    assert results_of(alone) == results_of(play_match(match))


CELL = """
import json, warnings
from cardlab import find_agent, play_game
from cardlab.arena.match import Match, play_match
from cardlab.arena.players import usable_workers

class Mine:
    name = "mine"
    def act(self, turn, rng):
        return int(turn.legal[0])

match = Match.plan("crazy_eights", [Mine(), "random"], 40)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    workers = usable_workers(match.objects, 2)
    result = play_match(match, workers=2)
print(json.dumps({
    "said": [str(one.message) for one in caught],
    "workers": workers,
    "intervals": [one.score_interval for one in result.standings],
    "shown": "±" in result._repr_html_(),
    "seats": play_game("crazy_eights", ["random", Mine()]).seats,
}))
"""


def test_an_agent_of_a_notebook_cell_gets_intervals() -> None:
    """A cell's classes lie in `__main__`, which processes for other games do not have."""
    done = subprocess.run(
        [sys.executable, "-"], input=CELL, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    sentence = (
        "agent 'mine' cannot be sent to other processes, so this one plays all games; define its "
        "class in a module to use 2 workers"
    )
    assert found["said"] == [sentence] * 2
    assert found["workers"] == 1
    assert all(low < high for low, high in found["intervals"])
    assert found["shown"]
    assert found["seats"] == ["random", "mine"]
