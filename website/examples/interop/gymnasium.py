# %% CardEnv (needs gymnasium)

from cardlab.interop.gymnasium import CardEnv

env = CardEnv("crazy_eights", opponents="heuristic", seat=0)
observation, info = env.reset(seed=7)
over, decisions = False, 0
while not over:
    action = int(info["action_mask"].argmax())  # the first legal action
    observation, reward, over, truncated, info = env.step(action)
    decisions += 1
print("reward", reward, "after", decisions, "decisions;", len(observation), "numbers are seen")

#: reward -1.0 after 14 decisions; 339 numbers are seen


# %% register, IDS (needs gymnasium)

import gymnasium

from cardlab.interop.gymnasium import IDS, register

register()  # importing the module has done it already
print(IDS["crazy_eights"])

env = gymnasium.make(IDS["crazy_eights"], opponents="heuristic", options={"seats": 3})
observation, info = env.reset(seed=7)
print("seat", info["seat"], "learns; legal actions:", env.action_masks().nonzero()[0])

#: cardlab/CrazyEights-v0
#: seat 1 learns; legal actions: [44]
