"""Crazy Eights: each rule with its source, the whole against a second implementation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from cardlab.engine import seeding
from cardlab.engine.cards import parse_card
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, Game, State, View
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.games.crazy_eights import rules
from cardlab.testing import audit_random_games, check_uniform, random_table, retrace
from tests.support.reference_crazy_eights import ReferenceGame

MANY = 300 if JIT else 4
EVERY_OPTION = [
    pytest.param(
        {"seats": seats, "hand_size": size, "reshuffle": reshuffle, "optional_draw": draw},
        marks=[pytest.mark.slow] * (size == 7),
    )
    for seats in (2, 3, 4)
    for size in (5, 7)
    for reshuffle in (False, True)
    for draw in (False, True)
]


def deck(*first: str) -> str:
    """Return a whole deck that starts with these cards and goes on with the rest in order."""
    named = [parse_card(card) for part in first for card in part.split()]
    order = named + [card for card in range(52) if card not in named]
    return " ".join(rules.card_text(card) for card in order)


def play(table: Table, *actions: str) -> Table:
    for action in actions:
        table.act(table.game.parse_action(action))
    return table


def texts(table: Table) -> list[str]:
    return table.turn().texts


def hand(table: Table, seat: int) -> str:
    return rules.cards_text(rules.cards_in(table.state.hands[seat]))


# Every step of whole games against the second implementation


@pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
def test_every_step_agrees_with_the_second_implementation(
    crazy_eights: Game, options: dict[str, Any]
) -> None:
    both = options["reshuffle"] and options["optional_draw"]  # hundreds of plies a game
    for seed in range(MANY // 10 if both else MANY):
        table = random_table(crazy_eights, options, seed)
        spare = [range(52)]  # theirs shuffles even if the last ply of all took the last card
        first, *later = [order.tolist() for order in table.deals]
        theirs = ReferenceGame(first, reshuffle_orders=[*later, *spare], **options)
        for ours in retrace(table):
            s = ours.state
            assert ours.over == theirs.over
            assert s.legal().tolist() == theirs.legal()
            assert [set(rules.cards_in(s.hands[k])) for k in range(ours.seats)] == theirs.hands
            assert (s.top, s.suit) == (theirs.top, theirs.suit)
            if s.plies < rules.MAX_PLIES:
                assert s.stock[s.stock_at : s.stock_end].tolist() == theirs.stock
                assert set(rules.cards_in(s.discards)) == theirs.discards
            if not ours.over:
                assert ours.mover == theirs.seat
                theirs.apply(table.actions[len(ours.actions)])
        assert table.state.points() == theirs.points()
        assert table.state.returns() == pytest.approx(theirs.returns())


# Single rules: paper, section 2.2, and what it leaves open


def test_deal_and_start_card(crazy_eights: Game) -> None:
    table = Table(crazy_eights, deals=[deck("2C 3C 4C 5C 6C 7C 9C TC JC QC", "KC", "AC")])
    assert hand(table, 0) == "2C 4C 6C 9C JC"
    assert hand(table, 1) == "3C 5C 7C TC QC"
    assert table.state.top == parse_card("KC")
    assert table.mover == 0


def test_a_card_matches_by_suit_or_rank(crazy_eights: Game) -> None:
    table = Table(crazy_eights, deals=[deck("KH 2C 3S 3C 4D 4C 5C 5S 6C 6S", "KC")])
    assert texts(table) == ["5C", "6C", "KH"]


def test_an_eight_is_wild_and_declares_a_suit(crazy_eights: Game) -> None:
    table = Table(crazy_eights, deals=[deck("8H 8C AH 9S 2H 9C 3H QC 4H TD", "KC")])
    assert texts(table) == ["8H=C", "8H=D", "8H=H", "8H=S"]
    play(table, "8H=D")
    assert texts(table) == ["TD", "8C=C", "8C=D", "8C=H", "8C=S"], "the suit declared counts"


def test_a_start_eight_counts_as_its_own_suit(crazy_eights: Game) -> None:
    table = Table(crazy_eights, deals=[deck("KH 2C KS 3C 4D 4C 5C 5S 6C 6S", "8C")])
    assert texts(table) == ["5C", "6C"]


def test_a_seat_that_cannot_play_draws_until_it_can(crazy_eights: Game) -> None:
    table = Table(
        crazy_eights, deals=[deck("AH 2C 2H 3C 3H 4C 4H 5C 5H 6C", "KS", "6H 7H JD QS 7D")]
    )
    assert hand(table, 0) == "AH 2H 3H 4H 5H 6H 7H JD QS"
    assert texts(table) == ["QS"], "drawing is no action; playing the drawn card is one"
    assert table.turn().view.describe().facts["you drew"] == 4


def test_the_winner_scores_the_other_hand(crazy_eights: Game) -> None:
    table = Table(
        crazy_eights, options={"hand_size": 4}, deals=[deck("2C AS 3C 8S 4C JS 5C TC", "6C")]
    )
    play(table, "2C", "TC", "3C", "8S=C", "4C")
    play(table, texts(table)[0])
    while not table.over:
        play(table, "5C" if "5C" in texts(table) else texts(table)[0])
    left = [card[:-1] for card in hand(table, 1).split()]
    worth = {"A": 1, "T": 10, "J": 10, "Q": 10, "K": 10, "8": 50}
    assert table.state.points() == [sum(worth.get(c) or int(c) for c in left), 0]
    assert table.state.returns() == [1, -1]


@pytest.mark.parametrize(
    ("cards", "value"),
    [("8C", 50), ("AD", 1), ("2H", 2), ("7S", 7), ("9C", 9), ("TD", 10), ("JH", 10), ("KS", 10)],
)
def test_card_values(cards: str, value: int) -> None:
    assert rules.hand_value(np.int64(1 << parse_card(cards))) == value


def test_tie_when_a_draw_takes_the_last_card(crazy_eights: Game) -> None:
    # Facts: tested after a draw, before the play that may follow - even if the last card fits.
    few = Table(crazy_eights, options={"hand_size": 12, "seats": 4}, deals=[last_card_fits()])
    assert few.over
    assert few.actions == []
    assert few.state.returns() == [0, 0, 0, 0]


def last_card_fits() -> str:
    """Return a deck for four seats of twelve: seat 0 must draw all three cards, the last fits."""
    low = [card for card in deck().split() if card[1] != "S" and card[0] not in "8K"]
    others = [card for card in deck().split() if card not in low and card not in ("KS", "QS")]
    seat0, rest = low[:12], low[12:]
    stock = [rest.pop(), rest.pop(), "QS"]
    hands = [seat0, *[(rest + others)[i::3][:12] for i in range(3)]]
    dealt = [card for cards in zip(*hands, strict=True) for card in cards]
    return " ".join([*dealt, "KS", *stock])


def test_all_passing_in_a_row_is_a_tie(crazy_eights: Game) -> None:
    for seed in range(4000):
        table = random_table(crazy_eights, {}, seed)
        if table.over and len(table.actions) >= 2 and table.actions[-2:] == [rules.PASS] * 2:
            assert table.state.returns() == [0, 0]
            assert table.state.points() == [0, 0]
            return
    pytest.fail("no game ended by passing")


def test_deck_runs_out_only_with_every_hand_above_one_card(crazy_eights: Game) -> None:
    seen = set()
    for seed in range(MANY):
        table = random_table(crazy_eights, {}, seed)
        s = table.state
        if table.over and s.winner == rules.NOBODY and table.actions[-1] != rules.PASS:
            assert s.stock_at == s.stock_end
            assert min(s.sizes[:2]) > 1
            seen.add("tie")
        for one in retrace(table):
            if not one.over and one.state.stock_at == one.state.stock_end:
                seen.add("on without a stock")
                if rules.PASS in one.state.legal():
                    assert texts(one) == ["pass"]
    assert "tie" in seen
    assert not JIT or "on without a stock" in seen


def test_random_play_ties_in_a_quarter_of_the_games(crazy_eights: Game) -> None:
    # Facts: 24 % (a uniform choice among action ids, in which an eight counts four times: 25 %).
    if not JIT:
        pytest.skip("too many games to interpret")
    ties = sum(random_table(crazy_eights, {}, seed).state.winner == 255 for seed in range(3000))
    assert 0.22 < ties / 3000 < 0.28


def test_three_seats_go_round_and_share_the_loss(crazy_eights: Game) -> None:
    table = random_table(crazy_eights, {"seats": 3}, 1)
    while table.state.winner == rules.NOBODY:
        table = random_table(crazy_eights, {"seats": 3}, (table.seed or 0) + 1)
    winner = int(table.state.winner)
    assert sorted(table.state.returns()) == [-0.5, -0.5, 1.0]
    others = [rules.hand_value(table.state.hands[k]) for k in range(3) if k != winner]
    assert table.state.points()[winner] == sum(others)
    assert [one.mover for one in retrace(table)][:4] == [0, 1, 2, 0]


def test_reshuffle_deals_from_a_second_order(crazy_eights: Game) -> None:
    table = random_table(crazy_eights, {"reshuffle": True}, 3)
    seed = 3
    while len(table.deals) < 2:
        seed += 1
        table = random_table(crazy_eights, {"reshuffle": True}, seed)
    again = Table(crazy_eights, deals=table.deals[:1], options={"reshuffle": True}, seed=None)

    def go_on() -> None:
        for action in table.actions:
            again.act(action)

    with pytest.raises(CardlabError, match="needs deal 2"):
        go_on()


# What a seat cannot see


def history_allows(table: Table, seat: int, cards: list[int]) -> bool:
    """Whether a hand could be held after this course of the game: a matching on the raw history.

    Every card that the seat ever held was acquired at some moment and left at some moment; in
    between, at each of its draws and passes, it must have been unplayable.
    """
    course = [one.state.copy() for one in retrace(table)]
    slots = [(0, False)] * int(course[0].hand_size)  # when a place was filled, by a fitting draw?
    shown: list[tuple[int, int]] = []  # moments at which nothing else in hand was playable
    left: list[tuple[int, int]] = []  # cards played, and when
    for now, state in enumerate(course):
        fits = int(rules.playable(state.array[0]))
        if state.mover == seat and state.drew:
            shown.append((now, fits))
            found = bool(int(state.hands[seat]) & fits)
            slots += [(now, False)] * (int(state.drew) - found) + [(now, True)] * found
        if now < len(table.actions) and state.mover == seat:
            if table.actions[now] == rules.PASS:
                shown.append((now, fits))
            else:
                text = rules.action_text(table.actions[now]).partition("=")[0]
                left.append((parse_card(text), now))

    def fits_slot(card: int, until: float, slot: tuple[int, bool]) -> bool:
        when, fitting = slot
        return when <= until and all(
            bool(fits >> card & 1) == (fitting and moment == when)
            for moment, fits in shown
            if when <= moment <= until
        )

    wanted = [(card, float(when)) for card, when in left] + [(card, math.inf) for card in cards]
    edges = [
        [i for i, slot in enumerate(slots) if fits_slot(card, until, slot)]
        for card, until in wanted
    ]
    taken: dict[int, int] = {}

    def place(i: int, tried: set[int]) -> bool:
        for slot in edges[i]:
            if slot not in tried:
                tried.add(slot)
                if slot not in taken or place(taken[slot], tried):
                    taken[slot] = i
                    return True
        return False

    assert len(slots) == len(wanted)
    return all(place(i, set()) for i in range(len(wanted)))


def places_allow(view: View, seat: int, cards: list[int]) -> bool:
    """Whether the groups of places in the view can hold a hand."""
    places = [
        int(view.barred[seat, group])
        for group in range(view.groups[seat])
        for _ in range(view.places[seat, group])
    ]
    taken: dict[int, int] = {}

    def place(i: int, tried: set[int]) -> bool:
        for at, barred in enumerate(places):
            if not barred >> cards[i] & 1 and at not in tried:
                tried.add(at)
                if at not in taken or place(taken[at], tried):
                    taken[at] = i
                    return True
        return False

    return all(place(i, set()) for i in range(len(cards)))


def test_the_places_allow_exactly_the_hands_that_the_history_allows(crazy_eights: Game) -> None:
    verdicts = {True: 0, False: 0}
    for seed in range(MANY // 4):
        rng = np.random.default_rng(seed)
        whole = random_table(crazy_eights, {}, seed)
        table = random_table(crazy_eights, {}, seed, plies=int(rng.integers(len(whole.actions))))
        seat = 1 - table.mover
        view = table.state.view(table.mover)
        known = int(view.hands[table.mover]) | int(view.discards)
        unseen = [card for card in range(52) if not known >> card & 1]
        truth = list(rules.cards_in(table.state.hands[seat]))
        worlds = [list(rules.cards_in(view.imagine(rng).hands[seat])) for _ in range(4)]
        for cards in (truth, *worlds):
            assert history_allows(table, seat, cards)
        for _ in range(40):  # a possible hand with one card changed is possible or not
            cards = list(worlds[rng.integers(4)])
            spare = [card for card in unseen if card not in cards]
            if cards and spare:
                cards[rng.integers(len(cards))] = int(rng.choice(spare))
            verdict = places_allow(view, seat, cards)
            assert verdict == history_allows(table, seat, cards), (seed, cards)
            verdicts[verdict] += 1
    assert min(verdicts.values()) > (100 if JIT else 0), verdicts


def ways_to_lay(view: View) -> list[bytes]:
    """Return the state for every way to lay the unseen cards on hidden places and the stock."""
    seat = view.own_seat
    known = int(view.hands[seat]) | int(view.discards)
    unseen = [card for card in range(52) if not known >> card & 1]
    places = [
        (other, int(view.barred[other, group]))
        for other in range(view.seats)
        if other != seat
        for group in range(view.groups[other])
        for _ in range(view.places[other, group])
    ]
    ways = []
    for cards in itertools.permutations(unseen):
        laid = zip(cards, places, strict=False)
        if all(not barred >> card & 1 for card, (_, barred) in laid):
            state = State(view.game, view.array.copy())
            for card, (other, _) in zip(cards, places, strict=False):
                state.hands[other] |= np.int64(1 << card)
            state.stock[state.stock_at : state.stock_end] = cards[len(places) :]
            ways.append(state.array.tobytes())
    return ways


@pytest.mark.skipif(not JIT, reason="too many draws to interpret")
@pytest.mark.parametrize(
    "options", [{}, {"reshuffle": True}, {"seats": 3}, {"seats": 4, "reshuffle": True}], ids=str
)
def test_imagined_worlds_are_uniform(crazy_eights: Game, options: dict[str, Any]) -> None:
    tested = 0
    for seed in range(4000):
        for table in retrace(random_table(crazy_eights, options, seed)):
            if table.mover < 0:
                continue
            view = table.state.view(table.mover)
            known = int(view.hands[table.mover]) | int(view.discards)
            hidden = sum(int(n) for k, n in enumerate(view.sizes) if k != table.mover)
            unseen = 52 - known.bit_count()
            if not 4 <= unseen <= 6 or hidden < 2:
                continue
            ways = ways_to_lay(view)
            if len(set(ways)) > 3 and len(ways) < math.factorial(unseen):
                check_uniform(view, ways, draws=60 * len(set(ways)), seed=seed)
                tested += 1
                break
        if tested == 12:
            return
    pytest.fail(f"only {tested} small positions with something barred")


def test_a_view_keeps_counts_and_hides_cards(crazy_eights: Game) -> None:
    table = Table(crazy_eights, seed=1)
    view = table.state.view(0)
    assert view.hands[1] == 0
    assert view.sizes[1] == 5
    assert set(view.stock) == {255}
    told = view.describe()
    assert [zone.count for zone in told.zones] == [5, 5, 41, 1]
    assert told.zones[1].cards == ()


# Texts


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("7h", "7H"),
        ("10S", "TS"),
        ("8h s", "8H=S"),
        ("8hs", "8H=S"),
        ("8h=spades", "8H=S"),
        ("Q♦", "QD"),
        (" pass ", "pass"),
        ("DRAW", "draw"),
    ],
)
def test_what_people_type(crazy_eights: Game, text: str, action: str) -> None:
    assert crazy_eights.action_text(crazy_eights.parse_action(text)) == action


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("8h", "must declare a suit"),
        ("7h=s", "declares no suit"),
        ("1h", "unknown card"),
        ("", "unknown card"),
        ("hearts", "unknown card"),
        ("8h=x", "must declare a suit"),
    ],
)
def test_what_people_mistype(crazy_eights: Game, text: str, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        crazy_eights.parse_action(text)


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        (lambda cards: cards[:-1], "has 51 cards, crazy_eights needs 52; missing: KS"),
        (lambda cards: [*cards[:-1], cards[0]], "is listed more often"),
        (lambda cards: ["1X", *cards[1:]], "card 1 of the deal: unknown card '1X'"),
        (lambda cards: [], "has 0 cards"),
    ],
)
def test_impossible_deals(crazy_eights: Game, change: Any, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        Table(crazy_eights, deals=[" ".join(change(deck().split()))])


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({"seats": 5}, "use a whole number from 2 to 4"),
        ({"seats": "two"}, "seats=two"),
        ({"reshuffle": "maybe"}, "true or false"),
        ({"handsize": 5}, "did you mean 'hand_size'"),
    ],
)
def test_impossible_options(crazy_eights: Game, options: dict[str, Any], answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        Table(crazy_eights, seed=0, options=options)


def test_a_fresh_game_waits_for_the_dealer(crazy_eights: Game) -> None:
    assert crazy_eights.start().mover == DEALER
    assert "not dealt" in str(crazy_eights.start())
    assert seeding.stream(0, "deal", 0) != seeding.stream(0, "deal", 1)


def test_a_deal_without_spaces(crazy_eights: Game) -> None:
    text = deck("8H 8C")
    assert (
        crazy_eights.parse_order(text.replace(" ", "")).tolist()
        == crazy_eights.parse_order(text).tolist()
    )
    with pytest.raises(CardlabError, match="card 3 of the deal: unknown card '1X'"):
        crazy_eights.parse_order(text.replace(" ", "").replace("AC", "1X", 1))


def test_groups_are_joined_without_losing_the_true_hand(crazy_eights: Game) -> None:
    """In this game a hand has more groups than fit, from before and after a reshuffle."""
    audit_random_games(crazy_eights, 1, seed=1, first=14464, options={"reshuffle": True})
