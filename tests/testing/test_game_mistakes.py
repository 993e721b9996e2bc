"""Mistakes that people make in a game of their own: each is one sentence, and nothing hangs."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cardlab.engine.batch import Batch
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Game
from cardlab.engine.kernel import JIT, KernelError
from cardlab.engine.play import Table
from cardlab.engine.playouts import make_playouts, play_randomly
from cardlab.engine.registry import find_game, our_games
from cardlab.testing import audit_random_games, check_game
from tests.support.paths import EXAMPLES

KUHN = (EXAMPLES / "kuhn_poker.py").read_text()
needs_jit = pytest.mark.skipif(not JIT, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")
Change = Callable[..., str]


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    """Write Kuhn poker with some of its text exchanged; return the reference of that game."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)

    def change(*pairs: tuple[str, str]) -> str:
        text = KUHN
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        name = f"{tmp_path.name}_kuhn".replace("-", "_")
        (tmp_path / f"{name}.py").write_text(text.replace("kuhn_poker:GAME", f"{name}:GAME"))
        return f"{name}:GAME"

    return change


def line_of(text: str) -> int:
    return KUHN[: KUHN.index(text)].count("\n") + 1


def both(game: Game, error: type[Exception], match: str) -> None:
    """The command `check` and the suite raise the same sentence."""
    for look in (lambda: audit_random_games(game, 10), lambda: check_game(game, seeds=range(2))):
        with pytest.raises(error, match=match) as told:
            look()
        assert "\n" not in str(told.value)


# Kernels that do not compile


@needs_jit
@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("s.phase = PLAY", 's.phase = "play"', "s.phase = PLAY", "Cannot cast .*play.* to uint8"),
        ("s.phase = PLAY", "s.phase = PLAYING", "@kernel\ndef deal", "'PLAYING' is not defined"),
        ("s.phase = PLAY", "import math", "s.phase = PLAY", "unsupported opcode"),
        ("action: int) -> None", "act: int, on: int) -> None", "@kernel\ndef apply", "missing"),
        ("s.chips[seat] +=", "s.chip[seat] +=", "s.chips[seat] +=", "did you mean 'chips'"),
        ("PASS, BET\n    return 2", "PASS, BET", "@kernel\ndef legal", "on every path"),
        ("@kernel\ndef legal", "def legal", "@kernel\ndef legal", "write @kernel above it"),
        ("@kernel\ndef winner", "def winner", "@kernel\ndef winner", "write @kernel above it"),
    ],
)
def test_what_does_not_compile_is_told_with_its_line(
    changed: Change, old: str, new: str, line: str, reason: str
) -> None:
    reference = changed((old, new))
    place = rf"{reference.removesuffix(':GAME')}\.py:{line_of(line)}\b"
    for _ in range(2):  # the second time some of it is compiled already
        both(find_game(reference), KernelError, rf"^[^\n]*{place}[^\n]*{reason}|{reason}.*{place}")


@needs_jit
@pytest.mark.parametrize("full", [False, True])
def test_the_command_line_says_one_sentence_or_all(changed: Change, full: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cardlab", "check", changed(("s.phase = PLAY", "s.phase = 'x'"))],
        env={**os.environ, "NUMBA_FULL_TRACEBACKS": str(int(full))},
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if not line.startswith("compiling")]
    if full:
        assert "TypingError" in done.stderr
        assert "Traceback" in done.stderr
    else:
        assert done.returncode == 2
        assert len(told) == 1
        assert told[0].startswith("cardlab: ")


