"""Choices of Koi-Koi as sums of terms: what they are, play-outs with them, their training."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab import find_agent
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Turn
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.games.koi_koi import linear as terms
from cardlab.games.koi_koi import playouts
from cardlab.games.koi_koi.agents.linear import KoiKoiLinear, load_weights, shipped_weights
from cardlab.games.koi_koi.agents.search import KoiKoiHandOpen
from cardlab.games.koi_koi.cards import parse_card
from cardlab.games.koi_koi.rules import GAME, KOI_KOI, START, STOP, TAKE
from cardlab.games.koi_koi.table import (
    CALL,
    DISCARD,
    FINISHED,
    PICK_FOR_DISCARD,
    PICK_FOR_DRAW,
    score,
)
from cardlab.testing.agents import check_agent
from tests.support.killed import train_killed_once


def cards(text: str) -> int:
    """Return the set of some cards."""
    return sum(1 << parse_card(one) for one in text.split())


def position(hand: str, field: str, mine: str = "", theirs: str = "", turn: int = 0) -> Any:
    """Return a state in which seat 0 is to discard."""
    state = GAME.fresh(**GAME.read_options({}))
    s = state[0]
    s.round_number, s.phase, s.seat, s.turn = 1, DISCARD, 0, turn
    s.hands[0], s.field_cards = cards(hand), cards(field)
    s.piles[0], s.piles[1] = cards(mine), cards(theirs)
    return state


def terms_of(state: Any, card: str, taken: str = "") -> list[int]:
    """Return the terms of a discard that takes these cards."""
    scratch = playouts.Scratch.new()
    terms.count_groups(state[0], 0, scratch.counts)
    count = terms.card_terms(
        state[0], 0, parse_card(card), cards(taken), scratch.counts, scratch.terms
    )
    return scratch.terms[:count].tolist()


def some_tables(seeds: range, *, plies: int) -> list[Table]:
    """Return games that have gone on by chance for so many plies."""
    found = []
    for seed in seeds:
        table, rng = Table(GAME, seed=seed), np.random.default_rng(seed)
        for _ in range(plies):
            if not table.over:
                table.act(int(rng.choice(table.turn().legal)))
        if not table.over:
            found.append(table)
    return found


def all_turns(
    seed: int, *, games: int = 100, koi_koi: bool = False, **options: Any
) -> Iterator[Turn]:
    """Yield the turns of random games one after the other, koi-koi always called if wanted."""
    rng = np.random.default_rng(seed)
    for number in range(games):
        table = Table(GAME, seed=seed + number, options=options)
        while not table.over:
            turn = table.turn()
            yield turn
            last = koi_koi and turn.view.phase == CALL
            table.act(int(turn.legal[-1] if last else rng.choice(turn.legal)))


# The terms


BLOCKS = {  # the first term of each block
    "cards": 0,
    "made": terms.MADE,
    "month": terms.MONTH,
    "stop": terms.STOP_NOW,
    "their cards": terms.THEIR_CARDS,
    "my cards": terms.MY_CARDS,
    "their best": terms.THEIR_BEST,
    "my best": terms.MY_BEST,
    "lead": terms.LEAD,
    "called": terms.CALLED,
    "end": terms.NUM_TERMS,
}


def blocks_of(found: Any) -> list[str]:
    """Return the block of each term."""
    firsts = list(BLOCKS.values())
    return [list(BLOCKS)[int(np.searchsorted(firsts, one, side="right")) - 1] for one in found]


def role_of(term: int) -> int:
    """Return the role of a card's own term."""
    return term // (terms.STAGES * terms.OF_ROLE)


