"""What learners and agents see, as tables: every number of an observation, every field of a record.

The words come from the encoders themselves, those of the fields from the comments in the source.
"""

from __future__ import annotations

import ast
from itertools import groupby
from pathlib import Path

import source as code
from cardlab.engine.observation import Block, observation_of
from cardlab.engine.registry import find_game, our_games

FEW = 8  # words that are all listed
KINDS = {"i": "whole number", "u": "whole number from 0", "f": "number"}


def observations() -> str:
    """Return a table for every game: what each number of its observation means."""
    parts = []
    for name in our_games():
        game = find_game(name)
        encoder = observation_of(game)
        lines = ["| index | what | meaning |", "|---|---|---|"]
        first = 0
        for _, same in groupby(encoder.blocks, _shape):
            blocks = list(same)
            last = first + sum(len(one.words) for one in blocks) - 1
            index = str(first) if first == last else f"{first}..{last}"
            lines.append(f"| {index} | {_names(blocks)} | {_meaning(blocks)} |")
            first = last + 1
        parts.append(f"## {game.title}\n\n{encoder.size} numbers, {game.num_actions} actions.")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _shape(block: Block) -> tuple[str, ...]:
    """Return what blocks have in common that say the same of different things."""
    return tuple(word.replace(block.name, "...") for word in block.words)


def _names(blocks: list[Block]) -> str:
    names = [one.name for one in blocks]
    return ", ".join(names) if len(names) < FEW else f"{names[0]}, {names[1]}, ... {names[-1]}"


def _meaning(blocks: list[Block]) -> str:
    block = blocks[0]
    words = block.words
    if len(words) > FEW and block.summary:
        return f"{block.summary}. First: {words[0]}; last: {words[-1]}"
    if len(blocks) == 1:
        return "; ".join(words)
    return f"{len(words)} numbers for each. For {block.name}: {'; '.join(words)}"


def fields(source: Path, name: str) -> str:
    """Return the fields of a game's record in the order of its source, with their comments."""
    rules = code.read(source, f"cardlab.games.{name}.rules")
    module, node = code.resolve(source, rules, "STATE")
    made = code.value_of(node, "STATE")
    assert isinstance(made, ast.Call)
    listed = made.args[0]
    assert isinstance(listed, ast.List)
    state = find_game(name).state
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for one in listed.elts:
        assert isinstance(one, ast.Tuple)
        field = ast.literal_eval(one.elts[0])
        kind = state[field]
        shape = f" {list(kind.shape)}" if kind.shape else ""
        lines.append(f"| `{field}` | {kind.base}{shape} | {module.comment_of(one)} |")
    return "\n".join(lines)
