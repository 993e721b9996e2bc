"""Many games at once for Gymnasium, on `Batch`: one seat of each game learns.

    envs = gymnasium.make_vec("cardlab/CrazyEights-v0", num_envs=256, opponents="heuristic",
                              vectorization_mode="vector_entry_point", options={"seats": 3})

Row i starts with the game of seed `seed + i`; the seeds of its next games follow from that, as in a
batch. `batch.seeds` lists the current seeds: the environment of one game plays the same game after
`reset(seed=...)` with that seed. A finished game is replaced in the same step: `info["final_obs"]`
then holds the last observation, `info["final_info"]` the returns and points, and the observation is
the first of the new game. `info["action_mask"]` has one row of 0 and 1 (int8) for each game. All
actions are checked before the first is taken; one that is not legal raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import options_in_a_dict, read_count
from cardlab.engine.batch import Batch, row_bytes
from cardlab.engine.errors import CardlabError, require
from cardlab.engine.game import (
    OVER,
    ActsInBatches,
    Agent,
    Array,
    FollowsGames,
    Game,
    OpenAgent,
    State,
)
from cardlab.engine.memory import require_memory
from cardlab.engine.observation import observation_of
from cardlab.engine.play import ask
from cardlab.interop.seats import (
    Opponents,
    agent_generators,
    check_choice,
    choose_seat,
    dealt,
    following_seed,
    seat_learner,
)

try:
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    require("cardlab.interop.vector", "interop", "gymnasium")
    raise

__all__ = ["CardVectorEnv"]

ONE = np.int8(1)
GENERATOR_BYTES = 1000  # of the random generator of one seat, roughly


class CardVectorEnv(VectorEnv[Any, Any, Any]):
    """Many card games, in each of which one seat learns; see `CardEnv` for the arguments."""

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium reads it from the class
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    @options_in_a_dict
    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        *,
        opponents: Opponents = "random",
        seat: int | None = None,
        render_mode: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Take a game, its options and the opponents; `reset` deals."""
        check_choice("render_mode", render_mode, (None,))
        num_envs = read_count(num_envs, "num_envs")
        sitting = seat_learner(game, opponents, seat, options)
        self.game, self.options, self.seats, self.opponents = sitting
        self.asked_seat = seat
        for agent in self.opponents:
            if isinstance(agent, FollowsGames):
                raise CardlabError(
                    f"opponent {agent.name!r} follows one game at a time (it has begin and end); "
                    "use CardEnv for it, or name an agent without memory"
                )
        self.num_envs = num_envs
        encoder = observation_of(self.game)
        row = row_bytes(self.game, self.seats) + GENERATOR_BYTES * self.seats
        row += 3 * 4 * encoder.size  # an observation, and the bounds of its space
        require_memory(num_envs * row, f"{num_envs:,} games of {self.game.name}", row)
        self.single_observation_space = spaces.Box(np.zeros(encoder.size, np.float32), encoder.high)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.learners = np.zeros(num_envs, dtype=np.int64)
        self._rngs: list[list[np.random.Generator]] = [[] for _ in range(num_envs)]
        self._rows = np.arange(num_envs)
        self._batch: Batch | None = None

    @property
    def batch(self) -> Batch:
        """The games, after the first reset."""
        return dealt(self._batch, self.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Deal a game in every row and let the others play until the learner's first turn."""
        if options:
            raise CardlabError(
                f"reset of many games of {self.game.name} takes no options, got "
                f"{', '.join(map(str, options))}; give a seed only, or use CardEnv"
            )
        if seed is not None and seeding.read_seed(seed) + self.num_envs > 1 << 63:
            raise CardlabError(
                f"seed {seed} is too large: row i of {self.num_envs} games has seed + i; give a "
                f"seed below 2**63 - {self.num_envs - 1}"
            )
        super().reset(seed=seed)
        first = int(self.np_random.integers(1 << 62)) if seed is None else seed
        seeds = first + np.arange(self.num_envs, dtype=np.int64)
        self._batch = Batch(self.game, self.num_envs, seeds=seeds, options=self.options)
        self._seat(self._rows)
        self._renew(self._play_others(self._rows))
        return self._observe(self._rows), self._info()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Take an action for the learner of every row and let the others answer."""
        batch = self.batch
        batch.step(np.asarray(actions))
        over = self._play_others(self._rows)
        terminated = np.zeros(self.num_envs, dtype=np.bool_)
        terminated[over] = True
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        info: dict[str, Any] = {}
        if len(over):
            rewards[over] = batch.returns[over, self.learners[over]]
            last = self._observe(over)
            finals = np.full(self.num_envs, None, dtype=object)
            for place, row in enumerate(over):
                finals[row] = last[place]
            info = {
                "final_obs": finals,
                "_final_obs": terminated.copy(),
                "final_info": {
                    "action_mask": np.repeat(terminated[:, None], batch.mask.shape[1], 1) * ONE,
                    "_action_mask": terminated.copy(),
                    "returns": np.where(terminated[:, None], batch.returns, 0),
                    "_returns": terminated.copy(),
                    "points": np.where(terminated[:, None], batch.points, 0),
                    "_points": terminated.copy(),
                },
                "_final_info": terminated.copy(),
            }
            self._renew(over)
        info |= self._info()
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        return self._observe(self._rows), rewards, terminated, truncated, info

    def action_masks(self) -> Array:
        """Return which actions are legal for the learner of every row, as bool."""
        mask: Array = self.batch.mask.copy()
        return mask

    def _info(self) -> dict[str, Any]:
        all_rows = np.ones(self.num_envs, dtype=np.bool_)
        return {
            "action_mask": self.batch.mask * ONE,
            "_action_mask": all_rows,
            "seat": self.learners.copy(),
            "_seat": all_rows.copy(),
        }

    def _renew(self, over: Array) -> None:
        """Deal a new game where one is over, until the learner of every row has a turn."""
        while len(over):
            seeds = [following_seed(seed) for seed in self.batch.seeds[over].tolist()]
            self.batch.restart(over, np.array(seeds, dtype=np.int64))
            self._seat(over)
            over = self._play_others(over)

    def _seat(self, rows: Array) -> None:
        for row, seed in zip(rows.tolist(), self.batch.seeds[rows].tolist(), strict=True):
            self.learners[row] = choose_seat(self.asked_seat, self.seats, seed)
            self._rngs[row] = agent_generators(seed, self.seats)

    def _play_others(self, rows: Array) -> Array:
        """Let the others move until all these rows wait for their learner; return those over."""
        batch = self.batch
        while True:
            waiting = rows[(batch.mover[rows] != OVER) & (batch.mover[rows] != self.learners[rows])]
            if not len(waiting):
                over: Array = rows[batch.mover[rows] == OVER]
                return over
            actions = np.zeros(self.num_envs, dtype=np.int64)
            places = (batch.mover[waiting] - self.learners[waiting] - 1) % self.seats
            for place, agent in enumerate(self.opponents):
                asked = waiting[places == place]
                if len(asked):
                    actions[asked] = self._ask(agent, asked)
            batch.step_some(waiting, actions)

    def _ask(self, agent: Agent | OpenAgent, rows: Array) -> Array:
        batch = self.batch
        seats = batch.mover[rows].tolist()
        rngs = [self._rngs[row][seat] for row, seat in zip(rows.tolist(), seats, strict=True)]
        if isinstance(agent, ActsInBatches) and not isinstance(agent, OpenAgent):
            return agent.act_many(batch.turns(rows), rngs)
        states = (State(self.game, batch.states[[row]]) for row in rows)
        return np.array([ask(agent, state, rng) for state, rng in zip(states, rngs, strict=True)])

    def _observe(self, rows: Array) -> Array:
        seats = self.learners[rows]
        return observation_of(self.game).rows(self.batch.views(rows, seats), seats)
