# %% advise, Advice, Choice

from cardlab.engine.cards import cards_text
from cardlab.games.cribbage.solvers.advice import Advice, Choice, advise, parse_hand

advice: Advice = advise(parse_hand("5H 5D 6S JC 4H KD"), dealer=True, score=(0, 0))
print(advice.sentence())

best: Choice = advice.choices[0]
print(f"keep {cards_text(best.kept)}: {best.mean:.2f} points on average, at most {best.most}")
print(f"crib {best.crib:+.2f}, pegging {best.pegging:+.2f}, wins {100 * best.win:.1f} %")

#: Discard JC KD and keep 4H 5D 5H 6S: 22.58 points in all, 4.27 more than with 5D KD.
#: keep 4H 5D 5H 6S: 15.96 points on average, at most 24
#: crib +3.74, pegging +2.88, wins 71.1 %


# %% parse_hand

from cardlab import CardlabError
from cardlab.engine.cards import cards_text
from cardlab.games.cribbage.solvers.advice import parse_hand

print(cards_text(parse_hand("5h, 5d, 6s, jc, 4h, kd")))
try:
    parse_hand("5H 5D 6S")
except CardlabError as error:
    print(error)

#: 4H 5D 5H 6S JC KD
#: the hand has 3 cards; give six, such as 5H 5D 6S JC 4H KD


# %% parse_score

from cardlab.engine.cards import cards_text
from cardlab.games.cribbage.solvers.advice import advise, parse_hand, parse_score

score = parse_score("115-118")  # one's own first
print(score)
advice = advise(parse_hand("5H 5D 6S JC 4H KD"), dealer=False, score=score)
print("ranked by chances to win:", advice.by_wins)  # near the end of a game
print("discard", cards_text(advice.choices[0].laid))

#: (115, 118)
#: ranked by chances to win: True
#: discard 4H 6S
