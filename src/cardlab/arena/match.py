"""Matches: the same deals for every seating, so that luck cancels and agents can be compared.

A deal is played once for each rotation of the seats; the mean over its rotations is one
observation, and intervals are taken over deals. Every game has streams of its own, derived from
the match's seed, the deal's number and the rotation: the result depends on nothing else, in
particular not on how many workers there are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from cardlab import seeding
from cardlab.agents.catalog import find_agent
from cardlab.arena.workers import stream_results
from cardlab.batch import Batch
from cardlab.errors import CardlabError, IllegalAction
from cardlab.game import ActsInBatches, Agent, Array, OpenAgent, State, Turn
from cardlab.games import find_game
from cardlab.play import Table
from cardlab.records import Record

__all__ = ["Match", "MatchResult", "Standing", "play_match"]

FIRST_CHUNK = 2
CHUNK_SECONDS = 0.5
MOST_DEALS = 256
FEWEST_DEALS = 10


@dataclass(frozen=True)
class Match:
    """What is to be played: two or more agents; the last one fills the seats that are left."""

    game: str
    agents: tuple[str, ...]
    deals: int
    seed: int
    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def plan(
        cls,
        game: str,
        agents: Sequence[str],
        games: int,
        seed: int = 0,
        options: dict[str, Any] | None = None,
    ) -> Match:
        """Return a match of at least `games` games, after checking every part of it."""
        found = find_game(game)
        values = found.read_options(options or {})
        seats = int(found.fresh(**values)[0].seats)
        if seats < 2:
            raise CardlabError(f"{game} is played alone; a match needs two seats or more")
        if not 2 <= len(agents) <= seats:
            raise CardlabError(
                f"{len(agents)} agents for {seats} seats of {game}; "
                f"name {'2' if seats == 2 else f'2 to {seats}'}"
            )
        for agent in agents:
            find_agent(agent, found)
        if games < 1:
            raise CardlabError(f"--games {games} is not possible; give 1 or more")
        return cls(
            game,
            tuple(agents),
            -(-games // seats),
            seeding.read_seed(seed),
            tuple(values.items()),
        )

    @property
    def seats(self) -> int:
        """How many seats the game has."""
        return int(find_game(self.game).fresh(**dict(self.options))[0].seats)

    @property
    def lineup(self) -> tuple[int, ...]:
        """The agent in each place of the first seating, as an index into `agents`."""
        last = len(self.agents) - 1
        return tuple(min(place, last) for place in range(self.seats))

    def game_seed(self, deal: int) -> int:
        """Return the seed of a deal; `cardlab play --seed` takes it too."""
        return int(seeding.branch(seeding.stream(self.seed, "match"), deal))


@dataclass(frozen=True)
class Task:
    """A stretch of a match for one worker."""

    match: Match
    first: int
    count: int
    keep_records: bool


@dataclass(frozen=True)
class Chunk:
    """What a worker sends back: returns and points by deal, rotation and seat; thinking time."""

    first: int
    returns: Array
    points: Array
    seconds: Array
    decisions: Array
    records: list[Record]


@dataclass(frozen=True)
class Standing:
    """How one agent did: its games, its score as a share of 1 a game, its points a game."""

    agent: str
    wins: int
    losses: int
    ties: int
    score: float
    score_interval: tuple[float, float] | None  # None: too few deals, or no variation
    points: float
    points_interval: tuple[float, float] | None
    milliseconds: float


@dataclass(frozen=True)
class MatchResult:
    """The outcome of a match."""

    game: str
    options: dict[str, Any]
    seed: int
    deals: int
    games: int
    planned: int  # games; more than were played if the match was stopped
    seconds: float
    standings: tuple[Standing, ...]

    @property
    def stopped(self) -> bool:
        """Whether the match ended before all planned games were played."""
        return self.games < self.planned

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return asdict(self)


def play_match(
    match: Match,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    save: Callable[[list[Record]], None] | None = None,
) -> MatchResult:
    """Play a match to its end; on Ctrl-C, return what has been played if there is anything."""
    began = time.perf_counter()
    chunks: list[Chunk] = []
    try:
        for chunk in _chunks(match, workers, save is not None):
            chunks.append(chunk)
            if save:
                save(chunk.records)
            if progress:
                progress(sum(len(one.returns) for one in chunks), match.deals)
    except KeyboardInterrupt:
        if not chunks:
            raise
    chunks.sort(key=lambda chunk: chunk.first)
    return _summarise(match, chunks, time.perf_counter() - began)


def _chunks(match: Match, workers: int, keep: bool) -> Iterator[Chunk]:
    """Play the first deals here to see how long they take, then the rest in fitting stretches."""
    first = min(FIRST_CHUNK, match.deals)
    yield play_deals(Task(match, 0, first, keep))
    if first == match.deals:
        return
    began = time.perf_counter()  # the first stretch may have compiled; this one tells the pace
    second = min(2 * first, match.deals - first)
    yield play_deals(Task(match, first, second, keep))
    at = first + second
    pace = (time.perf_counter() - began) / second
    size = max(1, min(MOST_DEALS, int(CHUNK_SECONDS / pace), -(-(match.deals - at) // workers)))
    tasks = [
        Task(match, start, min(size, match.deals - start), keep)
        for start in range(at, match.deals, size)
    ]
    yield from stream_results(play_deals, tasks, workers, pace * (match.deals - at))


def play_deals(task: Task) -> Chunk:
    """Play a stretch of deals in every rotation, all games in step."""
    match = task.match
    game = find_game(match.game)
    agents = [find_agent(spec, game) for spec in match.agents]
    lineup = match.lineup
    seats = len(lineup)
    rows = task.count * seats
    seeds = np.repeat([match.game_seed(task.first + i) for i in range(task.count)], seats)
    rotations = np.tile(np.arange(seats), task.count)
    # Rotation r puts the agent of place k on seat (k + r) % seats.
    agent_at = np.array([[lineup[(seat - r) % seats] for seat in range(seats)] for r in rotations])
    rngs = [
        [
            seeding.generator(int(seeds[row]), "seat", seat, int(rotations[row]))
            for seat in range(seats)
        ]
        for row in range(rows)
    ]
    batch = Batch(game, rows, seeds=seeds, options=dict(match.options))
    taken: list[list[int]] = [[] for _ in range(rows)]
    returns = np.zeros((rows, seats))
    points = np.zeros((rows, seats))
    seconds = np.zeros(len(agents))
    decisions = np.zeros(len(agents), dtype=np.int64)
    actions = np.zeros(rows, dtype=np.int64)
    waiting = np.flatnonzero(batch.mover >= 0)
    while len(waiting):
        movers = batch.mover[waiting]
        who = agent_at[waiting, movers]
        for index, rotation in product(range(len(agents)), range(seats)):
            # One rotation at a time: an agent never holds two seats' views of one deal.
            mine: Array = waiting[(who == index) & (rotations[waiting] == rotation)]
            if len(mine):
                began = time.perf_counter()
                actions[mine] = _ask_all(agents[index], batch, mine, rngs, match.agents[index])
                seconds[index] += time.perf_counter() - began
                decisions[index] += len(mine)
        for row in waiting.tolist():
            taken[row].append(int(actions[row]))
        batch.step(actions)
        for row in waiting[batch.done[waiting]].tolist():
            returns[row] = batch.returns[row]
            points[row] = batch.points[row]
        waiting = np.flatnonzero(batch.mover >= 0)
    records = []
    if task.keep_records:
        for row in range(rows):
            table = Table(game, seed=int(seeds[row]), options=dict(match.options))
            for action in taken[row]:
                table.act(action)
            records.append(table.record([match.agents[k] for k in agent_at[row]]))
    shape = (task.count, seats, seats)
    return Chunk(
        task.first, returns.reshape(shape), points.reshape(shape), seconds, decisions, records
    )


def _ask_all(
    agent: Agent | OpenAgent,
    batch: Batch,
    rows: Array,
    rngs: list[list[np.random.Generator]],
    name: str,
) -> Array:
    """Return an agent's choice for every row: at once where it can, one by one otherwise."""
    game = batch.game
    mine = [rngs[row][batch.mover[row]] for row in rows]
    if isinstance(agent, OpenAgent):
        states = (State(game, batch.states[row : row + 1].copy()) for row in rows)
        choices = [agent.act_open(s, rng) for s, rng in zip(states, mine, strict=True)]
    elif isinstance(agent, ActsInBatches):
        choices = list(agent.act_many(batch.turns(rows), mine))
    else:
        turns = batch.turns(rows)
        choices = []
        for i, rng in enumerate(mine):
            view = turns.views[i : i + 1].copy()  # alone in its memory
            legal = turns.mask[i].nonzero()[0].astype(np.int16)
            choices.append(agent.act(Turn.of(game, int(turns.seats[i]), view, legal), rng))
    if len(choices) != len(rows):
        raise IllegalAction(f"agent {name!r} answered {len(choices)} of {len(rows)} turns at once")
    for row, choice in zip(rows, choices, strict=True):
        whole = isinstance(choice, (int, np.integer)) and not isinstance(choice, bool)
        if not whole or not 0 <= choice < game.num_actions or not batch.mask[row, choice]:
            legal = ", ".join(str(one) for one in batch.mask[row].nonzero()[0])
            raise IllegalAction(
                f"agent {name!r} answered {choice!r} as seat {batch.mover[row]} of {game.name} "
                f"(game seed {batch.seeds[row]}); legal action ids: {legal}"
            )
    return np.array(choices, dtype=np.int64)


