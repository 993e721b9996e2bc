"""Exact best responses and exploitability in games whose tree fits into memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Array
from cardlab.engine.kernel import int64, kernel
from cardlab.learning.game_tree import GameTree

__all__ = ["BestResponse", "best_response", "expected_points", "exploitability", "nash_conv"]


class BestResponse(NamedTuple):
    """The best reply of one seat to the strategies of the others."""

    points: float  # expected points of the seat
    strategies: Array  # those of all seats, with the reply of this one


def expected_points(tree: GameTree, strategies: object) -> Array:
    """Return the expected points of every seat if all play these strategies."""
    given = tree.read_strategies(strategies)
    values = np.zeros((tree.positions, tree.seats))
    _evaluate(tree.nodes, given, values)
    return values[0]


def best_response(tree: GameTree, strategies: object, seat: int) -> BestResponse:
    """Return the best reply of a seat to the strategies of the others."""
    given = tree.read_strategies(strategies).copy()
    if not 0 <= seat < tree.seats:
        raise CardlabError(f"seat must be from 0 to {tree.seats - 1}, got {seat}")
    own = tree.nodes.decisions[:, seat]
    # Later own decisions first; among equal ones children before parents.
    order = np.lexsort((-np.arange(tree.positions), -own))
    bounds = np.flatnonzero(np.diff(own[order], prepend=-1, append=-1))
    values, reach = np.zeros(tree.positions), np.zeros(tree.positions)
    _respond(tree.nodes, given, seat, order, bounds, values, reach, np.zeros(tree.slots))
    return BestResponse(float(values[0]), given)


def nash_conv(tree: GameTree, strategies: object) -> float:
    """Return the sum over all seats of what a seat gains by its best response."""
    values = expected_points(tree, strategies)
    replies = [best_response(tree, strategies, seat).points for seat in range(tree.seats)]
    return float(sum(replies) - values.sum())


def exploitability(tree: GameTree, strategies: object) -> float:
    """Return NashConv divided by the number of seats, in points a game; 0 at an equilibrium."""
    return nash_conv(tree, strategies) / tree.seats


@kernel
def _evaluate(nodes: Any, strategies: Any, values: Any) -> None:
    """Write the expected points of every position."""
    for node in range(len(nodes.mover) - 1, -1, -1):
        who = int64(nodes.mover[node])
        first = int64(nodes.first[node])
        for seat in range(values.shape[1]):
            total = 0.0
            if who == OVER:
                total = nodes.payoffs[node, seat]
            else:
                for k in range(int64(nodes.count[node])):
                    share = nodes.chance[first + k]
                    if who != DEALER:
                        share = strategies[int64(nodes.start[int64(nodes.info[node])]) + k]
                    total += share * values[first + k, seat]
            values[node, seat] = total


@kernel
def _respond(
    nodes: Any,
    strategies: Any,
    seat: int,
    order: Any,
    bounds: Any,
    values: Any,
    reach: Any,
    sums: Any,
) -> None:
    """Write the values of a seat's best response, and the response into its strategies."""
    reach[0] = 1.0  # by the others and chance
    for node in range(len(nodes.mover)):
        who = int64(nodes.mover[node])
        first = int64(nodes.first[node])
        for k in range(int64(nodes.count[node])):
            share = 1.0
            if who == DEALER:
                share = nodes.chance[first + k]
            elif who != seat:
                share = strategies[int64(nodes.start[int64(nodes.info[node])]) + k]
            reach[first + k] = reach[node] * share
    # Positions with equally many own decisions before them: first those where the seat decides,
    # whose children come after one more decision, then those between them.
    for part in range(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            node = int64(order[i])
            if int64(nodes.mover[node]) == seat:
                slot, first = int64(nodes.start[int64(nodes.info[node])]), int64(nodes.first[node])
                for k in range(int64(nodes.count[node])):
                    sums[slot + k] += reach[node] * values[first + k]
        for i in range(bounds[part], bounds[part + 1]):
            node = int64(order[i])
            if int64(nodes.mover[node]) == seat:
                info = int64(nodes.info[node])
                slot, end = int64(nodes.start[info]), int64(nodes.start[info + 1])
                best = slot
                for k in range(slot, end):
                    if sums[k] > sums[best]:
                        best = k
                    strategies[k] = 0.0
                strategies[best] = 1.0
                values[node] = values[int64(nodes.first[node]) + best - slot]
        for i in range(bounds[part], bounds[part + 1]):
            node = int64(order[i])
            who = int64(nodes.mover[node])
            if who == OVER:
                values[node] = nodes.payoffs[node, seat]
            elif who != seat:
                first = int64(nodes.first[node])
                total = 0.0
                for k in range(int64(nodes.count[node])):
                    share = nodes.chance[first + k]
                    if who != DEALER:
                        share = strategies[int64(nodes.start[int64(nodes.info[node])]) + k]
                    total += share * values[first + k]
                values[node] = total
