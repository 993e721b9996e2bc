# %% CardVectorEnv (needs gymnasium)

import numpy as np

from cardlab.interop.vector import CardVectorEnv

envs = CardVectorEnv("crazy_eights", 256, opponents="heuristic")
observations, info = envs.reset(seed=7)
rewards = finished = 0
for _ in range(50):
    actions = envs.action_masks().argmax(axis=1)  # the first legal action of each row
    observations, won, terminated, truncated, info = envs.step(actions)
    rewards, finished = rewards + won.sum(), finished + terminated.sum()
print(observations.shape, finished, "games, mean reward", np.round(rewards / finished, 2))

#: (256, 339) 1034 games, mean reward -0.14
