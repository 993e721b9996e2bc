"""What the page of Koi-Koi is sent beyond zones and facts."""

from __future__ import annotations

from typing import Any

from cardlab.games.koi_koi import cards, table
from cardlab.games.koi_koi.yaku import list_yaku
from cardlab.web.page_data import PageData, moves_seen

__all__ = ["PAGE_DATA"]

# What the cards of a yaku are, and how many of them it takes.
YAKU_CARDS = (
    ("five lights", cards.LIGHTS, 5),
    ("four lights", cards.LIGHTS & ~cards.RAINMAN, 4),
    ("rainy four lights", cards.LIGHTS, 4),
    ("three lights", cards.LIGHTS & ~cards.RAINMAN, 3),
    ("boar-deer-butterfly", cards.BOAR_DEER_BUTTERFLY, 3),
    ("flower sake", cards.CURTAIN | cards.CUP, 2),
    ("moon sake", cards.MOON | cards.CUP, 2),
    ("red ribbons", cards.RED, 3),
    ("blue ribbons", cards.BLUE, 3),
    ("seeds", cards.SEEDS, 5),
    ("ribbons", cards.RIBBONS, 5),
    ("dross", cards.DROSS, 10),
)


def view(s: Any, seat: int) -> dict[str, Any]:
    """Return the yaku of both seats, made or begun, and what stands on the scoreboard."""
    piles = [int(pile) for pile in s.piles]
    progress = []
    for owner in range(2):
        sake = int(table.sake_worth(s, int(s.calls[owner])))
        both = int(table.both_sets_worth(s))
        made = dict(list_yaku(piles[owner], sake, both))
        for name, members, size in YAKU_CARDS:
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
                    "have": [cards.card_text(c) for c in cards.cards_in(have)],
                    "need": 0 if name in made else max(1, size - have.bit_count()),
                }
            )
    return {
        "yaku": progress,
        "points": [int(points) for points in s.points_now],
        "worth": [int(table.score(s, owner)) for owner in range(2)],
        "dealer": int(table.dealer(s)) if s.round_number else None,
    }


PAGE_DATA = PageData(
    view=view,
    hidden=moves_seen,
    margin=True,
    rules=(
        "Play a card, then one is drawn; each takes a field card of its month. Captured cards form "
        "yaku. With a yaku you may stop and score, or call koi-koi and try for more."
    ),
    cards=("3-curtain", "8-moon", "1-crane"),
)
