# %% Batch

import numpy as np

from cardlab import Batch

batch = Batch("crazy_eights", 10_000, seed=1)
rng = np.random.default_rng(1)
steps = 0
while not batch.over.all():
    scores = np.where(batch.mask, rng.random(batch.mask.shape), -1)
    batch.step(scores.argmax(axis=1))  # any legal action in each game
    steps += 1
print("the longest game took", steps, "moves")
print("mean returns by seat:", batch.returns.mean(axis=0))

#: the longest game took 56 moves
#: mean returns by seat: [ 0.022 -0.022]


# %% make_batch_kernels, BatchKernels

import numpy as np

from cardlab import Batch, find_game
from cardlab.engine.batch import make_batch_kernels

game = find_game("crazy_eights")
kernels = make_batch_kernels(game)
batch = Batch(game, 100, seed=1)
actions = batch.mask.argmax(axis=1)  # legal everywhere
actions[41] = batch.mask[41].argmin()  # but here
print(kernels.find_illegal(0, 100, batch.mover, batch.mask, actions))

views = batch.states[:2].copy()
kernels.conceal_all(views, np.array([0, 1]))  # seat 0 in the first game, seat 1 in the second
print(views["hands"][:, :2] != 0)  # the hands that each can see

#: 41
#: [[ True False]
#:  [False  True]]
