"""Tables, records, batches: the border where actions and files come in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab import Batch, CardlabError, IllegalAction, Table, find_agent, play_game
from cardlab.engine import seeding
from cardlab.engine.game import FollowsGames, Game, Turn
from cardlab.engine.play import check_action, open_game
from cardlab.engine.playouts import play_randomly
from cardlab.engine.records import Record, append_records, read_records
from cardlab.engine.replay import replay
from cardlab.testing import random_table


def test_a_table_refuses_with_a_sentence(crazy_eights: Game) -> None:
    table = Table(crazy_eights, seed=1)
    wrong = next(a for a in range(48) if a not in table.state.legal())
    with pytest.raises(IllegalAction, match=r"crazy_eights, ply 0: seat 0 cannot take .* legal:"):
        table.act(wrong)
    for nonsense in (-1, 66, 1.0, "7H", None, True):
        with pytest.raises(IllegalAction):
            table.act(nonsense)  # type: ignore[arg-type]
    finished = random_table(crazy_eights, {}, 1)
    with pytest.raises(IllegalAction, match="is over"):
        finished.act(0)


def test_a_deal_from_a_kitchen_table(crazy_eights: Game) -> None:
    first = random_table(crazy_eights, {}, 5)
    text = first.record(["a", "b"]).deals[0]
    again = Table(crazy_eights, deals=[text.lower().replace("t", "10")])
    assert again.state.array.tobytes() == Table(crazy_eights, seed=5).state.array.tobytes()


def test_agents_see_private_copies(crazy_eights: Game) -> None:
    class Vandal:
        name = "vandal"

        def act(self, turn: Turn, rng: np.random.Generator) -> int:
            choice = int(turn.legal[0])
            turn.view.array["hands"] = -1
            turn.legal[:] = 0
            return choice

    class VandalOpen:
        name = "vandal_open"

        def act_open(self, state: Any, rng: np.random.Generator) -> int:
            choice = int(state.legal()[0])
            state.array["hands"] = 0
            return choice

    record = play_game(crazy_eights, [Vandal(), VandalOpen()], seed=3)
    assert record.result
    *_, table = replay(record)
    assert table.over


def test_play_is_reproducible_and_needs_an_agent_for_each_seat(crazy_eights: Game) -> None:
    agents = [find_agent("monte_carlo:20", crazy_eights), find_agent("random", crazy_eights)]
    assert play_game(crazy_eights, agents, seed=0) == play_game(crazy_eights, agents, seed=0)
    assert play_game(crazy_eights, agents, seed=0) != play_game(crazy_eights, agents, seed=1)
    with pytest.raises(CardlabError, match="crazy_eights needs 2 agents, got 1"):
        play_game(crazy_eights, agents[:1], seed=0)


def record_of(game: Game, seed: int = 2) -> dict[str, Any]:
    table = random_table(game, {}, seed)
    data: dict[str, Any] = json.loads(table.record(["x", "y"]).to_line())
    return data


def swap_first_actions(data: dict[str, Any]) -> None:
    data["actions"][0], data["actions"][1] = data["actions"][1], data["actions"][0]


@pytest.mark.parametrize(
    ("tamper", "answer"),
    [
        (lambda d: d.update(rules=99), "follows rules version 99"),
        (lambda d: d.update(game="crazy_eight"), "did you mean 'crazy_eights'"),
        (lambda d: d["actions"].__setitem__(0, [99, "7H"]), "action 99 is not an action"),
        (lambda d: d["actions"].__setitem__(0, [d["actions"][0][0], "zz"]), "the record says 'zz'"),
        (swap_first_actions, "cannot take action"),
        (lambda d: d["actions"].pop(), "the result is missing"),
        (lambda d: d["actions"].append(d["actions"][-1]), "the game is over"),
        (lambda d: d["result"]["points"].__setitem__(0, 999.0), "the record says"),
        (lambda d: d.pop("result"), "the record says missing"),
        (lambda d: d["deals"].append(d["deals"][0]), "holds 2 deals, but the game used 1"),
        (lambda d: d["deals"].clear(), "needs deal 1"),
        (lambda d: d["seats"].append("z"), "names 3 seats"),
        (lambda d: d["options"].update(seats=9), "seats=9"),
    ],
)
def test_tampered_records(crazy_eights: Game, tamper: Any, answer: str) -> None:
    data = record_of(crazy_eights)
    list(replay(Record.model_validate(data)))
    tamper(data)
    with pytest.raises(CardlabError, match=answer):
        list(replay(Record.model_validate(data)))


def test_records_in_files(crazy_eights: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with pytest.raises(CardlabError, match=r"folder .*nowhere does not exist; make it"):
        append_records(tmp_path / "nowhere" / "games.jsonl")
    for seed in range(3):
        append_records(path, random_table(crazy_eights, {}, seed).record(["x", "y"]))
    assert [number for number, _ in read_records(path)] == [1, 2, 3]
    for text, answer in [
        ("{", "line 4 is cut off"),
        ("[]", "line 4: not a game record"),
        ('{"game": "crazy_eights"}', "line 4: not a game record: rules: Field required"),
    ]:
        broken = tmp_path / "broken.jsonl"
        broken.write_text(path.read_text() + text + "\n")
        with pytest.raises(CardlabError, match=answer):
            list(read_records(broken))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for bad in ("missing.jsonl", "binary", "."):
        with pytest.raises(CardlabError, match="one JSON line each"):
            list(read_records(tmp_path / bad))


def test_an_open_line_is_closed_first(crazy_eights: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record = random_table(crazy_eights, {}, 1).record(["x", "y"])
    path.write_text(record.to_line())
    append_records(path, record)
    assert [one for _, one in read_records(path)] == [record, record]


def test_a_generator_tells_nothing_of_the_deal() -> None:
    # The streams can be computed backwards; a generator is therefore seeded through a hash.
    rng = seeding.generator(7, "seat", 0)
    shown = rng.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
    assert shown != seeding.stream(7, "seat", 0)
    assert shown > 1 << 64


def test_nobody_sits_outside_the_table(crazy_eights: Game) -> None:
    table = Table(crazy_eights, seed=1)
    for seat in (-1, 2, 5):
        with pytest.raises(CardlabError, match="has no seat"):
            table.state.view(seat)
    with pytest.raises(CardlabError, match="nobody is to move"):
        random_table(crazy_eights, {}, 1).turn()


def test_a_batch_hands_out_copies_and_keeps_points(crazy_eights: Game) -> None:
    batch = Batch(crazy_eights, 8, seed=1, redeal=True)
    before = batch.states.tobytes()
    turns = batch.turns(np.arange(4))
    turns.views["hands"] = 0
    turns.mask[:] = False
    assert batch.states.tobytes() == before
    assert batch.mask[:4].any(axis=1).all()
    rng = np.random.default_rng(0)
    earned = 0.0
    for _ in range(200):
        batch.step(np.array([rng.choice(np.flatnonzero(row)) for row in batch.mask]))
        won = batch.done & (batch.returns.max(axis=1) > 0)
        assert (batch.points[won].max(axis=1) > 0).all()
        earned += batch.points[won].sum()
    assert earned > 0
    over = Batch(crazy_eights, 1, seed=1)
    while over.mover[0] >= 0:
        over.step(over.mask.argmax(axis=1))
    with pytest.raises(CardlabError, match="nobody is to move"):
        over.turns([0])


def test_a_batch_checks_before_it_plays(crazy_eights: Game) -> None:
    batch = Batch(crazy_eights, 8, seed=1)
    before = batch.states.tobytes()
    good = batch.mask.argmax(axis=1)
    bad = good.copy()
    bad[5] = crazy_eights.num_actions
    with pytest.raises(IllegalAction, match="row 5"):
        batch.step(bad)
    assert batch.states.tobytes() == before
    for wrong in (good[:3], good + 0.5, good.astype(str)):
        with pytest.raises(CardlabError, match="8 games"):
            batch.step(wrong)
    with pytest.raises(CardlabError, match="batch size must be at least 1, got 0"):
        Batch(crazy_eights, 0)


def test_batches_depend_on_seed_and_row_only(crazy_eights: Game) -> None:
    small, large = (Batch(crazy_eights, size, seed=4) for size in (3, 9))
    assert small.states.tobytes() == large.states[:3].tobytes()
    assert small.states.tobytes() != Batch(crazy_eights, 3, seed=5).states.tobytes()


def test_random_play_counts_decisions(crazy_eights: Game) -> None:
    decisions, totals = play_randomly(crazy_eights, 50, seed=1)
    assert decisions > 500
    assert abs(totals.sum()) < 1e-9


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


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


def test_an_action_from_outside_is_checked_against_the_state(crazy_eights: Game) -> None:
    state = Table(crazy_eights, seed=1).state
    legal = state.legal()
    assert check_action(state, legal[0]) == legal[0]
    wrong = next(action for action in range(crazy_eights.num_actions) if action not in legal)
    with pytest.raises(IllegalAction, match=", ply 3: seat 0 cannot take") as refused:
        check_action(state, wrong, ", ply 3")
    assert crazy_eights.actions_text(legal) in str(refused.value)


def test_a_table_knows_whether_its_seed_says_everything(crazy_eights: Game) -> None:
    table = Table(crazy_eights, seed=1)
    assert table.dealt_by_seed
    assert not Table(crazy_eights, seed=1, deals=[table.deals[0]]).dealt_by_seed


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"deals": [3]}, "deal 1 of crazy_eights must be a text or 52 card ids, got 3"),
        ({"deals": 3}, "deals of crazy_eights must be a list of deck orders, got 3"),
        ({"deals": "7H 8H"}, r"must be a list of deck orders, .* write deals=\[order\]"),
        ({"deals": [[0] * 52]}, r"deal 1 of crazy_eights must hold each of 0\.\.51 once"),
        ({"deals": [range(52), range(51)]}, "deal 2 of crazy_eights must be a text or 52"),
        ({"deals": [[[1], [2, 3]]]}, "deal 1 of crazy_eights must be"),
        ({"deals": [[float(card) for card in range(52)]]}, "must be a text or 52 card ids"),
        ({"deals": [None]}, "got None"),
        ({"deals": [{}]}, "deal 1 of crazy_eights must be"),
        ({"deals": [[2**70] * 52]}, "deal 1 of crazy_eights must be"),
        ({"seed": "x"}, "seed 'x' is not a whole number"),
        ({"seed": True}, "seed True is not a whole number"),
        ({"seed": 1.5}, "seed 1.5 is not a whole number"),
        ({"options": [1]}, "options of crazy_eights must be a dict"),
        ({"options": {"seats": "x"}}, "option seats=x"),
        ({"dealer": 7}, "dealer of crazy_eights must be a function"),
        ({"dealer": lambda n: [n]}, "deal 1 of crazy_eights must be a text or 52 card ids"),
        ({"game": "crazy_eight"}, "unknown game 'crazy_eight'; did you mean 'crazy_eights'"),
    ],
)
def test_every_argument_of_a_table_is_checked(
    crazy_eights: Game, given: dict[str, Any], sentence: str
) -> None:
    arguments = {"game": crazy_eights} | given
    with pytest.raises(CardlabError, match=sentence):
        Table(arguments.pop("game"), **arguments)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"agents": [3, "random"]}, "with a name and a method act, got 3"),
        ({"agents": "ab"}, "agents must be a list of names or agents, one for each seat, got 'ab'"),
        ({"agents": None}, "agents must be a list"),
        ({"seed": None}, "seed None is not a whole number"),
        ({"game": None}, "game must be a Game or the name of one, got None"),
    ],
)
def test_every_argument_of_a_game_between_agents_is_checked(
    crazy_eights: Game, given: dict[str, Any], sentence: str
) -> None:
    agents = [find_agent("random", crazy_eights)] * 2
    arguments = {"game": crazy_eights, "agents": agents, "seed": 0} | given
    with pytest.raises(CardlabError, match=sentence):
        play_game(arguments.pop("game"), arguments.pop("agents"), **arguments)
