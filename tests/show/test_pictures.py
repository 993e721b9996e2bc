"""Pictures: every card of every deck is drawn, named and small; displays hide what views hide."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from cardlab import CardlabError, Game, Table, find_agent, find_game, play_game
from cardlab.arena.leaderboard import leaderboards
from cardlab.arena.match import Match, play_match
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.engine.cards import cards_in
from cardlab.engine.records import Record
from cardlab.engine.registry import our_games
from cardlab.games.cribbage.solvers.advice import advise, parse_hand
from cardlab.games.koi_koi.cards import CATEGORIES
from cardlab.show import pictures
from cardlab.show.notebook import html_of
from cardlab.show.pictures import (
    DECKS,
    card_svg,
    card_title,
    deck_for,
    deck_of,
    describe_openly,
    hand_svg,
    known_decks,
    picture_of,
    sprite,
    symbol_id,
    table_svg,
)
from cardlab.show.pictures.drawing import compact, moved, segments

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = {"standard": 80_000, "four_colour": 80_000, "hanafuda": 150_000, "uno": 60_000}
OURS = [*MOST_BYTES]


def halfway(name: str, plies: int = 9) -> Table:
    table = Table(find_game(name), seed=3)
    rng = np.random.default_rng(0)
    while not table.over and len(table.actions) < plies:
        table.act(int(rng.choice(table.state.legal())))
    return table


@pytest.mark.parametrize("game", our_games())
def test_every_card_of_every_game_has_a_symbol(game: str) -> None:
    found = find_game(game)
    deck = deck_of(found)
    assert deck != "plain"
    assert deck == deck_of(game)
    symbols = {one.get("id") for one in ET.fromstring(sprite(deck))}
    texts = {found.card_text(card) for card in range(found.deck)}
    assert {symbol_id(text) for text in texts} | {"card-back", "card-empty"} <= symbols
    assert len({symbol_id(text) for text in texts}) == len(texts)


@pytest.mark.parametrize("deck", OURS)
def test_sprites_are_small_and_need_nothing_else(deck: str) -> None:
    text = sprite(deck)
    assert len(text.encode()) <= MOST_BYTES[deck]
    root = ET.fromstring(text)
    names = {one.tag.removeprefix(SVG) for one in root.iter()}
    assert names == {"svg", "symbol", "path", "rect", "g"}  # no fonts, rasters, styles, references
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids)) == len(root)
    attributes = {name for one in root.iter() for name in one.attrib}
    assert not attributes & {"style", "class", "href", "filter", "clip-path"}
    assert "url(" not in text


@pytest.mark.parametrize("deck", OURS)
def test_no_two_cards_look_or_sound_alike(deck: str) -> None:
    cards = [card_svg(deck, text) for text in known_decks()[deck].texts]
    drawings = {re.sub("<title>.*?</title>", "", one) for one in cards}
    assert len(drawings) == len(cards)
    assert len({card_title(deck, text) for text in known_decks()[deck].texts}) == len(cards)


@pytest.mark.parametrize("deck", ["standard", "uno"])
def test_cards_differ_without_colour(deck: str) -> None:
    grey = {
        re.sub("#[0-9a-f]+", "#888", known_decks()[deck].art(text))
        for text in known_decks()[deck].texts
    }
    assert len(grey) == len(known_decks()[deck].texts)


NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)")
COUNTS = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "a": 7}


def ends(path: str) -> list[tuple[float, float]]:
    """Return where each command of a path in relative commands ends."""
    x = y = 0.0
    start, found = (0.0, 0.0), []
    for command, text in re.findall(r"([mlhvcsqtaz])([^mlhvcsqtaz]*)", path):
        numbers = [float(one) for one in NUMBER.findall(text)]
        if command == "z":
            x, y = start
        for at in range(0, len(numbers), COUNTS.get(command, 1)):
            step = numbers[at : at + COUNTS[command]]
            x += 0 if command == "v" else step[0] if command == "h" else step[-2]
            y += 0 if command == "h" else step[-1]
            found.append((x, y))
        if command == "m":
            start = (x, y)
    return found


@pytest.mark.parametrize("deck", OURS)
def test_drawings_stay_on_their_card(deck: str) -> None:
    """Blossoms may pass the edge a little, which cuts them off."""
    found = known_decks()[deck]
    for text in found.texts:
        for path in ET.fromstring(card_svg(deck, text)).findall(f"{SVG}path"):
            for x, y in ends(path.get("d")):
                assert -6 <= x <= found.wide + 6, (text, path.get("d"))
                assert -6 <= y <= found.high + 6, (text, path.get("d"))


def test_standard_cards_show_as_many_pips_as_they_say() -> None:
    for number, rank in enumerate("A23456789T", start=1):
        signs = ET.fromstring(card_svg("standard", f"{rank}D")).findall(f"{SVG}path")[0].get("d")
        assert signs.count("z") == number + 2  # one in each of two corners


def test_ribbons_poems_and_categories_of_hanafuda() -> None:
    marks = {}
    for name, cards in CATEGORIES.items():
        for card in cards_in(cards):
            drawing = known_decks()["hanafuda"].art(known_decks()["hanafuda"].texts[card])
            marks.setdefault(name, set()).add(drawing.rpartition("<path")[2])
    assert all(len(one) == 1 for one in marks.values())  # the mark comes last
    assert len(set().union(*marks.values())) == 4
    poems = [
        one for one in known_decks()["hanafuda"].texts if "m57 32q" in card_svg("hanafuda", one)
    ]
    assert poems == ["1-red", "2-red", "3-red"]


@pytest.mark.parametrize(
    ("deck", "text", "words"),
    [
        ("standard", "7H", "seven of hearts"),
        ("standard", "QS", "queen of spades"),
        ("hanafuda", "3-curtain", "March, curtain (light)"),
        ("hanafuda", "1-red", "January, red poetry ribbon with pine"),
        ("hanafuda", "7-a", "July, bush clover a (dross)"),
        ("uno", "RS", "red skip"),
        ("uno", "Y+2", "yellow draw two"),
        ("uno", "W+4", "wild draw four"),
        ("uno", "B7", "blue seven"),
        ("standard", "back", "a card face down"),
    ],
)
def test_titles(deck: str, text: str, words: str) -> None:
    assert card_title(deck, text) == words
    picture = ET.fromstring(card_svg(deck, text, size=60))
    assert picture.get("role") == "img"
    assert picture.get("width") == "60"
    assert picture.find(f"{SVG}title").text == words


def test_wrong_names_are_answered_with_a_sentence() -> None:
    with pytest.raises(CardlabError, match="card of the standard deck"):
        card_svg("standard", "7X")
    with pytest.raises(CardlabError, match="unknown deck 'hanfuda'; did you mean 'hanafuda'"):
        sprite("hanfuda")


def test_games_from_outside_get_plain_cards(high_card: Game) -> None:
    assert deck_of(high_card) == "plain"
    assert "&lt;b&gt;" in card_svg("plain", "<b>")
    root = ET.fromstring(sprite("plain", ["K", "Q"]))
    assert [one.get("id") for one in root] == ["card-K", "card-Q", "card-back", "card-empty"]


def test_compact_paths_say_the_same() -> None:
    path = "M10 10H30V-5.5C1 2 3.2 4 .5 6A5 4 30 0 1 7 7Q1 1 2 2ZL4 4M50 50L51 51L52.5 50Z"
    relative = "m10 10h20v-15.5c-29 7.5-26.8 9.5-29.5 11.5a5 4 30 0 1 6.5 1q-6-6-5-5z"
    assert compact(path) == relative + "l-6-6m46 46l1 1 1.5-1z"
    assert ends(compact(path)) == [one[-2:] for _, one in segments(path) if one]
    rng = np.random.default_rng(1)
    for _ in range(50):
        path = "M0 0" + "".join(
            command + " ".join(f"{one:.3f}" for one in rng.uniform(-9, 9, COUNTS[command.lower()]))
            for command in rng.choice([*"MLCSQT"], size=20)
        )
        wanted = [one[-2:] for _, one in segments(path)]
        assert np.allclose(ends(compact(path)), wanted, atol=0.0501)


def test_paths_are_mirrored_and_turned() -> None:
    mirrored = moved("M1 2A5 4 30 0 1 7 7", flip=True)
    assert [one for _, one in segments(mirrored)] == [(-1, 2), (5, 4, -30, 0, 0, -7, 7)]
    turned = [one for _, one in segments(moved("M1 0L0 2", 10, 20, scale=2, angle=90))]
    assert np.allclose(turned, [(10, 22), (6, 20)])


@pytest.mark.parametrize("game", our_games())
def test_a_view_shows_no_card_that_it_does_not_know(game: str) -> None:
    table = halfway(game)
    deck = deck_of(game)
    for seat in range(table.seats):
        view = table.state.view(seat)
        known = {card for zone in view.describe().zones for card in zone.cards}
        words = view._repr_svg_().partition("<title>")[2].partition("</title>")[0]
        for text in {*known_decks()[deck].texts} - known:
            whole = re.escape(card_title(deck, text))
            assert not re.search(rf"(?<=[ :]){whole}(?=[,;]|$)", words), text
        for text in known - {"--"}:
            assert card_title(deck, text) in words


@pytest.mark.parametrize("game", ["crazy_eights", "uno", "koi_koi", "cribbage"])
def test_a_state_shows_all_hands(game: str) -> None:
    table = halfway(game, 3)
    zones = describe_openly(table.state).zones
    for seat in range(table.seats):
        own = [one for one in table.state.view(seat).describe().zones if one.seat == seat]
        assert own == [one for one in zones if one.seat == seat]
    picture = ET.fromstring(table._repr_svg_())
    assert picture.find(f"{SVG}title").text
    assert table._repr_svg_() == table.state._repr_svg_() == picture_of(table)


def test_hands_and_tables_have_the_size_of_their_cards() -> None:
    hand = ET.fromstring(hand_svg("uno", ["R7", "W"], size=100))
    assert [one.get("x") for one in hand.findall(f"{SVG}svg")] == ["0", "106"]
    assert float(hand.get("width")) == 206
    assert ET.fromstring(hand_svg("uno", [])).find(f"{SVG}title").text == "no cards"
    grid = halfway("birds_of_a_feather", 3).state.view(0)
    picture = ET.fromstring(table_svg(grid.describe(), "standard"))
    assert len(picture.findall(f"{SVG}svg")) == 16


def test_records_are_shown_with_their_last_position_and_moves() -> None:
    game = find_game("crazy_eights")
    agents = [find_agent(name, game) for name in ("heuristic", "random")]
    record = play_game(game, agents, seed=2)
    html = record._repr_html_()
    assert html.count("<li>") == len(record.actions)
    assert "<svg" in html
    assert ">heuristic<" in html
    wrong = record.model_copy(update={"rules": 99})
    assert "the record follows rules version 99" in wrong._repr_html_()
    outside = record.model_copy(update={"game": "os:<b>", "seats": ["<i>", "x"]})
    shown = outside._repr_html_()  # nothing of it is imported, nothing of it is markup
    assert "<svg" not in shown
    assert "<i>" not in shown
    assert "os:&lt;b&gt;" in shown
    assert isinstance(outside, Record)


def test_matches_tournaments_and_boards_are_shown(tmp_path: object) -> None:
    match = play_match(Match.plan("crazy_eights", ["heuristic", "random"], games=40, seed=0))
    html = match._repr_html_()
    first = match.standings[0]
    assert f"{100 * first.score:.1f} ±" in html
    assert html.count("<tr>") == 3
    store = Store(f"{tmp_path}/arena.db")
    plan = Plan.make("crazy_eights", ["heuristic", "random", "tabular_q"], games=40, seed=1)
    table = play_tournament(plan, store, enter(plan, store)).table()
    html = table._repr_html_()
    assert html.count("<tr>") == 8
    assert html.count("<svg") == 3
    boards = leaderboards(store)
    assert boards[0]._repr_html_().count("<tr>") == 4
    store.close()


def test_turns_and_advice_are_shown() -> None:
    turn = halfway("crazy_eights", 2).turn()
    assert turn._repr_html_().endswith(f"seat {turn.seat} may: {', '.join(turn.texts)}</p>")
    advice = advise(parse_hand("5H 5D 6S JC 4H KD"), dealer=True, score=(0, 0))
    html = advice._repr_html_()
    assert html.count("<tr>") == 16
    assert advice.sentence() in html
    with pytest.raises(CardlabError, match="a int has no display"):
        html_of(3)


def test_a_card_face_down() -> None:
    assert pictures.card_title("standard", pictures.BACK) == "a card face down"
    assert pictures.card_svg("standard", pictures.BACK) != pictures.card_svg("standard", "7H")


def test_a_game_has_the_deck_of_its_manifest_or_one_that_holds_its_cards(high_card: Game) -> None:
    assert deck_for(find_game("crazy_eights")) is DECKS["standard"]
    assert deck_for(high_card) is DECKS["plain"]
