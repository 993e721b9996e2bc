"""Training of Koi-Koi: games in batches, win predictors, supervised and Monte-Carlo learning."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import defaultdict
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import DEALER, OVER
from cardlab.engine.kernel import JIT, kernel
from cardlab.engine.play import Table
from cardlab.engine.seeding import deck_order
from cardlab.games.koi_koi.heuristic import choose
from cardlab.games.koi_koi.learning import monte_carlo as koi_koi_monte_carlo
from cardlab.games.koi_koi.learning import supervised as koi_koi_supervised
from cardlab.games.koi_koi.learning.games import KoiKoiGames, KoiKoiPlayer
from cardlab.games.koi_koi.learning.human_records import read_decisions
from cardlab.games.koi_koi.learning.network_files import load_networks, save_networks
from cardlab.games.koi_koi.learning.predictors import (
    PREDICTORS,
    Rounds,
    after_rounds,
    compare,
    fit,
    fit_dynamic,
    rounds_of,
)
from cardlab.games.koi_koi.networks.transformer import make_networks
from cardlab.games.koi_koi.rules import GAME, KOI_KOI, STOP, TAKE
from cardlab.games.koi_koi.table import MOST_ROUNDS
from cardlab.games.koi_koi.tokens import (
    DECISION_OF_KIND,
    KIND,
    MOST_CHOICES,
    PENDING_CARD,
    TOKENS,
    WIDTH,
    action_of_token,
    token_of_action,
    write_rows,
)
from cardlab.games.koi_koi.win_chances import OUTCOMES, two_hot
from cardlab.learning.runs import read_config
from cardlab.learning.token_games import (
    HEURISTIC,
    LEARNER,
    RANDOM,
    Clock,
    Samples,
    game_seeds,
    play,
)
from cardlab.networks.weights import load_weights
from tests.support.killed import LIGHT, kill_and_go_on
from tests.support.paths import koi_koi_records

CPU = torch.device("cpu")
pytestmark = pytest.mark.skipif(not JIT, reason="thousands of decisions")


def quiet(_: str, __: int, ___: int) -> None:
    """Report to nobody."""


# Games in batches


def played(
    seats: Any, *, epsilon: float = 0.0, threads: int = 1, design: str = "separate", parts: int = 1
) -> tuple[Any, Any, list[Any], Any]:
    """Return seeds, how the rounds ended, the learner's decisions, and the player."""
    torch.manual_seed(0)
    player = KoiKoiPlayer(make_networks(design, width=8), design)
    seeds = game_seeds(seeding.stream(3, "test"), len(seats))
    bounds = np.linspace(0, len(seats), parts + 1).astype(int)
    groups = [
        KoiKoiGames(seeds[a:b], seats[a:b], device=CPU, epsilon=epsilon, first=int(a))
        for a, b in pairwise(bounds)
    ]
    samples = [Samples() for _ in player.networks]
    play(groups, [player], threads=threads, clock=Clock(CPU), samples=samples)
    states = np.concatenate([games.states for games in groups])
    dealers = np.concatenate([games.first_dealers for games in groups])
    return seeds, rounds_of(states, dealers), [one.joined() for one in samples], player


@kernel
def heuristic_at(states: Any, seat: int, actions: Any) -> int:
    return choose(states[0], seat, actions, len(actions))


