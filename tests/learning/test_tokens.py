"""Card transformers of Crazy Eights and Uno: features, batches of games, training, agents."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from itertools import pairwise, permutations
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from cardlab.agents.catalog import find_agent
from cardlab.agents.token_network import TokenPlayer, make_kernels
from cardlab.engine import seeding
from cardlab.engine.batch import Batch
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER, Game, HasValues, State, Turn
from cardlab.engine.kernel import JIT, kernel
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.engine.seeding import deck_order
from cardlab.games.crazy_eights import tokens as eights
from cardlab.games.crazy_eights.heuristic import choose as choose_card
from cardlab.games.crazy_eights.learning import transformer as crazy_eights_transformer
from cardlab.games.crazy_eights.networks.expansion import CrazyEightsExpansion
from cardlab.games.crazy_eights.rules import PASS, playable
from cardlab.games.uno import tokens as uno
from cardlab.games.uno.features import encode_all, outputs_of
from cardlab.games.uno.heuristic import choose as choose_kind
from cardlab.games.uno.learning import transformer as uno_transformer
from cardlab.games.uno.networks.expansion import UnoExpansion
from cardlab.learning.token_games import (
    HEURISTIC,
    LEARNER,
    RANDOM,
    Clock,
    Player,
    Samples,
    TokenGames,
    game_seeds,
    play,
)
from cardlab.learning.token_training import Training
from cardlab.networks.token_networks import make_network
from cardlab.networks.weights import load_weights, save_weights
from cardlab.testing import check_agent
from tests.support.killed import kill_and_go_on

pytestmark = pytest.mark.skipif(not JIT, reason="thousands of decisions")

CPU = torch.device("cpu")
FEATURES: dict[str, ModuleType] = {"crazy_eights": eights, "uno": uno}
EXPANSIONS: dict[str, Any] = {"crazy_eights": CrazyEightsExpansion, "uno": UnoExpansion}
LEARNING: dict[str, ModuleType] = {
    "crazy_eights": crazy_eights_transformer,
    "uno": uno_transformer,
}
TABLES: dict[str, list[dict[str, Any]]] = {
    "crazy_eights": [
        {},
        {"seats": 4, "hand_size": 12},
        {"seats": 3, "reshuffle": True},
        {"seats": 2, "reshuffle": True, "optional_draw": True},
    ],
    "uno": [
        {},
        {"seats": 3, "rules": "rlcard"},
        {"seats": 10, "rules": "rlcard"},
        {"seats": 4, "stacking": True, "voluntary_draw": True},
        {"seats": 3, "keep_drawn": False},
    ],
}
EVERY = [(name, options) for name, some in TABLES.items() for options in some]


def quiet(*_: Any) -> None:
    """Report to nobody."""


def decisions(game: Game, options: dict[str, Any], count: int = 200) -> tuple[Any, Any]:
    """Return states before decisions from random games, and who is to move."""
    batch = Batch(game, 16, seed=1, options=options)
    rng = np.random.default_rng(1)
    states, seats = [], []
    for _ in range(60):
        running = np.flatnonzero(batch.mover != OVER)
        if not len(running):
            break
        states.append(batch.states[running].copy())
        seats.append(batch.mover[running].astype(np.int64))
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(1))
    some = rng.permutation(sum(len(one) for one in states))[:count]
    return np.concatenate(states)[some], np.concatenate(seats)[some]


def written(game: Game, states: Any, seats: Any) -> tuple[Any, Any]:
    features = FEATURES[game.name]
    rows = np.full((len(states), features.WIDTH), 77, dtype=np.uint8)
    choices = np.full((len(states), features.MOST_CHOICES), 77, dtype=np.uint8)
    make_kernels(game.name).write_rows(states, seats, rows, choices)
    return rows, choices


def states_of(game: Game, states: Any) -> list[State]:
    return [State(game, states[i : i + 1].copy()) for i in range(len(states))]


# Features


@pytest.mark.parametrize(("name", "options"), EVERY, ids=str)
def test_choices_are_the_legal_actions(name: str, options: dict[str, Any]) -> None:
    game, features = find_game(name), FEATURES[name]
    states, seats = decisions(game, options)
    _, choices = written(game, states, seats)
    for state, tokens in zip(states_of(game, states), choices.tolist(), strict=True):
        legal = set(state.legal().tolist())
        meant = [int(features.action_of_token(state.array[0], token)) for token in tokens]
        assert set(meant) <= legal
        assert {int(features.token_of_action(action)) for action in legal} == set(tokens)
        for token, action in zip(tokens, meant, strict=True):
            assert features.token_of_action(action) == token


@pytest.mark.parametrize(("name", "options"), EVERY, ids=str)
def test_rows_show_what_the_seat_may_know_and_no_more(name: str, options: dict[str, Any]) -> None:
    """Views, and worlds that agree with them, give the bytes of the state itself."""
    game = find_game(name)
    states, seats = decisions(game, options, 60)
    rows, choices = written(game, states, seats)
    views, worlds = states.copy(), states.copy()
    rng = np.random.default_rng(0)
    for i, state in enumerate(states_of(game, states)):
        view = state.view(int(seats[i]))
        views[i] = view.array[0]
        worlds[i] = view.imagine(rng).array[0]
    assert (worlds != states).any()
    for others in (views, worlds):
        same = written(game, others, seats)
        assert (same[0] == rows).all()
        assert (same[1] == choices).all()


def plain_crazy_eights(state: State, seat: int) -> dict[str, Any]:
    """Return blocks of features by name, slowly, from the state's record."""
    s = state.array[0]
    seats = int(s.seats)
    mine = {card for card in range(52) if int(s.hands[seat]) >> card & 1}
    pile = {card for card in range(52) if int(s.discards) >> card & 1}
    unseen = set(range(52)) - mine - pile
    fits = {card for card in mine if int(playable(s)) >> card & 1}
    found: dict[str, Any] = {"zone": np.zeros((58, 4)), "legal": np.zeros((58, 1))}
    for card in range(52):
        zone = 1 if card in mine else 3 if card == s.top else 2 if card in pile else 0
        found["zone"][card, zone] = 1
    for action in state.legal():
        found["legal"][eights.token_of_action(int(action))] = 1
    assert {card for card in fits if card // 4 != 7} == {
        card for card in range(52) if found["legal"][card]
    }
    found["held"], found["lacking"] = np.zeros((58, 3)), np.zeros((58, 3))
    for place in range(seats - 1):
        other = (seat + 1 + place) % seats
        for group in range(int(s.groups[other])):
            barred, places = int(s.barred[other, group]), int(s.places[other, group])
            may = {card for card in unseen if not barred >> card & 1}
            for token in range(56):
                if token in may:
                    found["held"][token, place] += places / 5
                if not any(card % 4 == token % 4 and card // 4 != 7 for card in may):
                    found["lacking"][token, place] += places / 5
    found["mine"], found["left"] = np.zeros((58, 2)), np.zeros((58, 2))
    found["in force"] = np.zeros((58, 1))
    for token in range(56):
        rank = token // 4 if token < 52 else 7
        for block, cards, whole in (("mine", mine, (5, 5)), ("left", unseen, (13, 4))):
            found[block][token] = [
                sum(card % 4 == token % 4 for card in cards) / whole[0],
                sum(card // 4 == rank for card in cards) / whole[1],
            ]
        found["in force"][token] = token % 4 == s.suit
    found["top"] = np.eye(13)[int(s.top) // 4]
    sizes = [int(s.sizes[(seat + i) % seats]) if i < seats else 0 for i in range(4)]
    found["cards"] = np.array(sizes) / 8
    found["few"] = np.array([float(0 < size <= most) for size in sizes for most in (1, 2, 3)])
    found["seats"] = np.eye(3)[seats - 2]
    found["rules"] = np.array([s.reshuffle, s.optional_draw])
    found["laid by"], found["laid"] = np.zeros((58, 4)), np.zeros((58, 8))
    for ply in range(max(0, int(s.plies) - 64), int(s.plies)):
        action = int(s.log_action[ply % 64])
        if action >= PASS:
            continue
        card = 28 + (action - 48) // 4 if action >= 48 else action + 4 * (action >= 28)
        found["laid by"][card] = found["laid"][card] = 0
        if card in pile:
            found["laid by"][card, (int(s.log_seat[ply % 64]) - seat) % seats] = 1
            found["laid"][card, min(int(s.plies) - 1 - ply, 7)] = 1
    return found


@pytest.mark.parametrize("options", TABLES["crazy_eights"], ids=str)
def test_features_of_crazy_eights_are_what_the_index_says(options: dict[str, Any]) -> None:
    game = find_game("crazy_eights")
    states, seats = decisions(game, options, 40)
    network = make_network(EXPANSIONS[game.name], width=8)
    tokens, shared = network.expansion(torch.from_numpy(written(game, states, seats)[0]))
    checked = set()
    for i, state in enumerate(states_of(game, states)):
        for name, wanted in plain_crazy_eights(state, int(seats[i])).items():
            block = next(one for one in eights.FEATURES if one.name == name)
            if wanted.ndim == 2:
                found = tokens[i, :, block.first : block.first + block.width]
            else:
                first = block.first - eights.TOKEN_FEATURES
                found = shared[i, first : first + block.width]
            assert found.numpy() == pytest.approx(wanted), name
            checked.add(name)
    assert len(checked) == 14
    assert eights.FEATURES[-1].first + 1 == eights.TOKEN_FEATURES + eights.SHARED_FEATURES


def test_rows_of_uno_are_the_fair_encoding_and_its_planes_are_features() -> None:
    game = find_game("uno")
    states, seats = decisions(game, {"seats": 3}, 100)
    rows, _ = written(game, states, seats)
    legal = [one.legal() for one in states_of(game, states)]
    sets = np.array([int(outputs_of(one, len(one))) for one in legal])
    assert (rows == encode_all(states, seats, sets, "fair")).all()
    tokens, shared = make_network(UnoExpansion, width=8).expansion(torch.from_numpy(rows))
    planes = rows[:, :480].reshape(-1, 8, 60).transpose(0, 2, 1) / [1, 1, 1, 1, 1, 1, 7, 7]
    assert tokens[:, :60, :8].numpy() == pytest.approx(planes)
    assert not tokens[:, 60, :-7].any()
    where = {one.name: one.first for one in uno.FEATURES}
    colours = rows[:, 480:528].reshape(-1, 12, 4)
    for colour in range(4):
        here = tokens[:, 15 * colour + 4, where["mine of colour"]].numpy()
        assert here == pytest.approx(colours[:, 9, colour] / 7)
    own = rows[:, :120].reshape(-1, 2, 4, 15).sum((1, 2))
    assert tokens[:, 15 + 6, where["mine of trait"]].numpy() == pytest.approx(own[:, 6] / 4)
    first = where["how many"] - uno.TOKEN_FEATURES
    assert shared[:, first : first + 3].numpy().tolist() == [[0, 1, 0]] * len(rows)
    trait = shared[:, where["top"] - uno.TOKEN_FEATURES :][:, :15].argmax(1).numpy()
    named = states["phase"] != 6
    assert (trait == states["top"] % 15)[named].all()


def exchanged_order(name: str, deck: Any, order: Any) -> Any:
    """Return a deck of cards with other suits or colours."""
    if name == "crazy_eights":
        return deck & ~3 | order[deck & 3]
    first, second = deck < 52, (deck >= 52) & (deck < 100)
    changed = np.where(first, 13 * order[deck % 52 // 13] + deck % 13, deck)
    late = (deck - 52) % 48
    return np.where(second, 52 + 12 * order[late // 12] + late % 12, changed)


@pytest.mark.parametrize("name", FEATURES)
def test_exchanged_suits_give_the_row_of_the_exchanged_game(name: str) -> None:
    game, features = find_game(name), FEATURES[name]
    sources, moves = features.symmetries()
    orders = np.array(list(permutations(range(4))))
    for which in (1, 9, 23):
        plain = Table(game, seed=5, options={"seats": 3})
        deck = exchanged_order(name, np.array(plain.deals[0], dtype=int), orders[which])
        other = Table(game, deals=[deck.tolist()], options={"seats": 3})
        for _ in range(12):
            seat = np.array([plain.mover])
            rows, choices = written(game, plain.state.array, seat)
            theirs, _ = written(game, other.state.array, seat)
            assert (rows[0, sources[which]] == theirs[0]).all()
            token = int(choices[0, -1])
            plain.act(int(features.action_of_token(plain.state.array[0], token)))
            moved = int(moves[which, token])
            other.act(int(features.action_of_token(other.state.array[0], moved)))
            if plain.over or len(plain.deals) > 1:
                break


# Games in batches


@kernel
def of_crazy_eights(states: Any, seat: int, actions: Any) -> int:
    return choose_card(states[0], seat, actions, len(actions))


@kernel
def of_uno(states: Any, seat: int, actions: Any) -> int:
    return choose_kind(states[0], seat, actions, len(actions))


def played(
    name: str, seats: Any, *, threads: int = 1, parts: int = 1, epsilon: float = 0.3
) -> tuple[Any, Any, Any]:
    """Return the seeds, the states at the end, and the learner's decisions."""
    tokens = LEARNING[name].TOKENS
    torch.manual_seed(0)
    player = Player([make_network(EXPANSIONS[name], width=8)])
    seeds = game_seeds(seeding.stream(3, "test"), len(seats))
    fresh = tokens.game.fresh(**tokens.game.read_options({"seats": 3}))
    bounds = np.linspace(0, len(seats), parts + 1).astype(int)
    groups = [
        TokenGames(
            tokens,
            np.repeat(fresh, b - a),
            seeds[a:b],
            seats[a:b],
            device=CPU,
            epsilon=epsilon,
            first=int(a),
        )
        for a, b in pairwise(bounds)
    ]
    samples = Samples()
    play(groups, [player], threads=threads, clock=Clock(CPU), samples=[samples])
    return seeds, np.concatenate([games.states for games in groups]), samples.joined()


@pytest.mark.parametrize("name", FEATURES)
def test_batched_games_are_the_games_one_by_one(name: str) -> None:
    game, features, tokens = find_game(name), FEATURES[name], LEARNING[name].TOKENS
    count, most = 10, tokens.episodes
    seats = np.full((count, most), LEARNER)
    seats[: count // 2, 1] = HEURISTIC
    seeds, ends, samples = played(name, seats, threads=2, parts=2)
    waiting: dict[int, list[tuple[Any, int]]] = defaultdict(list)
    for row, token, episode in zip(*(one.numpy() for one in samples[:3]), strict=True):
        waiting[int(episode)].append((row, int(token)))
    heuristic = of_crazy_eights if name == "crazy_eights" else of_uno
    order, scratch = np.zeros(game.deck, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    for number in range(count):
        state, deals = game.start({"seats": 3}), 0
        while state.mover != OVER:
            seat = state.mover
            if seat == DEALER:
                deck_order(seeds[number], deals, order, scratch)
                deals += 1
                game.bindings.deal(state.array, 0, order)
                continue
            row, choices = written(game, state.array, np.array([seat]))
            if seats[number, seat] == HEURISTIC:
                action = heuristic(state.array, seat, state.legal())
            elif len(set(choices[0].tolist())) == 1:
                action = features.action_of_token(state.array[0], int(choices[0, 0]))
            else:
                kept, token = waiting[number * most + seat].pop(0)
                assert (kept == row[0]).all()
                action = features.action_of_token(state.array[0], token)
            assert action in state.legal()
            game.bindings.apply(state.array, 0, action)
        assert ends[number].tobytes() == state.array[0].tobytes()
    assert not any(waiting.values())


@pytest.mark.parametrize("name", FEATURES)
def test_threads_and_parts_change_nothing(name: str) -> None:
    seats = np.full((9, LEARNING[name].TOKENS.episodes), LEARNER)
    seats[4:, 0] = RANDOM
    _, ends, samples = played(name, seats)
    _, again, same = played(name, seats, threads=3, parts=2)
    assert ends.tobytes() == again.tobytes()
    both = [
        sorted(
            (int(c), bytes(a), int(b))
            for a, b, c in zip(*(p.numpy() for p in part[:3]), strict=True)
        )
        for part in (samples, same)
    ]
    assert both[0] == both[1]


# Training

TINY: dict[str, Any] = {
    "games": 96,
    "batch_games": 32,
    "batch": 64,
    "evaluate_every": 2,
    "evaluate_games": 100,
    "warm_up": 4,
    "width": 8,
    "threads": 1,
    "device": "cpu",
}


def same_weights(one: Path, other: Path) -> bool:
    ours, theirs = (load_weights(run / "network.safetensors")[0] for run in (one, other))
    return ours.keys() == theirs.keys() and all(torch.equal(ours[key], theirs[key]) for key in ours)


@pytest.mark.slow
@pytest.mark.parametrize("name", FEATURES)
def test_an_interrupted_run_ends_like_an_undisturbed_one(name: str, tmp_path: Path) -> None:
    learning = LEARNING[name]
    config = learning.Config(**TINY)
    whole = learning.train(config, tmp_path / "whole", quiet)
    assert whole["games"] == 96
    # A time limit, like a kill between two loops, leaves a checkpoint; it is no other run.
    first = learning.train(dataclasses.replace(config, minutes=1e-6), tmp_path / "parts", quiet)
    assert first["games"] == 32
    seen: list[int] = []
    parts = learning.train(config, tmp_path / "parts", lambda _, done, __: seen.append(done))
    assert seen[0] == 32
    assert same_weights(tmp_path / "whole", tmp_path / "parts")
    assert parts["loss"] == whole["loss"]
    logs = [(tmp_path / run / "log.jsonl").read_text().splitlines() for run in ("whole", "parts")]
    assert [json.loads(one)["step"] for one in logs[1]] == [1, 2, 3]
    assert [json.loads(one)["loss"] for one in logs[0]] == [
        json.loads(one)["loss"] for one in logs[1]
    ]
    assert learning.train(config, tmp_path / "parts", quiet) == parts


@pytest.mark.slow
@pytest.mark.parametrize("name", FEATURES)
def test_a_killed_training_goes_on_with_little_installed(name: str, tmp_path: Path) -> None:
    """The plain command needs neither pydantic nor platformdirs; kill -9 loses one loop at most."""
    kill_and_go_on(f"{name}/transformer", tmp_path / "run", TINY, "checkpoint.safetensors")
    LEARNING[name].train(LEARNING[name].Config(**TINY), tmp_path / "whole", quiet)
    assert same_weights(tmp_path / "run", tmp_path / "whole")


@pytest.mark.slow
def test_learning_fits_the_returns_of_the_games(tmp_path: Path) -> None:
    settings = {
        **TINY,
        "learning_rate": 3e-3,
        "width": 16,
        "precision": "float32",
        "average": 0.0,
        "seats": "2",
    }
    config = crazy_eights_transformer.Config(**settings)
    training = Training(config, crazy_eights_transformer.subject(config), tmp_path)
    got, samples = training.play_self(60, epsilon=1.0)
    assert got.sum(1) == pytest.approx(0.0, abs=1e-6)
    assert set(np.unique(got)) >= {1.0, -1.0}
    told = samples.joined()
    rows, tokens, episodes, *_ = told
    targets = got.reshape(-1)[episodes.numpy()]
    for _ in range(25):
        samples.add(told)
        training.learn(samples, got, progress=0.0)
        training.loop += 1
    for network in (training.network, training.average):
        with torch.no_grad():
            values = network(rows, tokens[:, None])[:, 0].numpy()
        assert np.corrcoef(values, targets)[0, 1] > 0.35


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    for settings, told in (
        ({"seats": "1-2"}, "seats must be .*, got 1-2"),
        ({"seats": "x"}, "seats must be .*, got x"),
        ({"width": 6}, "width=6 must be a multiple of 4"),
        ({"epsilon": 0.01}, "epsilon must fall"),
        ({"share": 0.0}, "share must be above 0"),
        ({"evaluate_games": 5}, "evaluate_games=5 must be 100 or more"),
        ({"precision": "half"}, "precision must be bf16 or float32, got half"),
    ):
        with pytest.raises(CardlabError, match=told):
            crazy_eights_transformer.train(
                crazy_eights_transformer.Config(**settings), tmp_path / "a", quiet
            )
    with pytest.raises(CardlabError, match=r"rules must be .*, got house"):
        uno_transformer.train(uno_transformer.Config(rules="house"), tmp_path / "a", quiet)


# Agents


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of tiny real runs."""
    folder = tmp_path_factory.mktemp("runs")
    paths = {}
    for name, learning in LEARNING.items():
        learning.train(learning.Config(**{**TINY, "games": 32}), folder / name, quiet)
        (paths[name],) = learning.export(folder / name, name, folder / "shipped")
    return paths


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), EVERY, ids=str)
def test_agents_conform(made: dict[str, Path], name: str, options: dict[str, Any]) -> None:
    check_agent(lambda: TokenPlayer(made[name]), find_game(name), options)


@pytest.mark.slow
@pytest.mark.parametrize("name", FEATURES)
def test_torch_and_onnxruntime_say_the_same(made: dict[str, Path], name: str) -> None:
    game = find_game(name)
    states, seats = decisions(game, {"seats": 3}, 80)
    rows, choices = written(game, states, seats)
    network = make_network(EXPANSIONS[name], width=8)
    network.load_state_dict(
        load_weights(made[name].parent.parent / name / "network.safetensors")[0]
    )
    with torch.no_grad():
        wanted = network(torch.from_numpy(rows), torch.from_numpy(choices)).numpy()
    agent = TokenPlayer(made[name])
    assert agent._ask(rows, choices) == pytest.approx(wanted, abs=2e-3)
    assert isinstance(agent, HasValues)
    for i, state in enumerate(states_of(game, states)[:10]):
        turn = Turn(game, int(seats[i]), state.view(int(seats[i])), state.legal())
        values = agent.values(turn, np.random.default_rng(0))
        assert values.shape == turn.legal.shape
        assert values.max() == pytest.approx(wanted[i].max().clip(-1, 1), abs=2e-3)


@pytest.mark.slow
def test_files_that_do_not_fit_are_refused(made: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(CardlabError, match=r"network .* does not exist"):
        TokenPlayer(tmp_path / "none.onnx")
    uno_net = find_agent("uno_net", find_game("uno"))
    with pytest.raises(CardlabError, match=r"is for encoding 'fair', not 101; train and ship"):
        TokenPlayer(uno_net.path)  # type: ignore[union-attr]
    run = made["uno"].parent.parent / "uno"
    tensors, about = load_weights(run / "network.safetensors")
    save_weights(tmp_path / "network.safetensors", tensors, about | {"width": 16})
    with pytest.raises(CardlabError, match="holds another network; train it again"):
        uno_transformer.export(tmp_path, "transformer", tmp_path)


@pytest.mark.parametrize("name", FEATURES)
def test_shipped_agents_are_what_they_say(name: str) -> None:
    agent = find_agent(f"{name}_transformer", find_game(name))
    assert isinstance(agent, TokenPlayer)
    about = agent._network.about
    assert about == json.loads(agent.path.with_suffix(".json").read_text(encoding="utf-8"))
    assert about["command"].startswith(f"cardlab train {name}/transformer")
    assert agent.path.stat().st_size < 4 << 20
