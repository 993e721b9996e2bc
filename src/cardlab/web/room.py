"""One table: a game with its seats, and what each seat is sent.

What is sent about a move waits until the move is in the store: nobody is shown what a restart
could undo. Agents go on meanwhile, and what they do is written together. An agent's random stream
is that of (seed, seat, ply), so that nothing about it needs to be kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cardlab.agents.catalog import adviser_of
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import OVER, Game, State, Turn
from cardlab.engine.play import Table
from cardlab.engine.records import Record
from cardlab.web import agent_pool
from cardlab.web.agent_pool import is_open, is_quick
from cardlab.web.fair_queue import Busy, Payer
from cardlab.web.lobby import page_json
from cardlab.web.page_data import page_data_of
from cardlab.web.room_deal import Dealing
from cardlab.web.room_writer import row_of
from cardlab.web.views import action_json, move_json, public_description, view_json, words_of

if TYPE_CHECKING:
    from cardlab.web.rooms import Rooms

LOG = logging.getLogger(__name__)
NAMELESS = "a guest"
MOST_OUT = 64  # moves of agents that may wait for the store
SAVING = '{"type":"saving"}'
RETRY_SECONDS = 0.5  # until an agent asks again for a place in the queue


def digest_of(secret: str) -> str:
    """Return what is kept of a seat's secret: it is long and random, so one hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(slots=True)
class Seat:
    """Who sits there: an agent, a person, or as yet nobody who has said a name."""

    agent: str | None = None
    name: str | None = None
    digest: str | None = None

    @property
    def label(self) -> str:
        """The name that others read."""
        return self.agent or self.name or NAMELESS


@dataclass(slots=True, eq=False)
class Listener:
    """A browser at a table: its seat, if it has one, and how it is written to or sent away."""

    seat: int | None
    send: Callable[[str], None]
    close: Callable[[int, str], None]
    address: str = "nowhere"


class NotSaved(CardlabError):
    """Something waits until a move is in the store."""


@dataclass(frozen=True, slots=True)
class RoomSettings:
    """What does not change as long as a room exists."""

    id: str
    seed: int  # of the cards, if they come from a seed, and of the agents' random streams
    hints: bool
    adviser: str | None
    begun: str  # date and time


