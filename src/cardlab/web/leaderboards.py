"""Data of the leaderboard: ratings, cross-tables, recent games, scores of people against agents."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import asdict
from typing import Any

from cardlab.arena.leaderboard import leaderboards
from cardlab.arena.shard import full_record
from cardlab.arena.standings import Results
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan
from cardlab.engine.errors import CardlabError
from cardlab.engine.records import Record
from cardlab.engine.statistics import wilson_interval
from cardlab.web.menu import Menu
from cardlab.web.room_writer import RoomWriter

RECENT = 40


def leaderboard_json(address: str, names: dict[str, str], game: str | None) -> dict[str, Any]:
    """Return ratings and the latest cross-table of every game in a store; it runs in a worker.

    `names` maps the names that tournaments use for games to the games' own names.
    """
    boards, tables = [], []
    with Store(address, read_only=True) as store:
        entered = {entry.game: entry for entry in store.tournaments()}  # the latest of each
        for named, name in names.items():
            if named not in entered or game not in (None, name):
                continue
            try:
                standings = leaderboards(store, named)
            except CardlabError:  # tournaments, but no games between agents yet
                standings = []
            boards += [{**asdict(board), "game": name} for board in standings]
            entry = entered[named]
            plan = Plan.of(entry, store.count(entry.id))
            results = Results.load(plan.matches, store, entry.id)
            if results.games:
                table = {**results.table().to_dict(), "game": name}
                tables.append(
                    {"tournament": entry.name, "options": entry.settings["options"], **table}
                )
    found: dict[str, Any] = _finite({"boards": boards, "tables": tables})
    return found


def recent_json(store: Store, writer: RoomWriter, menu: Menu) -> list[dict[str, Any]]:
    """Return games that can be watched: people's first, then those of the latest tournaments."""
    games: list[dict[str, Any]] = [
        {
            "id": room.id,
            "kind": "table",
            "game": room.game,
            "title": menu.games[room.game].title,
            "seats": [seat["agent"] or seat["name"] or "Guest" for seat in room.seats],
            "points": room.points,
            "returns": room.returns,
            "plies": len(room.actions),
            "when": room.changed,
        }
        for room in writer.finished(RECENT // 2)
        if room.game in menu.games
    ]
    plans: dict[int, Any] = {}
    for entered, row in store.recent(RECENT - len(games)):
        if entered.game not in menu.names or not entered.public:
            continue
        game = menu.game(entered.game)
        matches = plans.setdefault(entered.id, Plan.of(entered).matches)
        if row.pairing >= len(matches):
            continue  # damaged
        games.append(
            {
                "id": f"{entered.id}-{row.pairing}-{row.deal}-{row.rotation}",
                "kind": "tournament",
                "game": game.name,
                "title": game.title,
                "seats": matches[row.pairing].seating(row.rotation),
                "points": row.points,
                "returns": row.returns,
                "plies": None,
                "when": entered.name,
            }
        )
    return games


def stored_record(store: Store, menu: Menu, name: str) -> Record | None:
    """Return the record of a tournament's game, named by its four numbers."""
    parts = name.split("-")
    if len(parts) != 4 or not all(part.isdecimal() and len(part) < 10 for part in parts):
        return None
    number, pairing, deal, rotation = (int(part) for part in parts)
    entered = next((entry for entry in store.tournaments() if entry.id == number), None)
    if entered is None or entered.game not in menu.names or not entered.public:
        return None
    played = store.game(number, pairing, deal, rotation)
    if played is None:
        return None
    matches = Plan.of(entered).matches
    if pairing >= len(matches):
        return None
    return full_record(menu.game(entered.game), matches[pairing], played)


def people_json(writer: RoomWriter) -> list[dict[str, Any]]:
    """Return the scores of people against every agent, and in solo games, with 95 % intervals."""
    scores: dict[tuple[str, str | None, bool], list[float]] = defaultdict(list)
    for game, seats, returns, hints in writer.results():
        people = [k for k, seat in enumerate(seats) if seat["digest"]]
        agents = [k for k, seat in enumerate(seats) if seat["agent"]]
        for person in people:
            if len(seats) == 1:
                scores[game, None, hints].append(float(returns[0] > 0))
            alike: dict[str, list[float]] = defaultdict(list)
            for agent in agents:
                ahead = returns[person] - returns[agent]
                alike[seats[agent]["agent"]].append(0.5 if ahead == 0 else float(ahead > 0))
            for spec, met in alike.items():  # a table is one game, however many seats it fills
                scores[game, spec, hints].append(sum(met) / len(met))
    rows = []
    for (game, who, hints), results in scores.items():
        low, high = wilson_interval(sum(results), len(results))
        rows.append(
            {
                "game": game,
                "agent": who,
                "hints": hints,
                "games": len(results),
                "score": 100 * sum(results) / len(results),
                "interval": [100 * low, 100 * high],
            }
        )
    return sorted(rows, key=lambda row: (row["game"], row["agent"] or "", row["hints"]))


def _finite(value: Any) -> Any:
    """Return data with None for infinite numbers, which JSON cannot hold."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
