# %% TabularQ

import numpy as np

from cardlab import Table, play_game
from cardlab.games.crazy_eights.agents.tabular_q import TabularQ

agent = TabularQ()  # the shipped table; TabularQ("runs/mine/tabular_q.npz") plays your own
turn = Table("crazy_eights", seed=36).turn()
print(turn.game.action_text(agent.act(turn, np.random.default_rng(1))))
print(play_game("crazy_eights", [agent, "random"], seed=36).result)

#: KH
#: returns=[1.0, -1.0] points=[34.0, 0.0]


# %% best_choice

import numpy as np

from cardlab.games.crazy_eights.agents.tabular_q import best_choice

q = np.zeros((40_500, 5))  # clubs, diamonds, hearts, spades, an eight
q[7] = 0.9, 0.2, 0.4, 0.1, 0.3
print(best_choice(q, 7, 0b11111))  # all are possible
print(best_choice(q, 7, 0b11010))  # no clubs, no hearts

#: 0
#: 4


# %% load_table

import numpy as np

from cardlab.games.crazy_eights.agents.tabular_q import TabularQ, load_table

np.savez("mine.npz", q=np.zeros((40_500, 5)))
print(load_table("mine.npz").shape)
print(TabularQ("mine.npz", name="mine").name)

#: (40500, 5)
#: mine
