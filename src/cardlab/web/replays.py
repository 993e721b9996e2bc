"""Replays of finished games: every position with all cards visible, and an adviser's values.

A long record takes seconds to replay, so all of this runs in worker processes.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import OVER, Game, Turn
from cardlab.engine.records import Record
from cardlab.engine.replay import replay
from cardlab.web import agent_pool
from cardlab.web.agent_pool import AgentPool, is_open
from cardlab.web.fair_queue import Payer
from cardlab.web.limits import Limits
from cardlab.web.lobby import page_json
from cardlab.web.menu import Menu
from cardlab.web.page_data import page_data_of
from cardlab.web.room import hint_json
from cardlab.web.views import action_json, description_json, open_description, words_of

WORST = 5  # moves that a review lists
PART_SECONDS = 1.0  # of a review that a worker computes in one call
QUICK_PACKING = 3  # gzip level


def read_record(data: Any, menu: Menu, limits: Limits) -> tuple[Game, Record]:
    """Return game and record of a request: a line of JSON, or the same as an object."""
    if isinstance(data, str):
        record = Record.from_line(data.strip().partition("\n")[0])
    else:
        try:
            record = Record.model_validate(data)
        except ValueError:
            raise CardlabError(
                "this file does not contain a game record; open a .jsonl file saved by cardlab"
            ) from None
    game = menu.game(record.game)
    most = limits.record_plies
    if len(record.actions) > most or len(record.deals) > most:
        raise CardlabError(
            f"this record has {max(len(record.actions), len(record.deals)):,} moves, the limit "
            f"here is {most:,}; replay it with `cardlab replay`"
        )
    return game, record


def packed_replay(game: Game, record: Record) -> bytes:
    """Return every position of a record as compressed JSON: long, but repetitive text."""
    text = json.dumps(replay_json(game, record), ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), QUICK_PACKING)


def check_record(game: Game, record: Record) -> None:
    """Raise an error for a record that does not follow the rules."""
    for _ in replay(record, game=game):
        pass


def replay_json(game: Game, record: Record) -> dict[str, Any]:
    """Return every position of a record with all cards visible."""
    frames: list[dict[str, Any]] = []
    for ply, table in enumerate(replay(record, game=game)):
        mover = table.mover
        over = mover == OVER
        seat = 0 if over else mover
        frames.append(
            {
                "ply": ply,
                "mover": None if over else mover,
                "action": None,
                "description": description_json(
                    game, open_description(table.state, seat), seat, None if over else mover
                ),
                "extra": page_data_of(game).view(table.state.array[0], seat),
            }
        )
    for frame, (action, _) in zip(frames, record.actions, strict=False):
        frame["action"] = action_json(game, action)
    result = None
    if record.result:
        returns, points = record.result.returns, record.result.points
        words = words_of(game, returns, points, record.seats, None)
        result = {"returns": returns, "points": points, "words": words}
    return {
        "record": record.model_dump(exclude_none=True),
        "game": game.name,
        "title": game.title,
        "page": page_json(game),
        "seats": record.seats,
        "frames": frames,
        "result": result,
    }


async def check_adviser(
    spec: str, game: Game, record: Record, menu: Menu, pool: AgentPool, payer: Payer
) -> None:
    """Raise an error for an adviser that is not allowed, such as one that sees all cards."""
    if is_open(spec):
        raise CardlabError(
            f"adviser {spec} sees all cards; choose an agent that sees only one seat's cards"
        )
    entry = agent_pool.check_agent(spec, game, pool.limits, menu.agents)
    if spec not in menu.agents:
        options = game.read_options(dict(record.options))
        await pool.try_out(spec, game, options, entry, payer)


def turn_at(game: Game, record: Record, ply: int) -> Turn:
    """Return the decision at a ply of a record."""
    if ply >= len(record.actions):
        raise CardlabError(
            f"move {ply} does not exist: the record has {len(record.actions)} moves, counted from 0"
        )
    for at, table in enumerate(replay(record, game=game)):
        if at == ply:
            turn = table.turn()
            if record.actions[ply][0] not in turn.legal:
                raise CardlabError(f"move {ply} of the record is not legal; the file is damaged")
            return turn
    raise CardlabError(f"the record ends before move {ply}; choose an earlier one")


def advice_at(game: Game, record: Record, ply: int, adviser: str) -> dict[str, Any]:
    """Return an adviser's values for one decision of a record."""
    return _advice(record, turn_at(game, record, ply), ply, adviser)


def _advice(record: Record, turn: Turn, ply: int, adviser: str) -> dict[str, Any]:
    answer = agent_pool.advise(adviser, turn, (0, "review", ply))
    return {
        "ply": ply,
        "mover": turn.seat,
        "taken": record.actions[ply][0],
        **hint_json(adviser, turn, answer),
    }


class Part(NamedTuple):
    """A part of a review: lines to send, costs of moves, and the first move of the next part."""

    lines: list[dict[str, Any]]
    costs: list[dict[str, Any]]
    next: int


def review_part(game: Game, record: Record, first: int, adviser: str) -> Part:
    """Return the adviser's values from move `first` on, for as many moves as fit into a second."""
    part = Part([], [], 0)
    total = len(record.actions)
    until = time.monotonic() + PART_SECONDS
    for ply, table in enumerate(replay(record, game=game)):
        if ply >= total or (part.lines and time.monotonic() > until):
            return part._replace(next=ply)
        if ply >= first:
            line = _review_line(record, table.turn(), ply, adviser, part.costs)
            part.lines.append({**line, "ply": ply, "of": total})
    return part._replace(next=total)


def _review_line(
    record: Record, turn: Turn, ply: int, adviser: str, costs: list[dict[str, Any]]
) -> dict[str, Any]:
    if len(turn.legal) < 2:
        return {"type": "progress"}
    found = _advice(record, turn, ply, adviser)
    values = {row["id"]: row["value"] for row in found["values"]}
    cost = None
    if values[found["taken"]] is not None:
        best = max(value for value in values.values() if value is not None)
        cost = round(best - values[found["taken"]], 2)
        costs.append(
            {
                "ply": ply,
                "mover": found["mover"],
                "taken": action_json(turn.game, found["taken"]),
                "best": action_json(turn.game, found["best"]),
                "cost": cost,
            }
        )
    return {"type": "move", "cost": cost, "advice": found}


async def review(
    pool: AgentPool, game: Game, record: Record, adviser: str, payer: Payer
) -> AsyncIterator[dict[str, Any]]:
    """Yield the adviser's values of every move, then the costliest moves."""
    costs: list[dict[str, Any]] = []
    total, at = len(record.actions), 0
    while at < total:
        part = await pool.call(review_part, game, record, at, adviser, payer=payer)
        costs += part.costs
        at = part.next
        for line in part.lines:
            yield line
    worst = sorted((cost for cost in costs if cost["cost"] > 0), key=lambda cost: -cost["cost"])
    yield {"type": "done", "of": total, "worst": worst[:WORST]}
