"""Names of the Python reference that no other test needs: what each promises in its sentence."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.agents.catalog import agents_for, find_agent
from cardlab.agents.outside import (
    DEFAULT_LIMITS,
    PROTOCOL,
    Limits,
    OutsideAgent,
    Program,
    dismiss_all,
)
from cardlab.arena import export, leaderboard, sprt, tournament
from cardlab.arena.compliance import Finding, check_program
from cardlab.arena.match import Match, MatchResult, Standing, play_match
from cardlab.arena.store import Entered, Store, default_store
from cardlab.arena.workers import default_workers, joined_cluster
from cardlab.engine import kernel
from cardlab.engine.batch import Batch, BatchKernels, make_batch_kernels
from cardlab.engine.cards import parse_card
from cardlab.engine.errors import CardlabError, CardlabWarning, suggest
from cardlab.engine.game import ActsInBatches, FollowsGames, Game, PlansAhead, State, Turns
from cardlab.engine.manifest import Parameter
from cardlab.engine.observation import Block, from_kernel
from cardlab.engine.play import Table, open_game, play_game
from cardlab.engine.playouts import Playouts, Scratch, choose_any, make_playouts
from cardlab.engine.registry import find_game, import_named, our_games
from cardlab.engine.statistics import mean_and_interval
from cardlab.games.cribbage.scoring import (
    HAND_SIZE,
    LIMIT,
    Pegged,
    Row,
    card_value,
    explain,
    explain_deal,
    explain_in_words,
    explain_play,
)
from cardlab.games.cribbage.solvers.advice import Choice, advise, parse_hand
from cardlab.search import alpha_beta, determinised, monte_carlo
from cardlab.show import pictures
from tests.support.paths import EXAMPLES

FIRST_LEGAL = str(EXAMPLES / "first_legal.sh")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="programs of POSIX systems")


def parse_cards(text: str) -> list[int]:
    return [parse_card(one) for one in text.split()]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# Batches


def test_a_step_in_some_rows_leaves_the_others(crazy_eights: Game) -> None:
    some, all_rows, untouched = (Batch(crazy_eights, 5, seed=3) for _ in range(3))
    actions = some.mask.argmax(axis=1)
    rows = np.array([1, 4])
    others = np.array([0, 2, 3])
    some.step_some(rows, actions)
    all_rows.step(actions)
    for name in ("states", "mover", "mask"):
        assert np.array_equal(getattr(some, name)[rows], getattr(all_rows, name)[rows])
        assert np.array_equal(getattr(some, name)[others], getattr(untouched, name)[others])
    actions = some.mask.argmax(axis=1)
    actions[4] = -1
    with pytest.raises(CardlabError, match="row 4"):
        some.step_some(rows, actions)
    assert np.array_equal(some.mover[others], untouched.mover[others])


def test_some_rows_begin_anew(crazy_eights: Game) -> None:
    batch = Batch(crazy_eights, 3, seed=3)
    batch.step(batch.mask.argmax(axis=1))
    before = batch.states.copy()
    rows, seeds = np.array([0, 2]), np.array([17, 18])
    batch.restart(rows, seeds)
    fresh = Batch(crazy_eights, 2, seeds=seeds)
    for name in ("states", "mover", "mask", "deals"):
        assert np.array_equal(getattr(batch, name)[rows], getattr(fresh, name))
    assert batch.states[1] == before[1]


def test_kernels_of_a_batch_find_the_first_illegal_action(crazy_eights: Game) -> None:
    kernels = make_batch_kernels(crazy_eights)
    assert isinstance(kernels, BatchKernels)
    assert kernels is make_batch_kernels(crazy_eights)  # compiled once
    batch = Batch(crazy_eights, 4)
    actions = batch.mask.argmax(axis=1)
    assert kernels.find_illegal(0, batch.size, batch.mover, batch.mask, actions) == -1
    actions[2:] = batch.mask[2:].argmin(axis=1)
    assert kernels.find_illegal(0, batch.size, batch.mover, batch.mask, actions) == 2


def test_many_turns_are_answered_as_one_by_one(crazy_eights: Game) -> None:
    agent = find_agent("heuristic", crazy_eights)
    assert isinstance(agent, ActsInBatches)
    tables = [Table(crazy_eights, seed=seed) for seed in range(3)]
    turns = Turns(
        crazy_eights,
        np.array([table.mover for table in tables]),
        np.concatenate([table.turn().view.array for table in tables]),
        np.array([np.isin(np.arange(crazy_eights.num_actions), t.turn().legal) for t in tables]),
    )
    assert len(turns) == 3
    alone = [agent.act(table.turn(), rng(seed)) for seed, table in enumerate(tables)]
    assert agent.act_many(turns, [rng(seed) for seed in range(3)]).tolist() == alone


# Games and agents


class Diary:
    """Takes the first action and writes down what it is told."""

    name = "diary"

    def __init__(self) -> None:
        self.pages: list[Any] = []

    def begin(self, game: Game, options: Any, seat: int, seats: int, rng: Any) -> None:
        self.pages.append((game.name, options["seats"], seat, seats))

    def act(self, turn: Any, rng: Any) -> int:
        return int(turn.legal[0])

    def end(self, seat: int, returns: Any, points: Any) -> None:
        self.pages.append(("end", seat, list(returns)))


def test_agents_that_follow_games_hear_of_beginning_and_end(crazy_eights: Game) -> None:
    diary = Diary()
    other = find_agent("random", crazy_eights)
    assert isinstance(diary, FollowsGames)
    assert not isinstance(other, FollowsGames)
    open_game(Table(crazy_eights, seed=1), [other, diary], [rng(), rng()])
    assert diary.pages == [("crazy_eights", 2, 1, 2)]
    record = play_game(crazy_eights, [other, diary], seed=1)
    assert record.result is not None
    assert diary.pages[1:] == [diary.pages[0], ("end", 1, record.result.returns)]


def test_a_plan_to_the_end_is_as_good_as_move_by_move() -> None:
    game = find_game("birds_of_a_feather")
    solver = find_agent("solver", game)
    assert isinstance(solver, PlansAhead)
    table = Table(game, seed=123)
    actions, nodes = solver.plan(table.turn(), rng())
    assert nodes > 0
    for action in actions:
        table.act(action)
    assert table.over
    assert table.record(["solver"]).result == play_game(game, [solver], seed=123).result


def test_options_and_parameters_say_what_they_allow(crazy_eights: Game) -> None:
    texts = {one.name: one.allowed_text for one in crazy_eights.options}
    assert texts["seats"] == "a whole number from 2 to 4"
    assert texts["reshuffle"] == "true or false"
    depth = Parameter("depth", 4, 1, "plies", high=12)
    assert depth.read("7", "x") == 7
    with pytest.raises(CardlabError, match="depth=13 of agent 'x' is not allowed; use a whole"):
        depth.read("13", "x")
    parameters = [
        each
        for name in our_games()
        for entry in agents_for(find_game(name))
        for each in entry.parameters
    ]
    assert all(one.low <= one.default <= one.high for one in parameters)


def test_modules_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "lying_here.py").write_text("THING = 7\n")
    assert import_named("lying_here:THING", "game") == 7
    with pytest.raises(CardlabError, match="game 'lying_here:OTHER': lying_here has no 'OTHER'"):
        import_named("lying_here:OTHER", "game")


def test_unknown_names_are_answered_with_known_ones() -> None:
    assert suggest("game", "Unno", ["uno"]) == "unknown game 'Unno'; did you mean 'uno'?"
    assert suggest("game", "x", ["b", "a"]) == "unknown game 'x'; known: a, b"
    assert suggest("game", "x", []) == "unknown game 'x'; there are none"


# Kernels


def twice(number: int) -> int:
    return abs(number) + abs(number)


def test_names_that_a_kernel_reaches() -> None:
    assert kernel.global_names(twice.__code__) == {"abs"}


@pytest.mark.skipif(not kernel.JIT, reason="nothing is compiled")
def test_who_waits_is_told_of_every_compilation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDLAB_CACHE_DIR", str(tmp_path))
    told: list[str] = []
    compiled = kernel.kernel(twice)
    with kernel.on_compile(told.append):
        assert compiled(-2) == 4
        assert compiled(3) == 6
    assert told == [f"{__name__}.twice"]
    kernel.kernel(twice)(1.5)  # another signature, but nobody listens any more
    assert len(told) == 1


@pytest.mark.skipif(not kernel.JIT, reason="nothing is kept")
def test_a_cache_that_cannot_be_written_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CARDLAB_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(kernel, "_said_uncached", False)
    with pytest.warns(CardlabWarning, match="CARDLAB_CACHE_DIR names a folder"):
        assert kernel.kernel(twice)(2) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel.kernel(twice)(2.0) == 4  # said once


# Search


def test_play_outs_follow_any_action_unless_told_otherwise(crazy_eights: Game) -> None:
    plain, named = make_playouts(crazy_eights), make_playouts(crazy_eights, choose_any)
    assert isinstance(plain, Playouts)
    lengths = []
    for kernels in (plain, named):
        scratch, stream = Scratch.of(crazy_eights), np.zeros(1, dtype=np.int64)
        scratch.work[:] = crazy_eights.fresh(**crazy_eights.read_options({}))
        lengths.append(kernels.play_one(scratch.work[0], 5, scratch.order, scratch.buffer, stream))
    assert lengths[0] == lengths[1] > 0


def test_halving_spends_the_same_and_drops_the_worse() -> None:
    worth = np.array([0.0, 3.0, 1.0, 2.0])
    asked = []

    def play_block(chosen: Any, count: int, start: int) -> Any:
        asked.append(len(chosen) * count)
        return worth[chosen] * count

    found = monte_carlo.spend(4, 100, rng(), play_block, halving=True)
    assert found is not None
    tried, sums = found
    assert tried.tolist() == [50, 150, 50, 150]
    assert sum(asked) == tried.sum() == 400
    assert np.array_equal(sums / tried, worth)
    assert monte_carlo.spend(4, 9, rng(), lambda *_: None, halving=False) is None
    error = monte_carlo.no_world(find_game("uno"), 1)
    assert str(error) == "uno: no world agrees with what seat 1 knows"


def last_card(game: Game) -> Table:
    """Return a table where some action ends the game at once."""
    for seed in range(50):
        table = Table(game, seed=seed)
        while not table.over:
            for action in table.turn().legal.tolist():
                after = State(game, table.state.array.copy())
                game.bindings.apply(after.array, 0, action)
                if after.mover < 0 and len(table.turn().legal) > 1:
                    return table
            table.act(int(table.turn().legal[0]))
    raise AssertionError("no game ends by choice")


@pytest.mark.skipif(not kernel.JIT, reason="too much searching to interpret")
def test_searches_see_a_win_at_hand(crazy_eights: Game) -> None:
    table = last_card(crazy_eights)
    turn, seat = table.turn(), table.mover
    wins = []
    for action in turn.legal.tolist():
        after = State(crazy_eights, table.state.array.copy())
        crazy_eights.bindings.apply(after.array, 0, action)
        wins.append(after.mover < 0 and crazy_eights.returns(after.array[0], seat) == 1)
    assert any(wins)
    open_values = monte_carlo.evaluate_open(table.state, 50, rng())
    assert (open_values[wins] == 1).all()

    utility: alpha_beta.Utility = crazy_eights.returns
    memory = alpha_beta.Scratch.of(crazy_eights, 1)
    memory[0][0] = table.state.array[0]
    best = alpha_beta.make_solver(crazy_eights, utility)(seat, 1, -9.0, 9.0, memory)
    assert best == 1

    judge: determinised.Judge = lambda world: alpha_beta.evaluate(world, 1)  # noqa: E731
    assert (determinised.evaluate(turn, 3, rng(), judge)[wins] == 1).all()

    never: monte_carlo.Plausibility = kernel.kernel(lambda s, seat: 0.0)
    tried, values = monte_carlo.evaluate(turn, 5, rng(), plausibility=never)  # doubts end
    assert (values[wins] == 1).all()
    assert (tried == 5).all()


# Outside agents


@posix_only
def test_a_program_from_hello_to_goodbye(crazy_eights: Game, tmp_path: Path) -> None:
    limits = Limits(log_folder=str(tmp_path / "logs"))
    assert limits.make_log_folder().is_dir()
    agent = OutsideAgent(f"cmd:{FIRST_LEGAL}", limits)
    hello = agent.hello(crazy_eights, crazy_eights.read_options({}), 0, 2, 5)
    assert hello["protocol"] == PROTOCOL == 1
    assert hello["move_seconds"] == DEFAULT_LIMITS.move_seconds
    for leave in (lambda one: one.dismiss(30.0), lambda one: one.hang_up(30.0)):
        program = Program(agent.command, limits)
        assert program.exchange(hello, 30)["type"] == "ready"
        assert not program.has_more()
        assert leave(program), "it did not go by itself"
    turn = Table(crazy_eights, seed=1).turn()
    agent.begin(crazy_eights, crazy_eights.read_options({}), turn.seat, 2, rng())
    assert agent.act(turn, rng()) == turn.legal[0]
    agent.end(turn.seat, [0, 0], [0, 0])
    dismiss_all()


@posix_only
def test_findings_about_a_program() -> None:
    findings = check_program(FIRST_LEGAL, "crazy_eights", games=1)
    assert all(isinstance(one, Finding) and one.passed and not one.fix for one in findings)
    assert len({one.check for one in findings}) == len(findings) > 3


# The arena


def test_places_rotations_and_seeds_of_a_match(crazy_eights: Game) -> None:
    match = Match.plan("crazy_eights", ["random", "heuristic"], 8, 7, {"seats": 4})
    assert match.lineup == (0, 1, 1, 1)  # the last one fills the seats
    assert match.rotations == (0, 1, 2, 3)
    paired = Match("crazy_eights", match.agents, 2, 7, match.options, places=(0, 1, 0, 1))
    assert paired.rotations == (0, 1)
    assert match.game_seed(0) != match.game_seed(1)
    result = play_match(match)
    assert isinstance(result, MatchResult)
    first = result.standings[0]
    assert isinstance(first, Standing)
    assert first.wins + first.losses + first.ties == result.games == 8


def test_means_have_intervals_where_there_is_enough() -> None:
    values = np.array([0.0, 1.0] * 8)
    mean, interval = mean_and_interval(values, 0, 1)
    assert mean == 0.5
    assert interval is not None
    # Student's t with 15 degrees of freedom: 2.1314 at 97.5 %
    half = 2.13145 * values.std(ddof=1) / 4
    assert interval == pytest.approx((0.5 - half, 0.5 + half), rel=1e-5)
    assert mean_and_interval(values[:9])[1] is None
    assert mean_and_interval(np.ones(20))[1] is None


def test_a_tournament_as_the_store_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert tournament.FORMATS == ("round-robin", "gauntlet")
    agents = ["random", "heuristic"]
    for form in tournament.FORMATS:
        assert len(tournament.Plan.make("crazy_eights", agents, 20, format=form).matches) == 1
    plan = tournament.Plan.make("crazy_eights", agents, 20)
    with Store() as kept:
        assert kept.address == default_store()
        entered = tournament.enter(plan, kept)
        assert isinstance(entered, Entered)
        assert (entered.name, entered.finished) == ("crazy_eights-1", False)
        results = tournament.play_tournament(plan, kept, entered)
        rows = list(kept.outcomes(entered.id))
        counts = results.outcomes()
        with kept.reading() as at:
            assert at.exec_driver_sql("SELECT count(*) FROM games").scalar() == 20
        boards = leaderboard.leaderboards(kept)
        for ending in export.FORMATS:
            path = tmp_path / f"games{ending}"
            assert export.export_games(kept, kept.tournaments(), path) == 20
            assert path.stat().st_size
    assert len(rows) == 20
    assert sum(sum(one.values()) for one in counts.values()) == 20
    assert set().union(*counts.values()) <= {((0,), (1,)), ((1,), (0,)), ((0, 1),)}
    (board,) = boards
    assert isinstance(board, leaderboard.Board)
    assert (board.games, board.tournaments) == (20, 1)


def test_a_verdict_needs_evidence() -> None:
    test = sprt.Test(0, 10).check()
    none = sprt.judge([0, 0, 0, 0, 0], test)
    assert isinstance(none, sprt.Verdict)
    assert none.accepted is None
    assert none.to_dict()["nelo_margin"] is None
    assert sprt.judge([0, 100, 200, 900, 300], test).accepted == "H1"
    assert sprt.judge([300, 900, 200, 100, 0], test).accepted == "H0"


def test_work_at_home() -> None:
    assert default_workers() >= 1
    with joined_cluster(None):  # of none: Ray is not even imported
        pass


# What other libraries and notebooks use


@pytest.mark.skipif(not kernel.JIT, reason="the kernel is made here")
def test_an_encoder_of_ones_own(crazy_eights: Game) -> None:
    def write(view: Any, seat: int, scratch: Any, out: Any) -> None:
        out[0] = seat
        out[1 + seat] = 1.0

    blocks = (Block("seat", ("my seat",), high=3.0), Block("me", ("I am 0", "I am 1")))
    encoder = from_kernel(blocks, kernel.kernel(write))
    assert encoder.size == 3
    assert encoder.words == ("my seat", "I am 0", "I am 1")
    assert encoder.high.tolist() == [3, 1, 1]
    assert encoder.place("me") == slice(1, 3)
    view = Table(crazy_eights, seed=1).turn().view.array
    assert encoder.one(view, 1).tolist() == [1, 0, 1]


def test_a_deal_of_cribbage_in_words() -> None:
    hands = [parse_cards(text) for text in ("5H 5C 6S 7D", "TD JC 4H KD")]
    plays = [(seat, hands[seat][turn]) for turn in range(4) for seat in (1, 0)]
    told = list(explain_play(plays))
    assert all(isinstance(one, Pegged) for one in told)
    assert told[1].points == 2  # ten, five: fifteen
    assert [card_value(card) for card in hands[1]] == [10, 10, 4, 10]
    (starter,) = parse_cards("JS")
    whole = list(explain_deal(0, starter, plays, parse_cards("AH 2H 3H 9C")))
    assert len(hands[0]) == HAND_SIZE
    assert whole[0].text == "dealt"
    assert whole[3].points == 2  # the jack that was turned up
    assert tuple(whole[4 : 4 + len(told)]) == tuple(told)
    counted = [explain_in_words(hands[seat], starter) for seat in (1, 0)]
    assert [one.points for one in whole[-3:-1]] == [points for points, _ in counted]
    assert "fifteen" in counted[1][1]
    rows = explain(hands[0], starter)
    assert all(isinstance(one, Row) for one in rows)
    assert sum(one.points for one in rows) == counted[1][0]
    assert sum(card_value(card) for card in parse_cards("KH QH JH")) < LIMIT


def test_advice_lists_every_choice() -> None:
    advice = advise(parse_hand("5H 5D 6S JC 4H KD"), dealer=True, score=(0, 0))
    assert all(isinstance(one, Choice) for one in advice.choices)
    assert len({frozenset(one.laid) for one in advice.choices}) == 15


def test_environments_of_other_libraries() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("pettingzoo")
    from cardlab.interop import pettingzoo
    from cardlab.interop.gymnasium import IDS, register

    register()
    register()  # twice does no harm
    assert set(IDS.values()) <= set(gymnasium.registry)
    env = pettingzoo.env("crazy_eights", seats=3)
    env.reset(seed=1)
    assert env.action_space(env.agent_selection).n == find_game("crazy_eights").num_actions


def test_rows_of_stable_baselines3() -> None:
    pytest.importorskip("stable_baselines3")
    from cardlab.interop.stable_baselines3 import CardVecEnv

    env, twin = (CardVecEnv("crazy_eights", 3) for _ in range(2))
    for one in (env, twin):
        one.seed(5)
        one.reset()
    actions = env.env_method("action_masks").argmax(axis=1)
    env.step_async(actions)
    assert np.array_equal(env.step_wait()[0], twin.step(actions)[0])
    assert [one.size for one in env.get_attr("batch")] == [3, 3, 3]
    assert env.env_is_wrapped(object, indices=[0, 2]) == [False, False]
    with pytest.raises(AttributeError, match="no attribute 'batch' of their own"):
        env.set_attr("batch", None)


def test_openspiel_sees_games_and_states() -> None:
    pytest.importorskip("pyspiel")
    from cardlab.interop.openspiel import CardGame, CardState, load

    game, again = load("crazy_eights", seed=4), load("crazy_eights", seed=4)
    assert isinstance(game, CardGame)
    assert game.draw_seed() == again.draw_seed()
    assert isinstance(game.new_initial_state(), CardState)
    with pytest.raises(CardlabError, match="take no parameters"):
        game.make_py_observer(params={"x": 1})


# The rest


def test_a_card_face_down() -> None:
    assert pictures.card_title("standard", pictures.BACK) == "a card face down"
    assert pictures.card_svg("standard", pictures.BACK) != pictures.card_svg("standard", "7H")
