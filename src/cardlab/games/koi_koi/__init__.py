"""Koi-Koi: the manifest names everything in this folder."""

from __future__ import annotations

from cardlab.engine.manifest import AgentEntry, GamePackage, Level, Option, Parameter

HERE = __name__

PACKAGE = GamePackage(
    module=HERE,
    game=f"{HERE}.rules:GAME",
    place=4,
    title="Koi-Koi",
    summary="capture flower cards by month, form yaku, and stop in time",
    options=(
        Option(
            "rules",
            "paper",
            ("paper", "nintendo"),
            "the paper's rules, or those of Nintendo's game",
        ),
        Option("rounds", 0, range(13), "rounds in a game; 0: 8 (paper) or 12 (nintendo)"),
    ),
    agents=(
        AgentEntry(
            "koi_koi_supervised",
            "plays networks that learned from recorded games of people",
            f"{HERE}.agents.network:koi_koi_supervised",
        ),
        AgentEntry(
            "koi_koi_point",
            "plays networks that learned from play to win points",
            f"{HERE}.agents.network:koi_koi_point",
        ),
        AgentEntry(
            "koi_koi_win",
            "plays networks that learned from play to win games",
            f"{HERE}.agents.network:koi_koi_win",
        ),
        AgentEntry(
            "koi_koi_linear",
            "plays a linear policy distilled from the networks of `koi_koi_win`",
            f"{HERE}.agents.linear:KoiKoiLinear",
        ),
        AgentEntry(
            "koi_koi_search",
            "checks what `koi_koi_win` expects by play-outs in likely worlds",
            f"{HERE}.agents.search:KoiKoiSearch",
            (
                Parameter("worlds", 400, 1, "worlds a decision", high=100_000),
                Parameter("hands", 1000, 1, "hands sampled for the other seat", high=1_000_000),
                Parameter("most", 4, 2, "actions that are tried in them", high=8),
            ),
        ),
        AgentEntry(
            "koi_koi_hand_open",
            "searches as `koi_koi_search`, but sees the other hand, though not the stock",
            f"{HERE}.agents.search:KoiKoiHandOpen",
            (Parameter("worlds", 400, 1, "stocks sampled a decision", high=100_000),),
        ),
    ),
    heuristic=f"{HERE}.heuristic",
    observation=f"{HERE}.observation:OBSERVATION",
    levels=(
        Level("Easy", "random"),
        Level("Medium", "heuristic"),
        Level("Hard", "koi_koi_win"),
        Level("Expert", "koi_koi_search:400"),
        Level("Sees your cards", "koi_koi_hand_open:400"),
    ),
    adviser="koi_koi_search:400",
    trainings={
        "supervised": f"{HERE}.learning.supervised",
        "monte_carlo": f"{HERE}.learning.monte_carlo",
        "linear": f"{HERE}.learning.linear",
    },
    paper=f"{HERE}.paper.report:REPORT",
    page="page",
    page_data=f"{HERE}.page.page_data:PAGE_DATA",
    terminal=f"{HERE}.terminal:TERMINAL",
    deck=f"{HERE}.deck.hanafuda:DECK",
    rules="rules.md",
)

__getattr__ = PACKAGE.lazy_attribute  # `cardlab.games.koi_koi:GAME`
