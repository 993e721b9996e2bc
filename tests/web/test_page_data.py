"""What the pages show beyond zones and facts: held to the rules, position by position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cardlab.engine.cards import parse_card
from cardlab.engine.game import OVER
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game, find_package, our_games
from cardlab.games.cribbage.scoring import hand_points
from cardlab.games.koi_koi import table as koi_koi_table
from cardlab.web.files import page_file
from cardlab.web.lobby import page_json
from cardlab.web.page_data import page_data_of
from cardlab.web.views import action_json, move_json, public_description, text_parts, words_of


def positions(name: str, games: int, **options: Any) -> Iterator[tuple[Table, int]]:
    """Yield tables and seats of random games, the ends included."""
    rng = np.random.default_rng(7)
    for seed in range(games):
        table = Table(find_game(name), seed=seed, options=options)
        while True:
            for seat in range(table.seats):
                yield table, seat
            if table.over:
                break
            table.act(int(rng.choice(table.state.legal())))


def extra_of(table: Table, seat: int) -> dict[str, Any]:
    """Return what a game's page is sent for a seat beyond zones and facts."""
    return page_data_of(table.game).view(table.state.view(seat).array[0], seat)


def test_cribbage_board_and_show() -> None:
    shows = 0
    for table, seat in positions("cribbage", 3):
        told = extra_of(table, seat)
        for peg, score in zip(told["board"], table.state.scores, strict=True):
            assert 0 <= peg["back"] <= peg["front"] == score
        for hand in told["show"]:
            mask = sum(1 << parse_card(card) for card in hand["cards"])
            starter = parse_card(hand["starter"])
            assert hand["total"] == hand_points(mask, starter, hand["what"] == "crib")
            assert hand["total"] == sum(part["points"] for part in hand["parts"])
            shows += 1
        if table.mover == OVER:
            assert told["phase"] == "over"
    assert shows > 100


@pytest.mark.parametrize("rules", ["paper", "nintendo"])
def test_koi_koi_yaku_add_up(rules: str) -> None:
    made = 0
    for table, seat in positions("koi_koi", 4, rules=rules):
        s = table.state.array[0]
        told = extra_of(table, seat)
        for k in range(2):
            mine = [one for one in told["yaku"] if one["seat"] == k]
            listed = sum(one["points"] for one in mine)
            worth = int(koi_koi_table.pile_points(s, k))
            extra = worth - listed  # both sets of ribbons together have no line of their own
            assert extra in (0, 10), mine
            assert all((one["need"] == 0) == (one["points"] > 0) for one in mine)
            made += any(one["points"] for one in mine)
    assert made


def test_birds_keep_their_sixteen_cards() -> None:
    for table, seat in positions("birds_of_a_feather", 5):
        told = extra_of(table, seat)
        sizes = [size for row in told["sizes"] for size in row]
        tops = [top for row in told["grid"] for top in row]
        assert sum(sizes) == 16
        assert [size > 0 for size in sizes] == [top is not None for top in tops]


def test_uno_goes_round_the_way_it_says() -> None:
    directions = set()
    for table, seat in positions("uno", 5, seats=4):
        told = extra_of(table, seat)
        directions.add(told["direction"])
        facts = table.state.view(seat).describe().facts
        assert facts.get("next") in (None, f"seat {told['next']}")
        assert ("to draw" in facts) == bool(told["to_draw"])
        assert facts.get("you drew") == told["drew"]
    assert directions == {1, -1}


@pytest.mark.parametrize("name", our_games())
def test_every_action_names_its_cards(name: str) -> None:
    game = find_game(name)
    deck = {game.card_text(card) for card in range(game.deck)}
    for action in range(game.num_actions):
        told = action_json(game, action)
        cards = [told["card"]] if told["card"] else told.get("cards", [])
        assert set(cards) <= deck
        assert all(card in told["text"] for card in cards)
        if name == "birds_of_a_feather":
            assert f"{told['from']}>{told['to']}" == told["text"]
        elif not cards:
            assert not deck & set(told["text"].replace("=", " ").split()), told


