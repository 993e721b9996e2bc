"""What every game must do, one function a check."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.arguments import read_count, read_kind, shorten
from cardlab.engine.batch import Batch
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import DEALER, OVER, Description, Game, State, View
from cardlab.engine.play import Table
from cardlab.engine.registry import find_game

Options = dict[str, Any]
SEEDS = range(20)
MOST_LOOKED_AT = 100  # positions of a game


def random_table(
    game: str | Game, options: Options | None, seed: int, plies: int | None = None
) -> Table:
    """Return a game played at random for so many plies, or to its end."""
    game, seed = find_game(game), seeding.read_seed(seed)
    plies = None if plies is None else read_count(plies, "plies", lowest=0)
    table = Table(game, seed=seed, options=options)
    rng = seeding.generator(seed, "random play")
    while not table.over and (plies is None or len(table.actions) < plies):
        legal = table.state.legal()
        where = f"{game.name}, seed {seed}, ply {len(table.actions)}"
        assert len(legal), f"{where}: the game is not over, but nothing is legal"
        assert len(table.actions) < game.max_plies, f"{where}: past the stated bound of plies"
        table.act(int(rng.choice(legal)))
    return table


def retrace(table: Table) -> Iterator[Table]:
    """Yield a game again from its deals and actions: at the start and after each action."""
    table = read_kind(table, Table, "table", "random_table returns one")
    again = Table(table.game, deals=table.deals, options=table.options)
    yield again
    for action in table.actions:
        again.act(action)
        yield again


def check_layout(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """What can be seen without playing is as it must be, and records have no padding."""
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
        assert again == state, f"{game.name}, seed {seed}: a second run went another way"


def check_replay(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Replaying deals and actions reaches the same bytes, and a record survives its text form."""
    from cardlab.engine.records import Record

    for seed in seeds:
        table = random_table(game, options, seed)
        *_, again = retrace(table)
        assert again.state.array.tobytes() == table.state.array.tobytes(), (
            f"{game.name}, seed {seed}: the replay ends in another state"
        )
        record = table.record(["random"] * table.seats)
        assert Record.from_line(record.to_line()) == record


def check_legal_actions(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Legal actions are ascending, unique and in range; none exactly when over or dealing."""
    start = game.start(options)
    assert start.mover == DEALER, f"{game.name}: a fresh game must wait for the dealer"
    assert len(start.legal()) == 0, f"{game.name}: nothing is legal before the deal"
    for seed in seeds:
        for table in retrace(random_table(game, options, seed)):
            legal = table.state.legal().tolist()
            where = f"{game.name}, seed {seed}, ply {len(table.actions)}"
            assert legal == sorted(set(legal)), f"{where}: legal actions {legal} are not ascending"
            assert all(0 <= action < game.num_actions for action in legal), f"{where}: {legal}"
            assert bool(legal) == (not table.over), f"{where}: legal actions {legal}"
            assert table.mover in (OVER, *range(table.seats)), f"{where}: mover {table.mover}"


def check_ends(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Every game ends within its stated bound, with finite returns that sum to zero if declared."""
    for seed in seeds:
        table = random_table(game, options, seed)
        where = f"{game.name}, seed {seed}"
        returns = table.state.returns()
        assert all(-1 <= value <= 1 for value in returns), f"{where}: returns {returns}"
        assert np.isfinite(table.state.points()).all(), f"{where}: points {table.state.points()}"
        if game.zero_sum:
            assert abs(sum(returns)) < 1e-9, f"{where}: returns {returns} do not sum to zero"


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
                    f"{game.name}, seed {seed}, ply {len(table.actions)}: took {action}"
                )
            assert table.state.array.tobytes() == before
        batch = Batch(game, 1, seeds=[seed], options=options)
        for action in (-1, *np.flatnonzero(~batch.mask[0]).tolist()):
            assert _refuses(batch.step, np.array([action])), f"{game.name}: batch took {action}"