def _summarise(match: Match, chunks: list[Chunk], seconds: float) -> MatchResult:
    returns = np.concatenate([chunk.returns for chunk in chunks])
    points = np.concatenate([chunk.points for chunk in chunks])
    thought = np.sum([chunk.seconds for chunk in chunks], axis=0)
    decisions = np.sum([chunk.decisions for chunk in chunks], axis=0)
    deals, seats = len(returns), match.seats
    shares = (1 + (seats - 1) * returns) / seats  # a win 1, a loss 0, a tie an equal share
    standings = []
    for index, agent in enumerate(match.agents):
        places = [place for place, one in enumerate(match.lineup) if one == index]
        mine = np.zeros((seats, seats), dtype=bool)  # rotation, seat
        for rotation in range(seats):
            for place in places:
                mine[rotation, (place + rotation) % seats] = True
        best = returns.max(axis=2, keepdims=True)
        alone = (returns == best).sum(axis=2, keepdims=True) == 1
        wins = ((returns == best) & alone)[:, mine].sum()
        ties = ((returns == best) & ~alone)[:, mine].sum()
        played = deals * seats * len(places)
        score, score_interval = _interval(shares[:, mine].mean(axis=1), 0, 1)
        mean, mean_interval = _interval(points[:, mine].mean(axis=1))
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
    )


def _interval(
    values: Array, low: float = -np.inf, high: float = np.inf
) -> tuple[float, tuple[float, float] | None]:
    """Return the mean of independent values and its 95 % interval by Student's t.

    There is none for fewer than FEWEST_DEALS values or for values without variation.
    """
    mean = float(values.mean())
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    if len(values) < FEWEST_DEALS or spread == 0:
        return mean, None
    from scipy.special import stdtrit  # scipy.stats takes a second to import

    half = float(stdtrit(len(values) - 1, 0.975)) * spread / len(values) ** 0.5
    return mean, (max(low, mean - half), min(high, mean + half))
