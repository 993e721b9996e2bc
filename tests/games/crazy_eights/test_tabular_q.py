"""The Q-learner: its features and updates against plain Python, its runs against interruption."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import find_agent
from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.games.crazy_eights import PACKAGE
from cardlab.games.crazy_eights.agents.tabular_q import TabularQ, load_table
from cardlab.games.crazy_eights.features import NUM_STATES, action_of, choices, state_index
from cardlab.games.crazy_eights.learning import tabular_q
from cardlab.games.crazy_eights.rules import EIGHT_ACTIONS, PASS
from cardlab.learning.runs import load_arrays, read_config
from cardlab.testing import random_table, retrace
from tests.support.killed import train_killed_once

pytestmark = pytest.mark.skipif(not JIT, reason="too many games to interpret")


def quiet(*_: Any) -> None:
    pass


def hand_of(s: Any, seat: int) -> list[tuple[int, int]]:
    return [(card // 4, card % 4) for card in range(52) if int(s.hands[seat]) >> card & 1]


def plain_index(s: Any, seat: int) -> int:
    hand = hand_of(s, seat)
    plain = [card for card in hand if card[0] != 7]
    numbers = (
        (min(len(hand), 8), 9),
        (min(len(hand_of(s, 1 - seat)), 8), 9),
        (int(s.suit), 4),
        (len(hand) - len(plain), 5),
        (sum(rank == int(s.top) // 4 for rank, _ in plain), 5),
        (min(sum(suit == int(s.suit) for _, suit in plain), 4), 5),
    )
    index = 0
    for value, size in numbers:
        assert 0 <= value < size
        index = index * size + value
    return index


def plain_choices(s: Any, seat: int) -> list[int]:
    """Return the five actions that are possible: a suit each, 4 for an eight."""
    found = set()
    for rank, suit in hand_of(s, seat):
        if rank == 7:
            found.add(4)
        elif suit == s.suit or rank == int(s.top) // 4:
            found.add(suit)
    return sorted(found)


def plain_action(s: Any, seat: int, choice: int) -> int:
    hand = hand_of(s, seat)
    if choice == 4:
        eight = min(suit for rank, suit in hand if rank == 7)
        counts = [sum(one == suit and rank != 7 for rank, one in hand) for suit in range(4)]
        return EIGHT_ACTIONS + 4 * eight + counts.index(max(counts))
    top = int(s.top) // 4
    ranks = [
        rank
        for rank, suit in hand
        if suit == choice and rank != 7 and (suit == s.suit or rank == top)
    ]
    worth = {rank: (min(rank + 1, 10), rank) for rank in ranks}
    card = 4 * max(ranks, key=worth.__getitem__) + choice
    return card if card < 28 else card - 4


def test_features_and_choices_are_those_of_plain_python(crazy_eights: Game) -> None:
    met = set()
    for seed in range(40):
        for table in retrace(random_table(crazy_eights, {}, seed)):
            s, seat = table.state.array[0], table.mover
            if seat < 0:
                continue
            met.add(state_index(s, seat))
            assert state_index(s, seat) == plain_index(s, seat) < NUM_STATES
            possible = plain_choices(s, seat)
            assert choices(s, seat) == sum(1 << choice for choice in possible)
            for choice in possible:
                action = action_of(s, seat, choice)
                assert action == plain_action(s, seat, choice)
                assert action in table.state.legal()
    assert len(met) > 100


@pytest.mark.parametrize("learn_from_losses", [False, True])
def test_updates_are_those_of_the_paper(
    crazy_eights: Game, tmp_path: Path, learn_from_losses: bool
) -> None:
    config = tabular_q.Config(games=60, epsilon=0.0, learn_from_losses=learn_from_losses, seed=4)
    tabular_q.train(config, tmp_path, quiet)
    saved = load_arrays(tmp_path / "checkpoint.npz")
    assert saved
    q: dict[tuple[int, int], float] = {}
    start = seeding.stream(4, "tabular_q")
    for number in range(60):
        table = Table(crazy_eights, seed=int(seeding.branch(start, number)))
        previous: list[tuple[int, int] | None] = [None, None]
        while table.mover >= 0:
            s, seat = table.state.array[0], table.mover
            possible = plain_choices(s, seat)
            if not possible:
                table.act(PASS)
                continue
            state = plain_index(s, seat)
            values = [q.get((state, choice), 0.0) for choice in possible]
            before = previous[seat]
            if before:
                q[before] = q.get(before, 0.0) + 0.2 * (max(values) - q.get(before, 0.0))
            choice = max(possible, key=lambda one: (q.get((state, one), 0.0), -one))
            previous[seat] = (state, choice)
            table.act(plain_action(s, seat, choice))
        for seat, before in enumerate(previous):
            won = table.state.array[0].winner == seat
            if before and (won or learn_from_losses):
                q[before] = q.get(before, 0.0) + 0.2 * (float(won) - q.get(before, 0.0))
    plain = np.zeros_like(saved["q"])
    for place, value in q.items():
        plain[place] = value
    assert saved["q"] == pytest.approx(plain)
    assert plain.any()


@pytest.mark.slow
def test_an_interrupted_run_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    config = tabular_q.Config(games=50_000)
    whole = tabular_q.train(config, tmp_path / "whole", quiet)

    class Stop(Exception):
        pass

    def stop(_: str, done: int, __: int) -> None:
        if done == 20_000:
            raise Stop

    with pytest.raises(Stop):
        tabular_q.train(config, tmp_path / "parts", stop)
    seen: list[int] = []
    parts = tabular_q.train(config, tmp_path / "parts", lambda _, done, __: seen.append(done))
    assert seen[0] == 20_000
    assert parts == whole
    tables = [load_arrays(tmp_path / name / "table.npz") for name in ("whole", "parts")]
    assert tables[0]
    assert tables[1]
    assert (tables[0]["q"] == tables[1]["q"]).all()


@pytest.mark.slow
def test_a_killed_training_goes_on(tmp_path: Path) -> None:
    run, settings = tmp_path / "run", ["games=60000"]
    told = train_killed_once("crazy_eights/tabular_q", run, settings, "checkpoint.npz")
    assert told["games"] == 60_000
    (tmp_path / "undisturbed").mkdir()
    tabular_q.train(tabular_q.Config(games=60_000), tmp_path / "undisturbed", quiet)
    tables = [load_arrays(tmp_path / name / "table.npz") for name in ("run", "undisturbed")]
    assert tables[0]
    assert tables[1]
    assert (tables[0]["q"] == tables[1]["q"]).all()


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    tabular_q.train(tabular_q.Config(games=10), tmp_path, quiet)
    with pytest.raises(CardlabError, match=r"holds a run with other settings \(games\)"):
        tabular_q.train(tabular_q.Config(games=20), tmp_path, quiet)
    with pytest.raises(CardlabError, match="epsilon between 0 and 1"):
        tabular_q.train(tabular_q.Config(epsilon=2), tmp_path / "other", quiet)
    with pytest.raises(CardlabError, match="unknown setting 'game'"):
        read_config(tabular_q.Config, ["game=3"])
    with pytest.raises(CardlabError, match="games must be a whole number, got many"):
        read_config(tabular_q.Config, ["games=many"])
    with pytest.raises(CardlabError, match="epsilon must be a number, got nan"):
        read_config(tabular_q.Config, ["epsilon=nan"])
    assert read_config(tabular_q.Config, ["games=1_000", "learn_from_losses=true"]).games == 1000
    bad = tmp_path / "bad.npz"
    bad.write_text("no table")
    with pytest.raises(CardlabError, match="holds no table of Q values"):
        load_table(bad)


def test_the_shipped_table_is_what_its_description_says(crazy_eights: Game) -> None:
    origin = json.loads(PACKAGE.shipped("tabular_q.json").read_text(encoding="utf-8"))
    assert origin["rules"] == crazy_eights.rules_version
    assert origin["config"]["games"] == 600_000
    agent = find_agent("tabular_q", crazy_eights)
    assert isinstance(agent, TabularQ)
    assert int((agent.q.max(axis=1) > 0).sum()) <= origin["summary"]["states visited"]