class Room:
    """One game with its seats and listeners; all calls come from the event loop."""

    __slots__ = (
        "dealing",
        "game",
        "home",
        "late",
        "listeners",
        "number",
        "options",
        "outbox",
        "playing",
        "position",
        "saved",
        "seats",
        "settings",
        "task",
        "timer",
        "undone",
        "wake",
    )

    def __init__(
        self,
        home: Rooms,
        game: Game,
        options: dict[str, Any],
        settings: RoomSettings,
        seats: list[Seat],
        dealing: Dealing,
        undone: int = 0,
    ) -> None:
        self.home, self.game, self.options = home, game, options
        self.settings, self.seats, self.dealing = settings, seats, dealing
        self.undone = undone
        self.playing: Table | None = None  # None: the cards are not dealt yet
        self.listeners: list[Listener] = []
        self.task: asyncio.Task[None] | None = None
        self.number = self.saved = 0  # of the newest row, and of that in the store
        self.position = 0  # of the newest row that has another position than the one before
        self.late = False  # whether players have been told that a move waits for the store
        self.outbox: deque[tuple[int, Listener, str]] = deque()  # what waits for which number
        self.timer: asyncio.TimerHandle | None = None
        self.wake: asyncio.Event | None = None  # of whoever waits for the store

    @property
    def id(self) -> str:
        """What the room is found by."""
        return self.settings.id

    @property
    def table(self) -> Table:
        """The cards on the table."""
        if self.playing is None:
            raise CardlabError("the cards are dealt when everybody is here; wait for the others")
        return self.playing

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.playing is not None and self.playing.over

    @property
    def ply(self) -> int:
        """How many moves have been made."""
        return len(self.playing.actions) if self.playing else 0

    @property
    def pending(self) -> bool:
        """Whether something that has happened here is not in the store yet."""
        return self.saved < self.number

    @property
    def payer(self) -> Payer:
        """For whom agents think here: whoever has a seat, or looks on."""
        first = min(self.listeners, key=lambda one: one.seat is None, default=None)
        return Payer(first.address if first else "nobody", self.id)

    @property
    def version(self) -> int:
        """A number that rises with every change, steps back included."""
        return self.ply + 2 * self.undone

    @property
    def busy(self) -> bool:
        """Whether the table must stay in memory."""
        thinking = self.task is not None and not self.task.done()
        return bool(self.listeners) or thinking or self.pending

    # What is sent

    def facts(self) -> dict[str, Any]:
        """Return what everybody may know of a table, without a card of it."""
        return {
            "id": self.id,
            "game": self.game.name,
            "title": self.game.title,
            "options": self.options,
            "deal": self.dealing.facts(len(self.seats)),
            "hints": self.settings.hints,
            "adviser": self.settings.adviser if self.settings.hints else None,
        }

    def people(self) -> list[dict[str, Any]]:
        """Return who sits where."""
        there = {listener.seat for listener in self.listeners}
        return [
            {
                "name": seat.label if seat.agent or seat.name else None,
                "kind": "agent" if seat.agent else "person" if seat.name else "open",
                "connected": bool(seat.agent) or k in there,
                "open_cards": bool(seat.agent) and is_open(seat.agent or ""),
            }
            for k, seat in enumerate(self.seats)
        ]

    def public(self) -> dict[str, Any]:
        """Return the facts and how far the game is."""
        summary = {
            **self.facts(),
            "summary": self.game.summary,
            "page": page_json(self.game),
            "seats": self.people(),
            "version": self.version,
            "ply": self.ply,
            "over": self._result(None) if self.over else None,
        }
        return {**summary, "seed": self.table.seed} if self.over else summary

    def view(self, seat: int | None, move: tuple[int, int] | None = None) -> str:
        """Return the message that shows the table to a seat, or to somebody without one."""
        if self.playing is None:
            return self._gathering(seat)
        state, mover = self.table.state, self.table.mover
        over, to_move = mover == OVER, None if mover == OVER else mover
        if seat is None:
            shown = public_description(state, to_move)
        else:
            legal = state.legal() if seat == mover else None
            shown = view_json(state.view(seat), to_move, legal)
        return _dump(
            {
                "type": "view",
                "version": self.version,
                "ply": self.ply,
                "table": self.facts(),
                "seat": seat,
                "seats": self.people(),
                **shown,
                "move": None if move is None else move_json(self.game, *move, seat),
                "over": self._result(seat) if over else None,
            }
        )

    def _gathering(self, seat: int | None) -> str:
        """Return the message of a table whose cards are not dealt yet."""
        return _dump(
            {
                "type": "gathering",
                "version": self.version,
                "table": self.facts(),
                "seat": seat,
                "seats": self.people(),
                "deal": self.dealing.progress(len(self.seats)),
            }
        )

    def _result(self, seat: int | None) -> dict[str, Any]:
        returns, points = self.table.state.returns(), self.table.state.points()
        names = [seat.label for seat in self.seats]
        cards = [self.game.card_text(card) for card in range(self.game.deck)]
        return {
            "returns": returns,
            "points": points,
            "words": words_of(self.game, returns, points, names, seat),
            "seed": self.table.seed,
            "deal": self.dealing.proof(len(self.seats), cards),
        }

    def post(self, listener: Listener, text: str) -> None:
        """Send a message, once all that has happened before it is in the store."""
        if self.pending or self.outbox:
            self.outbox.append((self.number, listener, text))
        else:
            listener.send(text)

    def send_views(self, move: tuple[int, int] | None = None) -> None:
        """Send everybody their view."""
        made: dict[int | None, str] = {}
        for listener in list(self.listeners):
            if listener.seat not in made:
                made[listener.seat] = self.view(listener.seat, move)
            self.post(listener, made[listener.seat])

    def send_all(self, message: dict[str, Any]) -> None:
        """Send everybody the same."""
        text = _dump(message)
        for listener in list(self.listeners):
            self.post(listener, text)

    # Who comes and goes

    def find_seat(self, secret: str) -> int | None:
        """Return the seat that a secret opens."""
        digest = digest_of(secret)
        found = None
        for k, seat in enumerate(self.seats):
            if seat.digest is not None and hmac.compare_digest(seat.digest, digest):
                found = k
        return found

    def join(self, listener: Listener, name: str | None, commitment: str | None = None) -> None:
        """Let somebody in, in place of whoever held the seat in another tab.

        `commitment` is the hash of the number that the browser adds to a fair deal.
        """
        changed = False
        if listener.seat is not None:
            for other in [each for each in self.listeners if each.seat == listener.seat]:
                self.listeners.remove(other)
                other.close(4409, "this seat was taken over by another tab")
            seat = self.seats[listener.seat]
            if name and not seat.name:
                seat.name = name
                changed = True
            if self.playing is None and self.dealing.commit(listener.seat, commitment):
                changed = True
        elif len(self.listeners) >= self.home.limits.sockets_at_table:
            raise CardlabError("too many look at this table already; try again later")
        self.listeners.append(listener)
        if self.late:
            listener.send(SAVING)
        if changed:
            self.save()
        if self.playing is None:
            self._gather()
        else:
            self.post(listener, self.view(listener.seat))
            self._announce(listener)
        self.go_on()

    def reveal(self, seat: int | None, share: str) -> None:
        """Take the number that a person adds to the deal."""
        if seat is None:
            raise CardlabError("you look on without a seat; only players can do this")
        self.dealing.reveal(seat, share)
        self.save()
        self._gather()
        self.go_on()

    def _gather(self) -> None:
        """Deal if all numbers are known; show everybody how far it is."""
        if self.dealing.ready:
            self.start()
            self._save_position()
        self.send_views()

    def start(self, orders: Sequence[Any] = (), actions: Sequence[int] = ()) -> None:
        """Deal, or put the table where it was after these decks and actions."""
        self.playing = self._play(orders, actions)

    def _play(self, orders: Sequence[Any], actions: Sequence[int]) -> Table:
        """Return a table after these actions, on the decks that were dealt and then on new ones."""
        dealer = self.dealing.dealer(self.game.deck)
        seed = None if dealer else self.settings.seed
        table = Table(self.game, seed=seed, deals=orders, options=self.options, dealer=dealer)
        for action in actions:
            table.act(action)
        return table

    def leave(self, listener: Listener) -> None:
        """Let somebody go."""
        if listener in self.listeners:
            self.listeners.remove(listener)
            self._announce(None)
        self.home.tidy(self)

    def _announce(self, newcomer: Listener | None) -> None:
        text = _dump({"type": "seats", "seats": self.people()})
        for listener in list(self.listeners):
            if listener is not newcomer:
                self.post(listener, text)

    # What they do

    def act(self, seat: int | None, version: int, action: int) -> None:
        """Take a person's action."""
        self._check_turn(seat, version)
        mover = self.table.mover
        try:
            self.table.act(action)
        except IllegalAction:
            sentence = f"action {action} is not possible now; choose one that is offered"
            raise CardlabError(sentence) from None
        self._moved((mover, action))
        self.go_on()

    def undo(self, seat: int | None) -> None:
        """Take the last move back where somebody plays alone."""
        if page_data_of(self.game).solvable is None:
            raise CardlabError(f"a move of {self.game.title} cannot be taken back")
        if seat is None:
            raise CardlabError("only who plays may take a move back")
        if not self.table.actions:
            raise CardlabError("there is no move to take back")
        self._check_saved()
        self.start(self.table.deals, self.table.actions[:-1])
        self.undone += 1
        self._moved(None)

    async def hint(self, seat: int | None, version: int) -> dict[str, Any]:
        """Return what the adviser thinks of every action, from the view of the seat to move."""
        if not self.settings.hints:
            raise CardlabError("hints are not allowed at this table")
        self._check_turn(seat, version)
        turn, adviser = self.table.turn(), self.settings.adviser or adviser_of(self.game)
        stream = (self.settings.seed, "hint", self.ply)
        if is_quick(adviser):
            advice = agent_pool.advise(adviser, turn, stream)
        else:
            advice = await self.home.pool.call(
                agent_pool.advise, adviser, turn, stream, payer=self.payer
            )
        return {"type": "hint", "version": version, **hint_json(adviser, turn, advice)}

    async def solvable(self, seat: int | None) -> dict[str, Any]:
        """Return whether the position can still be solved."""
        if page_data_of(self.game).solvable is None:
            raise CardlabError(f"{self.game.title} has no solution to ask for")
        if seat is None or not self.settings.hints:
            raise CardlabError("hints are not allowed at this table")
        version = self.version
        state = State(self.game, self.table.state.view(0).array)
        if self.over:
            answer = self.table.state.returns()[0] > 0
        else:
            answer = await self.home.pool.call(agent_pool.solvable, state, payer=self.payer)
        words = "It can still be solved." if answer else "It cannot be solved any more."
        return {"type": "solvable", "version": version, "answer": answer, "words": words}

    def _check_turn(self, seat: int | None, version: int) -> None:
        if seat is None:
            raise CardlabError("you look on without a seat; only players can do this")
        if self.over:
            raise CardlabError("the game is over; start a new one")
        self._check_saved()
        if version != self.version:
            raise CardlabError(
                f"this answers position {version}, but the table is at {self.version}; look again"
            )
        if seat != self.table.mover:
            raise CardlabError(f"it is the turn of seat {self.table.mover}, not yours")

    def _check_saved(self) -> None:
        if self.saved < self.position:
            raise NotSaved("your move is still being saved; wait a moment")

    def _moved(self, move: tuple[int, int] | None) -> None:
        self._save_position()
        self.send_views(move)

    def go_on(self) -> None:
        """Have the agents move, if one is to move and somebody looks on."""
        if self.task is not None and not self.task.done():
            return
        mover = OVER if self.playing is None else self.playing.mover
        if mover != OVER and self.seats[mover].agent and self.listeners:
            self.task = asyncio.get_running_loop().create_task(self._agents_move())

    async def _agents_move(self) -> None:
        try:
            while self.listeners and (mover := self.table.mover) != OVER:
                spec = self.seats[mover].agent
                if spec is None:
                    break
                action = await self._decide(mover, spec)
                self.table.act(action)
                self._moved((mover, action))
                if len(self.outbox) > MOST_OUT:
                    await self.settled()
                else:
                    await asyncio.sleep(0)  # others have their turn
        except CardlabError as error:
            self.send_all({"type": "refused", "error": f"{spec} could not move: {error}"})
        except Exception:
            LOG.exception("table %s, %s", self.id, spec)
            self.send_all({"type": "refused", "error": f"{spec} made a mistake and cannot move"})
        finally:
            self.task = None
            self.home.tidy(self)

    async def _decide(self, mover: int, spec: str) -> int:
        state, stream = self.table.state, (self.settings.seed, mover, self.ply)
        what = state.copy() if is_open(spec) else self.table.turn()
        if is_quick(spec):
            return agent_pool.decide(spec, what, stream)
        self.send_all({"type": "thinking", "seat": mover})
        while True:
            try:
                return await self.home.pool.call(
                    agent_pool.decide, spec, what, stream, payer=self.payer
                )
            except Busy:
                if self.home.pool.closed:
                    raise
                await asyncio.sleep(RETRY_SECONDS)

    # What is kept

    def save(self) -> None:
        """Have the table written to the store."""
        over, table = self.over, self.playing
        self.number = self.home.writer.save(
            row_of(
                self.game,
                **asdict(self.settings),
                options=self.options,
                seats=[asdict(seat) for seat in self.seats],
                orders=table.deals if table else [],
                actions=table.actions if table else [],
                undone=self.undone,
                returns=self.table.state.returns() if over else None,
                points=self.table.state.points() if over else None,
                dealing=self.dealing.to_dict(),
            )
        )
        self.home.unsaved[self.id] = self
        if self.timer is None:
            self._time_saving()

    def _save_position(self) -> None:
        """Have a new position written: nobody moves on from it before it is in the store."""
        self.save()
        self.position = self.number

    def _time_saving(self) -> None:
        seconds = self.home.limits.saving_seconds
        self.timer = asyncio.get_running_loop().call_later(seconds, self._say_saving)

    def _say_saving(self) -> None:
        """Tell everybody that a move waits for the store."""
        self.late = True
        for listener in list(self.listeners):
            listener.send(SAVING)

    def committed(self, number: int) -> None:
        """Send what has waited for the store."""
        self.saved = max(self.saved, number)
        while self.outbox and self.outbox[0][0] <= self.saved:
            _, listener, text = self.outbox.popleft()
            if listener in self.listeners:
                listener.send(text)
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        self.late = False
        if self.pending:
            self._time_saving()  # the store works: what still waits has only just happened
        else:
            self.home.unsaved.pop(self.id, None)
            self.home.tidy(self)
        if self.wake is not None:
            self.wake.set()

    async def settled(self) -> None:
        """Wait until everything that has happened here is in the store."""
        while self.pending:
            if self.wake is None:
                self.wake = asyncio.Event()
            self.wake.clear()
            await self.wake.wait()

    def record(self) -> Record:
        """Return the record of a finished game."""
        if not self.over:
            raise CardlabError(
                f"table {self.id} is still played; its record comes when the game is over"
            )
        return self.table.record([seat.label for seat in self.seats])


def hint_json(adviser: str, turn: Turn, advice: dict[str, Any]) -> dict[str, Any]:
    """Return an adviser's answer with the texts of the actions."""
    unknown = {"value": None, "shown": None}
    values = advice["values"] or [unknown] * len(turn.legal)
    rows = [
        {**action_json(turn.game, int(action)), **value}
        for action, value in zip(turn.legal, values, strict=True)
    ]
    return {"adviser": adviser, **advice, "values": rows}


def _dump(message: dict[str, Any]) -> str:
    return json.dumps(message, separators=(",", ":"))
