"""The contract between rules, agents and everything that plays games.

A game's state is one NumPy record, its rules are kernels over that record:

    mover(s) -> seat | OVER | DEALER
    deal(s, order)               the dealer's move: a shuffled range(deck); the phase says what for
    legal(s, out) -> count       ascending action ids
    apply(s, action)             deterministic, stops at chance
    returns(s, seat) -> float    utility in [-1, 1] of a finished game
    points(s, seat) -> float     what the scoreboard says
    conceal(s, seat)             erase whatever this seat has not seen
    imagine(s, seat, rng) -> bool    fill in what is hidden, uniformly; False: try again
    audit(s) -> int              0 if the record is sound, otherwise an index into `faults`

Kernels trust their callers, allocate nothing and raise nothing. Code that takes actions from
outside checks them (`play`, `batch`).
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from cardlab.engine.arguments import options_in_a_dict, read_text, shorten
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.kernel import short_kernel
from cardlab.engine.manifest import GamePackage, Option, load
from cardlab.engine.notebook_hooks import ShownAsHtml, ShownAsPicture
from cardlab.engine.seeding import deck_order

__all__ = [
    "DEALER",
    "OVER",
    "ActsInBatches",
    "Agent",
    "Attention",
    "Description",
    "Event",
    "FollowsGames",
    "Game",
    "HasAttention",
    "HasUnit",
    "HasValues",
    "OpenAgent",
    "Option",
    "PlansAhead",
    "State",
    "Turn",
    "Turns",
    "Unit",
    "View",
    "Zone",
    "nth_legal",
    "record_type",
    "require_agent",
]

OVER, DEALER = -1, -2
MOST_DEALS_IN_A_ROW = 1000  # without a decision in between; rules that reject more never end
MANIFEST_FIELDS = ("name", "title", "summary", "options", "rules_version")
CONSTANTS = ("state", "num_actions", "deck", "max_plies", "faults", "used_cards")
OPTIONAL = ("key", "used_cards")  # found in a module where it has them
Array = npt.NDArray[Any]


class Fields(np.record):  # type: ignore[misc]
    """One record of an array whose fields read as attributes, several times faster than NumPy's."""

    __getattribute__ = object.__getattribute__

    def __getattr__(self, name: str) -> Any:
        try:
            return np.void.__getitem__(self, name)
        except (ValueError, IndexError):
            raise AttributeError(f"this record has no field {name}") from None


def record_type(fields: Sequence[tuple[Any, ...]]) -> np.dtype[Any]:
    """Return the record type of a state; interpreted kernels read its fields as attributes, too."""
    return np.dtype((Fields, list(fields)))


@dataclass(frozen=True)
class Zone:
    """A place with cards: its name, the number of cards, and the cards that this seat may know."""

    name: str  # such as hand or pile
    count: int  # number of cards, known or not
    cards: tuple[str, ...] = ()  # texts of the known cards
    seat: int | None = None  # whose it is; None: everybody's


@dataclass(frozen=True)
class Event:
    """Something that this seat has seen, in words."""

    seat: int | None  # who did it; None: nobody
    text: str  # what happened, in words


@dataclass(frozen=True)
class Description:
    """Everything one seat may know, as plain data for a browser, a terminal or an outside agent."""

    seat: int  # whose knowledge this is
    seats: int  # number of seats
    to_move: int | None  # seat to move; None: the game is over
    zones: tuple[Zone, ...]  # places with cards
    facts: dict[str, str | int]  # such as score and dealer, by name
    events: tuple[Event, ...]  # what the seat has seen, the latest last


class Bindings(NamedTuple):
    """The kernels of one game as functions that Python calls with an array of records and a row."""

    mover: Callable[[Array, int], int]
    deal: Callable[[Array, int, Array], None]
    legal: Callable[[Array, int, Array], int]
    apply: Callable[[Array, int, int], None]
    returns: Callable[[Array, int, int], float]
    points: Callable[[Array, int, int], float]
    conceal: Callable[[Array, int, int], None]
    imagine: Callable[[Array, int, int, Array], bool]


