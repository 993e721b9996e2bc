# %% play_randomly

from cardlab.engine.playouts import play_randomly

decisions, totals = play_randomly("crazy_eights", 10_000, seed=1, options={"seats": 3})
print(f"{decisions / 10_000:.1f} decisions a game, returns by seat: {totals.round()}")

#: 26.5 decisions a game, returns by seat: [  78.   60. -138.]


# %% make_playouts, Playouts, Scratch

import numpy as np

from cardlab import Table
from cardlab.engine.playouts import Playouts, Scratch, make_playouts
from cardlab.engine.seeding import stream

table = Table("crazy_eights", seed=7)
playouts: Playouts = make_playouts(table.game)
scratch = Scratch.of(table.game)
rng = np.array([stream(7, "example")])

wins = 0
for _ in range(1000):
    scratch.work[0] = table.state.array[0]  # the position, to be finished at random
    playouts.finish(scratch.work[0], rng, scratch.order, scratch.buffer)
    wins += table.game.returns(scratch.work[0], 0) == 1
print(f"seat 0 wins {wins / 10:.0f} % of the play-outs")

#: seat 0 wins 50 % of the play-outs


# %% Policy, choose_any

import numpy as np

from cardlab import Table
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.playouts import Policy, choose_any, make_playouts
from cardlab.engine.seeding import below
from cardlab.search.monte_carlo import evaluate


@kernel
def mostly_last(s, seat, actions, count, rng):
    """Return the last legal action in three of four turns, any otherwise."""
    if below(rng, 4):
        return int64(actions[count - 1])
    return choose_any(s, seat, actions, count, rng)


policy: Policy = mostly_last
turn = Table("crazy_eights", seed=18).turn()
tried, means = evaluate(turn, 1000, np.random.default_rng(1), policy=policy)
print(dict(zip(turn.texts, means.round(2).tolist(), strict=True)))

#: {'7S': 0.1, '8S=C': 0.1, '8S=D': 0.17, '8S=H': 0.02, '8S=S': 0.2}
