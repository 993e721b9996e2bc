"""Counterfactual regret minimisation in games whose tree fits into memory.

CFR+: O. Tammelin, "Solving Large Imperfect Information Games Using CFR+", 2014 (regrets never below
zero, seats updated in turn, the average strategy weighted by the iteration). External sampling:
M. Lanctot and others, "Monte Carlo Sampling for Regret Minimization in Extensive Games", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import read_count
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import DEALER, OVER, Array
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.seeding import below
from cardlab.learning.game_tree import GameTree

__all__ = ["METHODS", "CfrSolver"]

METHODS = ("cfr_plus", "external_sampling")
PRECISION = 1 << 30  # steps into which a probability is divided when an action is sampled


class Scratch(NamedTuple):
    """Scratch memory of external sampling, and its stream."""

    stack: Any  # by depth: a position, the number of children visited, the last one
    values: Any  # by position
    strategies: Any  # by slot
    rng: Any


@dataclass
class CfrSolver:
    """Regrets and average strategies of all seats, which converge to an equilibrium of two seats.

    solver = CfrSolver(build_tree("NAME"))
    solver.run(1000)
    print(exploitability(solver.tree, solver.average()))
    """

    tree: GameTree
    method: str = "cfr_plus"  # or external_sampling
    seed: int = 0  # of external sampling
    iterations: int = 0  # done so far

    def __post_init__(self) -> None:
        """Begin with no regrets."""
        if self.method not in METHODS:
            raise CardlabError(suggest("method", self.method, METHODS))
        self.regrets: Array = np.zeros(self.tree.slots)
        self.sums: Array = np.zeros(self.tree.slots)
        self.rng: Array = np.array([seeding.stream(self.seed, "cfr")], dtype=np.int64)

    def run(self, iterations: int) -> CfrSolver:
        """Do some more iterations; each updates every seat once."""
        iterations = read_count(iterations, "iterations")
        tree, nodes = self.tree, self.tree.nodes
        if self.method == "cfr_plus":
            work = np.zeros((3, tree.positions)), np.zeros(tree.slots)
            _cfr_plus(
                nodes, tree.seats, self.regrets, self.sums, self.iterations, iterations, *work
            )
        else:
            depth = 1 + int(np.max(_depths(tree)))
            scratch = Scratch(
                np.zeros((depth + 1, 3), dtype=np.int64),
                np.zeros(tree.positions),
                np.zeros(tree.slots),
                self.rng,
            )
            _sample(nodes, tree.seats, self.regrets, self.sums, iterations, scratch)
        self.iterations += iterations
        return self

    def average(self) -> Array:
        """Return the average strategies of all seats: the result of the method."""
        starts = self.tree.nodes.start
        sizes = np.diff(starts)
        sums = np.repeat(np.add.reduceat(self.sums, starts[:-1]), sizes)
        met = sums > 0
        average: Array = np.where(met, self.sums / np.where(met, sums, 1), self.tree.uniform())
        return average


def _depths(tree: GameTree) -> Array:
    """Return the number of steps from the root to every position."""
    depth = np.zeros(tree.positions, dtype=np.int64)
    _count_depths(tree.nodes, depth)
    return depth


@kernel
def _count_depths(nodes: Any, depth: Any) -> None:
    """Write the number of steps from the root to every position."""
    for node in range(len(nodes.mover)):
        for k in range(int64(nodes.count[node])):
            depth[int64(nodes.first[node]) + k] = depth[node] + 1


@kernel
def _match_regrets(nodes: Any, regrets: Any, info: int, out: Any) -> None:
    """Write the strategy of an information set: in proportion to its positive regrets."""
    start, end = int64(nodes.start[info]), int64(nodes.start[info + 1])
    total = 0.0
    for slot in range(start, end):
        total += max(regrets[slot], 0.0)
    for slot in range(start, end):
        out[slot] = max(regrets[slot], 0.0) / total if total > 0 else 1.0 / (end - start)


@kernel
def _cfr_plus(
    nodes: Any,
    seats: int,
    regrets: Any,
    sums: Any,
    done: int,
    iterations: int,
    work: Any,
    strategies: Any,
) -> None:
    """Do some iterations of CFR+."""
    own, others, values = work[0], work[1], work[2]
    for iteration in range(done + 1, done + iterations + 1):
        for seat in range(seats):
            for info in range(len(nodes.head)):
                _match_regrets(nodes, regrets, info, strategies)
            own[0] = others[0] = 1.0
            for node in range(len(nodes.mover)):
                who, first = int64(nodes.mover[node]), int64(nodes.first[node])
                for k in range(int64(nodes.count[node])):
                    if who == DEALER:
                        own[first + k] = own[node]
                        others[first + k] = others[node] * nodes.chance[first + k]
                        continue
                    info = int64(nodes.info[node])
                    slot = int64(nodes.start[info]) + k
                    if who == seat:
                        own[first + k] = own[node] * strategies[slot]
                        others[first + k] = others[node]
                        if int64(nodes.head[info]) == node:  # own reach is equal in all positions
                            sums[slot] += iteration * own[node] * strategies[slot]
                    else:
                        own[first + k] = own[node]
                        others[first + k] = others[node] * strategies[slot]
            for node in range(len(nodes.mover) - 1, -1, -1):
                who, first = int64(nodes.mover[node]), int64(nodes.first[node])
                if who == OVER:
                    values[node] = nodes.payoffs[node, seat]
                    continue
                total = 0.0
                if who == DEALER:
                    for k in range(int64(nodes.count[node])):
                        total += nodes.chance[first + k] * values[first + k]
                    values[node] = total
                    continue
                slot = int64(nodes.start[int64(nodes.info[node])])
                for k in range(int64(nodes.count[node])):
                    total += strategies[slot + k] * values[first + k]
                values[node] = total
                if who == seat:
                    for k in range(int64(nodes.count[node])):
                        regrets[slot + k] += others[node] * (values[first + k] - total)
            for slot in range(len(regrets)):
                regrets[slot] = max(regrets[slot], 0.0)


@kernel
def _sample(nodes: Any, seats: int, regrets: Any, sums: Any, iterations: int, scratch: Any) -> None:
    """Do some iterations of external sampling.

    The seat that is updated tries all of its actions; deals and the actions of the others are
    sampled.
    """
    stack, values, strategies, rng = scratch
    for _ in range(iterations):
        for seat in range(seats):
            top = 0
            stack[0, 0], stack[0, 1] = 0, 0
            while top >= 0:
                node, visited = stack[top, 0], stack[top, 1]
                who, first = int64(nodes.mover[node]), int64(nodes.first[node])
                count = int64(nodes.count[node])
                if who == OVER:
                    values[node] = nodes.payoffs[node, seat]
                    top -= 1
                    continue
                slot = 0 if who == DEALER else int64(nodes.start[int64(nodes.info[node])])
                if who == seat:
                    if visited == 0:
                        _match_regrets(nodes, regrets, int64(nodes.info[node]), strategies)
                    if visited < count:
                        stack[top, 1] = visited + 1
                        top += 1
                        stack[top, 0], stack[top, 1] = first + visited, 0
                        continue
                    total = 0.0
                    for k in range(count):
                        total += strategies[slot + k] * values[first + k]
                    for k in range(count):
                        regrets[slot + k] += values[first + k] - total
                    values[node] = total
                    top -= 1
                    continue
                if visited == 1:
                    values[node] = values[stack[top, 2]]
                    top -= 1
                    continue
                if who != DEALER:
                    _match_regrets(nodes, regrets, int64(nodes.info[node]), strategies)
                    for k in range(count):
                        sums[slot + k] += strategies[slot + k]
                left = below(rng, PRECISION) / PRECISION
                pick = count - 1
                for k in range(count):
                    left -= nodes.chance[first + k] if who == DEALER else strategies[slot + k]
                    if left < 0:
                        pick = k
                        break
                stack[top, 1], stack[top, 2] = 1, first + pick
                top += 1
                stack[top, 0], stack[top, 1] = first + pick, 0
