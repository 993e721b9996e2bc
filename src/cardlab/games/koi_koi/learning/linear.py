"""A linear policy of Koi-Koi distilled from a network, for play-outs in microseconds.

The network of `teacher` plays against itself, with some choices by chance so that its games go
everywhere, and says at every decision what each choice is worth to it. Differences are measured in
points: what a network that learned to win expects is divided by what a point is worth at that lead
and so many rounds before the end. The weights (`linear`) are then fitted so that
choices drawn in proportion to exp(sum) are those drawn in proportion to exp(points / temperature):
they say what to choose, and how much it matters.

Games come in blocks with a seed each, kept in the folder of the run, so that a run that was killed
resumes with the next block and ends with the same weights. The last tenth of all games is held back
to measure how often the choice is the network's, and how many points are lost where it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from cardlab.agents.catalog import find_agent
from cardlab.engine import seeding
from cardlab.engine.batch import Batch
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import OVER, Array, nth_legal
from cardlab.engine.kernel import bit, int64, kernel
from cardlab.games.koi_koi.agents.linear import TABLE
from cardlab.games.koi_koi.agents.network import KoiKoiNetwork
from cardlab.games.koi_koi.linear import (
    CALLS,
    MOST_TERMS,
    NUM_TERMS,
    call_terms,
    card_terms,
    count_groups,
)
from cardlab.games.koi_koi.playouts import Scratch, better_pick
from cardlab.games.koi_koi.rules import GAME, START
from cardlab.games.koi_koi.table import CALL, DISCARD
from cardlab.games.koi_koi.tokens import KOI_KOI_TOKEN, MOST_CHOICES
from cardlab.games.koi_koi.win_chances import POINTS, look_up
from cardlab.learning.runs import Report, load_arrays, open_run, provenance, save_arrays, write_json

# A point is worth the difference between so many more and as many fewer, divided by all of them. In
# the last round, where only the sign counts, these are as many as one round may still bring.
NEARBY, LAST_NEARBY = 5, 12
LEAST = 0.015  # of a return: what a point is worth at least
HELD_BACK = 10
NO_TERM = NUM_TERMS
IMPOSSIBLE = -1e9
PENALTY = 1e-5
HALVED = 5  # epochs at the end, each with half the rate of the one before


@dataclass(frozen=True)
class Config:
    """Settings: who teaches, how many games, how often by chance, and how it is fitted."""

    teacher: str = "koi_koi_win"
    games: int = 1536
    block_games: int = 256
    explore: float = 0.08
    temperature: float = 0.35
    learning_rate: float = 0.02
    epochs: int = 12
    call_epochs: int = 25
    batch: int = 4096
    call_batch: int = 256
    seed: int = 0


@kernel
def write_terms(states: Any, choices: Any, weights: Any, scratch: Any, out: Any) -> None:
    """Write the terms of every choice, of captures of two with the pick that is better now."""
    for i in range(len(states)):
        s = states[i]
        seat = int64(s.seat)
        count_groups(s, seat, scratch.counts)
        for k in range(MOST_CHOICES):
            token = int64(choices[i, k])
            if k > 0 and token == choices[i, 0]:
                break
            count = 0
            if s.phase == DISCARD:
                taken = better_pick(s, seat, token, weights, scratch)
                count = card_terms(s, seat, token, taken, scratch.counts, scratch.terms)
            elif s.phase != CALL:
                count = card_terms(
                    s, seat, int64(s.pending), bit(token), scratch.counts, scratch.terms
                )
            elif token == KOI_KOI_TOKEN:
                count = call_terms(s, seat, scratch.terms)
            for j in range(count):
                out[i, k, j] = scratch.terms[j]


def point_worth(network: KoiKoiNetwork, states: Array) -> Array:
    """Return by how much a point changes what the network says, at each decision."""
    if network.learned == "point":
        return np.full(len(states), 1 / POINTS)
    seats = states["seat"].astype(np.int64)
    left = states["rounds"].astype(np.int64) - states["round_number"]
    lead = states["points_now"][np.arange(len(states)), seats].astype(np.int64) - START

    def expected(lead: Array) -> Array:
        later = np.mean([look_up(network.chances, left, deals, lead) for deals in (0, 1)], axis=0)
        return np.where(left == 0, np.sign(lead), 2 * later - 1)

    nearby = np.where(left == 0, LAST_NEARBY, NEARBY)
    slope: Array = (expected(lead + nearby) - expected(lead - nearby)) / (2 * nearby)
    return np.maximum(slope, LEAST)


def gather(network: KoiKoiNetwork, config: Config, block: int, games: int) -> dict[str, Array]:
    """Return all decisions of some games: the game, state, choices, and their worth in points."""
    first = block * config.block_games
    path = ("koi_koi_terms", "game")
    seeds = [seeding.stream(config.seed, *path, first + row) for row in range(games)]
    chance = seeding.generator(config.seed, "koi_koi_terms", "choice", block)
    batch = Batch(GAME, games, seeds=seeds)
    kept: list[tuple[Array, Array, Array, Array]] = []
    while True:
        rows = np.flatnonzero(batch.mover != OVER)
        if len(rows) == 0:
            break
        states = batch.states[rows]
        choices, rated = network.rate_views(states, states["seat"].astype(np.int64))
        kept.append((first + rows, states, choices, rated / point_worth(network, states)[:, None]))
        counts = np.isfinite(rated).sum(axis=1)
        anything = (chance.random(len(rows)) * counts).astype(np.int64)
        by_chance = chance.random(len(rows)) < config.explore
        nth = np.where(by_chance, anything, rated.argmax(axis=1))
        actions = np.zeros(games, dtype=np.int64)
        actions[rows] = nth_legal(batch.mask[rows], nth)
        batch.step(actions)
    parts = (np.concatenate(part) for part in zip(*kept, strict=True))
    return dict(zip(("games", "states", "choices", "points"), parts, strict=True))


def fit(
    config: Config,
    terms: Array,
    points: Array,
    weights: Array,
    *,
    calls: bool,
    epochs: int,
    stream: int,
    report: Callable[[int], None],
) -> Array:
    """Return weights whose sums choose as these points do; only those of calls, or all others."""
    generator = torch.Generator().manual_seed(stream)
    most = int((terms != NO_TERM).sum(axis=-1).max(initial=1))
    places = torch.from_numpy(terms[:, :, :most].astype(np.int64))
    worth = torch.from_numpy(points).float()
    possible = torch.isfinite(worth)
    wanted = (worth / config.temperature).masked_fill(~possible, IMPOSSIBLE).softmax(1)
    learned = torch.tensor(np.append(weights, 0.0), dtype=torch.float32, requires_grad=True)
    own = torch.zeros(NUM_TERMS + 1)
    own[slice(CALLS, NUM_TERMS) if calls else slice(CALLS)] = 1.0
    optimiser = torch.optim.Adam([learned], lr=config.learning_rate)
    batch = config.call_batch if calls else config.batch
    for epoch in range(epochs):
        if epoch >= epochs - HALVED:
            optimiser.param_groups[0]["lr"] *= 0.5
        for some in torch.split(torch.randperm(len(places), generator=generator), batch):
            # Other ways to add up give other sums on another number of threads.
            bags = places[some].view(-1, most)
            sums = embedding_bag(bags, learned[:, None], mode="sum", padding_idx=NO_TERM)
            sums = sums.view(-1, MOST_CHOICES).masked_fill(~possible[some], IMPOSSIBLE)
            loss: Tensor = -(wanted[some] * sums.log_softmax(1)).sum(1).mean()
            loss = loss + PENALTY * (learned * own).square().sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            assert learned.grad is not None
            learned.grad *= own
            optimiser.step()
        report(epoch + 1)
    return learned.detach().double().numpy()[:NUM_TERMS]


def held_back(terms: Array, points: Array, weights: Array) -> dict[str, float]:
    """Return how often the greatest sum is the network's choice, and what other choices cost."""
    sums = np.append(weights, 0.0)[terms.astype(np.int64)].sum(axis=-1)
    chosen = np.where(np.isfinite(points), sums, -np.inf).argmax(axis=1)
    lost = points.max(axis=1) - points[np.arange(len(points)), chosen]
    return {
        "agreement": round(float((chosen == points.argmax(axis=1)).mean()), 4),
        "points lost": round(float(lost.mean()), 4),
    }


