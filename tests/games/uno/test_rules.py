"""Uno: each rule with its source, the whole against a second implementation."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from cardlab.agents.heuristic import Heuristic
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.engine.seeding import deck_order
from cardlab.games.uno import cards as uno_cards
from cardlab.games.uno import hidden_hands as uno_knowledge
from cardlab.games.uno import kernels as uno_rules
from cardlab.games.uno.rules import GAME
from cardlab.testing import check_agent, check_uniform, random_table, retrace
from tests.support.reference_uno import FACES, ReferenceGame, number
from tests.support.uno_positions import IN, OUT, SMALL, unseen_cards, ways_to_lay

MANY = 200 if JIT else 2


def deck(*hands: str, start: str = "R5", stock: str = "") -> str:
    """Return a deck that deals these hands, filled up with the blue and yellow cards left over."""
    left = Counter(uno_cards.card_text(card) for card in range(108))
    given = [hand.split() for hand in hands]
    left -= Counter([*itertools.chain(*given), start, *stock.split()])
    fillers = [name for name in left.elements() if name[0] in "BY" and name[1:] != "5"]
    for hand in given:
        while len(hand) < 7:
            hand.append(fillers.pop(0))
            left[hand[-1]] -= 1
    dealt = [card for cards in zip(*given, strict=True) for card in cards]
    return " ".join([*dealt, start, *stock.split(), *left.elements()])


def table(*hands: str, start: str = "R5", stock: str = "", **options: Any) -> Table:
    """Return a table with these hands, start card and first cards of the stock."""
    options = {"seats": len(hands), **options}
    return Table(GAME, seed=0, deals=[deck(*hands, start=start, stock=stock)], options=options)


def play(game: Table, *actions: str) -> Table:
    for action in actions:
        game.act(GAME.parse_action(action))
    return game


def texts(game: Table) -> list[str]:
    return game.turn().texts


def hand(game: Table, seat: int) -> list[str]:
    return [uno_cards.kind_text(kind) for kind in uno_cards.cards_in(game.state.cards[seat])]


def kinds(cards: Any) -> list[int]:
    """Return the kinds in a set, ascending."""
    return sorted(uno_cards.cards_in(cards))


def faces(cards: Any) -> list[int]:
    """Return the kinds of the reference's cards, ascending."""
    return sorted(number(FACES[card]) for card in cards)


EVERY_OPTION = [
    *({"seats": seats, "rules": "rlcard"} for seats in (2, 3, 5, 10)),
    *(
        {"seats": seats, "stacking": stack, "keep_drawn": keep, "voluntary_draw": draw}
        for seats in (2, 3, 10)
        for stack in (False, True)
        for keep in (False, True)
        for draw in (False, True)
    ),
    {"seats": 2, "target": 500},
    {"seats": 4, "target": 500, "stacking": True, "keep_drawn": False},
]


