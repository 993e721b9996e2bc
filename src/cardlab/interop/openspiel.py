"""OpenSpiel games: OpenSpiel's algorithms run on the rules of cardlab.

    game = cardlab.interop.openspiel.load("crazy_eights", options={"seats": 3})
    state = game.new_initial_state()

Chance is the dealer. If a game uses so few cards of its deck that all orders can be listed, a
chance node lists them (explicit chance, for CFR and similar algorithms). Otherwise it offers one
outcome, drawn again for every state that reaches the node (sampled chance); the id of the outcome
is the seed of the deck order, so a history replays exactly. `chance="explicit"` or `"sampled"`
asks for one of the two.

The information state of a seat is everything it has seen: a chain of digests over its views after
every move, so a seat forgets nothing even if the record keeps only the latest actions.
`resample_from_infostate` samples hidden cards, for information-set searches.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import options_in_a_dict, read_kind
from cardlab.engine.errors import CardlabError, IllegalAction, require
from cardlab.engine.game import DEALER, OVER, Array, Game, View
from cardlab.engine.observation import observation_of
from cardlab.interop.seats import check_choice, read_game

try:
    import pyspiel
except ImportError:
    require("cardlab.interop.openspiel", "bench", "pyspiel")
    raise

__all__ = ["CardGame", "CardState", "load"]

MOST_ORDERS = 5040  # listed deck orders: all of seven cards
MOST_REMEMBERED = 100_000  # numbers of an information state tensor
SEEDS = 1 << 20  # OpenSpiel's own tests make masks of this size
CHANCE = ("explicit", "sampled")


@options_in_a_dict
def load(
    game: str | Game,
    *,
    chance: str | None = None,
    seed: int = 0,
    options: dict[str, Any] | None = None,
) -> CardGame:
    """Return a game as an OpenSpiel game, with options of its rules in a dict.

    `chance` is "explicit", "sampled" or None for the one that fits; sampled chance draws from
    `seed`.
    """
    return CardGame.make(game, chance, seed, options)


class CardGame(pyspiel.Game):
    """A game of cardlab as an OpenSpiel game."""

    @classmethod
    def make(
        cls, game: str | Game, chance: str | None, seed: int, given: dict[str, Any] | None
    ) -> CardGame:
        """Return the OpenSpiel game of a game with these options, as `load` does."""
        game, options, seats = read_game(game, given)
        orders = _count_orders(game)
        if chance is None:
            chance = "explicit" if orders <= MOST_ORDERS else "sampled"
        check_choice("chance", chance, CHANCE)
        if chance == "explicit" and orders > MOST_ORDERS:
            raise CardlabError(
                f"{game.name} has too many deck orders to list (more than {MOST_ORDERS:,}); use "
                "chance='sampled'"
            )
        width = observation_of(game).size
        remembers = (game.max_plies + 1) * width <= MOST_REMEMBERED
        short_name = f"cardlab_{game.name}"
        about = pyspiel.GameType(
            short_name=short_name,
            long_name=game.title,
            dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
            chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
            if chance == "explicit"
            else pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC,
            information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
            utility=pyspiel.GameType.Utility.ZERO_SUM
            if game.zero_sum and seats > 1
            else pyspiel.GameType.Utility.GENERAL_SUM,
            reward_model=pyspiel.GameType.RewardModel.TERMINAL,
            max_num_players=seats,
            min_num_players=seats,
            provides_information_state_string=True,
            provides_information_state_tensor=remembers,
            provides_observation_string=True,
            provides_observation_tensor=True,
            default_loadable=False,
            parameter_specification={},
        )
        size = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=orders if chance == "explicit" else SEEDS,
            num_players=seats,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0 if game.zero_sum and seats > 1 else None,
            max_game_length=game.max_plies,
        )
        return cls(about, size, game, options, seats, chance, seed)

    def __init__(
        self,
        about: Any,
        size: Any,
        game: Game,
        options: dict[str, Any],
        seats: int,
        chance: str,
        seed: int,
    ) -> None:
        """Take the parts that `make` has prepared."""
        super().__init__(about, size, {})
        self.game, self.options, self.seats, self.chance = game, options, seats, chance
        self.seed = seed
        self.orders = _list_orders(game) if chance == "explicit" else []
        self.encoder = observation_of(game)
        self.remembers = bool(about.provides_information_state_tensor)
        self._random = seeding.generator(seed, "openspiel")

    def __deepcopy__(self, memo: dict[int, Any]) -> CardGame:
        """Return the game itself: OpenSpiel copies whatever a state refers to."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (CardGame.make, (self.game, self.chance, self.seed, self.options))

    def draw_seed(self) -> int:
        """Return a random seed of a deck order."""
        return int(self._random.integers(SEEDS))

    def new_initial_state(self) -> CardState:
        """Return the state of a new game that waits for its first deal."""
        return CardState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> CardObserver:
        """Return an observer, which writes a seat's tensor and string."""
        if params:
            raise CardlabError(
                f"observations of {self.game.name} take no parameters, got {params}; leave them out"
            )
        return CardObserver(self, bool(iig_obs_type and iig_obs_type.perfect_recall))


