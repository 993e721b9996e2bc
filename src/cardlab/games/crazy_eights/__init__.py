"""Crazy Eights: the manifest names everything in this folder."""

from __future__ import annotations

from cardlab.engine.manifest import AgentEntry, GamePackage, Level, Option, Parameter

HERE = __name__
THREADS = Parameter("threads", 1, 1, "threads; they change the time only", high=64)
DEPTH = Parameter("depth", 4, 1, "plies to look ahead", high=40)

PACKAGE = GamePackage(
    module=HERE,
    game=f"{HERE}.rules:GAME",
    place=1,
    title="Crazy Eights",
    summary="shed your cards by matching rank or suit; eights are wild",
    options=(
        Option("seats", 2, range(2, 5), "how many play"),
        Option("hand_size", 5, range(1, 13), "cards dealt to each seat"),
        Option("reshuffle", False, (False, True), "shuffle the discards when the stock runs out"),
        Option(
            "optional_draw",
            False,
            (False, True),
            "draw whenever you like; if false, the game draws when no card fits",
        ),
    ),
    agents=(
        AgentEntry(
            "tabular_q",
            "plays a table of values that it learned against itself",
            f"{HERE}.agents.tabular_q:TabularQ",
        ),
        AgentEntry(
            "crazy_eights_transformer",
            "plays a card transformer that learned against itself",
            f"{HERE}.agents.transformer:crazy_eights_transformer",
        ),
        AgentEntry(
            "guided",
            "samples likely hidden cards and plays them out with the heuristic",
            f"{HERE}.agents.search:Guided",
            (Parameter("worlds", 2000, 1, "worlds a decision, for each action"), THREADS),
        ),
        AgentEntry(
            "determinised",
            "samples hidden cards and solves each world with all cards open",
            f"{HERE}.agents.search:Determinised",
            (
                Parameter("worlds", 30, 1, "worlds a decision"),
                Parameter("depth", 0, 0, "plies to look ahead in a world; 0: solve it", high=40),
                THREADS,
            ),
        ),
        AgentEntry(
            "alpha_beta_points_open",
            "looks ahead on the true state, values cards in hand",
            f"{HERE}.agents.search:AlphaBetaPointsOpen",
            (DEPTH,),
        ),
        AgentEntry(
            "alpha_beta_wins_open",
            "looks ahead on the true state, values wins only",
            f"{HERE}.agents.search:AlphaBetaWinsOpen",
            (DEPTH,),
        ),
        AgentEntry(
            "oracle_open",
            "solves the true state exactly: the most that can be known",
            f"{HERE}.agents.search:OracleOpen",
            (Parameter("simulations", 1000, 1, "play-outs to choose among equals"),),
        ),
    ),
    heuristic=f"{HERE}.heuristic",
    observation=f"{HERE}.observation:OBSERVATION",
    tokens=f"{HERE}.tokens",
    levels=(
        Level("Easy", "random"),
        Level("Medium", "heuristic"),
        Level("Hard", "crazy_eights_transformer"),
        Level("Expert", "guided:2000"),
        Level("Sees your cards", "uct_open:1000"),
    ),
    adviser="guided:2000",
    trainings={
        "tabular_q": f"{HERE}.learning.tabular_q",
        "transformer": f"{HERE}.learning.transformer",
    },
    paper=f"{HERE}.paper.report:REPORT",
    page="page",
    page_data=f"{HERE}.page.page_data:PAGE_DATA",
    terminal=f"{HERE}.terminal:TERMINAL",
    deck="standard",
    rules="rules.md",
)

__getattr__ = PACKAGE.lazy_attribute  # `cardlab.games.crazy_eights:GAME`
