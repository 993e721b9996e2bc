"""A learned mix of offence and defence in the play at Cribbage, by role and stage of the game.

"Policy Improvement in Cribbage through Reinforcement", section 5.1.1.1: "multiple basic strategies
such as offensive or defensive play could be trained [...] and their combinations could in turn be
learned through gameplay simulations". The choice is the card with the greatest weighted sum of the
features in `pegging_features`. Points at once always weigh 1, so that a weight says how many points
at once a feature is worth. Pone and dealer have weights of their own, far from the end of the game
and near it for either seat or both.

The cross-entropy method learns each of these eight cells by itself: of weights drawn around a mean,
those that do best in the same deals give the next mean and spread. A deal starts from scores of the
cell, both hands are kept as by `hand_max_avg`, the other seat plays by the present means, and what
counts is the chance to win after the deal, from the table that comes with the package. The cells
far from the end come first and start at pure greed. Near the end a deal says little and the best of
many is often the luckiest, so the other cells start from what was learned there, with a smaller
spread and more deals. A cell ends with the mean over the second half of its generations.

`curve.json` has, for every generation, what the means peg more than a greedy player in a deal. The
summary says what the stages and the roles are worth: how many games the mix wins against itself
with the weights far from the end at all times, and those against the mean of both roles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.seeding import SEAT, below, branch, deck_order
from cardlab.games.cribbage.agents.pegging import (
    ROLES,
    Pegger,
    lay_best_hand,
    peg_by_worth,
)
from cardlab.games.cribbage.learning.pegging_deals import (
    DealScratch,
    measure_deals,
    measure_games,
)
from cardlab.games.cribbage.pegging_features import (
    FEATURES,
    NEAR,
    NUM_FEATURES,
    NUM_STAGES,
    STAGES,
)
from cardlab.games.cribbage.rules import DEAL, FINISHED, GAME, LAY_AWAY, PLAY, apply, deal
from cardlab.games.cribbage.solvers.knowledge import FULL, shipped_knowledge
from cardlab.learning.runs import load_arrays, open_run, provenance, save_arrays, write_json

TABLE = "cribbage_pegging_mix"
ROLE_NAMES = ("pone", "dealer")
SPREAD = 60  # points between the seats at most when a deal starts


@dataclass(frozen=True)
class Config:
    """Settings: generations far from the end and near it, weights tried, kept, deals."""

    generations: int = 20
    population: int = 64
    elite: int = 16
    deals: int = 2_000
    sigma: float = 0.4
    near_deals: int = 4_000
    near_sigma: float = 0.15
    least_sigma: float = 0.03
    test_deals: int = 20_000
    test_games: int = 20_000
    seed: int = 0


@kernel
def draw_score(near: bool, rng: Any) -> int:
    """Return a score from which the end is near, or is not."""
    return FULL - NEAR + below(rng, NEAR) if near else below(rng, FULL - NEAR)


@kernel
def start_deals(start: int, role: int, stage: int, work: Any, out: Any) -> None:
    """Write deals that wait for the first card, seat 0 in this role at scores of this stage."""
    number = 0
    for row in range(len(out)):
        out[row].phase = DEAL
        while out[row].phase != PLAY:  # a jack turned up can end a game before the play
            seed = branch(start, number)
            number += 1
            deck_order(seed, 0, work.order, work.rng)
            work.rng[0] = branch(seed, SEAT)
            own, other = draw_score(stage & 1 != 0, work.rng), draw_score(stage & 2 != 0, work.rng)
            while abs(own - other) > SPREAD:
                own = draw_score(stage & 1 != 0, work.rng)
                other = draw_score(stage & 2 != 0, work.rng)
            out[row] = work.fresh[0]
            s = out[row]
            s.phase = DEAL
            s.dealer = 0 if role else 1
            s.scores[0] = own
            s.scores[1] = other
            deal(s, work.order)
            while s.phase == LAY_AWAY:
                apply(s, lay_best_hand(s, work.expert))


@kernel
def chance_after(deals: Any, role: int, pegger: Any, win: Any, work: Any) -> float:
    """Return the mean chance of seat 0 to win after these deals."""
    total = 0.0
    for row in range(len(deals)):
        work.states[0] = deals[row]
        s = work.states[0]
        while s.phase == PLAY:
            apply(s, peg_by_worth(s, int64(s.seat), pegger, work.pegging))
        if s.phase == FINISHED:
            total += 1.0 if s.winner == 0 else 0.0
        else:
            total += win[s.scores[0], s.scores[1], 1 - role]
    return total / len(deals)


def check(config: Config) -> None:
    """Raise an error if the settings are invalid."""
    least = (config.generations, config.deals, config.near_deals)
    if min(*least, config.test_deals, config.test_games) < 1:
        raise CardlabError(
            "generations, deals, near_deals, test_deals and test_games must be 1 or more"
        )
    if not 2 <= config.elite <= config.population:
        raise CardlabError("elite must be 2 or more and at most the population")
    if min(config.sigma, config.near_sigma) <= 0 or config.least_sigma < 0:
        raise CardlabError("sigma and near_sigma must be above 0, least_sigma 0 or more")


def pure_greed() -> Array:
    """Return weights that look at points at once only."""
    mix = np.zeros((ROLES, NUM_STAGES, NUM_FEATURES))
    mix[:, :, 0] = 1
    return mix


class Progress(NamedTuple):
    """Where a run is."""

    mean: Array
    sigma: Array
    sum: Array  # of the means that make the result
    curve: Array
    generations: Array  # of both phases, done so far

    @classmethod
    def start(cls, config: Config) -> Progress:
        """Return a run that has not begun."""
        mean = pure_greed()
        sigma = np.full(mean.shape, config.sigma)
        return cls(mean, sigma, 0 * mean, np.zeros((0, 2)), np.array(0))


def improve(
    config: Config, now: Progress, role: int, stage: int, work: DealScratch
) -> tuple[Array, Array]:
    """Return the next mean and spread of one cell's weights."""
    path = ("pegging_mix", int(now.generations), role, stage)
    start = seeding.stream(config.seed, *path)
    rng = seeding.generator(config.seed, *path)
    deals = np.zeros(config.near_deals if stage else config.deals, dtype=GAME.state)
    start_deals(start, role, stage, work, deals)
    drawn = rng.normal(size=(config.population, NUM_FEATURES)) * now.sigma[role, stage]
    drawn += now.mean[role, stage]
    drawn[:, 0] = 1
    win = shipped_knowledge().win
    tried = now.mean.copy()
    chances = np.zeros(config.population)
    for number, weights in enumerate(drawn):
        tried[role, stage] = weights  # the other seat has the other role, so its own weights
        chances[number] = chance_after(deals, role, Pegger.mixed(tried), win, work)
    best = drawn[np.argsort(-chances, kind="stable")[: config.elite]]
    return best.mean(axis=0), np.maximum(best.std(axis=0), config.least_sigma)


