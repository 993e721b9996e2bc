"""Leduc poker: the manifest names everything in this folder."""

from __future__ import annotations

from cardlab.engine.manifest import AgentEntry, GamePackage, Level, Parameter

HERE = __name__

PACKAGE = GamePackage(
    module=HERE,
    game=f"{HERE}.rules:GAME",
    place=6,
    title="Leduc poker",
    summary="six cards, two rounds of betting; a pair wins, and so does a good bluff",
    agents=(
        AgentEntry(
            "cfr",
            "solves the whole game when it is made, by CFR+, and plays its mixed strategy",
            "cardlab.learning.cfr_agent:CfrAgent",
            (Parameter("iterations", 1000, 1, "iterations of CFR+", high=1_000_000),),
        ),
    ),
    heuristic=f"{HERE}.heuristic",
    observation=f"{HERE}.observation:OBSERVATION",
    levels=(
        Level("Easy", "random"),
        Level("Medium", "heuristic"),
        Level("Hard", "cfr:1000"),
    ),
    deck="standard",
    rules="rules.md",
)

__getattr__ = PACKAGE.lazy_attribute  # `cardlab.games.leduc:GAME`
