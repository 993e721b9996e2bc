# %% score_text, Row

from cardlab.engine.cards import cards_text
from cardlab.games.cribbage.scoring import Row, score_text

rows, points = score_text("5H 5C 5S JD", "5D")
print(points, "points")
best: Row = max(rows, key=lambda row: row.points)
print(best.reason, cards_text(best.cards), best.points)

#: 29 points
#: four of a kind 5C 5D 5H 5S 12


# %% explain, explain_in_words

from cardlab.engine.cards import cards_text, parse_card
from cardlab.games.cribbage.scoring import explain, explain_in_words

hand = [parse_card(text) for text in ("4H", "5H", "6H", "KH")]
for row in explain(hand, parse_card("6C")):
    print(f"{row.reason}: {cards_text(row.cards)} for {row.points}")
print(explain_in_words(hand, parse_card("6C"), crib=True))  # a crib needs five of one suit

#: fifteen: 5H KH for 2
#: fifteen: 4H 5H 6C for 2
#: fifteen: 4H 5H 6H for 2
#: pair: 6C 6H for 2
#: run of 3: 4H 5H 6C for 3
#: run of 3: 4H 5H 6H for 3
#: flush in the hand: 4H 5H 6H KH for 4
#: (14, '4H 5H 6H KH with 6C: fifteen for 6, pair for 2, run of 3 for 6')


# %% hand_points, HAND_SIZE

from cardlab.engine.cards import parse_card
from cardlab.games.cribbage.scoring import HAND_SIZE, hand_points

hand = 0
for text in ("5H", "5C", "5S", "JD"):
    hand |= 1 << parse_card(text)
assert hand.bit_count() == HAND_SIZE
print(hand_points(hand, parse_card("5D"), crib=False))

#: 29


# %% card_value, follow, peg_points, LIMIT

from cardlab.engine.cards import parse_card
from cardlab.games.cribbage.scoring import LIMIT, card_value, follow, peg_points

series = count = 0
for text in ("7H", "8C", "6S", "TD"):
    card = parse_card(text)
    series, count = follow(series, card), count + card_value(card)
    print(text, "makes", count, "and scores", peg_points(series, count), count == LIMIT)

#: 7H makes 7 and scores 0 False
#: 8C makes 15 and scores 2 False
#: 6S makes 21 and scores 3 False
#: TD makes 31 and scores 2 True


# %% explain_play, Pegged

from cardlab.engine.cards import parse_card
from cardlab.games.cribbage.scoring import Pegged, explain_play

plays = [(0, "7H"), (1, "8C"), (0, "6S"), (1, "TD")]
pegged: list[Pegged] = list(explain_play([(seat, parse_card(text)) for seat, text in plays]))
for one in pegged:
    print(f"seat {one.seat} {one.text}: {one.points}")

#: seat 0 played 7H, count 7: 0
#: seat 1 played 8C, count 15, fifteen for 2: 2
#: seat 0 played 6S, count 21, run of 3 for 3: 3
#: seat 1 played TD, count 31, thirty-one for 2: 2


# %% explain_deal, JACKS

from cardlab.engine.cards import parse_card
from cardlab.games.cribbage.scoring import JACKS, explain_deal

starter = parse_card("JH")
print("two for the jack:", bool(1 << starter & JACKS))
plays = [(1, parse_card("5C")), (0, parse_card("JD"))]
for one in explain_deal(0, starter, plays, crib=(), count_over=False):  # the count goes on
    print(f"seat {one.seat} {one.text}: {one.points}")

#: two for the jack: True
#: seat 0 dealt: 0
#: seat 1 discarded two cards: 0
#: seat 0 discarded two cards: 0
#: seat 0 turned up JH and pegged 2 for the jack: 2
#: seat 1 played 5C, count 5: 0
#: seat 0 played JD, count 15, fifteen for 2: 2
