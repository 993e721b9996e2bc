"""Agents that search Crazy Eights with its heuristic and its solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cardlab.agents.searchers import best_action
from cardlab.engine.game import Array, State, Turn
from cardlab.games.crazy_eights import heuristic, solver
from cardlab.search import alpha_beta, determinised, monte_carlo, uct

FEW_NODES = 50_000  # what a determinised search spends on solving one world


@dataclass(frozen=True)
class Guided:
    """Flat Monte Carlo in likely worlds, played out by the heuristic."""

    worlds: int = 2000
    threads: int = 1
    name: str = "guided"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the best of the actions that were tried most."""
        return best_action(turn.legal, lambda: self._evaluate(turn, rng))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean return of every legal action."""
        return self._evaluate(turn, rng)[1]

    def _evaluate(self, turn: Turn, rng: np.random.Generator) -> tuple[Array, Array]:
        return monte_carlo.evaluate(
            turn,
            self.worlds,
            rng,
            policy=heuristic.choose_loosely,
            plausibility=heuristic.plausibility,
            halving=True,
            threads=self.threads,
        )


@dataclass(frozen=True)
class Determinised:
    """Judges sampled worlds with all cards open: solved, or searched to a depth."""

    worlds: int = 30
    depth: int = 0
    threads: int = 1
    name: str = "determinised"

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action with the best mean, the first in a tie."""
        return best_action(turn.legal, lambda: (self.values(turn, rng),))

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the mean worth of every legal action."""
        return determinised.evaluate(turn, self.worlds, rng, self._judge, threads=self.threads)

    def _judge(self, world: State) -> Array:
        if self.depth == 0 and solver.solves(world):
            scratch = solver.Scratch.of(bits=16)
            found = solver.solve(world, limit=FEW_NODES, scratch=scratch)
            if found:
                return found.values
        return alpha_beta.evaluate(world, self.depth or 8, table_bits=12)


@dataclass(frozen=True)
class OracleOpen:
    """Solves the true state; among equal actions, tree search takes the one that wins most often.

    Rules that the solver does not know are left to the tree search alone.
    """

    simulations: int = 1000
    name: str = "oracle_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return an optimal action."""
        legal = state.legal()
        if len(legal) == 1:
            return int(legal[0])
        worth = np.zeros(len(legal))
        if solver.solves(state):
            found = solver.solve(state, all_exact=False)
            assert found  # without a limit there is always an answer
            worth = found.values
            if worth.max() == 1:
                return int(legal[np.argmax(worth)])
        visits, values = uct.search(state, self.simulations, rng)
        return int(legal[np.lexsort((values, visits, worth))[-1]])


@dataclass(frozen=True)
class AlphaBetaPointsOpen:
    """Looks some plies ahead on the true state and values what it finds by cards in hand."""

    depth: int = 4
    name: str = "alpha_beta_points_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action with the best value, the first in a tie."""
        return best_action(
            state.legal(),
            lambda: (alpha_beta.evaluate(state, self.depth, utility=heuristic.worth),),
        )


@dataclass(frozen=True)
class AlphaBetaWinsOpen:
    """Looks some plies ahead on the true state and values only wins, losses and ties."""

    depth: int = 4
    name: str = "alpha_beta_wins_open"

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action with the best value, the first in a tie."""
        return best_action(state.legal(), lambda: (alpha_beta.evaluate(state, self.depth),))