@pytest.mark.parametrize("options", EVERY_OPTION, ids=str)
def test_every_step_agrees_with_the_second_implementation(options: dict[str, Any]) -> None:
    long = options.get("target") or options.get("voluntary_draw")
    games = MANY // 40 if long else MANY // 2
    for seed in range(max(games // options["seats"], 1)):
        whole = random_table(GAME, options, seed)
        spare = [range(108)] * 3  # theirs shuffles even if the last ply of all has ended the game
        theirs = ReferenceGame([*whole.deals, *spare], **options)
        for ours in retrace(whole):
            s = ours.state
            assert ours.over == theirs.over
            assert s.legal().tolist() == theirs.legal()
            if s.plies < s.bound:
                assert [kinds(s.cards[k]) for k in range(ours.seats)] == [
                    faces(hand) for hand in theirs.hands
                ]
                assert s.stock[s.stock_at : s.stock_end].tolist() == [
                    number(FACES[card]) for card in theirs.stock
                ]
                assert kinds(s.cards[uno_knowledge.PILE]) == faces(theirs.discards)
                assert s.top == number(FACES[theirs.top])
            if not ours.over:
                assert ours.mover == theirs.seat
                assert theirs.naming or s.colour == theirs.colour
                assert s.backwards == (theirs.direction < 0)
                theirs.apply(whole.actions[len(ours.actions)])
        if s.winner != uno_knowledge.NOBODY or s.target:
            assert whole.state.points() == theirs.points()
        assert whole.state.returns() == pytest.approx(theirs.returns())


# The deck and the deal: facts, "Deck and actions"


def test_the_deck_has_108_cards() -> None:
    names = Counter(uno_cards.card_text(card) for card in range(108))
    assert sum(names.values()) == 108
    assert names["W"] == names["W+4"] == 4
    for colour in "RGBY":
        assert names[f"{colour}0"] == 1
        for trait in ("1", "9", "S", "R", "+2"):
            assert names[colour + trait] == 2


def test_seven_cards_go_round_the_table_and_the_next_is_the_start_card() -> None:
    game = table("R1 R2 R3", "G1 G2 G3", start="R9")
    assert hand(game, 0)[:3] == ["R1", "R2", "R3"]
    assert hand(game, 1)[:3] == ["G1", "G2", "G3"]
    assert [zone.count for zone in game.state.view(0).describe().zones] == [7, 7, 93, 1]
    assert game.state.top == uno_cards.KIND[uno_cards.parse_card("R9")]
    assert game.mover == 0


def test_action_ids() -> None:
    # Facts: colour x (0-9, skip, reverse, draw two, wild, wild draw four), then draw.
    ids = {"R0": 0, "RS": 10, "RR": 11, "R+2": 12, "W=R": 13, "W+4=R": 14, "G0": 15, "W+4=Y": 59}
    ids |= {"draw": 60, "keep": 61, "start=R": 62, "start=Y": 65}
    assert {text: GAME.parse_action(text) for text in ids} == ids


# Official: Mattel's rules of the common game, as the facts state them


def test_a_card_matches_by_colour_or_trait() -> None:
    game = table("R1 GS G5 B7 W Y+2 Y5", "G1")
    assert texts(game) == ["R1", "W=R", "G5", "W=G", "W=B", "Y5", "W=Y"]


def test_after_a_wild_only_the_colour_counts() -> None:
    game = play(table("R1 W", "G1 G2 W+4 B5 R7 R8 Y1"), "W=G")
    assert texts(game) == ["G1", "G2"], "a wild draw four needs a hand without the colour"


def test_a_wild_draw_four_needs_a_hand_without_the_colour_but_may_leave_a_wild() -> None:
    game = table("W+4 W G5 B1 B2 B3 B4", "G1", start="R5")
    assert "W+4=B" in texts(game), "neither a matching number nor a wild forbids it"
    game = table("W+4 R1 B1 B2 B3 B4 B6", "G1", start="R5")
    assert texts(game) == ["R1"]


def test_who_has_nothing_draws_one_card_and_may_play_or_keep_it() -> None:
    low = "B1 B2 B3 B4 B6 B7 B8"
    game = table(low, "G1 G2", start="R5", stock="R7")
    assert texts(game) == ["draw"]
    play(game, "draw")
    assert texts(game) == ["R7", "keep"]
    assert game.turn().view.describe().facts["you drew"] == "R7"
    assert game.state.view(1).describe().facts.get("you drew") is None
    assert game.state.view(1).drawn == uno_knowledge.NOBODY
    play(game, "keep")
    assert game.mover == 1
    assert "R7" in hand(game, 0)
    unfit = play(table(low, "G1 G2", start="R5", stock="G7"), "draw")
    assert texts(unfit) == ["keep"], "nobody else learns that it did not fit"


def test_only_the_drawn_card_may_be_played_after_a_draw() -> None:
    options = {"voluntary_draw": True}
    game = table("R1 R2 B1 B2 B3 B4 B6", "G1", start="R5", stock="R7 G8", **options)
    assert texts(game) == ["R1", "R2", "draw"]
    assert texts(play(game, "draw")) == ["R7", "keep"]
    four = table("R1 B1 B2 B3 B4 B6 B7", "G1", start="R5", stock="W+4", **options)
    assert texts(play(four, "draw")) == ["keep"], "R1 forbids the wild draw four"


def test_a_drawn_card_that_fits_must_be_played_without_the_option() -> None:
    low = "B1 B2 B3 B4 B6 B7 B8"
    game = play(table(low, "G1", start="R5", stock="R7", keep_drawn=False), "draw")
    assert texts(game) == ["R7"]
    game = play(table(low, "G1", start="R5", stock="G7", keep_drawn=False), "draw")
    assert game.mover == 1


def test_skip_reverse_and_direction() -> None:
    hands = ("RS R1 R2", "R3 R4", "RR R6", "R7 R8")
    game = play(table(*hands), "RS")
    assert game.mover == 2
    assert game.turn().view.describe().facts["next"] == "seat 3"
    play(game, "RR")
    assert game.mover == 1
    assert game.turn().view.describe().facts["next"] == "seat 0"


def test_a_reverse_with_two_seats_is_a_skip() -> None:
    assert play(table("RR R1", "R2"), "RR").mover == 0


def test_draw_two_and_four_make_the_next_seat_draw_and_miss_its_turn() -> None:
    game = play(table("R+2 R1", "G1 G2", "R3"), "R+2")
    assert game.mover == 2
    assert game.state.sizes[:3].tolist() == [6, 9, 7]
    game = play(table("W+4 B1 B2 B3 B4 B6 B7", "G1", "G3"), "W+4=G")
    assert game.mover == 2
    assert game.state.sizes[:3].tolist() == [6, 11, 7]


@pytest.mark.parametrize(
    ("start", "seats", "mover", "sizes"),
    [
        ("RS", 3, 1, [7, 7, 7]),
        ("RS", 2, 1, [7, 7]),
        ("RR", 3, 2, [7, 7, 7]),  # the dealer begins and play goes the other way
        ("RR", 2, 1, [7, 7]),
        ("R+2", 3, 1, [9, 7, 7]),
        ("R+2", 2, 1, [9, 7]),
        ("R4", 3, 0, [7, 7, 7]),
    ],
)
def test_start_cards_act_on_the_first_seat(
    start: str, seats: int, mover: int, sizes: list[int]
) -> None:
    game = table(*["R1 G1", "R2 G2", "R3 G3"][:seats], start=start)
    assert game.mover == mover
    assert game.state.sizes[:seats].tolist() == sizes
    assert game.state.backwards == (start == "RR" and seats > 2)


def test_with_a_start_wild_the_first_seat_names_a_colour_and_plays() -> None:
    game = table("R1 G1", "R2", start="W")
    assert texts(game) == ["start=R", "start=G", "start=B", "start=Y"]
    play(game, "start=G")
    assert game.mover == 0
    assert "G1" in texts(game)
    assert "R1" not in texts(game)


def test_a_start_wild_draw_four_goes_back_and_another_card_is_turned() -> None:
    game = table("R1", "G1", start="W+4", stock="R8")
    assert len(game.deals) >= 2
    assert game.state.top != uno_cards.FOUR
    assert "W+4" in str(kinds_left(game))
    assert game.state.sizes[:2].tolist() == [7, 7]


def kinds_left(game: Table) -> list[str]:
    s = game.state
    return [uno_cards.kind_text(int(kind)) for kind in s.stock[s.stock_at : s.stock_end]]


def test_a_draw_two_may_be_answered_with_the_option() -> None:
    game = play(table("R+2 R1", "G+2 R2", "Y+2 R3", stacking=True), "R+2")
    assert texts(game) == ["G+2", "draw"], "only another draw two answers"
    play(game, "G+2")
    assert game.turn().view.describe().facts["to draw"].startswith("4 cards")
    play(game, "draw")
    assert game.state.sizes[:3].tolist() == [6, 6, 11]
    assert game.mover == 0, "who takes the cards misses the turn"
    start = table("R1", "G+2", start="R+2", stacking=True)
    assert texts(start)[-1] == "draw"


def test_a_last_draw_two_is_still_drawn_and_scores() -> None:
    # Mattel: the next seat draws the cards, which count for the winner.
    game = table("R+2 R1 R2 R3 R4 R6 R7", "RS RS G1 G1 G2 G2 G3")
    while not game.over:
        mine = [text for text in texts(game) if text != "R+2"] or ["R+2"]
        play(game, mine[0])
    s = game.state
    assert game.over
    assert s.winner == 0 or s.winner == 1
    assert GAME.action_text(game.actions[-1]) == "R+2" or s.winner == 1
    worth = sum(value(name) for seat in (0, 1) for name in hand(game, seat))
    assert game.state.points()[int(s.winner)] == worth


def value(name: str) -> int:
    if name[0] == "W":
        return 50
    return int(name[1:]) if name[1:].isdigit() else 20


@pytest.mark.parametrize(("name", "worth"), [("R0", 0), ("G9", 9), ("BS", 20), ("YR", 20)])
@pytest.mark.parametrize(("wild", "more"), [("W", 50), ("W+4", 50), ("R+2", 20)])
def test_card_values(name: str, worth: int, wild: str, more: int) -> None:
    cards = np.zeros(2, dtype=np.int64)
    for one in (name, wild, wild):
        uno_cards.add(cards, int(uno_cards.KIND[uno_cards.parse_card(one)]))
    assert uno_cards.hand_value(cards) == worth + 2 * more


def test_the_discards_below_the_top_card_become_the_new_stock() -> None:
    for seed in range(50):
        whole = random_table(GAME, {"seats": 10}, seed)
        for before, after in itertools.pairwise(one.state.copy() for one in retrace(whole)):
            if after.shuffled and not before.shuffled:
                pile = [*kinds(before.cards[uno_knowledge.PILE])]
                assert before.stock_end - before.stock_at < 5
                assert len(kinds(after.cards[uno_knowledge.PILE])) <= 2
                assert after.stock_end >= len(pile) - 1
                assert "shuffled" in " ".join(e.text for e in after.view(0).describe().events)
                return
    pytest.fail("no reshuffle")


def test_a_match_goes_to_500_points_and_the_start_rotates() -> None:
    whole = random_table(GAME, {"seats": 3, "target": 500}, 5)
    s = whole.state
    points = whole.state.points()
    assert points[int(s.winner)] >= 500 > sorted(points)[-2]
    assert sorted(whole.state.returns()) == [-0.5, -0.5, 1.0]
    rounds = {int(one.state.rounds) for one in retrace(whole)}
    assert rounds == set(range(int(s.rounds) + 1))
    again = next(one for one in retrace(whole) if one.state.rounds == 1)
    assert again.state.view(0).describe().facts["round"] == 2


def test_the_bound_on_turns_is_a_tie() -> None:
    game = Table(GAME, seed=1)
    game.state.array["plies"] = uno_rules.MAX_PLIES - 1
    game.act(int(game.state.legal()[-1]))
    assert game.over
    assert game.state.returns() == [0, 0]
    assert game.state.points() == [0, 0]


# The rule set of RLCard, as the facts state it; crosscheck/uno_rlcard.py compares with the original


@pytest.mark.parametrize(
    ("start", "mover", "sizes"),
    [("R+2", 0, [9, 7, 7]), ("RS", 1, [7, 7, 7]), ("RR", 2, [7, 7, 7]), ("R1", 0, [7, 7, 7])],
)
def test_start_cards_by_rlcard(start: str, mover: int, sizes: list[int]) -> None:
    game = table("R1", "R2", "R3", start=start, rules="rlcard")
    assert (game.mover, game.state.sizes[:3].tolist()) == (mover, sizes)


def test_a_start_wild_gets_the_colour_of_the_next_orders_first_coloured_card() -> None:
    second = deck("", start="G7")
    words = second.split()
    second = " ".join(["W", "G7", *[w for w in words if w not in ("W", "G7")], *["W"] * 3, "G7"])
    game = Table(GAME, deals=[deck("R1", "G1", start="W"), second], options={"rules": "rlcard"})
    assert game.state.colour == 1
    zones = {zone.name: zone.cards for zone in game.state.view(0).describe().zones}
    assert zones["cut for the colour"] == ("W", "G7")


def test_by_rlcard_a_wild_draw_four_needs_a_hand_with_nothing_else_that_fits() -> None:
    game = table("W+4 W G1 B1 B2 B3 B4", "G1", start="R5", rules="rlcard")
    assert texts(game) == ["W=R", "W=G", "W=B", "W=Y"]
    game = table("W+4 G5 B1 B2 B3 B4 B6", "G1", start="R5", rules="rlcard")
    assert texts(game) == ["G5"]


@pytest.mark.parametrize(
    ("drawn", "mover", "top", "kept"),
    [
        ("R7", 1, "R7", False),  # of the colour: played at once
        ("RS", 2, "RS", False),  # with its effect
        ("G5", 1, "R5", True),  # of the same trait only: kept
        ("G7", 1, "R5", True),
        ("W", 1, "W", False),  # in a colour by chance
        ("W+4", 1, "W+4", False),  # without drawing four, without a skip
    ],
)
def test_cards_drawn_by_rlcard(drawn: str, mover: int, top: str, kept: bool) -> None:
    low = "B1 B2 B3 B4 B6 B7 B8"
    game = play(table(low, "G1", "G2", start="R5", stock=drawn, rules="rlcard"), "draw")
    assert game.mover == mover
    assert uno_cards.kind_text(int(game.state.top)) == top
    assert (drawn in hand(game, 0)) == kept
    assert game.state.sizes[1] == 7


def test_by_rlcard_a_reverse_never_skips() -> None:
    assert play(table("RR R1", "R2", rules="rlcard"), "RR").mover == 1


# Shuffles


@pytest.mark.skipif(not JIT, reason="too many shuffles to interpret")
def test_a_reshuffle_favours_no_card() -> None:
    # One R7, both G7, three wilds and some more: every sequence of positions equally often.
    from scipy.stats import chisquare

    names = ["R7", "G7", "G7", "W", "W", "W", "B0", "Y1", "RS"]
    wanted = np.zeros(2, dtype=np.int64)
    for name in names:
        uno_cards.add(wanted, int(uno_cards.KIND[uno_cards.parse_card(name)]))
    scratch = GAME.start().array
    order, rng = np.empty(108, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    met: dict[int, Counter[int]] = {}
    draws = 30_000
    for n in range(draws):
        deck_order(1, n, order, rng)
        uno_knowledge.stack(scratch[0], order, wanted[0], wanted[1], 30)
        for place, kind in enumerate(scratch[0].stock[: len(names)]):
            met.setdefault(int(kind), Counter())[place] += 1
    for found in met.values():
        counts = [found[place] for place in range(len(names))]
        assert chisquare(counts).pvalue > 1e-4, counts


@pytest.mark.skipif(not JIT, reason="too many shuffles to interpret")
def test_a_card_put_back_may_lie_anywhere() -> None:
    from scipy.stats import chisquare

    order, rng = np.empty(108, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    met: Counter[int] = Counter()
    for n in range(20_000):
        scratch = GAME.start().array
        scratch[0].stock[:9] = 3
        scratch[0].stock_end = 9
        deck_order(2, n, order, rng)
        sign = uno_knowledge.check_sum(order, uno_cards.FOUR_BIT)
        uno_knowledge.insert(scratch[0], 14, sign)
        met[scratch[0].stock[:10].tolist().index(14)] += 1
    assert chisquare([met[place] for place in range(10)]).pvalue > 1e-4


@pytest.mark.parametrize("options", [{"seats": 10}, {"seats": 10, "rules": "rlcard"}], ids=str)
def test_a_game_replays_from_texts(options: dict[str, Any]) -> None:
    """Texts do not tell copies of a card apart, so nothing may depend on which of them it was."""
    reshuffles = 0
    for seed in range(MANY // 10 or 1):
        whole = random_table(GAME, options, seed)
        deals = [GAME.order_text(order) for order in whole.deals]
        again = Table(GAME, deals=deals, options=options)
        for action in whole.actions:
            again.act(action)
        assert again.state.array.tobytes() == whole.state.array.tobytes()
        reshuffles += int(whole.state.shuffled)
    assert reshuffles or not JIT


# What a seat cannot see


@pytest.mark.skipif(not JIT, reason="too many draws to interpret")
@pytest.mark.parametrize("name", SMALL)
def test_imagined_worlds_are_uniform(name: str) -> None:
    view = SMALL[name]
    ways = ways_to_lay(view)
    assert 1 < len(set(ways)) < math.factorial(len(unseen_cards(view)))
    check_uniform(view, ways, draws=max(8000, 80 * len(set(ways))), seed=1)


@pytest.mark.parametrize(
    "options",
    [
        {"seats": 10},
        {"seats": 10, "rules": "rlcard"},
        {"seats": 2},
        {"seats": 3, "rules": "rlcard"},
        {"seats": 3, "voluntary_draw": True},
        {"seats": 4, "voluntary_draw": True, "keep_drawn": False, "stacking": True},
    ],
    ids=str,
)
def test_what_is_remembered_of_hands_is_true(options: dict[str, Any]) -> None:
    """Every hand fits into its places, cards told apart by whether they were shuffled in."""
    shuffled = 0
    for seed in range(MANY // 40 or 1):
        whole = random_table(GAME, options, seed, plies=300)
        theirs = ReferenceGame([*whole.deals, *[range(108)] * 3], **options)
        for ours in retrace(whole):
            s = ours.state
            if len(ours.actions) == len(whole.actions):
                break
            inside = theirs.shuffled_in or set()
            for seat, cards in enumerate(theirs.hands):
                labelled = [(number(FACES[card]), IN if card in inside else OUT) for card in cards]
                assert fits_places(s, seat, labelled), (seed, s.plies, seat)
            for one in set(uno_cards.KIND.tolist()) if s.shuffled else ():
                if not int(s.loose) >> one & 1:
                    away = set(theirs.discards)
                    known = [c for c in inside - away if number(FACES[c]) == one]
                    assert len(known) == uno_cards.count(s.cards[uno_knowledge.RETURNED], one)
            shuffled += int(s.shuffled)
            theirs.apply(whole.actions[len(ours.actions)])
    assert shuffled or not JIT or options["seats"] < 4


def fits_places(s: Any, seat: int, cards: list[tuple[int, int]]) -> bool:
    """Whether the groups of places of a seat can hold these cards, by a matching."""
    places = [
        int(s.barred[seat, group])
        for group in range(s.groups[seat])
        for _ in range(s.places[seat, group])
    ]
    taken: dict[int, int] = {}

    def place(i: int, tried: set[int]) -> bool:
        one, pool = cards[i]
        bars = 1 << one
        if s.shuffled and not int(s.loose) >> one & 1:
            bars |= pool
        for at, barred in enumerate(places):
            if not barred & bars and at not in tried:
                tried.add(at)
                if at not in taken or place(taken[at], tried):
                    taken[at] = i
                    return True
        return False

    return len(cards) == len(places) and all(place(i, set()) for i in range(len(cards)))


def history_allows(table: Table, seat: int, cards: list[int]) -> bool:
    """Whether a hand could be held after this course of a game: a matching on the raw history.

    Every card that the seat ever held came at some moment and left at some moment; in between, at
    each of its forced draws and wild draw fours, it must not have been one of those it denied.
    """
    course = [one.state.copy() for one in retrace(table)]
    official = table.options["rules"] == "official"
    slots: list[tuple[int, int]] = [(-1, 0)] * 7  # when a place was filled, and what it cannot hold
    denied: list[tuple[int, int]] = []
    left: list[tuple[int, int]] = []  # cards played, and when
    size = 7
    extra = int(course[0].sizes[seat]) - size
    slots += [(-1, 0)] * extra
    size += extra
    for now, action in enumerate(table.actions):
        before, after = course[now], course[now + 1]
        mine = before.mover == seat
        wanted = int(before.wanted) | uno_cards.FOUR_BIT
        colour = uno_cards.ONE_COLOUR << (15 * int(before.colour))
        trait = action % 15
        if mine and action == uno_cards.DRAW:
            denied.append((now, wanted))
            if int(after.sizes[seat]) > size:
                unfit = 0 if official else colour | uno_cards.WILD_BIT | uno_cards.FOUR_BIT
                slots.append((now, unfit))
        elif mine and action < uno_cards.DRAW:
            played = trait if trait >= uno_cards.WILD else action
            if trait == uno_cards.FOUR:
                denied.append((now, colour if official else int(before.wanted)))
            if before.phase == uno_rules.DRAWN:
                slots.pop()
            else:
                left.append((played, now))
        else:
            slots += [(now, 0)] * (int(after.sizes[seat]) - size)
        size = int(after.sizes[seat])

    def fits_slot(one: int, until: float, slot: tuple[int, int]) -> bool:
        when, unfit = slot
        return (
            when < until
            and not unfit >> one & 1
            and not any(mask >> one & 1 for moment, mask in denied if when < moment <= until
                        and (moment != until or one != uno_cards.FOUR))
        )  # fmt: skip

    wanted_cards = [(card, float(when)) for card, when in left] + [(c, math.inf) for c in cards]
    edges = [
        [i for i, slot in enumerate(slots) if fits_slot(card, until, slot)]
        for card, until in wanted_cards
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

    assert len(slots) == len(wanted_cards)
    return all(place(i, set()) for i in range(len(wanted_cards)))


@pytest.mark.parametrize("options", [{"rules": "rlcard"}, {"rules": "official"}], ids=str)
def test_the_places_allow_exactly_the_hands_that_the_history_allows(options: Any) -> None:
    verdicts = {True: 0, False: 0}
    for seed in range(MANY // 8 or 1):
        rng = np.random.default_rng(seed)
        whole = random_table(GAME, options, seed)
        game = random_table(GAME, options, seed, plies=int(rng.integers(len(whole.actions))))
        seat = 1 - game.mover
        view = game.state.view(game.mover)
        if view.shuffled or view.phase == uno_rules.DRAWN or game.state.groups[seat] == 8:
            continue
        truth = uno_cards.cards_in(game.state.cards[seat])
        worlds = [uno_cards.cards_in(view.imagine(rng).cards[seat]) for _ in range(4)]
        for cards in (truth, *worlds):
            assert history_allows(game, seat, cards), (seed, cards)
        unseen = Counter(one for one, _ in unseen_cards(view))
        for _ in range(30):  # a possible hand with one card changed is possible or not
            cards = list(worlds[rng.integers(4)])
            spare = list((unseen - Counter(cards)).elements())
            cards[rng.integers(len(cards))] = int(rng.choice(spare))
            verdict = fits_places(view, seat, [(card, 0) for card in cards])
            assert verdict == history_allows(game, seat, cards), (seed, cards)
            verdicts[verdict] += 1
    assert min(verdicts.values()) > (50 if JIT else -1), verdicts


def test_with_two_seats_a_reshuffle_tells_the_other_hand() -> None:
    for seed in range(400):
        whole = random_table(GAME, {}, seed)
        if whole.state.shuffled:
            after = next(one for one in retrace(whole) if one.state.shuffled)
            taker = int(after.state.taker)
            rng = np.random.default_rng(seed)
            view = after.state.view(taker)
            for _ in range(5):
                assert kinds(view.imagine(rng).cards[1 - taker]) == kinds(
                    after.state.cards[1 - taker]
                )
            return
    pytest.fail("no reshuffle")


def test_a_view_keeps_counts_and_hides_cards() -> None:
    view = Table(GAME, seed=1, options={"seats": 3}).state.view(0)
    assert view.cards[1:3].tolist() == [[0, 0], [0, 0]]
    assert set(view.stock) == {255}
    told = view.describe()
    assert [zone.count for zone in told.zones] == [7, 7, 7, 86, 1]
    assert told.zones[1].cards == ()


# Texts


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("r7", "R7"),
        ("red 7", "R7"),
        ("gs", "GS"),
        ("green skip", "GS"),
        ("blue reverse", "BR"),
        ("Y+2", "Y+2"),
        ("yellow draw two", "Y+2"),
        ("yd2", "Y+2"),
        ("w=r", "W=R"),
        ("w red", "W=R"),
        ("wild green", "W=G"),
        ("w+4=b", "W+4=B"),
        ("wild draw four yellow", "W+4=Y"),
        ("wd4 y", "W+4=Y"),
        (" DRAW ", "draw"),
        ("keep", "keep"),
        ("pass", "keep"),
        ("start green", "start=G"),
    ],
)
def test_what_people_type(text: str, action: str) -> None:
    assert GAME.action_text(GAME.parse_action(text)) == action


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("w", "W must call a colour; write it as W=R"),
        ("w+4", r"W\+4 must call a colour"),
        ("r7=g", "R7 is no wild and calls no colour"),
        ("w=x", "unknown colour 'x'"),
        ("r10", "unknown card 'R10'"),
        ("", "unknown card ''"),
        ("purple 3", "unknown card"),
        ("start=7", "unknown colour '7'"),
    ],
)
def test_what_people_mistype(text: str, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        GAME.parse_action(text)


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        (lambda cards: cards[:-1], "has 107 .*missing: W"),
        (lambda cards: [*cards, "R0"], "card 109 of the deal: R0 is listed more often"),
        (lambda cards: ["W", *cards[1:-1], "W"], "W is listed more often"),
        (lambda cards: ["X1", *cards[1:]], "card 1 of the deal: unknown card 'X1'"),
    ],
)
def test_impossible_deals(change: Any, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        Table(GAME, deals=[" ".join(change(deck("R1").split()))])


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({"seats": 11}, "use a whole number from 2 to 10"),
        ({"seats": 1}, "use a whole number from 2 to 10"),
        ({"rules": "mattel"}, "rules=mattel of uno is not allowed; use official or rlcard"),
        ({"target": 300}, "use 0 or 500"),
        ({"rules": "rlcard", "stacking": True}, "option stacking of uno changes the official"),
        ({"rules": "rlcard", "keep_drawn": False}, "option keep_drawn of uno changes the"),
        ({"stack": True}, "did you mean 'stacking'"),
    ],
)
def test_impossible_options(options: dict[str, Any], answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        Table(GAME, seed=0, options=options)


def test_a_fresh_game_waits_for_the_dealer() -> None:
    assert GAME.start().mover == DEALER
    assert "not dealt" in str(GAME.start())


def test_the_events_tell_the_game() -> None:
    game = table("W R1 R+2", "G1 R3 B1 B2 B3 B4 B6", start="R5", stock="W Y7")
    play(game, "W=G", "G1")
    told = [event.text for event in game.state.view(0).describe().events]
    assert told == ["the start card was R5", "played W and called green", "played G1"]
    drawn = play(table("B1 B2 B3 B4 B6 B7 B8", "R1", start="R5", stock="R7"), "draw", "R7")
    told = [event.text for event in drawn.state.view(1).describe().events]
    assert told[1:] == ["drew a card", "played R7, just drawn"]


# Rules of thumb


def test_the_heuristic_keeps_the_rules_of_agents() -> None:
    check_agent(Heuristic, GAME)
    check_agent(Heuristic, GAME, {"seats": 4, "stacking": True, "voluntary_draw": True})