@dataclass(frozen=True, eq=False)
class Game:
    """A game: its rules as kernels, its texts and its options."""

    reference: str  # where to import it from, as module:NAME
    name: str  # short name, as in commands
    title: str  # name for people
    summary: str  # one line about the game
    rules_version: int  # raised when an older record would replay differently
    state: np.dtype[Any]  # type of the record that holds a whole game
    num_actions: int  # action ids are 0 to this less 1
    deck: int  # number of cards; a deck order is a shuffled range(deck)
    max_plies: int  # no game has more decisions
    options: tuple[Option, ...]  # variants that can be chosen
    fresh: Callable[..., Array]  # options -> array of one record, before the first deal
    mover: Callable[[Any], int]  # state -> seat to move, OVER or DEALER
    deal: Callable[[Any, Any], None]  # state, order: deals from a deck order
    legal: Callable[[Any, Any], int]  # state, out -> number of legal actions, ascending in out
    apply: Callable[[Any, int], None]  # state, action: takes a legal action
    returns: Callable[[Any, int], float]  # state, seat -> utility of a finished game, -1 to 1
    points: Callable[[Any, int], float]  # state, seat -> points, as on a scoreboard
    conceal: Callable[[Any, int], None]  # state, seat: erases what it has not seen
    imagine: Callable[[Any, int, Any], bool]  # view, seat, rng -> False: try again
    audit: Callable[[Any], int]  # state -> 0 if it is sound, else a place in faults
    faults: tuple[str, ...]  # words for what audit finds
    card_text: Callable[[int], str]  # card -> text
    parse_card: Callable[[str], int]  # text -> card
    action_text: Callable[[int], str]  # action -> text
    parse_action: Callable[[str], int]  # text -> action
    state_text: Callable[[Any], str]  # state or view -> text
    describe: Callable[[Any, int], Description]  # view, seat -> what it knows
    zero_sum: bool = True  # whether returns add up to 0
    open_cards: bool = False  # whether every seat sees everything, so that views hide nothing
    key: Callable[[Any], int] | None = None  # a number equal for states with the same future
    used_cards: int | None = None  # how many cards of an order matter; None: all of them
    shuffle: Callable[[int, int, Any, Any], None] = deck_order  # seed, n -> the n-th deck order

    def __reduce__(self) -> tuple[Any, ...]:
        return (load, (self.reference,))

    def __repr__(self) -> str:
        return f"<Game {self.name}>"

    @classmethod
    def from_module(
        cls, module: str, package: GamePackage | None = None, *more: ModuleType, **given: Any
    ) -> Game:
        """Return the game `GAME` of a module, made of what the module defines or imports.

        Functions are found by name (`mover`, `deal`, ..., `key`), constants by name in capitals
        (`STATE`, `NUM_ACTIONS`, `DECK`, `MAX_PLIES`, `FAULTS`, `USED_CARDS`), in the module or in
        `more` modules of the game; title, summary, options and version come from its manifest.
        Keywords replace what was found; every other field is given by keyword.
        """
        package = package or GamePackage(module, f"{module}:GAME")
        values = {name: getattr(package, name) for name in MANIFEST_FIELDS}
        values |= {"reference": f"{module}:GAME", **given}
        found = ChainMap(*(vars(home) for home in (sys.modules[module], *more)))
        for field in dataclasses.fields(cls):
            needed = field.default is dataclasses.MISSING
            name = field.name.upper() if field.name in CONSTANTS else field.name
            if field.name not in values and (needed or field.name in OPTIONAL):
                if name in found:
                    values[field.name] = found[name]
                elif needed:
                    raise CardlabError(f"game {package.name}: {module} defines no `{name}`")
        return cls(**values)

    @property
    def identifier(self) -> str:
        """The name of the game in records and commands: its reference if it is from outside."""
        built_in = self.reference == f"cardlab.games.{self.name}.rules:GAME"
        return self.name if built_in else self.reference

    @functools.cached_property
    def bindings(self) -> Bindings:
        """The rules as functions that take an array of records and a row."""
        return _make_bindings(self)

    def check_contract(self) -> None:
        """Check what can be checked without playing: the record, the deck, a fresh game."""
        fields = self.state.names or ()
        for name in ("seats", "seat", "phase"):
            if name not in fields:
                raise CardlabError(
                    f"game {self.reference}: the record has no field {name!r}; every game needs "
                    f"it, add ({name!r}, 'u1')"
                )
        for name in fields:
            if hasattr(np.recarray, name):
                raise CardlabError(
                    f"game {self.reference}: the field {name!r} of the record clashes with a "
                    f"NumPy attribute; rename it, for instance to {name + '_'!r}"
                )
        if not 0 < (self.deck if self.used_cards is None else self.used_cards) <= self.deck:
            raise CardlabError(
                f"game {self.reference}: deck must be at least 1 and used_cards from 1 to deck, "
                f"got deck={self.deck} and used_cards={self.used_cards}"
            )
        try:
            state = self.fresh(**self.read_options({}))
        except Exception as error:  # whatever a person's function raises is theirs to read
            reason = f"{type(error).__name__}: {error}"
            raise CardlabError(f"game {self.reference}: `fresh` fails ({reason})") from error
        if not isinstance(state, np.ndarray) or (state.shape, state.dtype) != ((1,), self.state):
            raise CardlabError(
                f"game {self.reference}: `fresh` returned {type(state).__name__}, not an array of "
                "one record; begin with `np.zeros(1, dtype=STATE)` and end with `return`"
            )
        if state[0].seats < 1:
            raise CardlabError(f"game {self.reference}: `fresh` must set the field 'seats'")

    def read_options(self, given: dict[str, Any] | None) -> dict[str, Any]:
        """Return every option of this game with its value, after checking those given."""
        given = {} if given is None else given
        if not isinstance(given, Mapping):
            raise CardlabError(
                f"options of {self.name} must be a dict of names and values, got {shorten(given)}"
            )
        known = {option.name: option for option in self.options}
        for name in given:
            if name not in known:
                raise CardlabError(suggest(f"option of {self.name}", name, known))
        return {
            name: option.read(given[name], self.name) if name in given else option.default
            for name, option in known.items()
        }

    @options_in_a_dict
    def start(self, options: dict[str, Any] | None = None) -> State:
        """Return the state of a new game that waits for its first deal."""
        return State(self, self.fresh(**self.read_options(options)))

    def actions_text(self, actions: Sequence[int] | Array) -> str:
        """Return actions as texts with their ids, for messages about what is legal."""
        return ", ".join(f"{self.action_text(int(action))} ({action})" for action in actions)

    def order_text(self, order: Sequence[int] | Array) -> str:
        """Return a deck order as text, in the order of dealing; unused cards are left out."""
        return " ".join(self.card_text(int(card)) for card in order[: self.used_cards])

    def parse_order(self, text: str) -> Array:
        """Return the deck order that `text` lists in the order of dealing, every card once.

        Spaces may be left out if all cards have the same width. If a game uses only some cards of
        an order, those are enough; the others are added behind them.
        """
        text = read_text(text, f"a deck order of {self.name}", "7H QS ...")
        left: dict[str, list[int]] = {}
        for card in range(self.deck):
            left.setdefault(self.card_text(card), []).append(card)
        words = text.replace(",", " ").split()
        width = len(self.card_text(0))
        if len(words) == 1 and len(words[0]) > width and {len(name) for name in left} == {width}:
            words = [text.strip()[i : i + width] for i in range(0, len(text.strip()), width)]
        order = []
        for place, given in enumerate(words, start=1):
            try:
                name = self.card_text(self.parse_card(given))
            except CardlabError as error:
                raise CardlabError(f"card {place} of the deal: {error}") from None
            if not left[name]:
                raise CardlabError(
                    f"card {place} of the deal: {name} is listed more often than it is in the deck "
                    f"of {self.name}; give every card once"
                )
            order.append(left[name].pop(0))
        if len(order) == self.used_cards:
            order += [card for cards in left.values() for card in cards]
        if len(order) != self.deck:
            wanted = f"the deal has {len(order)} cards, {self.name} needs "
            if self.used_cards:
                raise CardlabError(f"{wanted}{self.used_cards}")
            missing = [name for name, cards in left.items() if cards]
            more = " ..." if len(missing) > 8 else ""
            raise CardlabError(f"{wanted}{self.deck}; missing: {' '.join(missing[:8])}{more}")
        return np.array(order, dtype=np.uint8)


