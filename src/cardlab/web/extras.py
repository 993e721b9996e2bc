"""What single games add to a view for their page: computed from the concealed record alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from cardlab.cards import SUIT_NAMES, card_text, cards_in
from cardlab.game import Game
from cardlab.games import birds_of_a_feather as birds
from cardlab.games import cribbage, koi_koi_cards, koi_koi_table, koi_koi_yaku, uno_cards, uno_rules
from cardlab.games.cribbage_scoring import Row, explain, explain_deal

__all__ = ["extra_of", "hides"]


def hides(game: Game, action: int) -> str | None:
    """Return how a move looks to the others if its cards lie face down, otherwise nothing."""
    if not game.is_ours:
        return "has moved"  # only its view says what a seat has seen of it
    if game.name == "cribbage" and action >= cribbage.LAY:
        return "lays two cards away"
    return None


def extra_of(game: Game, s: Any, seat: int) -> dict[str, Any]:
    """Return what the page of a game shows beyond zones and facts."""
    make = EXTRAS.get(game.name)
    return make(s, seat) if make else {}


def _crazy_eights(s: Any, _: int) -> dict[str, Any]:
    return {"suit": SUIT_NAMES[int(s.suit)]}


def _uno(s: Any, _: int) -> dict[str, Any]:
    named = s.phase not in (uno_rules.COLOUR, uno_rules.NAMING)
    return {
        "colour": uno_cards.COLOUR_NAMES[int(s.colour)] if named else None,
        "direction": -1 if s.backwards else 1,
        "stock": int(s.stock_end) - int(s.stock_at),
        "to_draw": int(s.stacked),
        "scores": [int(one) for one in s.scores[: int(s.seats)]],
    }


def _birds(s: Any, _: int) -> dict[str, Any]:
    sizes = [1] * birds.CELLS
    for action, _card, _covered in birds.history(s):
        sizes[birds.TO[action]] += sizes[birds.FROM[action]]
        sizes[birds.FROM[action]] = 0
    tops = [None if int(c) == birds.EMPTY else card_text(int(c)) for c in s.tops]
    return {
        "grid": [[tops[cell] for cell in row] for row in birds.ROWS],
        "sizes": [[sizes[cell] for cell in row] for row in birds.ROWS],
    }


# What the cards of a yaku are, and how many of them it takes.
YAKU = (
    ("five lights", koi_koi_cards.LIGHTS, 5),
    ("four lights", koi_koi_cards.LIGHTS & ~koi_koi_cards.RAINMAN, 4),
    ("rainy four lights", koi_koi_cards.LIGHTS, 4),
    ("three lights", koi_koi_cards.LIGHTS & ~koi_koi_cards.RAINMAN, 3),
    ("boar-deer-butterfly", koi_koi_cards.BOAR_DEER_BUTTERFLY, 3),
    ("flower sake", koi_koi_cards.CURTAIN | koi_koi_cards.CUP, 2),
    ("moon sake", koi_koi_cards.MOON | koi_koi_cards.CUP, 2),
    ("red ribbons", koi_koi_cards.RED, 3),
    ("blue ribbons", koi_koi_cards.BLUE, 3),
    ("seeds", koi_koi_cards.SEEDS, 5),
    ("ribbons", koi_koi_cards.RIBBONS, 5),
    ("dross", koi_koi_cards.DROSS, 10),
)


def _koi_koi(s: Any, _: int) -> dict[str, Any]:
    piles = [int(pile) for pile in s.piles]
    progress = []
    for seat in range(2):
        sake = int(koi_koi_table.sake_worth(s, int(s.calls[seat])))
        both = int(koi_koi_table.both_sets_worth(s))
        made = dict(koi_koi_yaku.list_yaku(piles[seat], sake, both))
        for name, cards, size in YAKU:
            have, theirs = piles[seat] & cards, piles[1 - seat] & cards
            # Of the lights only the best yaku counts, and the rain man spoils a plain three or
            # four; what can no longer be made is left out.
            if name not in made and (cards.bit_count() - theirs.bit_count() < size or not have):
                continue
            progress.append(
                {
                    "seat": seat,
                    "name": name,
                    "points": made.get(name, 0),
                    "have": [koi_koi_cards.card_text(c) for c in koi_koi_cards.cards_in(have)],
                    "need": 0 if name in made else max(1, size - have.bit_count()),
                }
            )
    return {
        "yaku": progress,
        "piles": [
            {
                name: [koi_koi_cards.card_text(c) for c in koi_koi_cards.cards_in(pile & cards)]
                for name, cards in koi_koi_cards.CATEGORIES.items()
            }
            for pile in piles
        ],
        "points": [int(one) for one in s.points_now],
        "worth": [int(koi_koi_table.score(s, seat)) for seat in range(2)],
        "calls": [int(one) for one in s.calls],
        "round": int(s.round_number),
        "rounds": int(s.rounds),
        "dealer": int(koi_koi_table.dealer(s)) if s.round_number else None,
        "months": MONTHS,
    }


MONTHS = (
    "pine",
    "plum",
    "cherry",
    "wisteria",
    "iris",
    "peony",
    "bush clover",
    "susuki grass",
    "chrysanthemum",
    "maple",
    "willow",
    "paulownia",
)


def _cribbage(s: Any, _: int) -> dict[str, Any]:
    backs = _back_pegs(s)
    return {
        "board": [
            {"seat": seat, "front": int(s.scores[seat]), "back": backs[seat]} for seat in range(2)
        ],
        "target": int(s.target),
        "dealer": int(s.dealer) if s.deals else None,
        "phase": PHASES[int(s.phase)],
        "count": int(s.tally) if s.phase == cribbage.PLAY else None,
        "show": _show(s),
    }


PHASES = ("cut", "deal", "lay away", "play", "over")


def _back_pegs(s: Any) -> list[int]:
    """Return where each seat stood before it last pegged, in this deal or the one before."""
    fronts = [int(one) for one in s.scores]
    ats = [int(one) for one in s.before]
    backs = list(ats)
    if fronts != ats:
        anew = bool(s.phase != cribbage.PLAY or s.tally == 0)
        plays = cribbage.log(s.plays[: int(s.play_count)])
        crib = cards_in(s.laid[0] | s.laid[1])
        for seat, _text, points in explain_deal(
            int(s.dealer), int(s.starter), plays, crib, anew=anew, leads=int(s.seat)
        ):
            if points:
                backs[seat], ats[seat] = ats[seat], ats[seat] + points
            if ats == fronts or ats[seat] > fronts[seat]:  # the winner stops at the target
                break
    for seat in range(2):
        if fronts[seat] == s.before[seat]:  # nothing in this deal
            last = 0
            if s.deals > 1:
                old = tuple(cribbage.log(s.old_plays))
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
    if s.shown and s.play_count == cribbage.PLAYS:
        plays, starter, dealer = s.plays, int(s.starter), int(s.dealer)
        crib, counted = int(s.laid[0]) | int(s.laid[1]), int(s.shown)
    elif s.deals > 1:
        plays, starter, dealer = s.old_plays, int(s.old_starter), 1 - int(s.dealer)
        crib, counted = int(s.old_crib), 3
    else:
        return []
    hands: list[list[int]] = [[], []]
    for seat, card in cribbage.log(plays):
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


EXTRAS: dict[str, Callable[[Any, int], dict[str, Any]]] = {
    "crazy_eights": _crazy_eights,
    "uno": _uno,
    "birds_of_a_feather": _birds,
    "koi_koi": _koi_koi,
    "cribbage": _cribbage,
}
