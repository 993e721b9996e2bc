"""The checks of a game, one function each, and `check_game`, which runs all of them."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import shorten
from cardlab.engine.batch import Batch
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import DEALER, OVER, Game
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game
from cardlab.testing.leaks import check_nothing_leaks
from cardlab.testing.random_games import Options, random_table, retrace
from cardlab.testing.worlds import check_reachable_worlds, check_worlds

SEEDS = range(20)


def check_layout(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """The record has the required fields and no padding, and `fresh` and `deck` fit it."""
    game.check_contract()
    fields: Any = game.state.fields or {}
    used = sum(kind[0].itemsize for kind in fields.values())
    assert used == game.state.itemsize, (
        f"{game.name}: the record has padding; make it with record_type, and do not align it"
    )


def check_same_seed_same_game(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """The same seed gives the same game, whatever was played in between."""
    first = {seed: random_table(game, options, seed).state.array.tobytes() for seed in seeds}
    for seed, state in first.items():
        again = random_table(game, options, seed).state.array.tobytes()
        assert again == state, (
            f"{game.name}, seed {seed}: a second run of the same seed ends in another state; let "
            "the kernels read nothing but the record, the deck order and the action"
        )


def check_replay(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Replaying deals and actions reaches the same bytes, and a record survives its text form."""
    from cardlab.engine.records import Record

    for seed in seeds:
        table = random_table(game, options, seed)
        *_, again = retrace(table)
        assert again.state.array.tobytes() == table.state.array.tobytes(), (
            f"{game.name}, seed {seed}: replaying the deals and actions ends in another state; let "
            "the kernels read nothing but the record, the deck order and the action"
        )
        record = table.record(["random"] * table.seats)
        assert Record.from_line(record.to_line()) == record, (
            f"{game.name}, seed {seed}: the record of the game changes when it is written and read"
        )


