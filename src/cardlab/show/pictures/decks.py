"""The decks by name, and single pictures and sprites of any of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from html import escape

from cardlab.engine.arguments import read_number, read_text, shorten
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Game
from cardlab.engine.manifest import load
from cardlab.engine.registry import find_game, known_packages, package_of
from cardlab.show.pictures import plain, standard
from cardlab.show.pictures.drawing import DEFAULTS, box, dashes

__all__ = [
    "BACK",
    "DECKS",
    "EMPTY",
    "Deck",
    "card_svg",
    "card_title",
    "deck_for",
    "deck_of",
    "find_deck",
    "known_decks",
    "sprite",
    "symbol_id",
]

BACK, EMPTY = "back", "--"  # texts for a card face down and for a place without a card
BACK_TITLE, EMPTY_TITLE = "a card face down", "an empty place"


@dataclass(frozen=True)
class Deck:
    """The pictures of one deck: their size, and what draws and names each card."""

    name: str  # as in card_svg(name, card)
    wide: int  # of a card, in units of the drawing
    high: int  # likewise
    texts: tuple[str, ...]  # empty: any text is a card
    art: Callable[[str], str]  # card -> SVG of its face
    back: Callable[[], str]  # SVG of a card face down
    title: Callable[[str], str]  # card -> its name in words
    icons: Callable[[], dict[str, tuple[str, str, str]]]  # by id: title, view box, SVG
    word: Callable[[str], str] | None = None  # in a line of text, such as `7♥`; None: the title
    aloud: Callable[[str], str] | None = None  # at a table; None: the title
    paint: Callable[[str], str] | None = None  # class of a word's colour, such as `suit-H`
    held: tuple[str, ...] = ()  # the cards in the order of a hand; empty: as the game gives them
    rank: Callable[[str], int] | None = None  # for hands that are held by rank first

    def check(self, text: str) -> None:
        """Raise unless the deck has this card."""
        text = read_text(text, "card", "7H")
        if self.texts and text not in (*self.texts, BACK, EMPTY):
            raise CardlabError(suggest(f"card of the {self.name} deck", text, self.texts))

    def draw(self, text: str) -> str:
        """Return the drawing of a card, a back or an empty place."""
        self.check(text)
        if text == BACK:
            return self.back()
        if text == EMPTY:
            outline = box(3, 3, self.wide - 6, self.high - 6, 6)
            return dashes("#8a9a92", 1.6, "5 5", outline)
        return self.art(text)

    def words(self, text: str) -> str:
        """Return the words for a card, a back or an empty place."""
        self.check(text)
        return {BACK: BACK_TITLE, EMPTY: EMPTY_TITLE}.get(text) or self.title(text)


STANDARD = Deck(
    "standard",
    standard.WIDE,
    standard.HIGH,
    standard.TEXTS,
    standard.art,
    standard.back,
    standard.title,
    standard.icons,
    word=standard.word,
    paint=standard.paint,
    held=standard.HELD,
    rank=standard.rank,
)
FOUR_COLOUR = replace(
    STANDARD,
    name="four_colour",
    art=functools.partial(standard.art, four_colour=True),
    icons=functools.partial(standard.icons, four_colour=True),
)
PLAIN = Deck(
    *("plain", plain.WIDE, plain.HIGH, plain.TEXTS),
    *(plain.art, plain.back, plain.title, plain.icons),
)
DECKS = {deck.name: deck for deck in (STANDARD, FOUR_COLOUR, PLAIN)}


@functools.cache
def known_decks() -> dict[str, Deck]:
    """Return all decks by name: general ones, and those of games with cards of their own."""
    own = [load(game.deck) for game in known_packages().values() if ":" in game.deck]
    return DECKS | {deck.name: deck for deck in own}


def find_deck(deck: str | Deck) -> Deck:
    """Return the deck of a name, or a deck as it is."""
    if isinstance(deck, Deck):
        return deck
    name = read_text(deck, "deck", "standard")
    if name not in known_decks():
        raise CardlabError(suggest("deck", name, known_decks()))
    return known_decks()[name]


def deck_for(game: str | Game) -> Deck:
    """Return a game's deck: its manifest's, else a known one with all its cards, or `plain`."""
    return _deck_for(find_game(game))


@functools.lru_cache
def _deck_for(game: Game) -> Deck:
    named = package_of(game).deck
    if named:
        found: Deck = load(named) if ":" in named else find_deck(named)
        return found
    texts = {game.card_text(card) for card in range(game.deck)}
    for deck in known_decks().values():
        if deck.texts and texts <= {*deck.texts}:
            return deck
    return PLAIN


def deck_of(game: str | Game) -> str:
    """Return the name of a game's deck."""
    return deck_for(game).name


def card_title(deck: str | Deck, text: str) -> str:
    """Return the words for a card, for people who hear it: `seven of hearts`."""
    return find_deck(deck).words(text)


def symbol_id(text: str) -> str:
    """Return the id of a card's symbol in a sprite."""
    text = read_text(text, "card", "7H")
    return "card-empty" if text == EMPTY else "card-" + re.sub(r"[^A-Za-z0-9_-]", "-", text)


def card_svg(deck: str | Deck, text: str, size: float | None = None) -> str:
    """Return one card as a picture of its own, `size` pixels wide if given.

    `back` is a card face down, `--` an empty place.
    """
    found = find_deck(deck)
    drawing = found.draw(text)
    sizes = ""
    if size is not None:
        size = read_size(size)
        sizes = f' width="{size:g}" height="{size * found.high / found.wide:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {found.wide} {found.high}"{sizes} '
        f'role="img" {DEFAULTS}><title>{escape(found.words(text))}</title>{drawing}</svg>'
    )


def sprite(deck: str | Deck, texts: Iterable[str] = ()) -> str:
    """Return all pictures of a deck as one file of symbols: cards, back, empty place, signs.

    The signs are `suit-H`, `colour-R`, `category-lights` and so on. A plain deck needs the texts
    of its cards.
    """
    found = find_deck(deck)
    texts = read_cards(texts)
    frame = f"0 0 {found.wide} {found.high}"
    cards = (*(found.texts or tuple(dict.fromkeys(texts))), BACK, EMPTY)
    symbols = [_symbol(symbol_id(text), frame, found.draw(text)) for text in cards]
    symbols += [_symbol(name, view, drawing) for name, (_, view, drawing) in found.icons().items()]
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>'


def read_size(size: object) -> float:
    """Return the width of a card in pixels that a person gives."""
    pixels = read_number(size, "size")
    if pixels <= 0:
        raise CardlabError(f"size must be greater than 0 pixels, got {shorten(size)}")
    return pixels


def read_cards(texts: object) -> list[str]:
    """Return the texts of cards, given as a list or in one text with spaces between."""
    if isinstance(texts, str):
        return texts.split()
    if not isinstance(texts, Iterable):
        raise CardlabError(f"cards must be a list of texts such as 7H, got {shorten(texts)}")
    return [read_text(text, "card", "7H") for text in texts]


def _symbol(name: str, frame: str, drawing: str) -> str:
    return f'<symbol id="{name}" viewBox="{frame}" {DEFAULTS}>{drawing}</symbol>'
