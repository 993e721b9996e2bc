"""A shard of a match: some deals in every seating, played in step; the unit of work.

Every game has random streams of its own, derived from the match's seed, the deal's number and the
seating: the outcome depends on nothing else, in particular not on which worker plays which shard.
"""

from __future__ import annotations

import copy
import secrets
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from cardlab.agents.catalog import find_agent
from cardlab.agents.outside import (
    DEFAULT_LIMITS,
    AgentFailed,
    Limits,
    OutsideAgent,
    check_limits,
)
from cardlab.arena.players import Player, find_named_game, read_players
from cardlab.engine import kernel, seeding
from cardlab.engine.arguments import options_in_a_dict, read_count, read_kind, shorten
from cardlab.engine.batch import Batch
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import Agent, Array, Game, OpenAgent, PlansAhead, State, Turn
from cardlab.engine.play import Table, agent_errors, illegal_answer
from cardlab.engine.records import Record, Result
from cardlab.engine.registry import find_game
from cardlab.engine.secret_deals import derive_key, secret_order

__all__ = ["Match", "Played", "Shard", "ShardResult", "full_record", "play_deals", "usual_reason"]

ACTION = np.dtype("<u2")  # how an action is kept, whatever the game
MOST_SALT = 100  # characters
MOST_GAMES = 100_000_000  # the results of so many still fit into memory
DIGITS = 6  # of returns and points that are kept


