"""Positions of Koi-Koi in which two networks disagree, and what their attention falls on.

Figures 7 and 8 of the paper show two positions whose cards cannot be read in our copy. Positions of
the same kind are found here: in games that `koi_koi_win` plays against itself, those discards of
the wanted kind on which it and `koi_koi_point` differ most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine.batch import Batch
from cardlab.engine.game import OVER, Array, Turn
from cardlab.games.koi_koi.agents.network import TOKEN_TEXTS, KoiKoiNetwork, make_rows
from cardlab.games.koi_koi.cards import DECK
from cardlab.games.koi_koi.rules import GAME
from cardlab.games.koi_koi.table import DISCARD, dealer
from cardlab.games.koi_koi.tokens import LEGAL, UNSEEN
from cardlab.show.explanation import Explanation, ask_about
from cardlab.show.explanation_svg import LABEL, Drawing, draw_explanations, draw_map

FEWEST = 4  # cards to choose from


@dataclass(frozen=True)
class Kind:
    """A kind of position: the paper's name of it, in words, and which discards are of it."""

    name: str
    words: str
    fits: Callable[[Any, int], bool]


@dataclass(frozen=True)
class Case:
    """A position with what both networks think of it."""

    kind: Kind
    turn: Turn
    win: Explanation
    point: Explanation

    @property
    def differ(self) -> bool:
        """Whether the two would play differently."""
        return self.win.best != self.point.best


def _opening(s: Any, seat: int) -> bool:
    """Round 1, the dealer's second turn or later: a good beginning is left to the networks."""
    return bool(s.round_number == 1 and dealer(s) == seat and s.turn >= 2)


def _narrow_lead(s: Any, seat: int) -> bool:
    """Round 7 of 8, the other deals, a lead of a few points."""
    lead = int(s.points_now[seat]) - int(s.points_now[1 - seat])
    return bool(s.round_number == s.rounds - 1 and dealer(s) != seat and 0 < lead <= 8)


CASES = (
    Kind("case I", "first round, the player deals", _opening),
    Kind(
        "case II", "round 7 of 8, the other deals, the player leads by a few points", _narrow_lead
    ),
)


def play(network: KoiKoiNetwork, games: int, seed: int) -> tuple[Array, Array]:
    """Return the views of all discards in games of a network against itself, and their seats."""
    batch = Batch(GAME, games, seed=seed)
    views, seats = [], []
    while True:
        running = np.flatnonzero(batch.mover != OVER)
        if len(running) == 0:
            break
        turns = batch.turns(running)
        wanted = turns.views["phase"] == DISCARD
        views.append(turns.views[wanted])
        seats.append(turns.seats[wanted])
        actions = np.zeros(games, dtype=np.int64)
        actions[running] = network.act_many(turns, [])
        batch.step(actions)
    return np.concatenate(views), np.concatenate(seats)


def find_cases(win: KoiKoiNetwork, point: KoiKoiNetwork, views: Array, seats: Array) -> list[Case]:
    """Return for every kind the position on which two networks differ most, if there is any."""
    cases = []
    for kind in CASES:
        fits = [
            i
            for i in range(len(views))
            if kind.fits(views[i], int(seats[i]))
            and int(views[i].hands[seats[i]]).bit_count() >= FEWEST
        ]
        if not fits:
            continue
        rows, choices = make_rows(views[fits], seats[fits])
        place = fits[int(np.argmax(_regrets(win.rate(rows, choices), point.rate(rows, choices))))]
        seat = int(seats[place])
        legal = np.array(
            [card for card in range(DECK) if int(views[place].hands[seat]) >> card & 1]
        )
        turn = Turn.of(GAME, seat, views[place : place + 1].copy(), legal)
        cases.append(Case(kind, turn, ask_about(win, turn), ask_about(point, turn)))
    return cases


def _regrets(one: Array, other: Array) -> Array:
    """Return how much each network would lose by the other's choice, in its own spread, summed."""
    rows = np.arange(len(one))
    lost = np.zeros(len(one))
    for mine, theirs in ((one, other), (other, one)):
        spread = mine.std(axis=1) + 1e-9
        lost += (mine.max(axis=1) - mine[rows, theirs.argmax(axis=1)]) / spread
    return lost


def draw_values(path: Path, cases: Sequence[Case]) -> None:
    """Draw figure 7: the value of every card by both networks, for each case."""
    shown = [replace(one, attention=None) for case in cases for one in (case.win, case.point)]
    titles = [f"{case.kind.name}: {case.kind.words}" for case in cases for _ in range(2)]
    draw_explanations(path, shown, titles)


def draw_attention(path: Path, network: KoiKoiNetwork, case: Case) -> None:
    """Draw figure 8: what the cards that are seen look at in the first block, head by head."""
    row = make_rows(case.turn.view.array, np.array([case.turn.seat]))[0][0]
    seen = np.flatnonzero(row[:DECK] % LEGAL != UNSEEN)
    names = [TOKEN_TEXTS[card] for card in seen]
    sheet = Drawing()
    sheet.text(
        12, 24, f"{case.kind.name}: attention in block 1 among the cards seen", size=15, bold=True
    )
    heads = network.attend(row)[0]
    step = LABEL + 12 * len(seen)
    top = 0.0
    for head, weights in enumerate(heads):
        if head % 2 == 0:
            top = sheet.bottom + 30
        draw_map(
            sheet,
            12 + step * (head % 2),
            top,
            f"head {head + 1}",
            names,
            names,
            weights[np.ix_(seen, seen)],
        )
    sheet.save(path)


def month_shares(network: KoiKoiNetwork, views: Array, seats: Array) -> Array:
    """Return how much of a card's attention falls on the others of its month: (blocks, heads)."""
    rows, _ = make_rows(views, seats)
    month = np.arange(DECK) // 4
    others = (month[:, None] == month[None, :]) & ~np.eye(DECK, dtype=bool)
    shares = [
        (network.attend(row)[:, :, :DECK, :DECK] * others).sum(axis=-1).mean(axis=-1)
        for row in rows
    ]
    mean: Array = np.mean(shares, axis=0)
    return mean