@pytest.mark.skipif(not JIT, reason="too many positions to interpret")
@pytest.mark.parametrize("options", [{}, {"rules": "nintendo", "rounds": 12}])
def test_every_term_is_in_its_block(options: dict[str, Any]) -> None:
    scratch = playouts.Scratch.new()
    calls = 0
    for turn in all_turns(9, games=12, koi_koi=True, **options):
        s, seat = turn.view.array[0], turn.seat
        if s.phase == CALL:
            count = terms.call_terms(s, seat, scratch.terms)
            assert blocks_of(scratch.terms[:count]) == [
                *("stop", "their cards", "their best", "my cards", "my best", "lead", "called")
            ]
            calls += 1
        elif s.phase == DISCARD:
            terms.count_groups(s, seat, scratch.counts)
            assert (scratch.counts <= terms.DEAD).all()
            for card in turn.legal:
                taken = int(playouts.field_matches(s, int(card)))
                if taken.bit_count() == 2:
                    taken &= -taken
                count = terms.card_terms(s, seat, int(card), taken, scratch.counts, scratch.terms)
                found = scratch.terms[:count].tolist()
                assert count < terms.MOST_TERMS
                ends = ["made", "month"] if taken else ["month"]
                assert blocks_of(found) == ["cards"] * (count - len(ends)) + ends
    assert calls > 20


def test_the_terms_of_a_card_are_its_groups_on_both_piles() -> None:
    state = position("3-curtain 9-cup 1-a", "3-a 9-a", mine="8-moon 1-crane", turn=9)
    one = terms_of(state, "3-curtain", "3-a")
    other = terms_of(state, "9-cup", "9-a")
    laid = terms_of(state, "1-a")
    # A captured pair, its groups on either pile, what it makes, what is left of the month.
    assert len(one) == (1 + 2 * 2) + (1 + 2) + 2
    assert len(other) == (1 + 2 * 4) + (1 + 2) + 2
    assert len(laid) == (1 + 2) + 1
    assert not set(one) & set(laid)


def test_terms_tell_what_matters() -> None:
    field = "3-curtain 9-cup 1-a"
    plain = terms_of(position("3-a", field), "3-a", "3-curtain")
    # How urgent a capture is: two others of the month unseen, or none.
    none_left = terms_of(position("3-a 3-b", field, theirs="3-red"), "3-a", "3-curtain")
    assert [role_of(found[3]) for found in (plain, none_left)] == [3, 1]
    laid = terms_of(position("3-a", "9-cup 1-a"), "3-a")
    assert role_of(laid[0]) == 7
    three = terms_of(position("3-a", field, mine="1-crane 8-moon"), "3-a", "3-curtain")
    assert [one - terms.MADE for one in three if terms.MADE <= one < terms.MONTH] == [5]
    # With the cup on the other pile flower sake can be made by nobody.
    dead = terms_of(position("3-a", field, theirs="9-cup"), "3-a", "3-curtain")
    assert dead[4] - plain[4] == terms.DEAD
    late = terms_of(position("3-a", field, turn=12), "3-a", "3-curtain")
    assert not set(plain) & set(late)
    # What the other hand holds is no term of one's own.
    state = position("3-a", field)
    state[0].hands[1] = cards("12-phoenix 11-rainman")
    assert terms_of(state, "3-a", "3-curtain") == plain


def test_a_group_is_dead_when_it_cannot_be_whole() -> None:
    counts = playouts.Scratch.new().counts
    state = position("1-a", "2-a", mine="1-red 2-red 10-deer", theirs="3-red 7-boar 4-cuckoo")
    terms.count_groups(state[0], 0, counts)
    found = dict(zip(terms.GROUPS, counts[: terms.NUM_GROUPS].tolist(), strict=True))
    assert found[terms.RED] == found[terms.BOAR_DEER_BUTTERFLY] == terms.DEAD
    assert (found[terms.SEEDS], found[terms.RIBBONS], found[terms.BLUE]) == (1, 2, 0)
    theirs = dict(zip(terms.GROUPS, counts[terms.NUM_GROUPS :].tolist(), strict=True))
    assert theirs[terms.RED] == theirs[terms.BOAR_DEER_BUTTERFLY] == terms.DEAD
    assert theirs[terms.SEEDS] == 2
    # Three lights without the rainman are needed: with two of the four gone none can be made.
    for gone, lights in (("1-crane 11-rainman", 1), ("1-crane 3-curtain", terms.DEAD)):
        state = position("1-a", "2-a", mine="8-moon", theirs=gone)
        terms.count_groups(state[0], 0, counts)
        assert counts[terms.GROUPS.index(terms.LIGHTS)] == lights


