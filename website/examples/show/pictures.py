# %% card_svg, BACK, EMPTY

from pathlib import Path

from cardlab.show.pictures import BACK, EMPTY, card_svg

picture = card_svg("standard", "7H", size=90)
Path("seven.svg").write_text(picture)
print(picture[:72])

face_down, nothing = card_svg("standard", BACK), card_svg("standard", EMPTY)
print(len(face_down) > len(nothing))

#: <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 140" width="90"
#: True


# %% hand_svg

from pathlib import Path

from cardlab.show.pictures import hand_svg

picture = hand_svg("four_colour", ["5H", "5C", "5S", "JD"], size=70)
print(Path("hand.svg").write_text(picture) > 1000, "a file for a browser")

#: True a file for a browser


# %% picture_of

from pathlib import Path

from cardlab import Table
from cardlab.show.pictures import picture_of

table = Table("crazy_eights", seed=7)
Path("all_cards.svg").write_text(picture_of(table))
Path("seat_0.svg").write_text(picture_of(table.state.view(0)))  # what seat 0 knows
print([path.name for path in sorted(Path().glob("*.svg"))])

#: ['all_cards.svg', 'seat_0.svg']


# %% table_svg, describe_openly

from pathlib import Path

from cardlab import Table
from cardlab.show.pictures import describe_openly, table_svg

state = Table("crazy_eights", seed=7).state
mine, everything = state.view(0).describe(), describe_openly(state)
for description in (mine, everything):
    print([zone.cards for zone in description.zones if zone.seat == 1])
    Path(f"seat_{description.seat}.svg").write_text(table_svg(description, "standard"))

#: [()]
#: [('AS', '2H', '3D', 'QC', 'KS')]


# %% deck_of, deck_for

from cardlab import find_game
from cardlab.show.pictures import card_title, deck_for, deck_of

print(deck_of("crazy_eights"), deck_of("uno"), deck_of("koi_koi"))

deck = deck_for(find_game("uno"))
print(len(deck.texts), "pictures, the first is", card_title(deck.name, deck.texts[0]))

#: standard uno hanafuda
#: 54 pictures, the first is red zero


# %% card_title

from cardlab.show.pictures import card_title

print(card_title("standard", "7H"))
print(card_title("standard", "back"))

#: seven of hearts
#: a card face down


# %% known_decks, DECKS

from cardlab.show.pictures import DECKS, known_decks

print("for any game:", *DECKS)
print("of one game:", *(name for name in known_decks() if name not in DECKS))

#: for any game: standard four_colour plain
#: of one game: uno hanafuda


# %% Deck

from dataclasses import replace

from cardlab.show.pictures import DECKS, Deck


def round_card(text: str) -> str:
    """Return the drawing of a round card."""
    return f'<circle cx="35" cy="50" r="33" fill="#fff"/><text x="30" y="55">{text}</text>'


deck: Deck = replace(DECKS["plain"], name="round", art=round_card, title=lambda text: f"a {text}")
print(deck.draw("K")[:35], "...", deck.words("K"))

#: <circle cx="35" cy="50" r="33" fill ... a K


# %% sprite, symbol_id

from cardlab.show.pictures import sprite, symbol_id

svg = sprite("standard")  # one file, of which a page shows one symbol after another
print(svg.count("<symbol"), "symbols")
print(f'id="{symbol_id("7H")}"' in svg, symbol_id("7H"), symbol_id("--"))

#: 58 symbols
#: True card-7H card-empty
