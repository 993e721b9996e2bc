"""The card transformer that learned Crazy Eights against itself."""

from __future__ import annotations

from cardlab.agents.token_network import TokenPlayer
from cardlab.games.crazy_eights import PACKAGE


def crazy_eights_transformer() -> TokenPlayer:
    """Return the card transformer that learned Crazy Eights against itself."""
    return TokenPlayer(PACKAGE.shipped("networks", "transformer.onnx"), "crazy_eights_transformer")
