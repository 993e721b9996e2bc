"""What the page of Koi-Koi is sent beyond zones and facts."""

from __future__ import annotations

from typing import Any

from cardlab.engine.cards import cards_in
from cardlab.games.koi_koi import cards, table
from cardlab.games.koi_koi.rules import KOI_KOI, STOP, TAKE
from cardlab.games.koi_koi.yaku import BOTH_SETS, YAKU_CARDS, list_yaku
from cardlab.web.page_data import PageData, moves_seen

KINDS = {STOP: "stop", KOI_KOI: "koi-koi"}


def view(s: Any, seat: int) -> dict[str, Any]:
    """Return the yaku of both seats, made or begun, and what stands on the scoreboard."""
    piles = [int(pile) for pile in s.piles]
    progress = []
    for owner in range(2):
        sake = int(table.sake_worth(s, int(s.calls[owner])))
        both = int(table.both_sets_worth(s))
        made = dict(list_yaku(piles[owner], sake, both))
        for name, (members, size) in YAKU_CARDS.items():
            if name == BOTH_SETS:  # an extra, not a yaku to collect for
                continue
            have, theirs = piles[owner] & members, piles[1 - owner] & members
            # Of the lights only the best yaku counts, and the rain man spoils a plain three or
            # four; what can no longer be made is left out.
            if name not in made and (members.bit_count() - theirs.bit_count() < size or not have):
                continue
            progress.append(
                {
                    "seat": owner,
                    "name": name,
                    "points": made.get(name, 0),
                    "have": [cards.card_text(c) for c in cards_in(have)],
                    "full": size,
                    "need": 0 if name in made else max(1, size - have.bit_count()),
                }
            )
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
