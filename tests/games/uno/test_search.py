"""Search in Uno: play-outs that keep the rules, worlds that keep to what is known."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, HasValues, OpenAgent, State, View
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table, ask
from cardlab.engine.seeding import below
from cardlab.games.uno import cards as uno_cards
from cardlab.games.uno import kernels as uno_rules
from cardlab.games.uno import playouts as uno_playouts
from cardlab.games.uno import worlds as uno_worlds
from cardlab.games.uno.agents.search import LADDER
from cardlab.games.uno.hidden_hands import PILE
from cardlab.games.uno.rules import GAME
from cardlab.testing import check_agent, check_uniform, random_table, retrace
from tests.support.uno_positions import SMALL, kind, kind_set, position, ways_to_lay

pytestmark = pytest.mark.skipif(not JIT, reason="too much searching to interpret")

VARIANTS: list[dict[str, Any]] = [
    {"rules": "rlcard", "seats": 2},
    {"rules": "rlcard", "seats": 5},
    {"rules": "rlcard", "seats": 10},
    {"seats": 2},
    {"seats": 4},
    {"seats": 10},
    {"seats": 2, "keep_drawn": False},
    {"seats": 3, "stacking": True, "target": 500},
    {"seats": 3, "stacking": True, "voluntary_draw": True},
    {"seats": 2, "voluntary_draw": True, "keep_drawn": False},
]


def some_states(options: dict[str, Any], games: int = 3) -> list[State]:
    """Return states with a choice to make."""
    return [
        table.state.copy()
        for seed in range(games)
        for table in retrace(random_table(GAME, options, seed))
        if len(table.state.legal()) > 1
    ]


# Play-outs


def play_by_the_rules(state: State, searcher: int, others_random: bool, rng: Any) -> int:
    """Play a round with the choices of `finish`, but by the game's own rules.

    Returns how often the stock was made anew.
    """
    s = state.array[0]
    voids = int(uno_playouts.known_voids(s))
    weights = uno_playouts.weights_for(s)
    reshuffles = 0
    while state.mover != OVER and s.phase != uno_rules.DEAL:
        logged = int(s.logged)
        if state.mover == DEALER and s.phase == uno_rules.COLOUR:
            order = np.roll(np.arange(108, dtype=np.uint8), -13 * int(below(rng, 4)))
            GAME.bindings.deal(state.array, 0, order)
        elif state.mover == DEALER:
            reshuffles += 1
            other = state.copy().array[0]
            at, end, top = int(s.stock_at), int(s.stock_end), int(s.top)
            end = int(uno_playouts.refill(other, at, end, top, rng))
            uno_rules.reshuffle(s, np.arange(108, dtype=np.uint8))
            there = s.stock[int(s.stock_at) : int(s.stock_end)]
            assert sorted(there) == sorted(other.stock[:end])
            there[:] = other.stock[:end]
            uno_rules.settle(s)
        else:
            seat, legal = state.mover, state.legal().tolist()
            found = sum(1 << action for action in legal if action < uno_cards.DRAW)
            last = legal[-1] if legal[-1] >= uno_cards.DRAW else -1
            if others_random and seat != searcher:
                action = int(uno_playouts.pick(found, last, rng))
            else:
                step = -1 if s.backwards else 1
                action = int(uno_playouts.prefer(s, seat, step, found, last, voids, weights))
            if action == uno_cards.DRAW and not s.stacked and not s.voluntary_draw:
                voids |= 1 << (4 * seat + int(s.colour))
            GAME.bindings.apply(state.array, 0, action)
        for entry in range(logged, int(s.logged)):
            if s.log_what[entry % 64] == uno_rules.TOOK and s.log_more[entry % 64]:
                voids &= ~(15 << (4 * int(s.log_seat[entry % 64])))
    return reshuffles


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_fast_play_outs_keep_the_rules(options: dict[str, Any]) -> None:
    reshuffles = games = 0
    order = np.empty(108, dtype=np.uint8)
    for seed in range(30):
        state = random_table(GAME, options, seed, plies=seed).state
        if state.mover < 0 or state.phase == uno_rules.NAMING:
            continue
        if seed % 2:  # most of the stock on the pile, so that it must be made anew soon
            s = state.array[0]
            while s.stock_end - s.stock_at > 5:
                uno_cards.add(s.cards[PILE], int(s.stock[s.stock_at]))
                s.stock[s.stock_at] = 255
                s.stock_at += 1
        for others_random in (True, False):
            slow, fast = state.copy(), state.copy()
            streams = [np.array([1234 + seed], dtype=np.int64) for _ in range(2)]
            reshuffles += play_by_the_rules(slow, state.mover, others_random, streams[0])
            weights = uno_playouts.weights_for(fast.array[0])
            winner = uno_playouts.finish(
                fast.array[0], state.mover, others_random, weights, order, streams[1]
            )
            assert winner == slow.gone_out
            last = int(slow.top) % uno_cards.ACTIONS
            drawn_for = last in (uno_cards.DRAW_TWO, uno_cards.FOUR)
            if options.get("target") or not drawn_for:  # nobody draws where no points count
                assert streams[0] == streams[1]
                assert fast.cards[: fast.seats].tolist() == slow.cards[: fast.seats].tolist()
                assert fast.sizes.tolist() == slow.sizes.tolist()
            games += 1
    assert games > 20
    assert reshuffles > 5


def test_a_play_out_is_worth_what_the_round_brings() -> None:
    for options in ({"seats": 3}, {"seats": 3, "target": 500}):
        state = random_table(GAME, options, 1, plies=4).state
        s = state.array[0]
        gain = uno_rules.hands_value(s) / 500 if options.get("target") else 1
        assert uno_playouts.worth(s, 0, 0) == pytest.approx(gain)
        assert uno_playouts.worth(s, 0, 1) == pytest.approx(-gain / 2)
        assert uno_playouts.worth(s, 0, 255) == 0


def test_the_policy_keeps_wilds_and_stays_in_its_colours() -> None:
    state = Table(GAME, seed=0).state
    s = state.array[0]
    s.cards[0] = 0
    for name in ("R1", "G1", "G5", "G7", "W"):
        uno_cards.add(s.cards[0], kind(name))
    found = kind_set("R1 G1") | uno_rules.ALL_WILDS
    weights = uno_playouts.WEIGHTS[0, 1]
    assert uno_playouts.prefer(s, 0, 1, found, -1, 0, weights) == kind("G1")
    assert uno_playouts.prefer(s, 0, 1, uno_rules.ALL_WILDS, 60, 0, weights) == 15 + 13
    assert uno_playouts.prefer(s, 0, 1, 0, 60, 0, weights) == 60


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_what_the_weights_expect_is_what_the_policy_does(options: dict[str, Any]) -> None:
    compared = 0
    for state in some_states(options):
        s, legal = state.array[0], state.legal()
        worth = np.zeros(len(legal))
        uno_playouts.expect(state.array, state.mover, legal, worth)
        if s.phase != uno_rules.PLAY or s.stacked or legal[-1] >= uno_cards.DRAW:
            continue
        found = sum(1 << int(action) for action in legal)
        weights = uno_playouts.weights_for(s)
        step = -1 if s.backwards else 1
        voids = int(uno_playouts.known_voids(s))
        choice = uno_playouts.prefer(s, state.mover, step, found, -1, voids, weights)
        assert worth[legal.tolist().index(choice)] == pytest.approx(worth.max())
        compared += 1
    assert compared or options.get("voluntary_draw")


# Worlds


class Worlds:
    """Worlds as the search makes them, each from a bag of its own or one after the other."""

    def __init__(self, known: State | View, seat: int, knows: int, *, steps: int = 0) -> None:
        self.known, self.seat, self.knows, self.steps = known, seat, knows, steps
        self.bags = np.zeros(1, dtype=uno_worlds.BAG)
        self.opened = False

    def imagine(self, rng: np.random.Generator) -> State:
        stream = np.array([rng.integers(1, 1 << 63)], dtype=np.int64)
        bag = self.bags[0]
        if not (self.opened and self.steps):
            copy = self.known.array.copy()
            assert uno_worlds.open_bag(bag, copy[0], self.seat, self.knows, stream)
            self.opened = True
        for step in range(max(1, self.steps)):
            uno_worlds.stir(bag, step % 3 == 0, stream)
            uno_worlds.deal_anew(bag, uno_worlds.DEPTH, stream)
        world = State(GAME, self.known.array.copy())
        uno_worlds.lay_out(bag, world.array[0], self.seat)
        return world


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SMALL if "drawn" not in name])
@pytest.mark.parametrize("steps", [0, 24], ids=["from new bags", "one after the other"])
def test_worlds_are_uniform(name: str, steps: int) -> None:
    view = SMALL[name]
    ways = ways_to_lay(view)
    worlds: Any = Worlds(view, 0, uno_worlds.SEAT, steps=steps)
    check_uniform(worlds, ways, draws=max(6000, 30 * len(set(ways))), seed=3)


def test_worlds_with_the_union_known_are_all_ways_to_split_it() -> None:
    hidden, red_free = "G1 G1 B1 R2 Y1 W", kind_set("R*")
    view = position(hidden, [[(2, red_free)], [(1, kind_set("W")), (1, 0)]])
    truth = State(GAME, view.array.copy())
    s = truth.array[0]
    for seat, names in ((1, "G1 B1"), (2, "R2 Y1")):
        for name in names.split():
            uno_cards.add(s.cards[seat], kind(name))
    s.stock[:2] = [kind("G1"), kind("W")]
    union = [kind(name) for name in ("G1", "B1", "R2", "Y1")]
    ways = []
    for first in range(4):
        for second in range(4):
            for third in range(4):
                if len({first, second, third}) < 3 or kind("R2") in (union[first], union[second]):
                    continue
                for stock in ("G1 W", "W G1"):
                    world = State(GAME, view.array.copy())
                    fourth = 6 - first - second - third
                    for place, seat in ((first, 1), (second, 1), (third, 2), (fourth, 2)):
                        uno_cards.add(world.array[0].cards[seat], union[place])
                    world.array[0].stock[:2] = [kind(name) for name in stock.split()]
                    ways.append(world.array.tobytes())
    for steps in (0, 12):
        worlds: Any = Worlds(truth, 0, uno_worlds.UNION, steps=steps)
        check_uniform(worlds, ways, draws=6000, seed=4)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_worlds_agree_with_what_is_known(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(8)
    for state in some_states(options)[::3]:
        seat = state.mover
        view = state.view(seat)
        others = [other for other in range(state.seats) if other != seat]

        def hands(of: State, others: list[int] = others) -> Counter[int]:
            return Counter(card for k in others for card in uno_cards.cards_in(of.cards[k]))

        def stock(of: State) -> list[int]:
            return of.stock[int(of.stock_at) : int(of.stock_end)].tolist()  # type: ignore[no-any-return]

        for knows in (uno_worlds.SEAT, uno_worlds.UNION, uno_worlds.HANDS):
            known = view if knows == uno_worlds.SEAT else state
            for steps in (0, 2):
                world = Worlds(known, seat, knows, steps=steps).imagine(rng)
                assert world.view(seat).array.tobytes() == view.array.tobytes()
                assert GAME.audit(world.array[0]) == 0
                if knows >= uno_worlds.UNION:
                    assert hands(world) == hands(state)
                    assert sorted(stock(world)) == sorted(stock(state))
                if knows == uno_worlds.HANDS:
                    assert world.cards.tolist() == state.cards.tolist()


def test_a_view_without_any_world_is_one_sentence() -> None:
    view = position("G1 G2 B1", [[(2, kind_set("G*"))]])
    legal = np.array([kind("R1"), kind("R2")])
    rng = np.random.default_rng(0)
    decision = uno_worlds.Decision(view.array, 0, legal)
    with pytest.raises(CardlabError, match="no world agrees with what seat 0 knows"):
        uno_worlds.evaluate(decision, 100, rng, uno_playouts.play_out_random)


# Agents


def swapped(state: State, what: str, seed: int) -> State:
    """Return the state with hidden cards exchanged, as `what` says, and nothing else changed."""
    rng = np.random.default_rng(seed)
    copy = state.copy()
    s = copy.array[0]
    others = [other for other in range(state.seats) if other != state.mover]
    at, end = int(s.stock_at), int(s.stock_end)
    if what == "stock":
        s.stock[at:end] = rng.permutation(s.stock[at:end])
        return copy
    first = others[int(rng.integers(len(others)))]
    mine = int(rng.choice(uno_cards.cards_in(s.cards[first])))
    uno_cards.remove(s.cards[first], mine)
    if what == "hands":
        second = next(other for other in others if other != first)
        theirs = int(rng.choice(uno_cards.cards_in(s.cards[second])))
        uno_cards.remove(s.cards[second], theirs)
        uno_cards.add(s.cards[second], mine)
    else:
        place = int(rng.integers(at, end))
        theirs = int(s.stock[place])
        s.stock[place] = mine
    uno_cards.add(s.cards[first], theirs)
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["official", "rlcard"])
@pytest.mark.parametrize(
    ("name", "same", "different"),
    [
        ("fair", ["stock", "hands", "hand and stock"], []),
        ("uno_union_open", ["stock", "hands"], ["hand and stock"]),
        ("uno_hands_open", ["stock"], ["hands", "hand and stock"]),
        ("uno_deck_open", [], ["stock", "hands", "hand and stock"]),
    ],
)
def test_each_step_sees_what_its_name_says(
    rules: str, name: str, same: list[str], different: list[str]
) -> None:
    agent = find_agent(f"{name}:60", GAME)
    changes: Counter[str] = Counter()
    # Nothing is known of the other hands here, so that any exchange is possible.
    options = {"seats": 3, "rules": rules}
    for seed in range(40):
        state = Table(GAME, seed=seed, options=options).state
        if len(state.legal()) < 2:
            continue
        choice = ask(agent, state, np.random.default_rng(seed))
        for what in (*same, *different):
            other = swapped(state, what, seed)
            changes[what] += ask(agent, other, np.random.default_rng(seed)) != choice
    assert not [what for what in same if changes[what]]
    assert all(changes[what] for what in different)


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 3, 5])
@pytest.mark.parametrize("rules", ["official", "rlcard"])
@pytest.mark.parametrize("name", [name for name, _ in LADDER])
def test_the_agents_keep_the_rules_of_agents(name: str, seats: int, rules: str) -> None:
    for others in (0, 1):

        def make(others: int = others) -> Any:
            return find_agent(f"{name}:40,others={others}", GAME)

        check_agent(make, GAME, {"seats": seats, "rules": rules})


def test_a_match_for_points_can_be_searched() -> None:
    options = {"seats": 3, "target": 500, "stacking": True}
    agents = [find_agent(name, GAME) for name in ("guided:20", "uno_union_open:20", "random")]
    table = Table(GAME, seed=3, options=options)
    rng = np.random.default_rng(3)
    while not table.over and table.state.rounds < 2:
        table.act(ask(agents[table.mover], table.state, rng))
    assert table.state.rounds >= 1


def test_threads_change_nothing_but_the_time() -> None:
    turn = random_table(GAME, {"seats": 4}, 2, plies=3).turn()
    agents = [find_agent(f"guided:3000,threads={threads}", GAME) for threads in (1, 2, 5)]
    assert all(isinstance(agent, HasValues) for agent in agents)
    values = [agent.values(turn, np.random.default_rng(7)) for agent in agents]  # type: ignore[union-attr]
    assert values[0].tolist() == values[1].tolist() == values[2].tolist()


def test_the_values_are_those_of_plain_play_outs() -> None:
    """Means over worlds of the game's own `imagine`, played out one by one, are the same."""
    table = random_table(GAME, {"seats": 3, "rules": "rlcard"}, 4, plies=9)
    while len(table.state.legal()) < 2:
        table.act(int(table.state.legal()[0]))
    turn = table.turn()
    rng = np.random.default_rng(1)
    order = np.empty(108, dtype=np.uint8)
    stream = np.array([5], dtype=np.int64)
    plain = np.zeros(len(turn.legal))
    worlds = 4000
    for _ in range(worlds):
        world = turn.view.imagine(rng)
        for i, action in enumerate(turn.legal):
            after = world.copy()
            GAME.bindings.apply(after.array, 0, int(action))
            plain[i] += uno_playouts.play_out_random(
                after.array[0], turn.seat, order, order, stream
            )
    agent = find_agent(f"guided:{30_000 * len(turn.legal)}", GAME)
    ours = agent.values(turn, np.random.default_rng(2))  # type: ignore[union-attr]
    # Halving tries every action in at least 10,000 worlds; a value has a deviation below 0.75.
    assert ours == pytest.approx(plain / worlds, abs=4.5 * 0.75 * math.sqrt(1 / 4000 + 1 / 10_000))


def test_every_step_of_the_ladder_is_an_agent() -> None:
    known = {entry.name for entry in agents_for(GAME)}
    assert [name for name, _ in LADDER if name in known] == [name for name, _ in LADDER]


def test_only_the_fair_one_is_fair() -> None:
    cheats = [name for name, _ in LADDER if isinstance(find_agent(name, GAME), OpenAgent)]
    assert cheats == [name for name, _ in LADDER if name.endswith("_open")]
    assert cheats == [name for name, _ in LADDER][1:]


@pytest.mark.parametrize("spec", ["guided:0", "guided:100,others=2", "uno_union_open:x"])
def test_impossible_budgets_are_one_sentence(spec: str) -> None:
    with pytest.raises(CardlabError, match="is not allowed; use a whole number from"):
        find_agent(spec, GAME)
