"""Pictures of cards, hands and tables, drawn by the program: SVG without fonts, rasters or ids.

The deck `standard` (also as `four_colour`), `plain` cards for games from outside, and the decks
that manifests name.
"""

from cardlab.show.pictures.decks import (
    BACK,
    DECKS,
    EMPTY,
    Deck,
    card_svg,
    card_title,
    deck_for,
    deck_of,
    known_decks,
    sprite,
    symbol_id,
)
from cardlab.show.pictures.layout import describe_openly, hand_svg, picture_of, table_svg

__all__ = [
    "BACK",
    "DECKS",
    "EMPTY",
    "Deck",
    "card_svg",
    "card_title",
    "deck_for",
    "deck_of",
    "describe_openly",
    "hand_svg",
    "known_decks",
    "picture_of",
    "sprite",
    "symbol_id",
    "table_svg",
]
