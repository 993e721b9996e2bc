"""The public conformance suites: what every game and every agent must do.

`check_game` and `check_agent` run all checks; each check is a function of its own, so that a test
runner can name them. A check raises AssertionError with the seed, the ply and what to fix.
`audit_random_games` is the compiled version for millions of games.
"""

from __future__ import annotations

from cardlab.testing.agents import AGENT_CHECKS, AgentCheck, check_agent, check_always_legal
from cardlab.testing.audit import audit_random_games
from cardlab.testing.games import (
    GAME_CHECKS,
    GameCheck,
    check_game,
    check_uniform,
    fingerprint,
    random_table,
    retrace,
)
from cardlab.testing.playthroughs import check_playthrough, playthrough

__all__ = [
    "AGENT_CHECKS",
    "GAME_CHECKS",
    "AgentCheck",
    "GameCheck",
    "audit_random_games",
    "check_agent",
    "check_always_legal",
    "check_game",
    "check_playthrough",
    "check_uniform",
    "fingerprint",
    "playthrough",
    "random_table",
    "retrace",
]
