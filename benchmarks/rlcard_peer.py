"""Speed of random play of RLCard's Uno on one core: `env.run`, and its bare game loop."""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import rlcard  # type: ignore[import-not-found,import-untyped,unused-ignore]
from rlcard.agents import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    RandomAgent,
)
from rlcard.games.uno import Game  # type: ignore[import-not-found,import-untyped,unused-ignore]

from speed import Speed

SEED = 20_240_229
GAMES_PER_CLOCK_READING = 16


def make_environment(seats: int) -> Any:
    """Return RLCard's environment with random agents on so many seats.

    Its own option `game_num_players` is ignored by Uno, so that the number is set from outside.
    """
    np.random.seed(SEED)  # noqa: NPY002 - its random agents draw from the global generator
    environment = rlcard.make("uno", {"seed": SEED})
    environment.game.num_players = environment.num_players = seats
    environment.set_agents([RandomAgent(num_actions=61) for _ in range(seats)])
    return environment


def env_run_loop(seats: int, seconds: float) -> Speed:
    """Time `env.run`, the loop that RLCard's users call."""
    environment = make_environment(seats)
    clock = time.process_time
    games = 0
    elapsed = 0.0
    start = clock()
    while elapsed < seconds:
        for _ in range(GAMES_PER_CLOCK_READING):
            environment.run()
        games += GAMES_PER_CLOCK_READING
        elapsed = clock() - start
    return Speed("RLCard env.run", games, environment.timestep, elapsed)


def bare_loop(seats: int, seconds: float) -> Speed:
    """Time RLCard's game alone: no observations, actions drawn from its list of legal ones."""
    game = Game(num_players=seats)
    game.np_random = np.random.RandomState(SEED)
    rand = random.Random(SEED).random
    clock = time.process_time
    games = decisions = 0
    elapsed = 0.0
    start = clock()
    while elapsed < seconds:
        for _ in range(GAMES_PER_CLOCK_READING):
            state, _ = game.init_game()
            while not game.is_over():
                actions = state["legal_actions"]
                state, _ = game.step(actions[int(rand() * len(actions))])
                decisions += 1
        games += GAMES_PER_CLOCK_READING
        elapsed = clock() - start
    return Speed("RLCard bare loop", games, decisions, elapsed)


if __name__ == "__main__":
    for number in (2, 3, 4, 5):
        print(f"{number} seats")
        for loop in (env_run_loop, bare_loop):
            best = max((loop(number, 1.0) for _ in range(3)), key=lambda run: run.games_per_second)
            print(
                f"  {best.name}: {best.games_per_second:,.0f} games/s, "
                f"{best.decisions_per_second:,.0f} decisions/s, "
                f"{best.decisions / best.games:.2f} decisions per game"
            )
