"""Matches: every deal is played in every seating, so that luck cancels out.

A deal is played once for each rotation of the seats; the mean over its rotations is one
observation, and intervals are computed over deals.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardlab.agents.outside import dismiss_all
from cardlab.arena.players import usable_workers
from cardlab.arena.shard import Match, Shard, ShardResult, full_record, play_deals, usual_reason
from cardlab.arena.workers import stream_results
from cardlab.engine import kernel
from cardlab.engine.arguments import read_count, read_function, read_kind
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.notebook_hooks import ShownAsHtml
from cardlab.engine.records import Record
from cardlab.engine.registry import find_game
from cardlab.engine.statistics import mean_and_interval

__all__ = [
    "Match",
    "MatchResult",
    "SavingFailed",
    "Shard",
    "Standing",
    "play_deals",
    "play_match",
    "shares",
]

FIRST_CHUNK = 2
CHUNK_SECONDS = 0.5
MOST_DEALS_IN_A_SHARD = 256


@dataclass(frozen=True)
class Standing:
    """The result of one agent: games, score a game (0 to 1) and points a game, with intervals."""

    agent: str  # its name
    wins: int  # games
    losses: int  # games
    ties: int  # games in which it shared the first place
    score: float  # mean of a game: 1 for a win, 0 for a loss, ties shared
    score_interval: tuple[float, float] | None  # None: too few deals, or no variation
    points: float  # mean of a game
    points_interval: tuple[float, float] | None  # 95 %; None as above
    milliseconds: float  # for one decision, on average
    forfeits: int = 0  # games given away, which outside agents can do
    forfeit_reason: str | None = None  # of most of them


@dataclass(frozen=True)
class MatchResult(ShownAsHtml):
    """The outcome of a match."""

    game: str  # its name
    options: dict[str, Any]  # all options with their values
    seed: int  # of all deals and agents
    deals: int  # that were played
    games: int  # that were played
    planned: int  # games; more than were played if the match was stopped
    seconds: float  # the match took
    standings: tuple[Standing, ...]  # one for each agent
    salt: str = ""  # the secret that the deals depended on, if programs have played

    @property
    def stopped(self) -> bool:
        """Whether the match ended before all planned games were played."""
        return self.games < self.planned

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return asdict(self)


class SavingFailed(CardlabError):
    """Records could not be saved, as on a full disk; `result` counts the games played so far."""

    def __init__(self, reason: str, result: MatchResult) -> None:
        """Take what went wrong, and what was played."""
        super().__init__(f"{reason}; the match ended after {result.games:,} games")
        self.result = result


def play_match(
    match: Match,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    save: Callable[[list[Record]], None] | None = None,
) -> MatchResult:
    """Play a match and return its result; on Ctrl-C, the result of the games played so far.

    Agents that are objects play in this process if they cannot be sent to other processes. If
    `save` raises a CardlabError, the match ends and SavingFailed carries the result so far.
    """
    match = read_kind(match, Match, "match", "make one by Match.plan")
    read_function(progress, "progress")
    read_function(save, "save")
    workers = usable_workers(match.objects, read_count(workers, "workers"))
    began = time.perf_counter()
    chunks: list[ShardResult] = []
    unsaved: CardlabError | None = None
    try:
        for chunk in _chunks(match, workers, save is not None):
            chunks.append(chunk)
            if save:
                records = _records(match, chunk)
                try:
                    save(records)
                except CardlabError as error:
                    unsaved = error
                    break
            if progress:
                progress(sum(len(one.returns) for one in chunks), match.deals)
    except KeyboardInterrupt:
        if not chunks:
            raise
    finally:
        dismiss_all()
    chunks.sort(key=lambda chunk: chunk.first)
    result = _summarise(match, chunks, time.perf_counter() - began)
    if unsaved:
        raise SavingFailed(str(unsaved), result) from unsaved
    return result


def _records(match: Match, chunk: ShardResult) -> list[Record]:
    game = find_game(match.game)
    return [full_record(game, match, one) for one in chunk.games]


def _chunks(match: Match, workers: int, keep: bool) -> Iterator[ShardResult]:
    """Play the first deals here to see how long they take, then the rest in fitting shards.

    What compiles, or runs interpreted until others have compiled it, does not tell the pace.
    """
    at, count, pace = 0, FIRST_CHUNK, None
    while pace is None:
        began, slow = time.perf_counter(), kernel.slow_calls()
        count = min(count, match.deals - at)
        yield play_deals(Shard(match, at, count, keep))
        at += count
        if at == match.deals:
            return
        if slow == kernel.slow_calls() and at > FIRST_CHUNK:
            pace = (time.perf_counter() - began) / count
        count = 2 * FIRST_CHUNK
    size = max(
        1, min(MOST_DEALS_IN_A_SHARD, int(CHUNK_SECONDS / pace), -(-(match.deals - at) // workers))
    )
    tasks = [
        Shard(match, start, min(size, match.deals - start), keep)
        for start in range(at, match.deals, size)
    ]
    yield from stream_results(play_deals, tasks, workers, pace * (match.deals - at))


def _summarise(match: Match, chunks: list[ShardResult], seconds: float) -> MatchResult:
    returns = np.concatenate([chunk.returns for chunk in chunks])
    points = np.concatenate([chunk.points for chunk in chunks])
    thought = np.sum([chunk.seconds for chunk in chunks], axis=0)
    decisions = np.sum([chunk.decisions for chunk in chunks], axis=0)
    deals, seats = len(returns), match.seats
    won = shares(returns)
    seat, rotation = np.arange(seats)[None, :], np.arange(seats)[:, None]
    who = np.array(match.lineup)[(seat - rotation) % seats]
    standings = []
    for index, agent in enumerate(match.agents):
        mine = who == index
        best = returns.max(axis=2, keepdims=True)
        alone = (returns == best).sum(axis=2, keepdims=True) == 1
        wins = ((returns == best) & alone)[:, mine].sum()
        ties = ((returns == best) & ~alone)[:, mine].sum()
        played = deals * mine.sum()
        score, score_interval = mean_and_interval(won[:, mine].mean(axis=1), 0, 1)
        mean, mean_interval = mean_and_interval(points[:, mine].mean(axis=1))
        reasons = [why for chunk in chunks for who, why in chunk.forfeits if who == index]
        standings.append(
            Standing(
                agent,
                int(wins),
                int(played - wins - ties),
                int(ties),
                score,
                score_interval,
                mean,
                mean_interval,
                1000 * float(thought[index]) / max(1, int(decisions[index])),
                len(reasons),
                usual_reason(reasons),
            )
        )
    return MatchResult(
        match.game,
        dict(match.options),
        match.seed,
        deals,
        deals * seats,
        match.deals * seats,
        seconds,
        tuple(standings),
        match.salt,
    )


def shares(returns: Array) -> Array:
    """Return the score of every seat, the last axis: 1 for a win, divided among ties for first.

    The margin of a win does not count; points measure it.
    """
    first = returns == returns.max(axis=-1, keepdims=True)
    found: Array = first / np.maximum(first.sum(axis=-1, keepdims=True), 1)
    return np.where(np.isnan(returns), np.nan, found)
