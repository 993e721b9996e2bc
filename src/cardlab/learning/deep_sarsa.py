"""DeepSARSA for Uno: `learning.deep_q` with the value of the action that was taken next.

Paper: "Winning Uno With Reinforcement Learning", section 5.4; 125,000 iterations of 100 games.
"""

from __future__ import annotations

from dataclasses import dataclass

from cardlab.learning import deep_q
from cardlab.learning.deep_q import train

__all__ = ["Config", "train"]


@dataclass(frozen=True)
class Config(deep_q.Config):
    """The settings of `deep_q` with other defaults."""

    method: str = "deep_sarsa"
    games: int = 12_500_000
