"""The card transformer that learned Uno against itself."""

from __future__ import annotations

from cardlab.agents.token_network import TokenPlayer
from cardlab.games.uno import PACKAGE


def uno_transformer() -> TokenPlayer:
    """Return the card transformer that learned Uno against itself."""
    return TokenPlayer(PACKAGE.shipped("networks", "transformer.onnx"), "uno_transformer")
