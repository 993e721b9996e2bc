# %% evaluate

import numpy as np

from cardlab import Table
from cardlab.search.monte_carlo import evaluate

turn = Table("crazy_eights", seed=18).turn()
tried, means = evaluate(turn, 2000, np.random.default_rng(1))
for text, mean in zip(turn.texts, means, strict=True):
    print(f"{text}: {mean:+.2f}")

tried, means = evaluate(turn, 2000, np.random.default_rng(1), halving=True)
print("play-outs with halving:", tried)

#: 7S: +0.16
#: 8S=C: -0.02
#: 8S=D: +0.10
#: 8S=H: +0.01
#: 8S=S: +0.20
#: play-outs with halving: [3443  666 1777  666 3443]


# %% Plausibility

import numpy as np

from cardlab import Table
from cardlab.engine.kernel import kernel
from cardlab.search.monte_carlo import Plausibility, evaluate

EIGHTS = 0xF << 28


@kernel
def few_eights(s, seat):
    """Return 1 for a world in which the other seat has no eight, otherwise 1/4."""
    return 0.25 if s.hands[1 - seat] & EIGHTS else 1.0


plausibility: Plausibility = few_eights
turn = Table("crazy_eights", seed=18).turn()
_, means = evaluate(turn, 2000, np.random.default_rng(1), plausibility=plausibility)
print(dict(zip(turn.texts, means.round(2).tolist(), strict=True)))

#: {'7S': 0.18, '8S=C': 0.02, '8S=D': 0.14, '8S=H': 0.02, '8S=S': 0.23}


# %% evaluate_open

import numpy as np

from cardlab import Table
from cardlab.search.monte_carlo import evaluate_open

table = Table("crazy_eights", seed=18)
means = evaluate_open(table.state, 2000, np.random.default_rng(1))  # it sees all cards
print(dict(zip(table.turn().texts, means.round(2).tolist(), strict=True)))

#: {'7S': 0.05, '8S=C': 0.15, '8S=D': 0.13, '8S=H': 0.04, '8S=S': 0.14}


# %% spend

import numpy as np

from cardlab.search.monte_carlo import spend

CHANCES = np.array([0.2, 0.5, 0.45, 0.1])  # of winning after each of four actions


def play_block(chosen, count, start):
    """Play `count` games after each of some actions; return the number of wins."""
    return np.random.default_rng(start).binomial(count, CHANCES[chosen])


tried, sums = spend(4, 1000, np.random.default_rng(1), play_block, halving=True)
print(tried, "games, best action:", np.argmax(np.where(tried == tried.max(), sums, -np.inf)))

#: [ 500 1500 1500  500] games, best action: 1


# %% no_world

from cardlab import find_game
from cardlab.search.monte_carlo import no_world

try:
    raise no_world(find_game("uno"), 1)  # for a search whose `imagine` finds nothing
except Exception as error:
    print(type(error).__name__, "-", error)

#: CardlabError - uno: no world agrees with what seat 1 knows