def endless_deals(game: Game) -> str:
    """Return a sentence about a game that never stops dealing."""
    return (
        f"{game.name}: after {MOST_DEALS_IN_A_ROW:,} deals in a row `mover` still returns DEALER; "
        "let `deal` change the field that `mover` reads, usually the phase"
    )


def _make_bindings(game: Game) -> Bindings:
    mover, deal, legal, apply = game.mover, game.deal, game.legal, game.apply
    returns, points, conceal, imagine = game.returns, game.points, game.conceal, game.imagine

    @short_kernel
    def mover_at(states: Any, row: int) -> int:
        return mover(states[row])

    @short_kernel
    def deal_at(states: Any, row: int, order: Any) -> None:
        deal(states[row], order)

    @short_kernel
    def legal_at(states: Any, row: int, out: Any) -> int:
        return legal(states[row], out)

    @short_kernel
    def apply_at(states: Any, row: int, action: int) -> None:
        apply(states[row], action)

    @short_kernel
    def returns_at(states: Any, row: int, seat: int) -> float:
        return returns(states[row], seat)

    @short_kernel
    def points_at(states: Any, row: int, seat: int) -> float:
        return points(states[row], seat)

    @short_kernel
    def conceal_at(states: Any, row: int, seat: int) -> None:
        conceal(states[row], seat)

    @short_kernel
    def imagine_at(states: Any, row: int, seat: int, rng: Any) -> bool:
        return imagine(states[row], seat, rng)

    return Bindings(
        mover_at, deal_at, legal_at, apply_at, returns_at, points_at, conceal_at, imagine_at
    )


