"""The public conformance suites: what every game and every agent must do.

`check_game` and `check_agent` run all checks; each check is a function of its own, so that a test
runner can name them. A check raises AssertionError with the seed, the ply and what to fix.
`audit_random_games` plays millions of games with a check of the record at every step;
`audit_hidden_cards` runs the checks about hidden cards on a few of them.
"""

from __future__ import annotations

from cardlab.testing.agents import AGENT_CHECKS, AgentCheck, check_agent, check_always_legal
from cardlab.testing.audit import HiddenCards, audit_hidden_cards, audit_random_games
from cardlab.testing.games import GAME_CHECKS, GameCheck, check_game, fingerprint
from cardlab.testing.playthroughs import check_playthrough, playthrough
from cardlab.testing.random_games import random_table, retrace
from cardlab.testing.worlds import check_uniform

__all__ = [
    "AGENT_CHECKS",
    "GAME_CHECKS",
    "AgentCheck",
    "GameCheck",
    "HiddenCards",
    "audit_hidden_cards",
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
