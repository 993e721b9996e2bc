"""Cards in a text of rules: `[5H 5C + 5D]` stands for pictures of these cards.

A text of rules stays readable as it is, in an editor and at the terminal; where there are pictures,
each group is replaced by them. A group holds texts of cards of the game's deck, `back` for a card
face down, and `+` between cards that lie apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from cardlab.show.pictures.decks import BACK, Deck

__all__ = ["APART", "replace_card_groups"]

APART = "+"
GROUP = re.compile(r"\[([^\[\]\n]+)\](?!\()")  # what is followed by a bracket is a link


def replace_card_groups(text: str, deck: Deck, draw: Callable[[Sequence[str]], str]) -> str:
    """Return a text with what `draw` makes of each group of cards; other brackets stay."""
    known = {*deck.texts, BACK, APART}

    def replace(match: re.Match[str]) -> str:
        words = match[1].split()
        return draw(words) if words and known.issuperset(words) else match[0]

    return GROUP.sub(replace, text)
