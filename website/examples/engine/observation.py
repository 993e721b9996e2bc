# %% Observation

import numpy as np

from cardlab import Batch
from cardlab.engine.observation import observation_of

observation = observation_of("crazy_eights")
batch = Batch("crazy_eights", 1000, seed=1)
turns = batch.turns(np.arange(1000))
rows = observation.rows(turns.views, turns.seats)
print(rows.shape, rows.dtype)
print([observation.words[i] for i in rows[0].nonzero()[0][:5]])
print(rows[:, observation.place("hand")].sum(axis=1)[:5])

#: (1000, 339) float32
#: ['I hold 3D', 'I hold 5S', 'I hold 7S', 'I hold TC', 'I hold TD']
#: [5. 5. 5. 5. 5.]


# %% observation_of

from cardlab import Table
from cardlab.engine.observation import observation_of

observation = observation_of("crazy_eights")
for block in observation.blocks[:3]:
    print(f"{block.name}: {len(block.words)} numbers, {block.summary}")
turn = Table("crazy_eights", seed=36).turn()
row = observation.one(turn.view.array, turn.seat)
print(row.shape, [observation.words[i] for i in row.nonzero()[0][:6]])

#: hand: 52 numbers, I hold ...
#: pile: 52 numbers, ... is on the pile
#: top: 52 numbers, ... is the top card
#: (339,) ['I hold AS', 'I hold 2S', 'I hold 3D', 'I hold 8S', 'I hold KH', 'KS is on the pile']


# %% from_kernel, Block

from cardlab import Table
from cardlab.engine.cards import SUIT_NAMES
from cardlab.engine.kernel import bit, count_bits, kernel
from cardlab.engine.observation import Block, from_kernel


@kernel
def write(view, seat, scratch, out):
    for card in range(52):
        if view.hands[seat] & bit(card):
            out[card % 4] += 1 / 13
    out[4] = count_bits(view.discards) / 52


mine = from_kernel(
    [
        Block("suits", tuple(f"{suit} in my hand, / 13" for suit in SUIT_NAMES)),
        Block("pile", ("cards on the pile, / 52",)),
    ],
    write,
)
turn = Table("crazy_eights", seed=36).turn()
for number, words in zip(mine.one(turn.view.array, turn.seat), mine.words):
    print(f"{number:.3f} {words}")

#: 0.000 clubs in my hand, / 13
#: 0.077 diamonds in my hand, / 13
#: 0.077 hearts in my hand, / 13
#: 0.231 spades in my hand, / 13
#: 0.019 cards on the pile, / 52


# %% observation_from_fields

from cardlab import Table
from cardlab.engine.observation import observation_from_fields

plain = observation_from_fields("crazy_eights")  # for a game that has no encoder of its own
print(plain.size, "numbers:", [block.name for block in plain.blocks[:4]], "...")
turn = Table("crazy_eights", seed=36).turn()
row = plain.one(turn.view.array, turn.seat)
print([plain.words[i] for i in row.nonzero()[0][:4]])

#: 3254 numbers: ['own seat', 'hands', 'barred', 'discards'] ...
#: ['I am seat 0', 'hands[0] has 3', 'hands[0] has 7', 'hands[0] has 9']
