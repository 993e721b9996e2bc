# %% record_type

import numpy as np

from cardlab.engine.game import record_type

STATE = record_type(
    [
        ("hands", "i8", (2,)),  # a set of cards for each seat
        ("phase", "u1"),
        ("seat", "u1"),
        ("seats", "u1"),
    ]
)

state = np.zeros(1, dtype=STATE)  # an array of one game
s = state[0]
s.seats = 2
s.hands[1] = 0b101
print(s.seats, s.hands, STATE.itemsize, "bytes")

#: 2 [0 5] 19 bytes