def next_generation(config: Config, now: Progress, work: DealScratch) -> Progress:
    """Return a run one generation further, with the means of a phase where it ends."""
    done = int(now.generations)
    phase, place = divmod(done, config.generations)
    mean, sigma, total = now.mean.copy(), now.sigma.copy(), now.sum.copy()
    stages = range(1) if phase == 0 else range(1, NUM_STAGES)
    for role in range(ROLES):
        for stage in stages:
            found = improve(config, now, role, stage, work)
            mean[role, stage], sigma[role, stage] = found
            if place >= config.generations // 2:
                total[role, stage] += found[0]
    if place == config.generations - 1:
        counted = config.generations - config.generations // 2
        mean[:, stages] = total[:, stages] / counted
        if phase == 0:
            mean[:, 1:] = mean[:, :1]
            sigma[:, 1:] = config.near_sigma
    return Progress(mean, sigma, total, now.curve, np.array(done + 1))


def pegger(mix: Array) -> Pegger:
    """Return the player that these weights make, as it will be once they are kept."""
    return Pegger.mixed(mix.astype(np.float32).astype(np.float64))


def train(config: Config, folder: Path, report: Callable[[str, int, int], None]) -> dict[str, Any]:
    """Run all generations, or those that are left; return the summary."""
    check(config)
    open_run(folder, config)
    saved = load_arrays(folder / "checkpoint.npz")
    now = Progress(**saved) if saved else Progress.start(config)
    work, last = DealScratch.new(), 2 * config.generations
    test = seeding.stream(config.seed, "pegging_mix", "test")
    pairs = -(-config.test_deals // 2)
    report("generations", int(now.generations), last)
    while now.generations < last:
        now = next_generation(config, now, work)
        deals = measure_deals(pegger(now.mean), Pegger.greedy(), pairs, test)
        now = now._replace(curve=np.concatenate([now.curve, [[deals.mean, deals.margin]]]))
        save_arrays(folder / "checkpoint.npz", **now._asdict())
        rows = [
            {"points more than greedy": mean, "margin": half} for mean, half in now.curve.tolist()
        ]
        write_json(folder / "curve.json", rows)
        report("generations", int(now.generations), last)
    summary = {"generations": last, **measure(config, now)}
    save_arrays(folder / f"{TABLE}.npz", mix=now.mean.astype(np.float32))
    origin = provenance(GAME, "cardlab train cribbage/pegging_mix", config)
    write_json(folder / f"{TABLE}.json", {**origin, "summary": summary})
    return summary


def measure(config: Config, now: Progress) -> dict[str, Any]:
    """Return how strong a finished mix is, what its parts are worth, and its weights."""
    mix = now.mean
    far = np.repeat(mix[:, :1], NUM_STAGES, axis=1)
    alike = np.repeat(far.mean(axis=0, keepdims=True), ROLES, axis=0)

    def games(first: Pegger, second: Pegger) -> str:
        found = measure_games(first, second, -(-config.test_games // 2), config.seed)
        return f"{100 * found.mean:.2f} ± {100 * found.margin:.2f} % of {found.number:,} games"

    points = f"{now.curve[-1, 0]:.3f} ± {now.curve[-1, 1]:.3f}"
    found = {
        "points more than greedy pegging in a deal": f"{points} over {config.test_deals:,} deals",
        "games against greedy pegging": games(pegger(mix), Pegger.greedy()),
        "games against the weights far from the end at all times": games(pegger(mix), pegger(far)),
        "games of these against one weighting of both roles": games(pegger(far), pegger(alike)),
    }
    for role, name in enumerate(ROLE_NAMES):
        for stage, where in enumerate(STAGES):
            found[f"{name}, {where}"] = weights_text(mix[role, stage])
    return found


def weights_text(weights: Array) -> str:
    """Return the features with their weights."""
    return ", ".join(
        f"{name} {weight:+.2f}" for name, weight in zip(FEATURES, weights, strict=True)
    )
