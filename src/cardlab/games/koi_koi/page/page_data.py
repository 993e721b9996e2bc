"""What the page of Koi-Koi is sent beyond zones and facts."""

from __future__ import annotations

from typing import Any

from cardlab.engine.cards import cards_in
from cardlab.games.koi_koi import cards, table
from cardlab.games.koi_koi.rules import KOI_KOI, STOP, TAKE
from cardlab.games.koi_koi.yaku import begun_yaku
from cardlab.web.page_data import PageData, moves_seen

KINDS = {STOP: "stop", KOI_KOI: "koi-koi"}


def view(s: Any, seat: int) -> dict[str, Any]:
    """Return the yaku of both seats, made or begun, and what stands on the scoreboard."""
    piles = [int(pile) for pile in s.piles]
    progress = []
    for owner in range(2):
        sake = int(table.sake_worth(s, int(s.calls[owner])))
        both = int(table.both_sets_worth(s))
        progress += [
            {
                "seat": owner,
                "name": yaku.name,
                "points": yaku.points,
                "have": [cards.card_text(c) for c in cards_in(yaku.have)],
                "full": yaku.size,
                "need": yaku.missing,
            }
            for yaku in begun_yaku(piles[owner], piles[1 - owner], sake, both)
        ]
    return {
        "yaku": progress,
        "points": [int(points) for points in s.points_now],
        "worth": [int(table.score(s, owner)) for owner in range(2)],
        "dealer": int(table.dealer(s)) if s.round_number else None,
    }


def action(number: int) -> dict[str, Any]:
    """Return whether an action plays a card, takes one, stops or calls koi-koi."""
    return {"kind": KINDS.get(number) or ("take" if number >= TAKE else "play")}


PAGE_DATA = PageData(
    view=view,
    action=action,
    hidden=moves_seen,
    margin=True,
    cards=("3-curtain", "8-moon", "1-crane"),
)
