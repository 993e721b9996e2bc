"""Ratings, intervals and stores for any results and any names, also the oddest."""

from __future__ import annotations

import itertools
import json
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.arena.match import shares
from cardlab.arena.ratings import Outcome, rate
from cardlab.arena.standings import outcome_of
from cardlab.arena.store import Store
from cardlab.engine.errors import CardlabError
from cardlab.engine.statistics import mean_and_interval, wilson_interval
from tests.support.strategies import any_text, texts_near, value_or_error

FEW = max(20, settings().max_examples // 2)  # for what takes tens of milliseconds
RETURNS = st.sampled_from([-1.0, 0.0, 1.0]) | st.floats(-1, 1)


@st.composite
def tournaments(draw: st.DrawFn) -> tuple[list[str], dict[int, dict[Outcome, int]]]:
    """Return agents and outcomes on some deals: wins, ties, single games, games with oneself."""
    agents = draw(st.integers(1, 5))
    deals: dict[int, dict[Outcome, int]] = {}
    for deal in range(draw(st.integers(0, 14))):
        seats = draw(st.integers(2, 4))
        who = draw(st.lists(st.integers(0, agents - 1), min_size=seats, max_size=seats))
        returns = draw(st.lists(RETURNS, min_size=seats, max_size=seats))
        deals[deal] = {outcome_of(who, returns): draw(st.integers(1, 1000))}
    return [f"agent {one}" for one in range(agents)], deals


@settings(max_examples=FEW)
@given(tournaments())
def test_any_results_have_finite_ratings_around_nought(
    played: tuple[list[str], dict[int, dict[Outcome, int]]],
) -> None:
    agents, deals = played
    ratings = rate(agents, deals, samples=50)
    assert sorted(one.agent for one in ratings) == agents
    elos = [one.elo for one in ratings]
    assert all(map(math.isfinite, elos))
    assert abs(sum(elos)) < 1e-6 * len(agents) * (1 + max(map(abs, elos)))
    assert elos == sorted(elos, reverse=True)
    for one in ratings:
        assert 1 <= one.rank[0] <= one.rank[1] <= len(agents)
        assert one.groups
        if one.interval is not None:
            assert one.interval[0] <= one.interval[1]
        json.dumps(one.to_dict(), allow_nan=False)
    for one, other in itertools.combinations(ratings, 2):
        if one.rank[1] < other.rank[0]:  # told apart, so the better one shares no letter
            assert not set(one.groups) & set(other.groups)


@settings(max_examples=FEW)
@given(tournaments(), st.randoms(use_true_random=False))
def test_a_rating_does_not_depend_on_the_order_of_agents(
    played: tuple[list[str], dict[int, dict[Outcome, int]]], shuffler: object
) -> None:
    agents, deals = played
    place = list(range(len(agents)))
    shuffler.shuffle(place)  # type: ignore[attr-defined]
    renamed = {
        deal: {
            tuple(tuple(sorted(place[one] for one in group)) for group in outcome): count
            for outcome, count in outcomes.items()
        }
        for deal, outcomes in deals.items()
    }
    names = [""] * len(agents)
    for one, there in enumerate(place):
        names[there] = agents[one]
    first = {one.agent: one.elo for one in rate(agents, deals, samples=1)}
    other = {one.agent: one.elo for one in rate(names, renamed, samples=1)}
    assert other == pytest.approx(first, abs=0.01)


@given(st.lists(st.lists(RETURNS, min_size=3, max_size=3), min_size=1, max_size=20))
def test_the_scores_of_a_game_sum_to_one_and_the_best_share_them(
    returns: list[list[float]],
) -> None:
    won = shares(np.array(returns))
    assert np.allclose(won.sum(axis=-1), 1)
    for row, game in zip(won, returns, strict=True):
        assert all(
            (share > 0) == (value == max(game)) for share, value in zip(row, game, strict=True)
        )
        assert len({share for share in row if share > 0}) == 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_a_mean_lies_in_its_interval(values: list[float]) -> None:
    mean, interval = mean_and_interval(np.array(values))
    assert math.isfinite(mean)
    if interval is not None:
        assert interval[0] <= mean <= interval[1]


@given(
    st.integers(1, 10**9).flatmap(
        lambda games: st.tuples(st.integers(0, 2 * games), st.just(games))
    )
)
def test_a_share_lies_in_its_interval(counts: tuple[int, int]) -> None:
    halves, games = counts
    low, high = wilson_interval(halves / 2, games)
    assert 0 <= low <= halves / 2 / games + 1e-12
    assert halves / 2 / games - 1e-12 <= high <= 1


ADDRESSES = (
    "sqlite:///",
    "sqlite://",
    "sqlite+aiosqlite:///games.db",
    "mysql://me@host/games",
    "postgresql+asyncpg://me@host/games",
    "oracle://",
    "://",
    "file:games.db?mode=ro",
    "?timeout=x",
    "games.db",
    "/dev/null",
    "~nobody/games.db",
)


@given(texts_near(ADDRESSES, ":/?@%."))
def test_any_text_is_the_address_of_a_store_or_a_mistake(address: str) -> None:
    if address.startswith(("postgres://", "postgresql://", "postgresql+psycopg://")):
        return  # would be asked for over the network
    if not address:
        return  # the user's own store
    store = value_or_error(Store, address, read_only=True)
    if not isinstance(store, CardlabError):
        store.close()


@settings(max_examples=FEW)
@given(any_text, any_text, any_text.filter(bool).filter(lambda agent: agent != "random"))
def test_a_store_of_any_file_name_keeps_any_tournament_or_says_why_not(
    file: str, name: str, agent: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = value_or_error(Store, str(Path(folder) / file.replace("/", "_")))
        if isinstance(store, CardlabError):
            return
        with store:
            made = {
                "rules": 1,
                "agents": [agent, "random"],
                "deals": 5,
                "seed": 2**62,
                "options": {"seats": 2},
                "format": "round-robin",
            }
            entered = value_or_error(store.enter, "uno", made, [[agent, "random"]], name or None)
            if not isinstance(entered, CardlabError):
                assert store.find(entered.name) == entered
                assert entered.settings == made
