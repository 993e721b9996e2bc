"""Rows of a store, checked before they are used: a store may be damaged, or come from a stranger.

What a row holds is compared with its types, with itself and, where the matches of its tournament
are known, with them. A row that fails is left out, counted and reported; the others are read.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from cardlab.agents.outside import Limits
from cardlab.arena.shard import ACTION, MOST_GAMES, Match, Played
from cardlab.engine.errors import CardlabError, CardlabWarning

__all__ = [
    "FORMATS",
    "MOST_AHEAD",
    "MOST_GAMES",
    "MOST_PAIRINGS",
    "DamagedRow",
    "LeftOut",
    "Outcome",
    "check_size",
    "count_pairings",
    "place_of",
    "read_agents",
    "read_outcome",
    "read_played",
    "read_settings",
    "read_times",
]

FORMATS = ("round-robin", "gauntlet")  # of tournaments; "sprt" is what `cardlab sprt` plays
MOST_PAIRINGS = 2000
MOST_AHEAD = 1_000_000  # deals that may be played while earlier ones are not
MOST_SEATS = 127  # a seat is a signed byte in the rules
MOST_NUMBER = 2**63
LIMITS = ("move_seconds", "game_seconds", "start_seconds", "memory_mb")

Matches = Sequence[Match] | None


class DamagedRow(CardlabError):
    """A row of a store that cannot be what cardlab wrote; the text says what is wrong with it."""

    @property
    def public(self) -> str:
        """What strangers may read of it."""
        return "this game is damaged in the store; choose another one"


class Outcome(NamedTuple):
    """What a game brought, and whose it is."""

    pairing: int
    deal: int
    rotation: int
    returns: tuple[float, ...]
    points: tuple[float, ...]
    forfeit: int | None
    reason: str | None
    nodes: int | None


class LeftOut:
    """Counts the damaged rows of one tournament, and reports them in one sentence."""

    def __init__(self, store: str) -> None:
        self.store = store
        self.count = 0
        self.first = ""

    def add(self, place: str, error: CardlabError) -> None:
        """Count a row that is left out."""
        self.count += 1
        self.first = self.first or f"{place}: {error}"

    def report(self, tournament: str, way_out: str) -> None:
        """Warn if there are any."""
        if self.count:
            many = self.count > 1
            warnings.warn(
                f"{self.count:,} damaged game{'s' * many} of tournament {tournament!r} in "
                f"{self.store} {'are' if many else 'is'} left out, first {self.first}; "
                f"{way_out}",
                CardlabWarning,
                stacklevel=2,
            )


def place_of(row: Any) -> str:
    """Return which game a row is, for a sentence about it."""
    return f"pairing {row.pairing!r}, deal {row.deal!r}, rotation {row.rotation!r}"


def read_outcome(row: Any, matches: Matches = None) -> Outcome:
    """Return what a row says a game brought, or raise DamagedRow."""
    pairing, deal, rotation = (_whole(getattr(row, name), name) for name in Outcome._fields[:3])
    returns, points = _numbers(row.returns, "returns"), _numbers(row.points, "points")
    seats = len(returns)
    if not 1 <= seats <= MOST_SEATS or len(points) != seats:
        raise DamagedRow(f"{seats} returns and {len(points)} points")
    if matches is not None:
        if pairing >= len(matches):
            raise DamagedRow(f"there are {len(matches)} pairings")
        match = matches[pairing]
        if deal >= match.deals or rotation not in match.rotations:
            raise DamagedRow(f"there are {match.deals} deals in {len(match.rotations)} seatings")
        if seats != len(match.lineup):
            raise DamagedRow(f"{seats} returns for {len(match.lineup)} seats")
    forfeit = None if row.forfeit is None else _whole(row.forfeit, "forfeit", seats - 1)
    nodes = None if row.nodes is None else _whole(row.nodes, "nodes")
    reason = _text(row.reason, "reason")
    return Outcome(pairing, deal, rotation, returns, points, forfeit, reason, nodes)


def read_played(row: Any, matches: Matches = None) -> tuple[int, Played]:
    """Return the pairing and the game of a row, or raise DamagedRow."""
    found = read_outcome(row, matches)
    decks = _whole(row.decks, "decks")
    orders, actions = _bytes(row.orders, "orders"), _bytes(row.actions, "actions")
    if decks > len(orders) or (decks == 0) != (not orders) or len(orders) % max(1, decks):
        raise DamagedRow(f"{len(orders)} bytes of orders for {decks} decks")
    if len(actions) % ACTION.itemsize:
        raise DamagedRow(f"{len(actions)} bytes of actions, {ACTION.itemsize} for each")
    seed = row.seed
    if type(seed) is not int or not -MOST_NUMBER <= seed < MOST_NUMBER:
        raise DamagedRow(f"seed {_short(seed)}")
    return found.pairing, Played(
        found.deal,
        found.rotation,
        seed,
        decks,
        orders,
        actions,
        found.returns,
        found.points,
        found.forfeit,
        found.reason,
        _text(row.log, "log"),
        found.nodes,
    )


def read_times(row: Any, matches: Matches = None) -> tuple[int, list[float], list[int]]:
    """Return pairing, seconds and decisions by agent of a row, or raise DamagedRow."""
    pairing = _whole(row.pairing, "pairing")
    seconds, decisions = _numbers(row.seconds, "seconds"), _numbers(row.decisions, "decisions")
    if min((*seconds, *decisions), default=0) < 0 or len(seconds) != len(decisions):
        raise DamagedRow(f"seconds {_short(row.seconds)} and decisions {_short(row.decisions)}")
    if matches is not None and (
        pairing >= len(matches) or len(seconds) != len(matches[pairing].agents)
    ):
        raise DamagedRow(f"times of {len(seconds)} agents in pairing {pairing}")
    return pairing, list(seconds), [int(number) for number in decisions]


def read_agents(text: object) -> list[str]:
    """Return the agents of a pairing by place, or raise DamagedRow."""
    agents = _json(text, "agents")
    if not isinstance(agents, list) or not 1 <= len(agents) <= MOST_SEATS:
        raise DamagedRow(f"the agents of a pairing are {_short(text)}")
    if not all(isinstance(agent, str) and agent for agent in agents):
        raise DamagedRow(f"the agents of a pairing are {_short(text)}")
    return agents


def count_pairings(agents: int, seats: int, format: str) -> int:
    """Return how many groups of agents meet; where there are too few for all seats, at most."""
    if agents < seats:
        return agents
    if format == "gauntlet":
        return math.comb(agents - 1, seats - 1)
    return math.comb(agents, seats)


def check_size(settings: dict[str, Any], seats: int) -> None:
    """Make sure that a tournament of a store is none of more games than can be played."""
    pairings = count_pairings(len(settings["agents"]), seats, settings["format"])
    if pairings > MOST_PAIRINGS or pairings * settings["deals"] > MOST_GAMES:
        raise DamagedRow(f"it has {pairings:,} pairings on {settings['deals']:,} deals")


def read_settings(text: object) -> dict[str, Any]:
    """Return the settings of a tournament, or raise DamagedRow; further ones are let through."""
    found = _json(text, "settings")
    if not isinstance(found, dict):
        raise DamagedRow(f"settings {_short(text)}")
    _whole(found.get("rules"), "rules")
    _whole(found.get("deals"), "deals", MOST_GAMES, least=1)
    _whole(found.get("seed"), "seed", MOST_NUMBER - 1, least=1 - MOST_NUMBER)
    agents, options = found.get("agents"), found.get("options")
    names = isinstance(agents, list) and all(isinstance(name, str) and name for name in agents)
    if not names or not agents or len(set(agents)) != len(agents):
        raise DamagedRow(f"agents {_short(agents)}")
    if not isinstance(options, dict) or not all(
        isinstance(value, (bool, int, str)) for value in options.values()
    ):
        raise DamagedRow(f"options {_short(options)}")
    if found.get("format") not in (*FORMATS, "sprt"):
        raise DamagedRow(f"format {_short(found.get('format'))}")
    salt = found.get("salt")
    if salt is not None and not (isinstance(salt, str) and salt.isprintable()):
        raise DamagedRow(f"salt {_short(salt)}")
    limits = found.get("limits", {})
    if not isinstance(limits, dict) or not limits.keys() <= set(LIMITS):
        raise DamagedRow(f"limits {_short(limits)}")
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
            raise DamagedRow(f"limits {name}={_short(value)}")
    Limits(**limits)
    return found


def _json(text: object, name: str) -> Any:
    if not isinstance(text, str):
        raise DamagedRow(f"{name} {_short(text)}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise DamagedRow(f"{name} {_short(text)} are no JSON") from None


def _numbers(text: object, name: str) -> tuple[float, ...]:
    """Return the finite numbers of a JSON list."""
    found = _json(text, name)
    if not isinstance(found, list):
        raise DamagedRow(f"{name} {_short(text)}")
    for number in found:
        whole = type(number) is int and abs(number) < MOST_NUMBER
        if not whole and not (type(number) is float and math.isfinite(number)):
            raise DamagedRow(f"{name} {_short(text)}")
    return tuple(found)


def _whole(value: object, name: str, most: int = MOST_NUMBER - 1, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= most:
        raise DamagedRow(f"{name} {_short(value)}")
    return value


def _bytes(value: object, name: str) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise DamagedRow(f"{name} {_short(value)}")
    return bytes(value)


def _text(value: object, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise DamagedRow(f"{name} {_short(value)}")
    return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
