"""The eight strategies of Cribbage and their weights: against plain Python, and interrupted."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.kernel import JIT, bit, kernel
from cardlab.engine.play import Table, ask
from cardlab.engine.registry import find_game
from cardlab.games.cribbage import PACKAGE
from cardlab.games.cribbage.agents import strategies
from cardlab.games.cribbage.agents.expert import laying
from cardlab.games.cribbage.agents.strategies import (
    NUM_STRATEGIES,
    STRATEGIES,
    Scratch,
    Weighted,
    best_choice,
    blended,
    desirabilities,
    load_weights,
    pegging_table,
    pure_weights,
    random_weights,
    weigh,
)
from cardlab.games.cribbage.learning import greedy_pegging, strategy_weights
from cardlab.games.cribbage.learning.strategy_games import agreement, compare, play_match
from cardlab.games.cribbage.learning.strategy_weights import Config, next_entrants
from cardlab.games.cribbage.rules import LAY, LAY_AWAY, PAIRS
from cardlab.games.cribbage.scoring import hand_points
from cardlab.games.cribbage.solvers.hand_statistics import QUADS
from cardlab.learning.runs import load_arrays, read_config
from tests.support import reference_cribbage as reference
from tests.support.killed import train_killed_once

pytestmark = pytest.mark.skipif(not JIT, reason="too many games to interpret")

SMALL = Config(agents=4, games=40, rows=3, swap=7, checkpoint=30, test_deals=4, seed=3)


@pytest.fixture(scope="module")
def cribbage() -> Game:
    return find_game("cribbage")


def quiet(*_: Any) -> None:
    pass


def random_hand(seed: int) -> list[int]:
    return sorted(np.random.default_rng(seed).choice(52, 6, replace=False).tolist())


@kernel
def crib_total(low: int, high: int, hand: int) -> int:
    """Return the points of all cribs with two cards of a hand of six, one by one."""
    total = 0
    for a in range(52):
        for b in range(a + 1, 52):
            for cut in range(52):
                used = bit(a) | bit(b) | bit(cut)
                if cut not in (a, b) and not used & hand:
                    total += hand_points(bit(low) | bit(high) | bit(a) | bit(b), cut, True)
    return total


def plain_wishes(cards: list[int], role: int) -> np.ndarray:
    """Return the strategies' desirabilities from their definitions."""
    ranks_of = [tuple(row) for row in QUADS.tolist()]
    unseen = [card for card in range(52) if card not in cards]
    rows = []
    for laid in combinations(cards, 2):
        kept = [card for card in cards if card not in laid]
        points = [reference.show_points(kept, cut, crib=False) for cut in unseen]
        number = ranks_of.index(tuple(card // 4 for card in kept))
        gained, median, given = pegging_table()[:, role, number]
        crib = crib_total(*laid, sum(1 << card for card in cards))
        hand = [min(points), statistics.mean(points), statistics.median(points), max(points)]
        rows.append([*hand, -crib, gained, median, -given])
    columns = []
    for column in zip(*rows, strict=True):
        low, high = min(column), max(column)
        columns.append([(one - low) / (high - low) if high > low else 1.0 for one in column])
    return np.array(columns).T


@pytest.mark.parametrize("seed", range(8))
def test_every_strategy_wants_what_it_says(seed: int) -> None:
    cards, role = random_hand(seed), seed % 2
    scratch = Scratch.new(5)
    desirabilities(sum(1 << card for card in cards), role, pegging_table(), scratch)
    assert scratch.wanted == pytest.approx(plain_wishes(cards, role))
    assert scratch.wanted.max(axis=0) == pytest.approx(1)


def test_a_strategy_that_does_not_care_wants_everything() -> None:
    scratch = Scratch.new(1)
    cards = [0, 1, 2, 3, 8, 9]
    desirabilities(sum(1 << card for card in cards), 0, np.zeros((3, 2, len(QUADS))), scratch)
    assert (scratch.wanted[:, 5:] == 1).all()
    assert scratch.wanted[:, 1].min() == 0


def test_the_first_of_equal_choices_is_taken() -> None:
    wanted = np.zeros((15, NUM_STRATEGIES))
    wanted[[4, 9], 2] = 1
    even = np.full(NUM_STRATEGIES, 1 / 8)
    assert best_choice(wanted, even) == 4
    wanted[9, 3] = 0.1
    assert best_choice(wanted, even) == 9
    hand = np.array([3, 10, 11, 30, 40, 51])
    for choice, pair in enumerate(combinations(hand.tolist(), 2)):
        assert tuple(PAIRS[laying(hand, choice) - LAY]) == pair


def test_weights_are_those_of_the_cell_and_its_neighbours() -> None:
    weights = random_weights(5, rows=11)
    out = np.zeros(NUM_STRATEGIES)
    for own, other, role in ((0, 0, 0), (120, 5, 1), (60, 119, 1), (33, 32, 0)):
        i, j = own // 11, other // 11
        weigh(weights, own, other, role, 0.0, out)
        assert (out == weights[i, j, role]).all()
        weigh(weights, own, other, role, 0.3, out)
        near = weights[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2, role].sum(axis=(0, 1))
        mixed = 0.7 * weights[i, j, role] + 0.3 * near
        assert out == pytest.approx(mixed / mixed.sum())
        assert (blended(weights, 0.3)[i, j, role] == out).all()
    for rows in (1, 2, 10, 50, 121):
        weigh(random_weights(5, rows=rows), 120, 120, 0, 0.0, out)
        assert out.sum() == pytest.approx(1)


@pytest.mark.parametrize("target", [121, 61])
def test_agents_play_what_their_weights_want(cribbage: Game, target: int) -> None:
    weights = random_weights(2)
    agent = Weighted(weights, "some weights")
    table = Table(cribbage, seed=4, options={"target": target})
    rng = np.random.default_rng(0)
    while not table.over:
        s, seat = table.state.array[0], table.mover
        action = ask(agent, table.state, rng)
        hand = [card for card in range(52) if int(s.hands[seat]) >> card & 1]
        if s.phase == LAY_AWAY:
            scores = [int(s.scores[one]) + 121 - target for one in (seat, 1 - seat)]
            role = int(s.dealer == seat)
            worth = plain_wishes(hand, role) @ weights[scores[0], scores[1], role]
            chosen = table.state.legal().tolist().index(action)
            assert worth[chosen] == pytest.approx(max(worth), abs=1e-12)
        else:
            pile = [int(one) & 63 for one in s.plays[: int(s.play_count)]]
            while sum(map(reference.value, pile)) > int(s.tally):
                pile.pop(0)
            pile = pile if s.tally else []
            gains = {card: reference.play_points([*pile, card]) for card in table.state.legal()}
            assert action == min(gains, key=lambda card: (-gains[card], card))
        table.act(action)


def test_every_strategy_is_an_agent_of_its_name(cribbage: Game) -> None:
    listed = [entry.name for entry in agents_for(cribbage)]
    assert [name for name in listed if name in STRATEGIES] == list(STRATEGIES)
    for number, name in enumerate(STRATEGIES):
        agent = find_agent(name, cribbage)
        assert isinstance(agent, Weighted)
        assert agent.name == name
        assert agent.weights[0, 0, 0, number] == 1
    one, two = (find_agent(f"cribbage_random_weights:{seed}", cribbage) for seed in (1, 2))
    assert isinstance(one, Weighted)
    assert isinstance(two, Weighted)
    assert (one.weights != two.weights).any()


# Learning


class PlainLearner:
    """The same games with the updates written from the equations."""

    def __init__(self, game: Game, config: Config, start: int) -> None:
        self.game, self.config, self.start = game, config, start
        self.weights = [
            random_weights(config.seed, "learner", one, rows=config.rows) for one in range(2)
        ]
        self.values: dict[tuple[int, int, int], float] = {}
        self.visits: dict[tuple[int, int, int], int] = {}
        self.scratch = Scratch.new()

    def play(self, number: int) -> None:
        """Play a game and learn from it."""
        seed = int(seeding.branch(self.start, number))
        self.draws = np.array([seeding.branch(seed, seeding.SEAT)])
        state = self.game.fresh(target=121)
        scores = [seeding.below(self.draws, 121) for _ in range(2)]
        while abs(scores[0] - scores[1]) > self.config.spread:
            scores = [seeding.below(self.draws, 121) for _ in range(2)]
        s = state[0]
        s.scores[:] = scores
        paths: list[list[Any]] = [[], []]
        order, rng = np.zeros(52, dtype=np.uint8), np.zeros(1, dtype=np.int64)
        orders = 0
        while (seat := int(self.game.mover(s))) != -1:
            if seat < 0:
                seeding.deck_order(seed, orders, order, rng)
                self.game.deal(s, order)
                orders += 1
            elif s.phase == LAY_AWAY:
                place = (int(s.scores[seat]), int(s.scores[1 - seat]), int(s.dealer == seat))
                desirabilities(s.hands[seat], place[2], pegging_table(), self.scratch)
                wishes = self.scratch.wanted.copy()
                choice, marks = self.choose(wishes, self.cell(seat, place))
                paths[seat].append((place, marks))
                self.game.apply(s, laying(self.scratch.hand.cards, choice))
            else:
                self.game.apply(s, strategies.greedy_card(s, seat))
        for seat in range(2):
            if self.config.update == "thesis":
                self.learn(seat, paths[seat], int(s.scores[seat]) - int(s.scores[1 - seat]))
            else:
                self.follow(seat, paths[seat], float(s.winner == seat), number)

    def cell(self, seat: int, place: tuple[int, int, int]) -> np.ndarray:
        width = math.ceil(121 / self.config.rows)
        return self.weights[seat][place[0] // width, place[1] // width, place[2]]

    def choose(self, wishes: np.ndarray, w: np.ndarray) -> tuple[int, np.ndarray]:
        config = self.config
        part = 1 << 30
        if config.update == "thesis":
            chance = config.explore - (float(np.var(w)) if config.by_variance else 0)
            if seeding.below(self.draws, part) < chance * part:
                choice = int(seeding.below(self.draws, 15))
            else:
                worth = [sum(a * b for a, b in zip(row, w, strict=True)) for row in wishes]
                choice = worth.index(max(worth))
            return choice, wishes[choice]
        chances = np.exp(config.sharpness * (wishes @ w))
        chances /= chances.sum()
        drawn = seeding.below(self.draws, part) / part
        choice = int((chances.cumsum() <= drawn).sum())
        return choice, wishes[choice] - chances @ wishes

    def learn(self, seat: int, path: list[Any], difference: int) -> None:
        for back, (place, marks) in enumerate(reversed(path)):
            w, best = self.cell(seat, place), marks.max()
            ranked = sorted(range(8), key=lambda k, marks=marks: -marks[k])
            advocates = [k for k in ranked if marks[k] >= 0.7 * best and best > 0][: 8 // 3]
            c = 1 + self.config.rate * difference / 121 * (1 - self.config.decay) ** back
            for k in advocates:
                w[k] = min(self.config.cap or math.inf, c * w[k])
            w[:] = np.maximum(w, self.config.floor)
            w /= w.sum()

    def follow(self, seat: int, path: list[Any], result: float, number: int) -> None:
        step = self.config.step * (1 - number / self.config.games)
        after = result
        for place, marks in reversed(path):
            before = self.values.get(place, 0.5)
            w = self.cell(seat, place)
            w *= np.exp(step * self.config.sharpness * (after - before) * marks)
            w[:] = np.maximum(w, self.config.floor)
            w /= w.sum()
            after = before
        for place, _ in path:
            self.visits[place] = self.visits.get(place, 0) + 1
            before = self.values.get(place, 0.5)
            self.values[place] = before + (result - before) / (self.visits[place] + 10)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"update": "thesis"},
        {"update": "thesis", "rate": 2.0, "by_variance": False, "explore": 0.18, "cap": 0.3},
        {"update": "gradient"},
    ],
)
def test_updates_are_those_of_the_equations(
    cribbage: Game, tmp_path: Path, changes: dict[str, Any]
) -> None:
    config = replace(SMALL, agents=2, games=25, mode="pairs", **changes)
    strategy_weights.train(config, tmp_path, quiet)
    saved = load_arrays(tmp_path / "checkpoint.npz")
    assert saved
    start = seeding.stream(config.seed, "strategy_weights", "bout", 0, 0)
    plain = PlainLearner(cribbage, config, start)
    for number in range(config.games):
        plain.play(number)
    assert saved["weights"] == pytest.approx(np.stack(plain.weights))
    assert saved["weights"] != pytest.approx(
        np.stack([random_weights(3, "learner", one, rows=3) for one in range(2)])
    )
    assert saved["weights"].sum(axis=-1) == pytest.approx(1)


def test_static_opponents_do_not_learn_and_pools_mix(tmp_path: Path) -> None:
    for mode in ("static", "round_robin"):
        strategy_weights.train(replace(SMALL, mode=mode), tmp_path / mode, quiet)
        saved = load_arrays(tmp_path / mode / "checkpoint.npz")
        assert saved
        assert saved["games"] == (160 if mode == "static" else 80)
        assert saved["weights"].shape == (4, 3, 3, 2, 8)
    pairs = {(bout.learner, bout.opponent) for bout in strategy_weights.bouts(SMALL, np.arange(4))}
    assert len(pairs) > 4
    bouts = list(strategy_weights.bouts(SMALL, np.arange(4)))
    assert sum(bout.games for bout in bouts) == 80
    assert all(bout.learner != bout.opponent for bout in bouts)


def test_brackets_find_the_strongest() -> None:
    for seed in range(20):
        strength = np.random.default_rng(seed).permutation(32)

        def beats(one: int, other: int, strength: np.ndarray = strength) -> bool:
            return bool(strength[one] > strength[other])

        entrants, anew = next_entrants(np.arange(32), True, beats)
        assert sorted(entrants) == list(range(32))
        assert set(anew) == set(entrants[16:])
        best_loser = max(anew, key=strength.__getitem__)
        while len(entrants) > 2:
            entrants, gone = next_entrants(entrants, False, beats)
            assert not len(gone)
        assert strength[entrants[0]] == 31
        assert entrants[1] == best_loser


def test_brackets_are_played_to_the_end(tmp_path: Path) -> None:
    config = replace(SMALL, agents=8, games=5, mode="brackets", update="thesis")
    summary = strategy_weights.train(config, tmp_path, quiet)
    assert summary["games"] == (4 + 4 + 2) * 5
    assert summary["champions of winners and losers"].startswith("agents ")
    saved = load_arrays(tmp_path / "checkpoint.npz")
    weights = load_arrays(tmp_path / "weights.npz")
    assert saved
    assert weights
    mean = saved["weights"][saved["entrants"]].mean(axis=0)
    assert (weights["weights"] == mean.astype(np.float16)).all()


def test_a_match_counts_wins_skunks_and_differences(cribbage: Game) -> None:
    names = "hand_max_avg", "pegging_max_avg_gained"
    agents = [find_agent(name, cribbage) for name in names]
    start = seeding.stream(9, "match")
    points, wins, spread = [0, 0], [0, 0], 0
    for number in range(12):
        table = Table(cribbage, seed=int(seeding.branch(start, number)))
        while not table.over:
            table.act(ask(agents[table.mover], table.state, np.random.default_rng(0)))
        s = table.state.array[0]
        difference = int(s.scores[0]) - int(s.scores[1])
        points[int(s.winner)] += 3 if abs(difference) >= 31 else 2
        wins[int(s.winner)] += 1
        spread += difference
    played = play_match(*(pure_weights(name) for name in names), 9, games=12)
    assert played == (tuple(points), tuple(wins), spread)
    assert played.won
    assert played._replace(points=(20, 20)).won == (spread >= 0)


def test_mirrored_games_of_equals_are_even() -> None:
    one, two = random_weights(0), random_weights(1)
    even = compare([one], [one], 20, 0)
    assert (even.share, even.margin, even.spread, even.games) == (0.5, 0, 0, 40)
    there, back = compare([one], [two], 50, 0), compare([two], [one], 50, 0)
    assert there.share + back.share == pytest.approx(1)
    assert agreement(np.stack([one, one]), 50, 0) == 1
    assert 0.3 < agreement(np.stack([one, two]), 300, 0) < 0.95


@pytest.mark.slow
@pytest.mark.parametrize("mode", strategy_weights.MODES)
@pytest.mark.parametrize("update", strategy_weights.UPDATES)
def test_an_interrupted_run_ends_like_an_undisturbed_one(
    tmp_path: Path, mode: str, update: str
) -> None:
    config = replace(SMALL, mode=mode, update=update)
    whole = strategy_weights.train(config, tmp_path / "whole", quiet)

    class Stop(Exception):
        pass

    for stop_at in (30, 60):

        def stop(_: str, done: int, __: int, stop_at: int = stop_at) -> None:
            if done >= stop_at:
                raise Stop

        with pytest.raises(Stop):
            strategy_weights.train(config, tmp_path / "parts", stop)
    assert strategy_weights.train(config, tmp_path / "parts", quiet) == whole
    runs = [load_arrays(tmp_path / name / "checkpoint.npz") for name in ("whole", "parts")]
    assert runs[0]
    assert runs[1]
    for name in runs[0]:
        assert (runs[0][name] == runs[1][name]).all(), name
    files = [
        sorted(one.name for one in (tmp_path / name).rglob("*")) for name in ("whole", "parts")
    ]
    assert files[0] == files[1]
    assert "agent_0_after_000000000030.npz" in files[0]


@pytest.mark.slow
def test_a_killed_training_goes_on(tmp_path: Path) -> None:
    config = Config(agents=2, games=20_000, rows=2, checkpoint=2_000, test_deals=4)
    settings = ["agents=2", "games=20000", "rows=2", "checkpoint=2000", "test_deals=4"]
    second = "history/agent_0_after_000000002000.npz"
    told = train_killed_once("cribbage/strategy_weights", tmp_path / "run", settings, second)
    assert told["games"] == 20_000
    strategy_weights.train(config, tmp_path / "undisturbed", quiet)
    runs = [load_arrays(tmp_path / name / "checkpoint.npz") for name in ("run", "undisturbed")]
    assert runs[0]
    assert runs[1]
    assert (runs[0]["weights"] == runs[1]["weights"]).all()


def test_greedy_pegging_is_counted_round_by_round(cribbage: Game, tmp_path: Path) -> None:
    greedy_pegging.train(greedy_pegging.Config(rounds=3), tmp_path, quiet)
    again = greedy_pegging.train(greedy_pegging.Config(rounds=3), tmp_path, quiet)
    assert again["rounds"] == 2 * 3 * 1820
    saved = load_arrays(tmp_path / "checkpoint.npz")
    table = strategies.load_pegging(tmp_path / "cribbage_greedy_pegging.npz")
    assert saved
    start = seeding.stream(0, "greedy_pegging")
    for quad in (0, 700, 1819):
        for role in range(2):
            rng = np.array([seeding.branch(seeding.branch(start, quad), role)])
            gained, given = [], []
            for _ in range(3):
                state = cribbage.fresh(target=121)
                greedy_pegging.deal_hands(state[0], quad, role, rng)
                hands = [
                    [card for card in range(52) if int(hand) >> card & 1] for hand in state[0].hands
                ]
                assert [card // 4 for card in hands[role]] == QUADS[quad].tolist()
                pegged = plain_pegging(hands)
                gained.append(pegged[role])
                given.append(pegged[1 - role])
            plain = [statistics.mean(gained), statistics.median(gained), statistics.mean(given)]
            assert table[:, role, quad] == pytest.approx(plain, rel=1e-3)


def plain_pegging(hands: list[list[int]]) -> list[int]:
    """Return what two seats peg that take the best card at once; seat 0 leads."""
    left = [list(hand) for hand in hands]
    points, pile, seat, last = [0, 0], [], 0, 0
    while any(left):
        total = sum(map(reference.value, pile))
        fits = [[card for card in hand if total + reference.value(card) <= 31] for hand in left]
        if not any(fits):
            points[last] += total != 31
            pile, seat = [], 1 - last if left[1 - last] else last
            continue
        if not fits[seat]:
            seat = 1 - seat
        card = min(fits[seat], key=lambda one: (-reference.play_points([*pile, one]), one))
        pile.append(card)
        left[seat].remove(card)
        points[seat] += reference.play_points(pile)
        last, seat = seat, 1 - seat
    points[last] += sum(map(reference.value, pile)) != 31
    return points


def test_mistakes_are_one_sentence(tmp_path: Path, cribbage: Game) -> None:
    strategy_weights.train(SMALL, tmp_path, quiet)
    with pytest.raises(CardlabError, match=r"holds a run with other settings \(seed\)"):
        strategy_weights.train(replace(SMALL, seed=4), tmp_path, quiet)
    for text, message in (
        ("update=newton", "update 'newton' is not known; use thesis or gradient"),
        ("mode=alone", "mode 'alone' is not known; use one of pairs, static"),
        ("agents=3", "agents=3 do not pair off; use an even number"),
        ("games=0", "must be 1 or more"),
        ("rows=122", "rows must be between 1 and 121"),
        ("explore=2", "decay, explore, blend and cap must be between 0 and 1"),
        ("floor=0.2", "floor between 0 and 0.125"),
        ("step=0", "rate, step and sharpness must be above 0"),
        ("blend=0.5", "blend belongs to update=thesis"),
    ):
        with pytest.raises(CardlabError, match=message):
            strategy_weights.train(read_config(Config, [text]), tmp_path / "other", quiet)
    with pytest.raises(CardlabError, match="agents=6 make no brackets; use a power of two"):
        strategy_weights.train(Config(mode="brackets", agents=6), tmp_path / "other", quiet)
    with pytest.raises(CardlabError, match="rounds must be 1 or more"):
        greedy_pegging.train(greedy_pegging.Config(rounds=0), tmp_path / "other", quiet)
    bad = tmp_path / "bad.npz"
    bad.write_text("no table")
    with pytest.raises(CardlabError, match="holds no weights of strategies"):
        load_weights(bad)
    with pytest.raises(CardlabError, match="holds no table of pegging"):
        strategies.load_pegging(bad)
    np.savez(bad, weights=np.ones((3, 2, 2, 8)))
    with pytest.raises(CardlabError, match=r"shape \(3, 2, 2, 8\); needed are \(n, n, 2, 8\)"):
        load_weights(bad)
    np.savez(bad, weights=-np.ones((3, 3, 2, 8)))
    with pytest.raises(CardlabError, match="weights below 0"):
        load_weights(bad)
    with pytest.raises(CardlabError, match="seed=-1 of agent 'cribbage_random_weights:-1'"):
        find_agent("cribbage_random_weights:-1", cribbage)


def test_the_shipped_tables_are_what_their_descriptions_say(cribbage: Game) -> None:
    for name in ("strategy_weights", "greedy_pegging"):
        origin = json.loads(PACKAGE.shipped(f"{name}.json").read_text())
        assert origin["rules"] == cribbage.rules_version
        assert origin["command"].startswith("cardlab train cribbage/")
    origin = json.loads(PACKAGE.shipped("strategy_weights.json").read_text())
    agent = find_agent("cribbage_weighted", cribbage)
    assert isinstance(agent, Weighted)
    assert len(agent.weights) == origin["config"]["rows"]
    assert agent.weights.sum(axis=-1) == pytest.approx(1)
