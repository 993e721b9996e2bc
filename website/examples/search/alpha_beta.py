# %% evaluate, Utility

from cardlab import Table
from cardlab.engine.kernel import count_bits, kernel
from cardlab.search.alpha_beta import Utility, evaluate


@kernel
def fewer_cards(s, seat):
    """Return how many more cards the other seat holds."""
    return float(count_bits(s.hands[1 - seat]) - count_bits(s.hands[seat]))


utility: Utility = fewer_cards
table = Table("crazy_eights", seed=52, options={"hand_size": 3})
texts = table.turn().texts
print(dict(zip(texts, evaluate(table.state, 10).tolist(), strict=True)))  # it sees all cards
print(dict(zip(texts, evaluate(table.state, 4, utility=utility).tolist(), strict=True)))

#: {'8S=C': 0.0, '8S=D': 1.0, '8S=H': 0.0, '8S=S': -1.0}
#: {'8S=C': -5.0, '8S=D': 4.0, '8S=H': 0.0, '8S=S': -9.0}


# %% make_solver, Scratch

from cardlab import Table
from cardlab.search.alpha_beta import Scratch, make_solver

table = Table("crazy_eights", seed=53, options={"hand_size": 3})
solve = make_solver(table.game)
scratch = Scratch.of(table.game, depth=12)
scratch.stack[0] = table.state.array[0]
print("worth for seat 0:", solve(0, 12, -1.0, 1.0, scratch))

#: worth for seat 0: 1.0
