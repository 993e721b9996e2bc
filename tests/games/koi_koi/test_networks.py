"""What networks see of Koi-Koi, the network itself, and the agent that plays through files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cardlab.engine.batch import Batch
from cardlab.engine.cards import cards_in
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import OVER, State, Turn, View
from cardlab.engine.kernel import JIT
from cardlab.games.koi_koi import tokens as rows
from cardlab.games.koi_koi.agents.network import KoiKoiNetwork as Agent
from cardlab.games.koi_koi.cards import CATEGORIES, DECK, DROSS
from cardlab.games.koi_koi.learning.network_files import (
    export,
    find_networks,
    load_networks,
    save_networks,
)
from cardlab.games.koi_koi.networks.transformer import DESIGNS, Expansion, make_networks
from cardlab.games.koi_koi.rules import GAME
from cardlab.games.koi_koi.table import NOBODY, cards_drawn, dealer, score
from cardlab.games.koi_koi.tokens import (
    FEATURES,
    MOST_CHOICES,
    WIDTH,
    action_of_token,
    token_of_action,
    write_rows,
)
from cardlab.games.koi_koi.win_chances import OUTCOMES
from cardlab.games.koi_koi.yaku import list_yaku
from cardlab.networks.card_transformer import CardTransformer, Shape, count_weights
from cardlab.testing.agents import check_agent
from tests.support.paths import DOCS

SOME = 100 if JIT else 8


def decisions(count: int, *, seed: int = 0, steps: int = 60, **options: Any) -> tuple[Any, Any]:
    """Return states before decisions of all kinds, from random games, and who is to move."""
    batch = Batch(GAME, 16, seed=seed, options=options)
    rng = np.random.default_rng(seed)
    states, seats = [], []
    for _ in range(steps):
        running = np.flatnonzero(batch.mover != OVER)
        states.append(batch.states[running].copy())
        seats.append(batch.mover[running].astype(np.int64))
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(1))
    some = rng.permutation(sum(len(one) for one in states))[:count]
    return np.concatenate(states)[some], np.concatenate(seats)[some]


def legal_actions(s: Any) -> list[int]:
    array = np.zeros(1, dtype=GAME.state)
    array[0] = s
    return [int(action) for action in State(GAME, array).legal()]


def written(states: Any, seats: Any) -> tuple[Any, Any]:
    found = np.zeros((len(states), WIDTH), dtype=np.uint8)
    choices = np.zeros((len(states), MOST_CHOICES), dtype=np.uint8)
    write_rows(states, seats, found, choices)
    return found, choices


def expanded(found: Any) -> tuple[Any, Any]:
    tokens, shared = Expansion()(torch.from_numpy(found))
    return tokens.numpy(), shared.numpy()


# The same features, slowly, from the state itself


def plain_features(s: Any, seat: int) -> dict[str, Any]:
    """Return the blocks of features by name: (50, n) of tokens, (n,) of the game."""
    now, other = int(s.round_number) & 1, 1 - seat
    zones = {
        "my hand": set(cards_in(s.hands[seat])),
        "field": set(cards_in(s.field_cards)),
        "my pile": set(cards_in(s.piles[seat])),
        "their pile": set(cards_in(s.piles[other])),
        "waiting for a pick": {int(s.pending)} if s.pending != NOBODY else set(),
    }
    known = set().union(*zones.values())
    zones["unseen"] = set(range(DECK)) - known
    found: dict[str, Any] = {}

    def of_cards(width: int) -> Any:
        return np.zeros((50, width))

    where = of_cards(6)
    for place, name in enumerate(rows.ZONES):
        for card in zones[name]:
            where[card, place] = 1
    found["zone"] = where
    blocks = {
        name: of_cards(16) for name in ("discarded", "drawn", "taken by discard", "taken by draw")
    }
    moved = set()
    called = np.zeros(16)
    for turn in range(16):
        mover = dealer(s) ^ (turn & 1)
        event = turn // 2 + (0 if mover == seat else 8)
        for what, taken, cards, takes in (
            ("discarded", "taken by discard", s.discarded, s.discard_took),
            ("drawn", "taken by draw", s.drawn, s.draw_took),
        ):
            card, took = int(cards[now, turn]), int(takes[now, turn])
            if card == NOBODY:
                continue
            blocks[what][card, event] = 1
            moved.add(card)
            if took:
                for one in (card, *(card // 4 * 4 + i for i in range(4) if took >> i & 1)):
                    blocks[taken][one, event] = 1
        if s.answer[now, turn] == 1:
            called[event] = 1
    found |= blocks
    dealt = of_cards(1)
    dealt[list((zones["field"] | zones["my pile"] | zones["their pile"]) - moved)] = 1
    # A card of my own hand on the table has been discarded, so that what is left was dealt there.
    found["dealt"] = dealt
    month, number, category = of_cards(12), of_cards(4), of_cards(4)
    for card in range(DECK):
        month[card, card // 4] = number[card, card % 4] = 1
        for place, cards in enumerate(CATEGORIES.values()):
            category[card, place] = cards >> card & 1
        category[card, 3] = DROSS >> card & 1
    found |= {"month": month, "number": number, "category": category}
    part = of_cards(13)
    for place, cards in enumerate(rows.YAKU.values()):
        part[list(cards_in(cards)), place] = 1
    found["part of"] = part
    special, legal, matches, in_month = of_cards(2), of_cards(1), of_cards(1), of_cards(5)
    special[48, 0] = special[49, 1] = 1
    for action in legal_actions(s):
        legal[token_of_action(int(action))] = 1
    for card in range(DECK):
        matches[card] = s.pending != NOBODY and card // 4 == s.pending // 4
        for place, name in enumerate(("my hand", "field", "my pile", "their pile", "unseen")):
            in_month[card, place] = sum(one // 4 == card // 4 for one in zones[name]) / 4
    found |= {"special": special, "legal": legal, "matches": matches, "month counts": in_month}

    def one_of(count: int, place: int) -> Any:
        told = np.zeros(count)
        told[place] = 1
        return told

    lead = (int(s.points_now[seat]) - int(s.points_now[other])) // 2
    found["dealer"] = one_of(2, int(dealer(s) != seat))
    found["rounds left"] = one_of(8, min(int(s.rounds) - int(s.round_number), 7))
    found["turn"] = one_of(16, int(s.turn))
    found["decision"] = one_of(4, int(s.phase) - 2)
    found["lead"] = np.array([lead / 30])
    found["lead from"] = np.array([float(lead >= level) for level in range(-20, 21)])
    their_hand = 8 - sum(int(one) for one in blocks["discarded"][:, 8:].sum(0))
    found["cards"] = np.array(
        [
            len(zones["my hand"]) / 8,
            their_hand / 8,
            len(zones["field"]) / 8,
            len(zones["my pile"]) / 16,
            len(zones["their pile"]) / 16,
            (24 - int(cards_drawn(s))) / 24,
        ]
    )
    found["set counts"] = np.array(
        [
            sum(cards >> card & 1 for card in zones[name]) / whole
            for name in ("my hand", "field", "my pile", "their pile", "unseen")
            for cards, whole in rows.COUNTED.values()
        ]
    )
    for name, who in (("my yaku", seat), ("their yaku", other)):
        have = dict(list_yaku(int(s.piles[who]), 1, 10))
        found[name] = np.array([float(one in have) for one in rows.YAKU])
    totals = [
        sum(dict(list_yaku(int(s.piles[who]), 3 if s.calls[who] else 1, 10)).values())
        for who in (seat, other)
    ]
    found["yaku points"] = np.array(totals) / 10
    found["score"] = np.array([score(s, seat), score(s, other)]) / 10
    found["calls"] = np.array([s.calls[seat], s.calls[other]]) / 4
    found["calls so far"] = np.concatenate(
        [one_of(5, min(int(s.calls[who]), 4)) for who in (seat, other)]
    )
    found["called in turn"] = called
    found["nintendo"] = np.array([float(s.rules == 1)])
    return found


def test_every_feature_is_what_the_index_says() -> None:
    assert rows.TOKEN_FEATURES + rows.GLOBAL_FEATURES == 300
    states, seats = decisions(SOME)
    tokens, shared = expanded(written(states, seats)[0])
    assert set(states["phase"]) == {2, 3, 4, 5} or not JIT
    for i in range(len(states)):
        plain = plain_features(states[i], int(seats[i]))
        assert list(plain.keys() - {block.name for block in FEATURES}) == []
        for block in FEATURES:
            first = block.first
            if first < rows.TOKEN_FEATURES:
                ours = tokens[i, :, first : first + block.width]
            else:
                first -= rows.TOKEN_FEATURES
                ours = shared[i, first : first + block.width]
            assert ours == pytest.approx(plain[block.name], abs=1e-6), block.name
    assert (tokens[..., rows.TOKEN_FEATURES :] == 0).all()
    assert (shared[:, rows.GLOBAL_FEATURES :] == 0).all()


def test_the_documents_list_every_feature() -> None:
    page = DOCS / "reference" / "encodings.md"
    text = page.read_text(encoding="utf-8")
    for block in FEATURES:
        last = block.first + block.width - 1
        numbers = str(block.first) if block.width == 1 else f"{block.first}..{last}"
        assert f"| {numbers} | {block.name} | {block.meaning} |" in text
    assert sum(block.width for block in FEATURES) == 300


@pytest.mark.parametrize("options", [{}, {"rules": "nintendo"}, {"rounds": 3}], ids=str)
def test_rows_tell_nothing_that_the_seat_has_not_witnessed(options: dict[str, Any]) -> None:
    states, seats = decisions(SOME, seed=3, **options)
    views = states.copy()
    for i in range(len(views)):
        GAME.bindings.conceal(views, i, int(seats[i]))
    assert (views["hands"] != states["hands"]).any()
    for ours, theirs in zip(written(states, seats), written(views, seats), strict=True):
        assert (ours == theirs).all()
    # Another world that agrees with everything witnessed gives the same bytes.
    rng = np.array([7], dtype=np.int64)
    for i in range(len(views)):
        while not GAME.bindings.imagine(views, i, int(seats[i]), rng):
            pass
    assert (written(views, seats)[0] == written(states, seats)[0]).all()


def test_tokens_and_actions_are_each_other() -> None:
    states, seats = decisions(SOME, seed=5)
    _, choices = written(states, seats)
    for i in range(len(states)):
        legal = legal_actions(states[i])
        told = choices[i, : len(legal)].tolist()
        assert [int(action_of_token(states[i], token)) for token in told] == legal
        assert (choices[i, len(legal) :] == choices[i, 0]).all()
        assert [int(token_of_action(action)) for action in legal] == told


# The network


def test_the_network_has_the_papers_weights() -> None:
    made = make_networks("separate")
    assert [count_weights(one) for one in made.values()] == [1_339_905] * 3
    assert list(made) == ["discard", "pick", "koi_koi"]
    shared = make_networks("shared")["all"]
    assert count_weights(shared) < 1_342_000


@pytest.mark.parametrize("norm_first", [False, True])
def test_what_is_saved_changes_no_value(norm_first: bool) -> None:
    torch.manual_seed(0)
    shape = Shape(9, 6, hidden=16, width=8, heads=2, feed_forward=16, norm_first=norm_first)
    network = CardTransformer(shape).eval()
    tokens, shared = torch.rand(3, 7, 9), torch.rand(3, 6)
    whole = network(tokens, shared)
    places = torch.tensor([[0, 6], [3, 3], [5, 1]])
    asked = network(tokens, shared, places)
    assert torch.allclose(asked, whole.gather(1, places[..., None]), atol=1e-6)
    padded = torch.nn.functional.pad(tokens, (0, 3)), torch.nn.functional.pad(shared, (0, 2))
    assert torch.allclose(network(*padded), whole, atol=1e-6)
    # The first layer is one linear layer over both kinds of features.
    both = torch.cat([tokens, shared[:, None].expand(-1, 7, -1)], dim=-1)
    embedded = torch.relu(network.second(torch.relu(network.first(both))))
    assert torch.allclose(network.embed(tokens, shared), embedded, atol=1e-6)


def test_the_network_is_the_usual_encoder() -> None:
    """Against torch's own encoder layers, with the same weights."""
    torch.manual_seed(1)
    shape = Shape(5, 4, hidden=16, width=8, heads=2, feed_forward=16)
    network = CardTransformer(shape).eval()
    tokens, shared = torch.rand(2, 6, 5), torch.rand(2, 4)
    x = network.embed(tokens, shared)
    for block in network.blocks:
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).eval()
        names = {
            "self_attn.in_proj_weight": block.attention.into.weight,
            "self_attn.in_proj_bias": block.attention.into.bias,
            "self_attn.out_proj.weight": block.attention.out.weight,
            "self_attn.out_proj.bias": block.attention.out.bias,
            "linear1.weight": block.wide.weight,
            "linear1.bias": block.wide.bias,
            "linear2.weight": block.narrow.weight,
            "linear2.bias": block.narrow.bias,
            "norm1.weight": block.norm_attention.weight,
            "norm1.bias": block.norm_attention.bias,
            "norm2.weight": block.norm_feed_forward.weight,
            "norm2.bias": block.norm_feed_forward.bias,
        }
        layer.load_state_dict(names)
        x = layer(x)
    assert torch.allclose(network(tokens, shared), network.last(x), atol=1e-5)
    weights = network.attention(tokens, shared)
    assert [one.shape for one in weights] == [(2, 2, 6, 6)] * 2
    assert torch.allclose(weights[0].sum(-1), torch.ones(2, 2, 6), atol=1e-5)


