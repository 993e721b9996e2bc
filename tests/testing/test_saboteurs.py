"""Saboteurs: for every check of a game a game that breaks it, and the sentence that says so."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Description, Event, Game, Zone
from cardlab.engine.kernel import JIT, bit, kernel, lowest_bit
from cardlab.games.crazy_eights.rules import imagine as eights_imagine
from cardlab.testing import (
    GAME_CHECKS,
    HiddenCards,
    audit_hidden_cards,
    audit_random_games,
    check_game,
    random_table,
    retrace,
)
from cardlab.testing.worlds import compare_worlds
from tests.support import follow_suit, high_card
from tests.support.paths import EXAMPLES, ROOT

CARDS, SUITS = high_card.GAME, follow_suit.GAME
DEAL, FINISHED = high_card.DEAL, high_card.FINISHED
card_apply, card_legal, card_mover = high_card.apply, high_card.legal, high_card.mover
card_returns, card_imagine = high_card.returns, high_card.imagine
fill, suit_imagine = follow_suit.fill, follow_suit.imagine
described = high_card.describe
Change = Callable[[Description], dict[str, Any]]


def other(game: Game, **changes: Any) -> Game:
    return dataclasses.replace(game, **changes)


def describing(change: Change) -> Game:
    """High Card with another description."""

    def describe(s: Any, seat: int) -> Description:
        known = described(s, seat)
        return dataclasses.replace(known, **change(known))

    return other(CARDS, describe=describe)


# Kernels that are wrong


@kernel
def noisy_apply(s: Any, action: int) -> None:
    card_apply(s, action)
    if s.phase == FINISHED:
        s.led = np.random.randint(0, 200)  # noqa: NPY002 - that is the fault


@kernel
def descending_legal(s: Any, out: Any) -> int:
    count = card_legal(s, out)
    for i in range(count // 2):
        out[i], out[count - 1 - i] = out[count - 1 - i], out[i]
    return count


@kernel
def changing_legal(s: Any, out: Any) -> int:
    s.tricks[0] += 1
    return card_legal(s, out)


@kernel
def double_returns(s: Any, seat: int) -> float:
    return 2 * card_returns(s, seat)


@kernel
def losing_apply(s: Any, action: int) -> None:
    card_apply(s, action)
    if s.phase == FINISHED:
        s.played &= s.played - 1


@kernel
def greedy_imagine(s: Any, seat: int, rng: Any) -> bool:
    """Give the seat a trick, too."""
    s.tricks[seat] += 1
    return card_imagine(s, seat, rng)


@kernel
def imagine_without_voids(s: Any, seat: int, rng: Any) -> bool:
    return fill(s, seat, 0, rng)


@kernel
def imagine_lowest(s: Any, seat: int, rng: Any) -> bool:
    """Always give the other seat the lowest cards that it may hold."""
    suit_imagine(s, seat, rng)
    unseen = 0xFFF & ~(s.hands[seat] | s.played | s.voids[1 - seat])
    hand = s.hands[1 - seat]
    s.hands[1 - seat] = 0
    while hand:
        hand &= hand - 1
        s.hands[1 - seat] |= bit(lowest_bit(unseen))
        unseen &= unseen - 1
    return True


@kernel
def leaking_conceal(s: Any, seat: int) -> None:
    """Hide the other hand, and keep it in a field that nobody describes."""
    hand = s.hands[1 - seat]
    s.hands[1 - seat] = 0
    if s.phase != DEAL:
        s.voids[seat] = hand


@kernel
def open_conceal(s: Any, seat: int) -> None:
    """Hide nothing."""


@kernel
def third_mover(s: Any) -> int:
    who = card_mover(s)
    return 2 if who == 1 else who


SABOTEURS: list[tuple[str, Game, str]] = [
    (
        "check_layout",
        other(
            CARDS, state=np.dtype([(n, k[0]) for n, k in CARDS.state.fields.items()], align=True)
        ),
        "returned ndarray, not an array of one record",
    ),
    ("check_same_seed_same_game", other(CARDS, apply=noisy_apply), "ends in another state; let"),
    ("check_replay", other(CARDS, apply=noisy_apply), "replaying the deals and actions ends in"),
    ("check_legal_actions", other(CARDS, legal=descending_legal), "must ascend without repetition"),
    ("check_ends", other(CARDS, returns=double_returns), r"`returns` must be from -1 to 1, got \["),
    ("check_ends", other(CARDS, max_plies=5), "more than max_plies=5 actions; raise max_plies"),
    (
        "check_illegal_actions",
        other(CARDS, legal=changing_legal),
        "a refused action changed the state; let `legal` change nothing",
    ),
    ("check_audit", other(CARDS, apply=losing_apply), "`audit` finds a fault: a card is missing"),
    (
        "check_texts",
        other(CARDS, action_text=lambda action: f"n{action // 2}"),
        "two actions have the same text",
    ),
    ("check_batch", other(CARDS, apply=noisy_apply), "the batch ends in another state"),
    ("check_worlds", other(CARDS, imagine=greedy_imagine), "a sampled world looks different"),
    (
        "check_reachable_worlds",
        other(SUITS, imagine=imagine_without_voids),
        r"seed \d+, ply \d+, seat \d: \d+ of \d+ sampled worlds are impossible: seat \d with .*; "
        r"let `imagine` respect all that the seat knows \(such as shown voids\)",
    ),
    (
        "check_reachable_worlds",
        other(SUITS, imagine=imagine_lowest),
        "`imagine` misses possible worlds: .*; let `imagine` choose among all possible worlds",
    ),
    (
        "check_nothing_leaks",
        other(SUITS, conceal=leaking_conceal),
        "changes with hidden cards .*; let `conceal` erase what differs",
    ),
    (
        "check_nothing_leaks",
        other(SUITS, conceal=open_conceal),
        "every seat sees everything; let `conceal` erase",
    ),
    (
        "check_descriptions",
        describing(lambda known: {"zones": (*known.zones, Zone("hand", 3, seat=2))}),
        "ply 0, seat 0: `describe` has a zone 'hand' of seat 2, but its seats are 0 to 1; give",
    ),
    (
        "check_descriptions",
        describing(lambda known: {"events": (Event(-1, "passed"),)}),
        "has an event 'passed' of seat -1, but its seats are 0 to 1",
    ),
    (
        "check_descriptions",
        describing(lambda known: {"to_move": 1}),
        "says to_move=1, but `mover` says 0",
    ),
    (
        "check_descriptions",
        describing(lambda known: {"seats": 3}),
        "says seat=0 and seats=3, must be 0 and 2",
    ),
    (
        "check_descriptions",
        describing(lambda known: {"facts": {"score": 1.5}}),
        "has a fact 'score' with the value 1.5; use a text or an int",
    ),
]
HIDDEN = ("check_reachable_worlds", "check_nothing_leaks", "check_descriptions")


@pytest.mark.parametrize("game", [CARDS, SUITS], ids=lambda game: game.name)
def test_the_games_that_are_sabotaged_are_sound(game: Game) -> None:
    check_game(game, seeds=range(4))
    audit_random_games(game, 1000)
    checked = audit_hidden_cards(game, 5)
    assert isinstance(checked, HiddenCards)
    assert checked.positions > 10
    assert checked.views > 50


@pytest.mark.parametrize(("name", "game", "sentence"), SABOTEURS)
def test_each_check_catches_its_saboteur(name: str, game: Game, sentence: str) -> None:
    check = next(check for check in GAME_CHECKS if check.__name__ == name)
    with pytest.raises((AssertionError, CardlabError), match=sentence) as caught:
        check(game, {}, range(6))
    assert "\n" not in str(caught.value)
    if name in HIDDEN:  # `cardlab check` finds it, too
        with pytest.raises(CardlabError, match=sentence):
            audit_hidden_cards(game, 10)


def test_every_check_has_a_saboteur() -> None:
    elsewhere = {"check_compiled"}  # below: it needs a module of its own
    assert {name for name, *_ in SABOTEURS} | elsewhere == {c.__name__ for c in GAME_CHECKS}


def test_a_seat_to_move_that_does_not_exist() -> None:
    game = other(CARDS, mover=third_mover)
    with pytest.raises(
        CardlabError, match="returns a seat that does not exist; the seats are 0 to 1"
    ):
        audit_random_games(game, 10)
    with pytest.raises((AssertionError, CardlabError)):
        check_game(game, seeds=range(2))


def test_the_void_is_found_where_it_was_shown() -> None:
    """The first position that fails is one in which a seat has just failed to follow suit."""
    game = other(SUITS, imagine=imagine_without_voids)
    found = 0
    for seed in range(12):
        course = list(retrace_voids(game, seed))
        try:
            compare_worlds(game, {}, seed)
        except AssertionError as fault:
            ply = int(str(fault).split("ply ")[1].split(",")[0])
        else:
            continue
        assert course[ply] != course[ply - 1]
        found += 1
    assert found > 3


def retrace_voids(game: Game, seed: int) -> Iterator[list[int]]:
    for table in retrace(random_table(game, {}, seed)):
        yield table.state.voids.tolist()


@kernel
def eights_without_voids(s: Any, seat: int, rng: Any) -> bool:
    """Sample worlds of Crazy Eights as if nobody had ever drawn, and keep the record."""
    bars = s.barred.copy()
    s.barred[:] = 0
    done = eights_imagine(s, seat, rng)
    s.barred[:] = bars
    return done


def test_crazy_eights_that_forgets_who_drew(crazy_eights: Game) -> None:
    game = other(crazy_eights, imagine=eights_without_voids)
    with pytest.raises(CardlabError, match="sampled worlds are impossible"):
        audit_hidden_cards(game, 5)


# The command


def run_check(
    folder: Path, source: str, *pairs: tuple[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `cardlab check` on a file with some of its text exchanged."""
    name = f"sabotaged_{folder.name}"[:40].replace("-", "_")
    for old, new in pairs:
        assert old in source
        source = source.replace(old, new)
    (folder / f"{name}.py").write_text(source.replace("kuhn_poker:GAME", f"{name}:GAME"))
    command = [sys.executable, "-m", "cardlab", "check", f"{name}:GAME", "--games", "2000"]
    path = os.pathsep.join([str(ROOT / "src"), str(folder)])
    return subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "500"},
        capture_output=True,
        text=True,
        check=False,
    )


