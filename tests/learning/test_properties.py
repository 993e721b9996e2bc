"""Any text after `--set` is a setting of a training or a mistake in one sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from cardlab.engine.errors import CardlabError
from cardlab.learning.runs import read_config, read_seats
from tests.support.strategies import texts_near, value_or_error


@dataclass(frozen=True)
class Config:
    """A setting of each kind."""

    games: int = 100
    learning_rate: float = field(default=0.1, metadata={"was": "rate"})
    resume: bool = False
    device: str = "cpu"


KNOWN = ("games=1_000", "learning_rate=1e-3", "rate=0.5", "resume=true", "device=cuda", "games=5")


@given(st.lists(texts_near(KNOWN, "="), max_size=3))
def test_settings_have_their_kinds_or_are_a_mistake(texts: list[str]) -> None:
    config = value_or_error(read_config, Config, texts)
    if not isinstance(config, CardlabError):
        assert type(config.games) is int
        assert math.isfinite(config.learning_rate)
        assert type(config.resume) is bool


@given(texts_near(["3", "2-4", "2-10", "4-2"], "-"), st.integers(2, 10))
def test_numbers_of_seats_are_a_range_or_a_mistake(text: str, most: int) -> None:
    seats = value_or_error(read_seats, text, most)
    if not isinstance(seats, CardlabError):
        assert 2 <= seats[0] <= seats[-1] <= most