class _OneRecord(ShownAsPicture):
    """A game and an array of one record; the record's fields read as attributes."""

    __slots__ = ("array", "game")

    def __init__(self, game: Game, array: Array) -> None:
        self.game = game
        self.array = array

    def __getattr__(self, name: str) -> Any:
        if name in ("array", "game") or name.startswith("__"):
            raise AttributeError(name)
        try:
            return getattr(self.array[0], name)
        except AttributeError:
            names = self.game.state.names or ()
            raise AttributeError(suggest(f"field of {self.game.name}", name, names)) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.game, self.array))


class State(_OneRecord):
    """The complete state of one game; agents get a `View` instead."""

    __slots__ = ()

    @property
    def mover(self) -> int:
        """The seat to move, or OVER, or DEALER."""
        return int(self.game.bindings.mover(self.array, 0))

    def copy(self) -> State:
        """Return an independent copy of the state."""
        return State(self.game, self.array.copy())

    def legal(self) -> Array:
        """Return the legal action ids in ascending order."""
        out = np.empty(self.game.num_actions, dtype=np.int16)
        return out[: self.game.bindings.legal(self.array, 0, out)]

    def view(self, seat: int) -> View:
        """Return a copy that contains only what `seat` has seen."""
        whole = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
        if not whole or not 0 <= seat < self.seats:
            raise CardlabError(
                f"{self.game.name} has no seat {shorten(seat)}; its seats are 0 to {self.seats - 1}"
            )
        array = self.array.copy()
        self.game.bindings.conceal(array, 0, seat)
        return View(self.game, array, seat)

    def returns(self) -> list[float]:
        """Return the utility of every seat in a finished game, from -1 to 1."""
        return [float(self.game.bindings.returns(self.array, 0, k)) for k in range(self.seats)]

    def points(self) -> list[float]:
        """Return the points of every seat in a finished game."""
        return [float(self.game.bindings.points(self.array, 0, k)) for k in range(self.seats)]

    def __str__(self) -> str:
        return self.game.state_text(self.array[0])


class View(_OneRecord):
    """What one seat knows: a copy of the record that contains only what the seat has seen."""

    __slots__ = ("own_seat",)

    def __init__(self, game: Game, array: Array, own_seat: int) -> None:
        super().__init__(game, array)
        self.own_seat = own_seat

    def __reduce__(self) -> tuple[Any, ...]:
        return (View, (self.game, self.array, self.own_seat))

    def describe(self) -> Description:
        """Return what the seat knows, as plain data."""
        description = self.game.describe(self.array[0], self.own_seat)
        if not isinstance(description, Description):
            raise CardlabError(
                f"`describe` of {self.game.name} must return a Description, got "
                f"{shorten(description)}"
            )
        return description

    def imagine(self, rng: np.random.Generator) -> State:
        """Return a sampled world: a state that agrees with everything the seat has seen."""
        stream = np.array([rng.integers(1, 1 << 63)], dtype=np.int64)
        array = self.array.copy()
        while not self.game.bindings.imagine(array, 0, self.own_seat, stream):
            array[0] = self.array[0]
        return State(self.game, array)

    def __str__(self) -> str:
        return self.game.state_text(self.array[0])


