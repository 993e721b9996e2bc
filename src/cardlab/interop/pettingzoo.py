"""PettingZoo environments: every seat of a game learns.

    env = cardlab.interop.pettingzoo.env("uno", options={"seats": 4})
    env.reset(seed=7)  # the game that `cardlab` plays with seed 7
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        ...

Agents are `seat_0`, `seat_1`, ... A reward is the game's return at its end, 0 before. An action
that is not legal raises `IllegalAction`; wrap the environment in PettingZoo's
`TerminateIllegalWrapper` if it shall lose the game instead.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from cardlab.engine.arguments import options_in_a_dict, shorten
from cardlab.engine.errors import CardlabError, require
from cardlab.engine.game import Game
from cardlab.engine.observation import observation_of
from cardlab.engine.play import Table
from cardlab.engine.registry import our_games
from cardlab.interop.seats import check_choice, dealt, mask_of, new_table, read_action, read_game

try:
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from pettingzoo import AECEnv
except ImportError:
    require("cardlab.interop.pettingzoo", "interop", "pettingzoo", "gymnasium")
    raise

__all__ = ["CardEnv", "env"]

MASKS = ("observation", "info")


class CardEnv(AECEnv):
    """A card game as an AEC environment with one agent for each seat.

    `mask` says where the legal actions are: with "observation" the observation is a dictionary of
    `observation` and `action_mask`; with "info" the observation is an array and the mask is
    `info["action_mask"]`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo reads it from the class
        "render_modes": ["ansi"],
        "is_parallelizable": False,
        "render_fps": 1,
    }

    @options_in_a_dict
    def __init__(
        self,
        game: str | Game,
        *,
        mask: str = "observation",
        render_mode: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Take a game and its options; `reset` deals."""
        super().__init__()
        check_choice("mask", mask, MASKS)
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.game, self.options, seats = read_game(game, options)
        if seats < 2:
            raise CardlabError(
                f"{self.game.name} has one seat, and PettingZoo needs two or more; use "
                "cardlab.interop.gymnasium"
            )
        self.mask = mask
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "name": f"cardlab_{self.game.name}_v0"}
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        self.agents: list[str] = []
        self._spaces = {agent: self._make_space() for agent in self.possible_agents}
        self._actions = {
            agent: spaces.Discrete(self.game.num_actions) for agent in self.possible_agents
        }
        self._random: np.random.Generator | None = None
        self._table: Table | None = None

    @property
    def table(self) -> Table:
        """The game in progress, after the first reset."""
        return dealt(self._table, self.game)

    def _make_space(self) -> Any:
        encoder = observation_of(self.game)
        plain = spaces.Box(np.zeros(encoder.size, np.float32), encoder.high)
        if self.mask == "info":
            return plain
        legal = spaces.Box(0, 1, (self.game.num_actions,), np.int8)
        return spaces.Dict({"observation": plain, "action_mask": legal})

    def observation_space(self, agent: str) -> Any:
        """Return the space of a seat's observations."""
        return self._spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of a seat's actions: all action ids of the game."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal the game of a seed; without one, a game of the generator that the last seed began.

        `options={"deals": [...]}` gives deck orders; its other entries are ignored.
        """
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(seed)
        if seed is None:
            seed = int(self._random.integers(1 << 62))
        deals = (options or {}).get("deals", ())
        self._table, _ = new_table(self.game, seed, self.options, deals)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._settle(first=self.agents[0])

    def step(self, action: int | None) -> None:
        """Take an action for the seat to move, or None for a seat whose game is over."""
        self._check_playing()
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.table.act(read_action(action, self.game))
        self._cumulative_rewards[agent] = 0.0
        if self.table.over:
            self.rewards = dict(zip(self.agents, self.table.state.returns(), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._settle(first=agent)

    def last(self, observe: bool = True) -> Any:
        """Return observation, reward, terminated, truncated and info of the seat to move."""
        self._check_playing()
        return super().last(observe)

    def _check_playing(self) -> None:
        if not self.agents:
            raise CardlabError(f"no game of {self.game.name} is in progress; call reset first")

    def _settle(self, first: str) -> None:
        over = self.table.over
        self.agent_selection = first if over else self.possible_agents[self.table.mover]
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        if self.mask == "info":
            for agent in self.agents:
                self.infos[agent]["action_mask"] = self._legal(agent)

    def _legal(self, agent: str) -> Any:
        mine = self.table.mover == self._seat_of(agent)
        legal = self.table.state.legal() if mine else np.zeros(0, dtype=np.int64)
        return mask_of(self.game.num_actions, legal, over=self.table.over)

    def observe(self, agent: str) -> Any:
        """Return the observation of a seat, whether it is to move or not."""
        seat = self._seat_of(agent)
        seen = observation_of(self.game).one(self.table.state.view(seat).array, seat)
        if self.mask == "info":
            return seen
        return {"observation": seen, "action_mask": self._legal(agent)}

    def _seat_of(self, agent: str) -> int:
        if agent not in self.possible_agents:
            raise CardlabError(
                f"{self.game.name} has no agent {shorten(agent)}; its agents are "
                f"{', '.join(self.possible_agents)}"
            )
        return self.possible_agents.index(agent)

    def render(self) -> str | None:
        """Return the view of the seat to move as text, or None without `render_mode`."""
        if self.render_mode is None:
            return None
        state = self.table.state
        return str(state.view(self._seat_of(self.agent_selection)))

    def close(self) -> None:
        """Do nothing: there is no window."""

    def __str__(self) -> str:
        return str(self.metadata["name"])


@options_in_a_dict
def env(
    game: str | Game,
    *,
    mask: str = "observation",
    render_mode: str | None = None,
    options: dict[str, Any] | None = None,
) -> CardEnv:
    """Return the environment of a game, with options of its rules in a dict."""
    return CardEnv(game, mask=mask, render_mode=render_mode, options=options)


def __getattr__(name: str) -> Callable[..., CardEnv]:
    """Return the maker of a game's environment: `pettingzoo.NAME(options={...})`."""
    if name in our_games():
        return functools.partial(CardEnv, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
