# %% evaluate, Judge

import numpy as np

from cardlab import State, Table
from cardlab.search import alpha_beta, determinised


def look_ahead(world: State) -> np.ndarray:
    """Return what every legal action is worth if all cards are seen."""
    return alpha_beta.evaluate(world, 8)


judge: determinised.Judge = look_ahead
turn = Table("crazy_eights", seed=52, options={"hand_size": 3}).turn()
values = determinised.evaluate(turn, 20, np.random.default_rng(1), judge)
print(dict(zip(turn.texts, values.round(2).tolist(), strict=True)))

#: {'8S=C': 0.15, '8S=D': 0.2, '8S=H': -0.2, '8S=S': -0.3}