# The record, the deck, a fresh game


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            [('        ("seats", "u1"),\n', ""), ("    state[0].seats = 2\n", "")],
            r"the record has no field 'seats'; every game needs it, add \('seats', 'u1'\)",
        ),
        (
            [('"plies"', '"round"'), ("s.plies", "s.round")],
            "'round' of the record clashes with a NumPy attribute",
        ),
        ([("used_cards=2", "used_cards=4")], "got deck=3 and used_cards=4"),
        ([("[:] = 1\n    return state", "[:] = 1")], "`fresh` returned NoneType, not an array"),
        ([("state[0].chips", "state[0].chip")], "`fresh` fails .AttributeError: .*chip"),
        ([("    state[0].seats = 2\n", "")], "`fresh` must set the field 'seats'"),
    ],
)
def test_a_broken_contract_is_told_when_the_game_is_looked_up(
    changed: Change, changes: list[tuple[str, str]], told: str
) -> None:
    reference = changed(*changes)
    with pytest.raises(CardlabError, match=f"^game {reference}: .*{told}"):
        find_game(reference)


def test_our_games_keep_the_contract() -> None:
    for name in our_games():
        find_game(name).check_contract()
    with pytest.raises(CardlabError, match=r"uno\.rules:GAME: .*got deck=108 and used_cards=0"):
        dataclasses.replace(find_game("uno"), used_cards=0).check_contract()


# Deals without end


def test_a_deal_that_changes_nothing_is_no_endless_loop(changed: Change) -> None:
    game = find_game(changed(("    s.phase = PLAY\n", "")))
    told = "_kuhn: after 1,000 deals in a row `mover` still returns DEALER"
    both(game, CardlabError, told)
    for start in (
        lambda: Table(game, seed=1),
        lambda: Batch(game, 3),
        lambda: play_randomly(game, 1),
    ):
        with pytest.raises(CardlabError, match=told):
            start()


def test_a_later_deal_that_changes_nothing_is_no_endless_loop(changed: Change) -> None:
    deal = ("    s.phase = PLAY\n", "    s.phase = PLAY if s.plies == 0 else DEAL\n")
    game = find_game(changed(("    s.seat = 1 - seat\n", "    s.phase = DEAL\n    return\n"), deal))
    told = "1,000 deals in a row"
    table = Table(game, seed=1)
    with pytest.raises(CardlabError, match=told):
        table.act(0)
    batch = Batch(game, 2)
    with pytest.raises(CardlabError, match=told):
        batch.step(np.zeros(2, dtype=np.int64))
    stuck = table.state.copy()
    rng = np.ones(1, dtype=np.int64)
    order, buffer = np.empty(3, dtype=np.uint8), np.empty(2, dtype=np.int16)
    make_playouts(game).finish(stuck.array[0], rng, order, buffer)  # it comes back


def test_a_game_that_every_deal_ends_is_no_endless_loop(changed: Change) -> None:
    rare = "    s.phase = FINISHED if s.seats == 9 else PLAY\n"
    game = find_game(changed(("    s.phase = PLAY\n", rare)))
    batch = Batch(game, 1, redeal=True)
    batch._fresh[0].seats = 9  # from now on every new game is over at once
    while not batch.done[0]:
        batch.step(np.zeros(1, dtype=np.int64))
    assert batch.mover[0] == -1


# What the suite notices


@pytest.mark.parametrize(
    ("old", "new", "error", "told"),
    [
        ("        s.cards[1 - seat] = HIDDEN\n", "        pass\n", AssertionError, "open_cards"),
        ("deck=3,", "deck=3, open_cards=True,", AssertionError, "`conceal` erases something"),
        ("deck=3", "deck=2", AssertionError, "two of the 2 cards .* `deck` count all cards"),
        ("    return Description(", "    Description(", CardlabError, "`describe` .* None"),
        (
            'raise CardlabError(f"unknown action',
            'raise CardlabEror(f"unknown action',
            AssertionError,
            r"parse_action\('no such thing'\) gave NameError",
        ),
    ],
)
def test_the_suite_notices(
    changed: Change, old: str, new: str, error: type[Exception], told: str
) -> None:
    game = find_game(changed((old, new)))
    with pytest.raises(error, match=told):
        check_game(game, seeds=range(6))


def test_a_game_without_secrets_says_so_and_conforms(changed: Change) -> None:
    hidden = "        s.cards[1 - seat] = HIDDEN\n"
    check_game(
        find_game(changed((hidden, "        pass\n"), ("deck=3,", "deck=3, open_cards=True,"))),
        seeds=range(3),
    )
