"""Agents that play a card transformer through onnxruntime; `learning.token_training` trains them.

A network of your own plays as `cardlab.agents.token_network:TokenPlayer:path=FILE.onnx`, after
`python -m cardlab.learning export GAME/transformer RUN NAME FOLDER`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.arguments import read_path
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, Turn, Turns
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.manifest import load
from cardlab.engine.registry import find_game, find_package
from cardlab.networks.onnx import Network

__all__ = ["TokenPlayer"]

MOST_TURNS = 64  # turns that a network answers at once; more do not fit a processor's caches


class Kernels(NamedTuple):
    """The kernels of a game's features for batches."""

    write_rows: Callable[[Any, Any, Any, Any], None]
    write_actions: Callable[[Any, Any, Any], None]


def _features(game: str) -> Any:
    """Return the module that writes decisions of a game as tokens."""
    return load(find_package(game).tokens)


@functools.cache
def make_kernels(game: str) -> Kernels:
    """Return the kernels that write turns of a game for a network and read its answers."""
    features = _features(game)
    write_view, write_choices = features.write_view, features.write_choices
    action_of_token = features.action_of_token

    @kernel
    def write_rows(views: Any, seats: Any, rows: Any, choices: Any) -> None:
        for i in range(len(views)):
            write_view(views[i], int64(seats[i]), rows[i])
            write_choices(views[i], int64(seats[i]), choices[i])

    @kernel
    def write_actions(views: Any, tokens: Any, out: Any) -> None:
        for i in range(len(views)):
            out[i] = action_of_token(views[i], int64(tokens[i]))

    return Kernels(write_rows, write_actions)


@functools.cache
def _load(path: Path) -> Network:
    network = Network(path)
    name = network.about.get("game", "")
    if not name or not isinstance(name, str):
        raise CardlabError(f"{path} holds no card transformer; name another file")
    try:
        package, game = find_package(name, trust=False), find_game(name, trust=False)
    except CardlabError:
        raise CardlabError(
            f"{path} is a network for the game {name!r}, which is not known here; install that "
            "game, or import it first"
        ) from None
    if not package.tokens:
        raise CardlabError(f"{path} holds no card transformer; name another file")
    rules, encoding = game.rules_version, _features(name).ENCODING
    for what, wanted in (("rules", rules), ("encoding", encoding)):
        found = network.about.get(what)
        if found != wanted:
            raise CardlabError(
                f"{path} is for {what} {found!r}, not {wanted!r}; train and ship it again"
            )
    return network


class TokenPlayer:
    """An agent that takes the action with the highest value of a card transformer."""

    def __init__(self, path: Path | str, name: str = "token_player") -> None:
        """Load the network of an ONNX file."""
        self.name = name
        self.path = read_path(path)
        self._network = _load(self.path)
        game = self._network.about["game"]
        self._features, self._kernels = _features(game), make_kernels(game)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.path, self.name))

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action with the highest value."""
        return int(self._best(turn.view.array, np.array([turn.seat]))[0])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action with the highest value for every turn."""
        return self._best(turns.views, turns.seats)

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return the expected return of every legal action."""
        rows, choices = self._write(turn.view.array, np.array([turn.seat]))
        found = self._ask(rows, choices)
        of_token = dict(zip(choices[0].tolist(), found[0].tolist(), strict=True))
        tokens = [self._features.token_of_action(int(action)) for action in turn.legal]
        return np.array([of_token[token] for token in tokens]).clip(-1.0, 1.0)

    def _best(self, views: Array, seats: Array) -> Array:
        rows, choices = self._write(views, seats)
        tokens = choices[:, 0].copy()
        open_ones = np.flatnonzero((choices != choices[:, :1]).any(axis=1))  # the rest is forced
        if len(open_ones):
            some = choices[open_ones]
            best = self._ask(rows[open_ones], some).argmax(axis=1)
            tokens[open_ones] = some[np.arange(len(some)), best]
        actions = np.empty(len(views), dtype=np.int64)
        self._kernels.write_actions(views, tokens, actions)
        return actions

    def _write(self, views: Array, seats: Array) -> tuple[Array, Array]:
        """Return the rows and the choices of turns."""
        rows = np.empty((len(views), self._features.WIDTH), dtype=np.uint8)
        choices = np.empty((len(views), self._features.MOST_CHOICES), dtype=np.uint8)
        self._kernels.write_rows(views, seats, rows, choices)
        return rows, choices

    def _ask(self, rows: Array, choices: Array) -> Array:
        """Return the network's value of every choice."""
        found = np.empty(choices.shape, dtype=np.float32)
        for start in range(0, len(rows), MOST_TURNS):
            part = slice(start, start + MOST_TURNS)
            found[part] = self._network.run(rows=rows[part], choices=choices[part])["values"]
        return found