def check_legal_actions(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Legal actions are ascending, unique and in range; none exactly when over or dealing."""
    start = game.start(options)
    assert start.mover == DEALER, (
        f"{game.name}: `mover` must return DEALER for a fresh game, got {start.mover}"
    )
    assert len(start.legal()) == 0, (
        f"{game.name}: `legal` must return 0 before the deal, got {len(start.legal())} actions"
    )
    for seed in seeds:
        for table in retrace(random_table(game, options, seed)):
            legal = table.state.legal().tolist()
            where = f"{game.name}, seed {seed}, ply {len(table.actions)}"
            assert legal == sorted(set(legal)), (
                f"{where}: legal actions must ascend without repetition, got {legal}"
            )
            assert all(0 <= action < game.num_actions for action in legal), (
                f"{where}: legal actions must be from 0 to {game.num_actions - 1}, got {legal}"
            )
            assert bool(legal) == (not table.over), (
                f"{where}: actions must be legal exactly until the game is over, got {legal} with "
                f"mover {table.mover}"
            )
            assert table.mover in (OVER, *range(table.seats)), (
                f"{where}: `mover` returns {table.mover}, but the seats are 0 to {table.seats - 1}"
            )


def check_ends(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Every game ends within `max_plies`, with returns from -1 to 1 that sum to 0 if declared."""
    for seed in seeds:
        table = random_table(game, options, seed)
        where = f"{game.name}, seed {seed}"
        returns = table.state.returns()
        assert all(-1 <= value <= 1 for value in returns), (
            f"{where}: `returns` must be from -1 to 1, got {returns}"
        )
        assert np.isfinite(table.state.points()).all(), (
            f"{where}: `points` must be finite, got {table.state.points()}"
        )
        if game.zero_sum:
            assert abs(sum(returns)) < 1e-9, (
                f"{where}: returns {returns} do not sum to zero; fix `returns`, or declare "
                "Game(..., zero_sum=False)"
            )


def check_illegal_actions(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Every illegal action is refused, by the table and by a batch, and changes nothing."""
    for seed in seeds:
        for table in retrace(random_table(game, options, seed)):
            before = table.state.array.tobytes()
            legal = set(table.state.legal().tolist())
            wrong = [action for action in range(game.num_actions) if action not in legal]
            if len(wrong) > 60 and table.actions:  # all of them once, then some
                wrong = random.Random(len(table.actions)).sample(wrong, 60)
            for action in (-1, game.num_actions, *wrong):
                assert _refuses(table.act, action), (
                    f"{game.name}, seed {seed}, ply {len(table.actions)}: a table took the illegal "
                    f"action {action}"
                )
            assert table.state.array.tobytes() == before, (
                f"{game.name}, seed {seed}, ply {len(table.actions)}: a refused action changed the "
                "state; let `legal` change nothing"
            )
        batch = Batch(game, 1, seeds=[seed], options=options)
        for action in (-1, *np.flatnonzero(~batch.mask[0]).tolist()):
            assert _refuses(batch.step, np.array([action])), (
                f"{game.name}, seed {seed}: a batch took illegal action {action}"
            )


def check_audit(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """`audit` finds no fault at any step."""
    for seed in seeds:
        for table in retrace(random_table(game, options, seed)):
            fault = game.audit(table.state.array[0])
            assert fault == 0, (
                f"{game.name}, seed {seed}, ply {len(table.actions)}: `audit` finds a fault: "
                f"{game.faults[fault]}"
            )


def check_texts(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Action texts are unique and parse back; decks and states have a text form."""
    texts = [game.action_text(action) for action in range(game.num_actions)]
    assert len(set(texts)) == len(texts), (
        f"{game.name}: two actions have the same text in `action_text`"
    )
    for action, text in enumerate(texts):
        assert game.parse_action(text) == action, (
            f"{game.name}: `parse_action` must return {action} for {text!r}"
        )
        assert game.parse_action(text.lower()) == action, (
            f"{game.name}: `parse_action` must return {action} for {text.lower()!r}, too"
        )
    for parse in (game.parse_action, game.parse_card):
        answer = _answer(parse, "no such thing")
        assert isinstance(answer, CardlabError), (
            f"{game.name}: {parse.__name__}('no such thing') gave {answer!r}; let it raise a "
            "CardlabError that says what to write instead"
        )
    for seed in seeds:
        table = random_table(game, options, seed)
        for order in table.deals:
            text = game.order_text(order)
            assert game.order_text(game.parse_order(text)) == text, (
                f"{game.name}, seed {seed}: the deal {text} is another one when it is read; "
                "`card_text` and `parse_card` must fit each other"
            )
        assert str(table.state), f"{game.name}, seed {seed}: `state_text` returns no text"


def check_batch(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """A batch plays the same games as single tables, and restarts from a fresh state only."""
    seeds = list(seeds)
    tables = [random_table(game, options, seed) for seed in seeds]
    batch = Batch(game, len(seeds), seeds=seeds, options=options)
    tracks = [list(table.actions) for table in tables]
    for ply in range(max(len(track) for track in tracks)):
        actions = [track[ply] if ply < len(track) else -1 for track in tracks]
        batch.step(np.array(actions))
        for row, track in enumerate(tracks):
            if ply == len(track) - 1:
                assert batch.done[row], (
                    f"{game.name}, seed {seeds[row]}: a batch continues after ply {ply}, but a "
                    "table is over"
                )
                ours, theirs = batch.returns[row].tolist(), tables[row].state.returns()
                assert np.allclose(ours, theirs), (
                    f"{game.name}, seed {seeds[row]}: a batch returns {ours}, a table {theirs}"
                )
    for row, table in enumerate(tables):
        assert batch.states[row].tobytes() == table.state.array[0].tobytes(), (
            f"{game.name}, seed {seeds[row]}: the batch ends in another state"
        )
    again = Batch(game, len(seeds), seeds=seeds, redeal=True, options=options)
    rng = np.random.default_rng(0)
    for _ in range(3 * max(len(track) for track in tracks)):
        again.step(np.array([rng.choice(np.flatnonzero(row)) for row in again.mask]))
        for row in np.flatnonzero(again.done).tolist():
            fresh = Table(game, seed=int(again.seeds[row]), options=options)
            assert again.states[row].tobytes() == fresh.state.array[0].tobytes(), (
                f"{game.name}: row {row} of a batch was not restarted from a fresh state"
            )


def check_compiled(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Interpreted and compiled rules reach the same states in the same games."""
    seeds = list(seeds)[:5]
    code = (
        "import sys, json; from cardlab.testing import fingerprint; "
        "from cardlab.games import find_game; name, options, seeds = json.load(sys.stdin); "
        "sys.stdout.write(fingerprint(find_game(name), options, seeds))"
    )
    other = dict(
        os.environ,
        NUMBA_DISABLE_JIT="0" if _interpreted() else "1",
        PYTHONPATH=os.pathsep.join(path for path in sys.path if path),
    )
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        input=json.dumps([game.reference, options, seeds]),
        capture_output=True,
        text=True,
        env=other,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == fingerprint(game, options, seeds), (
        f"{game.name}: interpreted and compiled rules reach different states; use int64(...) where "
        "numbers of the record can overflow"
    )


def check_descriptions(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Descriptions name existing seats and cards, and the seat that is to move."""
    for seed in seeds:
        for table in retrace(random_table(game, options, seed)):
            for seat in range(table.seats):
                check_description(table, seat, seed)


def check_description(table: Table, seat: int, seed: int) -> None:
    """Check what `describe` returns for one seat in one position."""
    game, seats, known = table.game, table.seats, table.state.view(seat).describe()
    where = f"{game.name}, seed {seed}, ply {len(table.actions)}, seat {seat}: `describe`"
    last = f"its seats are 0 to {seats - 1}"
    assert (known.seat, known.seats) == (seat, seats), (
        f"{where} says seat={known.seat} and seats={known.seats}, must be {seat} and {seats}"
    )
    to_move = None if table.over else table.mover
    assert known.to_move == to_move, (
        f"{where} says to_move={known.to_move}, but `mover` says {to_move}; return the seat to "
        "move, and None when the game is over"
    )
    for zone in known.zones:
        assert _names_a_seat(zone.seat, seats), (
            f"{where} has a zone {zone.name!r} of seat {zone.seat}, but {last}; give one of them, "
            "or None for a zone that belongs to nobody"
        )
    for event in known.events:
        assert _names_a_seat(event.seat, seats), (
            f"{where} has an event {event.text!r} of seat {event.seat}, but {last}; give one of "
            "them, or None for an event that belongs to nobody"
        )
    for name, value in known.facts.items():
        assert isinstance(name, str) and isinstance(value, (str, int)), (
            f"{where} has a fact {name!r} with the value {value!r}; use a text or an int"
        )


GameCheck = Callable[[Game, Options, Iterable[int]], None]

GAME_CHECKS: tuple[GameCheck, ...] = (
    check_layout,
    check_same_seed_same_game,
    check_replay,
    check_legal_actions,
    check_ends,
    check_illegal_actions,
    check_audit,
    check_texts,
    check_batch,
    check_compiled,
    check_descriptions,
    check_worlds,
    check_reachable_worlds,
    check_nothing_leaks,
)


def check_game(
    game: str | Game, options: Options | None = None, seeds: Iterable[int] = SEEDS
) -> None:
    """Run every check in GAME_CHECKS on a game; the first fault raises."""
    found, seeds = find_game(game), _read_seeds(seeds)
    values = found.read_options(options)
    for check in GAME_CHECKS:
        check(found, values, seeds)


def _read_seeds(seeds: object) -> list[int]:
    """Return the seeds of the games that are checked."""
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise CardlabError(f"seeds must be a list of whole numbers, got {shorten(seeds)}")
    return [seeding.read_seed(seed) for seed in seeds]


def _answer(function: Callable[[Any], Any], given: Any) -> Any:
    """Return what a function returns, or raises."""
    try:
        return function(given)
    except Exception as error:
        return error


def _names_a_seat(seat: object, seats: int) -> bool:
    return seat is None or (not isinstance(seat, bool) and seat in range(seats))


def _refuses(take: Callable[[Any], None], action: Any) -> bool:
    try:
        take(action)
    except IllegalAction:
        return True
    return False


def _interpreted() -> bool:
    from cardlab.engine.kernel import JIT

    return not JIT


def fingerprint(game: str | Game, options: Options | None, seeds: Iterable[int]) -> str:
    """Return a digest of every state, view and sampled world of some random games."""
    seeds = _read_seeds(seeds)
    digest = hashlib.sha256()
    for seed in seeds:
        for table in retrace(random_table(game, options, seed)):
            digest.update(table.state.array.tobytes())
            look = not table.over and len(table.actions) < 60
            for seat in range(table.seats if look else 0):
                view = table.state.view(seat)
                digest.update(view.array.tobytes())
                digest.update(view.imagine(np.random.default_rng(seed)).array.tobytes())
        digest.update(repr((table.state.returns(), table.state.points())).encode())
    return digest.hexdigest()
