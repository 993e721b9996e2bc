"""Golden playthroughs: whole games as text, to compare later versions with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from os import PathLike

from cardlab.engine.arguments import read_path
from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.engine.seeding import read_seed
from cardlab.testing.random_games import Options, random_table, retrace


def playthrough(
    game: str | Game, options: Options | None, seed: int, actions: Iterable[int] | None = None
) -> str:
    """Return a whole game as text, random if no actions are given: deals, states, legal sets."""
    game, options, seed = find_game(game), options or {}, read_seed(seed)
    if actions is None:
        table = random_table(game, options, seed)
    else:
        table = Table(game, seed=seed, options=options)
        for action in actions:
            table.act(action)
    head = {"game": game.name, "rules": game.rules_version, "options": options, "seed": seed}
    lines = [json.dumps(head), ""]
    dealt = 0
    for again in retrace(table):
        for order in again.deals[dealt:]:
            lines += [f"deal {game.order_text(order)}", ""]
        dealt = len(again.deals)
        lines.append(str(again.state))
        if again.over:
            break
        legal = ", ".join(f"{a} {game.action_text(int(a))}" for a in again.state.legal())
        action = table.actions[len(again.actions)]
        lines += [
            f"view {hashlib.sha256(again.turn().view.array.tobytes()).hexdigest()[:16]}",
            f"legal {legal}",
            f"seat {again.mover} takes {game.action_text(action)}",
            "",
        ]
    lines += ["", f"returns {table.state.returns()}", f"points {table.state.points()}", ""]
    return "\n".join(lines)


def check_playthrough(game: str | Game, path: str | PathLike[str]) -> None:
    """The golden playthrough in a file is what the rules give today."""
    game, path = find_game(game), read_path(path)
    text = path.read_text(encoding="utf-8")
    head = json.loads(text.partition("\n")[0])
    assert head["rules"] == game.rules_version, (
        f"{path.name}: written under rules version {head['rules']}"
    )
    taken = [
        game.parse_action(line.partition(" takes ")[2])
        for line in text.splitlines()
        if line.startswith("seat ") and " takes " in line
    ]
    now = playthrough(game, head["options"], head["seed"], taken)
    for number, (ours, theirs) in enumerate(
        zip(now.splitlines(), text.splitlines(), strict=False), start=1
    ):
        assert ours == theirs, f"{path.name}, line {number}: {ours!r} instead of {theirs!r}"
    assert now == text, f"{path.name}: the game has another length"
