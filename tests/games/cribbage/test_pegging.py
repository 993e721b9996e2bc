"""Learned, mixed and searched pegging: kernels against plain Python, runs against interruption."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import find_agent
from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Agent, Game, State, Turn
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table, ask
from cardlab.engine.registry import find_game
from cardlab.games.cribbage import pegging_features, pegging_ntuples
from cardlab.games.cribbage.agents import pegging
from cardlab.games.cribbage.agents.pegging import (
    SCALE,
    WON,
    CardScratch,
    Pegger,
    load_mix,
    load_values,
    rank_worth,
    shipped_mix,
    shipped_values,
)
from cardlab.games.cribbage.learning import pegging_mix, pegging_values
from cardlab.games.cribbage.learning.pegging_deals import (
    DealScratch,
    deal_and_lay,
    measure_deals,
    measure_games,
)
from cardlab.games.cribbage.paper.pegging import PLAYERS, compare, markdown
from cardlab.games.cribbage.pegging_features import (
    NUM_FEATURES,
    NUM_STAGES,
    stage_of,
    write_features,
)
from cardlab.games.cribbage.pegging_ntuples import NUM_TUPLES, NUM_WEIGHTS, weight_indices
from cardlab.games.cribbage.rules import LAY_AWAY, PLAY
from cardlab.learning import all_trainings, find_training
from cardlab.learning.runs import load_arrays, provenance, read_config
from cardlab.testing import random_table, retrace
from tests.support.killed import train_killed_once
from tests.support.reference_cribbage import play_points, value

compiled = pytest.mark.skipif(not JIT, reason="too much to interpret")


@pytest.fixture(scope="module")
def cribbage() -> Game:
    return find_game("cribbage")


def quiet(*_: Any) -> None:
    pass


def cards_of(mask: int) -> list[int]:
    return [card for card in range(52) if int(mask) >> card & 1]


def plays_of(game: Game, seeds: range) -> list[State]:
    """Return states of the play, of random games."""
    return [
        table.state.copy()
        for seed in seeds
        for table in retrace(random_table(game, {}, seed))
        if table.mover >= 0 and table.state.array[0].phase == PLAY
    ]


def some_plays(game: Game) -> list[State]:
    return plays_of(game, range(4)) if JIT else plays_of(game, range(1))[:12]


@dataclass
class Seen:
    """What a seat sees of the play, in plain lists."""

    hand: list[int]
    pile: list[int]
    shown: list[int]
    left: int
    floor: int
    unseen: list[int]

    @classmethod
    def of(cls, s: Any, seat: int) -> Seen:
        cards = [int(play) & 63 for play in s.plays[: int(s.play_count)]]
        pile: list[int] = []
        while sum(map(value, pile)) != s.tally:
            pile.insert(0, cards[-1 - len(pile)])
        known = {*cards_of(s.hands[seat]), *cards_of(s.laid[seat]), *cards, int(s.starter)}
        other = 1 - seat
        return cls(
            cards_of(s.hands[seat]),
            pile,
            cards_of(s.played[other]),
            int(s.sizes[other]),
            int(s.floors[other]),
            [card for card in range(52) if card not in known],
        )


RANK_SETS = [
    ranks
    for size in range(4)
    for ranks in sorted(combinations_with_replacement(range(13), size), key=lambda r: r[::-1])
]


def plain_set(cards: Sequence[int]) -> int:
    return RANK_SETS.index(tuple(sorted(card // 4 for card in cards)))


def mixed_number(*digits: tuple[int, int]) -> int:
    """Return a number of digits, each with how many values it has, the greatest first."""
    number = 0
    for digit, size in digits:
        assert 0 <= digit < size
        number = number * size + digit
    return number


def plain_indices(seen: Seen, card: int) -> list[int]:
    rest = (plain_set([one for one in seen.hand if one != card]), 560)
    pile = [*seen.pile, card]
    tally = sum(map(value, pile))
    if tally == 31:
        tally, pile = 0, []
    latest = [0] * 4
    for place, one in enumerate(reversed(pile[-4:])):
        latest[place] = one // 4 + 1
    last, second, third, fourth = ((rank, 14) for rank in latest)
    left = (seen.left, 5)
    shown = (plain_set(seen.shown) if seen.left else 0, 560)
    floor = (seen.floor, 11)
    count = (tally, 32)
    alike = sum(one // 4 == latest[0] - 1 for one in seen.unseen)
    need = (15 if tally < 15 else 31) - tally
    making = sum(value(one) == need for one in seen.unseen) if tally else 0
    numbers = [
        mixed_number(rest, count, left),
        mixed_number(rest, last, second),
        mixed_number(last, second, third, count, left),
        mixed_number(shown, last, count),
        mixed_number(shown, rest),
        mixed_number(last, second, third, fourth, rest, left),
        mixed_number(rest, floor, left, (int(tally == 0), 2)),
        mixed_number(last, (alike, 4), count, left),
        mixed_number(count, (making, 17), left, last),
        mixed_number(shown, floor, count, last, second),
    ]
    sizes = pegging_ntuples.TABLE_SIZES.tolist()
    starts = [sum(sizes[:part]) for part in range(len(sizes))]
    return [
        start + number % size for start, number, size in zip(starts, numbers, sizes, strict=True)
    ]


def test_weight_indices_as_in_plain_python(cribbage: Game) -> None:
    out = np.zeros(NUM_TUPLES, dtype=np.int64)
    met = set()
    for state in some_plays(cribbage):
        view, seat = state.view(state.mover).array, state.mover
        seen = Seen.of(view[0], seat)
        for card in state.legal().tolist():
            weight_indices(view[0], seat, card, out)
            assert out.tolist() == plain_indices(seen, card)
            met.update(out.tolist())
    assert max(met) < NUM_WEIGHTS
    assert len(met) > 50


def plain_features(seen: Seen, card: int) -> list[float]:
    rest = [one for one in seen.hand if one != card]
    pile = [*seen.pile, card]
    tally = sum(map(value, pile))
    found = dict.fromkeys(pegging_features.FEATURES, 0.0)
    found["points"] = play_points(pile)
    found["height"] = value(card) / 10
    found["lows"] = sum(value(one) <= 4 for one in rest)
    found["trap"] = float(tally in (5, 21))
    found["pair"] = float(any(one // 4 == card // 4 for one in rest))
    if seen.left:
        if tally == 31:
            tally, pile = 0, []
        possible = [one for one in seen.unseen if value(one) > seen.floor]
        able = [one for one in possible if tally + value(one) <= 31]
        unable = len(possible) - len(able)
        found["go"] = comb(unable, seen.left) / comb(len(possible), seen.left)
        if any(tally + value(one) <= 31 for one in rest):
            found["on"] = found["go"]
        for reply in able:
            points = play_points([*pile, reply])
            found["reply"] += points * seen.left / len(possible)
            found["dread"] = max(found["dread"], points)
            after = tally + value(reply)
            answers = [
                play_points([*pile, reply, one])
                for one in rest
                if after < 31 and after + value(one) <= 31
            ]
            found["counter"] += max(answers, default=0) / len(able)
    return list(found.values())


def test_features_as_in_plain_python(cribbage: Game) -> None:
    out = np.zeros(NUM_FEATURES)
    rows = []
    for state in some_plays(cribbage):
        view, seat = state.view(state.mover).array, state.mover
        seen = Seen.of(view[0], seat)
        for card in state.legal().tolist():
            write_features(view[0], seat, card, out)
            assert out.tolist() == pytest.approx(plain_features(seen, card))
            rows.append(out.copy())
    assert not JIT or (np.ptp(rows, axis=0) > 0).all(), "a term that never varies"


def test_stages_by_the_scores_before_the_deal(cribbage: Game) -> None:
    state = plays_of(cribbage, range(1))[0]
    s = state.array[0]
    for own, other, stage in ((0, 105, 0), (106, 105, 1), (105, 106, 2), (120, 106, 3)):
        s.before[0], s.before[1] = own, other
        assert stage_of(s, 0) == stage
        assert stage_of(s, 1) == (0, 2, 1, 3)[stage]
        s.target, s.before[0], s.before[1] = 61, max(own - 60, 0), other - 60
        assert stage_of(s, 0) == stage
        s.target = 121


def test_what_a_card_is_worth(cribbage: Game) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=NUM_WEIGHTS).astype(np.float32)
    mix = rng.normal(size=(2, NUM_STAGES, NUM_FEATURES))
    work = CardScratch.new()
    for state in some_plays(cribbage)[::3]:
        view, seat = state.view(state.mover).array, state.mover
        s = view[0]
        if s.scores[seat] > 90:
            continue
        s.scores[seat], s.before[seat], s.before[1 - seat] = 90, 90, 110
        seen = Seen.of(s, seat)
        for card in state.legal().tolist():
            points = play_points([*seen.pile, card])
            promised = float(sum(values[place] for place in plain_indices(seen, card)))
            learned = rank_worth(s, seat, card, Pegger.learned(values), work)
            assert learned == pytest.approx(points + promised, abs=1e-4)
            weights = mix[int(s.dealer == seat), 2]
            mixed = rank_worth(s, seat, card, Pegger.mixed(mix), work)
            assert mixed == pytest.approx(float(weights @ plain_features(seen, card)))
            if points:
                s.scores[seat] = 121 - points
                assert rank_worth(s, seat, card, Pegger.learned(values), work) == WON
                s.scores[seat] = 90


# Learning


def plain_course(first: Any, chosen: list[tuple[int, int]]) -> tuple[Any, Any]:
    """Return r and d of every card by seat, from the cards that were played, counted anew."""
    hands = [cards_of(first.hands[seat]) for seat in range(2)]
    pile: list[int] = []
    points: tuple[list[float], list[float]] = ([], [])
    later: tuple[list[float], list[float]] = ([], [])
    for seat, card in chosen:
        hands[seat].remove(card)
        pile.append(card)
        tally = sum(map(value, pile))
        gained = play_points(pile)
        go = 0
        stuck = not any(tally + value(one) <= 31 for hand in hands for one in hand)
        if tally == 31 or stuck:
            go = int(tally != 31)
            pile = []
        points[seat].append(gained)
        later[seat].append(go)
        if later[1 - seat]:
            later[1 - seat][-1] -= gained + go
    return points, later


@compiled
def test_a_deal_teaches_as_in_plain_python() -> None:
    """Targets, coherence and steps, from weights at random and with much exploration."""
    rng = np.random.default_rng(5)
    table = pegging_values.Table.new()
    table.weights[:] = rng.normal(size=NUM_WEIGHTS) / 10
    table.errors[:] = rng.normal(size=NUM_WEIGHTS)
    table.sizes[:] = np.abs(table.errors) * 2 * rng.integers(0, 2, NUM_WEIGHTS)
    desk, course = DealScratch.new(), pegging_values.Trajectory.new()
    explored = 0
    for number in range(60):
        weights, errors, sizes = (one.astype(np.float64) for one in table)
        before = weights.copy()
        seed = seeding.stream(3, number)
        deal_and_lay(seed, desk)
        first = desk.states[:1].copy()
        s = desk.states[0]
        desk.rng[0] = seed
        pegging_values.play_deal(
            s, pegging_values.RANDOM_RESOLUTION // 2, table.weights, course, desk.rng
        )
        chosen = [(int(play) >> 6, int(play) & 63) for play in s.plays[:7]]
        chosen.append((int(s.seat), cards_of(s.hands[0] | s.hands[1])[0]))
        points, later = plain_course(first[0], chosen)
        for seat in range(2):
            n = len(points[seat])
            assert n == course.counts[seat] == 4
            assert course.points[seat].tolist() == points[seat]
            assert course.later[seat].tolist() == later[seat]
            explored += int((~course.greedy[seat]).sum())
            worth = 0.0
            for card in reversed(range(4)):
                places = course.indices[seat, card]
                assert course.values[seat, card] == pytest.approx(before[places].sum(), abs=1e-4)
                target = later[seat][card] + worth
                error = target - course.values[seat, card]
                for place in places:
                    step = abs(errors[place]) / sizes[place] if sizes[place] else 1
                    weights[place] += 0.5 * step * error / NUM_TUPLES
                    errors[place] += error
                    sizes[place] += abs(error)
                best = float(course.bests[seat, card])
                assert best >= points[seat][card] + course.values[seat, card] - 1e-9
                if course.greedy[seat, card]:
                    worth = 0.7 * best + 0.3 * (points[seat][card] + target)
                else:
                    worth = best
            pegging_values.learn(seat, 0.5, 0.3, table, course)
        for ours, theirs in zip(table, (weights, errors, sizes), strict=True):
            assert np.abs(ours - theirs).max() < 1e-3
    assert 20 < explored < 300


@pytest.mark.slow
@compiled
def test_learning_finds_more_than_greed(tmp_path: Path) -> None:
    config = pegging_values.Config(deals=60_000, checkpoint=30_000, test_deals=8_000, test_games=2)
    pegging_values.train(config, tmp_path, quiet)
    curve = json.loads((tmp_path / "curve.json").read_text())
    assert [row["deals"] for row in curve] == [0, 30_000, 60_000]
    assert curve[0]["points more than greedy"] == 0, "without knowledge it is greedy"
    assert curve[-1]["points more than greedy"] - 2 * curve[-1]["margin"] > 0.4
    small = (tmp_path / "cribbage_pegging_values.npz").stat().st_size
    assert small < 2_000_000
    agent = pegging.learned(tmp_path / "cribbage_pegging_values.npz")
    saved = load_arrays(tmp_path / "checkpoint.npz")
    assert saved
    assert np.abs(agent.pegger.values - saved["weights"]).max() <= 0.5 / SCALE + 1e-6


@pytest.mark.slow
@compiled
def test_a_mix_learns_defence(tmp_path: Path) -> None:
    config = pegging_mix.Config(
        generations=3,
        population=16,
        elite=4,
        deals=200,
        near_deals=20,
        test_deals=8_000,
        test_games=2,
    )
    summary = pegging_mix.train(config, tmp_path, quiet)
    assert sum(name.startswith(("pone, ", "dealer, ")) for name in summary) == 8
    curve = json.loads((tmp_path / "curve.json").read_text())
    assert curve[-1]["points more than greedy"] - 2 * curve[-1]["margin"] > 0.3
    mix = load_mix(tmp_path / "cribbage_pegging_mix.npz")
    assert (mix[:, :, 0] == 1).all()
    assert (mix[:, 0, 1] + mix[:, 0, 2] < 0).all(), "replies are to be feared"


@compiled
def test_deals_of_a_mix_start_in_their_cell() -> None:
    desk = DealScratch.new()
    for role in range(2):
        for stage in range(NUM_STAGES):
            deals = np.zeros(40, dtype=find_game("cribbage").state)
            pegging_mix.start_deals(seeding.stream(1), role, stage, desk, deals)
            for s in deals:
                assert (s.phase, s.sizes.tolist(), int(s.play_count)) == (PLAY, [4, 4], 0)
                assert int(s.dealer == 0) == role
                assert stage_of(s, 0) == stage
                jack = 2 if int(s.starter) // 4 == 10 else 0
                gained = (s.scores - s.before).tolist()
                assert gained == ([jack, 0] if role else [0, jack])


@compiled
def test_the_chance_after_a_deal(cribbage: Game) -> None:
    """A table of chances that tells scores and role apart shows which entry was read."""
    desk = DealScratch.new()
    own, other = np.meshgrid(np.arange(121), np.arange(121), indexing="ij")
    told = np.stack([own + 1000 * other, -(own + 1000 * other)], axis=2).astype(np.float64)
    player = Pegger.mixed(shipped_mix())
    for role in range(2):
        for stage in range(NUM_STAGES):
            deals = np.zeros(1, dtype=cribbage.state)
            for number in range(10):
                pegging_mix.start_deals(seeding.stream(2, number), role, stage, desk, deals)
                state = State(cribbage, deals.copy())
                agent = find_agent("cribbage_mixed_pegging", cribbage)
                s = state.array[0]
                while s.phase == PLAY:
                    cribbage.bindings.apply(
                        state.array, 0, ask(agent, state, np.random.default_rng(0))
                    )
                found = pegging_mix.chance_after(deals, role, player, told, desk)
                if s.winner != 255:
                    assert found == (1 if s.winner == 0 else 0)
                else:
                    scores = int(s.scores[0]) + 1000 * int(s.scores[1])
                    assert found == (scores if role == 1 else -scores)


SMALL = (
    (pegging_values, "deals=4000 checkpoint=500 test_deals=200 test_games=200"),
    (
        pegging_mix,
        "generations=6 population=4 elite=2 deals=50 near_deals=50 test_deals=20 test_games=20",
    ),
)


@pytest.mark.slow
@compiled
@pytest.mark.parametrize(("module", "settings"), SMALL, ids=["values", "mix"])
def test_a_killed_training_goes_on(module: ModuleType, settings: str, tmp_path: Path) -> None:
    what = {place: name for name, place in all_trainings().items()}[module.__name__]
    told = train_killed_once(what, tmp_path / "run", settings.split(), "curve.json")
    whole = module.train(
        read_config(module.Config, settings.split()), tmp_path / "undisturbed", quiet
    )
    assert told == whole
    for name in (f"{module.TABLE}.npz", "checkpoint.npz"):
        one, other = (load_arrays(tmp_path / run / name) for run in ("run", "undisturbed"))
        assert one
        assert other
        assert one.keys() == other.keys()
        for key in one:
            assert np.array_equal(one[key], other[key]), key
    curves = [(tmp_path / run / "curve.json").read_text() for run in ("run", "undisturbed")]
    assert curves[0] == curves[1]


# Agents


def test_all_lay_away_alike(cribbage: Game) -> None:
    agents = [find_agent(spec, cribbage) for spec in PLAYERS.values()]
    for seed in range(60 if JIT else 1):
        table = Table(cribbage, seed=seed)
        while table.state.array[0].phase == LAY_AWAY:
            choices = {ask(agent, table.state, np.random.default_rng(0)) for agent in agents}
            assert len(choices) == 1
            table.act(choices.pop())


@compiled
def test_games_in_kernels_are_those_at_a_table(cribbage: Game) -> None:
    names = ("cribbage_learned_pegging", "cribbage_mixed_pegging")
    agents = [find_agent(name, cribbage) for name in names]
    peggers = (
        Pegger.learned(shipped_values()),
        Pegger.mixed(shipped_mix()),
    )
    won = 0
    for number in range(10):
        seed = int(seeding.branch(seeding.stream(4, "pegging_games"), number))
        for side in range(2):
            table = Table(cribbage, seed=seed)
            while not table.over:
                agent = agents[0 if table.mover == side else 1]
                table.act(ask(agent, table.state, np.random.default_rng(0)))
            won += int(table.state.array[0].winner == side)
    measured = measure_games(*peggers, 10, 4)
    assert (round(measured.mean * 20), measured.number) == (won, 20)
    even = measure_deals(peggers[0], peggers[0], 50, 9)
    assert (even.mean, even.margin) == (0, 0)


@compiled
def test_shipped_tables_beat_greed() -> None:
    for pegger in (
        Pegger.learned(shipped_values()),
        Pegger.mixed(shipped_mix()),
    ):
        deals = measure_deals(pegger, Pegger.greedy(), 2_000, 123)
        assert deals.mean - 2 * deals.margin > 0.4
        games = measure_games(pegger, Pegger.greedy(), 1_000, 123)
        assert games.mean - 2 * games.margin > 0.55


@compiled
def test_values_are_returns_and_agree_with_choices(cribbage: Game) -> None:
    agent = pegging.learned()
    rng = np.random.default_rng(0)
    for seed in range(4):
        for table in list(retrace(random_table(cribbage, {}, seed)))[::5]:
            if table.mover < 0:
                continue
            state = table.state
            turn = Turn(state.game, state.mover, state.view(state.mover), state.legal())
            values = agent.values(turn, rng)
            assert values.shape == turn.legal.shape
            assert (np.abs(values) <= 1).all()
            choice = turn.legal.tolist().index(agent.act(turn, rng))
            assert values[choice] == pytest.approx(values.max())


@compiled
def test_a_comparison_has_a_row_for_every_pair() -> None:
    seen: list[tuple[str, int, int]] = []
    rows = compare(20, 3, progress=lambda *at: seen.append(at))
    assert len(rows) == 6
    assert len({frozenset(row.pair) for row in rows}) == 6
    assert {at[0] for at in seen} == {" against ".join(row.pair) for row in rows}
    for row in rows:
        assert row.games == 20
        assert 0 <= row.share <= 1
        assert row.interval is None or row.interval[0] <= row.share <= row.interval[1]
        assert min(row.milliseconds) > 0
    table = markdown(rows)
    assert len(table.splitlines()) == 8
    assert f"| {100 * rows[0].share:.1f}" in table


# Borders


def test_tables_that_are_none(tmp_path: Path) -> None:
    bad = tmp_path / "bad.npz"
    bad.write_text("no table")
    with pytest.raises(CardlabError, match="holds no learned weights of the play"):
        load_values(bad)
    np.savez(bad, weights=np.zeros(3, dtype=np.int16), mix=np.zeros((2, 3)))
    with pytest.raises(CardlabError, match=r"of shape \(3,\); needed is \(1094423,\)"):
        load_values(bad)
    with pytest.raises(CardlabError, match=r"of shape \(2, 3\); needed is \(2, 4, 10\)"):
        load_mix(bad)
    with pytest.raises(CardlabError, match="holds no weights of offence and defence"):
        load_mix(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("module", "setting", "sentence"),
    [
        (pegging_values, "deals=0", "must be 1 or more"),
        (pegging_values, "explore=2", "explore and trace must be between 0 and 1"),
        (pegging_values, "rate=0", "rate must be above 0 and at most 1"),
        (pegging_mix, "generations=0", "must be 1 or more"),
        (pegging_mix, "elite=65", "elite must be 2 or more and at most the population"),
        (pegging_mix, "sigma=0", "sigma and near_sigma must be above 0"),
    ],
)
def test_settings_that_make_no_sense(
    module: ModuleType, setting: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(CardlabError, match=sentence):
        module.train(read_config(module.Config, [setting]), tmp_path / "run", quiet)
    assert not (tmp_path / "run").exists()


def test_a_command_names_every_setting(cribbage: Game) -> None:
    config = pegging_values.Config(deals=5, trace=0.25)
    told = provenance(cribbage, "cardlab train cribbage/pegging_values", config)
    assert told["command"] == "cardlab train cribbage/pegging_values --set deals=5 --set trace=0.25"


ROOT = Path(pegging.__file__).parents[1]


@pytest.mark.parametrize(
    "path",
    sorted([*(ROOT / "solvers" / "tables").glob("*.npz"), *(ROOT / "agents/tables").glob("*.npz")]),
    ids=lambda path: path.stem,
)
def test_every_shipped_table_can_be_made_again(path: Path) -> None:
    """The command beside a table gives the configuration beside it, nothing left out."""
    told = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    words = shlex.split(told["command"])
    assert words[:2] == ["cardlab", "train"]
    assert set(words[3::2]) <= {"--set"}
    kind = find_training(words[2]).Config
    assert read_config(kind, words[4::2]) == kind(**told["config"])
    assert told["rules"] == find_game(told["game"]).rules_version
    assert len(told["commit"]) >= 12
    strength = told["strength"]
    assert strength["games"] >= 1000
    assert strength["seed"] >= 0
    assert " ± " in strength["score"]
    for name in (strength["agent"], strength["against"]):
        assert isinstance(find_agent(name, find_game(told["game"])), Agent)
