"""Birds of a Feather: the manifest names everything in this folder."""

from __future__ import annotations

from cardlab.engine.manifest import AgentEntry, GamePackage, Level

HERE = __name__
SOLVER = f"{HERE}.agents.solver"

PACKAGE = GamePackage(
    module=HERE,
    game=f"{HERE}.rules:GAME",
    place=3,
    title="Birds of a Feather",
    summary="gather sixteen cards into one stack, by suit or neighbouring rank",
    agents=(
        AgentEntry("solver", "plays a solution wherever there is one", f"{SOLVER}:Solver"),
        AgentEntry(
            "search_dfs",
            "searches depth first in the reference order",
            f"{SOLVER}:search_dfs",
        ),
        AgentEntry(
            "search_lr",
            "searches depth first, children sorted by one model",
            f"{SOLVER}:search_lr",
        ),
        AgentEntry(
            "search_lr_dfs",
            "searches depth first, four models sort down to nine cards",
            f"{SOLVER}:search_lr_dfs",
        ),
        AgentEntry(
            "search_evolved",
            "searches depth first, moves sorted by evolved weights",
            f"{SOLVER}:search_evolved",
        ),
    ),
    heuristic=f"{HERE}.heuristic",
    observation=f"{HERE}.observation:OBSERVATION",
    levels=(Level("Solver", "solver"),),
    adviser="solver",
    trainings={
        "solvability": f"{HERE}.learning.solvability",
        "evolved_ordering": f"{HERE}.learning.evolved_ordering",
    },
    paper=f"{HERE}.paper.report:REPORT",
    commands={"solve": f"{HERE}.commands:solve"},
    page="page",
    page_data=f"{HERE}.page.page_data:PAGE_DATA",
    terminal=f"{HERE}.terminal:TERMINAL",
    deck="standard",
    rules="rules.md",
)

__getattr__ = PACKAGE.lazy_attribute  # `cardlab.games.birds_of_a_feather:GAME`
