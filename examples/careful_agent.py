#!/usr/bin/env python3
"""An outside agent in plain Python: it needs nothing but the standard library.

    cardlab check-agent examples/careful_agent.py --game uno
    cardlab match uno "cmd:examples/careful_agent.py" random --games 100

It plays any game. It draws only if it must; otherwise it takes the action whose letters and digits
occur most often in its hand, so that it can play again. Ties are decided by the seed of the game.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter


def choose(turn: dict, rng: random.Random) -> int:
    """Return the id of an action."""
    signs: Counter[str] = Counter()
    for zone in turn["view"]["zones"]:
        if zone["seat"] == turn["seat"]:
            for card in zone["cards"]:
                signs.update(card)  # letters and digits: suits, colours, ranks
    real = [one for one in turn["legal"] if one["text"] not in ("draw", "pass")]
    worth = {
        one["id"]: (sum(signs[sign] for sign in one["text"]) / len(one["text"]), rng.random())
        for one in real or turn["legal"]
    }
    return max(worth, key=worth.__getitem__)


def main() -> None:
    """Answer one line after another until there is nothing more to do."""
    rng = random.Random(0)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            rng.seed(message["seed"])
            answer = {"type": "ready", "name": "careful"}
        elif message["type"] == "turn":
            answer = {"type": "action", "action": choose(message, rng)}
        elif message["type"] == "bye":
            break
        else:
            continue  # the result of a game needs no answer
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
