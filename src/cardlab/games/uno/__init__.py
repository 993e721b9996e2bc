"""Uno: the manifest names everything in this folder."""

from __future__ import annotations

from cardlab.engine.manifest import AgentEntry, GamePackage, Level, Option, Parameter

HERE = __name__
SEARCH = (
    Parameter("playouts", 3000, 1, "play-outs a decision, over all actions"),
    Parameter("others", 0, 0, "how others play in them: 0 at random, 1 by the heuristic", high=1),
    Parameter("threads", 1, 1, "threads; they change the time only", high=64),
)

PACKAGE = GamePackage(
    module=HERE,
    game=f"{HERE}.rules:GAME",
    place=2,
    title="Uno",
    summary="shed your cards by matching colour, number or sign; wilds call a colour",
    options=(
        Option("seats", 2, range(2, 11), "how many play"),
        Option(
            "rules",
            "official",
            ("official", "rlcard"),
            "Mattel's common game, or as RLCard 1.2.0 plays",
        ),
        Option("stacking", False, (False, True), "answer a draw two by another"),
        Option("keep_drawn", True, (False, True), "a drawn card that fits may be kept"),
        Option("voluntary_draw", False, (False, True), "draw even with a card that fits"),
        Option("target", 0, (0, 500), "points that end a match of several rounds; 0: one round"),
    ),
    agents=(
        AgentEntry(
            "uno_net",
            "plays the strongest network, trained with any number of seats by both rule sets",
            f"{HERE}.agents.network:uno_net",
        ),
        AgentEntry(
            "uno_dqn",
            "plays the paper's DQN, but sees only what its seat may know",
            f"{HERE}.agents.network:uno_dqn",
        ),
        AgentEntry(
            "uno_deep_sarsa",
            "plays the paper's DeepSARSA, but sees only what its seat may know",
            f"{HERE}.agents.network:uno_deep_sarsa",
        ),
        AgentEntry(
            "uno_dqn_open",
            "plays the paper's DQN on the paper's input: all other hands together",
            f"{HERE}.agents.network:uno_dqn_open",
        ),
        AgentEntry(
            "uno_deep_sarsa_open",
            "plays the paper's DeepSARSA on the paper's input: all other hands together",
            f"{HERE}.agents.network:uno_deep_sarsa_open",
        ),
        AgentEntry(
            "uno_transformer",
            "plays a card transformer that learned against itself, with 2 to 5 seats",
            f"{HERE}.agents.transformer:uno_transformer",
        ),
        AgentEntry(
            "guided",
            "plays every action out in sampled worlds that agree with what its seat knows",
            f"{HERE}.agents.search:Guided",
            SEARCH,
        ),
        AgentEntry(
            "uno_search",
            "the same search, guided by what `uno_net` expects of every action",
            f"{HERE}.agents.search:UnoSearch",
            (Parameter("playouts", 4000, 1, "play-outs a decision, over all actions"), *SEARCH[1:]),
        ),
        AgentEntry(
            "uno_union_open",
            "the same search, knowing the union of the other hands",
            f"{HERE}.agents.search:uno_union_open",
            SEARCH,
        ),
        AgentEntry(
            "uno_hands_open",
            "the same search, knowing every hand",
            f"{HERE}.agents.search:uno_hands_open",
            SEARCH,
        ),
        AgentEntry(
            "uno_deck_open",
            "the same search, knowing every hand and the order of the stock",
            f"{HERE}.agents.search:uno_deck_open",
            SEARCH,
        ),
    ),
    heuristic=f"{HERE}.heuristic",
    observation=f"{HERE}.observation:OBSERVATION",
    tokens=f"{HERE}.tokens",
    levels=(
        Level("Easy", "random"),
        Level("Medium", "heuristic"),
        Level("Hard", "uno_net"),
        Level("Expert", "uno_search:4000"),
        Level("Sees your cards", "uno_hands_open:3000"),
    ),
    adviser="uno_search:4000",
    trainings={
        "dqn": f"{HERE}.learning.dqn",
        "deep_sarsa": f"{HERE}.learning.deep_sarsa",
        "deep_monte_carlo": f"{HERE}.learning.deep_monte_carlo",
        "policy_gradient": f"{HERE}.learning.policy_gradient",
        "transformer": f"{HERE}.learning.transformer",
        "comparison": f"{HERE}.learning.comparison",
        "grid": f"{HERE}.learning.grid",
    },
    paper=f"{HERE}.paper.report:REPORT",
    page="page",
    page_data=f"{HERE}.page.page_data:PAGE_DATA",
    terminal=f"{HERE}.terminal:TERMINAL",
    deck=f"{HERE}.deck:DECK",
    rules="rules.md",
)

__getattr__ = PACKAGE.lazy_attribute  # `cardlab.games.uno:GAME`