# Play-outs


def test_the_greatest_sum_is_chosen() -> None:
    state = position("3-a 9-b 1-a", "3-curtain 9-cup 9-a", turn=2)
    weights, scratch = np.zeros(terms.NUM_TERMS), playouts.Scratch.new()
    for card, taken in (("3-a", "3-curtain"), ("9-b", "9-cup"), ("1-a", "")):
        weights[:] = 0
        weights[terms_of(state, card, taken)] = 1
        assert playouts.choose(state[0], 0, weights, scratch) == parse_card(card)
    s = state[0]
    s.phase, s.pending = 3, parse_card("9-b")
    s.hands[0] &= ~cards("9-b")
    for taken in ("9-cup", "9-a"):
        weights[:] = 0
        weights[terms_of(state, "9-b", taken)[3]] = 1  # the captured card itself
        assert playouts.choose(s, 0, weights, scratch) == TAKE + parse_card(taken)


def test_calls_are_made_above_zero() -> None:
    state = position("3-a", "9-a", mine="1-crane 3-curtain 8-moon", turn=6)
    s, scratch = state[0], playouts.Scratch.new()
    s.phase = CALL
    for weight, action in ((1.0, KOI_KOI), (0.0, STOP), (-1.0, STOP)):
        assert playouts.choose(s, 0, np.full(terms.NUM_TERMS, weight), scratch) == action


def test_the_worth_of_an_end_is_the_chance_to_win() -> None:
    chances = np.random.default_rng(0).random((13, 2, 2 * START + 1))
    states = GAME.fresh(**GAME.read_options({}))
    s = states[0]
    s.phase, s.round_number, s.next_dealer = 1, 3, 1
    s.points_now[:] = 26, 34
    assert playouts.end_worth(s, 1, chances) == pytest.approx(2 * chances[5, 1, 34] - 1)
    assert playouts.end_worth(s, 0, chances) == pytest.approx(2 * chances[5, 0, 26] - 1)
    s.phase = FINISHED
    assert playouts.end_worth(s, 1, chances) == 1
    assert playouts.end_worth(s, 0, chances) == -1


def share_by_hand(table: Table, seat: int, weights: Any) -> float:
    """Return how likely the other's discards of the round are, by replaying it from its start."""
    scratch, found = playouts.Scratch.new(), []
    again = Table(GAME, seed=table.seed)
    rounds = int(table.state.array[0].round_number)
    for action in table.actions:
        s = again.state.array[0]
        if s.round_number == rounds and s.phase == DISCARD and s.seat != seat:
            who = int(s.seat)
            terms.count_groups(s, who, scratch.counts)
            hand = [card for card in range(48) if int(s.hands[who]) >> card & 1]
            sums = np.array(
                [playouts.discard_worth(s, who, card, weights, scratch) for card in hand]
            )
            shares = np.exp(sums - sums.max())
            shares = playouts.CARELESS / len(hand) + (1 - playouts.CARELESS) * shares / shares.sum()
            found.append(shares[hand.index(action)])
        again.act(action)
    return prod(found)


@pytest.mark.skipif(not JIT, reason="too many positions to interpret")
def test_the_past_of_a_round_is_as_likely_as_it_was() -> None:
    weights = np.random.default_rng(1).normal(size=terms.NUM_TERMS)
    scratch = playouts.Scratch.new()
    phases, calls = set(), 0
    for plies in (7, 12, 16, 25, 31):
        for table in some_tables(range(30), plies=plies):
            state = table.state.array
            seat = int(state[0].seat)
            phases.add(int(state[0].phase))
            past = state.copy()
            found = playouts.likelihood(state[0], past[0], seat, weights, scratch)
            assert found == pytest.approx(share_by_hand(table, seat, weights))
            s = past[0]  # back at the start of the round: both hands as dealt, no pile
            assert [int(one).bit_count() for one in (*s.hands, *s.piles)] == [8, 8, 0, 0]
            assert int(s.field_cards).bit_count() == 8
            assert s.calls.tolist() == [0, 0]
            calls += int(state[0].calls.sum())
    assert phases >= {DISCARD, PICK_FOR_DISCARD, PICK_FOR_DRAW}
    assert calls > 5


