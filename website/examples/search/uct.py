# %% search

import numpy as np

from cardlab import Table
from cardlab.search.uct import search

table = Table("crazy_eights", seed=18)
visits, means = search(table.state, 2000, np.random.default_rng(1))  # it sees all cards
for text, count, mean in zip(table.turn().texts, visits, means, strict=True):
    print(f"{text}: {count} visits, mean return {mean:+.2f}")

two_trees = search(table.state, 2000, np.random.default_rng(1), trees=2, threads=2)
print(two_trees[0].sum(), "simulations in two trees")

#: 7S: 1173 visits, mean return +0.02
#: 8S=C: 156 visits, mean return -0.18
#: 8S=D: 216 visits, mean return -0.13
#: 8S=H: 194 visits, mean return -0.14
#: 8S=S: 261 visits, mean return -0.11
#: 2000 simulations in two trees
