"""Finished games again: every position with all cards open, and what an adviser thinks of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import OVER, Game, Turn
from cardlab.engine.records import Record
from cardlab.engine.replay import replay
from cardlab.web import agent_pool
from cardlab.web.agent_pool import AgentPool, is_open, is_quick
from cardlab.web.limits import Limits
from cardlab.web.lobby import page_json
from cardlab.web.menu import Menu
from cardlab.web.page_data import page_data_of
from cardlab.web.rooms import hint_json
from cardlab.web.views import action_json, description_json, open_description, words_of

MOST_PLIES = 3000
WORST = 5  # moves that are named in a review


def read_record(data: Any, menu: Menu) -> tuple[Game, Record]:
    """Return game and record of a request: a line of JSON, or the object that it holds."""
    if isinstance(data, str):
        record = Record.from_line(data.strip().partition("\n")[0])
    else:
        try:
            record = Record.model_validate(data)
        except ValueError:
            raise CardlabError("this is no game record; open a file that cardlab wrote") from None
    game = menu.game(record.game)
    if len(record.actions) > MOST_PLIES or len(record.deals) > MOST_PLIES:
        raise CardlabError(f"this record is too long; {MOST_PLIES:,} moves are the most")
    return game, record


def replay_json(game: Game, record: Record) -> dict[str, Any]:
    """Return every position of a record with all cards open."""
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


def check_adviser(spec: str, game: Game, limits: Limits, menu: Menu) -> None:
    """Make sure that an adviser may be asked: also in replays only fair ones say honest values."""
    if is_open(spec):
        raise CardlabError(f"adviser {spec} sees all cards; choose one that sees only its seat's")
    agent_pool.check_agent(spec, game, limits, menu.agents)


def turn_at(game: Game, record: Record, ply: int) -> Turn:
    """Return the decision at a ply of a record."""
    if ply >= len(record.actions):
        raise CardlabError(f"the record has {len(record.actions)} moves, none with number {ply}")
    for at, table in enumerate(replay(record, game=game)):
        if at == ply:
            turn = table.turn()
            if record.actions[ply][0] not in turn.legal:
                raise CardlabError(f"move {ply} of the record is not possible there")
            return turn
    raise CardlabError(f"the record ends before move {ply}")


async def advice(
    pool: AgentPool, record: Record, turn: Turn, ply: int, adviser: str
) -> dict[str, Any]:
    """Return an adviser's values for one decision of a record."""
    stream = (0, "review", ply)
    if is_quick(adviser):
        answer = agent_pool.advise(adviser, turn, stream)
    else:
        answer = await pool.call(agent_pool.advise, adviser, turn, stream)
    return {
        "ply": ply,
        "mover": turn.seat,
        "taken": record.actions[ply][0],
        **hint_json(adviser, turn, answer),
    }


async def review(
    pool: AgentPool, game: Game, record: Record, adviser: str
) -> AsyncIterator[dict[str, Any]]:
    """Yield what the adviser thinks of every move, then the moves that cost most."""
    costs: list[dict[str, Any]] = []
    total = len(record.actions)
    for ply, table in enumerate(replay(record, game=game)):
        if ply >= total:
            break
        turn = table.turn()
        if len(turn.legal) < 2:
            yield {"type": "progress", "ply": ply, "of": total}
            continue
        found = await advice(pool, record, turn, ply, adviser)
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
        yield {"type": "move", "ply": ply, "of": total, "cost": cost, "advice": found}
    worst = sorted((cost for cost in costs if cost["cost"] > 0), key=lambda cost: -cost["cost"])
    yield {"type": "done", "of": total, "worst": worst[:WORST]}
