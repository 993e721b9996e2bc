"""One table: a game with its seats, and the messages that each seat gets.

Messages about a move wait until the move is in the store, so that nobody sees a move that a restart
could lose. Agents continue meanwhile, and their moves are written in batches. An agent's random
stream depends on (seed, seat, ply) alone, so that it need not be stored.
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
NAMELESS = "Guest"
MOST_OUT = 64  # messages that may wait for the store before agents pause
SAVING = '{"type":"saving"}'
RETRY_SECONDS = 0.5  # until a decision that found the queue full is tried again
RETRY = "reload the page to try again"
NO_HINTS = "hints are switched off at this table; open a new table with hints"
ONLY_PLAYERS = "you watch without a seat, and only players can do this; open the link of a seat"


def digest_of(secret: str) -> str:
    """Return the hash of a seat's secret; the secret is long and random, so one hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(slots=True)
class Seat:
    """Who has a seat: an agent, a person with a name, or nobody yet."""

    agent: str | None = None
    name: str | None = None
    digest: str | None = None

    @property
    def label(self) -> str:
        """The name that others see."""
        return self.agent or self.name or NAMELESS


@dataclass(slots=True, eq=False)
class Listener:
    """A browser at a table: its seat, if it has one, and how to send to it or disconnect it."""

    seat: int | None
    send: Callable[[str], None]
    close: Callable[[int, str], None]
    address: str = "nowhere"


class NotSaved(CardlabError):
    """An action that must wait until a move is in the store."""


