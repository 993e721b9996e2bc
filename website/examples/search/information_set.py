# %% search

import numpy as np

from cardlab import Table
from cardlab.search.information_set import search

turn = Table("crazy_eights", seed=18, options={"seats": 3}).turn()
visits, means = search(turn, 2000, np.random.default_rng(1))
for text, count, mean in zip(turn.texts, visits, means, strict=True):
    print(f"{text}: {count} visits, mean return {mean:+.2f}")

#: 2S: 181 visits, mean return -0.05
#: 3D: 368 visits, mean return +0.00
#: 7D: 1036 visits, mean return +0.03
#: QD: 415 visits, mean return -0.00