@dataclass(frozen=True, eq=False)
class Moment:
    """The content of a state; it is replaced, never changed, so copies of a state can share it."""

    array: Array
    witnessed: tuple[bytes, ...]  # for every seat, a digest of all its views so far
    memory: tuple[tuple[Array, ...], ...]  # for every seat those views, where the game keeps them

    def __deepcopy__(self, memo: dict[int, Any]) -> Moment:
        return self


@dataclass
class Draw:
    """The outcome that a sampled chance node offers; a copy of the node draws its own."""

    seed: int | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Draw:
        return Draw()


class CardState(pyspiel.State):
    """A state of a cardlab game as an OpenSpiel state."""

    def __init__(self, game: CardGame) -> None:
        """Start before the first deal."""
        read_kind(game, CardGame, "game", "make one by load(name)")  # None would end Python
        super().__init__(game)
        self.rules = game
        nothing: tuple[Any, ...] = ((),) * game.seats
        self.moment = Moment(game.game.fresh(**game.options), (b"",) * game.seats, nothing)
        self.drawn = Draw()

    def __reduce__(self) -> tuple[Any, ...]:
        return (self.rules.deserialize_state, (self.serialize(),))

    @property
    def array(self) -> Array:
        """The record, in an array of one; it is never written to."""
        return self.moment.array

    def current_player(self) -> int:
        """Return the seat to move, or OpenSpiel's number for chance or a finished game."""
        mover = int(self.rules.game.bindings.mover(self.array, 0))
        if mover == OVER:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if mover == DEALER else mover

    def _legal_actions(self, player: int) -> list[int]:
        out = np.empty(self.rules.game.num_actions, dtype=np.int16)
        count = self.rules.game.bindings.legal(self.array, 0, out)
        return [int(action) for action in out[:count]]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return all deck orders with their probabilities, or the one that was drawn."""
        if self.rules.chance == "explicit":
            share = 1 / len(self.rules.orders)
            return [(number, share) for number in range(len(self.rules.orders))]
        if self.drawn.seed is None:
            self.drawn.seed = self.rules.draw_seed()
        return [(self.drawn.seed, 1.0)]

    def _apply_action(self, action: int) -> None:
        game, array = self.rules.game, self.array.copy()
        if self.is_chance_node():
            game.bindings.deal(array, 0, self._order(action))
        elif action in (legal := self._legal_actions(self.current_player())):
            game.bindings.apply(array, 0, action)
        else:
            raise IllegalAction(
                f"action {action} is not legal in this state of {game.name}; "
                f"legal: {game.actions_text(legal) or 'nothing, the game is over'}"
            )
        self.drawn = Draw()
        self.moment = self._witness(array, self.moment.witnessed, self.moment.memory)

    def _witness(
        self, array: Array, witnessed: Iterable[bytes], memory: Iterable[tuple[Array, ...]]
    ) -> Moment:
        """Return the moment in which every seat has seen its view of `array` after these."""
        views = [_view(self.rules.game, array, seat) for seat in range(self.rules.seats)]
        return Moment(
            array,
            tuple(
                hashlib.blake2b(before + view.tobytes(), digest_size=16).digest()
                for before, view in zip(witnessed, views, strict=True)
            ),
            tuple(
                (*seen, view) if self.rules.remembers else ()
                for seen, view in zip(memory, views, strict=True)
            ),
        )

    def _order(self, action: int) -> Array:
        number = len(self.rules.orders) or SEEDS
        if not 0 <= action < number:
            raise IllegalAction(
                f"{self.rules.game.name} has no deal {action}; its deals are 0 to {number - 1}"
            )
        if self.rules.chance == "explicit":
            return self.rules.orders[action]
        order = np.empty(self.rules.game.deck, dtype=np.uint8)
        self.rules.game.shuffle(action, 0, order, np.zeros(1, dtype=np.int64))
        return order

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {action}"
        return self.rules.game.action_text(action)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return int(self.rules.game.bindings.mover(self.array, 0)) == OVER

    def returns(self) -> list[float]:
        """Return the utility of every seat, 0 until the end."""
        if not self.is_terminal():
            return [0.0] * self.rules.seats
        bindings = self.rules.game.bindings
        return [float(bindings.returns(self.array, 0, seat)) for seat in range(self.rules.seats)]

    def resample_from_infostate(self, player: int, sampler: Any = None) -> CardState:
        """Return a state that looks the same to a seat, with hidden cards sampled uniformly.

        It contains nothing of the true state that the seat has not seen: it has no history, and the
        other seats' information states are made from their views of the sampled cards and from the
        information state of this seat.
        """
        rng = np.random.default_rng(
            int(sampler() * (1 << 53)) if sampler else self.rules.draw_seed()
        )
        view = View(self.rules.game, _view(self.rules.game, self.array, player), player)
        own, seats = self.moment, range(self.rules.seats)
        other = CardState(self.rules)
        new = self._witness(
            view.imagine(rng).array, [own.witnessed[player]] * len(seats), [()] * len(seats)
        )
        other.moment = Moment(
            new.array,
            tuple((own if seat == player else new).witnessed[seat] for seat in seats),
            tuple((own if seat == player else new).memory[seat] for seat in seats),
        )
        return other

    def __str__(self) -> str:
        return self.rules.game.state_text(self.array[0])


class CardObserver:
    """An OpenSpiel observer: it writes the observation of one seat."""

    def __init__(self, rules: CardGame, perfect_recall: bool) -> None:
        """Make room for one tensor of these rules."""
        self.encoder = rules.encoder
        self.perfect_recall = perfect_recall
        width = rules.encoder.size
        if perfect_recall and not rules.remembers:
            self.tensor: Array | None = None
            self.dict: dict[str, Array] = {}
            return
        shape = (rules.max_game_length() + 1, width) if perfect_recall else (width,)
        self.tensor = np.zeros(math.prod(shape), dtype=np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: CardState, player: int) -> None:
        """Write the tensor of `player` in `state`."""
        if self.tensor is None:
            return
        self.tensor.fill(0)
        if not self.perfect_recall:
            self.tensor[:] = self.encoder.one(_view(state.rules.game, state.array, player), player)
        elif state.moment.memory[player]:
            rows = self.dict["observation"]
            views = np.concatenate(state.moment.memory[player][-len(rows) :])
            rows[: len(views)] = self.encoder.rows(views, np.full(len(views), player))

    def string_from(self, state: CardState, player: int) -> str:
        """Return a text that is equal in two states if `player` knows the same in both."""
        if self.perfect_recall:
            return f"seat {player} {state.moment.witnessed[player].hex()}"
        view = _view(state.rules.game, state.array, player)
        return f"seat {player} {view.tobytes().hex()}"


def _view(game: Game, array: Array, seat: int) -> Array:
    view = array.copy()
    game.bindings.conceal(view, 0, seat)
    return view


def _count_orders(game: Game) -> float:
    used = game.deck if game.used_cards is None else min(game.used_cards, game.deck)
    return math.perm(game.deck, used) if used <= 20 else math.inf


def _list_orders(game: Game) -> list[Array]:
    """Return a deck order for every sequence of the cards that a game uses."""
    used = game.deck if game.used_cards is None else min(game.used_cards, game.deck)
    orders = []
    for first in itertools.permutations(range(game.deck), used):
        rest = [card for card in range(game.deck) if card not in first]
        orders.append(np.array([*first, *rest], dtype=np.uint8))
    return orders