def check(config: Config) -> None:
    """Raise an error if the settings are invalid."""
    least = (config.block_games, config.epochs, config.call_epochs, config.batch)
    if config.games < 2 or min(*least, config.call_batch) < 1:
        raise CardlabError(
            "games must be 2 or more, block_games, epochs, call_epochs, batch and call_batch 1 or "
            "more"
        )
    if not 0 <= config.explore <= 1 or min(config.temperature, config.learning_rate) <= 0:
        raise CardlabError(
            "explore must be from 0 to 1, temperature and learning_rate must be above 0"
        )


def find_teacher(name: str) -> KoiKoiNetwork:
    """Return the networks of an agent, or those in a folder."""
    agent = KoiKoiNetwork(name) if Path(name).is_dir() else find_agent(name, GAME)
    if not isinstance(agent, KoiKoiNetwork) or agent.learned not in ("win", "point"):
        raise CardlabError(
            f"teacher={name} has no networks that learned values; name koi_koi_win, koi_koi_point "
            "or a folder of shipped networks"
        )
    return agent


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Gather games that are still missing, fit the weights; return the summary."""
    check(config)
    network = find_teacher(config.teacher)
    open_run(folder, config)
    found = []
    for block, first in enumerate(range(0, config.games, config.block_games)):
        report("games", first, config.games)
        path = folder / f"games_{block}.npz"
        arrays = load_arrays(path)
        if arrays is None:
            arrays = gather(network, config, block, min(config.block_games, config.games - first))
            save_arrays(path, **arrays)
        found.append(arrays)
    report("games", config.games, config.games)
    weights, measured = learn(config, found, report)
    summary = {"games": config.games, **measured}
    save_arrays(folder / f"{TABLE}.npz", weights=weights.astype(np.float32))
    origin = provenance(GAME, "cardlab train koi_koi/linear", config)
    write_json(folder / f"{TABLE}.json", {**origin, "summary": summary})
    return summary


def learn(
    config: Config, found: list[dict[str, Array]], report: Report
) -> tuple[Array, dict[str, Any]]:
    """Return weights fitted to decisions, and how well they predict those that were held back.

    The pick that is meant with a discard hangs on the weights: first they are fitted in short.
    """
    games, states, choices, points = (
        np.concatenate([one[name] for one in found])
        for name in ("games", "states", "choices", "points")
    )
    states = states.astype(GAME.state)
    weights = np.zeros(NUM_TERMS)
    terms = np.full((len(states), MOST_CHOICES, MOST_TERMS), NO_TERM, dtype=np.int16)
    several = np.isfinite(points[:, 1])
    calls = states["phase"] == CALL
    learned_from = games < config.games - max(1, config.games // HELD_BACK)
    short = -(-config.epochs // 3)
    epochs = short + config.epochs + config.call_epochs
    done = 0

    def report_epoch(epoch: int) -> None:
        report("epochs", done + epoch, epochs)

    parts = ((False, short), (False, config.epochs), (True, config.call_epochs))
    for number, (of_calls, count) in enumerate(parts):
        terms[:] = NO_TERM
        write_terms(states, choices, weights, Scratch.new(), terms)
        some = several & learned_from & (calls == of_calls)
        weights = fit(
            config,
            terms[some],
            points[some],
            weights,
            calls=of_calls,
            epochs=count,
            stream=seeding.stream(config.seed, "koi_koi_terms", "fit", number),
            report=report_epoch,
        )
        done += count
    measured: dict[str, Any] = {"decisions": len(states)}
    for name, kind in (("discards and picks", ~calls), ("calls", calls)):
        some = several & ~learned_from & kind
        if some.any():
            found_here = held_back(terms[some], points[some], weights)
            measured |= {f"{name}: {what}": value for what, value in found_here.items()}
    return weights, measured
