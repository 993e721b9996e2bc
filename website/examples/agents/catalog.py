# %% Strength, strength_of

from cardlab.agents.catalog import agents_for, strength_of

for entry in agents_for("crazy_eights"):
    found = strength_of(entry, "crazy_eights")  # None if nobody has measured it
    if found and entry.name in ("random", "heuristic", "guided"):
        print(f"{entry.usage:12} score {found.score_text:12} rating {found.rating_text}")

#: random       score 40.4 ± 0.6   rating -93 [-98, -88]
#: heuristic    score 50.0         rating 0
#: guided:2000  score 60.1 ± 2.1   rating +81 [+64, +98]


# %% adviser_of

import numpy as np

from cardlab import Table, find_agent
from cardlab.agents.catalog import adviser_of

name = adviser_of("crazy_eights")
print(name)
turn = Table("crazy_eights", seed=36).turn()
values = find_agent(name, "crazy_eights").values(turn, np.random.default_rng(1))
print("best:", turn.texts[values.argmax()])

#: guided:2000
#: best: 2S


# %% agents_for

from cardlab.agents.catalog import agents_for

for entry in agents_for("birds_of_a_feather"):
    print(f"{entry.usage:22} {entry.summary}")

#: random                 takes any legal action
#: heuristic              follows a few simple rules of the game
#: solver                 plays a solution wherever there is one
#: search_dfs             searches depth first in the reference order
#: search_lr              searches depth first, children sorted by one model
#: search_lr_dfs          searches depth first, four models sort down to nine cards
#: search_evolved         searches depth first, moves sorted by evolved weights
#: monte_carlo:1000       tries every action in sampled worlds and plays each out at random
#: information_set:1000   information-set MCTS: one tree over sampled worlds
#: monte_carlo_open:1000  plays every action out at random from the true state
#: uct_open:1000          tree search on the true state: sees all cards


# %% find_agent

import numpy as np

from cardlab import CardlabError, Table, find_agent

agent = find_agent("monte_carlo:playouts=500", "crazy_eights")
turn = Table("crazy_eights", seed=36).turn()
print(agent.name, "plays", turn.game.action_text(agent.act(turn, np.random.default_rng(1))))

try:
    find_agent("heurstic", "crazy_eights")
except CardlabError as error:
    print(error)

#: monte_carlo:playouts=500 plays AS
#: unknown agent 'heurstic'; did you mean 'heuristic'?


# %% find_agents

from cardlab.agents.catalog import find_agents


class First:
    name = "first"

    def act(self, turn, rng):
        return int(turn.legal[0])


for agent in find_agents(["heuristic", "guided:100", First()], "crazy_eights"):
    print(agent.name, "is a", type(agent).__name__)

#: heuristic is a Heuristic
#: guided:100 is a Guided
#: first is a First
