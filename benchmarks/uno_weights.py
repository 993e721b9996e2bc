"""Fit the weights of Uno's play-out policy to what play-outs win, and print them.

    python benchmarks/uno_weights.py rlcard 3 5 --positions 8000 --worlds 200 --rounds 2

In every round the policy so far plays against random seats, one action in five at random; in some
of its decisions each action is played out in the same worlds, and least squares find the weights
that tell the actions of a decision apart best. Weights that win no more games are not kept.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from cardlab.engine.game import DEALER, OVER
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.playouts import Scratch
from cardlab.engine.seeding import below, branch, shuffle
from cardlab.games.uno.kernels import NAMING, apply, conceal, deal, legal, mover
from cardlab.games.uno.playouts import NUM_WEIGHTS, WEIGHTS, finish, weigh
from cardlab.games.uno.rules import GAME
from cardlab.games.uno.worlds import BAG, DEPTH, SEAT, deal_anew, lay_out, open_bag, stir

PER_GAME = 3
GAMES = 60_000  # to see which weights win more
PENALTY = 2.0  # of the squared weights


@kernel
def collect(
    fresh: Any,
    start: int,
    weights: Any,
    views: Any,
    seats: Any,
    actions: Any,
    counts: Any,
    worth: Any,
    work: Any,
    order: Any,
    buffer: Any,
    rng: Any,
) -> None:
    """Fill `views` with decisions of the policy against random seats."""
    found = game = 0
    while found < len(views):
        work[0] = fresh[0]
        rng[0] = branch(start, game)
        seat = game % int64(fresh[0].seats)
        game += 1
        taken = 0
        while mover(work[0]) != OVER:
            who = mover(work[0])
            if who == DEALER:
                shuffle(order, rng)
                deal(work[0], order)
                continue
            count = legal(work[0], buffer)
            action = int64(buffer[below(rng, count)])
            if who == seat and count > 1:
                wanted = taken < PER_GAME and work[0].phase != NAMING and below(rng, 3) == 0
                if wanted and found < len(views):
                    views[found] = work[0]
                    conceal(views[found], seat)
                    seats[found] = seat
                    counts[found] = count
                    for i in range(count):
                        actions[found, i] = buffer[i]
                    found += 1
                    taken += 1
                if below(rng, 5):
                    weigh(work[0], seat, buffer[:count], weights, worth)
                    action = int64(buffer[np.argmax(worth[:count])])
            apply(work[0], action)


@kernel
def label(
    views: Any,
    seats: Any,
    actions: Any,
    counts: Any,
    worlds: int,
    weights: Any,
    wins: Any,
    bags: Any,
    work: Any,
    order: Any,
    rng: Any,
) -> None:
    """Count the wins of every action of every decision over so many worlds."""
    for row in range(len(views)):
        seat = int64(seats[row])
        work[0] = views[row]
        work[1] = views[row]
        if not open_bag(bags[0], work[0], seat, SEAT, rng):
            continue
        for world in range(worlds):
            stir(bags[0], world % 3 == 0, rng)
            deal_anew(bags[0], DEPTH, rng)
            lay_out(bags[0], work[1], seat)
            for i in range(counts[row]):
                work[0] = work[1]
                apply(work[0], int64(actions[row, i]))
                wins[row, i] += finish(work[0], seat, True, weights, order, rng) == seat


@kernel
def count_wins(
    fresh: Any, start: int, games: int, weights: Any, work: Any, order: Any, rng: Any
) -> int:
    """Return how many games the policy wins against random seats, each seat on the same deals."""
    seats = int64(fresh[0].seats)
    wins = 0
    for game in range(games):
        work[0] = fresh[0]
        rng[0] = branch(start, game // seats)
        while mover(work[0]) == DEALER:
            shuffle(order, rng)
            deal(work[0], order)
        if work[0].phase == NAMING:
            continue  # rare, and play-outs start after it
        seat = game % seats
        wins += finish(work[0], seat, True, weights, order, rng) == seat
    return wins


def main() -> None:
    """Fit weights for a rule set and numbers of seats."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("rules", choices=("official", "rlcard"))
    parser.add_argument("seats", type=int, nargs="+")
    parser.add_argument("--positions", type=int, default=8000)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    tables = [GAME.start({"rules": given.rules, "seats": seats}).array for seats in given.seats]
    weights = WEIGHTS[int(given.rules == "rlcard"), int(given.seats[0] > 2)].copy()
    work, order, buffer = Scratch.of(GAME, rows=2)
    rng, bags = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=BAG)

    def share(of: Any) -> float:
        wins = [count_wins(fresh, 999, GAMES, of, work, order, rng) for fresh in tables]
        return 100 * float(np.mean(wins)) / GAMES

    left, right = np.zeros((NUM_WEIGHTS, NUM_WEIGHTS)), np.zeros(NUM_WEIGHTS)
    best = share(weights)
    print(f"before: {best:.2f} % won, {np.round(weights, 2).tolist()}")
    for turn in range(given.rounds):
        for fresh in tables:
            rows = given.positions // len(tables)
            views, seats = np.zeros(rows, dtype=GAME.state), np.zeros(rows, dtype=np.int64)
            actions = np.zeros((rows, GAME.num_actions), dtype=np.int64)
            counts, worth = np.zeros(rows, dtype=np.int64), np.zeros(GAME.num_actions)
            start = 1000 * turn + int(fresh[0].seats)
            collect(
                fresh,
                start,
                weights,
                views,
                seats,
                actions,
                counts,
                worth,
                work,
                order,
                buffer,
                rng,
            )
            wins = np.zeros((rows, GAME.num_actions))
            label(
                views, seats, actions, counts, given.worlds, weights, wins, bags, work, order, rng
            )
            for row in range(rows):
                count = int(counts[row])
                told = np.zeros((count, NUM_WEIGHTS))
                column = np.zeros(count)
                for k, unit in enumerate(np.eye(NUM_WEIGHTS)):
                    weigh(views[row], int(seats[row]), actions[row, :count], unit, column)
                    told[:, k] = column
                told -= told.mean(axis=0)
                won = wins[row, :count] / given.worlds
                left += told.T @ told
                right += told.T @ (won - won.mean())
        fitted = 100 * np.linalg.solve(left + PENALTY * np.eye(NUM_WEIGHTS), right)
        now = share(fitted)
        print(f"round {turn + 1}: {now:.2f} % won, {np.round(fitted, 2).tolist()}")
        if now > best:
            best, weights = now, fitted


if __name__ == "__main__":
    main()
