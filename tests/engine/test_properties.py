"""Whatever somebody gives, a reader returns a value that holds, or says in a sentence why not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError, one_line
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game, find_package, our_games
from tests.support.strategies import any_text, odd_values, texts_near, value_or_error

GAMES = our_games()
LOOSE = ("1-1", "12 4", "10h", "8h spades", "red 7", "wild blue", "a1 onto a3", "lay 5h jd", "5hjd")


def texts_of(game: Game) -> list[str]:
    """Return the texts of all cards and of some actions."""
    step = 1 + game.num_actions // 200
    actions = [game.action_text(action) for action in range(0, game.num_actions, step)]
    cards = dict.fromkeys(game.card_text(card) for card in range(game.deck))
    return [*cards, *actions, *LOOSE]


@given(any_text)
def test_a_mistake_is_one_line_that_no_terminal_obeys(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line) == len(text)
    assert line == text or not text.isprintable()
    assert str(CardlabError(text)) == line
    line.encode()


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_any_text_is_a_card_an_action_or_a_mistake(name: str, data: st.DataObject) -> None:
    game = find_game(name)
    text = data.draw(texts_near(texts_of(game)))
    card = value_or_error(game.parse_card, text)
    if not isinstance(card, CardlabError):
        assert 0 <= card < game.deck
        again = game.parse_card(game.card_text(card))
        assert game.card_text(again) == game.card_text(card)
    action = value_or_error(game.parse_action, text)
    if not isinstance(action, CardlabError):
        assert 0 <= action < game.num_actions
        assert game.parse_action(game.action_text(action)) == action


@pytest.mark.parametrize("name", GAMES)
def test_a_number_longer_than_python_reads_is_a_mistake(name: str) -> None:
    game = find_game(name)
    for text in ("9" * 5000, "9" * 5000 + "-1", "1-" + "9" * 5000):
        for parse in (game.parse_card, game.parse_action, game.parse_order):
            assert isinstance(value_or_error(parse, text), CardlabError)


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_a_deck_order_survives_its_text(name: str, data: st.DataObject) -> None:
    game = find_game(name)
    order = data.draw(st.permutations(range(game.deck)))
    text = game.order_text(order)
    sign = data.draw(st.sampled_from([" ", ", ", ",", "\n"]))
    again = game.parse_order(text.replace(" ", sign))
    assert sorted(again.tolist()) == list(range(game.deck))
    assert game.order_text(again) == text


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_any_text_is_a_deck_order_or_a_mistake(name: str, data: st.DataObject) -> None:
    game = find_game(name)
    words = game.order_text(range(game.deck)).split()
    text = data.draw(
        texts_near(words)
        | st.permutations(words).map(" ".join)
        | st.lists(st.sampled_from(words), min_size=len(words), max_size=len(words)).map(" ".join)
    )
    order = value_or_error(game.parse_order, text)
    if not isinstance(order, CardlabError):
        assert sorted(order.tolist()) == list(range(game.deck))
        assert game.order_text(game.parse_order(game.order_text(order))) == game.order_text(order)


@given(odd_values)
def test_a_seed_is_a_whole_number_of_63_bits_or_a_mistake(seed: Any) -> None:
    read = value_or_error(seeding.read_seed, seed)
    if not isinstance(read, CardlabError):
        assert type(read) is int
        assert read == seed
        assert abs(read) < 2**63
        seeding.generator(read, "seat", 1)


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_options_are_legal_or_a_mistake_and_legal_ones_can_be_played(
    name: str, data: st.DataObject
) -> None:
    game = find_game(name)
    known = {option.name: option for option in game.options}
    values = {
        name: st.sampled_from(option.allowed)
        | st.sampled_from(option.allowed).map(str)
        | odd_values
        for name, option in known.items()
    }
    asked: dict[Any, Any] = data.draw(st.fixed_dictionaries({}, optional=values))
    asked |= data.draw(st.dictionaries(any_text, odd_values, max_size=1) | st.just({}))
    options = value_or_error(game.read_options, asked)
    if isinstance(options, CardlabError):
        return
    assert options.keys() == known.keys()
    assert all(options[name] in option.allowed for name, option in known.items())
    assert game.read_options(options) == options
    assert game.read_options({name: str(value) for name, value in options.items()}) == options
    table = Table(game, seed=data.draw(st.integers(0, 2**62)), options=options)
    rng = np.random.default_rng(0)
    while not table.over:
        assert len(table.actions) < game.max_plies
        table.act(int(rng.choice(table.state.legal())))
    assert game.audit(table.state.array[0]) == 0


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_a_deal_is_taken_exactly_if_it_is_a_permutation(name: str, data: st.DataObject) -> None:
    game = find_game(name)
    whole = list(range(game.deck))
    deal = data.draw(
        st.permutations(whole)
        | st.permutations(whole).map(lambda order: np.array(order, dtype=np.uint8))
        | st.permutations(whole).map(lambda order: np.array(order, dtype=float))
        | st.lists(st.integers(-1, game.deck), min_size=game.deck, max_size=game.deck)
        | st.lists(odd_values, max_size=4)
        | st.permutations([*whole[1:], 2**64])
        | st.permutations([*whole[1:], 256])
        | odd_values
    )
    table = value_or_error(Table, game, deals=[deal], seed=3)
    right = isinstance(deal, list) and sorted(deal, key=str) == sorted(whole, key=str)
    if isinstance(deal, np.ndarray):
        right = deal.dtype != float  # numbers of cards are whole
    if isinstance(deal, str):
        right = not isinstance(value_or_error(game.parse_order, deal), CardlabError)
    assert isinstance(table, CardlabError) != right
    if not isinstance(table, CardlabError):
        again = Table(game, deals=[game.order_text(table.deals[0])], seed=3)
        rng = np.random.default_rng(1)
        while not table.over:
            action = int(rng.choice(table.state.legal()))
            table.act(action)
            again.act(action)
        assert again.state.returns() == table.state.returns()
        assert again.state.points() == table.state.points()
        if game.zero_sum:
            assert abs(sum(table.state.returns())) < 1e-9


@given(texts_near([*GAMES, "cardlab.games.uno.rules:GAME", "os:path", "os", "tests"]))
def test_any_text_is_a_game_or_a_mistake(text: str) -> None:
    for find in (find_game, find_package):
        value_or_error(find, text)
