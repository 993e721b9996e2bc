"""DeepSARSA for Uno: `learning.dqn` with the value of the action that was taken next.

Paper: "Winning Uno With Reinforcement Learning", section 5.4; 125,000 iterations of 100 games.
"""

from __future__ import annotations

from dataclasses import dataclass

from cardlab.games.uno.learning import dqn
from cardlab.games.uno.learning.dqn import export as export
from cardlab.games.uno.learning.dqn import train as train


@dataclass(frozen=True)
class Config(dqn.Config):
    """The settings of `dqn` with other defaults."""

    method: str = "deep_sarsa"
    games: int = 12_500_000
