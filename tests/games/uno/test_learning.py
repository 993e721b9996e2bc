"""Learning Uno: encodings and games against plain Python, targets by hand, runs that are killed."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import State
from cardlab.engine.kernel import JIT, cache_folder
from cardlab.games.uno import features
from cardlab.games.uno.cards import TOTAL, cards_in
from cardlab.games.uno.learning import comparison as uno_comparison
from cardlab.games.uno.learning import deep_monte_carlo, deep_sarsa, policy_gradient
from cardlab.games.uno.learning import dqn as deep_q
from cardlab.games.uno.learning import grid as uno_grid
from cardlab.games.uno.learning.games import Games, Play, table, trace_targets
from cardlab.games.uno.learning.runs import Run, Score, evaluate, new_network, tables_of
from cardlab.games.uno.rules import GAME
from cardlab.learning.__main__ import main
from cardlab.learning.runs import read_json
from cardlab.networks.weights import load_weights
from cardlab.testing import random_table, retrace
from tests.support.killed import train_killed_once
from tests.support.paths import DOCS

pytestmark = pytest.mark.skipif(not JIT, reason="too many games to interpret")

VARIANTS: list[dict[str, Any]] = [
    {"seats": 2},
    {"seats": 3, "rules": "rlcard"},
    {"seats": 4, "stacking": True, "voluntary_draw": True},
    {"seats": 10},
    {"seats": 5, "rules": "rlcard"},
]


def quiet(*_: Any) -> None:
    pass


def states_of(options: dict[str, Any], seeds: range = range(4)) -> list[State]:
    return [
        one.state.copy()
        for seed in seeds
        for one in retrace(random_table(GAME, options, seed))
        if one.mover >= 0
    ]


def legal_set(state: State) -> int:
    return sum(1 << int(features.output_of(int(action))) for action in state.legal())


def encoded(array: Any, state: State, encoding: str) -> Any:
    legal = np.array([legal_set(state)], dtype=np.int64)
    return features.encode_all(array, [state.mover], legal, encoding)[0].astype(int)


# Encodings


def plain_paper(state: State) -> Any:
    """The seven planes after RLCard's `encode_hand` and `encode_target`."""
    s, seat = state.array[0], state.mover
    others = [
        kind for other in range(int(s.seats)) if other != seat for kind in cards_in(s.cards[other])
    ]
    planes = np.zeros((7, 4, 15), dtype=int)
    for start, hand in ((0, cards_in(s.cards[seat])), (3, others)):
        planes[start] = 1
        for kind in set(hand):
            rows = range(4) if kind in (13, 14) else [kind // 15]
            for row in rows:
                planes[start, row, kind % 15] = 0
                copies = 1 if kind in (13, 14) else hand.count(kind)
                planes[start + copies, row, kind % 15] = 1
    if s.phase != 6:  # a start wild has no colour yet
        planes[6, int(s.colour), int(s.top) % 15] = 1
    return planes.reshape(-1)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_the_papers_planes_are_those_of_plain_python(options: dict[str, Any]) -> None:
    for state in states_of(options, range(2)):
        assert (encoded(state.array, state, "paper") == plain_paper(state)).all()


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_fair_tells_what_the_seat_knows(options: dict[str, Any]) -> None:
    for state in states_of(options, range(2)):
        s, seat = state.array[0], state.mover
        found = encoded(state.array, state, "fair")
        planes = found[: features.BY_COLOUR].reshape(8, 60)
        hand, pile = cards_in(s.cards[seat]), cards_in(s.cards[10])
        for kind in range(60):
            if kind % 15 < 13:
                own = hand.count(kind)
                unseen = int(TOTAL[kind]) - own - pile.count(kind)
                assert planes[:4, kind].tolist() == [own > 0, own > 1, unseen > 0, unseen > 1]
        assert planes[5].tolist() == [legal_set(state) >> place & 1 for place in range(60)]
        own_wilds = found[features.OWN_WILDS : features.OWN_WILDS + 8].reshape(2, 4).sum(axis=1)
        assert own_wilds.tolist() == [hand.count(13), hand.count(14)]
        step = -1 if s.backwards else 1
        order = [(seat + step * k) % int(s.seats) for k in range(1, int(s.seats))]
        at = found[features.SEATS : features.TABLE].reshape(9, features.SEAT_SIZE)
        assert at[: len(order), 1].tolist() == [int(s.sizes[other]) for other in order]
        assert not at[len(order) :].any()
        for place, other in enumerate(order):
            lacking = [0, 0, 0, 0]
            for group in range(int(s.groups[other])):
                barred = int(s.barred[other, group])
                for colour in range(4):
                    kinds = 0b1111111111111 << 15 * colour
                    lacking[colour] += int(s.places[other, group]) * (barred & kinds == kinds)
            start = features.BY_COLOUR + 4 * place
            assert found[start : start + 4].tolist() == lacking
        assert found[features.HOW_MANY : features.FAIR_SIZE].tolist().index(1) == s.seats - 2


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_hidden_cards_never_show_in_fair(options: dict[str, Any]) -> None:
    differs = False
    for number, state in enumerate(states_of(options)[::3]):
        view = state.view(state.mover)
        world = view.imagine(np.random.default_rng(number))
        for name in ("fair", "fair_log"):
            truth = encoded(state.array, state, name)
            assert (encoded(view.array, state, name) == truth).all()
            assert (encoded(world.array, state, name) == truth).all()
        leak = encoded(state.array, state, "paper") != encoded(world.array, state, "paper")
        differs = differs or bool(leak.any())
    assert differs, "the encoding `paper` is said to leak"


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_outputs_stand_for_one_legal_action_each(options: dict[str, Any]) -> None:
    for state in states_of(options):
        actions = [int(one) for one in state.legal()]
        outputs = [int(features.output_of(action)) for action in actions]
        assert len(set(outputs)) == len(outputs)
        assert [features.action_of(state.array[0], output) for output in outputs] == actions
        assert features.outputs_of(state.legal(), len(actions)) == legal_set(state)


def test_the_docs_list_every_index() -> None:
    docs = DOCS / "reference" / "encodings.md"
    part = docs.read_text(encoding="utf-8").partition("## Uno")[2].partition("\n## ")[0]
    assert f"`fair` has {features.SIZES['fair']} numbers" in part
    rows = part.partition("`fair` has ")[2].partition("`fair_log`")[0].splitlines()
    cells = [line.split("|")[1:3] for line in rows if line.startswith("| ")][1:]
    at = 0
    for index, numbers in cells:
        assert int(index) == at
        at += sum(int(np.prod([int(n) for n in one.split("x")])) for one in numbers.split(","))
    assert at == features.SIZES["fair"]
    starts = {int(index) for index, _ in cells}
    names = ("OWN_TWICE", "FITS", "PREVIOUS", "BY_COLOUR", "IN_FORCE", "SEATS", "HOW_MANY")
    assert {getattr(features, name) for name in names} <= starts


def test_the_log_ends_with_the_latest_event() -> None:
    for state in states_of({"seats": 3}, range(1))[5:]:
        s = state.array[0]
        slot = (int(s.logged) - 1) % 64
        who, what, _ = encoded(state.array, state, "fair_log")[-3:]
        assert what == s.log_what[slot] + 1
        if s.log_seat[slot] != 255:
            assert who == (int(s.log_seat[slot]) - state.mover) % 3 + 1


# Games


def first_legal(games: Games) -> Any:
    return np.array([(int(one) & -int(one)).bit_length() - 1 for one in games.legal])


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_the_time_only(threads: int) -> None:
    tables = [table(3), table(5, "official")]
    settings = {"seed": 4, "play": Play(self_play=0.3, heuristic=0.3)}
    one, many = (Games(40, tables, "fair", threads=n, **settings) for n in (1, threads))
    for _ in range(60):
        for games in (one, many):
            games.step(first_legal(games), 0.5)
        for name in ("features", "legal", "seats", "ended", "winner", "reward", "choices"):
            assert (getattr(one, name) == getattr(many, name)).all()
    assert one.finished == many.finished > 40
    many.close()


def test_rewards_tell_who_won() -> None:
    games = Games(200, [table(3)], "paper", seed=1)
    won = ended = 0
    for _ in range(80):
        decided = games.seats.copy()
        games.step(first_legal(games), 1.0)
        over = games.ended == 1
        wanted = np.where(games.winner == decided, 1, -1)[over]
        assert (games.reward[over] == wanted).all()
        assert not games.reward[~over].any()
        won += int((games.reward == 1).sum())
        ended += int(over.sum())
    assert games.finished == games.tally[:, 0].sum() == ended
    assert games.tally[:, 1].sum() == won
    assert abs(won / ended - 1 / 3) < 4 * (2 / 9 / ended) ** 0.5  # random play wins its share


def test_all_seats_learn_in_self_play_and_one_otherwise() -> None:
    for share in (0.0, 1.0):
        games = Games(30, [table(4)], "fair", seed=2, play=Play(redeal=False, self_play=share))
        met: list[set[int]] = [set() for _ in range(30)]
        while games.live.any():
            for row in np.flatnonzero(games.live):
                met[row].add(int(games.seats[row]))
            games.step(first_legal(games), 1.0)
        assert all(len(seats) == (4 if share else 1) for seats in met)
        assert games.finished == 30


def test_forced_decisions_can_be_left_out() -> None:
    games = Games(100, [table(2)], "fair", seed=2, play=Play(skip_forced=True))
    for _ in range(20):
        assert all(int(one).bit_count() > 1 for one in games.legal)
        games.step(first_legal(games), 1.0)


def plain_targets(seats: Any, ended: Any, winner: Any, values: Any, trace: float) -> Any:
    steps, rows = seats.shape
    out = np.full((steps, rows), np.nan)
    for row in range(rows):
        for t in range(steps - 1, -1, -1):
            for later in range(t + 1, steps + 1):
                if ended[later, row]:
                    result = {True: 1.0, False: -1.0}[winner[later, row] == seats[t, row]]
                    out[t, row] = 0.0 if winner[later, row] == 255 else result
                    break
                if later < steps and seats[later, row] == seats[t, row]:
                    goal = out[later, row]
                    goal = values[later, row] if np.isnan(goal) else goal
                    out[t, row] = trace * goal + (1 - trace) * values[later, row]
                    break
    return out


@pytest.mark.parametrize("trace", [0.0, 0.8, 1.0])
def test_targets_look_back_from_results(trace: float) -> None:
    rng = np.random.default_rng(3)
    seats = rng.integers(0, 4, (40, 6)).astype(np.uint8)
    ended = (rng.random((41, 6)) < 0.1).astype(np.uint8)
    winner = rng.choice(np.array([0, 1, 2, 3, 255], np.uint8), (41, 6))
    values = rng.random((40, 6)).astype(np.float32)
    out, known = np.zeros((40, 6), np.float32), np.zeros((40, 6), np.uint8)
    scratch = np.zeros((6, 10, 3), np.float32)
    trace_targets(seats, ended, winner, values, trace, out, known, scratch)
    plain = plain_targets(seats, ended, winner, values, trace)
    assert (known == ~np.isnan(plain)).all()
    assert 0 < known.sum() < known.size
    assert out[known == 1] == pytest.approx(plain[known == 1], abs=1e-6)


# Learning


def batch_of(ended: bool) -> deep_q.Transitions:
    one = torch.zeros((1, 420), dtype=torch.uint8)
    number = torch.tensor
    return deep_q.Transitions(
        one, number([3]), number([0.5]), number([ended]), one, number([0b101]), number([0])
    )


def test_dqn_and_sarsa_differ_in_the_following_value() -> None:
    values = torch.zeros((1, 61))
    values[0, :3] = torch.tensor([0.2, 0.9, 0.6])  # the highest is not legal
    for method, following in (("dqn", 0.6), ("deep_sarsa", 0.2)):
        goal = deep_q.targets(values, batch_of(ended=False), method, 0.95)
        assert goal.item() == pytest.approx(0.5 + 0.95 * following)
        assert deep_q.targets(values, batch_of(ended=True), method, 0.95).item() == 0.5


def test_transitions_join_consecutive_steps() -> None:
    games = Games(8, [table(3)], "paper", seed=5)
    steps = deep_q.Steps(6, 8, 420, torch.device("cpu"))
    seen: dict[bytes, tuple[int, float, bool, bytes, int]] = {}
    last: list[Any] = [None] * 8
    for _ in range(15):
        steps.note(games)
        shown = [games.features[row].tobytes() for row in range(8)]
        waiting = games.legal.copy()
        if last[0] is not None:
            for row in range(8):
                before, action = last[row]
                fate = (float(games.reward[row]), bool(games.ended[row]))
                seen[before] = (action, *fate, shown[row], int(waiting[row]))
        games.step(first_legal(games), 0.7)
        steps.note_actions(games)
        last = [(shown[row], int(games.choices[row])) for row in range(8)]
    drawn = steps.draw(500, torch.Generator().manual_seed(1))
    places = set()
    for i in range(500):
        wanted = seen[drawn.features[i].numpy().tobytes()]
        places.add(drawn.features[i].numpy().tobytes())
        assert (drawn.actions[i], drawn.rewards[i], drawn.ended[i]) == wanted[:3]
        assert (drawn.next_features[i].numpy().tobytes(), drawn.next_legal[i]) == wanted[3:]
    assert len(places) == 8 * 5  # all steps of the ring but the latest


TINY = {"rows": 16, "batch": 64, "stretches": 3, "evaluation_games": 40, "threads": 1}
SMALL = {"width": 32, "layers": 1, "evaluate_every": 2, "device": "cpu"}
RUNS: list[tuple[Any, Any]] = [
    (deep_q, deep_q.Config(games=300, **TINY, **SMALL)),
    (deep_q, deep_q.Config(games=300, loop="paper", curiosity=0.1, **TINY, **SMALL)),
    (deep_q, deep_q.Config(games=300, target_every=3, encoding="fair", **TINY, **SMALL)),
    (deep_sarsa, deep_sarsa.Config(games=300, network="planes", **TINY, **SMALL)),
    (deep_monte_carlo, deep_monte_carlo.Config(games=300, block=8, **TINY, **SMALL)),
    (policy_gradient, policy_gradient.Config(games=300, block=8, **TINY, **SMALL)),
]


class Stop(Exception):
    pass


@pytest.mark.slow
@pytest.mark.parametrize(("module", "config"), RUNS, ids=lambda one: getattr(one, "__name__", ""))
def test_an_interrupted_run_ends_like_an_undisturbed_one(
    module: Any, config: Any, tmp_path: Path
) -> None:
    whole = module.train(config, tmp_path / "whole", quiet)

    def stop(_: str, done: int, __: int) -> None:
        if done == 200:
            raise Stop

    with pytest.raises(Stop):
        module.train(config, tmp_path / "parts", stop)
    seen: list[int] = []
    parts = module.train(config, tmp_path / "parts", lambda _, done, __: seen.append(done))
    assert seen == [200, 300]
    assert parts == whole
    kept = [load_weights(tmp_path / name / "weights.safetensors")[0] for name in ("whole", "parts")]
    fresh = new_network(config, heads=2 if module is policy_gradient else 1).state_dict()
    for name, tensor in kept[0].items():
        assert torch.equal(tensor, kept[1][name])
        assert tensor.isfinite().all()
    assert any(not torch.equal(tensor, fresh[name]) for name, tensor in kept[0].items())
    log = [json.loads(one) for one in (tmp_path / "parts" / "log.jsonl").read_text().splitlines()]
    assert [entry["step"] for entry in log] == [100, 200, 300]
    assert all(entry["updates"] > 0 and np.isfinite(entry["loss"]) for entry in log)
    assert "rlcard/random/3" in log[1]  # evaluated every second stretch


@pytest.mark.slow
def test_a_killed_training_goes_on(tmp_path: Path) -> None:
    settings = ["games=1200", "stretches=12", "rows=16", "batch=64", "width=32", "layers=1"]
    settings += ["evaluation_games=40", "evaluate_every=50", "threads=1", "device=cpu"]
    told = train_killed_once("uno/dqn", tmp_path / "run", settings, "checkpoint.safetensors")
    assert told["games"] == 1200
    config = deep_q.Config(
        games=1200,
        **TINY | SMALL | {"stretches": 12, "evaluate_every": 50},
    )
    deep_q.train(config, tmp_path / "undisturbed", quiet)
    kept = [
        load_weights(tmp_path / name / "weights.safetensors")[0] for name in ("run", "undisturbed")
    ]
    assert all(torch.equal(tensor, kept[1][name]) for name, tensor in kept[0].items())


@pytest.mark.slow
def test_it_trains_where_only_torch_is_installed(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "for name in ('pydantic', 'platformdirs', 'typer', 'rich', 'onnxruntime', 'tensorboard'):\n"
        "    sys.modules[name] = None\n"
        "from cardlab.learning.__main__ import main\n"
        "for what in ('uno/dqn', 'uno/deep_monte_carlo', 'uno/policy_gradient'):\n"
        "    main([what, '--out', f'{sys.argv[1]}/{what}', *sys.argv[2:]])\n"
    )
    settings = [f"--set={name}={value}" for name, value in (TINY | SMALL).items()]
    words = [sys.executable, "-c", code, str(tmp_path), "--set=games=60", *settings]
    env = os.environ | {"CARDLAB_CACHE_DIR": str(cache_folder())}
    shown = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    assert shown.returncode == 0, shown.stderr
    for what in ("dqn", "deep_monte_carlo", "policy_gradient"):
        assert read_json(tmp_path / "uno" / what / "result.json")["games"] == 60


@pytest.mark.slow
@pytest.mark.parametrize("start", ["cardlab.learning", "cardlab.cli"])
def test_without_torch_a_sentence_says_what_to_install(start: str) -> None:
    code = f"import sys; sys.modules['torch'] = None; from {start}"
    code += ".__main__ import main" if start == "cardlab.learning" else " import main"
    words = ["cardlab", *(["train"] if start == "cardlab.cli" else []), "uno/dqn"]
    asked = [sys.executable, "-c", f"{code}; sys.argv = {words}; main()"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert shown.returncode == 2
    assert shown.stderr == (
        "cardlab: uno/dqn needs torch; install with: pip install 'cardlab[train]'\n"
    )


@pytest.mark.slow
def test_a_run_stops_after_its_minutes_and_goes_on(tmp_path: Path) -> None:
    config = deep_q.Config(games=300, minutes=1e-9, **TINY, **SMALL)
    assert deep_q.train(config, tmp_path, quiet)["games"] == 100
    assert deep_q.train(config, tmp_path, quiet)["games"] == 200
    assert deep_q.train(dataclasses.replace(config, minutes=0), tmp_path, quiet)["games"] == 300


def test_an_iteration_of_the_paper_is_a_hundred_games() -> None:
    config = deep_q.Config(games=1000, loop="paper", **SMALL | TINY)
    config = dataclasses.replace(config, stretches=4)
    learner = deep_q.Learner(config, torch.device("cpu"))
    numbers = deep_q.learn_as_paper(Run(config, torch.device("cpu"), 0, 250), config, learner)
    assert numbers["decisions"] > 250 * 8
    whole = [-(-n // 64) for n in (100, 100, 50)]
    assert numbers["updates"] > sum(whole)
    assert deep_q.explore_at(config, 0) == deep_q.explore_at(config, 99) == 0.95
    assert deep_q.explore_at(config, 1000) == pytest.approx(0.03)


@pytest.mark.slow
def test_evaluation_is_repeatable_and_has_an_interval() -> None:
    network = new_network(deep_q.Config(**TINY, **SMALL))
    first, again = (
        evaluate(network, 3, "rlcard", "heuristic", games=300, seed=9, threads=n) for n in (1, 2)
    )
    assert first == again
    assert first.games == 300
    half = Score(2, "rlcard", "random", 100, 50)
    assert (half.share, round(half.margin, 2)) == (50, 9.62)


@pytest.mark.slow
def test_grid_and_comparison_run_every_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(uno_grid.GAMMAS) * len(uno_grid.ALPHAS) * len(uno_grid.EPSILONS) == 18
    monkeypatch.setattr(uno_grid, "GAMMAS", (0.75,))
    monkeypatch.setattr(uno_grid, "ALPHAS", (0.001,))
    shared = {"games": 40, "rows": 8, "batch": 32, "stretches": 1, "evaluation_games": 10}
    grid = uno_grid.Config(threads=1, device="cpu", **shared)
    lines = uno_grid.train(grid, tmp_path / "grid", quiet)
    assert list(lines) == [f"gamma_0.75_alpha_0.001_epsilon_{epsilon}" for epsilon in (0.8, 0.95)]
    assert all("40 games; 2 " in line for line in lines.values())
    kept = [tmp_path / "grid" / name / "checkpoint.safetensors" for name in lines]
    before = [path.stat().st_mtime_ns for path in kept]
    assert uno_grid.train(grid, tmp_path / "grid", quiet) == lines
    assert [path.stat().st_mtime_ns for path in kept] == before, "a cell was trained twice"
    comparison = uno_comparison.Config(threads=1, device="cpu", **shared)
    known = uno_comparison.entries(comparison)
    networks = {settings.network for _, settings in known.values()}
    wanted = {"feedforward", "planes", "convolutional", "residual", "recurrent", "colours"}
    assert networks == wanted
    some = dataclasses.replace(comparison, only="dqn_curiosity,monte_carlo_recurrent")
    assert list(uno_comparison.train(some, tmp_path / "some", quiet)) == some.only.split(",")


def test_mistakes_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = deep_q.Config(games=40, **TINY, **SMALL)
    for change, sentence in [
        ({"method": "sarsa"}, "method must be dqn or deep_sarsa"),
        ({"epsilon": 0.01}, "epsilon and epsilon_end"),
        ({"network": "feed"}, "unknown network 'feed'; did you mean 'feedforward'"),
        ({"encoding": "pape"}, "unknown encoding 'pape'; did you mean 'paper'"),
        ({"network": "recurrent"}, "set encoding=fair_log"),
        ({"network": "colours"}, "set encoding=fair"),
        ({"width": 100}, "multiple of 16"),
        ({"device": "cude"}, "device=cude is unknown"),
        ({"seats": "3-12"}, "seats must be .*, got 3-12"),
        ({"rules": "house"}, "rules=house is unknown"),
        ({"rows": 0}, "rows and evaluation_games must be 1 or more"),
    ]:
        with pytest.raises(CardlabError, match=sentence):
            deep_q.train(dataclasses.replace(tiny, **change), tmp_path / "x", quiet)
    deep_q.train(tiny, tmp_path / "run", quiet)
    with pytest.raises(CardlabError, match=r"other settings \(gamma\)"):
        deep_q.train(dataclasses.replace(tiny, gamma=0.9), tmp_path / "run", quiet)
    kept = tmp_path / "run" / "checkpoint.safetensors"
    kept.write_bytes(kept.read_bytes()[:-100])
    with pytest.raises(CardlabError, match="is no whole file of weights"):
        deep_q.train(tiny, tmp_path / "run", quiet)
    with pytest.raises(SystemExit):
        main(["uno/dqm"])
    assert (
        capsys.readouterr().err == "cardlab: unknown training 'uno/dqm'; did you mean 'uno/dqn'?\n"
    )
    assert len(tables_of("2-6", "both")) == 2 * (4 * 7 + 1)
