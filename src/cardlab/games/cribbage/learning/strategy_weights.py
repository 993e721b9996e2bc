"""Learning to weigh eight strategies of Cribbage by the score, as a thesis did or by a gradient.

"Policy Improvement in Cribbage through Reinforcement", sections 3.1.2 to 4.3. The strategies, their
desirabilities S and the choice by weights w[own score, other's score, role]: `agents.strategies`.
Games start with random scores within 60 points of each other.

`update=thesis`. After a game that ends with a difference D of the scores (own less other's), the
strategies that advocated most for what was kept (S within 30 % of the best, at most a third of all)
are changed in every cell j = 1..T that was met, then the vector is scaled to sum to 1:

    w_i <- max(0.001, c_j w_i)      c_j = 1 + rate (D / 121) (1 - decay)^(T - j)

With the stated rate of 10 a loss by 13 points makes c negative, and the floor takes over; round 2
used a fifth. `explore` is the chance to keep any four cards; in round 1 it is 1/3 less the variance
of w (`by_variance`). `cap=K` bounds c w_i by K: the thesis prints max{K, c w_i}, but what it
describes, "a hard limit", is the min. `blend` mixes neighbouring cells when choosing.

`update=gradient`, a well-founded alternative on the same weights. The choice a is drawn with chance
proportional to exp(sharpness (S w)_a), and with V(cell) the mean of past results at these scores

    w_i <- w_i exp(step sharpness A (S_ai - E S_i))      A = V(next cell) - V(cell)

where V after the last deal is the result, 1 or 0, and E is the mean over the chances: REINFORCE by
mirror descent, with a baseline by cell on both sides of the deal (an actor-critic). The step falls
linearly to 0. V is shared by all agents of a run; weights are not.

Modes: `pairs` (0 with 1, 2 with 3, ...), `static` (each against random weights that do not learn),
`round_robin` (a new random pair every `swap` games), `brackets` (after each round a match of 101
games; the winners continue with their weights; the losers of round 1 start over with their first
weights in a bracket of their own; the loser of any later match is out). `games` is what an agent
plays in a round, on average in a round robin.

Deviations: `rows` cells along a score, 121 in the thesis; ties among advocates go to the strategy
that is named first, or are broken at random (`random_ties`; the thesis does not say). Of its code's
known defects none is kept: mis-scored pegging, roles swapped, exploration that took the best
choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.games.cribbage.agents.strategies import (
    FULL,
    STRATEGIES,
    blended,
    pure_weights,
    random_weights,
)
from cardlab.games.cribbage.learning.strategy_games import (
    GameScratch,
    agreement,
    compare,
    play_match,
)
from cardlab.games.cribbage.learning.strategy_updates import (
    Critic,
    Pair,
    Rule,
    Share,
    Trajectory,
    play_and_learn,
)
from cardlab.games.cribbage.rules import GAME
from cardlab.learning.runs import load_arrays, open_run, provenance, save_arrays, write_json

CHUNK = 20_000
UPDATES = ("thesis", "gradient")
MODES = ("pairs", "static", "round_robin", "brackets")
HANDS = 2_000  # on which agreement is measured
OPPONENTS = 10  # random weights that results are measured against


@dataclass(frozen=True)
class Config:
    """What can be set; with update=thesis rows=121 the numbers of the thesis's round 1."""

    update: str = "gradient"
    mode: str = "round_robin"
    agents: int = 32
    games: int = 1_000_000
    rows: int = 11
    rate: float = 10.0
    decay: float = 0.1
    explore: float = 1 / 3
    by_variance: bool = True
    random_ties: bool = False
    cap: float = 0.0  # 0: none
    blend: float = 0.0
    floor: float = 0.001
    step: float = 0.1
    sharpness: float = 20.0
    spread: int = 60
    swap: int = 1_000
    checkpoint: int = 1_000_000
    test_deals: int = 10_000
    seed: int = 0


class Bout(NamedTuple):
    """Games of two agents; without an opponent, against weights that do not learn."""

    learner: int
    opponent: int | None
    games: int
    gone: float  # part of the training before it
    share: float  # that each of its games is


def check(config: Config) -> None:
    """Raise an error if the settings are invalid."""
    if config.update not in UPDATES:
        raise CardlabError(f"update {config.update!r} is not known; use {' or '.join(UPDATES)}")
    if config.mode not in MODES:
        raise CardlabError(f"mode {config.mode!r} is not known; use one of {', '.join(MODES)}")
    if config.agents < 2 or config.agents % 2:
        raise CardlabError(f"agents={config.agents} do not pair off; use an even number from 2 on")
    if config.mode == "brackets" and config.agents & (config.agents - 1):
        raise CardlabError(f"agents={config.agents} make no brackets; use a power of two")
    if min(config.games, config.swap, config.checkpoint, config.test_deals) < 1:
        raise CardlabError("games, swap, checkpoint and test_deals must be 1 or more")
    if not 1 <= config.rows <= FULL or not 0 <= config.spread < FULL:
        raise CardlabError("rows must be between 1 and 121, spread between 0 and 120")
    parts = (config.decay, config.explore, config.blend, config.floor, config.cap)
    if not all(0 <= part <= 1 for part in parts) or config.floor * len(STRATEGIES) > 1:
        raise CardlabError(
            "decay, explore, blend and cap must be between 0 and 1, floor between 0 and 0.125"
        )
    if min(config.rate, config.step, config.sharpness) <= 0:
        raise CardlabError("rate, step and sharpness must be above 0")
    if config.update == "gradient" and config.blend:
        raise CardlabError("blend belongs to update=thesis; leave it out with update=gradient")


