"""Cribbage: each rule with its source, the whole against a second implementation and counts.

"ACC" stands for the rules of the American Cribbage Congress, "thesis" for section 1.1.1 of "Policy
Improvement in Cribbage through Reinforcement", which follows them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from cardlab.agents.heuristic import Heuristic
from cardlab.engine.cards import ALL_CARDS, card_text, cards_in, cards_text, parse_card
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, Game, State, View
from cardlab.engine.kernel import JIT, bit, kernel
from cardlab.engine.play import Table
from cardlab.games.cribbage import heuristic, rules
from cardlab.games.cribbage.scoring import (
    HAND_SIZE,
    LIMIT,
    Pegged,
    Row,
    card_value,
    explain,
    explain_deal,
    explain_in_words,
    explain_play,
    follow,
    hand_points,
    peg_points,
    score_text,
)
from cardlab.testing import check_agent, check_uniform, random_table, retrace
from tests.support import variants
from tests.support.reference_cribbage import ReferenceGame, play_points, show_points, value

VARIANTS = variants.VARIANTS["cribbage"]
MANY = 40 if JIT else 2
SEAT_0_DEALS = "AC 2C"
SEAT_1_DEALS = "2C AC"


@pytest.fixture(scope="module")
def game() -> Game:
    return rules.GAME


def cards(text: str) -> list[int]:
    return [parse_card(card) for card in text.split()]


def order(*first: str) -> str:
    """Return a whole deck that starts with these cards and goes on with the rest in order."""
    named = [card for part in first for card in cards(part)]
    return cards_text(named + [card for card in range(52) if card not in named])


def dealt(pone: str, dealer: str, starter: str) -> str:
    """Return a deck order that deals these hands."""
    pairs = zip(pone.split(), dealer.split(), strict=True)
    return order(" ".join(f"{a} {b}" for a, b in pairs), starter)


def table(
    pone: str,
    dealer: str,
    starter: str,
    *actions: str,
    scores: tuple[int, int] = (0, 0),
    options: dict[str, Any] | None = None,
) -> Table:
    """Return a game in which seat 1 deals, from the first four cards of each hand on."""
    deals = [order(SEAT_1_DEALS), dealt(pone, dealer, starter), order("AC")]
    made = Table(rules.GAME, deals=deals, options=options)
    made.state.array[0].scores[:] = made.state.array[0].before[:] = scores
    for hand in (pone, dealer):
        play(made, "lay " + " ".join(hand.split()[4:]))
    return play(made, *actions)


def play(made: Table, *actions: str) -> Table:
    for action in actions:
        made.act(made.game.parse_action(action))
    return made


def scores(made: Table) -> list[int]:
    return made.state.scores.tolist()


def told(made: Table, seat: int = 0) -> list[str]:
    return [f"{one.seat} {one.text}" for one in made.state.view(seat).describe().events]


# Counting hands: exhaustive

COUNTS = [
    *(1009008, 99792, 2813796, 505008, 2855676, 697508, 1800268, 751324, 1137236, 361224),
    *(388740, 51680, 317340, 19656, 90100, 9168, 58248, 11196, 2708, 0),
    *(8068, 2496, 444, 356, 3680, 0, 0, 0, 76, 4),
]


@kernel
def count_all(counts: Any, crib: bool) -> None:
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    hand = bit(a) | bit(b) | bit(c) | bit(d)
                    for cut in range(52):
                        if not hand & bit(cut):
                            counts[hand_points(hand, cut, crib)] += 1


@pytest.mark.skipif(not JIT, reason="too many hands to interpret")
def test_all_hands_and_cribs_with_all_cuts() -> None:
    # Published: counts of the 12,994,800 hands by score; mean 4.7691522763.
    counts = np.zeros(30, dtype=np.int64)
    count_all(counts, False)
    assert counts.tolist() == COUNTS
    assert counts.sum() == 12_994_800
    assert counts @ np.arange(30) == 61_974_180
    assert counts @ np.arange(30) / counts.sum() == pytest.approx(4.7691522763, abs=1e-10)
    counts[:] = 0
    count_all(counts, True)
    assert counts.sum() == 12_994_800
    assert counts[0] == 1_022_208
    assert counts @ np.arange(30) == 61_528_020


def test_explanations_add_up_to_the_points() -> None:
    rng = np.random.default_rng(0)
    for number in range(3000):
        deck = rng.permutation(52)[:5].tolist()
        if number % 3 == 0:  # flushes are rare
            deck = [4 * int(rank) + 1 for rank in rng.permutation(13)[:5]]
            deck[4] += int(rng.integers(2))
        hand, cut = deck[:4], deck[4]
        crib = bool(number % 2)
        points = hand_points(np.int64(sum(1 << card for card in hand)), cut, crib)
        assert sum(row.points for row in explain(hand, cut, crib)) == points
        assert show_points(hand, cut, crib=crib) == points


@pytest.mark.parametrize(
    ("hand", "cut", "points", "crib_points"),
    [
        ("5H 5C 5S JD", "5D", 29, 29),  # the most that there is
        ("5H 5C 5S 5D", "JD", 28, 28),
        ("2C 4D 6H 8S", "TC", 0, 0),
        ("7C 8D 9H KS", "AC", 3 + 2, 3 + 2),
        ("QC KD AH 2S", "7C", 0, 0),  # no run goes round the ace
        ("TC JD 2H 4S", "6C", 0, 0),  # ten and jack are no pair
        ("2H 4H 6H 8H", "KC", 4, 0),  # a crib counts only a flush of five
        ("2H 4H 6H 8H", "KH", 5, 5),
        ("2H 4H 6H KC", "8H", 0, 0),  # four hearts, one of them the cut card
        ("JH 2C 4D 8S", "KH", 1, 1),  # nobs
        ("KH 2C 4D 8S", "JH", 0, 0),  # the jack itself turned up is heels, not nobs
        ("3C 3D 4H 5S", "5C", 12 + 4 + 4, 12 + 4 + 4),  # four runs, two pairs, 3-3-4-5 twice
        ("3C 3D 3H 4S", "5C", 9 + 6 + 6, 9 + 6 + 6),
        ("6C 7D 8H 9S", "TC", 5 + 4, 5 + 4),
        ("AC 2D 3H 4S", "5C", 5 + 2, 5 + 2),
    ],
)
def test_hands(hand: str, cut: str, points: int, crib_points: int) -> None:
    held, turned = cards(hand), parse_card(cut)
    for crib, total in {False: points, True: crib_points}.items():
        assert hand_points(np.int64(sum(1 << card for card in held)), turned, crib) == total
        assert score_text(hand, cut, crib=crib)[1] == total
        assert show_points(held, turned, crib=crib) == total


def test_every_point_is_explained() -> None:
    rows, total = score_text("5h, 5c, 5s, jd", "5d")
    assert total == 29
    reasons = [(row.reason, cards_text(row.cards), row.points) for row in rows]
    assert reasons[0] == ("fifteen", "5C JD", 2)
    assert reasons[-2:] == [
        ("four of a kind", "5C 5D 5H 5S", 12),
        ("jack of the cut suit", "JD", 1),
    ]
    assert len(reasons) == 10


@pytest.mark.parametrize(
    ("hand", "cut", "answer"),
    [
        ("5H 5C 5S", "5D", "the hand has 3 cards; give four"),
        ("5H 5C 5S JD JC", "5D", "the hand has 5 cards; give four"),
        ("", "5D", "the hand has 0 cards"),
        ("5H 5C 5S JD", "", "the cut has 0 cards; give one"),
        ("5H 5C 5S JD", "5D 6D", "the cut has 2 cards; give one"),
        ("5H 5C 5H JD", "5D", "5H is twice in the hand"),
        ("5H 5C 5S JD", "JD", "JD is both in the hand and the cut card"),
        ("5H 5C 5X JD", "5D", "unknown card '5X'"),
        ("5H 5C 5S JD", "1D", "unknown card '1D'"),
    ],
)
def test_hands_that_cannot_be_counted(hand: str, cut: str, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        score_text(hand, cut)


# Counting the play (ACC; facts: pairs 2 / 6 / 12, runs among the last cards in any order)


@pytest.mark.parametrize(
    ("pile", "points"),
    [
        ("7C 8C", 2),  # fifteen
        ("TC JC", 0),  # ten and jack are no pair
        ("7C 7D", 2),
        ("5C 5D 5H", 6 + 2),
        ("AC AD AH AS", 12),
        ("AC 2C 2D AD", 0),  # a pair must follow at once
        ("AC 3C 2C", 3),
        ("4C 2C 3C 5C", 4),
        ("8C 3C 5C 4C", 3),  # the eight does not belong, the last three do
        ("2C 3C 4C 3D", 0),  # two threes among the last three
        ("3C 4C 5C 3D", 3 + 2),
        ("2C 3C 3D 4C", 0),  # a pair breaks the run
        ("4C 5C 6C", 3 + 2),
        ("QC KC AC", 0),  # no run goes round the ace
        ("AC 2C 3C 4C 5C 6C 7C", 7),
        ("TC QC JC AC", 2),  # thirty-one
        ("9C TC QC 2C", 2),
    ],
)
def test_points_of_a_played_card(pile: str, points: int) -> None:
    series = 0
    for card in cards(pile):
        series = int(follow(series, card))
    total = sum(map(value, cards(pile)))
    assert peg_points(series, total) == points
    assert play_points(cards(pile)) == points


# Every step of whole games against the second implementation


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_every_step_agrees_with_the_second_implementation(
    game: Game, options: dict[str, Any]
) -> None:
    gos = 0
    for seed in range(MANY):
        whole = random_table(game, options, seed)
        theirs = ReferenceGame([*whole.deals, range(52)], **options)
        for ours in retrace(whole):
            s = ours.state
            assert ours.over == (theirs.winner is not None)
            assert s.legal().tolist() == theirs.legal()
            assert s.scores.tolist() == theirs.scores
            if ours.over:
                break
            assert (ours.mover, int(s.dealer)) == (theirs.seat, theirs.dealer)
            assert [list(cards_in(hand)) for hand in s.hands] == [sorted(h) for h in theirs.hands]
            assert s.starter == theirs.starter
            assert s.tally == sum(map(value, theirs.pile))
            floors = [max([31 - n for who, n in theirs.said if who == k] or [0]) for k in (0, 1)]
            assert s.floors.tolist() == floors
            gos += len(theirs.said)
            theirs.apply(whole.actions[len(ours.actions)])
        assert whole.state.returns() == theirs.returns()
        assert whole.state.points() == theirs.scores
    assert gos


# Single rules


@pytest.mark.parametrize(
    ("cut", "dealer"),
    [("AC 2C", 0), ("KC QD", 1), ("5C 5D 9H 2S", 1), ("5C 5D 9H 9S JC QD", 0)],
)
def test_the_lower_card_deals_first(game: Game, cut: str, dealer: int) -> None:
    # Thesis: the lower-valued card deals; equal ones are cut again. The ace is low (its note 1).
    made = Table(game, deals=[order(cut), order()])
    assert made.state.dealer == dealer
    assert made.mover == 1 - dealer, "the pone discards first"


def test_a_cut_without_an_answer_is_made_again(game: Game) -> None:
    made = Table(game, deals=[order(), order(SEAT_0_DEALS), order()])
    assert made.state.dealer == 0
    assert len(made.deals) == 3


def test_cards_go_to_the_pone_first_and_the_13th_is_turned_up(game: Game) -> None:
    short = "AC 2C AD 2D AH 2H AS 2S 3C 4C 3D 4D 9S"
    made = Table(game, deals=[order(SEAT_1_DEALS), short])
    assert cards_text(cards_in(made.state.hands[0])) == "AC AD AH AS 3C 3D"
    assert cards_text(cards_in(made.state.hands[1])) == "2C 2D 2H 2S 4C 4D"
    assert card_text(int(made.state.starter)) == "9S"
    assert game.order_text(made.deals[1]) == short
    assert len(made.turn().legal) == 15
    play(made, "3c 3d")
    assert made.mover == 1
    play(made, "4c 4d")
    assert made.mover == 0, "the pone leads"
    assert made.turn().texts == ["AC", "AD", "AH", "AS"]


def test_laying_away_offers_the_pairs_of_places_in_order(game: Game) -> None:
    for seed in range(20):
        turn = Table(game, seed=seed).turn()
        hand = list(cards_in(turn.view.hands[turn.seat]))
        pairs = [tuple(rules.PAIRS[action - rules.LAY].tolist()) for action in turn.legal]
        assert pairs == list(itertools.combinations(hand, 2))


POOR = "2C 4D 6H 8S TC QD"
OTHER = "3C 3D 7H 9S TD KH"


def test_a_jack_turned_up_gives_the_dealer_two() -> None:
    assert scores(table(POOR, OTHER, "JS")) == [0, 2]
    assert scores(table(POOR, OTHER, "QS")) == [0, 0]


def test_a_jack_turned_up_may_win() -> None:
    # Facts: "a jack cut = 2 for the dealer at once (may win)".
    made = table(POOR, OTHER, "JS", scores=(120, 119))
    assert made.over
    assert made.state.points() == [120, 121]
    assert made.state.returns() == [-1, 1]
    assert told(made)[-2:] == ["1 turned up JS and pegged 2 for the jack", "1 won 121 to 120"]


STOPPED = ("TC QD KH 2S 7C 8C", "TD JC QS 9D 7D 8D", "4S", "TC", "JC", "QD")


def test_a_go_pegs_one_for_the_last_card_and_the_other_leads() -> None:
    # ACC; facts: "the count starts anew after 31 or a go, the seat that did not play last leads".
    made = table(*STOPPED)
    assert scores(made) == [3 + 1, 0]
    assert (made.state.tally, made.mover) == (0, 1)
    assert told(made)[-3:] == [
        "0 played QD, count 30, run of 3 for 3",
        "1 said go",
        "0 pegged 1 for the go",
    ]


def test_nothing_counts_across_a_new_count() -> None:
    made = table(*STOPPED, "QS")  # the queen before it belongs to the old count
    assert scores(made) == [3 + 1, 0]
    assert made.state.tally == 10


PLAYS_ON = ("TC QD AH 2S 7C 8C", "TD JC KS 9D 7D 8D", "4S", "TC", "TD", "QD")


def test_after_a_go_the_other_plays_on_while_it_can() -> None:
    # Facts: "After a go the other seat plays on while it can"; the go itself is no decision.
    made = table(*PLAYS_ON)
    assert made.mover == 0
    assert made.turn().texts == ["AH"], "the two would pass 31"
    assert told(made)[-1] == "1 said go"


def test_thirty_one_pegs_two_and_not_a_go() -> None:
    made = table(*PLAYS_ON, "AH")
    assert scores(made) == [2, 2]
    assert (made.state.tally, made.mover) == (0, 1)
    assert told(made)[-1] == "0 played AH, count 31, thirty-one for 2"


ALONE = ("9C 7C 4C TS AC AD", "TC KC QC TD AH AS", "5H", "9C", "TC", "7C", "4C")


def test_the_only_seat_with_cards_leads_again() -> None:
    made = table(*ALONE)
    assert scores(made) == [1, 0], "30 and neither can play"
    play(made, "KC", "TS", "QC")
    assert made.state.sizes.tolist() == [0, 1]
    assert (made.state.tally, made.mover) == (0, 1)
    assert scores(made) == [1, 1]
    assert told(made)[-1] == "1 pegged 1 for the go", "seat 0 has no cards and says nothing"


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        ("TS", ["1 played TS, count 31, thirty-one for 2"]),
        ("9S", ["1 played 9S, count 30", "1 pegged 1 for the last card"]),
    ],
)
def test_the_last_card_pegs_one_unless_it_makes_31(last: str, ending: list[str]) -> None:
    # Facts: "31 on the last card scores 2, not 3".
    made = table("KC KH 9C 2C 3C 3D", f"KD AC TD {last} 6C 6D", "4S")
    play(made, "KC", "KD", "KH", "AC", "9C", "TD", "2C", last)
    story = told(made)
    first_count = next(i for i, one in enumerate(story) if "counted" in one)
    assert story[first_count - len(ending) : first_count] == ending


# Hands: seat 0 pegs 2 and shows 8; seat 1 pegs 1 for the last card, shows 0 and has 14 in the crib.
SHOW = ("2C 2D 9H KS 5C 5D", "4C 6D 8H QS 5H TH", "2H")
WHOLE = ("KS", "QS", "9H", "2C", "8H", "2D", "6D", "4C")


def test_the_show_in_words() -> None:
    made = table(*SHOW, *WHOLE)
    assert scores(made) == [2 + 8, 1 + 0 + 14]
    assert made.state.dealer == 0, "the deal alternates"
    assert told(made, 0) == [
        "1 dealt",
        "0 discarded two cards",
        "1 discarded two cards",
        "1 turned up 2H",
        "0 played KS, count 10",
        "1 played QS, count 20",
        "0 played 9H, count 29",
        "1 said go",
        "0 played 2C, count 31, thirty-one for 2",
        "1 played 8H, count 8",
        "0 played 2D, count 10",
        "1 played 6D, count 16",
        "1 played 4C, count 20",
        "1 pegged 1 for the last card",
        "0 counted 8 in hand, 2C 2D 9H KS with 2H: fifteen for 2, three of a kind for 6",
        "1 counted 0 in hand, 4C 6D 8H QS with 2H",
        "1 counted 14 in the crib, 5C 5D 5H TH with 2H: fifteen for 8, three of a kind for 6",
        "0 dealt",
    ]


@pytest.mark.parametrize(
    ("start", "end", "plays"),
    [
        ((119, 0), [121, 0], 4),  # 31 in the play; the rest is neither played nor shown
        ((120, 0), [121, 0], 4),  # nobody stands higher than 121
        ((0, 120), [2, 121], 8),  # the last card
        ((111, 119), [121, 120], 8),  # the pone shows first
        ((100, 106), [110, 121], 8),  # the crib comes last
        ((100, 107), [110, 121], 8),
    ],
)
def test_the_first_to_reach_the_target_wins_at_once(
    start: tuple[int, int], end: list[int], plays: int
) -> None:
    made = table(*SHOW, *WHOLE[:plays], scores=start)
    assert made.over
    assert made.state.points() == end
    assert made.state.returns() == ([1, -1] if end[0] == 121 else [-1, 1])
    assert told(made)[-1] == f"{end.index(121)} won 121 to {min(end)}" + (
        ", a double skunk" if min(end) < 61 else ""
    )


def test_a_go_may_win() -> None:
    made = table(*STOPPED, scores=(117, 100))
    assert made.over
    assert told(made)[-2:] == ["0 pegged 1 for the go", "0 won 121 to 100"]


@pytest.mark.parametrize(
    ("target", "loser", "skunk"),
    [(121, 91, 0), (121, 90, 1), (121, 61, 1), (121, 60, 2), (61, 31, 0), (61, 30, 1), (61, 0, 1)],
)
def test_skunks(target: int, loser: int, skunk: int) -> None:
    # Facts: "Skunk: loser under 91; double skunk under 61"; to 61 a skunk is under 31.
    start = (target - 2, loser)
    made = table(*SHOW, *WHOLE[:4], scores=start, options={"target": target})
    assert made.state.points() == [target, loser]
    assert rules.skunk(made.state.array[0]) == skunk
    assert made.state.view(1).describe().facts["result"] == f"seat 0 wins{rules.SKUNKS[skunk]}"


def test_the_deal_alternates(game: Game) -> None:
    dealers: dict[int, int] = {}
    for one in retrace(random_table(game, {}, 5)):
        dealers[int(one.state.deals)] = int(one.state.dealer)
    assert len(dealers) > 5
    assert all(dealers[n] != dealers[n + 1] for n in range(1, len(dealers)))


def test_how_long_games_can_be(game: Game) -> None:
    # Every deal gives at least the point for the last card, or two for 31 on it.
    assert game.max_plies == 10 * 242


# What a seat cannot see


def test_a_view_keeps_own_discards_and_hides_the_crib() -> None:
    made = table(*SHOW, "KS")
    view = made.state.view(0)
    assert cards_text(cards_in(view.laid[0])) == "5C 5D"
    assert (view.laid[1], view.hands[1], view.sizes[1]) == (0, 0, 4)
    zones = {(zone.name, zone.seat): zone for zone in view.describe().zones}
    assert zones["discards", 0].cards == ("5C", "5D")
    assert (zones["discards", 1].count, zones["discards", 1].cards) == (2, ())
    assert (zones["hand", 1].count, zones["hand", 1].cards) == (4, ())
    assert zones["cards played", 0].cards == zones["pile", None].cards == ("KS",)
    assert zones["cut", None].cards == ("2H",)
    assert zones["first cut", 1].cards == ("AC",)


def test_the_card_to_turn_up_is_hidden_until_both_have_laid_away(game: Game) -> None:
    made = Table(game, seed=3)
    for _ in range(2):
        for seat in range(2):
            assert made.state.view(seat).starter == rules.NOBODY
        made.act(int(made.turn().legal[0]))
    assert made.state.view(0).starter == made.state.view(1).starter == made.state.starter


def test_the_crib_is_seen_once_it_is_counted() -> None:
    ended = table(*SHOW, *WHOLE, scores=(100, 106)).state
    assert cards_text(cards_in(ended.view(0).laid[1])) == "5H TH"
    early = table(*SHOW, *WHOLE, scores=(111, 119)).state  # the pone's hand ends the game
    assert early.view(0).laid[1] == 0


def with_other_cards(whole: Table, seat: int, held: list[int], laid: list[int]) -> Table | None:
    """Replay a game with other cards for the seat opposite in its last deal, as `seat` saw it.

    Return None where the same cards cannot be played in the same order to the same counts.
    """
    other = 1 - seat
    s = whole.state
    six = [*cards_in(s.played[other]), *held, *laid]
    own = list(cards_in(s.hands[seat] | s.played[seat] | s.laid[seat]))
    pone, dealer = (six, own) if s.dealer == seat else (own, six)
    pairs = [card for two in zip(pone, dealer, strict=True) for card in two]
    deck = [*pairs, int(s.starter)]
    deck += [card for card in range(52) if card not in deck]
    again = Table(whole.game, deals=[*whole.deals[:-1], deck], options=whole.options)
    course = [(one.mover, int(one.state.tally)) for one in retrace(whole)]
    for action, public in zip(whole.actions, course, strict=False):
        if (again.mover, int(again.state.tally)) != public:
            return None
        if again.state.deals == s.deals and action >= rules.LAY and again.mover == other:
            action = rules.parse_action(cards_text(laid))
        if action not in again.state.legal():
            return None
        again.act(action)
    return again if (again.mover, int(again.state.tally)) == course[-1] else None


def possible(view: View, held: Iterable[int]) -> bool:
    """Whether the other hand can be this one: it respects all gos, and has a move if to play."""
    other = 1 - view.own_seat
    return all(value(card) > view.floors[other] for card in held) and (
        view.seat != other or any(view.tally + value(card) <= 31 for card in held)
    )


def test_imagined_hands_are_exactly_those_that_the_course_of_the_deal_allows(game: Game) -> None:
    verdicts = {True: 0, False: 0}
    for seed in range(MANY):
        rng = np.random.default_rng(seed)
        whole = random_table(game, {}, seed, plies=int(rng.integers(6, 40)))
        if whole.state.phase != rules.PLAY:
            continue
        for seat in range(2):
            view = whole.state.view(seat)
            size = int(view.sizes[1 - seat])
            known = view.hands[seat] | view.laid[seat] | view.played[0] | view.played[1]
            known |= np.int64(1 << int(view.starter))
            unseen = list(cards_in(ALL_CARDS & ~int(known)))
            for number in range(12):
                some = [int(card) for card in rng.choice(unseen, size + 2, replace=False)]
                held, laid = some[:size], some[size:]
                if number < 4:
                    world = view.imagine(rng)
                    held, laid = (list(cards_in(x[1 - seat])) for x in (world.hands, world.laid))
                allowed = possible(view, held)
                replayed = with_other_cards(whole, seat, held, laid)
                assert (replayed is not None) == allowed, (seed, held, laid)
                assert allowed or number >= 4
                verdicts[allowed] += 1
                if replayed:
                    assert replayed.state.view(seat).array.tobytes() == view.array.tobytes()
    assert not JIT or min(verdicts.values()) > 20, verdicts


def ways_to_lay(view: View) -> list[bytes]:
    """Return the state for every way to lay the unseen cards into the other hand and the crib."""
    seat, other = view.own_seat, 1 - view.own_seat
    known = int(view.hands[seat] | view.laid[seat] | view.played[0] | view.played[1])
    unseen = [card for card in cards_in(ALL_CARDS & ~known) if card != view.starter]
    ways = []
    for held in itertools.combinations(unseen, int(view.sizes[other])):
        if not possible(view, held):
            continue
        for laid in itertools.combinations([card for card in unseen if card not in held], 2):
            state = State(view.game, view.array.copy())
            state.hands[other] = sum(1 << card for card in held)
            state.laid[other] = sum(1 << card for card in laid)
            ways.append(state.array.tobytes())
    return ways


LATE_TEN = ("TC JC QC KC TD JD", "2C TH JH QH 3C 3D", "KD")
LATE_ACE = ("TC 5C QC KC TD JD", "6H JH KH AH 3C 3D", "KD")


@pytest.mark.skipif(not JIT, reason="too many draws to interpret")
@pytest.mark.parametrize(
    ("seat", "made", "count"),
    [
        # Seat 0 has no cards left; all that is hidden is what it discarded.
        (1, lambda: table(*ALONE, "KC", "TS", "QC"), 820),
        # Seat 1 said go at 22 and has one card left: it is worth 10.
        (0, lambda: table(*LATE_TEN, "KC", "2C", "QC", "TH", "JC", "JH"), 7 * 820),
        # The count is 30 and seat 1 can play its last card: it is an ace.
        (0, lambda: table(*LATE_ACE, "TC", "6H", "5C", "JH", "QC", "KH", "KC"), 4 * 820),
    ],
)
def test_imagined_worlds_are_uniform(seat: int, made: Any, count: int) -> None:
    view = made().state.view(seat)
    ways = ways_to_lay(view)
    assert len(set(ways)) == len(ways) == count
    check_uniform(view, ways, draws=10 * len(ways))


@pytest.mark.skipif(not JIT, reason="too many draws to interpret")
def test_every_unseen_card_is_as_likely_everywhere_before_the_play(game: Game) -> None:
    from scipy.stats import chisquare

    made = Table(game, seed=8)
    for _ in range(2):
        seat = made.mover
        view = made.state.view(seat)
        rng = np.random.default_rng(1)
        found = np.zeros((3, 52))
        for _ in range(8000):
            world = view.imagine(rng)
            found[0, list(cards_in(world.hands[1 - seat]))] += 1
            found[1, list(cards_in(world.laid[1 - seat]))] += 1
            found[2, int(world.starter)] += 1
        unseen = [card for card in range(52) if not int(view.hands[seat]) >> card & 1]
        for place in found:
            assert place.sum() == place[unseen].sum()
            if place.any():
                assert chisquare(place[unseen]).pvalue > 1e-4
        made.act(int(made.turn().legal[0]))


# The heuristic


def test_the_heuristic_conforms(game: Game) -> None:
    check_agent(Heuristic, game)


def test_the_heuristic_keeps_what_counts() -> None:
    made = Table(rules.GAME, deals=[order(SEAT_1_DEALS), dealt("5H 5C 5S JD KC 2D", OTHER, "QC")])
    assert rules.action_text(Heuristic().act(made.turn(), np.random.default_rng(0))) == "lay 2D KC"


@pytest.mark.parametrize(("a", "b"), [("5C", "5D"), ("TC", "KD"), ("2C", "3D")])
def test_the_means_of_cribs(a: str, b: str) -> None:
    if not JIT:
        pytest.skip("too many cribs to interpret")
    first, second = parse_card(a), parse_card(b)
    mean = mean_crib(first, second)
    assert heuristic.CRIB_MEANS[first >> 2, second >> 2] == round(100 * mean)
    assert (heuristic.CRIB_MEANS == heuristic.CRIB_MEANS.T).all()


@kernel
def mean_crib(a: int, b: int) -> float:
    total = count = 0
    for c in range(52):
        for d in range(c):
            crib = bit(a) | bit(b) | bit(c) | bit(d)
            for cut in range(52):
                if c not in (a, b) and d not in (a, b) and not crib & bit(cut):
                    total += hand_points(crib, cut, True)
                    count += 1
    return total / count


# Texts


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("7h", "7H"),
        (" 10S ", "TS"),
        ("jd 5h", "lay 5H JD"),
        ("lay 5h jd", "lay 5H JD"),
        ("LAY 10h, Q♦", "lay TH QD"),
        ("5hjd", "lay 5H JD"),
        ("10h10d", "lay TD TH"),
    ],
)
def test_what_people_type(game: Game, text: str, action: str) -> None:
    assert game.action_text(game.parse_action(text)) == action


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "is not an action"),
        ("lay", "is not an action"),
        ("lay 5h", "is not an action"),
        ("5h 6h 7h", "'5h 6h 7h' is not an action; write one card to play it"),
        ("5h 5h", "5H cannot be discarded twice"),
        ("1h", "unknown card '1H'"),
        ("5h 1x", "unknown card '1X'"),
        ("go", "unknown card"),
    ],
)
def test_what_people_mistype(game: Game, text: str, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        game.parse_action(text)


@pytest.mark.parametrize(
    ("change", "answer"),
    [
        (lambda deck: deck[:12], "the deal has 12 cards, cribbage needs 13"),
        (lambda deck: deck[:-1], "the deal has 51 cards, cribbage needs 13"),
        (lambda deck: [*deck[:12], deck[0]], "card 13 of the deal: AC is listed more often"),
        (lambda deck: ["1X", *deck[1:]], "card 1 of the deal: unknown card '1X'"),
    ],
)
def test_impossible_deals(game: Game, change: Any, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        Table(game, deals=[" ".join(change(order().split()))])


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({"target": 100}, "target=100 of cribbage is not allowed; use 121 or 61"),
        ({"target": "far"}, "target=far"),
        ({"goal": 121}, "unknown option of cribbage 'goal'"),
    ],
)
def test_impossible_options(game: Game, options: dict[str, Any], answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        Table(game, seed=0, options=options)


def test_a_fresh_game_waits_for_the_dealer(game: Game) -> None:
    assert game.start().mover == DEALER
    assert str(game.start()) == "cribbage, not dealt"
    with pytest.raises(CardlabError, match="needs deal 2"):
        Table(game, deals=[order(SEAT_0_DEALS)])


def parse_cards(text: str) -> list[int]:
    return [parse_card(one) for one in text.split()]


def test_a_deal_of_cribbage_in_words() -> None:
    hands = [parse_cards(text) for text in ("5H 5C 6S 7D", "TD JC 4H KD")]
    plays = [(seat, hands[seat][turn]) for turn in range(4) for seat in (1, 0)]
    told = list(explain_play(plays))
    assert all(isinstance(one, Pegged) for one in told)
    assert told[1].points == 2  # ten, five: fifteen
    assert [card_value(card) for card in hands[1]] == [10, 10, 4, 10]
    (starter,) = parse_cards("JS")
    whole = list(explain_deal(0, starter, plays, parse_cards("AH 2H 3H 9C")))
    assert len(hands[0]) == HAND_SIZE
    assert whole[0].text == "dealt"
    assert whole[3].points == 2  # the jack that was turned up
    assert tuple(whole[4 : 4 + len(told)]) == tuple(told)
    counted = [explain_in_words(hands[seat], starter) for seat in (1, 0)]
    assert [one.points for one in whole[-3:-1]] == [points for points, _ in counted]
    assert "fifteen" in counted[1][1]
    rows = explain(hands[0], starter)
    assert all(isinstance(one, Row) for one in rows)
    assert sum(one.points for one in rows) == counted[1][0]
    assert sum(card_value(card) for card in parse_cards("KH QH JH")) < LIMIT
