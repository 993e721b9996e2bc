"""The agent that plays Koi-Koi through networks; `learning.koi_koi_monte_carlo` trains them.

A folder holds the ONNX files of one design: `discard`, `pick` and `koi_koi`, or one for `all`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cardlab.errors import CardlabError
from cardlab.features.koi_koi import (
    DECISION_OF_KIND,
    DECISIONS,
    ENCODING,
    KIND,
    MOST_CHOICES,
    WIDTH,
    write_rows,
)
from cardlab.game import Array, Turn, Turns
from cardlab.games.koi_koi import GAME
from cardlab.networks.onnx import Network

__all__ = ["KoiKoiNetwork"]

LARGE = 1024  # turns that a network answers at once


class KoiKoiNetwork:
    """Takes the action that its networks rate highest."""

    def __init__(self, folder: Path | str, name: str = "koi_koi_network") -> None:
        """Take the networks in a folder."""
        self.name = name
        self.folder = Path(folder)
        files = {one: self.folder / f"{one}.onnx" for one in (*DECISIONS, "all")}
        wanted = [files["all"]] if files["all"].exists() else [files[one] for one in DECISIONS]
        if not wanted[0].exists():
            raise CardlabError(
                f"{self.folder} holds no networks of koi_koi (discard.onnx, pick.onnx, "
                "koi_koi.onnx or all.onnx); export a training there"
            )
        about = {"game": GAME.name, "rules": GAME.rules_version, "encoding": ENCODING}
        networks = [Network(path, **about) for path in wanted]
        self.networks = networks * len(DECISIONS) if len(networks) == 1 else networks

    def __getstate__(self) -> dict[str, str]:
        return {"folder": str(self.folder), "name": self.name}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__init__(state["folder"], state["name"])  # type: ignore[misc]

    def act(self, turn: Turn, rng: np.random.Generator) -> int:
        """Return the action of the highest rating."""
        return int(turn.legal[self.ratings(turn).argmax()])

    def act_many(self, turns: Turns, rngs: Sequence[np.random.Generator]) -> Array:
        """Return the action of the highest rating for every turn."""
        rated = self._rate(turns.views, turns.seats)
        # Choices stand in ascending order, as legal actions do, the first repeated at the end.
        nth = rated.argmax(axis=1)
        places = np.cumsum(turns.mask, axis=1) - 1
        return (turns.mask & (places == nth[:, None])).argmax(axis=1)

    def ratings(self, turn: Turn) -> Array:
        """Return what the network says of every legal action: the higher the better.

        A network that learned rewards says the expected reward: of `win` from -1 to 1, of `point`
        in tens of points.
        """
        rated = self._rate(turn.view.array, np.array([turn.seat]))[0]
        return rated[: len(turn.legal)]

    def _rate(self, views: Array, seats: Array) -> Array:
        rows = np.zeros((len(views), WIDTH), dtype=np.uint8)
        choices = np.zeros((len(views), MOST_CHOICES), dtype=np.uint8)
        write_rows(views, seats, rows, choices)
        kinds = np.array(DECISION_OF_KIND)[rows[:, KIND]]
        rated = np.zeros(choices.shape, dtype=np.float32)
        for number, network in enumerate(self.networks):
            which = np.flatnonzero(kinds == number)
            for start in range(0, len(which), LARGE):
                part = which[start : start + LARGE]
                rated[part] = network.run(rows=rows[part], choices=choices[part])["values"]
        return rated
