"""Speed of random play of OpenSpiel's Crazy Eights on one core."""

from __future__ import annotations

import functools
import random
import time

import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]

from speed import Speed

# OpenSpiel 2.0.2 registers these defaults: players=5, max_draw_cards=5, max_turns=100,
# use_special_cards=false, reshuffle=false; so with two players the aligned rules differ from
# them in max_draw_cards and max_turns only.
DEFAULT_RULES = "crazy_eights(players=2)"
ALIGNED_RULES = (
    "crazy_eights(players=2,max_draw_cards=52,max_turns=1000,"
    "use_special_cards=false,reshuffle=false)"
)

BOT_SEED = 1_000_003
PYTHON_SEED = 20_240_229
SAMPLE_GAMES = 20_000
GAMES_PER_CLOCK_READING = 32
MOST_PLAYERS_WITH_ONE_DECK = 5


def _random_bots(game: pyspiel.Game) -> list[pyspiel.Bot]:
    """Return one freshly seeded uniform random bot for each seat."""
    make_bot = pyspiel.make_uniform_random_bot
    return [make_bot(player, BOT_SEED + player) for player in range(game.num_players())]


@functools.cache
def mean_decisions_per_game(game_string: str, games: int = SAMPLE_GAMES) -> float:
    """Return the mean number of player decisions in the first games that the C++ loop plays."""
    game = pyspiel.load_game(game_string)
    bots = _random_bots(game)
    decisions = 0
    for seed in range(games):
        state = game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, seed)
        decisions += sum(step.player >= 0 for step in state.full_history())
    return decisions / games


def cpp_loop(game_string: str, seconds: float) -> Speed:
    """Time OpenSpiel's own C++ game loop between uniform random bots."""
    decisions_per_game = mean_decisions_per_game(game_string)
    game = pyspiel.load_game(game_string)
    bots = _random_bots(game)
    new_state, evaluate = game.new_initial_state, pyspiel.evaluate_bots
    clock = time.process_time
    games = 0
    elapsed = 0.0
    start = clock()
    while elapsed < seconds:
        for seed in range(games, games + GAMES_PER_CLOCK_READING):
            evaluate(new_state(), bots, seed)
        games += GAMES_PER_CLOCK_READING
        elapsed = clock() - start
    return Speed("OpenSpiel C++ loop", games, round(games * decisions_per_game), elapsed)


def python_loop(game_string: str, seconds: float) -> Speed:
    """Time a plain Python loop that takes random legal actions at chance and player nodes alike."""
    # With one deck all chance outcomes are equally likely, so a legal action drawn uniformly is a
    # fair chance outcome, and much cheaper than asking for the outcomes with their probabilities.
    game = pyspiel.load_game(game_string)
    if game.num_players() > MOST_PLAYERS_WITH_ONE_DECK:
        raise ValueError("chance outcomes are not equally likely with two decks")
    new_state, terminal = game.new_initial_state, int(pyspiel.PlayerId.TERMINAL)
    rand = random.Random(PYTHON_SEED).random
    clock = time.process_time
    games = decisions = 0
    elapsed = 0.0
    start = clock()
    while elapsed < seconds:
        for _ in range(GAMES_PER_CLOCK_READING):
            state = new_state()
            current_player, legal_actions = state.current_player, state.legal_actions
            apply_action = state.apply_action
            while (player := current_player()) != terminal:
                actions = legal_actions()
                apply_action(actions[int(rand() * len(actions))])
                if player >= 0:
                    decisions += 1
        games += GAMES_PER_CLOCK_READING
        elapsed = clock() - start
    return Speed("OpenSpiel Python loop", games, decisions, elapsed)


if __name__ == "__main__":
    for rules in (ALIGNED_RULES, DEFAULT_RULES):
        print(rules)
        for loop in (cpp_loop, python_loop):
            best = max((loop(rules, 1.0) for _ in range(5)), key=lambda run: run.games_per_second)
            print(
                f"  {best.name}: {best.games_per_second:,.0f} games/s, "
                f"{best.decisions_per_second:,.0f} decisions/s, "
                f"{best.decisions / best.games:.2f} decisions per game"
            )
