"""Statistics of laying away against plain enumeration, known means, and the command for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import combinations
from statistics import mean, median

import numpy as np
import pytest

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.kernel import JIT
from cardlab.games.cribbage.scoring import hand_points
from cardlab.games.cribbage.solvers.advice import Choice, advise, parse_hand, parse_score
from cardlab.games.cribbage.solvers.discards import DiscardScratch, chances, judge, outlook
from cardlab.games.cribbage.solvers.hand_statistics import (
    analyse,
    analyse_hands,
    every_class,
    means_of,
    quad_number,
)
from cardlab.games.cribbage.solvers.knowledge import shipped_knowledge
from tests.support.reference_cribbage import show_points

FLUSH = [5, 13, 21, 33, 41, 42]  # five diamonds with a jack, and another jack
JACKS = [40, 41, 42, 43, 16, 17]


def some_hands(count: int, seed: int = 0) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    drawn = [sorted(rng.choice(52, 6, replace=False).tolist()) for _ in range(count)]
    return [FLUSH, sorted(JACKS), *drawn]


def unseen(hand: list[int]) -> list[int]:
    return [card for card in range(52) if card not in hand]


def mask(cards: Array | list[int] | tuple[int, ...]) -> int:
    return sum(1 << int(card) for card in cards)


@pytest.mark.parametrize("hand", some_hands(12 if JIT else 1))
def test_hands_are_those_of_plain_enumeration(hand: list[int]) -> None:
    found = analyse(hand)
    for i, laid in enumerate(combinations(hand, 2)):
        kept = [card for card in hand if card not in laid]
        points = [show_points(kept, cut, crib=False) for cut in unseen(hand)]
        assert tuple(found.laid[i]) == laid
        assert found.kept[i] == mask(kept)
        assert (found.least[i], found.most[i]) == (min(points), max(points))
        assert found.median[i] == median(points)
        assert found.mean[i] == pytest.approx(mean(points), abs=1e-12)


def test_the_scorer_of_the_next_test_is_right() -> None:
    rng = np.random.default_rng(3)
    for _ in range(2000 if JIT else 50):
        *four, cut = rng.choice(52, 5, replace=False).tolist()
        assert hand_points(mask(four), cut, True) == show_points(four, cut, crib=True)


@pytest.mark.skipif(not JIT, reason="45,540 cribs for each of 15 choices")
@pytest.mark.parametrize("hand", some_hands(1, seed=5))
def test_cribs_are_those_of_45540_combinations(hand: list[int]) -> None:
    found = analyse(hand)
    for i in range(15):
        laid, points, count = mask(found.laid[i]), 0, 0
        for pair in combinations(unseen(hand), 2):
            crib = laid | mask(pair)
            for cut in unseen(hand):
                if cut not in pair:
                    points += hand_points(crib, cut, True)
                    count += 1
        assert count == 45_540
        assert found.crib[i] == pytest.approx(points / count, abs=1e-12)


@pytest.mark.skipif(not JIT, reason="45,540 cribs for each of 15 choices")
def test_cribs_against_weighed_tosses_are_those_of_enumeration() -> None:
    rng = np.random.default_rng(1)
    known = shipped_knowledge()._replace(tosses=rng.random((2, 2, 91)))
    for hand in some_hands(1, seed=8):
        found = judge(hand, True, known)
        for i, laid in enumerate(combinations(hand, 2)):
            if i % 5:
                continue
            points = total = 0.0
            for low, high in combinations(unseen(hand), 2):
                pair = low // 4 + (high // 4) * (high // 4 + 1) // 2
                weight = known.tosses[0, int((low ^ high) & 3 == 0), pair]
                cuts = [cut for cut in unseen(hand) if cut not in (low, high)]
                crib = mask([*laid, low, high])
                points += weight * sum(hand_points(crib, cut, True) for cut in cuts)
                total += weight * len(cuts)
            assert found.crib[i] == pytest.approx(points / total)


def test_tosses_at_random_give_the_uniform_crib() -> None:
    known = shipped_knowledge()._replace(tosses=np.ones((2, 2, 91)))
    for hand in some_hands(10 if JIT else 1, seed=2):
        for dealer in (False, True):
            assert judge(hand, dealer, known).crib == pytest.approx(analyse(hand).crib)


@pytest.mark.skipif(not JIT, reason="962,988 hands")
def test_means_over_all_deals_are_the_known_ones() -> None:
    hands, weights = every_class()
    assert len(hands) == len(np.unique(hands)) == 962_988
    assert weights.sum(dtype=np.int64) == 20_358_520
    table = analyse_hands(hands, weights)
    for worth, hand, crib in (
        (table.total, 8.2939, 4.6195),
        (table.median, 8.0510, 4.5756),
    ):
        found = means_of(table, worth)
        assert (round(found.hand, 4), round(found.crib, 4)) == (hand, crib)
    some = np.random.default_rng(0).choice(len(hands), 500)
    single = analyse_hands(hands[some])
    for ours, theirs in zip(single[2:], table[2:], strict=True):
        assert (ours == theirs[some]).all()


def test_numbers_of_ranks() -> None:
    found = {}
    for ranks in ((0, 0, 0, 0), (12, 12, 12, 12), (4, 4, 5, 9), (0, 1, 2, 3)):
        cards, used = [], [0] * 13
        for rank in ranks:
            cards.append(4 * rank + used[rank])
            used[rank] += 1
        found[ranks] = int(quad_number(mask(cards)))
    assert found[0, 0, 0, 0] == 0
    assert found[12, 12, 12, 12] == 1819
    assert len(set(found.values())) == 4


def test_what_is_no_hand_is_refused() -> None:
    with pytest.raises(CardlabError, match="6 different cards before the discard, got 5"):
        analyse([1, 2, 3, 4, 5, 5])
    with pytest.raises(CardlabError, match="got 7"):
        analyse(range(7))


# Chances to win


def plain_chance(role: int, own: int, other: int, show: int, crib: int) -> float:
    """Return the chance to win if the own hand and the crib count so much, by plain loops."""
    known = shipped_knowledge()
    total = 0.0
    for pone, dealer in zip(*known.pegs.nonzero(), strict=True):
        mine, theirs = (int(dealer), int(pone)) if role else (int(pone), int(dealer))
        for points in known.shows[1 - role].nonzero()[0]:
            weight = known.pegs[pone, dealer] * known.shows[1 - role, points]
            steps = [(0, mine), (1, theirs), (role, points if role else show)]
            steps += [(1 - role, show if role else points), (1 - role, crib)]
            scores = [own, other]
            won = 0.5 if own + mine >= 121 and other + theirs >= 121 else None
            for seat, gain in steps:
                scores[seat] += int(gain)
                if won is None and scores[seat] >= 121:
                    won = 1.0 - seat
            if won is None:
                won = known.win[scores[0], scores[1], 1 - role]
            total += weight * won
    return total


@pytest.mark.skipif(not JIT, reason="many loops")
@pytest.mark.parametrize(
    ("role", "own", "other"),
    [(0, 103, 110), (0, 117, 85), (1, 95, 119), (1, 116, 116), (1, 60, 90)],
)
def test_chances_follow_the_order_of_counting(role: int, own: int, other: int) -> None:
    known, work = shipped_knowledge(), DiscardScratch.new()
    outlook(own, other, role, known, work.stage, work.chances[0])
    for show, crib in ((0, 0), (4, 2), (8, 4), (12, 0), (2, 12), (29, 20), (20, 29)):
        plain = plain_chance(role, own, other, show, crib)
        assert work.chances[0, show, crib] == pytest.approx(plain, abs=1e-6)


def test_chances_know_who_needs_what() -> None:
    # The pone needs 2 and holds a pair of fives: it counts first and wins unless the dealer pegs
    # home. The other way round hardly anything helps.
    known = shipped_knowledge()
    hand = [16, 17, 20, 36, 40, 48]
    assert chances(hand, False, 119, 100, known).max() > 0.97
    assert chances(hand, False, 60, 120, known).max() < 0.05
    points, wins = judge(hand, True, known).points, chances(hand, True, 0, 0, known)
    assert points.argmax() == wins.argmax()


# Advice


def test_advice_is_ranked_and_signed() -> None:
    hand = parse_hand("5h, 5d 6s jc 4h kd")
    dealer = advise(hand, dealer=True, score=(0, 0))
    pone = advise(hand, dealer=False, score=(0, 0))
    assert [one.points for one in dealer.choices] == sorted(
        (one.points for one in dealer.choices), reverse=True
    )
    assert len({one.laid for one in dealer.choices}) == 15
    assert all(one.crib > 0 and one.crib_at_random > 0 for one in dealer.choices)
    assert all(one.crib < 0 and one.crib_at_random < 0 for one in pone.choices)
    for one in (*dealer.choices, *pone.choices):
        assert one.points == pytest.approx(one.mean + one.crib + one.pegging)
        assert set(one.laid) | set(one.kept) == set(hand)
    assert "Discard JC KD and keep 4H 5D 5H 6S" in dealer.sentence()
    late = advise(hand, dealer=False, score=(119, 119))
    assert late.by_wins
    assert "from 119-119" in late.sentence()
    assert late.choices[0].win == max(one.win for one in late.choices)


@pytest.mark.parametrize("text", ["", "78", "78-", "a-b", "-1-5", "78/81", "7.5-8", "1-2-3"])
def test_scores_that_are_none(text: str) -> None:
    with pytest.raises(CardlabError, match="give yours first"):
        parse_score(text)


def test_scores() -> None:
    assert parse_score(" 78-81 ") == (78, 81)
    assert parse_score("0:120") == (0, 120)
    with pytest.raises(CardlabError, match="score 121 in '78-121' is past the end"):
        parse_score("78-121")


def cardlab(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cardlab.cli", *args],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "110"},
        check=False,
    )


HAND = "5H 5D 6S JC 4H KD"


def test_the_command_shows_all_choices() -> None:
    shown = cardlab("analyse", "cribbage", HAND, "--dealer", "--score", "78-81")
    assert shown.returncode == 0, shown.stderr
    assert "your crib, you 78, the other 81" in shown.stdout
    assert sum("♣" in line or "♦" in line for line in shown.stdout.splitlines()) == 17
    assert "Discard J♣ K♦" in shown.stdout
    answer = cardlab("analyse", "cribbage", HAND, "--json")
    told = json.loads(answer.stdout)
    assert told["cards"] == ["4H", "5D", "5H", "6S", "JC", "KD"]
    assert told["ranked_by"] == "points"
    assert len(told["choices"]) == 15
    assert told["choices"][0]["laid"] == ["JC", "KD"]
    assert told["choices"][0]["crib"] < 0


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["cribbage", "5H 5D 6S JC 4H"], "the hand has 5 cards; give six"),
        (["cribbage", "5H 5D 6S JC 4H KD 2C"], "the hand has 7 cards; give six"),
        (["cribbage", ""], "the hand has 0 cards; give six"),
        (["cribbage", "5H 5D 6S JC 4H 5H"], "5H is twice in the hand"),
        (["cribbage", "5H 5D 6S JC 4H 1D"], "unknown card '1D'"),
        (["cribbage", HAND, "--score", "78"], "score '78' is not understood"),
        (["cribbage", HAND, "--score", "121-3"], "score 121 in '121-3' is past the end"),
        (["crazy_eights", HAND], "is about hands of cribbage, not of crazy_eights"),
        (["cribage", HAND], "unknown game 'cribage'"),
    ],
)
def test_a_mistake_is_one_sentence(args: list[str], sentence: str) -> None:
    answer = cardlab("analyse", *args)
    assert answer.returncode == 2
    assert sentence in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert answer.stdout == ""


def test_advice_lists_every_choice() -> None:
    advice = advise(parse_hand("5H 5D 6S JC 4H KD"), dealer=True, score=(0, 0))
    assert all(isinstance(one, Choice) for one in advice.choices)
    assert len({frozenset(one.laid) for one in advice.choices}) == 15