@pytest.mark.parametrize(
    ("game", "action", "fields", "aloud"),
    [
        ("crazy_eights", "draw", {"kind": "draw", "call": None}, None),
        ("crazy_eights", "7H", {"kind": "play", "call": None}, [{"card": "7H"}]),
        (
            "crazy_eights",
            "8H=S",
            {"kind": "play", "call": "spades"},
            [{"card": "8H"}, " calling spades"],
        ),
        ("uno", "keep", {"kind": "keep", "call": None}, None),
        ("uno", "W+4=G", {"kind": "play", "call": "green"}, [{"card": "W+4"}, " calling green"]),
        ("uno", "start=B", {"kind": "start", "call": "blue"}, ["begin with blue"]),
        (
            "koi_koi",
            "take 8-moon",
            {"kind": "take", "card": "8-moon"},
            ["take ", {"card": "8-moon"}],
        ),
        ("koi_koi", "stop", {"kind": "stop"}, None),
        ("cribbage", "lay 5H JD", {"kind": "lay", "cards": ["5H", "JD"]}, None),
        ("birds_of_a_feather", "A1>A4", {"from": "A1", "to": "A4"}, ["A1 onto A4"]),
    ],
)
def test_actions_have_typed_fields_and_words(
    game: str, action: str, fields: dict[str, Any], aloud: Any
) -> None:
    found = find_game(game)
    told = action_json(found, found.parse_action(action))
    assert {name: told[name] for name in fields} == fields
    assert aloud is None or told["parts"] == aloud
    assert told["text"] == action


def test_text_comes_in_parts_with_cards_and_seats_apart() -> None:
    game = find_game("uno")
    assert text_parts(game, "seat 2 played W+4 and called red, not XR7 or R77") == [
        {"seat": 2},
        " played ",
        {"card": "W+4"},
        " and called red, not XR7 or R77",
    ]
    assert text_parts(game, "kept it") == ["kept it"]
    assert text_parts(game, "") == [""]


@pytest.mark.parametrize("name", our_games())
def test_every_file_that_a_manifest_names_exists(name: str) -> None:
    package = find_package(name)
    assert package.file(package.rules).is_file()
    page = page_json(find_game(name))
    assert page["module"] == f"/games/{name}/page.js"
    assert page_file(package, "page.js")
    assert (page["style"] is not None) == package.file(package.page, "page.css").is_file()
    assert page["rules"].endswith(".")
    assert "\n" not in page["rules"]
    for level in package.levels:
        assert not level.portrait or page_file(package, level.portrait)


def test_a_page_is_made_of_files_of_known_kinds_in_its_folder_alone() -> None:
    package = find_package("cribbage")
    assert page_file(package, "board.js")
    for path in ("page_data.py", "../rules.md", "../page/page.js", "/etc/passwd", "", "no.js"):
        assert page_file(package, path) is None


def test_cards_laid_face_down_are_for_their_seat_only() -> None:
    game = find_game("cribbage")
    assert move_json(game, 0, 60, 0)["cards"]
    for watcher in (1, None):
        assert move_json(game, 0, 60, watcher) == {
            "seat": 0,
            "id": None,
            "text": "discards two cards",
            "card": None,
        }
    assert move_json(game, 0, 5, 1)["card"] == game.card_text(5)


def test_onlookers_see_what_all_seats_see() -> None:
    for name in our_games():
        for table, _ in positions(name, 1):
            told = public_description(table.state, None)
            hands = [z for z in told["description"]["zones"] if z["name"] == "hand"]
            assert not any(hand["cards"] for hand in hands)
            assert name == "birds_of_a_feather" or hands or not table.deals


@pytest.mark.parametrize(
    ("game", "returns", "points", "seat", "words"),
    [
        ("crazy_eights", [1, -1], [18, 0], 0, "You win"),
        ("crazy_eights", [1, -1], [18, 0], 1, "Ann wins"),
        ("crazy_eights", [0, 0], [0, 0], 1, "A tie"),
        ("cribbage", [-1, 1], [109, 121], 1, "You win by 12 points, 121 to 109"),
        ("cribbage", [-1, 1], [109, 121], None, "Bob wins by 12 points, 121 to 109"),
        ("birds_of_a_feather", [1], [15], 0, "Solved: one stack is left"),
        ("birds_of_a_feather", [-1], [9], 0, "Stuck with 7 stacks"),
    ],
)
def test_the_end_in_words(game: str, returns: Any, points: Any, seat: Any, words: str) -> None:
    assert words_of(find_game(game), returns, points, ["Ann", "Bob"], seat) == words
