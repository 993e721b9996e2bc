"""Golden playthroughs: whole games as text, to compare later versions with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.testing.random_games import Options, random_table, retrace


def playthrough(
    game: Game, options: Options, seed: int, actions: Iterable[int] | None = None
) -> str:
    """Return a whole game as text, random if no actions are given: deals, states, legal sets."""
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


def check_playthrough(game: Game, path: Path) -> None:
    """The golden playthrough in a file is what the rules give today."""
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
