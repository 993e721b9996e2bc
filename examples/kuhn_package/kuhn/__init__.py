"""Kuhn poker: the manifest names everything in this folder."""

from __future__ import annotations

from cardlab.engine.manifest import AgentEntry, GamePackage, Level, Parameter

HERE = __name__

PACKAGE = GamePackage(
    module=HERE,
    game=f"{HERE}.rules:GAME",
    title="Kuhn poker",
    summary="three cards, one bet; the higher card wins unless it was bluffed away",
    agents=(
        AgentEntry(
            "bluffer",
            "bets with a jack at a given rate, otherwise as `heuristic`",
            f"{HERE}.agents:Bluffer",
            (Parameter("percent", 50, 0, "how often it bluffs", high=100),),
        ),
        AgentEntry(
            "equilibrium",
            "plays the mixed strategy that regret matching has learned: nobody can beat it",
            f"{HERE}.agents:TableAgent",
        ),
    ),
    heuristic=f"{HERE}.heuristic",
    observation=f"{HERE}.rules:OBSERVATION",
    levels=(
        Level("Easy", "bluffer:80", "jack.svg"),
        Level("Medium", "heuristic", "queen.svg"),
        Level("Hard", "equilibrium", "king.svg"),
    ),
    adviser="equilibrium",
    trainings={"regret_matching": f"{HERE}.learning"},
    page="page",
    page_data=f"{HERE}.page.page_data:PAGE_DATA",
    rules="rules.md",
)

__getattr__ = PACKAGE.lazy_attribute  # `kuhn:GAME`
