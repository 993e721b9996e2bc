"""Tournaments: a plan, its shards of work, the store they are kept in, the table at the end.

The deals are the same for all pairings, every deal is played in every seating that differs, and
what a game brings depends on the plan's seed alone. A run that was killed therefore goes on with
what is missing and ends in the table of an undisturbed one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from cardlab.agents.catalog import find_agent
from cardlab.agents.outside import DEFAULT_LIMITS, Limits, dismiss_all
from cardlab.aliases import current_agent
from cardlab.arena.shard import (
    Match,
    Shard,
    ShardResult,
    check_salt,
    draw_salt,
    has_program,
    play_deals,
)
from cardlab.arena.standings import Results
from cardlab.arena.store import Entered, Store, StoreError
from cardlab.arena.stored_games import (
    FORMATS,
    MOST_AHEAD,
    MOST_GAMES,
    MOST_PAIRINGS,
    count_pairings,
)
from cardlab.arena.workers import stream_results
from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.registry import find_game

__all__ = ["FORMATS", "Plan", "enter", "play_tournament", "resume"]

SHARD_SECONDS = 1.0  # of work that a kill may cost, roughly
CLUSTER_SECONDS = 3.0  # likewise on a cluster, where handing work out costs more
MOST_DEALS_IN_A_SHARD = 256
ALONE = 1.5  # seconds that are worked here before processes are started


@dataclass(frozen=True)
class Plan:
    """What is to be played; everything in it has been checked."""

    game: str
    rules: int
    agents: tuple[str, ...]
    deals: int
    seed: int
    options: tuple[tuple[str, Any], ...]
    format: str = "round-robin"
    limits: Limits = DEFAULT_LIMITS
    salt: str | None = None  # a secret that the deals depend on; None: drawn if programs play
    seats: int = 0  # of each game; 0: ask the rules, as a plan from a store need not

    @classmethod
    def make(
        cls,
        game: str,
        agents: Sequence[str],
        games: int,
        *,
        seed: int = 0,
        options: dict[str, Any] | None = None,
        format: str = "round-robin",
        limits: Limits | None = None,
        salt: str | None = None,
    ) -> Plan:
        """Return a plan of at least `games` games for every pairing, after checking it all."""
        found = find_game(game)
        values = found.read_options(options or {})
        if format not in FORMATS and format != "sprt":
            raise CardlabError(suggest("format", format, FORMATS))
        names = tuple(current_agent(agent.strip(), found.name) for agent in agents)
        seats = int(found.fresh(**values)[0].seats)
        if len(set(names)) != len(names) or len(names) < (2 if seats > 1 else 1):
            raise CardlabError("a tournament needs two or more agents, each named once")
        if seats == 1 and format == "gauntlet":
            raise CardlabError(f"{game} is played alone; leave --format gauntlet out")
        for agent in names:
            find_agent(agent, found)
        if games < 1:
            raise CardlabError(f"--games {games} is not possible; give 1 or more")
        plan = cls(
            game,
            found.rules_version,
            names,
            1,
            seeding.read_seed(seed),
            tuple(values.items()),
            format,
            (limits or DEFAULT_LIMITS).check(),
            check_salt(salt),
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
                f"--games {games} makes {total:,} games in all, more than {MOST_GAMES:,}; give a "
                "smaller number, or play several tournaments, each with a --seed of its own"
            )
        return plan

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """Every pairing as a match: all groups of agents that fill the seats.

        With fewer agents than seats, they take turns at the spare ones; of groups that are
        rotations of each other one is enough, as every seating of it is played.
        """
        seats = self.seats or int(find_game(self.game).fresh(**dict(self.options))[0].seats)
        count = len(self.agents)
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
            matches.append(replace(match, places=places, salt=self.salt or ""))
        return tuple(matches)

    @property
    def has_program(self) -> bool:
        """Whether an agent is a program of its own."""
        game = find_game(self.game)
        return has_program(find_agent(agent, game) for agent in self.agents)

    def settings(self) -> dict[str, Any]:
        """Return what makes this plan what it is, as plain data."""
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
        """Return the plan of a tournament in the store, to read its games by; it runs no rules.

        With so many games in the store, deals far beyond them cannot have been played: what is
        planned there takes no memory.
        """
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


def enter(plan: Plan, store: Store, name: str | None = None) -> Entered:
    """Write a new tournament into the store, with a secret salt if programs play."""
    if plan.salt is None and plan.has_program:
        plan = replace(plan, salt=draw_salt())
    groups = [[match.agents[place] for place in match.lineup] for match in plan.matches]
    return store.enter(plan.game, plan.settings(), groups, name)


def resume(plan: Plan, store: Store, name: str | None = None) -> Entered:
    """Return the tournament to go on with: of a name, or the latest with the same settings."""
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
    """Play what is missing of a tournament, keep every game, return them all.

    `stop` is asked after every shard whether enough has been played.
    """
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
    assert stopped or results.games == results.planned
    store.finish(entered.id)
    return results


def _shards(
    plan: Plan, results: Results, paces: dict[int, float], seconds: float
) -> Iterator[Shard]:
    """Yield what is missing, all pairings side by side, in shards of about equal time."""
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
        if pace is not None:  # a few times the last at most: the first says little about the rest
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
