# %% parse_card, card_text

from cardlab.engine.cards import card_text, parse_card

card = parse_card("10♥")
print(card, card_text(card))
print([parse_card(text) for text in ("AC", "ad", "K♠")])

#: 38 TH
#: [0, 1, 51]


# %% cards_in, cards_text, ALL_CARDS

from cardlab.engine.cards import ALL_CARDS, cards_in, cards_text, parse_card

hand = 0
for text in ("7H", "AS", "KD"):
    hand |= 1 << parse_card(text)  # a set of cards is a number with a bit for each

print(cards_text(cards_in(hand)))
print((ALL_CARDS & ~hand).bit_count(), "cards are elsewhere")

#: AS 7H KD
#: 49 cards are elsewhere


# %% RANKS, SUITS, SUIT_NAMES, SUIT_SYMBOLS

from cardlab.engine.cards import RANKS, SUIT_NAMES, SUIT_SYMBOLS, SUITS, parse_card

card = parse_card("TH")
rank, suit = card >> 2, card & 3
print(RANKS[rank], SUITS[suit], SUIT_NAMES[suit], SUIT_SYMBOLS[suit])

#: T H hearts ♥
