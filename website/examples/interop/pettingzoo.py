# %% env, CardEnv (needs pettingzoo)

from cardlab.interop.pettingzoo import CardEnv, env

games: CardEnv = env("crazy_eights", options={"seats": 3})
games.reset(seed=7)
for _ in games.agent_iter():
    observation, reward, terminated, truncated, info = games.last()
    action = None
    if not (terminated or truncated):
        action = int(observation["action_mask"].argmax())  # the first legal action
    games.step(action)
print(games.table.state.returns(), "after", len(games.table.actions), "actions")

#: [1.0, -0.5, -0.5] after 13 actions