@pytest.mark.skipif(not JIT, reason="too many worlds to interpret")
def test_worlds_come_as_likely_as_the_others_discards_make_them() -> None:
    """Of many imagined hands, each comes in proportion to its likelihood among all hands."""
    turn = next(one for one in all_turns(5) if (one.view.turn, one.view.phase) == (12, DISCARD))
    seat, view = turn.seat, turn.view.array
    other = 1 - seat
    weights = np.random.default_rng(3).normal(size=terms.NUM_TERMS)
    scratch = playouts.Scratch.new(400_000)
    rng = np.array([77], dtype=np.int64)
    seen: dict[int, float] = {}
    s = view[0]
    known = int(s.hands[seat]) | int(s.piles[0]) | int(s.piles[1]) | int(s.field_cards)
    unseen = [card for card in range(48) if not known >> card & 1]
    for hand in combinations(unseen, 2):
        world = view.copy()
        world[0].hands[other] = sum(1 << card for card in hand)
        past = world.copy()
        seen[int(world[0].hands[other])] = playouts.likelihood(
            world[0], past[0], seat, weights, scratch
        )
    total, draws, few = sum(seen.values()), 4000, np.zeros(2)
    counts = dict.fromkeys(seen, 0)
    playouts.sample_hands(view, seat, weights, scratch, rng)
    for _ in range(draws):
        playouts.sample_world(view, seat, scratch, rng)
        world = scratch.states[1:2].copy()
        counts[int(world[0].hands[other])] += 1
        GAME.bindings.conceal(world, 0, seat)
        assert world.tobytes() == view.tobytes()
    statistic, cells = 0.0, 0
    for hand, likely in seen.items():
        expected = draws * likely / total
        if expected < 8:
            few += counts[hand], expected
            continue
        statistic += (counts[hand] - expected) ** 2 / expected
        cells += 1
    if few[1] > 8:
        statistic += (few[0] - few[1]) ** 2 / few[1]
        cells += 1
    assert cells > 3
    assert statistic < cells + 5 * (2 * cells) ** 0.5


def test_the_stock_alone_is_imagined_where_the_hand_is_seen() -> None:
    scratch, rng = playouts.Scratch.new(), np.array([5], dtype=np.int64)
    for table in some_tables(range(6), plies=9):
        state = table.state.array
        playouts.sample_world(state, int(state[0].seat), scratch, rng)
        world = scratch.states[1:2].copy()
        assert world["hands"].tolist() == state["hands"].tolist()
        assert world["stock"].tolist() != state["stock"].tolist()
        assert GAME.audit(world[0]) == 0
        world["stock"] = state["stock"]
        assert world.tobytes() == state.tobytes()


def test_a_stop_is_worth_what_it_wins() -> None:
    scratch, rng, found = playouts.Scratch.new(4), np.array([5], dtype=np.int64), np.zeros(2)
    turn = next(one for one in all_turns(3) if one.view.phase == CALL)
    view, seat, chances = turn.view.array, turn.seat, np.zeros((0, 2, 1))
    model = playouts.Model(shipped_weights(), chances)
    playouts.try_actions(view, seat, turn.legal[:2], 5, model, scratch, rng, found)
    assert found[0] == pytest.approx(score(view[0], seat) / 10)


# The agents


@pytest.mark.skipif(not JIT, reason="too many games to interpret")
def test_agents_are_sound() -> None:
    check_agent(KoiKoiLinear, GAME)
    check_agent(KoiKoiLinear, GAME, options={"rules": "nintendo"})
    check_agent(lambda: KoiKoiHandOpen(4), GAME)
    assert find_agent("koi_koi_linear", GAME).name == "koi_koi_linear"
    assert find_agent("koi_koi_hand_open:20", GAME).worlds == 20  # type: ignore[attr-defined]