@pytest.mark.parametrize("design", ["separate", "shared"])
def test_batched_games_are_the_games_one_by_one(design: str) -> None:
    count = 12
    seats = np.full((count, 2), LEARNER)
    seats[: count // 2, 1] = HEURISTIC
    seeds, told, samples, player = played(seats, epsilon=0.3, threads=2, design=design, parts=2)
    waiting: dict[tuple[int, int], list[tuple[Any, int]]] = defaultdict(list)
    for network, (rows, tokens, episodes, *_) in enumerate(samples):
        for row, token, episode in zip(rows.numpy(), tokens, episodes, strict=True):
            waiting[int(episode), network].append((row, int(token)))
    order, scratch = np.zeros(48, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    row, choices = np.zeros((1, WIDTH), np.uint8), np.zeros((1, MOST_CHOICES), np.uint8)
    for game in range(count):
        state, deals = GAME.start(), 0
        first_dealer = None
        while state.mover != OVER:
            seat = state.mover
            if seat == DEALER:
                deck_order(seeds[game], deals, order, scratch)
                deals += 1
                GAME.bindings.deal(state.array, 0, order)
                continue
            if first_dealer is None:
                first_dealer = seat
            if seats[game, seat] == HEURISTIC:
                action = heuristic_at(state.array, seat, state.legal())
            else:
                write_rows(state.array, np.array([seat]), row, choices)
                network = player.network_of[DECISION_OF_KIND[row[0, KIND]]]
                episode = 2 * (game * MOST_ROUNDS + int(state.round_number) - 1) + seat
                kept, token = waiting[episode, network].pop(0)
                assert (kept == row[0]).all()
                action = action_of_token(state.array[0], token)
                assert action in state.legal()
            GAME.bindings.apply(state.array, 0, action)
        assert told.gains[game].tolist() == state.array[0].gains[:8].tolist()
        assert told.dealers[game, 0] == first_dealer
        assert told.played[game] == state.round_number
        assert told.results[game] == (state.returns()[0] + 1) / 2
    assert not any(waiting.values())


def test_greedy_play_takes_the_best_and_exploring_any() -> None:
    seats = np.full((8, 2), LEARNER)
    for epsilon, low, high in ((0.0, 1.0, 1.0), (0.5, 0.5, 0.9), (1.0, 0.0, 0.6)):
        _, _, samples, player = played(seats, epsilon=epsilon)
        rows, tokens, *_ = samples[0]
        every = torch.arange(TOKENS).expand(len(rows), -1)
        with torch.no_grad():
            values = player.networks[0](rows, every)
        legal = torch.zeros(len(rows), TOKENS, dtype=torch.bool)
        legal[:, :48] = rows[:, :48] >= 8
        best = values.masked_fill(~legal, -1e9).argmax(1)
        share = float((best == tokens).float().mean())
        assert low <= share <= high
        assert legal.gather(1, tokens.long()[:, None]).all()


def test_threads_and_parts_change_nothing() -> None:
    seats = np.full((10, 2), LEARNER)
    seats[3:, 0] = RANDOM
    _, told, samples, _ = played(seats, epsilon=0.2)
    _, again, same, _ = played(seats, epsilon=0.2, threads=3, parts=2)
    assert (told.gains == again.gains).all()
    for one, other in zip(samples, same, strict=True):
        sort = [np.lexsort((part[1], part[2])) for part in (one, other)]
        for a, b in zip(one[:3], other[:3], strict=True):  # values differ in the last bit
            assert sorted(map(bytes, a.numpy()[sort[0]])) == sorted(map(bytes, b.numpy()[sort[1]]))


# Predictors


def heuristic_rounds(count: int) -> Rounds:
    games = KoiKoiGames(
        game_seeds(seeding.stream(5, "test"), count), np.full((count, 2), HEURISTIC), device=CPU
    )
    play([games], [], threads=1, clock=Clock(CPU))
    return rounds_of(games.states, games.first_dealers)


def made_up(chance: float, win: int, lose: int, games: int = 20_000) -> Rounds:
    """Return rounds in which the dealer wins `win` points by chance, else loses `lose`."""
    rng = np.random.default_rng(0)
    gains = np.zeros((games, 8), dtype=np.int64)
    dealers = np.zeros((games, 8), dtype=np.int64)
    dealers[:, 0] = rng.integers(0, 2, games)
    for n in range(8):
        won = np.where(rng.random(games) < chance, win, -lose)
        gains[:, n] = np.where(dealers[:, n] == 0, won, -won)
        if n < 7:
            dealers[:, n + 1] = np.where(gains[:, n] > 0, 0, 1)
    before = np.cumsum(gains, axis=1) - gains
    over = np.abs(before) >= 30
    gains[over] = 0
    return Rounds(gains, (~over).sum(1), dealers, before, 8)


def test_the_dynamic_predictor_is_the_recursion() -> None:
    chance, win, lose = 0.6, 2, 3
    told = made_up(chance, win, lose)
    seen = (told.gains * np.where(told.dealers == 0, 1, -1) > 0).mean()
    assert seen == pytest.approx(chance, abs=0.01)

    def plain(left: int, deals: bool, lead: int) -> float:
        if left == 0 or abs(lead) >= 30:
            return 1.0 if lead > 0 else 0.0 if lead < 0 else 0.5
        if not deals:
            return 1.0 - plain(left, True, -lead)
        won = plain(left - 1, True, lead + win)
        return chance * won + (1 - chance) * plain(left - 1, False, lead - lose)

    table = fit_dynamic(told)
    for left in range(6):
        for lead in (-6, -3, -1, 0, 1, 2, 5):
            for deals in (0, 1):
                assert table[left, deals, lead + 30] == pytest.approx(
                    plain(left, bool(deals), lead), abs=0.03
                )


@pytest.mark.slow
def test_predictors_foretell_games_of_the_heuristic() -> None:
    told = heuristic_rounds(4000)
    losses = compare(told)
    for kind in PREDICTORS:
        table = fit(kind, told)
        assert losses[kind] < 0.6 < np.log(2)  # ln 2 is knowing nothing
        assert ((table >= 0) & (table <= 1)).all()
        assert (np.diff(table, axis=2) >= 0).all()  # a greater lead is never worse
        assert table[3, 1, 10:50] == pytest.approx(1 - table[3, 0, 10:50][::-1][:40], abs=0.2)
        ends = after_rounds(table, told)
        assert ends.sum(-1) == pytest.approx(1.0)
        last = told.played - 1
        assert ends[np.arange(4000), last, 0] == pytest.approx(told.results)
    # With one round left, level, dealing: what the games themselves say, which no line can bend to.
    lead = (told.before + told.gains)[:, 6]
    for mine in range(2):
        level = (lead == 0) & ((told.gains[:, 6] > 0) == bool(mine)) & (told.played == 8)
        share = told.results[level].mean()
        margin = 3 * 0.5 / np.sqrt(level.sum())
        assert fit_dynamic(told)[1, mine, 30] == pytest.approx(share, abs=margin)


def test_gains_are_shared_out_between_ends_so_that_their_mean_stays() -> None:
    gains = np.arange(-70, 71)
    shares = two_hot(gains)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert shares @ OUTCOMES == pytest.approx(np.clip(gains, -60, 60))
    for gain, share in zip(gains, shares, strict=True):
        near = OUTCOMES[share > 0]
        assert len(near) == (1 if gain in OUTCOMES or abs(gain) > 60 else 2)
        assert not ((near.min() < OUTCOMES) & (near.max() > OUTCOMES)).any()  # no end lies between
    assert (two_hot(gains.reshape(3, 47)) == shares.reshape(3, 47, -1)).all()


@pytest.mark.parametrize("design", ["separate", "shared"])
def test_the_best_end_is_what_the_network_values_most(design: str) -> None:
    """What the learner plays and keeps: the choice of the highest value, how it is seen to end."""
    torch.manual_seed(0)
    networks = make_networks(design, width=8, outcomes="win")
    for network in networks.values():
        network.chances.copy_(torch.rand(network.chances.shape))
    player = KoiKoiPlayer(networks, design)
    seats = np.full((6, 2), LEARNER)
    games = KoiKoiGames(game_seeds(1, 6), seats, device=CPU, epsilon=0.5)
    samples = [Samples() for _ in networks]
    asked: list[Any] = []
    whole = player.best

    def best(number: int, rows: Any, choices: Any) -> Any:
        found = whole(number, rows, choices)
        asked.append((number, rows, choices, found))
        return found

    player.best = best  # type: ignore[method-assign]
    play([games], [player], threads=1, clock=Clock(CPU), samples=samples)
    kept: dict[int, list[Any]] = defaultdict(list)
    for number, rows, choices, (places, seen) in asked:
        network = player.networks[number]
        with torch.no_grad():
            values = network(rows, choices)
            likely = network.predict(rows, choices).softmax(-1)
        at = torch.arange(len(rows))
        assert torch.allclose(values[at, places], values.max(1).values, atol=1e-6)
        assert torch.equal(seen, likely[at, places])
        kept[number].append(seen)
    for number, one in enumerate(samples):
        decided = one.joined()
        assert torch.equal(decided.values, torch.cat(kept[number]))
        assert decided.explored.float().mean() > 0.1


# Monte-Carlo learning

TINY: dict[str, Any] = {
    "device": "cpu",
    "games": 48,
    "batch_games": 16,
    "batch": 64,
    "refit_every": 2,
    "refit_games": 8,
    "evaluate_every": 2,
    "evaluate_games": 4,
    "first_phase": 16,
    "warm_up": 4,
    "width": 8,
    "threads": 1,
    "design": "shared",
}


def weights_of(folder: Path, name: str) -> Any:
    return load_weights(folder / f"{name}.safetensors")[0]


def same_weights(one: Path, other: Path, name: str = "all") -> bool:
    ours, theirs = weights_of(one, name), weights_of(other, name)
    return ours.keys() == theirs.keys() and all(torch.equal(ours[key], theirs[key]) for key in ours)


@pytest.mark.slow
@pytest.mark.parametrize("outcomes", [False, True])
def test_an_interrupted_run_ends_like_an_undisturbed_one(tmp_path: Path, outcomes: bool) -> None:
    config = koi_koi_monte_carlo.Config(**TINY, outcomes=outcomes)
    whole = koi_koi_monte_carlo.train(config, tmp_path / "whole", quiet)
    assert whole["games"] == 48
    assert whole["phase"] == 2

    class Stop(Exception):
        pass

    def stop(_: str, done: int, __: int) -> None:
        if done == 32:
            raise Stop

    with pytest.raises(Stop):
        koi_koi_monte_carlo.train(config, tmp_path / "parts", stop)
    seen: list[int] = []
    parts = koi_koi_monte_carlo.train(
        config, tmp_path / "parts", lambda _, done, __: seen.append(done)
    )
    assert seen[0] == 32
    for name in ("loss/all", "heuristic/points", "random/wins"):
        assert parts[name] == whole[name]
    assert same_weights(tmp_path / "whole", tmp_path / "parts")
    logs = [(tmp_path / run / "log.jsonl").read_text().splitlines() for run in ("whole", "parts")]
    assert [json.loads(one)["step"] for one in logs[1]] == [1, 2, 3]
    assert json.loads(logs[0][1])["loss/all"] == json.loads(logs[1][1])["loss/all"]
    assert koi_koi_monte_carlo.train(config, tmp_path / "parts", quiet) == parts


@pytest.mark.slow
def test_a_killed_training_goes_on_with_little_installed(tmp_path: Path) -> None:
    """The plain command needs neither pydantic nor platformdirs; kill -9 loses one loop at most."""
    settings = {**TINY, "reward": "point", "design": "separate", "games": 32}
    out = kill_and_go_on("koi_koi/monte_carlo", tmp_path / "run", settings, "state.json")
    assert json.loads(out[out.index("{") :])["games"] == 32
    koi_koi_monte_carlo.train(koi_koi_monte_carlo.Config(**settings), tmp_path / "whole", quiet)
    for name in ("discard", "pick", "koi_koi"):
        assert same_weights(tmp_path / "run", tmp_path / "whole", name)
    assert len(list((tmp_path / "run").glob("*.safetensors"))) == 3


@pytest.mark.slow
def test_time_that_is_up_stops_with_a_checkpoint(tmp_path: Path) -> None:
    config = koi_koi_monte_carlo.Config(reward="point", **TINY, minutes=1e-6)
    summary = koi_koi_monte_carlo.train(config, tmp_path, quiet)
    assert (summary["games"], summary["finished"]) == (16, False)
    sizes = [path.stat().st_size for path in tmp_path.glob("checkpoint-*")]
    assert len(sizes) == 1
    _, design, about = load_networks(tmp_path, CPU, torch.float32)
    assert (design, about["games"]) == ("shared", 16)
    # Another time limit, or other threads, are no other run.
    config = koi_koi_monte_carlo.Config(reward="point", **{**TINY, "threads": 2})
    assert koi_koi_monte_carlo.train(config, tmp_path, quiet)["finished"]


@pytest.mark.slow
def test_phase_one_plays_against_a_supervised_agent(tmp_path: Path) -> None:
    rivals = tmp_path / "rivals"
    rivals.mkdir()
    torch.manual_seed(0)
    save_networks(rivals, make_networks("shared", width=8), "shared", {})
    settings = {**TINY, "games": 32, "against": str(rivals)}
    summary = koi_koi_monte_carlo.train(
        koi_koi_monte_carlo.Config(**settings), tmp_path / "run", quiet
    )
    assert 0 <= summary["supervised/wins"] <= 1
    first = json.loads((tmp_path / "run" / "log.jsonl").read_text().splitlines()[0])
    second = json.loads((tmp_path / "run" / "log.jsonl").read_text().splitlines()[1])
    # Half of the decisions are the rival's in phase 1, none in phase 2.
    assert first["decisions/all"] < 0.75 * second["decisions/all"]


@pytest.mark.slow
def test_learning_fits_the_rewards_of_the_actions_taken(tmp_path: Path) -> None:
    settings = {**TINY, "learning_rate": 3e-3, "reward": "point", "width": 16, "warm_up": 1}
    training = koi_koi_monte_carlo.Training(koi_koi_monte_carlo.Config(**settings), tmp_path)
    told, samples = training.play("loop", np.full((6, 2), LEARNER), epsilon=1.0, keep=True)
    parts = samples[0].joined()
    rewards = training.rewards(told)
    by_round = rewards.numpy().reshape(6, MOST_ROUNDS, 2)[:, :8]
    assert by_round[..., 0] * 10 == pytest.approx(told.gains)
    assert (by_round[..., 1] == -by_round[..., 0]).all()
    targets = rewards[parts[2].long()].numpy()
    assert targets.std() > 0.1
    for _ in range(12):
        samples[0].add(parts)
        training.learn(samples, rewards, progress=0.0)
        training.loop += 1
    with torch.no_grad():
        values = training.networks["all"](parts[0], parts[1][:, None])[:, 0].numpy()
    assert np.corrcoef(values, targets)[0, 1] > 0.4
    assert training.notes["loss/all"] < 0.9 * targets.var()


@pytest.mark.slow
def test_learning_fits_how_rounds_ended(tmp_path: Path) -> None:
    settings = {**TINY, "learning_rate": 3e-3, "width": 16, "warm_up": 1, "outcomes": True}
    training = koi_koi_monte_carlo.Training(koi_koi_monte_carlo.Config(**settings), tmp_path)
    training.load()
    told, samples = training.play("loop", np.full((6, 2), LEARNER), epsilon=1.0, keep=True)
    parts = samples[0].joined()
    rewards = training.rewards(told)
    by_round = rewards.numpy().reshape(6, MOST_ROUNDS, 2, len(OUTCOMES))[:, :8]
    happened = told.happened
    assert (by_round[..., 0, :] @ OUTCOMES)[happened] == pytest.approx(told.gains[happened])
    assert (by_round[..., 1, :] == by_round[..., 0, ::-1]).all()  # the other seat's is the mirror
    targets = rewards[parts[2].long()]
    losses = []
    for _ in range(12):
        samples[0].add(parts)
        training.learn(samples, rewards, progress=0.0)
        training.loop += 1
        losses.append(training.notes["loss/all"])
    usual = targets.mean(0)
    least = -(usual * usual.clamp(min=1e-9).log()).sum()  # who predicts what is usual, no more
    assert losses[0] > least
    assert losses[-1] < 0.95 * least
    with torch.no_grad():
        network = training.networks["all"]
        chances = network.predict(parts[0], parts[1][:, None]).softmax(-1)
        values = network.value(parts[0], chances)[:, 0]
    won = network.value(parts[0], targets[:, None])[:, 0]  # what the ends were worth
    assert np.corrcoef(values.numpy(), won.numpy())[0, 1] > 0.4


def test_traces_are_those_of_a_plain_loop() -> None:
    """Targets from the back of each episode, decision by decision, as a person would."""
    rng = np.random.default_rng(5)
    episodes = rng.integers(0, 9, 200)
    moments = rng.permutation(200)
    values, rewards = rng.normal(size=200), rng.normal(size=9)
    explored = rng.random(200) < 0.3
    told = koi_koi_monte_carlo.Traced(
        *(torch.from_numpy(one) for one in (episodes, moments, values, explored))
    )
    found = koi_koi_monte_carlo.trace_back(told, torch.from_numpy(rewards), 0.7).numpy()
    for episode in range(9):
        mine = sorted(np.flatnonzero(episodes == episode), key=lambda i: moments[i])
        wanted, following = rewards[episode], None
        for i in reversed(mine):
            if following is not None:
                mixed = 0.3 * values[following] + 0.7 * wanted
                wanted = values[following] if explored[following] else mixed
            assert found[i] == pytest.approx(wanted)
            following = i
    # Chances of ends are mixed like numbers, each by itself.
    more = torch.from_numpy(rng.normal(size=(200, 2)))
    both = told._replace(values=torch.cat([told.values[:, None], more], dim=1))
    ends = torch.from_numpy(np.stack([rewards, rewards, rewards], axis=1))
    mixed = koi_koi_monte_carlo.trace_back(both, ends, 0.7).numpy()
    assert mixed[:, 0] == pytest.approx(found)
    alone = told._replace(values=more[:, 1])
    last = koi_koi_monte_carlo.trace_back(alone, torch.from_numpy(rewards), 0.7).numpy()
    assert mixed[:, 2] == pytest.approx(last)


@pytest.mark.slow
def test_a_training_begins_with_another_and_keeps_its_rival(tmp_path: Path) -> None:
    first = {**TINY, "games": 16, "reward": "point"}
    koi_koi_monte_carlo.train(koi_koi_monte_carlo.Config(**first), tmp_path / "first", quiet)
    settings = {**TINY, "start": str(tmp_path / "first"), "trace": 0.7, "first_phase": 0}
    training = koi_koi_monte_carlo.Training(
        koi_koi_monte_carlo.Config(**settings, rivals=0.5), tmp_path / "second"
    )
    training.load()
    begun = load_networks(tmp_path / "first", CPU, torch.float32)[0]
    for name, network in begun.items():
        for key, one in network.state_dict().items():
            assert torch.equal(one, training.networks[name].state_dict()[key])
    training.run_loop()
    assert (training.games, training.behind) == (TINY["batch_games"], 16 + TINY["batch_games"])
    some = training.notes["decisions/all"]
    alone = koi_koi_monte_carlo.Training(koi_koi_monte_carlo.Config(**settings), tmp_path / "third")
    alone.load()
    alone.run_loop()
    # Half of the games have one learner instead of two.
    assert 0.6 < some / alone.notes["decisions/all"] < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("design", ["separate", "shared"])
def test_ends_begin_with_networks_that_valued_points(tmp_path: Path, design: str) -> None:
    first = {**TINY, "games": 16, "reward": "point", "design": design}
    koi_koi_monte_carlo.train(koi_koi_monte_carlo.Config(**first), tmp_path / "first", quiet)
    valued = load_networks(tmp_path / "first", CPU, torch.float32)[0]
    settings = {**first, "outcomes": True, "start": str(tmp_path / "first"), "first_phase": 0}
    training = koi_koi_monte_carlo.Training(
        koi_koi_monte_carlo.Config(**settings), tmp_path / "second"
    )
    training.load()
    _, samples = training.play("loop", np.full((6, 2), LEARNER), epsilon=0.5, keep=True)
    for (name, network), kept in zip(valued.items(), samples, strict=True):
        rows, tokens = kept.joined()[:2]
        with torch.no_grad():
            before = network(rows, tokens[:, None])[:, 0].numpy()
            after = training.networks[name](rows, tokens[:, None])[:, 0].numpy()
        near = np.abs(before) < 1  # ten points: beyond, no shift of what is usual is enough
        assert near.mean() > 0.5
        assert after[near] == pytest.approx(before[near], abs=0.15)
        assert (np.diff(after[np.argsort(before)]) >= -1e-5).all()  # the same choices


@pytest.mark.slow
def test_ends_are_played_learned_and_begun_with(tmp_path: Path) -> None:
    def begin(name: str, **settings: Any) -> dict[str, Any]:
        config = koi_koi_monte_carlo.Config(**{**TINY, "trace": 0.5, **settings})
        return koi_koi_monte_carlo.train(config, tmp_path / name, quiet)

    plain, other = str(tmp_path / "plain"), str(tmp_path / "outcomes")
    begin("plain", games=16)
    with pytest.raises(
        CardlabError, match="learned neither outcomes nor points; with outcomes=true begin"
    ):
        begin("wrong", outcomes=True, start=plain)
    summary = begin("outcomes", outcomes=True)
    assert summary["games in all"] == 48
    state = json.loads((tmp_path / "outcomes" / "state.json").read_text())
    kept = weights_of(tmp_path / "outcomes", "all")["chances"].numpy()
    assert kept == pytest.approx(np.array(state["table"]), abs=1e-5)
    with pytest.raises(CardlabError, match="networks that learned outcomes; set outcomes=true"):
        begin("worse", start=other)
    with pytest.raises(CardlabError, match="networks of width 8; set width=8"):
        begin("wide", start=other, outcomes=True, width=16)
    # What was learned to win serves points: the ends are the same, their worth is another.
    summary = begin("points", games=16, outcomes=True, reward="point", start=other)
    assert summary["games in all"] == 64
    assert "chances" not in weights_of(tmp_path / "points", "all")
    # A run that is not at its end serves as well as one that is.
    begin("half", games=48, reward="point", minutes=1e-6)
    summary = begin("more", games=16, outcomes=True, start=str(tmp_path / "half"))
    assert summary["games in all"] == 32
    # A run from before the setting goes on: it had its default.
    config = json.loads((tmp_path / "plain" / "config.json").read_text())
    del config["outcomes"]
    (tmp_path / "plain" / "config.json").write_text(json.dumps(config))
    begin("plain", games=16)
    config["ends"] = False  # its name before
    (tmp_path / "plain" / "config.json").write_text(json.dumps(config))
    begin("plain", games=16)
    assert read_config(koi_koi_monte_carlo.Config, ["ends=true"]).outcomes
    with pytest.raises(CardlabError, match=r"other settings \(outcomes\)"):
        begin("plain", games=16, outcomes=True)


@pytest.mark.slow
def test_a_share_of_the_discards_and_all_rare_decisions_are_learned_from(tmp_path: Path) -> None:
    settings = TINY | {"design": "separate", "batch": 8, "share": 0.25, "first_phase": 0}
    training = koi_koi_monte_carlo.Training(koi_koi_monte_carlo.Config(**settings), tmp_path)
    training.load()
    training.run_loop()
    counts = {name: int(training.notes[f"decisions/{name}"]) for name in training.networks}
    assert counts["discard"] > 5 * counts["pick"]
    rare = counts["pick"] // 8 + counts["koi_koi"] // 8
    assert training.steps == int(0.25 * counts["discard"]) // 8 + rare


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    for settings, told in (
        ({"reward": "money"}, "reward must be point or win, got money"),
        ({"design": "x"}, "design must be .*, got x"),
        ({"evaluate_games": 3}, "evaluate_games must be an even number"),
        ({"epsilon": 0.01}, "epsilon must fall"),
        ({"last_rate": 0.0}, "last_rate=0.0 must be above 0 and at most 1"),
        ({"against": str(tmp_path / "none")}, "none names no folder; give"),
        ({"device": "tpu"}, "device=tpu is unknown"),
    ):
        with pytest.raises(CardlabError, match=told):
            koi_koi_monte_carlo.train(koi_koi_monte_carlo.Config(**settings), tmp_path / "a", quiet)
    line = [sys.executable, "-c", LIGHT, "koi_koi/monte_carlo", "--set=game=3"]
    line += ["--out", str(tmp_path / "b")]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("cardlab: unknown setting 'game'")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["koi_koi/monte_carlo", "--reward", "money"], "reward must be point or win, got money"),
        (["koi_koi/supervised", "--records", "no-such-file"], "no-such-file cannot be read"),
        (["koi_koi/supervised", "--reward", "win"], "unknown setting 'reward'"),
    ],
)
def test_the_command_takes_records_and_reward(
    arguments: list[str], told: str, tmp_path: Path
) -> None:
    line = [sys.executable, "-m", "cardlab.cli", "train", *arguments, "--out", str(tmp_path / "a")]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert told in " ".join(ended.stderr.split())


