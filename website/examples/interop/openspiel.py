# %% load, CardGame, CardState (needs pyspiel)

import numpy as np

from cardlab.interop.openspiel import CardGame, CardState, load

game: CardGame = load("crazy_eights", options={"seats": 3}, seed=7)
state: CardState = game.new_initial_state()
rng = np.random.default_rng(1)
while not state.is_terminal():
    if state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choice(outcomes, p=chances))
    else:
        state.apply_action(rng.choice(state.legal_actions()))
print(game.num_players(), "players, returns", state.returns())

#: 3 players, returns [-0.5, 1.0, -0.5]
