"""Pictures of cards, hands and tables, drawn by the program: SVG without fonts, rasters or ids.

Three decks, `standard` (also as `four_colour`), `hanafuda` and `uno`, and `plain` cards for games
from outside.
"""

from cardlab.pictures.decks import (
    BACK,
    DECKS,
    EMPTY,
    card_svg,
    card_title,
    deck_of,
    sprite,
    symbol_id,
)
from cardlab.pictures.layout import describe_openly, hand_svg, picture_of, table_svg

__all__ = [
    "BACK",
    "DECKS",
    "EMPTY",
    "card_svg",
    "card_title",
    "deck_of",
    "describe_openly",
    "hand_svg",
    "picture_of",
    "sprite",
    "symbol_id",
    "table_svg",
]