# Supervised learning


def told_card(card: int) -> list[int]:
    return [card // 4 + 1, card % 4 + 1]


def recorded(seed: int) -> dict[str, Any]:
    """Return a game of the heuristic in the form of the authors' records."""
    table = Table(GAME, seed=seed)
    rounds: list[dict[str, Any]] = []
    while not table.over:
        s = table.state.array[0]
        if len(rounds) < s.round_number:
            cards = [told_card(int(card)) for card in table.deals[-1]]
            rounds.append(
                {
                    "round": int(s.round_number),
                    "dealer": table.mover + 1,
                    "hand1": cards[:8],
                    "hand2": cards[8:16],
                    "field": cards[16:24],
                    "stock": cards[24:],
                    "steps": [],
                }
            )
        seat, turn, drawn = table.mover, int(s.turn) + 1, int(s.phase) == 4
        action = int(heuristic_at(table.state.array, seat, table.state.legal()))
        if action >= STOP:
            step = [turn, seat + 1, "koikoi", action == KOI_KOI, [False, True], 0]
        elif action >= TAKE:
            phase = "draw-pick" if drawn else "discard-pick"
            step = [turn, seat + 1, phase, told_card(action - TAKE), [], None]
        else:
            step = [turn, seat + 1, "discard", told_card(action), [], None]
        rounds[-1]["steps"].append(step)
        table.act(action)
    return {"round_total": 8, "rounds": rounds}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "games.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(recorded(seed)) + "\n" for seed in range(10))
    return path


FEW: dict[str, Any] = {
    "device": "cpu",
    "folds": 2,
    "epochs": 2,
    "width": 8,
    "batch": 64,
    "validation": 0.2,
}


def test_recorded_games_become_decisions(records: Path) -> None:
    decisions = read_decisions(records)
    assert set(decisions.games) == set(range(10))
    assert decisions.counts()["discard"] > 500
    assert min(decisions.counts().values()) > 20
    # The first game again, decision by decision.
    table, number = Table(GAME, seed=0), 0
    while not table.over:
        action = int(heuristic_at(table.state.array, table.mover, table.state.legal()))
        token = decisions.choices[number, decisions.slots[number]]
        assert token == token_of_action(action)
        table.act(action)
        number += 1
    assert number == (decisions.games == 0).sum()


def test_the_authors_records_have_their_numbers() -> None:
    path = koi_koi_records()
    if path is None:
        pytest.skip("no human games here; set CARDLAB_KOI_KOI_RECORDS to their file")
    assert read_decisions(path).counts() == {"discard": 17821, "pick": 1846, "koi_koi": 1768}


def test_exchanged_months_give_the_row_of_the_exchanged_game(records: Path) -> None:
    source, move = koi_koi_supervised.symmetries()
    decisions = read_decisions(records)
    plain = json.loads(gzip.decompress(records.read_bytes()).splitlines()[0])
    length = int((decisions.games == 0).sum())
    for which in range(4):
        changed = json.loads(json.dumps(plain))

        def exchange(card: list[int], which: int = which) -> list[int]:
            return told_card(int(move[which][4 * (card[0] - 1) + card[1] - 1]))

        for one in changed["rounds"]:
            for zone in ("hand1", "hand2", "field", "stock"):
                one[zone] = [exchange(card) for card in one[zone]]
            for step in one["steps"]:
                if step[2] != "koikoi":
                    step[3] = exchange(step[3])
        path = records.parent / f"exchanged-{which}.jsonl"
        path.write_text(json.dumps(changed) + "\n")
        theirs = read_decisions(path)
        rows = decisions.rows[:length][:, source[which]]
        rows[:, PENDING_CARD] = move[which].numpy()[rows[:, PENDING_CARD]]
        assert (rows == theirs.rows).all()
        taken = decisions.choices[np.arange(length), decisions.slots[:length]]
        assert (move[which].numpy()[taken] == theirs.choices[np.arange(length), theirs.slots]).all()
    assert len({tuple(one) for one in move.tolist()}) == 4


@pytest.mark.slow
@pytest.mark.parametrize("design", ["separate", "shared"])
def test_cross_validation_tests_every_game_once(records: Path, tmp_path: Path, design: str) -> None:
    config = koi_koi_supervised.Config(records=str(records), design=design, **FEW)
    summary = koi_koi_supervised.train(config, tmp_path, quiet)
    counts = read_decisions(records).counts()
    assert {name: summary[f"decisions/{name}"] for name in counts} == counts
    assert summary["decisions/overall"] == sum(counts.values())
    results = json.loads((tmp_path / "results.json").read_text())
    folds = [one["discard"]["of"] for name, one in results.items() if "discard" in one]
    assert [sum(np.array(one) > 0) for one in folds] == [5, 5]
    assert (np.sum(folds, axis=0) > 0).all()
    names = {path.stem for path in tmp_path.glob("*.safetensors")}
    assert names == ({"discard", "pick", "koi_koi"} if design == "separate" else {"all"})


@pytest.mark.slow
def test_networks_begin_where_the_settings_say(records: Path, tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("other", 2)):
        settings = FEW | {"folds": 0, "seed": seed}
        koi_koi_supervised.train(
            koi_koi_supervised.Config(records=str(records), **settings), tmp_path / name, quiet
        )
    config = koi_koi_supervised.Config(
        records=str(records),
        start=str(tmp_path / "one"),
        start_koi_koi=str(tmp_path / "other"),
        **FEW,
    )
    folder = tmp_path / "run"
    folder.mkdir()
    training = koi_koi_supervised.Training(config, folder, quiet)
    with closing(training.log):
        assert training._run_unit("fold 0", "discard")
    formed = load_weights(folder / "start-fold-0.safetensors")[0]
    begun = {
        "discard": weights_of(tmp_path / "one", "discard"),
        "pick": formed,
        "koi_koi": weights_of(tmp_path / "other", "koi_koi"),
    }
    for name, wanted in begun.items():
        unit = training._make_unit("fold 0", name)
        for network in (unit.network, unit.averaged, unit.best):
            for key, one in network.state_dict().items():
                assert torch.equal(one, wanted[key])


@pytest.mark.slow
def test_networks_that_foresaw_ends_learn_from_people_too(records: Path, tmp_path: Path) -> None:
    networks = make_networks("separate", width=FEW["width"], outcomes="win")
    save_networks(tmp_path, networks, "separate", {})
    settings = FEW | {"folds": 0, "start": str(tmp_path)}
    (tmp_path / "run").mkdir()
    config = koi_koi_supervised.Config(records=str(records), **settings)
    training = koi_koi_supervised.Training(config, tmp_path / "run", quiet)
    with closing(training.log):
        unit = training._make_unit("final", "discard")
        begun = networks["discard"].state_dict()
        for key, one in unit.network.state_dict().items():
            assert key.startswith("network.last.") or torch.equal(one, begun[key])
        assert unit.network.network.last.out_features == 1
        assert not hasattr(unit.network, "chances")
        assert torch.equal(unit.best.network.last.weight, unit.network.network.last.weight)


@pytest.mark.slow
def test_people_who_follow_rules_are_foretold(records: Path, tmp_path: Path) -> None:
    """The heuristic stops or goes on by simple rules: a network learns more than the usual one."""
    config = koi_koi_supervised.Config(
        records=str(records),
        design="shared",
        folds=2,
        epochs=12,
        width=16,
        batch=32,
        learning_rate=4e-3,
        dropout=0.0,
        average=0.9,
        final=False,
    )
    summary = koi_koi_supervised.train(config, tmp_path, quiet)
    decisions = read_decisions(records)
    discards = decisions.only(decisions.kinds == 0)
    guess = np.mean([1 / len(set(one)) for one in discards.choices.tolist()])
    assert summary["accuracy/discard"] > guess + 0.1


@pytest.mark.slow
def test_a_killed_supervised_training_goes_on(records: Path, tmp_path: Path) -> None:
    settings = {**FEW, "records": str(records), "design": "shared"}
    out = kill_and_go_on("koi_koi/supervised", tmp_path / "run", settings, "unit.safetensors")
    config = koi_koi_supervised.Config(records=str(records), design="shared", **FEW)
    whole = koi_koi_supervised.train(config, tmp_path / "whole", quiet)
    summary = json.loads(out[out.index("{") :])
    assert summary == json.loads(json.dumps(whole))
    assert same_weights(tmp_path / "run", tmp_path / "whole", "all")
    assert koi_koi_supervised.train(config, tmp_path / "whole", quiet) == summary  # it has ended


def test_mistakes_about_records_are_one_sentence(records: Path, tmp_path: Path) -> None:
    for settings, told in (
        ({}, "name their file with records=FILE"),
        ({"records": str(tmp_path / "none")}, "cannot be read"),
        ({"records": str(records), "folds": 11}, "holds 10 games, too few for 11 folds"),
        ({"records": str(records), "dropout": 1.0}, "dropout and average must be"),
        ({"records": str(records), "start_koi_koi": "x"}, "start_koi_koi=x goes with start"),
    ):
        with pytest.raises(CardlabError, match=told):
            koi_koi_supervised.train(
                koi_koi_supervised.Config(**settings), tmp_path / told[:9], quiet
            )
    broken = tmp_path / "broken.jsonl"
    told = recorded(0)
    told["rounds"][0]["steps"][0][3] = [1, 1]
    told["rounds"][0]["steps"][1] = told["rounds"][0]["steps"][0]
    broken.write_text(json.dumps(told) + "\n")
    with pytest.raises(CardlabError, match=r"broken.jsonl, line 1: this is no recorded game"):
        read_decisions(broken)
    broken.write_text("no JSON\n")
    with pytest.raises(CardlabError, match="line 1: this is no recorded game"):
        read_decisions(broken)
