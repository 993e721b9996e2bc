"""Gymnasium environments: one seat learns, agents of this package sit in the others.

    import gymnasium, cardlab.interop.gymnasium
    env = gymnasium.make("cardlab/CrazyEights-v0", opponents="heuristic", seats=3)
    observation, info = env.reset(seed=7)  # the game that `cardlab` plays with seed 7
    env.unwrapped.action_masks()  # what is legal, for learners that mask

A reward is the game's return for the seat at its end, 0 before. An action that is not legal gives
the game away, as it does in the arena: the reward is -1 and `info["illegal_action"]` says why; with
`illegal="raise"` it raises `IllegalAction` instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
    """A game of cards in which one seat learns."""

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium reads it from the class
        "render_modes": ["ansi"],
        "render_fps": 1,
    }

    def __init__(
        self,
        game: str | Game,
        *,
        opponents: Opponents = "random",
        seat: int | None = None,
        illegal: str = "forfeit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Store the game and who else plays.

        `opponents` is an agent for all other seats, or one for each, in the order in which they
        follow; `seat` is the learner's, or None for one that the game's seed draws.
        """
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
        """Deal a game and let the others play up to the learner's first turn.

        `options={"deals": [...]}` gives deck orders by hand; anything else in it is ignored. Where
        the others end a game before the learner's first turn, the next one is dealt.

        `info["seed"]` is the seed of the game, for dealing it again. All hidden cards follow from
        it: nothing that learns or plays may be given it.
        """
        super().reset(seed=seed)
        deals = (options or {}).get("deals", ())
        game_seed = int(self.np_random.integers(1 << 62)) if seed is None else seed
        game_seed = self._begin(game_seed, deals)
        while self.table.over:
            if deals:
                raise CardlabError(
                    f"this deal of {self.game.name} is over before seat {self.seat} has a turn; "
                    "give another one"
                )
            game_seed = self._begin(following_seed(game_seed), deals)
        self.over = False
        return self._observe(), {"seat": self.seat, "seed": game_seed}

    def _begin(self, seed: int, deals: Any) -> int:
        """Deal, let the others play, and return the seed of what was dealt."""
        self._table, seed = new_table(self.game, seed, self.options, deals)
        self.seat = choose_seat(self.asked_seat, self.seats, seed)
        self._rngs = agent_generators(seed, self.seats)
        open_game(self.table, self._seated(), self._rngs)
        self._play_others()
        return seed

    def _seated(self) -> list[Any]:
        """Return the agents by their seats, with nothing in the learner's."""
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
            return self._observe(), -1.0, True, False, {"illegal_action": str(error)}
        self._play_others()
        if not self.table.over:
            return self._observe(), 0.0, False, False, {}
        self.over = True
        returns, points = self.table.state.returns(), self.table.state.points()
        info = {"returns": np.array(returns), "points": np.array(points)}
        return self._observe(), returns[self.seat], True, False, info

    def action_masks(self) -> Array:
        """Return which actions are legal now, all of them in a finished game."""
        legal = np.zeros(0, np.int64) if self.table.over else self.table.state.legal()
        mask: Array = mask_of(self.game.num_actions, legal, over=self.over).astype(np.bool_)
        return mask

    def _observe(self) -> Array:
        return observation_of(self.game).one(self.table.state.view(self.seat).array, self.seat)

    def render(self) -> str | None:
        """Return what the learner's seat sees, as text."""
        return None if self.render_mode is None else str(self.table.state.view(self.seat))


def register() -> None:
    """Tell Gymnasium about our games, unless it knows them already; the import does it."""
    for game, name in IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="cardlab.interop.gymnasium:CardEnv",
                vector_entry_point="cardlab.interop.vector:CardVectorEnv",
                kwargs={"game": game},
            )


register()