@dataclass(frozen=True)
class Turn(ShownAsHtml):
    """One decision: the seat to move, its view and its legal actions."""

    game: Game  # the game that is played
    seat: int  # seat to move
    view: View  # what the seat knows
    legal: Array  # action ids, ascending

    @classmethod
    def of(cls, game: Game, seat: int, view: Array, legal: Array) -> Turn:
        """Return the turn of `seat`, whose view is the single record in the array `view`."""
        return cls(game, seat, View(game, view, seat), legal)

    @property
    def texts(self) -> list[str]:
        """The legal actions as texts, in the order of `legal`."""
        return [self.game.action_text(int(action)) for action in self.legal]


@dataclass(frozen=True)
class Turns:
    """Many decisions at once: row i is the turn of `seats[i]` with the view `views[i]`."""

    game: Game  # the game that is played
    seats: Array  # seat to move, by row
    views: Array  # records, one row for each decision
    mask: Array  # bool by row and action: whether it is legal

    def __len__(self) -> int:
        return len(self.seats)


@runtime_checkable
class Agent(Protocol):
    """An agent chooses a legal action from a turn and a random generator, and keeps no memory."""

    name: str

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return one of `turn.legal`."""


def require_agent(found: object, called: str | None = None) -> None:
    """Raise a sentence that says what is missing unless an object is an agent.

    `called` is the name by which a person asked for it.
    """
    shown = shorten(found if called is None else called)
    if isinstance(found, type):
        raise CardlabError(f"agent {shown} is a class; make an agent of it: {found.__name__}()")
    lacks = []
    name = getattr(found, "name", None)
    if not isinstance(name, str) or not name.strip():
        lacks.append('no name (write name = "mine" in its class)')
    if not callable(getattr(found, "act", getattr(found, "act_open", None))):
        lacks.append("no method act(self, turn, rng) that returns one of turn.legal")
    if lacks:
        kind = type(found).__name__
        raise CardlabError(f"agent {shown}, of type {kind}, has {' and '.join(lacks)}")


def nth_legal(mask: Array, nth: Array) -> Array:
    """Return the n-th legal action in each row of a mask, counted from 0."""
    actions: Array = (mask & (np.cumsum(mask, axis=1) == nth[:, None] + 1)).argmax(axis=1)
    return actions


@runtime_checkable
class ActsInBatches(Protocol):
    """An agent that answers many turns at once, each with the answer of `act`."""

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return one legal action for every turn."""


@runtime_checkable
class OpenAgent(Protocol):
    """An agent that sees the true state with all cards; its name ends in `_open`."""

    name: str

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return a legal action for the seat to move; `state` is a copy."""


@runtime_checkable
class HasValues(Protocol):
    """An agent that can value every legal action, for hints."""

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the expected return of every action in `turn.legal`, in the unit of `HasUnit`."""


@dataclass(frozen=True)
class Unit:
    """The unit of an agent's values that are not expected returns, and how to print one."""

    words: str  # such as "points won in this round"
    form: str  # such as "{:+.2f}"
    limits: tuple[float, float] | None = None  # of the scale; None: the worst and the best action


@runtime_checkable
class HasUnit(Protocol):
    """An agent whose values may have a unit of their own."""

    unit: Unit | None  # None: expected returns


@dataclass(frozen=True)
class Attention:
    """How much every legal action attends to every token of a network; each row sums to 1."""

    weights: Array  # by block, head, action, token
    tokens: tuple[str, ...]  # what each token stands for, in words
    group: int = 0  # number of neighbouring tokens that belong together; 0: none


@runtime_checkable
class HasAttention(Protocol):
    """An agent that can report the attention of its network."""

    def attention(self, turn: Turn) -> Attention:
        """Return the attention of the network when it values the actions in `turn.legal`."""


@runtime_checkable
class FollowsGames(Protocol):
    """An agent with methods that are called when a game begins and ends."""

    def begin(
        self, game: Game, options: dict[str, Any], seat: int, seats: int, rng: np.random.Generator
    ) -> None:
        """Take a seat in a new game."""

    def end(self, seat: int, returns: Sequence[float], points: Sequence[float]) -> None:
        """Leave the seat; `returns` and `points` are the results of every seat."""


@runtime_checkable
class PlansAhead(Protocol):
    """An agent that plans a one-seat game without further chance to its end at once."""

    def plan(self, turn: Turn, rng: np.random.Generator) -> tuple[Sequence[int], int]:
        """Return all actions to the end, as good as those of `act`, and the number of nodes."""