def test_weights_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CardlabError, match=r"none\.npz holds no weights of terms"):
        load_weights(tmp_path / "none.npz")
    np.savez(tmp_path / "few.npz", weights=np.zeros(3))
    with pytest.raises(CardlabError, match="of shape"):
        KoiKoiLinear(tmp_path / "few.npz")
    whole = (tmp_path / "few.npz").read_bytes()
    for cut in (b"", whole[:-10]):
        (tmp_path / "cut.npz").write_bytes(cut)
        with pytest.raises(CardlabError, match="holds no weights of terms"):
            KoiKoiLinear(tmp_path / "cut.npz")


# The training


SMALL = ("games=12", "block_games=6", "epochs=2", "call_epochs=2")


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="too many games to interpret")
def test_a_killed_training_ends_with_the_same_weights(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from cardlab.games.koi_koi.learning import linear as learning
    from cardlab.learning.runs import read_config

    told = train_killed_once("koi_koi/terms", tmp_path / "killed", SMALL, "games_0.npz")
    seen: list[tuple[str, int, int]] = []
    config = read_config(learning.Config, SMALL)
    whole = learning.train(config, tmp_path / "whole", lambda *at: seen.append(at))
    assert told == whole
    assert seen[-1][1] == seen[-1][2]
    first, second = (
        load_weights(tmp_path / name / "koi_koi_linear.npz") for name in ("killed", "whole")
    )
    assert (first == second).all()
    assert (first[: terms.CALLS] != 0).any()
    assert (first[terms.CALLS :] != 0).any()
    assert whole["decisions"] > 400
    assert 0.2 < whole["discards and picks: agreement"] < 1


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="too many games to interpret")
def test_weights_learn_what_a_network_wants() -> None:
    """Sums that made the points are found again, up to what their scale leaves open."""
    pytest.importorskip("torch")
    from cardlab.games.koi_koi.learning import linear as learning

    config = learning.Config(epochs=30, batch=256, temperature=1.0)
    rng = np.random.default_rng(0)
    truth = rng.normal(size=12)
    places = rng.integers(0, 12, size=(4000, 8, 3)).astype(np.int16)
    points = truth[places].sum(axis=-1)
    points[:, 5:] = -np.inf
    found = learning.fit(
        config,
        places,
        points,
        np.zeros(terms.NUM_TERMS),
        calls=False,
        epochs=config.epochs,
        stream=5,
        report=lambda at: None,
    )
    assert np.corrcoef(found[:12], truth)[0, 1] > 0.98
    assert (found[12:] == 0).all()
    assert learning.held_back(places, points, found)["agreement"] > 0.9


def test_a_point_is_worth_most_at_the_end_of_an_even_game() -> None:
    pytest.importorskip("torch")
    from cardlab.games.koi_koi.agents.network import koi_koi_point, koi_koi_win
    from cardlab.games.koi_koi.learning.linear import point_worth

    states = np.repeat(GAME.fresh(**GAME.read_options({})), 3)
    states["round_number"] = 1, 8, 8
    states["points_now"][2] = 55, 5
    early, last, decided = point_worth(koi_koi_win(), states)
    assert last == pytest.approx(2 / 24)  # from a loss to a win over what a round may bring
    assert early < last
    assert decided == 0.015
    assert point_worth(koi_koi_point(), states) == pytest.approx(0.1)


def test_bad_settings_are_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from cardlab.games.koi_koi.learning.linear import Config, train

    for config, message in (
        (Config(games=1), "games must be 2 or more"),
        (Config(explore=2.0), "explore must be from 0 to 1"),
        (Config(teacher="heuristic"), "has no networks that learned values"),
        (Config(teacher="koi_koi_supervised"), "has no networks that learned values"),
    ):
        with pytest.raises(CardlabError, match=message):
            train(config, tmp_path / "run", lambda *at: None)
    assert not (tmp_path / "run").exists()
