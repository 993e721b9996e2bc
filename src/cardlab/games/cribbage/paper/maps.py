"""What the learned weights of Cribbage look like over the scores, in numbers.

Weights are [own score, other's score, role, strategy]; a population has one set for each agent.
Leads are own less other's score. The chance to win V is that of the package's expert.
"""

from __future__ import annotations

import numpy as np

from cardlab.engine.game import Array
from cardlab.engine.statistics import mean_and_t_margin
from cardlab.games.cribbage.agents.strategies import FULL, STRATEGIES
from cardlab.games.cribbage.paper.experiments import reached
from cardlab.games.cribbage.solvers.knowledge import shipped_knowledge

ROLE_NAMES = ("pone", "dealer")
BANDS = {
    "behind by 26 to 60": (-60, -26),
    "behind by 2 to 25": (-25, -2),
    "level": (-1, 1),
    "ahead by 2 to 25": (2, 25),
    "ahead by 26 to 60": (26, 60),
}
LEADS = np.subtract.outer(np.arange(FULL), np.arange(FULL))
STEADY = 2  # scores on either side that a cut along the diagonal is averaged over
LAST_STRETCH = 110
NEAR = 30  # leads that a strategy's rise is looked for in


def winning() -> Array:
    """Return V[own, other, role]."""
    return shipped_knowledge().win


def full_size(weights: Array) -> Array:
    """Return weights with one cell for each score."""
    rows = len(weights)
    place = np.arange(FULL) // -(-FULL // rows)
    return weights[place][:, place]


def decided(population: Array, share: float) -> tuple[float, float]:
    """Return the percentage of cells in which one strategy has more than a share of all weight."""
    seen = reached()
    return mean_and_t_margin(
        [
            100 * float((full_size(weights).max(axis=-1)[seen] > share).mean())
            for weights in population
        ]
    )


def strength_by_band(population: Array, role: int) -> dict[str, Array]:
    """Return the mean weight of every strategy, by how far the seat is ahead."""
    mean = np.mean([full_size(weights)[:, :, role] for weights in population], axis=0)
    return {
        name: mean[(low <= LEADS) & (high >= LEADS)].mean(axis=0)
        for name, (low, high) in BANDS.items()
    }


def near_the_end(population: Array, role: int, strategy: str) -> tuple[float, float]:
    """Return the mean weight of a strategy where both seats have 110 points or more."""
    place = STRATEGIES.index(strategy)
    last = slice(LAST_STRETCH, FULL)
    return mean_and_t_margin(
        [float(full_size(weights)[last, last, role, place].mean()) for weights in population]
    )


def by_lead(values: Array, lead: int) -> float:
    """Return the mean of a map [own, other] over all scores with this lead."""
    return float(np.diagonal(values, -lead).mean())


def turning_lead(population: Array, role: int, strategy: str) -> tuple[float, float]:
    """Return the first lead at which a strategy is past the middle of its range from -30 to 30.

    Found for every agent on its own; the margin is over agents.
    """
    place = STRATEGIES.index(strategy)
    leads = np.arange(-NEAR, NEAR + 1)
    found = []
    for weights in population:
        full = full_size(weights)[:, :, role, place]
        line = np.convolve([by_lead(full, int(lead)) for lead in leads], np.ones(5) / 5, "valid")
        middle = (line.min() + line.max()) / 2
        found.append(float(leads[2 + int((line > middle).argmax())]))
    return mean_and_t_margin(found)


def likeness_to_winning(population: Array, role: int, strategy: str) -> tuple[float, float]:
    """Return the correlation of a strategy's weight with the chance to win, over cells reached."""
    seen = reached()
    chance = winning()[:, :, role][seen]
    place = STRATEGIES.index(strategy)
    return mean_and_t_margin(
        [
            float(np.corrcoef(full_size(weights)[:, :, role, place][seen], chance)[0, 1])
            for weights in population
        ]
    )


def along_diagonal(values: Array) -> Array:
    """Return a map [own, other] along equal scores, a little steadied."""
    line = np.diagonal(values)
    return np.array(
        [line[max(0, score - STEADY) : score + STEADY + 1].mean() for score in range(FULL)]
    )


def wave(population: Array, role: int, strategy: str, scores: range) -> tuple[float, float]:
    """Return the correlation of a strategy's weight at equal scores with the chance to win there.

    A trend over the stretch is taken out of both, so that only what goes up and down counts.
    """
    at = np.array(scores)
    place = STRATEGIES.index(strategy)
    chance = _without_trend(along_diagonal(winning()[:, :, role])[at])
    found = []
    for weights in population:
        line = _without_trend(along_diagonal(full_size(weights)[:, :, role, place])[at])
        found.append(float(np.corrcoef(line, chance)[0, 1]) if line.std() > 0 else 0.0)
    return mean_and_t_margin(found)


def _without_trend(line: Array) -> Array:
    at = np.arange(len(line))
    return np.asarray(line - np.polyval(np.polyfit(at, line, 1), at))


def turns(line: Array) -> tuple[list[int], list[int]]:
    """Return where a line has its crests and its troughs, ends left out."""
    near = 5  # a turn is the extreme within so many scores on both sides
    crests, troughs = [], []
    for place in range(near, len(line) - near):
        window = line[place - near : place + near + 1]
        if line[place] == window.max():
            crests.append(place)
        elif line[place] == window.min():
            troughs.append(place)
    return crests, troughs


def same_leader(first: Array, second: Array, low: int, high: int) -> float:
    """Return in what percentage of cells with such leads two weights have the same leader."""
    cells = (low <= LEADS) & (high >= LEADS) & reached()
    leaders = [full_size(weights).argmax(axis=-1)[cells] for weights in (first, second)]
    return 100 * float((leaders[0] == leaders[1]).mean())


def shared_leaders(population: Array, band: str) -> tuple[float, float]:
    """Return the same for agents that never met: each with its like in the next pair."""
    low, high = BANDS[band]
    others = np.roll(population, -2, axis=0)
    return mean_and_t_margin(
        [same_leader(*pair, low, high) for pair in zip(population, others, strict=True)]
    )
