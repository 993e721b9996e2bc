"""One cache of compiled kernels for the whole run, so that nothing is compiled twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cardlab.game import Game
from cardlab.games import find_game

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def crazy_eights() -> Game:
    return find_game("crazy_eights")


@pytest.fixture(scope="session")
def high_card() -> Game:
    return find_game("high_card:GAME")