def bouts(config: Config, entrants: Array) -> Iterator[Bout]:
    """Yield the bouts of one round, in order."""
    share = 1 / config.games
    if config.mode == "static":
        for agent in entrants:
            yield Bout(int(agent), None, config.games, 0.0, share)
    elif config.mode == "round_robin":
        left = total = config.games * config.agents // 2
        draws = seeding.generator(config.seed, "strategy_weights", "pairs")
        while left:
            one, other = draws.choice(config.agents, 2, replace=False)
            games = min(config.swap, left)
            yield Bout(int(one), int(other), games, 1 - left / total, 1 / total)
            left -= games
    else:
        for one, other in zip(entrants[::2], entrants[1::2], strict=True):
            yield Bout(int(one), int(other), config.games, 0.0, share)


def next_entrants(
    entrants: Array, first_round: bool, beats: Callable[[int, int], bool]
) -> tuple[Array, Array]:
    """Return who plays the next round, and who of them starts over.

    Neighbours have played each other. The first half of all entrants is the winners' bracket, the
    second half the losers', except in the first round, whose losers make that bracket.
    """
    winners, losers = [], []
    for one, other in zip(entrants[::2].tolist(), entrants[1::2].tolist(), strict=True):
        won = beats(one, other)
        winners.append(one if won else other)
        losers.append(other if won else one)
    if first_round:
        return np.array(winners + losers), np.array(losers)
    return np.array(winners), np.array([], dtype=np.int64)


def rounds_of(config: Config) -> int:
    """Return how many rounds there are: in brackets until each of the two has one agent left."""
    return config.agents.bit_length() - 1 if config.mode == "brackets" else 1


