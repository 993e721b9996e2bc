# %% stream, generator

from cardlab.engine.seeding import generator, stream

print(stream(7, "seat", 0) != stream(7, "seat", 1))  # unrelated streams of one seed

rng = generator(7, "seat", 0)  # what the agent on seat 0 draws from
print(rng.integers(100, size=5))
print(generator(7, "seat", 0).integers(100, size=5))  # the same again

#: True
#: [37 81 75 19 54]
#: [37 81 75 19 54]


# %% below, happens, shuffle

import numpy as np

from cardlab.engine.seeding import below, happens, shuffle, stream

rng = np.array([stream(7, "example")])  # kernels keep the stream in an array of one
print([below(rng, 6) for _ in range(8)])
print([happens(rng, 0.25) for _ in range(4)])

order = np.empty(10, dtype=np.uint8)
shuffle(order, rng)
print(order)

#: [1, 4, 1, 5, 3, 4, 0, 0]
#: [False, True, True, False]
#: [8 4 6 5 3 1 2 9 7 0]


# %% branch, word, DEAL, SEAT, GAME

from cardlab.engine.seeding import DEAL, GAME, SEAT, branch, stream, word

print([word("deal"), word("seat"), word("game")] == [DEAL, SEAT, GAME])
print(branch(branch(7, DEAL), 2) == stream(7, "deal", 2))  # kernels branch, Python has `stream`

#: True
#: True


# %% deck_order

import numpy as np

from cardlab import Table
from cardlab.engine.cards import cards_text
from cardlab.engine.seeding import deck_order

order = np.empty(52, dtype=np.uint8)
deck_order(7, 0, order, np.zeros(1, dtype=np.int64))  # the first order of the game of seed 7
print(cards_text(order[:5]), "...")
print((order == Table("crazy_eights", seed=7).deals[0]).all())

#: 5C AS 9S 2H 7D ...
#: True


# %% RANDOM_RESOLUTION

import numpy as np

from cardlab.engine.seeding import RANDOM_RESOLUTION, happens, stream

rng = np.array([stream(7, "example")])
rarest = 1 / RANDOM_RESOLUTION  # a smaller probability than this counts as this
print(rarest < 1e-6, sum(happens(rng, rarest) for _ in range(1000)))

#: True 0


# %% read_seed

from cardlab import CardlabError
from cardlab.engine.seeding import read_seed

print(read_seed(2026))
try:
    read_seed("tonight")
except CardlabError as error:
    print(error)

#: 2026
#: seed 'tonight' is not a whole number; give one such as 0 or 7
