"""Tournaments: a plan, its shards of work, the store of its games, the final table.

The deals are the same for all pairings, every deal is played in every seating that differs, and
the result of a game depends on the plan's seed alone. A run that was killed therefore resumes with
the missing games and ends in the table of an undisturbed run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from cardlab.agents.catalog import is_catalogued
from cardlab.agents.outside import DEFAULT_LIMITS, Limits, check_limits, dismiss_all
from cardlab.aliases import current_agent
from cardlab.arena.players import (
    Player,
    find_named_game,
    read_players,
    require_sendable,
    usable_workers,
)
from cardlab.arena.shard import (
    MOST_GAMES,
    Match,
    Shard,
    ShardResult,
    check_salt,
    draw_salt,
    has_program,
    play_deals,
)
from cardlab.arena.standings import Results
from cardlab.arena.store import Entered, Store, StoreError, read_store
from cardlab.arena.stored_games import (
    FORMATS,
    MOST_AHEAD,
    MOST_PAIRINGS,
    count_pairings,
)
from cardlab.arena.workers import stream_results
from cardlab.engine import seeding
from cardlab.engine.arguments import options_in_a_dict, read_count, read_function, read_kind
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Game
from cardlab.engine.registry import find_game

__all__ = ["FORMATS", "Plan", "enter", "play_tournament", "resume"]

SHARD_SECONDS = 1.0  # of work that a kill may cost, roughly
CLUSTER_SECONDS = 3.0  # likewise on a cluster, where handing work out costs more
MOST_DEALS_IN_A_SHARD = 256
ALONE = 1.5  # seconds that are worked here before processes are started


@dataclass(frozen=True)
class Plan:
    """The plan of a tournament; `make` checks every part."""

    game: str  # its name
    rules: int  # version of the rules
    agents: tuple[str, ...]  # their names
    deals: int  # of every pairing
    seed: int  # of all deals and agents
    options: tuple[tuple[str, Any], ...]  # all options with their values
    format: str = "round-robin"  # one of FORMATS, or sprt
    limits: Limits = DEFAULT_LIMITS  # of agents that are programs
    salt: str | None = None  # a secret that the deals depend on; None: drawn if programs play
    seats: int = 0  # of each game; 0: ask the rules, which a plan from a store need not do
    objects: tuple[Player | None, ...] = field(default=(), hash=False)  # None: found by its name

    @classmethod
    @options_in_a_dict
    def make(
        cls,
        game: str | Game,
        agents: Sequence[str | Player],
        games: int = 200,
        *,
        seed: int = 0,
        options: dict[str, Any] | None = None,
        format: str = "round-robin",
        limits: Limits | None = None,
        salt: str | None = None,
    ) -> Plan:
        """Return a plan of at least `games` games for every pairing, after checking every argument.

        Agents are names or objects; an object is stored by its `name`, which no agent of the
        catalogue may have.
        """
        name, found = find_named_game(game)
        values = found.read_options(options)
        if format not in FORMATS and format != "sprt":
            raise CardlabError(suggest("format", format, FORMATS))
        seats = int(found.fresh(**values)[0].seats)
        names, objects = _read_agents(agents, found)
        needed = 2 if seats > 1 else 1
        if len(names) < needed:
            raise CardlabError(
                f"a tournament of {name} needs {needed} or more agents, got {len(names)}"
            )
        if seats == 1 and format == "gauntlet":
            raise CardlabError(
                f"--format must be round-robin for {name}, which has one seat, got gauntlet"
            )
        games = read_count(games, "games")
        plan = cls(
            name,
            found.rules_version,
            names,
            1,
            seeding.read_seed(seed),
            tuple(values.items()),
            format,
            check_limits(limits),
            check_salt(salt),
            objects=objects,
        )
        pairings = count_pairings(len(names), seats, format)
        if pairings > MOST_PAIRINGS:
            raise CardlabError(
                f"{len(names)} agents at {seats} seats make {pairings:,} pairings; "
                f"name fewer agents (at most {MOST_PAIRINGS:,} pairings are played), or use "
                "--format gauntlet"
            )
        seatings = max(len(match.rotations) for match in plan.matches)
        plan = replace(plan, deals=-(-games // seatings))
        total = plan.deals * sum(len(match.rotations) for match in plan.matches)
        if total > MOST_GAMES:
            raise CardlabError(
                f"--games {games} makes {total:,} games in total, the most is {MOST_GAMES:,}; give "
                "a smaller number, or play several tournaments with different --seed"
            )
        return plan

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """Every pairing as a match: all groups of agents that fill the seats.

        With fewer agents than seats, the agents take turns at the remaining seats; of groups that
        are rotations of each other one is enough, as every seating of it is played.
        """
        seats = self.seats or int(find_game(self.game).fresh(**dict(self.options))[0].seats)
        count = len(self.agents)
        given = dict(zip(self.agents, self.objects, strict=True)) if self.objects else {}
        groups: list[tuple[str, ...]]
        if seats == 1:
            groups = [(agent,) for agent in self.agents]
        elif count >= seats:
            groups = list(itertools.combinations(self.agents, seats))
            if self.format == "gauntlet":
                groups = [group for group in groups if self.agents[0] in group]
        else:
            groups = [
                tuple(self.agents[(first + place) % count] for place in range(seats))
                for first in range(1 if seats % count == 0 else count)
            ]
        matches = []
        for group in groups:
            names = tuple(dict.fromkeys(group))
            places = tuple(names.index(one) for one in group)
            match = Match(self.game, names, self.deals, self.seed, self.options, self.limits)
            objects = tuple(given.get(name) for name in names) if given else ()
            matches.append(replace(match, places=places, salt=self.salt or "", objects=objects))
        return tuple(matches)

    @property
    def has_program(self) -> bool:
        """Whether an agent is a program of its own."""
        players = Match(self.game, self.agents, 1, self.seed, objects=self.objects)
        return has_program(players.players(find_game(self.game)))

    def settings(self) -> dict[str, Any]:
        """Return the settings that decide about the games, as plain data."""
        data = {
            "rules": self.rules,
            "agents": list(self.agents),
            "deals": self.deals,
            "seed": self.seed,
            "options": dict(self.options),
            "format": self.format,
        }
        if self.has_program:
            limits = asdict(self.limits)
            del limits["log_folder"]  # where logs go changes no game
            if limits.pop("fresh_process"):
                data["fresh_process"] = True
            data["limits"] = limits
        if self.salt:
            data["salt"] = self.salt
        return data

    @classmethod
    def of(cls, entered: Entered, games: int = MOST_GAMES) -> Plan:
        """Return the plan of a tournament in the store without running rules, to read its games.

        Deals far beyond the `games` in the store cannot have been played: they are cut off, so that
        they take no memory.
        """
        entered = read_entered(entered)
        games = read_count(games, "games", lowest=0)
        settings = dict(entered.settings)
        return cls(
            entered.game,
            settings["rules"],
            tuple(settings["agents"]),
            min(settings["deals"], games + MOST_AHEAD),
            settings["seed"],
            tuple(settings["options"].items()),
            settings["format"],
            Limits(
                **settings.get("limits", {}),
                fresh_process=settings.get("fresh_process") is True,
            ),
            settings.get("salt"),
            seats=entered.seats,
        )


def _read_agents(
    agents: Sequence[str | Player], game: Game
) -> tuple[tuple[str, ...], tuple[Player | None, ...]]:
    """Return the names of agents, each of them once, and those that are given as objects."""
    given, objects, _ = read_players(agents, game)
    for name, agent in zip(given, objects, strict=True):
        if agent is not None and is_catalogued(name, game):
            raise CardlabError(
                f"a tournament stores agents by name, and {name!r} is the name of another agent; "
                f"give the agent a name of its own, or the text {name!r} instead of an object"
            )
    names = [
        current_agent(name.strip(), game.name) if agent is None else name
        for name, agent in zip(given, objects, strict=True)
    ]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise CardlabError(f"a tournament needs each agent once, got {twice[0]!r} twice")
    return tuple(names), objects if any(one is not None for one in objects) else ()


def enter(plan: Plan, store: Store, name: str | None = None) -> Entered:
    """Write a new tournament into the store, with a secret salt if programs play."""
    plan, store = read_plan(plan), read_store(store)
    if plan.salt is None and plan.has_program:
        plan = replace(plan, salt=draw_salt())
    groups = [[match.agents[place] for place in match.lineup] for match in plan.matches]
    return store.enter(plan.game, plan.settings(), groups, name)


def read_plan(plan: object) -> Plan:
    """Return an argument that must be a plan."""
    return read_kind(plan, Plan, "plan", "make one by Plan.make")


def read_entered(entered: object) -> Entered:
    """Return an argument that must be a tournament of a store."""
    return read_kind(entered, Entered, "entered", "enter(plan, store) and store.find return one")


def resume(plan: Plan, store: Store, name: str | None = None) -> Entered:
    """Return the tournament to resume: that of a name, or the latest with the same settings."""
    plan, store = read_plan(plan), read_store(store)
    if name is not None:
        entered = store.find(name)
        if entered.game != plan.game:
            raise CardlabError(f"tournament {name!r} is of {entered.game}, not of {plan.game}")
        _compare(plan, entered)
        return entered
    found = store.tournaments(game=plan.game)
    for entered in reversed(found):
        if not _differences(plan, entered):
            return entered
    if not found:
        raise StoreError(f"{store.shown} has no tournament of {plan.game} to resume")
    nearest = max(found, key=lambda one: (-len(_differences(plan, one)), one.id))
    _compare(plan, nearest)
    raise AssertionError("a tournament with other settings has a difference")


def _differences(plan: Plan, entered: Entered) -> list[str]:
    ours, theirs = plan.settings(), dict(entered.settings)
    if plan.salt is None:
        theirs.pop("salt", None)  # drawn when the tournament began
    return [
        f"{key} {_words(theirs.get(key))}, not {_words(ours.get(key))}"
        for key in sorted(ours.keys() | theirs.keys())
        if ours.get(key) != theirs.get(key)
    ]


def _compare(plan: Plan, entered: Entered) -> None:
    differences = _differences(plan, entered)
    if differences:
        raise CardlabError(
            f"tournament {entered.name!r} has other settings: {'; '.join(differences)}; give the "
            "same ones to --resume it, or leave --resume out"
        )


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={one}" for key, one in value.items())
    return ", ".join(str(one) for one in value) if isinstance(value, list) else str(value)


def play_tournament(
    plan: Plan,
    store: Store,
    entered: Entered,
    *,
    workers: int = 1,
    ray: str | None = None,
    progress: Callable[[Results, ShardResult | None], None] | None = None,
    stop: Callable[[Results], bool] | None = None,
) -> Results:
    """Play the missing games of a tournament, store every game, and return all results.

    `stop` is called after every shard; play ends when it returns True, and can be resumed. Agents
    that are objects play in this process if they cannot be sent to other processes.
    """
    plan, store, entered = read_plan(plan), read_store(store), read_entered(entered)
    read_function(progress, "progress")
    read_function(stop, "stop")
    if ray:
        require_sendable(plan.objects)
    workers = usable_workers(plan.objects, read_count(workers, "workers"))
    plan = replace(plan, salt=entered.salt)
    store.drop_damaged(entered.id, plan.matches)
    results = Results.load(plan.matches, store, entered.id)
    if progress:
        progress(results, None)
    stopped = bool(stop and stop(results))
    if not stopped:
        paces: dict[int, float] = {}
        work = _shards(plan, results, paces, CLUSTER_SECONDS if ray else SHARD_SECONDS)
        stream = stream_results(play_deals, work, workers, alone=ALONE, ray=ray)
        try:
            for chunk in stream:
                store.add(entered.id, chunk)
                results.add(chunk)
                paces[chunk.pairing] = chunk.elapsed / len(chunk.returns)
                if progress:
                    progress(results, chunk)
                if stop and stop(results):
                    stopped = True
                    break
        finally:
            stream.close()  # type: ignore[attr-defined]  # it is a generator
            dismiss_all()
    whole = results.games == results.planned
    assert stopped or whole
    if whole:
        store.finish(entered.id)  # its salt is public now, and no deal of it is left to be played
    return results


def _shards(
    plan: Plan, results: Results, paces: dict[int, float], seconds: float
) -> Iterator[Shard]:
    """Yield the missing deals of all pairings side by side, in shards of about equal time."""
    left = {}
    for pairing in range(len(plan.matches)):
        missing = (~results.done(pairing)).nonzero()[0].tolist()
        if missing:
            left[pairing] = missing[::-1]
    sizes: dict[int, int] = {}
    while left:
        pairing = max(left, key=lambda one: len(left[one]))
        missing = left[pairing]
        pace = paces.get(pairing)
        size = 1
        if pace is not None:  # a few times the last at most: the first shard is a poor estimate
            size = max(1, min(MOST_DEALS_IN_A_SHARD, int(seconds / max(pace, 1e-9))))
            size = min(size, 4 * sizes.get(pairing, 1))
        sizes[pairing] = size
        first = missing.pop()
        count = 1
        while count < size and missing and missing[-1] == first + count:
            missing.pop()
            count += 1
        if not missing:
            del left[pairing]
        yield Shard(plan.matches[pairing], first, count, True, pairing)
