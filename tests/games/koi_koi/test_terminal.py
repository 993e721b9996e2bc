"""What the terminal says about captures and yaku, against the rules."""

from __future__ import annotations

import io
import random
import re
from itertools import combinations
from pathlib import Path

import pytest
from rich.console import Console

from cardlab.engine.cards import cards_in
from cardlab.engine.play import Table
from cardlab.games.koi_koi import terminal
from cardlab.games.koi_koi.cards import card_text
from cardlab.games.koi_koi.rules import GAME, KOI_KOI, TAKE
from cardlab.games.koi_koi.yaku import BOTH_SETS, YAKU_CARDS, list_yaku
from cardlab.show.terminal import play_in_terminal


@pytest.mark.parametrize("seed", range(5))
def test_a_discard_takes_what_was_announced(seed: int) -> None:
    table = Table(GAME, seed=seed)
    chance = random.Random(seed)
    seen = set()
    while not table.over:
        turn = table.turn()
        action = int(chance.choice(turn.legal.tolist()))
        text = terminal.effect(turn.view.array[0], action)
        mine = set(cards_in(int(table.state.piles[turn.seat])))
        field = set(cards_in(int(table.state.field_cards)))
        table.act(action)
        if action >= TAKE:
            assert text == ""
            continue
        named = set(re.findall(r"\d+-\w+", text))
        assert named == {card_text(card) for card in field if card // 4 == action // 4}
        seen.add(len(named))
        if len(named) in (1, 3):
            got = set(cards_in(int(table.state.piles[turn.seat]))) - mine
            if table.state.round_number == turn.view.round_number:
                assert named <= {card_text(card) for card in got}
        if len(named) == 2:
            assert " or " in text
            assert {GAME.action_text(int(choice)) for choice in table.turn().legal} == {
                f"take {card}" for card in named
            }
    assert {0, 1, 2} <= seen


def test_the_cards_that_are_missing_form_the_yaku() -> None:
    chance = random.Random(0)
    met = set()
    for _ in range(3000):
        cards = chance.sample(range(48), 20)
        pile, other = (sum(1 << card for card in part) for part in (cards[:12], cards[12:]))
        sake = chance.choice((1, 3, 5))
        for yaku in terminal.near_yaku(pile, other, sake):
            members, _ = YAKU_CARDS[yaku.name]
            assert yaku.have == pile & members
            assert yaku.free & (pile | other) == 0
            assert yaku.name not in dict(list_yaku(pile, sake, 0))
            for missing in combinations(cards_in(yaku.free), yaku.missing):
                after = dict(list_yaku(pile | sum(1 << card for card in missing), sake, 0))
                assert after[yaku.name] == yaku.worth
                for left_out in missing:
                    fewer = sum(1 << card for card in missing if card != left_out)
                    assert yaku.name not in dict(list_yaku(pile | fewer, sake, 0))
            met.add(yaku.name)
    assert met == YAKU_CARDS.keys() - {BOTH_SETS}


def test_nothing_is_said_about_the_other_hand_or_the_stock() -> None:
    """The facts of two worlds that look the same to a seat are the same."""
    table = Table(GAME, seed=8)
    for _ in range(9):
        table.act(int(table.turn().legal[0]))
    facts = terminal.facts(table.state.view(0).array[0], 0)
    assert facts == terminal.facts(table.state.array[0], 0)
    said = " ".join(facts.values())
    assert said


def test_the_yaku_of_the_help_are_those_of_the_rules() -> None:
    for rules, sake in (("paper", "1 each, 3 after your koi-koi"), ("nintendo", "5 each")):
        table = Table(GAME, seed=1, options={"rules": rules})
        rows = dict(terminal.help_rows(table.state.array[0]))
        text = " ".join(rows.values())
        assert sake in rows["sake"]
        for name in ("five lights", "boar-deer-butterfly", "blue ribbons"):
            members, _ = YAKU_CARDS[name]
            assert all(card_text(card) in text for card in cards_in(members))
    assert GAME.action_text(KOI_KOI) in rows


def test_a_person_sees_captures_yaku_and_help(tmp_path: Path) -> None:
    file = io.StringIO()
    answers = iter(["1", "?"])

    def read(prompt: str) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    play_in_terminal(
        Table(GAME, seed=3),
        ["heuristic"],
        record_path=tmp_path / "games.jsonl",
        console=Console(file=file, width=80),
        read=read,
    )
    shown = file.getvalue()
    assert "1) 1-crane  takes 1-b" in shown
    assert "6) 7-boar  takes nothing" in shown
    assert "you need 8-moon 12-phoenix for three lights (5)" in shown
    assert "they need 9-cup for flower sake (1)" in shown
    assert "7-a and 7-b are plain cards" in shown
