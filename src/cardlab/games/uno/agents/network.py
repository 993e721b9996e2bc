"""Agents that play Uno by a network, through onnxruntime; `learning` makes the networks.

One that has been trained but not shipped plays as
`cardlab.games.uno.agents.network:UnoNetwork:path=FILE.onnx`, or `UnoNetworkOpen` if it
needs the other hands.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, State, Turn, Turns
from cardlab.games.uno import PACKAGE
from cardlab.games.uno.features import VERSION, encode_all, output_of
from cardlab.games.uno.rules import GAME
from cardlab.networks.onnx import Network

OUTPUT = np.array([output_of(action) for action in range(GAME.num_actions)])
DIGITS = 3  # values that differ by less count as equal, so that batches of any size choose alike


@functools.cache
def _load(path: Path) -> Network:
    return Network(path, game=GAME.name, rules=GAME.rules_version, encoding_version=VERSION)


def _shipped(name: str) -> Path:
    return PACKAGE.shipped("networks", f"{name.removeprefix('uno_')}.onnx")


class _Player:
    """A network with what it takes to ask it about turns of Uno."""

    open = False

    def __init__(self, path: Path | str, name: str) -> None:
        self.name = name
        self.path = Path(path)
        self._network = _load(self.path)
        leaks = self._network.about["encoding"] == "paper"
        if leaks and not self.open:
            raise CardlabError(
                f"{path} needs the encoding 'paper', which shows the other hands; "
                "only an agent whose name ends in _open may play it (UnoNetworkOpen)"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.path, self.name))

    def ask(self, records: Array, seats: Array, mask: Array) -> dict[str, Array]:
        """Return every answer of the network for every action, -inf where it is not legal."""
        legal = (mask * (np.int64(1) << OUTPUT)).sum(axis=1)
        features = encode_all(records, seats, legal, self._network.about["encoding"])
        answers = self._network.run(features=features)
        return {
            name: np.where(mask, numbers[:, OUTPUT], -np.inf) for name, numbers in answers.items()
        }

    def best(self, records: Array, seats: Array, mask: Array) -> Array:
        """Return the best action of every turn: by the policy where the network has one."""
        answers = self.ask(records, seats, mask)
        scores = answers.get("policy", answers["values"])
        best: Array = scores.round(DIGITS).argmax(axis=1)
        return best

    def worth(self, records: Array, seats: Array, legal: Array) -> Array:
        """Return the expected return of every legal action of one turn."""
        values = self.ask(records, seats, _mask(legal))["values"][0, legal]
        wins = np.clip((values + 1) / 2, 0, 1)  # networks learn 1 for a win, -1 for a loss
        worth: Array = wins - (1 - wins) / (int(records[0].seats) - 1)
        return worth


def _mask(legal: Array) -> Array:
    mask = np.zeros((1, GAME.num_actions), dtype=np.bool_)
    mask[0, legal] = True
    return mask


class UnoNetwork(_Player):
    """Takes the action with the best value of a network, from what its own seat has seen."""

    def __init__(self, path: Path | str, name: str = "uno_network") -> None:
        """Take the network in an ONNX file."""
        super().__init__(path, name)

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action that the network prefers."""
        return int(self.best(turn.view.array, np.array([turn.seat]), _mask(turn.legal))[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action that the network prefers for every turn."""
        return self.best(turns.views, turns.seats, turns.mask)

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the expected return of every legal action."""
        return self.worth(turn.view.array, np.array([turn.seat]), turn.legal)


class UnoNetworkOpen(_Player):
    """Plays a network that is shown the cards of all other hands together, as the paper's were."""

    open = True

    def __init__(self, path: Path | str, name: str = "uno_network_open") -> None:
        """Take the network in an ONNX file."""
        super().__init__(path, name)

    def act_open(self, state: State, rng: np.random.Generator) -> int:
        """Return the action that the network prefers."""
        return int(self.best(state.array, np.array([state.mover]), _mask(state.legal()))[0])


@functools.cache
def uno_net() -> UnoNetwork:
    """Return the strongest network, trained with any number of seats and both rule sets."""
    return UnoNetwork(_shipped("uno_net"), "uno_net")


def uno_dqn() -> UnoNetwork:
    """Return the paper's DQN on what its seat may know."""
    return UnoNetwork(_shipped("uno_dqn"), "uno_dqn")


def uno_deep_sarsa() -> UnoNetwork:
    """Return the paper's DeepSARSA on what its seat may know."""
    return UnoNetwork(_shipped("uno_deep_sarsa"), "uno_deep_sarsa")


def uno_dqn_open() -> UnoNetworkOpen:
    """Return the paper's DQN with the paper's input."""
    return UnoNetworkOpen(_shipped("uno_dqn_open"), "uno_dqn_open")


def uno_deep_sarsa_open() -> UnoNetworkOpen:
    """Return the paper's DeepSARSA with the paper's input."""
    return UnoNetworkOpen(_shipped("uno_deep_sarsa_open"), "uno_deep_sarsa_open")
