"""What reaches a terminal: none of it can command one, wherever it comes from."""

from __future__ import annotations

import io
import logging
import sys
import warnings
from pathlib import Path

import pytest
from rich.text import Text

from cardlab import cli
from cardlab.arena.leaderboard import Board
from cardlab.arena.ratings import Rating
from cardlab.engine.errors import CardlabError, CardlabWarning
from cardlab.engine.game import Game
from cardlab.engine.records import append_records
from cardlab.show.console import new_console, plain_text, say, table_of
from cardlab.show.tournament import show_boards
from cardlab.testing import random_table
from cardlab.web.logs import Plain

CODES = [
    "\x1b]0;title\x07",
    "\x1b[2J",
    "\x9b2J",
    "\x00",
    "\x08\x08",
    "\r",
    "\x7f",
    "\u202egpj.exe",
    "\u2066x\u2069",
    "\u200f",
    "\u2028",
    "\u061c",
]
SIGN = "\N{REPLACEMENT CHARACTER}"


def controls(text: str) -> list[str]:
    """Return what could command a terminal in what was printed without colours."""
    return [sign for sign in text if not sign.isprintable() and sign not in "\n\t"]


@pytest.mark.parametrize("code", CODES, ids=repr)
def test_control_characters_are_replaced(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert controls(plain_text(f"a{code}b")) == []
    assert SIGN in plain_text(code)
    out = new_console()
    table = table_of("agent", title=f"t{code}")
    table.add_row(f"cell{code}")
    for thing in (table, Text(f"text{code}"), f"string{code}"):
        out.print(thing, markup=False)
    new_console(stderr=True).print(Text.assemble((f"part{code}", "bold")))
    say(f"line{code}\nforged: cardlab: all is well")
    shown = capsys.readouterr()
    assert controls(shown.out + shown.err) == []
    assert "\ncardlab: line" in f"\n{shown.err}"
    assert "\nforged" not in shown.err
    for word in (f"cell{SIGN}", "text", f"string{SIGN}"):  # Rich itself drops some from a Text
        assert word in shown.out


def test_sentences_are_wrapped_at_words_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = (
        "a sentence that is longer than the terminal; run: cardlab check-agent ./my-own-agent"
    )
    say(sentence)
    assert capsys.readouterr().err == f"cardlab: {sentence}\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    say(sentence)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= 30
    assert " ".join(lines) == f"cardlab: {sentence}"
    assert any("check-agent" in line for line in lines)  # hyphens are no place to break


def test_our_own_colours_stay() -> None:
    out = new_console()
    out.file = io.StringIO()
    out._color_system = None
    forced = new_console()
    forced._force_terminal, forced.file = True, io.StringIO()
    from rich.color import ColorSystem

    forced._color_system = ColorSystem.STANDARD
    forced.print(Text("bold\x1b[2J", style="bold"))
    shown = forced.file.getvalue()
    assert shown.startswith("\x1b[1m")
    assert "\x1b[2J" not in shown


def test_words_of_all_languages_stay() -> None:
    text = "Grüße ☃ ♠ 花札 कार्ड 👩‍🚀\tכרטיס\nline"
    assert plain_text(text) == text


def test_tables_stay_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    table = table_of("name", "games")
    for name in ("a\x1b[31mb", "plain name"):
        table.add_row(name, "7")
    new_console().print(table)
    rows = [line for line in capsys.readouterr().out.splitlines() if "7" in line]
    assert len({line.rindex("7") for line in rows}) == 1


def test_a_leaderboard_of_a_stranger(capsys: pytest.CaptureFixture[str]) -> None:
    board = Board("a\x1b[2J:GAME", {"b\x1b[2J": "c\x9b2J"}, 1, 2, 1, [], None)
    show_boards([board])
    shown = capsys.readouterr().out
    assert f"a{SIGN}[2J:GAME" in shown
    assert controls(shown) == []


def test_a_leaderboard_explains_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("a", 20.0, (1, 2), "a"), ("b", -1.0, (1, 2), "ab"), ("c", -19.0, (3, 3), "c")]
    ratings = [Rating(name, elo, None, rank, groups) for name, elo, rank, groups in rows]
    show_boards([Board("uno", {}, 1, 8, 4, ratings, None)])
    shown = capsys.readouterr().out
    assert "rank 1-2: no rank from 1 to 2 can be excluded" in shown
    assert "agents that share a letter: no significant difference" in shown
    assert "Elo: 0 is the mean of these agents" in " ".join(shown.split())
    show_boards([Board("uno", {}, 1, 8, 4, ratings[2:], None)])
    shown = capsys.readouterr().out
    assert "can be excluded" not in shown
    assert "share a letter" not in shown


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return all that a command prints."""
    before, sys.argv = sys.argv, ["cardlab", *words]
    try:
        with pytest.raises(SystemExit):
            cli.main()
    finally:
        sys.argv = before
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_a_record_of_a_stranger(
    tmp_path: Path,
    crazy_eights: Game,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cli, "listen", lambda: None)  # leave signals to the tests
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    record = random_table(crazy_eights, {}, 1).record(["a\x1b]0;x\x07", "b\u202e"], note="c\x9b2J")
    path = tmp_path / "games.jsonl"
    append_records(path, record, record.model_copy(update={"result": None, "note": "d"}))
    shown = run(capsys, "replay", str(path))
    assert f"a{SIGN}]0;x - b{SIGN}" in shown
    assert controls(shown) == []
    wrong = [(7, "e\x1b[2J"), *record.actions[1:]]
    for odd in ({"actions": wrong}, {"game": "f\x1b[2J"}, {"options": {"g\x1b[2J": 1}}):
        path.write_text(record.model_copy(update=odd).to_line())
        shown = run(capsys, "replay", str(path))
        assert shown.startswith(f"cardlab: {path}, line 1: ")
        assert controls(shown) == []


def test_errors_warnings_and_tracebacks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        warnings.warn("warned\x1b[2J", CardlabWarning, stacklevel=1)
        raise CardlabError("failed\x1b[2J\nforged")

    monkeypatch.setattr(cli, "listen", lambda: None)
    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.setattr(cli, "_register_from_outside", lambda words: None)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setenv("CARDLAB_TRACEBACK", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("always", CardlabWarning)
        shown = run(capsys)
    assert f"cardlab: warned{SIGN}[2J\n" in shown
    assert f"cardlab: failed{SIGN}[2J forged\n" in shown
    assert "Traceback" in shown
    assert controls(shown) == []


def test_the_log_of_the_server() -> None:
    line = logging.LogRecord("x", logging.WARNING, "", 0, "asked for %s", ("/\x1b[2J",), None)
    assert Plain("%(message)s").format(line) == f"asked for /{SIGN}[2J"
