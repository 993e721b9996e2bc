"""Gymnasium environments: one seat learns, agents play the other seats.

    import gymnasium, cardlab.interop.gymnasium
    env = gymnasium.make("cardlab/CrazyEights-v0", opponents="heuristic", options={"seats": 3})
    observation, info = env.reset(seed=7)  # the game that `cardlab` plays with seed 7
    env.action_space.sample(info["action_mask"])  # a random legal action

Every `info` has `action_mask`, an array of int8 with 1 for each legal action. `action_masks()`
returns the same as bool, as sb3-contrib asks for it; behind a wrapper of Gymnasium it is
`env.unwrapped.action_masks()`. In a finished game every entry is 1.

A reward is the game's return for the seat at its end, 0 before. An action that is not legal gives
the game away, as in the arena: the reward is -1 and `info["illegal_action"]` says why; with
`illegal="raise"` it raises `IllegalAction` instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardlab.engine.arguments import options_in_a_dict
from cardlab.engine.errors import CardlabError, IllegalAction, require
from cardlab.engine.game import Array, Game
from cardlab.engine.observation import observation_of
from cardlab.engine.play import Table, ask, close_game, open_game
from cardlab.engine.registry import our_games
from cardlab.interop.seats import (
    Opponents,
    agent_generators,
    check_choice,
    choose_seat,
    dealt,
    following_seed,
    mask_of,
    new_table,
    read_action,
    seat_learner,
)

try:
    import gymnasium
    from gymnasium import spaces
except ImportError:
    require("cardlab.interop.gymnasium", "interop", "gymnasium")
    raise

__all__ = ["IDS", "CardEnv", "register"]

ILLEGAL = ("forfeit", "raise")
IDS = {name: f"cardlab/{name.title().replace('_', '')}-v0" for name in our_games()}


class CardEnv(gymnasium.Env[Any, Any]):
    """A card game in which one seat learns.

    `opponents` is an agent for all other seats, or a list with one for each, in the order in which
    they follow the learner; `seat` is the learner's, or None for one that depends on the game's
    seed. An illegal action gives the game away, or raises with `illegal="raise"`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium reads it from the class
        "render_modes": ["ansi"],
        "render_fps": 1,
    }

    @options_in_a_dict
    def __init__(
        self,
        game: str | Game,
        *,
        opponents: Opponents = "random",
        seat: int | None = None,
        illegal: str = "forfeit",
        render_mode: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Take a game, its options and the opponents; `reset` deals."""
        check_choice("illegal", illegal, ILLEGAL)
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        sitting = seat_learner(game, opponents, seat, options)
        self.game, self.options, self.seats, self.opponents = sitting
        self.asked_seat = seat
        self.illegal = illegal
        self.render_mode = render_mode
        encoder = observation_of(self.game)
        self.observation_space = spaces.Box(np.zeros(encoder.size, np.float32), encoder.high)
        self.action_space = spaces.Discrete(self.game.num_actions)
        self.seat = 0
        self.over = True
        self._table: Table | None = None

    @property
    def table(self) -> Table:
        """The game in progress, after the first reset."""
        return dealt(self._table, self.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Deal a game and let the others play until the learner's first turn.

        `options={"deals": [...]}` gives deck orders; its other entries are ignored. If the others
        end a game before the learner's first turn, the next game is dealt.

        `info["seed"]` is the seed of the game, to deal it again. All hidden cards follow from the
        seed: do not give it to anything that learns or plays.
        """
        super().reset(seed=seed)
        deals = (options or {}).get("deals", ())
        game_seed = int(self.np_random.integers(1 << 62)) if seed is None else seed
        game_seed = self._begin(game_seed, deals)
        while self.table.over:
            if deals:
                raise CardlabError(
                    f"this deal of {self.game.name} is over before seat {self.seat} has a turn; "
                    "give another deal"
                )
            game_seed = self._begin(following_seed(game_seed), deals)
        self.over = False
        return self._observe(), self._info(seat=self.seat, seed=game_seed)

    def _begin(self, seed: int, deals: Any) -> int:
        """Deal, let the others play, and return the seed of the game."""
        self._table, seed = new_table(self.game, seed, self.options, deals)
        self.seat = choose_seat(self.asked_seat, self.seats, seed)
        self._rngs = agent_generators(seed, self.seats)
        open_game(self.table, self._seated(), self._rngs)
        self._play_others()
        return seed

    def _seated(self) -> list[Any]:
        """Return the agents by seat, with None in the learner's seat."""
        agents: list[Any] = [None] * self.seats
        for place, agent in enumerate(self.opponents):
            agents[(self.seat + 1 + place) % self.seats] = agent
        return agents

    def _play_others(self) -> None:
        agents = self._seated()
        while not self.table.over and self.table.mover != self.seat:
            mover = self.table.mover
            self.table.act(ask(agents[mover], self.table.state, self._rngs[mover]))
        if self.table.over:
            close_game(self.table, agents)

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Take an action for the learner's seat and let the others answer."""
        table = self.table
        if self.over:
            raise CardlabError(f"this game of {self.game.name} is over; call reset first")
        try:
            table.act(read_action(action, self.game))
        except IllegalAction as error:
            if self.illegal == "raise":
                raise
            self.over = True
            return self._observe(), -1.0, True, False, self._info(illegal_action=str(error))
        self._play_others()
        if not self.table.over:
            return self._observe(), 0.0, False, False, self._info()
        self.over = True
        returns, points = self.table.state.returns(), self.table.state.points()
        info = self._info(returns=np.array(returns), points=np.array(points))
        return self._observe(), returns[self.seat], True, False, info

    def action_masks(self) -> Array:
        """Return which actions are legal now, as bool; in a finished game all are True."""
        mask: Array = self._mask().astype(np.bool_)
        return mask

    def _mask(self) -> Array:
        legal = np.zeros(0, np.int64) if self.table.over else self.table.state.legal()
        return mask_of(self.game.num_actions, legal, over=self.over)

    def _info(self, **more: Any) -> dict[str, Any]:
        return {"action_mask": self._mask(), **more}

    def _observe(self) -> Array:
        return observation_of(self.game).one(self.table.state.view(self.seat).array, self.seat)

    def render(self) -> str | None:
        """Return the view of the learner's seat as text, or None without `render_mode`."""
        return None if self.render_mode is None else str(self.table.state.view(self.seat))


def register() -> None:
    """Register all games with Gymnasium unless they are; importing this module does it.

    `gymnasium.make` then returns the environment itself, without wrappers, which would hide
    `action_masks`: it checks calls and their order by itself.
    """
    for game, name in IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="cardlab.interop.gymnasium:CardEnv",
                vector_entry_point="cardlab.interop.vector:CardVectorEnv",
                kwargs={"game": game},
                order_enforce=False,
                disable_env_checker=True,
            )


register()
