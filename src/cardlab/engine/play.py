"""One game, move by move, with every action checked: `Table`, and how agents are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeGuard

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import options_in_a_dict, read_kind, read_text, shorten
from cardlab.engine.errors import CardlabError, IllegalAction, reason_of
from cardlab.engine.game import (
    DEALER,
    MOST_DEALS_IN_A_ROW,
    OVER,
    Agent,
    Array,
    FollowsGames,
    Game,
    HasValues,
    OpenAgent,
    State,
    Turn,
    endless_deals,
    require_agent,
)
from cardlab.engine.notebook_hooks import ShownAsPicture
from cardlab.engine.records import Record, Result
from cardlab.engine.registry import find_game

__all__ = [
    "Table",
    "agent_errors",
    "ask",
    "ask_values",
    "check_action",
    "close_game",
    "illegal_answer",
    "open_game",
]


class Table(ShownAsPicture):
    """A game in progress: the table deals by itself, seats move through `act`.

    The n-th deck order is `deals[n]` if it is given; otherwise it comes from `dealer(n)`, or
    without a dealer from the seed. A game that needs a deal and has none of these raises.

    Attributes: `game`, `options` (all of them, with their values), `seed`, `state` (the complete
    state), `actions` (the action ids so far) and `deals` (the deck orders so far).

        table = Table("NAME", seed=1)
        while not table.over:
            turn = table.turn()
            table.act(turn.legal[0])
        print(table.state.points())
    """

    @options_in_a_dict
    def __init__(
        self,
        game: str | Game,
        *,
        seed: int | None = None,
        deals: Iterable[str | Sequence[int] | Array] = (),
        options: dict[str, Any] | None = None,
        dealer: Callable[[int], Array] | None = None,
    ) -> None:
        game = find_game(game)
        if dealer is not None and not callable(dealer):
            raise CardlabError(
                f"dealer of {game.name} must be a function of the number of the deal, got "
                f"{shorten(dealer)}"
            )
        self.game = game
        self.dealer = dealer
        self.seed = None if seed is None else seeding.read_seed(seed)
        self.options = game.read_options(options)
        self.state = game.start(self.options)
        self.actions: list[int] = []
        self.deals: list[Array] = []
        self._given = _read_deals(game, deals)
        self._deal()

    @property
    def mover(self) -> int:
        """The seat to move, or OVER."""
        return self.state.mover

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.mover == OVER

    @property
    def seats(self) -> int:
        """The number of seats."""
        return int(self.state.seats)

    @property
    def given_deals(self) -> list[Array]:
        """The deck orders that were given, dealt or not."""
        return list(self._given)

    @property
    def dealt_by_seed(self) -> bool:
        """Whether every deal comes from the seed."""
        return not self._given and self.dealer is None

    def turn(self) -> Turn:
        """Return the decision that the game waits for."""
        seat = self.mover
        if seat == OVER:
            raise CardlabError(f"{self.game.name} is over; nobody is to move")
        return Turn(self.game, seat, self.state.view(seat), self.state.legal())

    def act(self, action: int) -> None:
        """Check an action, take it for the seat to move, and deal if the game needs cards."""
        action = check_action(self.state, action, f", ply {len(self.actions)}")
        self.game.bindings.apply(self.state.array, 0, action)
        self.actions.append(action)
        self._deal()

    def at_ply(self, ply: int) -> Table:
        """Return a new table with the cards of this one and its first `ply` actions."""
        table = Table(
            self.game,
            seed=self.seed,
            deals=self._given if self.dealer is None else self.deals,
            options=self.options,
            dealer=self.dealer,
        )
        for action in self.actions[:ply]:
            table.act(action)
        return table

    def record(self, seats: Sequence[str], note: str | None = None) -> Record:
        """Return the game so far as a record; `seats` names the player of every seat."""
        names = [] if isinstance(seats, str) or not isinstance(seats, Sequence) else list(seats)
        if len(names) != self.seats or not all(isinstance(name, str) for name in names):
            raise CardlabError(
                f"seats of a record of {self.game.name} must be {self.seats} names, one for each "
                f"seat, got {shorten(seats)}"
            )
        if note is not None:
            note = read_text(note, "note", "played at home")
        result = None
        if self.over:
            result = Result(returns=self.state.returns(), points=self.state.points())
        return Record(
            game=self.game.identifier,
            rules=self.game.rules_version,
            options=self.options,
            seed=self.seed,
            deals=[self.game.order_text(order) for order in self.deals],
            seats=names,
            actions=[(action, self.game.action_text(action)) for action in self.actions],
            result=result,
            note=note,
        )

    def _deal(self) -> None:
        game, array = self.game, self.state.array
        first = len(self.deals)
        while self.state.mover == DEALER:
            n = len(self.deals)
            if n - first == MOST_DEALS_IN_A_ROW:
                raise CardlabError(endless_deals(game))
            if n < len(self._given):
                order = self._given[n]
            elif self.dealer is not None:
                order = read_deal(game, self.dealer(n), n)
            elif self.seed is not None:
                order = np.empty(game.deck, dtype=np.uint8)
                game.shuffle(self.seed, n, order, np.zeros(1, dtype=np.int64))
            else:
                raise CardlabError(
                    f"{game.name} needs deal {n + 1}, but got {len(self._given)} deals and no "
                    "seed; give a seed or one more deal"
                )
            game.bindings.deal(array, 0, order)
            self.deals.append(order)


def check_action(state: State, action: object, place: str = "") -> int:
    """Return an action from outside if it is legal in a state; otherwise raise what is legal.

    `place` is what the caller knows about the position, such as `, ply 7`.
    """
    state = read_kind(state, State, "state", "give the state of a table")
    game, legal = state.game, state.legal()
    number = int(action) if _is_whole(action) else -1
    if number in legal:
        return number
    if state.mover == OVER:
        raise IllegalAction(f"{game.name} is over{place}; start a new game")
    known = 0 <= number < game.num_actions
    name = game.action_text(number) if known else "not an action of this game"
    raise IllegalAction(
        f"{game.name}{place}: seat {state.mover} cannot take action {shorten(action)} ({name}); "
        f"legal: {game.actions_text(legal)}"
    )


def _read_deals(game: Game, deals: object) -> list[Array]:
    if isinstance(deals, str) or not isinstance(deals, Iterable):
        raise CardlabError(
            f"deals of {game.name} must be a list of deck orders, got {shorten(deals)}; write "
            "deals=[order]"
        )
    return [read_deal(game, deal, n) for n, deal in enumerate(deals)]


def read_deal(game: Game, deal: object, n: int) -> Array:
    """Return the n-th deck order of a game, given as text or card ids, after checking it."""
    if isinstance(deal, str):
        return game.parse_order(deal)
    try:
        order = np.asarray(deal)
    except (ValueError, TypeError, OverflowError):  # ragged rows, or a failing conversion
        order = np.empty(0)
    if order.shape != (game.deck,) or order.dtype.kind not in "iu":
        raise CardlabError(
            f"deal {n + 1} of {game.name} must be a text or {game.deck} card ids, got "
            f"{shorten(deal)}"
        )
    if sorted(order.tolist()) != list(range(game.deck)):
        raise CardlabError(f"deal {n + 1} of {game.name} must hold each of 0..{game.deck - 1} once")
    return order.astype(np.uint8)


def ask(agent: Agent | OpenAgent, state: State, rng: np.random.Generator, place: str = "") -> int:
    """Return the action that an agent chooses for the seat to move; open agents get the state.

    `place` is what the caller knows about the position; messages about the agent contain it.
    """
    state = read_kind(state, State, "state", "give the state of a table")
    require_agent(agent)
    seat = state.mover
    where = f"seat {seat} of {state.game.name}{place}"
    if isinstance(agent, OpenAgent):
        with agent_errors(agent.act_open, agent.name, lambda: where):
            answer = agent.act_open(state.copy(), rng)
    else:
        with agent_errors(agent.act, agent.name, lambda: where):
            answer = agent.act(Turn(state.game, seat, state.view(seat), state.legal()), rng)
    if not _is_whole(answer):
        raise illegal_answer(agent.name, answer, where, state.legal())
    return answer


@contextmanager
def agent_errors(
    asked: Callable[..., Any] | None, name: str, place: Callable[[], str]
) -> Iterator[None]:
    """Turn an exception of an agent into a sentence: which agent, where in the game and code."""
    try:
        yield
    except CardlabError:
        raise
    except Exception as error:
        raise CardlabError(
            f"agent {name!r} failed as {place()}; {reason_of(error, asked)}; fix it there "
            "(CARDLAB_TRACEBACK=1 in the environment shows the traceback)"
        ) from error


def illegal_answer(name: str, answer: object, place: str, legal: Array) -> IllegalAction:
    """Return the error about an agent whose answer is not a legal action."""
    forgotten = "is there a return missing? " if answer is None else ""
    return IllegalAction(
        f"agent {name!r} answered {shorten(answer)} as {place}; legal action ids: "
        f"{', '.join(map(str, legal))}; {forgotten}return one of turn.legal as an int"
    )


def _is_whole(action: object) -> TypeGuard[int | np.integer[Any]]:
    return isinstance(action, (int, np.integer)) and not isinstance(action, bool)


def ask_values(agent: HasValues, turn: Turn, rng: np.random.Generator) -> Array:
    """Return an agent's value of every legal action of a turn."""
    turn = read_kind(turn, Turn, "turn", "table.turn() returns one")
    if not isinstance(agent, HasValues):
        raise CardlabError(
            f"agent must be one with a method values(turn, rng), got {shorten(agent)}"
        )
    name, where = getattr(agent, "name", "?"), f"adviser of seat {turn.seat} of {turn.game.name}"
    with agent_errors(agent.values, name, lambda: where):
        values = np.asarray(agent.values(turn, rng), dtype=float)
    if values.shape != turn.legal.shape:
        raise CardlabError(
            f"agent {name!r} returned values of shape {values.shape} as {where}; return one number "
            f"for each of the {len(turn.legal)} actions in turn.legal"
        )
    return values


def open_game(table: Table, agents: Sequence[object], rngs: Sequence[np.random.Generator]) -> None:
    """Call `begin` of all agents that have it."""
    for seat, agent in enumerate(agents):
        if isinstance(agent, FollowsGames):
            with _calling(table, seat, agent, agent.begin):
                agent.begin(table.game, table.options, seat, table.seats, rngs[seat])


def close_game(table: Table, agents: Sequence[object]) -> None:
    """Call `end` of all agents that have it, with the results."""
    for seat, agent in enumerate(agents):
        if isinstance(agent, FollowsGames):
            with _calling(table, seat, agent, agent.end):
                agent.end(seat, table.state.returns(), table.state.points())


def _calling(
    table: Table, seat: int, agent: object, method: Callable[..., None]
) -> AbstractContextManager[None]:
    where = f"seat {seat} of {table.game.name}, ply {len(table.actions)}"
    return agent_errors(method, getattr(agent, "name", "?"), lambda: where)