def test_the_shared_design_has_an_output_for_each_decision() -> None:
    torch.manual_seed(2)
    network = make_networks("shared", width=16)["all"].eval()
    states, seats = decisions(SOME, seed=6)
    found, choices = (torch.from_numpy(one) for one in written(states, seats))
    tokens, shared = network.expansion(found)
    every = network.network(tokens, shared, choices.long())
    kind = torch.tensor([0, 1, 1, 2])[found[:, rows.KIND].long()]
    for i in range(len(found)):
        mine = network(found[i : i + 1], choices[i : i + 1])[0]
        assert torch.allclose(mine, every[i, :, kind[i]], atol=1e-5)


@pytest.mark.parametrize("outcomes", ["point", "win"])
@pytest.mark.parametrize("design", DESIGNS)
def test_values_with_ends_are_what_ends_are_worth(design: str, outcomes: str) -> None:
    torch.manual_seed(4)
    networks = list(make_networks(design, width=16, outcomes=outcomes).values()) * 3
    states, seats = decisions(SOME, seed=7)
    found, choices = (torch.from_numpy(one) for one in written(states, seats))
    for i in range(len(found)):
        decision = rows.DECISION_OF_KIND[int(found[i, rows.KIND])]
        network = networks[decision].eval()
        if outcomes == "win":
            network.chances.copy_(torch.rand(network.chances.shape))
        tokens, shared = network.expansion(found[i : i + 1])
        with torch.no_grad():
            said = network.network(tokens, shared, choices[i : i + 1].long())[0]
            if design == "shared":
                said = said[:, len(OUTCOMES) * decision : len(OUTCOMES) * (decision + 1)]
            values = network(found[i : i + 1], choices[i : i + 1])[0].numpy()
        odds = np.exp(said.numpy().astype(float))
        left = int(states[i]["rounds"]) - int(states[i]["round_number"]) + 1
        lead = int(states[i]["points_now"][seats[i]]) - 30
        worth = OUTCOMES / 10
        if outcomes == "win":  # by the winner's deal; where nobody won, the other seat deals
            deals = [
                int(gain > 0) if gain else int(dealer(states[i]) != seats[i]) for gain in OUTCOMES
            ]
            then = np.clip(lead + OUTCOMES, -30, 30) + 30
            worth = 2 * network.chances.numpy()[left - 1, deals, then] - 1
        wanted = odds @ worth / odds.sum(axis=1)
        assert values == pytest.approx(wanted, abs=1e-5)


