# %% Table

from cardlab import Table

table = Table("crazy_eights", seed=36)
print(table.state)
while not table.over:
    turn = table.turn()
    action = max(turn.legal)  # choose one yourself
    table.act(action)
    if len(table.actions) <= 3:
        taken = turn.game.action_text(action)
        print("seat", turn.seat, "may take", *turn.texts, "and takes", taken)
print(table.state.returns(), table.state.points())

#: ply 0: top KS, suit S, stock 41
#:   seat 0* AS 2S 3D 8S KH
#:   seat 1  2H 5H 6H 7H TS
#: seat 0 may take AS 2S KH 8S=C 8S=D 8S=H 8S=S and takes 8S=S
#: seat 1 may take TS and takes TS
#: seat 0 may take AS 2S and takes 2S
#: [-1.0, 1.0] [0.0, 15.0]


# %% agent_errors

from cardlab import CardlabError, Table
from cardlab.engine.play import agent_errors


def act(turn, rng):
    return turn.legal[99]


table = Table("crazy_eights", seed=1)
try:
    with agent_errors(act, "mine", lambda: f"seat {table.mover}, ply {len(table.actions)}"):
        table.act(act(table.turn(), None))
except CardlabError as error:
    print(error)

#: agent 'mine' failed as seat 0, ply 0; ..., line 6: IndexError: index 99 is out of bounds ...


# %% ask

import numpy as np

from cardlab import Table, find_agent
from cardlab.engine.play import ask

table = Table("crazy_eights", seed=36)
agent, rng = find_agent("heuristic", "crazy_eights"), np.random.default_rng(1)
action = ask(agent, table.state, rng)
print(table.game.action_text(action))
table.act(action)

#: 2S


# %% ask_values

import numpy as np

from cardlab import Table, find_agent
from cardlab.engine.play import ask_values

turn = Table("crazy_eights", seed=36).turn()
adviser = find_agent("monte_carlo:4000", "crazy_eights")
values = ask_values(adviser, turn, np.random.default_rng(1))
for text, value in zip(turn.texts, values):
    print(f"{text:5} {value:+.2f}")

#: AS    +0.04
#: 2S    +0.01
#: KH    +0.10
#: 8S=C  +0.02
#: 8S=D  +0.02
#: 8S=H  +0.04
#: 8S=S  +0.07


# %% check_action

from cardlab import IllegalAction, Table
from cardlab.engine.play import check_action

state = Table("crazy_eights", seed=36).state
print(check_action(state, int(state.legal()[0])))
try:
    check_action(state, 0, ", ply 0")
except IllegalAction as error:
    print(error)

#: 3
#: crazy_eights, ply 0: seat 0 cannot take action 0 (AC); legal: AS (3), 2S (7), KH (46), 8S=C (60), 8S=D (61), 8S=H (62), 8S=S (63)


# %% close_game, open_game

import numpy as np

from cardlab import Table, find_agent
from cardlab.engine.play import ask, close_game, open_game


class Counter:
    name = "counter"
    won = games = 0

    def begin(self, game, options, seat, seats, rng):
        self.games += 1

    def act(self, turn, rng):
        return int(turn.legal[-1])

    def end(self, seat, returns, points):
        self.won += returns[seat] > 0


agents = [Counter(), find_agent("random", "crazy_eights")]
for seed in range(20):
    table = Table("crazy_eights", seed=seed)
    rngs = [np.random.default_rng([seed, seat]) for seat in range(2)]
    open_game(table, agents, rngs)
    while not table.over:
        table.act(ask(agents[table.mover], table.state, rngs[table.mover]))
    close_game(table, agents)
print(agents[0].won, "of", agents[0].games)

#: 11 of 20


# %% illegal_answer

from cardlab import Table
from cardlab.engine.play import illegal_answer

turn = Table("crazy_eights", seed=36).turn()
answer = 0  # of an agent that is asked without `ask`
if answer not in turn.legal:
    print(illegal_answer("mine", answer, f"seat {turn.seat}", turn.legal))

#: agent 'mine' answered 0 as seat 0; legal action ids: 3, 7, 46, 60, 61, 62, 63; return one of turn.legal as an int
