"""What learners see: every number against its words, and nothing that the seat may not know."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from cardlab.engine.cards import RANKS, SUIT_NAMES, SUITS
from cardlab.engine.game import Description, Game, State
from cardlab.engine.observation import Observation, observation_of
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game, our_games
from cardlab.testing import random_table, retrace

VARIANTS = {
    "crazy_eights": [{}, {"seats": 4, "reshuffle": True}, {"seats": 3, "optional_draw": True}],
    "uno": [{}, {"seats": 4, "stacking": True}, {"seats": 3, "rules": "rlcard"}, {"target": 500}],
    "birds_of_a_feather": [{}],
    "koi_koi": [{}, {"rules": "nintendo"}],
    "cribbage": [{}, {"target": 61}],
}


def seen(state: State, seat: int) -> dict[str, float]:
    """Return the observation of a seat by its words."""
    encoder = observation_of(state.game)
    row = encoder.one(state.view(seat).array, seat)
    assert ((row >= 0) & (row <= encoder.high)).all()
    return dict(zip(encoder.words, row.tolist(), strict=True))


def cards_of(told: Description, name: str, seat: int | None) -> list[str]:
    for zone in told.zones:
        if zone.name == name and zone.seat == seat:
            return list(zone.cards)
    return []


def count_of(told: Description, name: str, seat: int | None) -> int:
    return sum(zone.count for zone in told.zones if zone.name == name and zone.seat == seat)


def read_crazy_eights(state: State, seat: int) -> dict[str, float]:
    """Say the same from the description of the view."""
    told, s, seats = state.view(seat).describe(), state.view(seat), int(state.seats)
    hand, pile = cards_of(told, "hand", seat), cards_of(told, "pile", None)
    expected = {f"I hold {card}": 1.0 for card in hand}
    expected |= {f"{card} is on the pile": 1.0 for card in pile}
    expected |= {f"{pile[0]} is the top card": 1.0, f"{told.facts['suit']} are in force": 1.0}
    order = ["I am", *(f"the {word} seat after me is" for word in ("first", "second", "third"))]
    if told.to_move is not None:
        expected[f"{order[(told.to_move - seat) % seats]} to move"] = 1
    for place in range(1, seats):
        other, who = (seat + place) % seats, order[place].removesuffix(" is")
        size = count_of(told, "hand", other)
        expected |= {f"{who} exists": 1, f"cards of {who}, / 8": size / 8}
        expected[f"{who} holds one card"] = float(size == 1)
        for card in range(52):
            text = state.game.card_text(card)
            free = sum(
                int(s.places[other, group])
                for group in range(int(s.groups[other]))
                if not int(s.barred[other, group]) >> card & 1
            )
            if text not in hand and text not in pile:
                expected[f"cards of {who} that may be {text}, / 8"] = free / 8
    expected |= {
        "cards in my hand, / 8": len(hand) / 8,
        "cards in the stock, / 52": count_of(told, "stock", None) / 52,
        "cards that the seat to move has drawn in this turn, / 8": int(s.drew) / 8,
        "passes in a row, / 4": int(s.passes) / 4,
        "cards dealt to each seat, / 12": 5 / 12,
        "the discards are shuffled when the stock runs out": float(s.reshuffle),
        "drawing is an action": float(s.optional_draw),
        f"{seats} seats play": 1,
    }
    return expected


def read_birds_of_a_feather(state: State, seat: int) -> dict[str, float]:
    """Say the same from the record's cells."""
    expected = {"stacks left, / 16": (16 - int(state.plies)) / 16}
    for cell, card in enumerate(state.tops):
        name = "ABCD"[cell // 4] + "1234"[cell % 4]
        if card == 52:
            expected[f"{name} is empty"] = 1
        else:
            text = state.game.card_text(int(card))
            expected[f"the top card of {name} has rank {text[0]}"] = 1
            expected[f"the top card of {name} is of {SUIT_NAMES[SUITS.index(text[1])]}"] = 1
    return expected


def read_cribbage(state: State, seat: int) -> dict[str, float]:
    """Say the same from the description of the view."""
    told, s, other = state.view(seat).describe(), state.view(seat), 1 - seat
    expected: dict[str, float] = {f"I hold {c}": 1.0 for c in cards_of(told, "hand", seat)}
    for zone, whose, words in (
        ("discards", seat, "I discarded {}"),
        ("cards played", seat, "I played {}"),
        ("cards played", other, "they played {}"),
        ("cut", None, "the cut is {}"),
    ):
        expected |= {words.format(card): 1.0 for card in cards_of(told, zone, whose)}
    series = cards_of(told, "pile", None)
    if told.to_move is None or "discard" in told.facts:  # the pile of a count that is over
        series = [RANKS[(int(s.series) >> 4 * i & 15) - 1] for i in range(8)]
        series = series[: (int(s.series).bit_length() + 3) // 4]
    places = ("latest", "second latest", "third latest", "fourth latest")
    for card, which in zip(series, places, strict=False):
        expected[f"the {which} card of this count has rank {card[0]}"] = 1
    for rank, number in Counter(card[0] for card in series).items():
        expected[f"cards of rank {rank} in this count, / 4"] = number / 4
    expected |= {f"the count is {s.tally}": 1, "I deal": float(s.dealer == seat)}
    expected["cards are being discarded"] = float("discard" in told.facts)
    expected["cards are being played"] = float("count" in told.facts)
    expected["I am to move"] = float(told.to_move == seat)
    expected["cards in my hand, / 6"] = count_of(told, "hand", seat) / 6
    expected["cards in their hand, / 6"] = int(s.sizes[other]) / 6
    worth = "their cards are worth more than this, as a go has shown, / 10"
    expected[worth] = int(s.floors[other]) / 10
    for who, whose, need in (
        ("my score", seat, "points that I need to win"),
        ("their score", other, "points that they need"),
    ):
        expected[f"{who}, / 121"] = int(s.scores[whose]) / 121
        expected[f"{need}, / 121"] = (int(s.target) - int(s.scores[whose])) / 121
    expected["61 points win, not 121"] = float(s.target == 61)
    return expected


def read_koi_koi(state: State, seat: int) -> dict[str, float]:
    """Say the same from the description and the events of the round."""
    s, game, other = state.view(seat), state.game, 1 - seat
    now, dealer = int(s.round_number) & 1, int(s.dealers[int(s.round_number) & 1])
    expected: dict[str, float] = {}
    for mask, words in (
        (s.hands[seat], "{} is in my hand"),
        (s.field_cards, "{} is on the field"),
        (s.piles[seat], "{} is in my pile"),
        (s.piles[other], "{} is in their pile"),
    ):
        expected |= {words.format(game.card_text(c)): 1.0 for c in range(48) if int(mask) >> c & 1}
    if s.pending != 255:
        expected[f"{game.card_text(int(s.pending))} waits for a pick"] = 1
    for turn in range(16):
        mine = (dealer + turn) % 2 == seat
        for card, verb in ((s.discarded[now, turn], "discarded"), (s.drawn[now, turn], "drew")):
            if card != 255 and turn <= s.turn:
                source = " from the stock" if verb == "drew" else ""
                text = game.card_text(int(card))
                expected[f"{'I' if mine else 'they'} {verb} {text}{source}"] = 1
    kinds = ("discard", "pick for the discard", "pick for the draw", "koi-koi or stop")
    if 2 <= s.phase <= 5:
        expected[f"the seat to move decides: {kinds[int(s.phase) - 2]}"] = 1
        expected["I am to move"] = float(s.seat == seat)
    expected["I deal this round"] = float(dealer == seat)
    expected["rounds left with this one, / 12"] = (int(s.rounds) - int(s.round_number) + 1) / 12
    expected["turns played in the round, / 16"] = int(s.turn) / 16
    expected["my points, / 60"] = max(0, int(s.points_now[seat])) / 60
    gone = sum(int(one) != 255 for one in s.discarded[now][(dealer + other) % 2 :: 2])
    expected["cards in their hand, / 8"] = (8 - gone) / 8
    expected["cards in the stock, / 24"] = (24 - sum(int(c) != 255 for c in s.drawn[now])) / 24
    expected["the rules are Nintendo's"] = float(s.rules == 1)
    from cardlab.games.koi_koi.table import pile_points, score

    for who, whose, verb in (("my", seat, "I have"), ("their", other, "they have")):
        expected[f"{who} koi-koi calls, / 4"] = int(s.calls[whose]) / 4
        expected[f"points of {who} yaku, / 10"] = pile_points(s.array[0], whose) / 10
        win = "me" if who == "my" else "them"
        expected[f"what stopping would win {win}, / 10"] = score(s.array[0], whose) / 10
        pile = {game.card_text(c) for c in range(48) if int(s.piles[whose]) >> c & 1}
        expected |= {f"{verb} {yaku}": 1.0 for yaku in yaku_of(pile)}
    return expected


def yaku_of(pile: set[str]) -> set[str]:
    """Return the yaku of a pile, told from the texts of its cards."""
    shown = [text.partition("-")[2] for text in pile]
    has = lambda *names: all(name in shown for name in names)  # noqa: E731
    lights = sum(name in ("crane", "curtain", "moon", "rainman", "phoenix") for name in shown)
    number = {
        "ribbons": sum(name in ("ribbon", "red", "blue") for name in shown),
        "dross": sum(name in ("a", "b", "c", "cup") for name in shown),
        "seeds": sum(
            name in ("warbler", "cuckoo", "bridge", "geese", "swallow", "cup")
            or name in ("boar", "deer", "butterfly")
            for name in shown
        ),
    }
    red, blue = shown.count("red") == 3, shown.count("blue") == 3
    return {
        yaku
        for yaku, formed in {
            "five lights": lights == 5,
            "four lights": lights == 4 and not has("rainman"),
            "rainy four lights": lights == 4 and has("rainman"),
            "three lights": lights == 3 and not has("rainman"),
            "boar-deer-butterfly": has("boar", "deer", "butterfly"),
            "flower sake": has("curtain", "cup"),
            "moon sake": has("moon", "cup"),
            "seeds": number["seeds"] >= 5,
            "red ribbons": red,
            "blue ribbons": blue,
            "red and blue ribbons": red and blue,
            "ribbons": number["ribbons"] >= 5,
            "dross": number["dross"] >= 10,
        }.items()
        if formed
    }


READERS = {
    "crazy_eights": read_crazy_eights,
    "birds_of_a_feather": read_birds_of_a_feather,
    "cribbage": read_cribbage,
    "koi_koi": read_koi_koi,
}


@pytest.mark.parametrize("name", READERS)
def test_every_number_is_what_its_words_say(name: str) -> None:
    game, lit = find_game(name), np.zeros(observation_of(find_game(name)).size, dtype=bool)
    for options in VARIANTS[name]:
        for seed in range(30 if name == "birds_of_a_feather" else 2):
            for table in retrace(random_table(game, options, seed)):
                for seat in range(table.seats):
                    row = seen(table.state, seat)
                    expected = READERS[name](table.state, seat)
                    assert expected.keys() <= row.keys()
                    where = f"{name}, seed {seed}, ply {len(table.actions)}, seat {seat}"
                    wrong = {
                        words: (value, expected.get(words, 0))
                        for words, value in row.items()
                        if abs(value - expected.get(words, 0)) > 1e-6
                    }
                    assert not wrong, where
                    lit |= np.array(list(row.values())) > 0
    assert lit.mean() > 0.8, "most numbers should have been more than 0 in some game"


def test_a_hand_made_table_of_crazy_eights(crazy_eights: Game) -> None:
    deal = "8C 2D AH 3D 5S 4H 9C QS KD JC 7H"
    rest = [c for c in map(crazy_eights.card_text, range(52)) if c not in deal.split()]
    table = Table(crazy_eights, deals=[f"{deal} {' '.join(rest)}"])
    row = {words: value for words, value in seen(table.state, 0).items() if value}
    assert {words for words in row if words.startswith("I hold")} == {
        f"I hold {card}" for card in ("8C", "AH", "5S", "9C", "KD")
    }
    assert row["7H is the top card"] == row["hearts are in force"] == row["I am to move"] == 1
    assert row["cards in the stock, / 52"] == pytest.approx(41 / 52)
    assert row["cards of the first seat after me that may be 2D, / 8"] == 5 / 8
    assert "cards of the first seat after me that may be 8C, / 8" not in row


def test_uno_is_the_fair_encoding_with_points() -> None:
    """Its numbers have their own tests (test_uno_learning); here their words and the rest."""
    game = find_game("uno")
    for options in VARIANTS["uno"]:
        for table in retrace(random_table(game, options, 1)):
            for seat in range(table.seats):
                row, told = seen(table.state, seat), table.state.view(seat).describe()
                hand = Counter(cards_of(told, "hand", seat))
                for card, number in hand.items():
                    if card[0] in "RGBY":
                        assert row[f"I hold {card}"] == 1
                        assert row[f"I hold {card} twice"] == float(number == 2)
                assert row["I am to move"] == float(table.mover == seat)
                assert row["cards in my hand, / 7"] == pytest.approx(hand.total() / 7)
                points = int(table.state.scores[seat])
                assert row["points of mine, / 500"] == pytest.approx(points / 500)
                assert row[f"{table.seats} seats play"] == 1
                if told.to_move is not None and "colour" in told.facts:
                    assert row[f"{told.facts['colour']} is in force"] == 1
                if table.mover == seat:
                    texts = {game.action_text(int(action)) for action in table.state.legal()}
                    fits = {w[11:-4] for w, v in row.items() if v and w.startswith("I may play ")}
                    assert fits == {text for text in texts if f"I may play {text} now" in row}


def test_uno_says_which_numbers_never_rise() -> None:
    game = find_game("uno")
    encoder, lit = observation_of(game), np.zeros(observation_of(game).size, dtype=bool)
    for options in VARIANTS["uno"]:
        for table in retrace(random_table(game, options, 3)):
            for seat in range(table.seats):
                lit |= encoder.one(table.state.view(seat).array, seat) > 0
    idle = np.array([words.startswith("always 0, see 582..591") for words in encoder.words])
    assert idle.sum() == 48
    assert not lit[idle].any()
    assert all("wild" in words for words in encoder.words[582:592])
    named = np.array(["W" in words for words in encoder.words])
    assert (lit[named] == ~idle[named]).all()  # what else names a wild does rise


@pytest.mark.parametrize("name", our_games())
def test_hidden_cards_change_nothing(name: str) -> None:
    """Other worlds that agree with a view give the same numbers; it is the view that is encoded."""
    game, rng = find_game(name), np.random.default_rng(1)
    encoder, differ = observation_of(game), 0
    for options in VARIANTS[name]:
        for table in retrace(random_table(game, options, 2)):
            for seat in range(table.seats):
                row = encoder.one(table.state.view(seat).array, seat)
                world = table.state.view(seat).imagine(rng)
                differ += world.array.tobytes() != table.state.array.tobytes()
                assert (encoder.one(world.view(seat).array, seat) == row).all()
                assert (encoder.one(table.state.array.copy(), seat) == row).all(), (
                    "even from the whole state the encoder must read only what the seat knows"
                )
    assert differ or name == "birds_of_a_feather"


@pytest.mark.parametrize("name", [*our_games(), "tests.support.high_card:GAME"])
def test_words_are_unique_and_complete(name: str) -> None:
    encoder: Observation = observation_of(find_game(name))
    assert len(set(encoder.words)) == encoder.size == len(encoder.high)
    names = [block.name for block in encoder.blocks]
    assert len(set(names)) == len(names)
    for block in encoder.blocks:
        assert encoder.words[encoder.place(block.name)] == block.words
    table: Any = random_table(find_game(name), {}, 0)
    assert encoder.one(table.state.view(0).array, 0).dtype == np.float32
