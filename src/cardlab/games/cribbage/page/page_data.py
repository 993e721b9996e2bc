"""What the page of Cribbage is sent beyond zones and facts."""

from __future__ import annotations

import functools
from typing import Any

from cardlab.engine.cards import card_text, cards_in
from cardlab.games.cribbage import rules
from cardlab.games.cribbage.scoring import Row, explain, explain_deal
from cardlab.web.page_data import PageData


def view(s: Any, seat: int) -> dict[str, Any]:
    """Return the pegs, the count and the last show."""
    backs = _back_pegs(s)
    return {
        "board": [
            {"seat": owner, "front": int(s.scores[owner]), "back": backs[owner]}
            for owner in range(2)
        ],
        "target": int(s.target),
        "dealer": int(s.dealer) if s.deals else None,
        "phase": PHASES[int(s.phase)],
        "count": int(s.tally) if s.phase == rules.PLAY else None,
        "played": [card_text(card) for _, card in rules.log(s.plays[: int(s.play_count)])],
        "show": _show(s),
    }


PHASES = ("cut", "deal", "discard", "play", "over")


def _back_pegs(s: Any) -> list[int]:
    """Return where each seat stood before it last pegged, in this deal or the one before."""
    fronts = [int(score) for score in s.scores]
    ats = [int(score) for score in s.before]
    backs = list(ats)
    if fronts != ats:
        count_over = bool(s.phase != rules.PLAY or s.tally == 0)
        plays = rules.log(s.plays[: int(s.play_count)])
        crib = cards_in(s.laid[0] | s.laid[1])
        for seat, _text, points in explain_deal(
            int(s.dealer), int(s.starter), plays, crib, count_over=count_over, leads=int(s.seat)
        ):
            if points:
                backs[seat], ats[seat] = ats[seat], ats[seat] + points
            if ats == fronts or ats[seat] > fronts[seat]:  # the winner stops at the target
                break
    for seat in range(2):
        if fronts[seat] == s.before[seat]:  # nothing in this deal
            last = 0
            if s.deals > 1:
                old = tuple(rules.log(s.old_plays))
                last = _last_pegged(1 - int(s.dealer), int(s.old_starter), old, int(s.old_crib))[
                    seat
                ]
            backs[seat] = max(0, fronts[seat] - last)
    return backs


@functools.lru_cache(maxsize=1024)
def _last_pegged(
    dealer: int, starter: int, plays: tuple[tuple[int, int], ...], crib: int
) -> tuple[int, int]:
    """Return what each seat pegged last in a deal that is over."""
    last = [0, 0]
    for seat, _text, points in explain_deal(dealer, starter, plays, cards_in(crib)):
        last[seat] = points or last[seat]
    return last[0], last[1]


@functools.lru_cache(maxsize=1024)
def _reasons(cards: tuple[int, ...], starter: int, crib: bool) -> tuple[Row, ...]:
    return tuple(explain(cards, starter, crib))


def _show(s: Any) -> list[dict[str, Any]]:
    """Return the three hands of the last show as they were counted, each point with its cards."""
    if s.shown and s.play_count == rules.PLAYS:
        plays, starter, dealer = s.plays, int(s.starter), int(s.dealer)
        crib, counted = int(s.laid[0]) | int(s.laid[1]), int(s.shown)
    elif s.deals > 1:
        plays, starter, dealer = s.old_plays, int(s.old_starter), 1 - int(s.dealer)
        crib, counted = int(s.old_crib), 3
    else:
        return []
    hands: list[list[int]] = [[], []]
    for seat, card in rules.log(plays):
        hands[seat].append(card)
    parts = [
        (1 - dealer, "hand", sorted(hands[1 - dealer])),
        (dealer, "hand", sorted(hands[dealer])),
        (dealer, "crib", list(cards_in(crib))),
    ]
    shown = []
    for seat, what, cards in parts[:counted]:
        rows = _reasons(tuple(cards), starter, what == "crib")
        shown.append(
            {
                "seat": seat,
                "what": what,
                "cards": [card_text(card) for card in cards],
                "starter": card_text(starter),
                "parts": [
                    {
                        "what": row.reason,
                        "cards": [*map(card_text, row.cards)],
                        "points": row.points,
                    }
                    for row in rows
                ],
                "total": sum(row.points for row in rows),
            }
        )
    return shown


def action(number: int) -> dict[str, Any]:
    """Return whether an action plays a card or discards two."""
    return {"kind": "lay" if number >= rules.LAY else "play"}


def hidden(action: int) -> str | None:
    """Return the words for the discards, which lie face down."""
    return "discards two cards" if action >= rules.LAY else None


PAGE_DATA = PageData(
    view=view,
    action=action,
    hidden=hidden,
    margin=True,
    cards=("5H", "5D", "JS"),
)
