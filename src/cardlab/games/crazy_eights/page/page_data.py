"""What the page of Crazy Eights is sent beyond zones and facts."""

from __future__ import annotations

from cardlab.web.page_data import PageData, moves_seen

__all__ = ["PAGE_DATA"]

PAGE_DATA = PageData(
    hidden=moves_seen,
    rules=(
        "Get rid of your cards: each must match the pile’s suit or rank. Eights fit always and "
        "call a suit. Who cannot play draws."
    ),
    cards=("QD", "8H", "8S"),
)
