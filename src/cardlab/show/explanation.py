"""Why an agent moves as it does: the value of every choice, and what its network looks at.

`explain` takes a position out of a recorded game and asks an agent about it; `show` prints the
answer, `explanation_svg` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from cardlab.agents.catalog import find_agent
from cardlab.engine import seeding
from cardlab.engine.arguments import MOST, read_count, read_kind
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import (
    Agent,
    Array,
    Attention,
    HasAttention,
    HasUnit,
    HasValues,
    OpenAgent,
    Turn,
    Unit,
)
from cardlab.engine.play import ask_values
from cardlab.engine.records import Record
from cardlab.engine.replay import replay
from cardlab.show.terminal import action_look, card_look, values_grid, words_look

__all__ = ["Explanation", "ask_about", "explain", "show", "words_of"]

WIDEST = 80
DIGITS = 1  # of scores in percent
SHADES = " ░▒▓█"
NAMED = 3  # tokens that are named for each head
LABEL = 12  # columns before a map
SCORES = "expected score, with a win as 100%"
RETURNS = "expected return, from -1 to 1"


@dataclass(frozen=True)
class Explanation:
    """The values of an agent for the actions of one turn."""

    agent: str  # its name
    turn: Turn  # the decision
    ply: int  # number of actions before it
    values: Array  # by legal action, in the unit
    unit: Unit | None  # None: expected returns
    taken: int | None  # the action in the record
    attention: Attention | None  # of a network; None: it has none

    @property
    def best(self) -> int:
        """The place of the best choice among the legal actions."""
        return int(np.argmax(self.values))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        attention = self.attention
        return {
            "agent": self.agent,
            "game": self.turn.game.name,
            "ply": self.ply,
            "seat": self.turn.seat,
            "unit": self.unit.words if self.unit else RETURNS,
            "choices": [
                {"action": int(action), "text": text, "value": float(value)}
                for action, text, value in zip(
                    self.turn.legal, self.turn.texts, self.values, strict=True
                )
            ],
            "taken": self.taken,
            "attention": attention
            and {"tokens": attention.tokens, "weights": attention.weights.round(4).tolist()},
        }


def words_of(unit: Unit | None) -> str:
    """Return what is shown of values, in words."""
    return unit.words if unit else SCORES


def explain(
    record: Record, ply: int, agent: str | Agent | OpenAgent, *, trust: bool = False
) -> Explanation:
    """Return the values of an agent for the decision after `ply` actions of a recorded game."""
    record = read_kind(record, Record, "record", "read_records reads them from a file")
    last, ply = len(record.actions), read_count(ply, "ply", lowest=-MOST)
    if not 0 <= ply <= last:
        raise CardlabError(f"--ply {ply} is not in the game; its plies are 0 to {max(0, last - 1)}")
    for table in replay(record, trust=trust):
        if len(table.actions) == ply:
            break
    if table.over:
        raise CardlabError(
            f"the game is over after ply {ply - 1}, nobody is to move; give a smaller --ply"
        )
    taken = record.actions[ply][0] if ply < last else None
    return ask_about(agent, table.turn(), ply, taken)


def ask_about(
    agent: str | Agent | OpenAgent, turn: Turn, ply: int = 0, taken: int | None = None
) -> Explanation:
    """Return the values of an agent for a turn."""
    turn = read_kind(turn, Turn, "turn", "table.turn() returns one")
    agent = find_agent(agent, turn.game)
    if not isinstance(agent, HasValues):
        raise CardlabError(
            f"agent {agent.name!r} does not say what actions are worth; name one that searches, "
            "or one that plays by a network"
        )
    values = ask_values(agent, turn, seeding.generator(0, "explain", ply))
    return Explanation(
        agent.name,
        turn,
        ply,
        values,
        agent.unit if isinstance(agent, HasUnit) else None,
        taken,
        agent.attention(turn) if isinstance(agent, HasAttention) else None,
    )


def show(explanation: Explanation, console: Console) -> None:
    """Print the position, the value of every choice, and what the network looks at."""
    width = min(console.width, WIDEST)
    parts: list[RenderableType] = [_position(explanation.turn), Text()]
    parts.append(Text(f"{explanation.agent}, {words_of(explanation.unit)}", style="bold"))
    parts.append(
        values_grid(
            explanation.turn,
            explanation.values,
            explanation.unit,
            digits=DIGITS,
            taken=explanation.taken,
        )
    )
    place = Text(f"ply {explanation.ply}, seat {explanation.turn.seat} to move", style="dim")
    console.print(
        Panel(
            Group(*parts),
            title=Text(explanation.turn.game.title, style="bold"),
            title_align="left",
            subtitle=place,
            subtitle_align="right",
            width=width,
        )
    )
    if explanation.attention is not None:
        for part in _maps(explanation, explanation.attention):
            console.print(Padding(part, (0, 1)), width=width)


def _position(turn: Turn) -> RenderableType:
    """Return what the seat knows: facts, then cards by where they lie."""
    view = turn.view.describe()
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for name, fact in view.facts.items():
        grid.add_row(Text(name, style="bold"), words_look(str(fact)))
    for zone in view.zones:
        if zone.cards:
            whose = {None: "", turn.seat: "your "}.get(zone.seat, f"seat {zone.seat}: ")
            cards = Text("  ").join(card_look(card) for card in zone.cards)
            grid.add_row(Text(f"{whose}{zone.name}", style="bold"), cards)
    return grid


def _maps(explanation: Explanation, attention: Attention) -> list[RenderableType]:
    """Return a map of every choice for each block, and what each head looks at most."""
    texts = [action_look(text).plain for text in explanation.turn.texts]
    parts: list[RenderableType] = []
    for number, block in enumerate(attention.weights, start=1):
        title = f"block {number}: what each choice looks at, mean of {len(block)} heads"
        parts += [Text(), Text(title, style="bold"), Text(_ruler(attention), style="dim")]
        mean = block.mean(axis=0)
        parts += [
            _map_line(text, row, float(mean.max()), attention)
            for text, row in zip(texts, mean, strict=True)
        ]
        parts.append(Text(f"for {texts[explanation.best]}, head by head", style="bold"))
        strongest = float(block[:, explanation.best].max())
        for head, rows in enumerate(block, start=1):
            row = rows[explanation.best]
            most = np.argsort(-row, kind="stable")[:NAMED]
            parts.append(_map_line(f"head {head}", row, strongest, attention))
            named = ", ".join(f"{attention.tokens[token]} {row[token]:.0%}" for token in most)
            parts.append(Text(f"{'':{LABEL}}most at {named}", style="dim"))
    parts.append(Text(f"{'':{LABEL}}darker: more, up to the most of its map", style="dim"))
    return parts


def _ruler(attention: Attention) -> str:
    """Return a line that numbers groups of tokens, with the first letters of those in none."""
    group = attention.group
    if not group:
        return ""
    count = len(attention.tokens) // group
    rest = "".join(token[0] for token in attention.tokens[count * group :])
    return " " * LABEL + "".join(f"{number:<{group + 1}}" for number in range(1, count + 1)) + rest


def _map_line(name: str, row: Array, most: float, attention: Attention) -> Text:
    """Return a name and one shade for each token, groups set apart."""
    line = Text(f"{name[: LABEL - 1]:{LABEL}}")
    for place, weight in enumerate(row):
        if attention.group and place and place % attention.group == 0:
            line.append(" ")
        level = round((len(SHADES) - 1) * float(weight) / most) if most > 0 else 0
        line.append(SHADES[level] if level else "·", style="" if level else "dim")
    return line
