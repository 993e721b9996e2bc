"""Leduc poker: every position of the game against OpenSpiel's, and an agent that solves it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cardlab import Table, find_game
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.observation import observation_of
from cardlab.learning.cfr_agent import CfrAgent
from cardlab.testing import check_agent, check_game, check_uniform, random_table
from tests.support.paths import EXAMPLES

FOLD, CALL, RAISE = range(3)
DECK = 6


@pytest.fixture(scope="module")
def leduc() -> Game:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        return find_game("leduc_poker:GAME")


def test_every_position_agrees_with_openspiel(leduc: Game) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="pip install 'cardlab[bench]'")
    theirs = pyspiel.load_game("leduc_poker")
    compared = 0
    for cards in itertools.permutations(range(DECK), 3):
        rest = [card for card in range(DECK) if card not in cards]
        stack: list[list[int]] = [[]]
        while stack:
            actions = stack.pop()
            table = Table(leduc, seed=0, deals=[[*cards, *rest]])
            state = theirs.new_initial_state()
            state.apply_action(cards[0])
            state.apply_action(cards[1])
            for action in actions:
                table.act(action)
                state.apply_action(action)
                if state.is_chance_node():
                    state.apply_action(cards[2])
            compared += 1
            assert table.over == state.is_terminal(), actions
            if table.over:
                assert table.state.points() == state.returns(), (cards, actions)
                continue
            assert table.mover == state.current_player(), actions
            assert table.state.legal().tolist() == state.legal_actions(), actions
            stack += [[*actions, action] for action in state.legal_actions()]
    assert compared > 9000


def test_check_game(leduc: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)  # where its subprocess finds the game
    check_game(leduc)


def test_sampled_worlds_are_uniform(leduc: Game) -> None:
    view = Table(leduc, seed=0, deals=["KS QS JS JH QH KH"]).state.view(0)
    ways = []
    for other, public in itertools.permutations([0, 1, 2, 3, 5], 2):
        world = view.array.copy()
        world[0].cards[1:] = other, public
        ways.append(world.tobytes())
    check_uniform(view, ways)


def test_a_fold_shows_nothing(leduc: Game) -> None:
    table = Table(leduc, seed=0, deals=["KS QS JS JH QH KH"])
    table.act(RAISE)
    table.act(FOLD)
    assert table.over
    assert [zone.cards for zone in table.state.view(0).describe().zones] == [("KS",), (), ()]
    assert table.state.points() == [1, -1]


def test_a_pair_beats_a_king(leduc: Game) -> None:
    table = Table(leduc, seed=0, deals=["KS JS JH QH QS KH"])
    for action in (CALL, CALL, CALL, RAISE, CALL):
        table.act(action)
    assert table.state.points() == [-5, 5]
    texts = [event.text for event in table.state.view(0).describe().events]
    assert texts == [
        "checked",
        "checked",
        "the public card is JH",
        "checked",
        "raised by 4",
        "called",
    ]


def test_texts_are_read(leduc: Game) -> None:
    assert leduc.parse_action("check") == CALL
    with pytest.raises(CardlabError, match="unknown action 'bet'; write fold, call or raise"):
        leduc.parse_action("bet")
    with pytest.raises(CardlabError, match="unknown card '7H'"):
        leduc.parse_card("7H")


def test_observations_tell_all_views_apart(leduc: Game) -> None:
    """Suits are left out on purpose; everything else that a seat knows is in the numbers."""
    observation = observation_of(leduc)
    rows: dict[bytes, set[str]] = {}
    for seed in range(400):
        table = random_table(leduc, {}, seed)
        view = table.state.view(seed % 2)
        text = "".join(letter for letter in str(view) if letter not in "SH")
        rows.setdefault(
            observation.one(view.array, seed % 2).tobytes() + bytes([seed % 2]), set()
        ).add(text)
    assert len(rows) > 50
    assert all(len(texts) == 1 for texts in rows.values())


def test_agents_play_it(leduc: Game) -> None:
    check_agent(lambda: CfrAgent(iterations=50), leduc)


def test_cfr_refuses_a_game_that_is_too_large() -> None:
    turn = Table("uno", seed=0).turn()
    with pytest.raises(CardlabError, match=r"uno has .* deals, more than 50,000"):
        CfrAgent().act(turn, np.random.default_rng(0))