# Files and the agent


def turns_of(count: int) -> Any:
    batch = Batch(GAME, count, seed=2)
    rng = np.random.default_rng(2)
    for _ in range(30):
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(1))
    return batch.turns(np.flatnonzero(batch.mover != OVER))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "outcomes"), [("shared", ""), ("separate", "win"), ("shared", "point")]
)
def test_networks_go_through_files_and_play(design: str, outcomes: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    torch.manual_seed(3)
    networks = make_networks(design, width=16, outcomes=outcomes)
    for network in networks.values():
        if outcomes == "win":
            network.chances.copy_(torch.rand(network.chances.shape))
    save_networks(tmp_path, networks, design, {"note": 1})
    again, found, about = load_networks(tmp_path, torch.device("cpu"), torch.float32)
    assert (found, about["note"]) == (design, 1)
    assert [count_weights(one) for one in again.values()] == [
        count_weights(one) for one in networks.values()
    ]
    target = tmp_path / "shipped"
    assert len(export(tmp_path, "shipped", tmp_path)) == len(networks)
    back, found, about = load_networks(target, torch.device("cpu"), torch.float32)
    assert (found, about["note"]) == (design, 1)
    for name, network in networks.items():
        for key, one in network.state_dict().items():
            exactly = {"rtol": 0, "atol": 0} if key == "chances" else {"rtol": 1e-3, "atol": 1e-5}
            torch.testing.assert_close(back[name].state_dict()[key], one, **exactly)
    agent = Agent(target)
    assert agent.networks[0].attention == ["attention_1", "attention_2"]
    turns = turns_of(24)
    answers = agent.act_many(turns, [])
    assert turns.mask[np.arange(len(turns.seats)), answers].all()
    rng = np.random.default_rng(0)
    for i in range(len(turns.seats)):
        legal = np.flatnonzero(turns.mask[i])
        seat = int(turns.seats[i])
        turn = Turn(GAME, seat, View(GAME, turns.views[i : i + 1].copy(), seat), legal)
        assert agent.act(turn, rng) == answers[i]
        row, choice = (
            torch.from_numpy(one) for one in written(turn.view.array, turns.seats[i : i + 1])
        )
        name = list(networks)[rows.DECISION_OF_KIND[row[0, rows.KIND]] % len(networks)]
        with torch.no_grad():
            values = networks[name](row, choice)[0, : len(legal)].numpy()
        assert agent.ratings(turn) == pytest.approx(values, abs=0.01)  # half precision
    if JIT:
        check_agent(lambda: Agent(target), GAME)


def test_what_is_shipped_can_go_on_learning() -> None:
    for agent in ("koi_koi_win", "koi_koi_point", "koi_koi_supervised"):
        networks, design, about = load_networks(
            find_networks(agent, "start"), torch.device("cpu"), torch.float32
        )
        assert (design, list(networks), about["rules"]) == ("separate", list(rows.DECISIONS), 1)
    with pytest.raises(CardlabError, match=r"start=x names no folder; .* or koi_koi_win"):
        find_networks("x", "start")


def test_mistakes_about_files_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CardlabError, match="holds no networks of koi_koi"):
        Agent(tmp_path)
    with pytest.raises(CardlabError, match="holds no networks of koi_koi"):
        load_networks(tmp_path, torch.device("cpu"), torch.float32)
    with pytest.raises(CardlabError, match="holds no networks of koi_koi"):
        export(tmp_path, "out", tmp_path)
