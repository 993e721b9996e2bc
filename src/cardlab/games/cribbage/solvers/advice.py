"""Advice on discards at Cribbage: the 15 choices of six cards, best first, with their reasons.

The hand's figures are exact over the 46 cuts. The crib is the mean over the usual
discards of the other seat, positive for the dealer; pegging is what hands of these ranks peg on
average less what they let the other peg. Chances to win are those of a game to 121 between experts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from cardlab.engine.arguments import read_count, read_text, shorten
from cardlab.engine.cards import RANKS, SUITS, card_text, cards_in, cards_text, parse_card
from cardlab.engine.errors import CardlabError
from cardlab.engine.notebook_hooks import ShownAsHtml
from cardlab.games.cribbage.solvers.discards import NEAR, chances, judge
from cardlab.games.cribbage.solvers.hand_statistics import DEALT, analyse, quad_number
from cardlab.games.cribbage.solvers.knowledge import FULL, shipped_knowledge

__all__ = ["Advice", "Choice", "advise", "parse_hand", "parse_score"]

CLOSE = 0.05  # differences below this many points, or per cent, count as equal


@dataclass(frozen=True)
class Choice:
    """One discard: two of six cards."""

    laid: tuple[int, ...]
    kept: tuple[int, ...]
    least: int
    mean: float
    median: float
    most: int
    crib: float  # as points for the seat asked, negative for the pone
    crib_at_random: float  # the same, against two random cards of the other seat
    gained: float
    given: float
    points: float  # all of it together
    win: float

    @property
    def pegging(self) -> float:
        """Points pegged less points that the other pegs."""
        return self.gained - self.given


@dataclass(frozen=True)
class Advice(ShownAsHtml):
    """What to discard: choices, best first, and what they were ranked by."""

    html_module: ClassVar[str] = "cardlab.games.cribbage.show_advice"

    cards: tuple[int, ...]
    dealer: bool
    score: tuple[int, int]
    by_wins: bool
    choices: tuple[Choice, ...]

    def sentence(self) -> str:
        """Return the advice as a person would give it."""
        best, second = self.choices[:2]
        does = f"Discard {cards_text(best.laid)} and keep {cards_text(best.kept)}"
        if self.by_wins:
            ahead = 100 * (best.win - second.win)
            gist = f"it wins {100 * best.win:.1f} % from {self.score[0]}-{self.score[1]}"
            margin = f"{ahead:.1f} percentage points more"
        else:
            ahead = best.points - second.points
            gist = f"{best.points:.2f} points in all"
            margin = f"{ahead:.2f} more"
        beaten = f"than with {cards_text(second.laid)}"
        text = f"{does}: {gist}, {margin} {beaten}."
        if ahead < CLOSE:
            text = f"{does}: {gist}, though {cards_text(second.laid)} is as good."
        richest = max(self.choices, key=lambda one: one.points)
        if self.by_wins and richest is not best:
            text += f" By points alone it would be {cards_text(richest.laid)}."
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain data."""
        rows = []
        for one in self.choices:
            row = asdict(one)
            row["laid"] = [card_text(card) for card in one.laid]
            row["kept"] = [card_text(card) for card in one.kept]
            rows.append({key: round(x, 4) if isinstance(x, float) else x for key, x in row.items()})
        return {
            "cards": [card_text(card) for card in self.cards],
            "dealer": self.dealer,
            "score": list(self.score),
            "ranked_by": "win" if self.by_wins else "points",
            "advice": self.sentence(),
            "choices": rows,
        }


def parse_hand(text: str) -> tuple[int, ...]:
    """Return the six different cards that a person has written."""
    text = read_text(text, "hand", "5H 5D 6S JC 4H KD")
    cards = [parse_card(one) for one in text.replace(",", " ").split()]
    if len(cards) != DEALT:
        count = f"{len(cards)} card{'' if len(cards) == 1 else 's'}"
        raise CardlabError(f"the hand has {count}; give six, such as 5H 5D 6S JC 4H KD")
    for place, card in enumerate(cards):
        if card in cards[:place]:
            raise CardlabError(f"{card_text(card)} is twice in the hand; give six different cards")
    return tuple(sorted(cards))


def parse_score(text: str) -> tuple[int, int]:
    """Return the own score and the other's from a text such as `78-81`."""
    text = read_text(text, "score", "78-81")
    found = re.fullmatch(r"\s*(\d{1,9})\s*[-:]\s*(\d{1,9})\s*", text)
    if not found:
        raise CardlabError(f"score {text!r} is not understood; give yours first, such as 78-81")
    own, other = int(found[1]), int(found[2])
    if max(own, other) >= FULL:
        raise CardlabError(
            f"score {max(own, other)} in {text!r} is past the end; a game is won at {FULL}, "
            f"so give at most {FULL - 1}"
        )
    return own, other


def advise(
    cards: str | Sequence[int], *, dealer: bool, score: str | tuple[int, int] = (0, 0)
) -> Advice:
    """Return the 15 choices of six cards, ranked as the expert ranks them at this score."""
    cards, score = _read_hand(cards), _read_score(score)
    if not isinstance(dealer, (bool, np.bool_)):
        raise CardlabError(f"dealer must be True or False, got {shorten(dealer)}")
    dealer = bool(dealer)
    known = shipped_knowledge()
    exact, judged = analyse(cards), judge(cards, dealer, known)
    win = chances(cards, dealer, *score, known)
    sign, role = (1 if dealer else -1), int(dealer)
    choices = []
    for i, kept in enumerate(exact.kept):
        quad = int(quad_number(int(kept)))
        choices.append(
            Choice(
                laid=tuple(int(card) for card in exact.laid[i]),
                kept=tuple(cards_in(int(kept))),
                least=int(exact.least[i]),
                mean=float(exact.mean[i]),
                median=float(exact.median[i]),
                most=int(exact.most[i]),
                crib=sign * float(judged.crib[i]),
                crib_at_random=sign * float(exact.crib[i]),
                gained=float(known.gained[role, quad]),
                given=float(known.given[role, quad]),
                points=float(judged.points[i]),
                win=float(win[i]),
            )
        )
    by_wins = max(score) >= FULL - NEAR
    choices.sort(key=lambda one: one.win if by_wins else one.points, reverse=True)
    return Advice(cards, dealer, score, by_wins, tuple(choices))


def _read_hand(cards: str | Sequence[int]) -> tuple[int, ...]:
    """Return six different cards, given as text or as ids."""
    if not isinstance(cards, (str, Sequence)):
        raise CardlabError(f"cards must be a text or six card ids, got {shorten(cards)}")
    if isinstance(cards, str):
        return parse_hand(cards)
    numbers = [read_count(card, "a card id", 0, len(RANKS) * len(SUITS) - 1) for card in cards]
    return parse_hand(cards_text(numbers))


def _read_score(score: str | tuple[int, int]) -> tuple[int, int]:
    """Return the own score and the other's, given as text or as numbers."""
    if isinstance(score, str):
        return parse_score(score)
    if not isinstance(score, Sequence) or len(score) != 2:
        raise CardlabError(f"score must be yours and the other's, such as 78-81, got {score!r}")
    own, other = (read_count(points, "a score", 0, FULL - 1) for points in score)
    return own, other
