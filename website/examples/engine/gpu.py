# %% GpuBatch (needs gpu)

from cardlab.engine.gpu import GpuBatch

batch = GpuBatch("crazy_eights", 65_536, seed=1)
while not batch.over.copy_to_host().all():
    batch.step(batch.mask.copy_to_host().argmax(axis=1))  # the first legal action of every game
print(batch.returns.copy_to_host().mean(axis=0))


# %% play_randomly, Played (needs gpu)

from cardlab.engine.gpu import play_randomly

played = play_randomly("crazy_eights", 1_000_000, seed=1, options={"seats": 3})
print(played.decisions.mean(), "decisions a game")
print(played.returns[:2])  # by game and seat
print(played.totals())  # all decisions, and the sum of returns by seat


# %% device_function (needs gpu)

import numpy as np
from numba import cuda

from cardlab.engine.gpu import device_function
from cardlab.engine.kernel import bit, count_bits, kernel


@kernel
def hearts(hand):
    found = 0
    for rank in range(13):
        found += count_bits(hand & bit(4 * rank + 2))
    return found


hearts_on_gpu = device_function(hearts)  # with `count_bits` and `bit`


@cuda.jit
def count_all(hands, out):
    i = cuda.grid(1)
    if i < len(hands):
        out[i] = hearts_on_gpu(hands[i])


hands = np.arange(1000)
out = cuda.device_array(1000, np.int64)
count_all[8, 128](cuda.to_device(hands), out)
print(out.copy_to_host().max())


# %% require_gpu

from cardlab import CardlabError
from cardlab.engine.gpu import require_gpu

try:
    require_gpu()
except CardlabError as error:
    print(error)  # says what is missing
else:
    print("playing on a GPU works here")

#: playing on a GPU ...
