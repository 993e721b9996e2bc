"""Decisions of people in recorded games of Koi-Koi, as rows for networks.

The file holds one game a line as JSON (plain or gzip), as the paper's authors' 200 games are kept:
rounds with dealer, hands, field, stock in drawing order and steps `[turn, seat, phase, choice,
choices offered, points]`. Every step is replayed by the rules, so that a record that does not fit
them is found and named.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Array
from cardlab.games.koi_koi.cards import DECK
from cardlab.games.koi_koi.rules import GAME, KOI_KOI, STOP, TAKE
from cardlab.games.koi_koi.tokens import (
    DECISION_OF_KIND,
    DECISIONS,
    KIND,
    MOST_CHOICES,
    WIDTH,
    token_of_action,
    write_rows,
)


class Decisions(NamedTuple):
    """What people decided: row i of every array is one decision."""

    rows: Array
    choices: Array
    slots: Array  # the place of the choice made
    kinds: Array  # into DECISIONS
    games: Array

    def only(self, which: Array) -> Decisions:
        """Return some of the decisions."""
        return Decisions(*(column[which] for column in self))

    def counts(self) -> dict[str, int]:
        """Return how many decisions there are of each kind."""
        return {name: int((self.kinds == number).sum()) for number, name in enumerate(DECISIONS)}


def read_decisions(path: Path) -> Decisions:
    """Return all decisions of the recorded games in a file."""
    states: list[Array] = []
    actions: list[int] = []
    games: list[int] = []
    for number, line in enumerate(_lines(path), start=1):
        try:
            found = _replay(json.loads(line))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise CardlabError(
                f"{path}, line {number}: this is no recorded game of Koi-Koi ({error}); give the "
                "file of the paper's authors' games, one JSON line each"
            ) from None
        states += [state for state, _ in found]
        actions += [action for _, action in found]
        games += [number - 1] * len(found)
    if not states:
        raise CardlabError(f"{path} holds no decisions; give a file of recorded games")
    whole = np.concatenate(states)
    rows = np.zeros((len(whole), WIDTH), dtype=np.uint8)
    choices = np.zeros((len(whole), MOST_CHOICES), dtype=np.uint8)
    write_rows(whole, whole["seat"].astype(np.int64), rows, choices)
    tokens = np.array([token_of_action(action) for action in actions])
    slots = (choices == tokens[:, None]).argmax(1)
    kinds = np.array(DECISION_OF_KIND)[rows[:, KIND]]
    return Decisions(rows, choices, slots, kinds, np.array(games))


def _lines(path: Path) -> list[str]:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode().splitlines()
    except OSError as error:
        raise CardlabError(
            f"{path} cannot be read: {error.strerror or error}; give the file of recorded games "
            "with records=FILE"
        ) from None
    except (EOFError, UnicodeDecodeError):
        raise CardlabError(f"{path} is damaged; copy it again") from None


def _number(card: list[int]) -> int:
    return 4 * (card[0] - 1) + card[1] - 1


def _replay(record: dict[str, Any]) -> list[tuple[Array, int]]:
    """Return the state before each decision of a game, and what was decided."""
    state = GAME.start({"rounds": record["round_total"]})
    rest = [card for card in range(DECK) if card not in (0, 4)]
    first = [0, 4] if record["rounds"][0]["dealer"] == 1 else [4, 0]
    GAME.bindings.deal(state.array, 0, np.array(first + rest, dtype=np.uint8))
    found = []
    for entry in record["rounds"]:
        if state.mover != DEALER:
            raise ValueError(f"round {entry['round']} begins before the one before has ended")
        cards = [
            _number(card) for key in ("hand1", "hand2", "field", "stock") for card in entry[key]
        ]
        if sorted(cards) != list(range(DECK)):
            raise ValueError(f"round {entry['round']} has not each of the 48 cards once")
        GAME.bindings.deal(state.array, 0, np.array(cards, dtype=np.uint8))
        for turn, seat, phase, choice, *_ in entry["steps"]:
            if phase == "draw":
                continue
            if phase == "koikoi":
                action = KOI_KOI if choice else STOP
            else:
                action = _number(choice) + (0 if phase == "discard" else TAKE)
            if state.mover != seat - 1 or action not in state.legal():
                raise ValueError(f"round {entry['round']}, turn {turn}: {phase} {choice}")
            found.append((state.array.copy(), action))
            GAME.bindings.apply(state.array, 0, action)
    if state.mover != OVER:
        raise ValueError("the game breaks off")
    return found
