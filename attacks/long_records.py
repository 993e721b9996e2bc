"""Long games for replays: legal, and as long as is allowed or much longer."""

from __future__ import annotations

import random

from cardlab.engine.play import Table
from cardlab.engine.registry import find_game

GAME, OPTIONS = "uno", {"target": 500, "voluntary_draw": True}  # a match of many rounds
ALLOWED, FAR_TOO_LONG = 1500, 2990  # plies; the first is the server's limit


def long_record(plies: int, seed: int = 0) -> str:
    """Return a legal record, broken off after so many plies, as a line of JSON."""
    rng = random.Random(seed)
    for attempt in range(100):
        table = Table(find_game(GAME), seed=1000 * seed + attempt, options=OPTIONS)
        while not table.over and len(table.actions) < plies:
            table.act(rng.choice(list(table.state.legal())))
        if not table.over:
            return table.record(["a", "b"]).to_line()
    raise AssertionError(f"no game of {GAME} lasts {plies:,} plies")
