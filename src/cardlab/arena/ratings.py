"""Ratings with intervals: Bradley-Terry for two seats, Plackett-Luce for more, both with draws.

Every agent has a strength theta. Two seats (Davidson's draws):

    win : draw : loss  =  exp(theta_i) : exp(lambda + (theta_i + theta_j) / 2) : exp(theta_j)

More seats: the first place goes to i with probability exp(theta_i) / sum exp(theta), the next one
likewise among those left; agents that share a place enter as Efron has it for ties, and those
behind the last place that was decided say nothing. All of these are logarithms of sums of
exponentials of something linear, so that the likelihood has one maximum. scipy finds it; the
bootstrap starts Newton's method from there, for all its samples at once.

A rating is 400 / ln 10 times theta, the mean over the agents being 0. One game, half won and half
lost, against an average agent is added for everyone: an agent that has won every game gets a large
number instead of infinity. Intervals are percentiles of a bootstrap over deals; a deal stands for
all games on it, of all pairings, as these share their luck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardlab.engine.arguments import read_count, shorten
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Array
from cardlab.engine.seeding import generator, read_seed
from cardlab.engine.statistics import FEWEST_VALUES

__all__ = ["Outcome", "Rating", "rate"]

ELO = 400 / np.log(10)
SAMPLES = 1000
BLOCK = 100  # bootstrap samples that are worked on together
NEWTON_STEPS = 12
LONGEST_STEP = 2.0  # of theta, in one step of Newton's method

Outcome = tuple[tuple[int, ...], ...]
"""Who came before whom in a game: groups of agents that share a place, the best group first."""


@dataclass(frozen=True)
class Rating:
    """What a table says about one agent."""

    agent: str  # its name
    elo: float  # the mean of all agents is 0, or the rating of `reference`
    interval: tuple[float, float] | None  # None: too few deals; infinite: never lost, never won
    rank: tuple[int, int]  # the best and the worst rank that cannot be excluded
    groups: str  # no significant difference between agents that share a letter

    def to_dict(self) -> dict[str, Any]:
        """Return the rating as plain data; a bound that the games do not hold is None."""
        data = asdict(self)
        if self.interval:
            data["interval"] = [x if np.isfinite(x) else None for x in self.interval]
        return data


@dataclass(frozen=True)
class _Model:
    """A sum of log-linear choices: what was chosen is linear, each choice has alternatives."""

    alternatives: Array  # choice, alternative, parameter
    weights: Array  # logarithms of the alternatives' weights; -inf where there is none
    chosen: Array  # deal, parameter: sums over the games of a deal
    counts: Array  # deal, choice: how often a choice came up
    agents: int


def rate(
    agents: Sequence[str],
    deals: Mapping[int, Mapping[Outcome, int]],
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    reference: str | None = None,
) -> list[Rating]:
    """Return the ratings of agents, best first, from the outcomes on every deal.

    Outcomes name agents by their place in `agents`. The rating of `reference` is 0, and intervals
    are those of the distance to it; without one the mean of all ratings is 0.
    """
    seed, samples = read_seed(seed), read_count(samples, "samples")
    if not isinstance(agents, Sequence):
        raise CardlabError(f"agents must be a list of names, got {shorten(agents)}")
    if not isinstance(deals, Mapping):
        raise CardlabError(
            f"deals must be a dict of the outcomes on every deal, got {shorten(deals)}"
        )
    if reference is not None and reference not in agents:
        raise CardlabError(suggest("agent", reference, agents))
    zero = list(range(len(agents))) if reference is None else [agents.index(reference)]
    model = _read(len(agents), [deals[key] for key in sorted(deals)])
    best = _fit(model)
    drawn = None
    if len(deals) >= FEWEST_VALUES:
        drawn = _bootstrap(model, best, samples, seed, zero)
    elo = ELO * (best[: len(agents)] - best[zero].mean())
    order = sorted(range(len(agents)), key=lambda one: (-elo[one], agents[one]))
    if drawn is None:
        whole = (1, len(agents))
        return [Rating(agents[one], float(elo[one]), None, whole, "a") for one in order]
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    for one in range(len(agents)):
        if agents[one] == reference:
            continue
        places = {
            (outcome[0] == (one,), outcome[-1] == (one,))
            for outcomes in deals.values()
            for outcome in outcomes
            if any(one in group for group in outcome)
        }
        if places == {(True, False)}:  # the data hold no bound above, nor below the other way
            high[one] = np.inf
        if places == {(False, True)}:
            low[one] = -np.inf
    above = np.percentile(drawn[:, :, None] - drawn[:, None, :], 2.5, axis=0) > 0
    letters = _letters(order, above)
    return [
        Rating(
            agents[one],
            float(elo[one]),
            (float(low[one]), float(high[one])),
            (1 + int(above[:, one].sum()), len(agents) - int(above[one].sum())),
            letters[one],
        )
        for one in order
    ]


def _read(agents: int, deals: Sequence[Mapping[Outcome, int]]) -> _Model:
    """Return the outcomes as choices among alternatives."""
    draws = agents  # the parameter of draws follows those of the agents
    rows: dict[tuple[tuple[int, ...], ...], int] = {}
    table: list[tuple[list[Array], list[float]]] = []
    parsed: list[list[tuple[int, Array, int]]] = []

    def single(one: int) -> Array:
        x = np.zeros(agents + 1)
        x[one] = 1
        return x

    def choice(key: tuple[tuple[int, ...], ...], xs: list[Array], weights: list[float]) -> int:
        if key not in rows:
            rows[key] = len(table)
            table.append((xs, weights))
        return rows[key]

    for outcomes in deals:
        found: list[tuple[int, Array, int]] = []
        for outcome, count in outcomes.items():
            everyone = sorted(one for group in outcome for one in group)
            if len(everyone) == 2:
                i, j = everyone
                if i == j:
                    continue
                tie = (single(i) + single(j)) / 2
                tie[draws] = 1
                chosen = tie if len(outcome) == 1 else single(outcome[0][0])
                at = choice(((i, j),), [single(i), single(j), tie], [0.0, 0.0, 0.0])
                found.append((at, chosen, count))
                continue
            left = everyone
            for group in outcome[:-1]:
                for already in range(len(group)):
                    weights = [0.0] * len(left)
                    share = 1 - already / len(group)  # Efron: each of a group is partly gone
                    rest = list(group)
                    for place, one in enumerate(left):
                        if one in rest:
                            rest.remove(one)
                            weights[place] = float(np.log(share))
                    key = (tuple(left), tuple(sorted(group)), (already,))
                    at = choice(key, [single(one) for one in left], weights)
                    found.append((at, single(group[already]), count))
                left = list(left)
                for one in group:
                    left.remove(one)
        parsed.append(found)

    most = max((len(xs) for xs, _ in table), default=1)
    alternatives = np.zeros((len(table), most, agents + 1))
    heavy = np.full((len(table), most), -np.inf)
    for row, (xs, logs) in enumerate(table):
        alternatives[row, : len(xs)] = xs
        heavy[row, : len(logs)] = logs
    chosen = np.zeros((len(deals), agents + 1))
    counts = np.zeros((len(deals), len(table)))
    for deal, found in enumerate(parsed):
        for at, x, count in found:
            chosen[deal] += count * x
            counts[deal, at] += count
    return _Model(alternatives, heavy, chosen, counts, agents)


def _derivatives(
    model: _Model, phi: Array, chosen: Array, counts: Array
) -> tuple[Array, Array, Array]:
    """Return log-likelihood, gradient and Hessian for every row of parameters and statistics."""
    size, width = phi.shape
    value = (chosen * phi).sum(axis=1)
    slope = chosen.copy()
    bend = np.zeros((size, width, width))
    if len(model.weights):
        eta = np.einsum("ktd,bd->bkt", model.alternatives, phi) + model.weights
        top = eta.max(axis=2, keepdims=True)
        share = np.exp(eta - top)
        total = share.sum(axis=2, keepdims=True)
        share /= total
        value = value - (counts * (top + np.log(total))[:, :, 0]).sum(axis=1)
        mean = np.einsum("bkt,ktd->bkd", share, model.alternatives)
        slope -= np.einsum("bk,bkd->bd", counts, mean)
        for k in range(len(model.weights)):
            x = model.alternatives[k]
            square = np.einsum("bt,td,te->bde", share[:, k], x, x)
            square -= mean[:, k, :, None] * mean[:, k, None, :]
            bend -= counts[:, k, None, None] * square
    # The added game, half won and half lost; for draws a faint pull that decides when none occur.
    theta = phi[:, : model.agents]
    half = 1 / (1 + np.exp(-theta))
    value = value - 0.5 * (np.logaddexp(0, theta) + np.logaddexp(0, -theta)).sum(axis=1)
    value -= 0.005 * phi[:, -1] ** 2
    slope[:, : model.agents] += 0.5 - half
    slope[:, -1] -= 0.01 * phi[:, -1]
    place = np.arange(model.agents)
    bend[:, place, place] -= half * (1 - half)
    bend[:, -1, -1] -= 0.01
    return value, slope, bend


def _fit(model: _Model) -> Array:
    """Return the parameters of greatest likelihood."""
    from scipy.optimize import minimize  # slow to import

    chosen, counts = model.chosen.sum(axis=0)[None], model.counts.sum(axis=0)[None]

    def at(phi: Array) -> tuple[float, Array]:
        value, slope, _ = _derivatives(model, phi[None], chosen, counts)
        return -float(value[0]), -slope[0]

    def bend(phi: Array) -> Array:
        matrix: Array = -_derivatives(model, phi[None], chosen, counts)[2][0]
        return matrix

    start = np.zeros(model.agents + 1)
    found = minimize(at, start, jac=True, hess=bend, method="trust-exact", tol=1e-9)
    result: Array = found.x
    return result


def _bootstrap(model: _Model, start: Array, samples: int, seed: int, zero: list[int]) -> Array:
    """Return the ratings of every bootstrap sample of deals."""
    rng = generator(seed, "bootstrap")
    deals = len(model.chosen)
    # Deals that went alike are drawn together: of one pairing there are few kinds.
    rows, kinds = np.unique(np.hstack([model.chosen, model.counts]), axis=0, return_counts=True)
    each, choices = np.split(rows, [model.chosen.shape[1]], axis=1)
    out = np.empty((samples, model.agents))
    for first in range(0, samples, BLOCK):
        size = min(BLOCK, samples - first)
        times = rng.multinomial(deals, kinds / deals, size=size).astype(np.float64)
        chosen, counts = times @ each, times @ choices
        phi = np.repeat(start[None], size, axis=0)
        for _ in range(NEWTON_STEPS):
            _, slope, bend = _derivatives(model, phi, chosen, counts)
            step = np.linalg.solve(-bend, slope[:, :, None])[:, :, 0]
            longest = np.abs(step).max(axis=1, keepdims=True)
            step *= np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))
            phi += step
            if longest.max() < 1e-6:
                break
        theta = phi[:, : model.agents]
        out[first : first + size] = ELO * (theta - theta[:, zero].mean(axis=1, keepdims=True))
    return out


def _letters(order: Sequence[int], above: Array) -> dict[int, str]:
    """Return letters: two agents share one where neither is above the other, nor any between."""
    runs: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and not any(
            above[order[i], order[last + 1]] for i in range(first, last + 1)
        ):
            last += 1
        if not runs or last > runs[-1][1]:
            runs.append((first, last))
    letters = {one: "" for one in order}
    for number, (first, last) in enumerate(runs):
        name = "abcdefghijklmnopqrstuvwxyz"[number] if number < 26 else f"({number + 1})"
        for one in order[first : last + 1]:
            letters[one] += name
    return letters