def total_games(config: Config) -> int:
    """Return how many games a run has."""
    if config.mode == "static":
        return config.agents * config.games
    later = config.agents - 2 if config.mode == "brackets" else 0  # bouts after the first round
    return (config.agents // 2 + later) * config.games


class Trainer:
    """A run in memory; its arrays are the whole checkpoint."""

    def __init__(self, config: Config, folder: Path, start: Array | None = None) -> None:
        """Start from random weights, from given ones, or from the checkpoint."""
        self.config, self.folder = config, folder
        if start is None:
            start = np.stack([self.starting_weights(agent) for agent in range(config.agents)])
        self.first = start
        self.saved = load_arrays(folder / "checkpoint.npz") or {
            "weights": self.first.copy(),
            **Critic.new()._asdict(),
            "entrants": np.arange(config.agents),
            "place": np.zeros(3, dtype=np.int64),  # round, bout, games of the bout
            "games": np.array(0),
        }
        gradient = config.update == "gradient"
        rate = config.step if gradient else config.rate
        taken = {name: getattr(config, name) for name in Rule._fields if name != "gradient"}
        self.rule = Rule(**taken | {"gradient": gradient, "rate": rate})
        self.game, self.met = GameScratch.new(), Trajectory.new()

    def starting_weights(self, agent: int) -> Array:
        """Return the random weights that an agent starts with."""
        return random_weights(self.config.seed, "learner", agent, rows=self.config.rows)

    def save(self) -> None:
        """Write everything that the rest depends on, and what agent 0 has become by now."""
        save_arrays(self.folder / "checkpoint.npz", **self.saved)
        history = self.folder / "history"
        history.mkdir(exist_ok=True)
        name = f"agent_0_after_{int(self.saved['games']):012}.npz"
        save_arrays(history / name, weights=self.saved["weights"][0].astype(np.float16))

    def play(self, bout: Bout, start: int, first: int, count: int) -> None:
        """Play some games of a bout."""
        weights = self.saved["weights"]
        if bout.opponent is None:
            other = random_weights(self.config.seed, "static", bout.learner)
        else:
            other = weights[bout.opponent]
        share = Share(first, count, bout.gone, bout.share)
        pair = Pair(weights[bout.learner], other, bout.opponent is not None)
        critic = Critic(self.saved["values"], self.saved["visits"])
        play_and_learn(start, share, pair, self.rule, critic, self.game, self.met)

    def play_round(self, report: Callable[[str, int, int], None]) -> None:
        """Play what is left of the current round, with checkpoints on the way."""
        place, config = self.saved["place"], self.config
        for number, bout in enumerate(bouts(config, self.saved["entrants"])):
            if number < place[1]:
                continue
            start = seeding.stream(config.seed, "strategy_weights", "bout", int(place[0]), number)
            while place[2] < bout.games:
                to_checkpoint = config.checkpoint - int(self.saved["games"]) % config.checkpoint
                count = min(CHUNK, bout.games - int(place[2]), to_checkpoint)
                self.play(bout, start, int(place[2]), count)
                place[2] += count
                self.saved["games"] += count
                if count == to_checkpoint:
                    self.save()
                if count in (to_checkpoint, CHUNK):
                    report("games", int(self.saved["games"]), total_games(self.config))
            place[1:] = number + 1, 0

    def end_round(self) -> None:
        """Let matches decide who plays the next round."""
        place, weights, config = self.saved["place"], self.saved["weights"], self.config
        if config.mode == "brackets":

            def beats(one: int, other: int) -> bool:
                seed = seeding.stream(config.seed, "strategy_weights", "match", int(place[0]), one)
                first, second = (blended(weights[side], config.blend) for side in (one, other))
                return play_match(first, second, seed).won

            entrants = self.saved["entrants"]
            self.saved["entrants"], anew = next_entrants(entrants, place[0] == 0, beats)
            weights[anew] = self.first[anew]
        place[:] = place[0] + 1, 0, 0
        self.save()


def measure(config: Config, first: Array, learned: Array, last: Array) -> dict[str, Any]:
    """Return how strong and how alike agents are: all of them, and the mean of those left."""
    randoms = [random_weights(seed) for seed in range(OPPONENTS)]
    deals = -(-config.test_deals // OPPONENTS)
    seed = seeding.stream(config.seed, "strategy_weights", "test")
    pure = pure_weights("hand_max_avg")
    each = -(-config.test_deals // len(learned))
    foes = [randoms[agent % OPPONENTS] for agent in range(len(learned))]

    def result(first: list[Array], second: list[Array], number: int) -> str:
        return str(compare(first, second, number, seed))

    # The mean of many random weights is nearly uniform and beats each of them: what learning adds
    # to the mean is only what it gains over that.
    mean, mean_at_start = last.mean(axis=0), first.mean(axis=0)
    return {
        "agents at the start against random weights": result(list(first), foes, each),
        "agents at the end against random weights": result(list(learned), foes, each),
        "agents at the end against hand_max_avg": result(
            list(learned), [pure] * len(learned), each
        ),
        "their mean against random weights": result([mean] * OPPONENTS, randoms, deals),
        "their mean against hand_max_avg": result([mean], [pure], config.test_deals),
        "their mean against that at the start": result([mean], [mean_at_start], config.test_deals),
        "the mean at the start against random weights": result(
            [mean_at_start] * OPPONENTS, randoms, deals
        ),
        "choices alike at the start": round(agreement(first, HANDS, seed), 4),
        "choices alike at the end": round(agreement(learned, HANDS, seed), 4),
        "mean weights of the pone": weights_text(mean[:, :, 0]),
        "mean weights of the dealer": weights_text(mean[:, :, 1]),
    }


def weights_text(weights: Array) -> str:
    """Return the strategies with their mean weights, the heaviest first."""
    mean = weights.mean(axis=(0, 1))
    return ", ".join(f"{STRATEGIES[k]} {mean[k]:.3f}" for k in np.argsort(-mean, kind="stable"))


def train(
    config: Config,
    folder: Path,
    report: Callable[[str, int, int], None],
    *,
    start: Array | None = None,
) -> dict[str, Any]:
    """Play all games of a run, or those that are left; return the summary.

    Agents start with random weights, or with those in `start`, one set for each: what an earlier
    round has left. `population.npz` has the weights of all agents, blended if they blend,
    `weights.npz` the mean of those that were not beaten: all, or the two champions of the brackets.
    """
    check(config)
    open_run(folder, config)
    trainer = Trainer(config, folder, start)
    saved = trainer.saved
    if not (folder / "checkpoint.npz").exists():
        trainer.save()
    report("games", int(saved["games"]), total_games(config))
    while saved["place"][0] < rounds_of(config):
        trainer.play_round(report)
        trainer.end_round()
        report("games", int(saved["games"]), total_games(config))
    learned = np.stack([blended(weights, config.blend) for weights in saved["weights"]])
    last = learned[saved["entrants"]]
    summary: dict[str, Any] = {"games": int(saved["games"])}
    if config.mode == "brackets":
        winner, loser = saved["entrants"]
        summary["champions of winners and losers"] = f"agents {winner} and {loser}"
    summary |= measure(config, trainer.first, learned, last)
    save_arrays(folder / "population.npz", weights=learned.astype(np.float16))
    save_arrays(folder / "weights.npz", weights=last.mean(axis=0).astype(np.float16))
    origin = provenance(GAME, "cardlab train cribbage/strategy_weights", config)
    write_json(folder / "weights.json", {**origin, "summary": summary})
    return summary
