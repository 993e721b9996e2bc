# %% CardVecEnv, PolicyAgent (needs stable_baselines3, sb3_contrib)

import torch
from sb3_contrib import MaskablePPO

from cardlab.arena.match import Match, play_match
from cardlab.interop.stable_baselines3 import CardVecEnv, PolicyAgent

torch.set_num_threads(1)  # faster for small networks
games = CardVecEnv("crazy_eights", 16, opponents="heuristic")
model = MaskablePPO("MlpPolicy", games, n_steps=32, batch_size=128, n_epochs=1, seed=1)
model.learn(total_timesteps=512)  # a few millions to play well

agent = PolicyAgent(model, name="my_ppo")
result = play_match(Match.plan("crazy_eights", [agent, "random"], games=20))
print([one.agent for one in result.standings], result.games, "games")

#: ['my_ppo', 'random'] 20 games
