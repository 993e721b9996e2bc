"""Observations: encoders made of blocks with words."""

from __future__ import annotations

from typing import Any

import pytest

from cardlab.engine.game import Game
from cardlab.engine.kernel import JIT, kernel
from cardlab.engine.observation import Block, from_kernel
from cardlab.engine.play import Table


@pytest.mark.skipif(not JIT, reason="the kernel is made here")
def test_an_encoder_of_ones_own(crazy_eights: Game) -> None:
    def write(view: Any, seat: int, scratch: Any, out: Any) -> None:
        out[0] = seat
        out[1 + seat] = 1.0

    blocks = (Block("seat", ("my seat",), high=3.0), Block("me", ("I am 0", "I am 1")))
    encoder = from_kernel(blocks, kernel(write))
    assert encoder.size == 3
    assert encoder.words == ("my seat", "I am 0", "I am 1")
    assert encoder.high.tolist() == [3, 1, 1]
    assert encoder.place("me") == slice(1, 3)
    view = Table(crazy_eights, seed=1).turn().view.array
    assert encoder.one(view, 1).tolist() == [1, 0, 1]
