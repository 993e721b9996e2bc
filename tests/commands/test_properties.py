"""Any text after an option of the command line is a value or a mistake in one sentence."""

from __future__ import annotations

import io
import math
import os
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.exceptions import TyperException

from cardlab.arena.sprt import Test as SequentialTest
from cardlab.arena.sprt import judge, read_counts
from cardlab.cli import app
from cardlab.commands.arguments import LIMITS, read_limits, read_options
from cardlab.commands.help_format import usage_error
from cardlab.engine.cards import card_text
from cardlab.engine.errors import CardlabError
from cardlab.games.birds_of_a_feather.census import parse_range
from cardlab.games.birds_of_a_feather.rules import parse_deal, parse_position, position_text
from cardlab.games.cribbage.scoring import score_text
from cardlab.games.cribbage.solvers.advice import parse_hand, parse_score
from tests.support.strategies import any_text, check_sentence, texts_near, value_or_error

CARDS = [card_text(card) for card in range(52)]


@given(
    st.lists(
        texts_near(["move=10", "game=300", "memory=2048", "move=0.5,memory=1"], ",="), max_size=3
    )
)
def test_limits_are_positive_numbers_or_a_mistake(texts: list[str]) -> None:
    if any("logs=" in text for text in texts):
        return  # makes a folder
    limits = value_or_error(read_limits, texts)
    if not isinstance(limits, CardlabError):
        for field, _ in LIMITS.values():
            value = getattr(limits, field)
            assert value is None or (math.isfinite(value) and value > 0)


@given(any_text)
def test_a_folder_for_logs_is_one_or_a_mistake(text: str) -> None:
    if os.sep in text or text in ("", ".", ".."):
        return
    value_or_error(read_limits, [f"logs=/dev/null/{text}"])


@given(st.lists(texts_near(["seats=3", "rules=paper", "=", "a=b=c"], "="), max_size=3))
def test_options_have_names_and_values_or_are_a_mistake(texts: list[str]) -> None:
    options = value_or_error(read_options, texts)
    if not isinstance(options, CardlabError):
        assert [f"{name}={value}" for name, value in options.items()] == texts


@given(texts_near(["379,10170,21828,10640,343", "1/2/3/4/5", "0,0,0,0,0", "1", "-1"], " ,/"))
def test_counts_of_pairs_are_five_or_a_mistake(text: str) -> None:
    counts = value_or_error(read_counts, text)
    if not isinstance(counts, CardlabError):
        assert len(counts) == 5
        value_or_error(judge, counts, SequentialTest(0.0, 10.0, 0.05, 0.05))


@given(st.floats(), st.floats(), st.floats(), st.floats())
def test_a_sequential_test_has_sound_bounds_or_is_a_mistake(
    elo0: float, elo1: float, alpha: float, beta: float
) -> None:
    test = value_or_error(SequentialTest(elo0, elo1, alpha, beta).check)
    if not isinstance(test, CardlabError):
        verdict = judge((3, 5, 9, 6, 4), test)
        assert all(map(math.isfinite, (verdict.llr, *verdict.bounds)))


@given(texts_near(["0:10000", "-500:500", "7:8", ":", "1:"], ":-"))
def test_seeds_are_a_range_or_a_mistake(text: str) -> None:
    seeds = value_or_error(parse_range, text)
    if not isinstance(seeds, CardlabError):
        assert len(seeds) > 0


@given(texts_near(["78-81", "0:0", "120-1"], "-:"))
def test_a_score_is_two_numbers_or_a_mistake(text: str) -> None:
    value_or_error(parse_score, text)


@given(texts_near([*CARDS, " ".join(CARDS[:6]), " ".join(CARDS[20:26])]))
def test_a_hand_of_cribbage_is_different_cards_or_a_mistake(text: str) -> None:
    hand = value_or_error(parse_hand, text)
    if not isinstance(hand, CardlabError):
        assert len(set(hand)) == 6


@given(
    st.lists(st.sampled_from(CARDS), max_size=5).map(" ".join) | texts_near(CARDS),
    texts_near(CARDS),
)
def test_a_hand_of_cribbage_is_scored_or_is_a_mistake(hand: str, cut: str) -> None:
    scored = value_or_error(score_text, hand, cut)
    if not isinstance(scored, CardlabError):
        assert 0 <= scored[1] <= 29


