"""Many games at once for Stable-Baselines3 and sb3-contrib, on `Batch`.

    MaskablePPO("MlpPolicy", CardVecEnv("crazy_eights", 256, opponents="heuristic")).learn(10**6)

`PolicyAgent` turns the learned model into an agent for matches.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from cardlab.engine.arguments import options_in_a_dict
from cardlab.engine.errors import require
from cardlab.engine.game import Array, Game, Turn, Turns
from cardlab.engine.observation import observation_of
from cardlab.interop.seats import Opponents
from cardlab.interop.vector import CardVectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    require("cardlab.interop.stable_baselines3", "examples", "stable_baselines3")
    raise

__all__ = ["CardVecEnv", "PolicyAgent"]


class CardVecEnv(VecEnv):
    """Many card games as a vectorised environment of Stable-Baselines3."""

    @options_in_a_dict
    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        *,
        opponents: Opponents = "random",
        seat: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Take a game, its options and the opponents, as `CardVectorEnv` does."""
        self.games = CardVectorEnv(game, num_envs, opponents=opponents, seat=seat, options=options)
        num_envs = self.games.num_envs
        self._actions: Array = np.zeros(num_envs, dtype=np.int64)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        self._began = time.perf_counter()
        super().__init__(
            num_envs, self.games.single_observation_space, self.games.single_action_space
        )

    def reset(self) -> Array:
        """Deal a game in every row."""
        observations, _ = self.games.reset(seed=self._seeds[0])
        self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: Array) -> None:
        """Store the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Take the stored actions; return observations, rewards, which games ended, and infos."""
        observations, rewards, over, _, info = self.games.step(self._actions)
        self._lengths += 1
        seconds = round(time.perf_counter() - self._began, 6)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(over).tolist():
            infos[row] = {
                "terminal_observation": info["final_obs"][row],
                "TimeLimit.truncated": False,
                "episode": {"r": float(rewards[row]), "l": int(self._lengths[row]), "t": seconds},
            }
        self._lengths[over] = 0
        return observations, rewards.astype(np.float32), over, infos

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the games, the same for every row."""
        return [getattr(self.games, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise AttributeError: rows have no attributes of their own."""
        raise AttributeError(f"rows of a batch have no attribute {attr_name!r} of their own")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **more: Any) -> Any:
        """Return the result of a method of the games for every row."""
        found = getattr(self.games, method_name)(*args, **more)
        return found[self._rows(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for every row: nothing is wrapped."""
        return [False] * len(self._rows(indices))

    def _rows(self, indices: Any) -> Array:
        rows: Array = np.arange(self.num_envs)
        return rows if indices is None else np.atleast_1d(rows[indices])


class PolicyAgent:
    """An agent that takes the most probable legal action of a learned policy."""

    def __init__(self, model: Any, name: str = "learned") -> None:
        """Take a model with `predict(observations, action_masks=..., deterministic=True)`."""
        self.model = model
        self.name = name

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the most probable action."""
        mask = np.zeros((1, turn.game.num_actions), dtype=np.bool_)
        mask[0, turn.legal] = True
        seats = np.array([turn.seat], dtype=np.int64)
        return int(self._choose(turn.game, turn.view.array, seats, mask)[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the most probable action of every turn."""
        return self._choose(turns.game, turns.views, turns.seats, turns.mask)

    def _choose(self, game: Game, views: Array, seats: Array, mask: Array) -> Array:
        seen = observation_of(game).rows(views, seats)
        actions, _ = self.model.predict(seen, action_masks=mask, deterministic=True)
        return np.asarray(actions, dtype=np.int64)