KUHN = (EXAMPLES / "kuhn_poker.py").read_text()
HIDE = "        s.cards[1 - seat] = HIDDEN\n"


def test_the_command_says_what_it_has_checked(tmp_path: Path) -> None:
    done = run_check(tmp_path, KUHN)
    assert done.returncode == 0, done.stderr
    for part in (
        "no fault in 2,000 random games, in ",
        "every step: what `audit` checks, legal actions, mover; the end: returns",
        "5 of these games: descriptions name existing seats; ",
        " views stay the same when hidden cards are exchanged ",
        "sampled worlds agree with reached worlds in ",
    ):
        assert part in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([(HIDE, "        pass\n")], "every seat sees everything; let `conceal` erase"),
        (
            [(HIDE, "        s.bets[2] = s.cards[1 - seat]\n" + HIDE)],
            "changes with hidden cards",
        ),
        ([("known, seat=other)", "known, seat=2)")], "has a zone 'hand' of seat 2"),
        (
            [("card = below(rng, 2)\n", "card = 0\n")],
            "`imagine` misses possible worlds",
        ),
    ],
    ids=["open", "leak", "zone", "imagine"],
)
def test_the_command_fails(tmp_path: Path, pairs: list[tuple[str, str]], sentence: str) -> None:
    done = run_check(tmp_path, KUHN, *pairs)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "no fault" not in done.stdout


@pytest.mark.skipif(not JIT, reason="there is nothing compiled to compare with")
def test_interpreted_rules_that_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cardlab.engine.registry import find_game

    text = KUHN.replace(
        "    s.plies += 1\n", "    s.plies += 1\n    s.chips[0] += 0 if JIT else 1\n"
    )
    text = text.replace("import int64, kernel", "import JIT, int64, kernel")
    (tmp_path / "twofold_kuhn.py").write_text(text.replace("kuhn_poker:GAME", "twofold_kuhn:GAME"))
    monkeypatch.syspath_prepend(str(tmp_path))
    check = next(check for check in GAME_CHECKS if check.__name__ == "check_compiled")
    with pytest.raises(
        AssertionError, match="interpreted and compiled rules reach different states"
    ):
        check(find_game("twofold_kuhn:GAME"), {}, range(2))