@dataclass(frozen=True)
class Match:
    """A match to be played by two or more agents; the last one takes all seats that are left."""

    game: str  # its name
    agents: tuple[str, ...]  # their names
    deals: int  # each is played once for every rotation of the seats
    seed: int  # of all deals and agents
    options: tuple[tuple[str, Any], ...] = ()  # all options with their values
    limits: Limits = DEFAULT_LIMITS  # for agents that are programs of their own
    places: tuple[int, ...] = ()  # the agent in each place of the first seating; empty: in order
    salt: str = ""  # a secret that the deals depend on; empty: on the seed alone
    objects: tuple[Player | None, ...] = field(default=(), hash=False)  # None: found by its name

    @classmethod
    @options_in_a_dict
    def plan(
        cls,
        game: str | Game,
        agents: Sequence[str | Agent | OpenAgent],
        games: int = 400,
        seed: int = 0,
        options: dict[str, Any] | None = None,
        limits: Limits | None = None,
        salt: str | None = None,
    ) -> Match:
        """Return a match of at least `games` games, after checking every argument.

        Agents are names or objects; tables and records name an object by its `name`. If a program
        plays, the deals depend on a secret salt: on `salt`, or on a random one.
        """
        name, found = find_named_game(game)
        values = found.read_options(options)
        seats = int(found.fresh(**values)[0].seats)
        if seats < 2:
            raise CardlabError(
                f"{name} has one seat, and a match needs two or more; compare agents on the same "
                "deals with `cardlab tournament`"
            )
        names, objects, made = read_players(agents, found)
        if not 2 <= len(names) <= seats:
            needed = "2" if seats == 2 else f"2 to {seats}"
            raise CardlabError(f"{name} needs {needed} agents, got {len(names)}")
        return cls(
            name,
            names,
            -(-read_count(games, "games", highest=MOST_GAMES) // seats),
            seeding.read_seed(seed),
            tuple(values.items()),
            check_limits(limits),
            salt=check_salt(salt) or (draw_salt() if has_program(made) else ""),
            objects=objects if any(one is not None for one in objects) else (),
        )

    def players(self, game: Game) -> list[Player]:
        """Return the agents, ready to play."""
        given = self.objects or (None,) * len(self.agents)
        found = []
        for name, agent in zip(self.agents, given, strict=True):
            player = find_agent(name, game) if agent is None else agent
            if agent is None and isinstance(player, OutsideAgent):
                player.limits = self.limits
            found.append(player)
        return found

    @property
    def seats(self) -> int:
        """The number of seats of the game."""
        return int(find_game(self.game).fresh(**dict(self.options))[0].seats)

    @property
    def lineup(self) -> tuple[int, ...]:
        """The agent in each place of the first seating, as an index into `agents`."""
        if self.places:
            return self.places
        last = len(self.agents) - 1
        return tuple(min(place, last) for place in range(self.seats))

    @property
    def rotations(self) -> tuple[int, ...]:
        """The rotations that seat the agents differently: `a b a b` has two, not four."""
        lineup = self.lineup
        seen: dict[tuple[int, ...], int] = {}
        for rotation in range(len(lineup)):
            seen.setdefault(lineup[-rotation:] + lineup[:-rotation], rotation)
        return tuple(seen.values())

    def seating(self, rotation: int) -> list[str]:
        """Return the agent of every seat: rotation r puts place k on seat (k + r) % seats."""
        lineup = self.lineup
        return [self.agents[lineup[(seat - rotation) % len(lineup)]] for seat in range(len(lineup))]

    def game_seed(self, deal: int) -> int:
        """Return the seed of a deal; without a salt `cardlab play --seed` deals the same."""
        if self.salt:
            secret = derive_key("game seed", self.salt, self.seed, deal)
            return int.from_bytes(secret[:8], "big") & seeding.TOP
        return int(seeding.branch(seeding.stream(self.seed, "match"), deal))

    def deck_order(self, game: Game, deal: int, n: int) -> Array:
        """Return the n-th deck order of a deal."""
        if self.salt:
            return secret_order(derive_key("cards", self.salt, self.seed, deal), n, game.deck)
        order = np.empty(game.deck, dtype=np.uint8)
        game.shuffle(self.game_seed(deal), n, order, np.zeros(1, dtype=np.int64))
        return order


def has_program(agents: Iterable[Agent | OpenAgent]) -> bool:
    """Return whether an agent is a program, from which the deals must be kept secret.

    A program that guesses the seed could compute every hand; agents in Python are trusted.
    """
    return any(isinstance(agent, OutsideAgent) for agent in agents)


def draw_salt() -> str:
    """Return a new secret salt."""
    return secrets.token_hex(16)


def check_salt(salt: str | None) -> str | None:
    """Return a salt that a person gives, after checking it."""
    text = isinstance(salt, str)
    if salt is not None and not (text and 0 < len(salt) <= MOST_SALT and salt.isprintable()):
        raise CardlabError(
            f"--salt must be 1 to {MOST_SALT} printable characters, got {shorten(salt)}"
        )
    return salt


@dataclass(frozen=True)
class Shard:
    """Some deals of a match, for one worker."""

    match: Match  # whose deals these are
    first: int  # number of the first deal
    count: int  # number of deals
    keep_records: bool  # whether to return every game
    pairing: int = 0  # which match of a tournament this is


class Played(NamedTuple):
    """One game in few bytes: all that a full record needs beside the match."""

    deal: int
    rotation: int
    seed: int
    decks: int
    orders: bytes  # one after another, as far as the game uses their cards
    actions: bytes
    returns: tuple[float, ...]
    points: tuple[float, ...]
    forfeit: int | None = None  # the seat that lost by failing to answer
    reason: str | None = None
    log: str | None = None  # the last that the failing agent wrote to its standard error
    nodes: int | None = None  # of agents that search a whole game at once


@dataclass(frozen=True)
class ShardResult:
    """What a worker sends back: returns and points by deal, seating and seat; thinking time."""

    first: int
    returns: Array
    points: Array
    seconds: Array
    decisions: Array
    games: list[Played]
    elapsed: float = 0.0
    pairing: int = 0
    forfeits: tuple[tuple[int, str], ...] = ()  # agent and reason of every game given away


def play_deals(shard: Shard) -> ShardResult:
    """Play the deals of a shard in every seating, all games in step.

    An agent that is a program of its own follows one game at a time, so then games are played one
    after another, with the same outcome.
    """
    shard = read_kind(shard, Shard, "shard", "make one by Shard(match, first, count)")
    began = time.perf_counter()
    match = shard.match
    game = find_game(match.game)
    agents = match.players(game)
    rotations = match.rotations
    rows = list(product(range(shard.first, shard.first + shard.count), rotations))
    alone = any(isinstance(agent, OutsideAgent) for agent in agents)
    parts = [[row] for row in rows] if alone else [rows]
    tallies = [_play_rows(match, game, agents, part, shard.keep_records) for part in parts]
    shape = (shard.count, len(rotations), len(match.lineup))
    return ShardResult(
        shard.first,
        np.concatenate([tally.returns for tally in tallies]).reshape(shape),
        np.concatenate([tally.points for tally in tallies]).reshape(shape),
        np.sum([tally.seconds for tally in tallies], axis=0),
        np.sum([tally.decisions for tally in tallies], axis=0),
        [played for tally in tallies for played in tally.games],
        time.perf_counter() - began,
        shard.pairing,
        tuple(tally.forfeit for tally in tallies if tally.forfeit),
    )


@dataclass
class _Tally:
    """What games in step have brought: by row and seat, and thinking time by agent."""

    returns: Array
    points: Array
    seconds: Array
    decisions: Array
    games: list[Played]
    forfeit: tuple[int, str] | None = None

    @classmethod
    def empty(cls, rows: int, seats: int, agents: int) -> _Tally:
        """Return a tally of nothing."""
        by_seat, by_agent = (rows, seats), (agents,)
        decisions = np.zeros(by_agent, dtype=np.int64)
        return cls(np.zeros(by_seat), np.zeros(by_seat), np.zeros(by_agent), decisions, [])


class _GamesInStep:
    """One game for every deal and rotation in `rows`, each at its next decision."""

    def __init__(
        self,
        match: Match,
        game: Game,
        agents: Sequence[Agent | OpenAgent],
        rows: Sequence[tuple[int, int]],
    ) -> None:
        self.match, self.game, self.agents, self.rows = match, game, agents, rows
        lineup = match.lineup
        self.seats = len(lineup)
        seed_of = {deal: match.game_seed(deal) for deal, _ in rows}
        self.seeds = np.array([seed_of[deal] for deal, _ in rows], dtype=np.int64)
        self.rotations = np.array([rotation for _, rotation in rows])
        self.agent_at = np.array(
            [[lineup[(seat - r) % self.seats] for seat in range(self.seats)] for _, r in rows]
        )
        self.rngs = [
            [seeding.generator(int(seed), "seat", seat, int(r)) for seat in range(self.seats)]
            for seed, r in zip(self.seeds, self.rotations, strict=True)
        ]
        options = dict(match.options)
        self.orders: dict[tuple[int, int], Array] = {}
        if match.salt:
            self.batch = Batch(game, len(rows), options=options, dealer=self._order)
        else:
            self.batch = Batch(game, len(rows), options=options, seeds=self.seeds)
        self.tally = _Tally.empty(len(rows), self.seats, len(agents))
        self.taken: list[list[int]] = [[] for _ in rows]
        self.actions = np.zeros(len(rows), dtype=np.int64)
        self.failure: AgentFailed | None = None
        self.plans: _Plans | None = None
        if self.seats == 1:
            plan = getattr(agents[0], "plan", None)
            with agent_errors(plan, match.agents[0], lambda: f"planner of {game.name}"):
                self.plans = _Plans(agents[0], self.batch, self.rngs)

    def _order(self, row: int, n: int) -> Array:
        """Return the n-th deck order of a game, the same for every seating of its deal."""
        deal = self.rows[row][0]
        if (deal, n) not in self.orders:
            self.orders[deal, n] = self.match.deck_order(self.game, deal, n)
        return self.orders[deal, n]

    def play(self) -> None:
        """Play all games to their end, or until a program fails."""
        programs = {  # they follow their game; then there is one row only
            seat: agent
            for seat in range(self.seats)
            if isinstance(agent := self.agents[self.agent_at[0, seat]], OutsideAgent)
        }
        tally = self.tally
        try:
            for seat, program in programs.items():
                options, rng = dict(self.match.options), self.rngs[0][seat]
                deal = int(self.seeds[0])
                program.begin(self.game, options, seat, self.seats, rng, deal=deal)
            while len(waiting := np.flatnonzero(self.batch.mover >= 0)):
                self._step(waiting)
        except AgentFailed as error:
            self.failure = error
            tally.returns[0] = _forfeit(self.seats, error.seat)
            tally.forfeit = int(self.agent_at[0, error.seat]), str(error)
        for seat, program in programs.items():
            program.end(seat, tally.returns[0].tolist(), tally.points[0].tolist(), self.failure)
        if self.plans:
            tally.seconds[0] += self.plans.seconds

    def _step(self, waiting: Array) -> None:
        """Take one action in every game that waits for one."""
        batch, tally = self.batch, self.tally
        who = self.agent_at[waiting, batch.mover[waiting]]
        for index, rotation in product(range(len(self.agents)), self.match.rotations):
            # One rotation at a time: an agent never holds two seats' views of one deal.
            rows: Array = waiting[(who == index) & (self.rotations[waiting] == rotation)]
            if len(rows):
                self._decide(index, rows)
        for row in waiting.tolist():
            self.taken[row].append(int(self.actions[row]))
        batch.step(self.actions)
        for row in waiting[batch.done[waiting]].tolist():
            tally.returns[row] = np.round(batch.returns[row].astype(np.float64), DIGITS)
            tally.points[row] = np.round(batch.points[row].astype(np.float64), DIGITS)

    def _decide(self, index: int, rows: Array) -> None:
        """Write an agent's actions for some rows, and count its time."""
        began, slow = time.perf_counter(), kernel.slow_calls()
        if self.plans and self.plans.made:
            self.actions[rows] = self.plans.next_of(rows)
        else:
            self.actions[rows] = self._ask(index, rows)
        if slow == kernel.slow_calls():  # otherwise the compiler's time, too
            self.tally.seconds[index] += time.perf_counter() - began
            self.tally.decisions[index] += len(rows)

    def _ask(self, index: int, rows: Array) -> Array:
        """Return an agent's choice for every row: at once where it can, one by one otherwise."""
        game, batch, agent, name = (
            self.game,
            self.batch,
            self.agents[index],
            self.match.agents[index],
        )
        rngs = [self.rngs[row][batch.mover[row]] for row in rows]
        method = _method_of(type(agent))
        act = getattr(agent, method)
        choices: list[Any] = []

        def place(row: int) -> str:
            first = "one of many turns, such as " if method == "act_many" and not choices else ""
            ply = len(self.taken[row])
            return (
                f"{first}seat {batch.mover[row]} of {game.name}, ply {ply}, {self._deal_text(row)}"
            )

        with agent_errors(act, name, lambda: place(rows[len(choices)])):
            if method == "act_open":
                for row, rng in zip(rows, rngs, strict=True):
                    choices.append(act(State(game, batch.states[row : row + 1].copy()), rng))
            elif method == "act_many":
                choices += list(act(batch.turns(rows), rngs))
            else:
                turns = batch.turns(rows)
                for i, rng in enumerate(rngs):
                    view = turns.views[i : i + 1].copy()  # alone in its memory
                    legal = turns.mask[i].nonzero()[0].astype(np.int16)
                    choices.append(act(Turn.of(game, int(turns.seats[i]), view, legal), rng))
        if len(choices) != len(rows):
            raise IllegalAction(
                f"agent {name!r} answered {len(choices)} of {len(rows)} turns at once; return one "
                "action for every turn from act_many"
            )
        for row, choice in zip(rows, choices, strict=True):
            whole = isinstance(choice, (int, np.integer)) and not isinstance(choice, bool)
            if not whole or not 0 <= choice < game.num_actions or not batch.mask[row, choice]:
                raise illegal_answer(name, choice, place(row), batch.mask[row].nonzero()[0])
        return np.array(choices, dtype=np.int64)

    def _deal_text(self, row: int) -> str:
        """Return how the cards of a game are named to whoever has to fix an agent."""
        if self.match.salt:
            return f"deal {self.rows[row][0]} of salt {self.match.salt}"
        return f"game seed {self.seeds[row]}"

    def stored(self) -> list[Played]:
        """Return every game in few bytes; games of one deal share its deck orders."""
        game, batch, failure = self.game, self.batch, self.failure
        used = game.used_cards or game.deck
        orders: dict[int, list[bytes]] = {}
        games = []
        for row, (deal, rotation) in enumerate(self.rows):
            decks, known = int(batch.deals[row]), orders.setdefault(deal, [])
            for n in range(len(known), decks):
                known.append(self._order(row, n)[:used].tobytes())
            games.append(
                Played(
                    deal,
                    rotation,
                    int(self.seeds[row]),
                    decks,
                    b"".join(known[:decks]),
                    np.array(self.taken[row], dtype=ACTION).tobytes(),
                    tuple(self.tally.returns[row].tolist()),
                    tuple(self.tally.points[row].tolist()),
                    failure.seat if failure else None,
                    str(failure) if failure else None,
                    failure.log or None if failure else None,
                    self.plans.nodes[row] if self.plans and self.plans.nodes else None,
                )
            )
        return games


def _play_rows(
    match: Match,
    game: Game,
    agents: Sequence[Agent | OpenAgent],
    rows: Sequence[tuple[int, int]],
    keep: bool,
) -> _Tally:
    """Play one game for every deal and rotation in `rows`, all in step."""
    games = _GamesInStep(match, game, agents, rows)
    games.play()
    if keep:
        games.tally.games = games.stored()
    return games.tally


def usual_reason(reasons: Iterable[str]) -> str | None:
    """Return the reason of most forfeits; reasons are of one kind if they begin alike."""
    kinds: dict[str, list[str]] = {}
    for reason in reasons:
        kinds.setdefault(reason.partition(":")[0], []).append(reason)
    return min(max(sorted(kinds.items()), key=lambda kind: len(kind[1]))[1]) if kinds else None


def _forfeit(seats: int, loser: int) -> Array:
    """Return what a game brings that `loser` gave away: last place, the win shared by the rest."""
    if seats == 1:
        return np.array([-1.0])
    returns = np.full(seats, 1 / (seats - 1) ** 2)
    returns[loser] = -1 / (seats - 1)
    return np.round(returns, DIGITS)


class _Plans:
    """What an agent that sees a whole game through has planned for games played alone."""

    def __init__(self, agent: Agent | OpenAgent, batch: Batch, rngs: list[Any]) -> None:
        self.made: list[deque[int]] = []
        self.nodes: list[int] = []
        self.seconds = 0.0
        if not isinstance(agent, PlansAhead):
            return
        turns = batch.turns(np.arange(batch.size))
        for row, (rng,) in enumerate(rngs):
            legal = turns.mask[row].nonzero()[0].astype(np.int16)
            turn = Turn.of(batch.game, 0, turns.views[row : row + 1].copy(), legal)
            again = copy.deepcopy(rng)
            began, slow = time.perf_counter(), kernel.slow_calls()
            plan, nodes = agent.plan(turn, rng)
            if slow < kernel.slow_calls():  # the time was the compiler's
                began = time.perf_counter()
                plan, nodes = agent.plan(turn, again)
            self.seconds += time.perf_counter() - began
            self.made.append(deque(plan))
            self.nodes.append(nodes)

    def next_of(self, rows: Array) -> list[int]:
        """Return the next planned action of every row."""
        return [self.made[row].popleft() for row in rows.tolist()]


def full_record(game: Game, match: Match, played: Played) -> Record:
    """Return the full record of a game that was kept in few bytes, played again by the rules."""
    width = len(played.orders) // max(1, played.decks)
    deals = []
    for n in range(played.decks):
        cards = list(played.orders[n * width : (n + 1) * width])
        deals.append(cards + [card for card in range(game.deck) if card not in set(cards)])
    table = Table(game, seed=None, deals=deals, options=dict(match.options))
    for action in np.frombuffer(played.actions, dtype=ACTION).tolist():
        table.act(action)
    record = table.record(match.seating(played.rotation), note=played.reason)
    changes: dict[str, Any] = {} if match.salt else {"seed": played.seed}
    if played.forfeit is None and not _agrees(record.result, played):
        raise CardlabError("its moves do not lead to its result")
    if played.forfeit is not None:
        changes["forfeit"] = played.forfeit
        changes["result"] = Result(returns=list(played.returns), points=list(played.points))
    return record.model_copy(update=changes)


def _agrees(result: Result | None, played: Played) -> bool:
    """Return whether a replayed game ended as its row says, up to the digits that are kept."""
    if result is None:
        return False
    ours, kept = (*result.returns, *result.points), (*played.returns, *played.points)
    return len(ours) == len(kept) and np.allclose(ours, kept, rtol=1e-5, atol=10**-DIGITS)


@cache
def _method_of(kind: type) -> str:
    """Return the method by which agents of a class are asked; finding that out is slow."""
    return next((name for name in ("act_open", "act_many") if hasattr(kind, name)), "act")