@dataclass(frozen=True, slots=True)
class RoomSettings:
    """The settings of a room that never change."""

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
        self.number = self.saved = 0  # of the newest row, and of the newest one in the store
        self.position = 0  # number of the newest row with a new position
        self.late = False  # whether players have been sent SAVING
        self.outbox: deque[tuple[int, Listener, str]] = deque()  # messages by the row they wait for
        self.timer: asyncio.TimerHandle | None = None
        self.wake: asyncio.Event | None = None  # set when rows have reached the store

    @property
    def id(self) -> str:
        """The id in the address of the table."""
        return self.settings.id

    @property
    def table(self) -> Table:
        """The cards on the table."""
        if self.playing is None:
            raise CardlabError("the cards are not dealt yet; wait until all players have joined")
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
        """Whether any change of this room is not in the store yet."""
        return self.saved < self.number

    @property
    def payer(self) -> Payer:
        """The address whose share of computing time agents use here: a player's if there is one."""
        first = min(self.listeners, key=lambda listener: listener.seat is None, default=None)
        return Payer(first.address if first else "nobody", self.id)

    @property
    def version(self) -> int:
        """A number that increases with every change of the position, undone moves included."""
        return self.ply + 2 * self.undone

    @property
    def busy(self) -> bool:
        """Whether the table must stay in memory."""
        thinking = self.task is not None and not self.task.done()
        return bool(self.listeners) or thinking or self.pending

    # What is sent

    def facts(self) -> dict[str, Any]:
        """Return the public facts of a table, without any card."""
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
        """Return who has which seat."""
        connected = {listener.seat for listener in self.listeners}
        return [
            {
                "name": seat.label if seat.agent or seat.name else None,
                "kind": "agent" if seat.agent else "person" if seat.name else "open",
                "connected": bool(seat.agent) or k in connected,
                "open_cards": bool(seat.agent) and is_open(seat.agent or ""),
            }
            for k, seat in enumerate(self.seats)
        ]

    def public(self) -> dict[str, Any]:
        """Return the facts, the seats and the progress of the game."""
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
        """Return the message that shows the table to a seat, or to a spectator."""
        if self.playing is None:
            return self._gathering(seat)
        state, mover = self.table.state, self.table.mover
        over, to_move = mover == OVER, None if mover == OVER else mover
        if seat is None:
            visible = public_description(state, to_move)
        else:
            legal = state.legal() if seat == mover else None
            visible = view_json(state.view(seat), to_move, legal)
        return _dump(
            {
                "type": "view",
                "version": self.version,
                "ply": self.ply,
                "table": self.facts(),
                "seat": seat,
                "seats": self.people(),
                **visible,
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
        """Send a message once all changes before it are in the store."""
        if self.pending or self.outbox:
            self.outbox.append((self.number, listener, text))
        else:
            listener.send(text)

    def send_views(self, move: tuple[int, int] | None = None) -> None:
        """Send everybody their own view."""
        views: dict[int | None, str] = {}
        for listener in list(self.listeners):
            if listener.seat not in views:
                views[listener.seat] = self.view(listener.seat, move)
            self.post(listener, views[listener.seat])

    def send_all(self, message: dict[str, Any]) -> None:
        """Send everybody the same message."""
        text = _dump(message)
        for listener in list(self.listeners):
            self.post(listener, text)

    # Joining and leaving

    def find_seat(self, secret: str) -> int | None:
        """Return the seat that a secret belongs to."""
        digest = digest_of(secret)
        found = None
        for k, seat in enumerate(self.seats):
            if seat.digest is not None and hmac.compare_digest(seat.digest, digest):
                found = k
        return found

    def join(self, listener: Listener, name: str | None, commitment: str | None = None) -> None:
        """Let a browser join; it replaces another one on the same seat.

        `commitment` is the hash of the number that the browser contributes to a fair deal.
        """
        changed = False
        if listener.seat is not None:
            for other in [peer for peer in self.listeners if peer.seat == listener.seat]:
                self.listeners.remove(other)
                other.close(4409, "this seat is now open in another tab")
            seat = self.seats[listener.seat]
            if name and not seat.name:
                seat.name = name
                changed = True
            if self.playing is None and self.dealing.commit(listener.seat, commitment):
                changed = True
        elif len(self.listeners) >= self.home.limits.sockets_at_table:
            raise CardlabError("too many people watch this table already; try again later")
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
        self.let_agents_move()

    def reveal(self, seat: int | None, share: str) -> None:
        """Take the number that a person contributes to the deal."""
        if seat is None:
            raise CardlabError(ONLY_PLAYERS)
        self.dealing.reveal(seat, share)
        self.save()
        self._gather()
        self.let_agents_move()

    def _gather(self) -> None:
        """Deal if all numbers are known; send everybody the progress."""
        if self.dealing.ready:
            self.start()
            self._save_position()
        self.send_views()

    def start(self, orders: Sequence[Any] = (), actions: Sequence[int] = ()) -> None:
        """Deal, or restore the position after these decks and actions."""
        self.playing = self._play(orders, actions)

    def _play(self, orders: Sequence[Any], actions: Sequence[int]) -> Table:
        """Return a table after these actions, dealt from these decks and then from new ones."""
        dealer = self.dealing.dealer(self.game.deck)
        seed = None if dealer else self.settings.seed
        table = Table(self.game, seed=seed, deals=orders, options=self.options, dealer=dealer)
        for action in actions:
            table.act(action)
        return table

    def leave(self, listener: Listener) -> None:
        """Remove a browser from the table."""
        if listener in self.listeners:
            self.listeners.remove(listener)
            self._announce(None)
        self.home.tidy(self)

    def _announce(self, newcomer: Listener | None) -> None:
        text = _dump({"type": "seats", "seats": self.people()})
        for listener in list(self.listeners):
            if listener is not newcomer:
                self.post(listener, text)

    # Actions of people

    def act(self, seat: int | None, version: int, action: int) -> None:
        """Play a person's action."""
        self._check_turn(seat, version)
        mover = self.table.mover
        try:
            self.table.act(action)
        except IllegalAction:
            sentence = f"action {action} is not legal now; choose one of the actions shown"
            raise CardlabError(sentence) from None
        self._moved((mover, action))
        self.let_agents_move()

    def undo(self, seat: int | None) -> None:
        """Take the last move back in a solo game."""
        if page_data_of(self.game).solvable is None:
            raise CardlabError(f"moves of {self.game.title} cannot be taken back")
        if seat is None:
            raise CardlabError(ONLY_PLAYERS)
        if not self.table.actions:
            raise CardlabError("there is no move to take back; make one first")
        self._check_saved()
        self.start(self.table.deals, self.table.actions[:-1])
        self.undone += 1
        self._moved(None)

    async def hint(self, seat: int | None, version: int) -> dict[str, Any]:
        """Return the adviser's values of all legal actions, computed from the seat's own view."""
        if not self.settings.hints:
            raise CardlabError(NO_HINTS)
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
            raise CardlabError(f"{self.game.title} cannot be checked for a solution")
        if seat is None or not self.settings.hints:
            raise CardlabError(NO_HINTS if seat is not None else ONLY_PLAYERS)
        version = self.version
        state = State(self.game, self.table.state.view(0).array)
        if self.over:
            answer = self.table.state.returns()[0] > 0
        else:
            answer = await self.home.pool.call(agent_pool.solvable, state, payer=self.payer)
        words = "It can still be solved." if answer else "It can no longer be solved."
        return {"type": "solvable", "version": version, "answer": answer, "words": words}

    def _check_turn(self, seat: int | None, version: int) -> None:
        if seat is None:
            raise CardlabError(ONLY_PLAYERS)
        if self.over:
            raise CardlabError("the game is over; start a new one")
        self._check_saved()
        if version != self.version:
            raise CardlabError(
                f"this was sent for position {version}, but the table is at position "
                f"{self.version}; look at the new position and try again"
            )
        if seat != self.table.mover:
            raise CardlabError(
                f"it is not your turn; wait for {self.seats[self.table.mover].label}"
            )

    def _check_saved(self) -> None:
        if self.saved < self.position:
            raise NotSaved("your move is still being saved; wait a moment")

    def _moved(self, move: tuple[int, int] | None) -> None:
        self._save_position()
        self.send_views(move)

    def let_agents_move(self) -> None:
        """Start the agents if one is to move and somebody is connected."""
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
                    await asyncio.sleep(0)  # let other tasks run
        except CardlabError as error:
            self.send_all({"type": "refused", "error": f"{spec} could not move: {error}; {RETRY}"})
        except Exception:
            LOG.exception("table %s, %s", self.id, spec)
            self.send_all(
                {"type": "refused", "error": f"{spec} failed and could not move; {RETRY}"}
            )
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

    # Saving

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
        """Have a new position written; nobody can move on from it until it is in the store."""
        self.save()
        self.position = self.number

    def _time_saving(self) -> None:
        seconds = self.home.limits.saving_seconds
        self.timer = asyncio.get_running_loop().call_later(seconds, self._send_saving)

    def _send_saving(self) -> None:
        """Send everybody the message that a move is still being saved."""
        self.late = True
        for listener in list(self.listeners):
            listener.send(SAVING)

    def committed(self, number: int) -> None:
        """Send the messages that have waited for this row."""
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
            self._time_saving()  # the store works; the rows that still wait are new
        else:
            self.home.unsaved.pop(self.id, None)
            self.home.tidy(self)
        if self.wake is not None:
            self.wake.set()

    async def settled(self) -> None:
        """Wait until all changes of this room are in the store."""
        while self.pending:
            if self.wake is None:
                self.wake = asyncio.Event()
            self.wake.clear()
            await self.wake.wait()

    def record(self) -> Record:
        """Return the record of a finished game."""
        if not self.over:
            raise CardlabError(
                f"the game at table {self.id} is not over; its record is available afterwards"
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