@given(
    st.lists(
        st.sampled_from([*CARDS, "--"]),
        min_size=16,
        max_size=16,
        unique_by=lambda one: object() if one == "--" else one,
    ).map(" ".join)
    | texts_near([*CARDS, "--", " ".join(CARDS[:16])])
)
def test_birds_of_a_feather_lie_as_the_text_says_or_it_is_a_mistake(text: str) -> None:
    position = value_or_error(parse_position, text)
    if not isinstance(position, CardlabError):
        shown = position_text(position[0])
        assert position_text(parse_position(shown)[0]) == shown
    deal = value_or_error(parse_deal, text)
    if not isinstance(deal, CardlabError):
        assert sorted(deal.tolist()) == list(range(52))


WORD = texts_near(["heuristic", "random:1", "seats=3", "0:5", "5H 5C 5S JD", "1,2,3,4,5", "-o"])
NUMBER = st.sampled_from(["0", "2", "-1", "1e3", "x", "", "9" * 30, "nan", "0.05", "2.5"])
LINES: tuple[tuple[Any, ...], ...] = (
    ("games", WORD),
    ("agents", st.sampled_from(["uno", "birds_of_a_feather"]) | WORD),
    ("match", "crazy_eights", "random", WORD, "--games", "2", "--workers", "1"),
    ("match", "uno", "random", "random", "--games", NUMBER, "--workers", NUMBER, "--seed", NUMBER),
    ("match", "uno", "random", "random", "--games", "2", "--workers", "1", "-o", WORD),
    ("match", "uno", "random", "random", "--games", "2", "--workers", "1", "--limits", WORD),
    ("tournament", "uno", "random", WORD, "--format", WORD, "--store", "own.db"),
    ("score", "cribbage", WORD, "--cut", WORD),
    ("score", WORD, "5H 5C 5S JD", "--cut", "5D"),
    ("analyse", "cribbage", WORD, "--score", WORD),
    ("solve", "birds_of_a_feather", "--seed", NUMBER),
    ("solve", "birds_of_a_feather", "--deal", WORD),
    ("sprt", "--counts", WORD, "--elo0", NUMBER, "--elo1", NUMBER),
    ("sprt", "--counts", "3,5,9,6,4", "--alpha", NUMBER, "--beta", NUMBER, "--json"),
    ("sprt", "uno", WORD, "random", "--name", WORD, "--store", "own.db"),
    ("replay", "records.jsonl"),
    ("replay", WORD),
    ("explain", "uno", "records.jsonl", "--ply", NUMBER, "--line", NUMBER, "--agent", WORD),
    ("leaderboard", WORD, "--store", "records.jsonl"),
    ("export", "out.csv", "--store", "records.jsonl", "--name", WORD),
    ("check-agent", WORD, "--game", WORD, "--games", NUMBER),
    ("train", WORD, "--set", WORD),
    ("play", "uno", "--against", WORD, "--deal", WORD, "--seat", NUMBER, "--adviser", WORD),
    (WORD, WORD),
)


@settings(max_examples=max(20, settings().max_examples // 2))
@given(data=st.data())
def test_any_command_line_ends_without_a_traceback(data: st.DataObject) -> None:
    line = data.draw(st.sampled_from(LINES))
    words = [part if isinstance(part, str) else data.draw(part) for part in line]
    if any(os.sep in word or word in ("..", "out.csv") for word in words[1:]):
        return  # stays in its folder
    content = data.draw(st.binary(max_size=30) | st.sampled_from([b"{}\n", b"SQLite format 3\0"]))
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("records.jsonl").write_bytes(content)
        shown = io.StringIO()
        with redirect_stdout(shown), redirect_stderr(shown):
            said = run(words)
        assert "\n" not in said
        assert "Traceback" not in shown.getvalue()


def run(words: list[str]) -> str:
    """Run a command and return the sentence that it ends with, if it is a mistake."""
    try:
        app(words, prog_name="cardlab", standalone_mode=False)
    except CardlabError as error:
        check_sentence(error)
        return str(error)
    except TyperException as error:
        return usage_error(error)
    except (typer.Exit, typer.Abort):
        pass
    return ""
