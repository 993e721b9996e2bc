"""Agents that play Koi-Koi through networks; `learning.monte_carlo` trains them.

A folder holds the ONNX files of one design: `discard`, `pick` and `koi_koi`, or one for `all`; what
is known of them lies in `about.json`. One that has been trained but not shipped plays as
`cardlab.games.koi_koi.agents.network:KoiKoiNetwork:folder=FOLDER/NAME`, after
`python -m cardlab.learning export koi_koi/METHOD RUN NAME FOLDER`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array, Attention, Turn, Turns, Unit, nth_legal
from cardlab.games.koi_koi import PACKAGE
from cardlab.games.koi_koi.cards import DECK, card_text
from cardlab.games.koi_koi.rules import GAME
from cardlab.games.koi_koi.tokens import (
    DECISION_OF_KIND,
    DECISIONS,
    ENCODING,
    KIND,
    MOST_CHOICES,
    TOKENS,
    WIDTH,
    write_rows,
)
from cardlab.games.koi_koi.win_chances import POINTS
from cardlab.networks.onnx import Network

LARGE = 64  # turns that a network answers at once; more fall out of a processor's caches
TOKEN_TEXTS = (*(card_text(card) for card in range(DECK)), "stop", "koi-koi")
OF_POINTS = Unit("points won in this round", "{:+.2f}")
OF_PEOPLE = Unit("share of people who would choose it", "{:.0%}", (0.0, 1.0))
OF_NOTHING = Unit("rating by the network", "{:+.3f}")
UNITS = {"win": None, "point": OF_POINTS, "people": OF_PEOPLE, "": OF_NOTHING}


@functools.cache
def _load(path: Path) -> Network:
    about = {"game": GAME.name, "rules": GAME.rules_version, "encoding": ENCODING}
    return Network(path, **about)


def make_rows(views: Array, seats: Array) -> tuple[Array, Array]:
    """Return the rows and the choices of decisions, as networks take them."""
    rows = np.empty((len(views), WIDTH), dtype=np.uint8)
    choices = np.empty((len(views), MOST_CHOICES), dtype=np.uint8)
    write_rows(views, seats, rows, choices)
    return rows, choices


class KoiKoiNetwork:
    """Takes the action that its networks rate highest."""

    def __init__(self, folder: Path | str, name: str = "koi_koi_network") -> None:
        """Take the networks in a folder."""
        self.name = name
        self.folder = Path(folder)
        paths = {one: self.folder / f"{one}.onnx" for one in (*DECISIONS, "all")}
        wanted = [paths["all"]] if paths["all"].exists() else [paths[one] for one in DECISIONS]
        if not wanted[0].exists():
            raise CardlabError(
                f"{self.folder} holds no networks of koi_koi (discard.onnx, pick.onnx, "
                "koi_koi.onnx or all.onnx); export a training there"
            )
        networks = [_load(path) for path in wanted]
        self.networks = networks * len(DECISIONS) if len(networks) == 1 else networks
        about = self.networks[0].about
        people = about.get("command", "").startswith("cardlab train koi_koi/supervised")
        self.learned = "people" if people else str(about.get("config", {}).get("reward", ""))
        self.unit = UNITS[self.learned]

    def __getstate__(self) -> dict[str, str]:
        return {"folder": str(self.folder), "name": self.name}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__init__(state["folder"], state["name"])  # type: ignore[misc]

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action of the highest rating."""
        return int(turn.legal[self.ratings(turn).argmax()])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action of the highest rating for every turn."""
        nth = self.rate_views(turns.views, turns.seats)[1].argmax(axis=1)
        return nth_legal(turns.mask, nth)

    def values(self, turn: Turn, rng: np.random.Generator) -> Array:
        """Return what every legal action is worth in `unit`; without one, its expected return."""
        rated = self.ratings(turn).astype(np.float64)
        if self.learned == "win":
            return rated.clip(-1.0, 1.0)
        if self.learned == "point":
            return POINTS * rated
        if self.learned == "people":
            weights: Array = np.exp(rated - rated.max())
            return weights / weights.sum()
        return rated

    def attention(self, turn: Turn) -> Attention:
        """Return what the network looks at when it values the actions in `turn.legal`."""
        rows, choices = make_rows(turn.view.array, np.array([turn.seat]))
        asked = choices[0, : len(turn.legal)]
        maps = self.attend(rows[0])
        return Attention(maps[:, :, asked], TOKEN_TEXTS, group=4)

    def attend(self, row: Array) -> Array:
        """Return how much each token draws from each in a decision: (blocks, heads, 50, 50)."""
        network = self.networks[DECISION_OF_KIND[row[KIND]]]
        if not network.attention:
            raise CardlabError(
                f"{network.path} was exported without attention; export its run again with "
                "python -m cardlab.learning export"
            )
        # The last block answers the tokens asked for: all of them, a few in each copy of the row.
        copies = -(-TOKENS // MOST_CHOICES)
        tokens = np.minimum(np.arange(copies * MOST_CHOICES), TOKENS - 1).astype(np.uint8)
        choices = tokens.reshape(copies, MOST_CHOICES)
        rows = np.repeat(row[None], copies, axis=0)
        found = network.run(*network.attention, rows=rows, choices=choices)
        *early, last = (found[name] for name in network.attention)
        whole = last.transpose(1, 0, 2, 3).reshape(last.shape[1], -1, TOKENS)[:, :TOKENS]
        return np.stack([*(one[0] for one in early), whole])

    def ratings(self, turn: Turn) -> Array:
        """Return what the network says of every legal action: the higher the better.

        A network that learned rewards says the expected reward: of `win` from -1 to 1, of `point`
        in tens of points.
        """
        rated = self.rate(*make_rows(turn.view.array, np.array([turn.seat])))
        return rated[0, : len(turn.legal)]

    def rate(self, rows: Array, choices: Array) -> Array:
        """Return what the networks say of every choice of decisions."""
        kinds = np.array(DECISION_OF_KIND)[rows[:, KIND]]
        rated = np.zeros(choices.shape, dtype=np.float32)
        for number, network in enumerate(self.networks):
            which = np.flatnonzero(kinds == number)
            for start in range(0, len(which), LARGE):
                part = which[start : start + LARGE]
                rated[part] = network.run(rows=rows[part], choices=choices[part])["values"]
        return rated

    def rate_views(self, views: Array, seats: Array) -> tuple[Array, Array]:
        """Return the tokens that can be chosen and what the networks say of them, else -inf.

        Choices stand in ascending order, as legal actions do, the first repeated at the end.
        """
        rows, choices = make_rows(views, seats)
        rated = self.rate(rows, choices)
        rated[:, 1:][choices[:, 1:] == choices[:, :1]] = -np.inf
        return choices, rated

    @functools.cached_property
    def chances(self) -> Array:
        """The chance to win a game by (rounds left, I deal, lead + 30), as the networks learned it.

        What a round's end is worth to networks that learned to win.
        """
        path = self.folder / "about.json"
        about: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        if "table" not in about:
            raise CardlabError(
                f"{self.folder} does not say how likely a lead wins, which search needs; export it "
                "again from the whole folder of its run"
            )
        return np.array(about["table"])


def _shipped(name: str) -> KoiKoiNetwork:
    return KoiKoiNetwork(PACKAGE.shipped("networks", name), f"{PACKAGE.name}_{name}")


def koi_koi_supervised() -> KoiKoiNetwork:
    """Return the networks that learned from recorded games of people."""
    return _shipped("supervised")


def koi_koi_point() -> KoiKoiNetwork:
    """Return the networks that learned to win points in a round."""
    return _shipped("point")


def koi_koi_win() -> KoiKoiNetwork:
    """Return the networks that learned to win games."""
    return _shipped("win")