def check_audit(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """The record is sound at every step: cards conserved, counts right, scores right."""
    for seed in seeds:
        for table in retrace(random_table(game, options, seed)):
            fault = game.audit(table.state.array[0])
            assert fault == 0, (
                f"{game.name}, seed {seed}, ply {len(table.actions)}: {game.faults[fault]}"
            )


def check_texts(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Action texts are unique and parse back; decks and states have a text form."""
    texts = [game.action_text(action) for action in range(game.num_actions)]
    assert len(set(texts)) == len(texts), f"{game.name}: two actions share a text"
    for action, text in enumerate(texts):
        assert game.parse_action(text) == action, f"{game.name}: {text!r} does not parse back"
        assert game.parse_action(text.lower()) == action, f"{game.name}: {text.lower()!r}"
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
            assert game.order_text(game.parse_order(text)) == text
        assert str(table.state)


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
                assert batch.done[row], f"{game.name}, seed {seeds[row]}: not done"
                assert np.allclose(batch.returns[row], tables[row].state.returns())
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
                f"{game.name}: row {row} was not restarted from a fresh state"
            )


def check_compiled(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Interpreted and compiled rules take the same games through the same states."""
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
        f"{game.name}: interpreted and compiled rules disagree"
    )


def check_worlds(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Sampled worlds are sound, look the same to the seat, and offer the mover the same.

    In long games some positions stand for all.
    """
    for seed in seeds:
        whole = random_table(game, options, seed)
        step = 1 + len(whole.actions) // MOST_LOOKED_AT
        for table in retrace(whole):
            looked_at = not table.over and len(table.actions) % step == 0
            for seat in range(table.seats if looked_at else 0):
                where = f"{game.name}, seed {seed}, ply {len(table.actions)}, seat {seat}"
                view = table.state.view(seat)
                assert table.state.view(seat).array.tobytes() == view.array.tobytes()
                twice = State(game, view.array.copy()).view(seat)
                assert twice.array.tobytes() == view.array.tobytes(), f"{where}: conceal twice"
                world = view.imagine(np.random.default_rng(seed))
                fault = game.audit(world.array[0])
                assert fault == 0, f"{where}: an imagined world: {game.faults[fault]}"
                assert world.view(seat).array.tobytes() == view.array.tobytes(), (
                    f"{where}: an imagined world looks different to the seat"
                )
                if table.mover == seat:
                    assert world.legal().tolist() == table.state.legal().tolist(), where


def check_nothing_leaks(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Views hide something, and not even two unseen cards that are swapped change their bytes.

    Worlds are compared only while the same actions keep the same seats moving with as many cards
    in every zone: otherwise the seat has witnessed the difference.
    """
    compared = 0
    hidden = False
    for seed in seeds:
        rng = np.random.default_rng(seed)
        table = random_table(game, options, seed)
        course = [_witness(step) for step in retrace(table)]
        hidden |= any(view != state for views, state, *_ in course for view in views)
        for seat in range(table.seats):
            for _ in range(6):
                a, b = (int(card) for card in rng.choice(game.deck, size=2, replace=False))
                compared += _compare_swapped(table, course, seat, a, b)
    # A game without hidden cards has nothing to compare; another must offer some pairs.
    assert hidden or table.seats < 2 or game.open_cards, (
        f"{game.name}: every seat sees everything; let `conceal` erase what a seat has not "
        "witnessed, or declare a game without secrets by Game(..., open_cards=True)"
    )
    assert not (hidden and game.open_cards), (
        f"{game.name}: declared open_cards=True, but `conceal` erases something; leave one out"
    )
    assert compared or not hidden, (
        f"{game.name}: no swap of two of the {game.deck} cards of the deck could be compared; "
        "`describe` must list the cards that a seat knows, and `deck` count all cards"
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
    check_worlds,
    check_nothing_leaks,
)


def check_game(
    game: str | Game, options: Options | None = None, seeds: Iterable[int] = SEEDS
) -> None:
    """Run every check on a game."""
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
    """Return a digest of every state, view and imagined world of some random games."""
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


Witnessed = tuple[list[bytes], bytes, int, list[Description]]


def _witness(table: Table) -> Witnessed:
    views = [table.state.view(seat) for seat in range(table.seats)]
    return (
        [view.array.tobytes() for view in views],
        table.state.array.tobytes(),
        table.mover,
        [view.describe() for view in views],
    )


def _compare_swapped(table: Table, course: list[Witnessed], seat: int, a: int, b: int) -> int:
    """Replay with cards a and b swapped; return how many views could be compared and agreed."""
    game = table.game
    names = {game.card_text(a), game.card_text(b)}
    swap = np.arange(game.deck, dtype=np.uint8)
    swap[[a, b]] = b, a
    other = Table(game, deals=[swap[order] for order in table.deals], options=table.options, seed=0)
    compared = 0
    for ply, (views, _, mover, descriptions) in enumerate(course):
        seen = {card for zone in descriptions[seat].zones for card in zone.cards}
        if seen & names or other.mover != mover or mover == OVER:
            return compared
        now = other.state.view(seat)
        counts = [(zone.name, zone.seat, zone.count) for zone in descriptions[seat].zones]
        if counts != [(zone.name, zone.seat, zone.count) for zone in now.describe().zones]:
            return compared
        assert now.array.tobytes() == views[seat], (
            f"{game.name}, seed {table.seed}, ply {ply}: the view of seat {seat} changes with "
            f"hidden cards {sorted(names)}; conceal must erase what tells them apart"
        )
        assert now.describe() == descriptions[seat]
        compared += 1
        if table.actions[ply] not in other.state.legal():
            return compared
        other.act(table.actions[ply])
    return compared


def check_uniform(view: View, ways: Sequence[bytes], draws: int = 20_000, seed: int = 0) -> None:
    """Sampled worlds are those in `ways`, as often as they are listed (chi-square, 1 in 10,000).

    `ways` holds the bytes of the state for every way to lay the unseen cards on hidden places that
    agrees with what the seat has witnessed, found by enumeration.
    """
    from scipy.stats import chisquare

    expected = Counter(ways)
    rng = np.random.default_rng(seed)
    met = Counter(view.imagine(rng).array.tobytes() for _ in range(draws))
    assert not met.keys() - expected.keys(), "an imagined world is not among the possible ones"
    share = draws / len(ways)
    result = chisquare([met[world] for world in expected], [share * n for n in expected.values()])
    assert result.pvalue > 1e-4, f"imagined worlds are not uniform: {result}"
