"""Sampled worlds: what `imagine` returns must be what can have happened, and all of it.

`check_worlds` looks at single worlds, `check_reachable_worlds` compares many of them with worlds
that are reached by play, `check_uniform` compares them with a list of all possible worlds.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.game import DEALER, OVER, Array, Game, State, View
from cardlab.engine.kernel import JIT, int64, kernel
from cardlab.engine.play import Table
from cardlab.engine.seeding import below
from cardlab.testing.random_games import Options, random_table, retrace

MOST_LOOKED_AT = 100  # positions of a game from which single worlds are sampled
MOST_COMPARED = 16 if JIT else 4  # positions of a game in which many worlds are compared
ENOUGH = 400 if JIT else 100  # worlds of each kind that are compared
TRIES = 20_000 if JIT else 500  # sampled worlds that are replayed to find these
BLOCK = 1_000 if JIT else 100  # of them at a time
CERTAIN = 40  # equal samples of one distribution: 40 times here and never there is chance 2**-40
EXCHANGES = 12  # for each position of a deck order, to find whether a seat sees its card
MOST_REJECTED = 1_000  # times in a row that `imagine` may return False


def check_worlds(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Sampled worlds are sound, look the same to the seat, and offer the mover the same actions.

    In games of more than 100 plies only some positions are checked.
    """
    for seed in seeds:
        whole = random_table(game, options, seed)
        step = 1 + len(whole.actions) // MOST_LOOKED_AT
        for table in retrace(whole):
            looked_at = not table.over and len(table.actions) % step == 0
            for seat in range(table.seats if looked_at else 0):
                where = f"{game.name}, seed {seed}, ply {len(table.actions)}, seat {seat}"
                view = table.state.view(seat)
                assert table.state.view(seat).array.tobytes() == view.array.tobytes(), (
                    f"{where}: two calls of `conceal` on the same state give different views; let "
                    "it read nothing but the record"
                )
                twice = State(game, view.array.copy()).view(seat)
                assert twice.array.tobytes() == view.array.tobytes(), (
                    f"{where}: `conceal` changes a view that it has made; let it change nothing "
                    "the second time"
                )
                world = view.imagine(np.random.default_rng(seed))
                fault = game.audit(world.array[0])
                assert fault == 0, (
                    f"{where}: `audit` finds a fault in a sampled world: {game.faults[fault]}; fix "
                    "`imagine`"
                )
                assert world.view(seat).array.tobytes() == view.array.tobytes(), (
                    f"{where}: a sampled world looks different to the seat; let `imagine` change "
                    "only what `conceal` erases"
                )
                if table.mover == seat:
                    ours, theirs = table.state.legal().tolist(), world.legal().tolist()
                    assert ours == theirs, (
                        f"{where}: the legal actions are {ours}, but {theirs} in a sampled world; "
                        "let `legal` depend only on what the mover knows"
                    )


def check_reachable_worlds(game: Game, options: Options, seeds: Iterable[int]) -> None:
    """Sampled worlds are those that play can reach: none is impossible, no kind is missing.

    See `compare_worlds` for the rule.
    """
    for seed in seeds:
        compare_worlds(game, options, seed)


class Compared(NamedTuple):
    """How many positions were compared, and how many had too few reached worlds to compare."""

    positions: int
    skipped: int


def compare_worlds(game: Game, options: Options, seed: int, most: int = MOST_COMPARED) -> Compared:
    """Compare sampled worlds with worlds reached by replaying what a seat has witnessed.

    The rule, for one seat and one action of a random game:

    1. Sample many worlds from the view of the seat before the action. Take the action in each; an
       action of another seat may be hidden, so half the time any legal action is taken instead.
       Keep the worlds after which the seat sees, byte for byte, what it saw in the game: these are
       the reached worlds.
    2. Sample as many worlds from the view of the seat after the action.
    3. What occurs in at least 40 of the sampled worlds must occur in a reached world, and the other
       way round. What occurs is a bit, a byte, or all of what another seat sees and may do, or the
       number of its legal actions.

    The first position of a game, and of each new deal, is reached by other deals: by deck orders
    that differ from that of the game only in the cards that the seat does not see.

    Why the rule is sound: a world is possible after an action exactly if it comes from a possible
    world before the action and shows the seat what it has seen. So if `imagine` gives all possible
    worlds and no others, both sets are samples of the same worlds; that one of them has something
    40 times and the other never is then a chance of 1 in 10**12. An `imagine` that forgets
    something, such as a shown void, fails at the action that showed it.

    What is not compared: positions with fewer than 40 reached worlds (`skipped`), so that the cost
    is bounded; positions after a reshuffle (a deal that leaves hidden hands as they are),
    until the next new deal; finished games; what no seat
    sees, such as the order of a stock; and how often each world is sampled (`check_uniform`).
    """
    compared = skipped = 0
    for step in _choose_steps(game, options, seed, most):
        reached = _reach(game, step)
        sampled = _sample(game, step, len(reached))
        if len(sampled) < CERTAIN:
            skipped += 1
            continue
        compared += 1
        _compare(game, step, seed, reached[: len(sampled)], sampled)
    return Compared(compared, skipped)


def check_uniform(view: View, ways: Sequence[bytes], draws: int = 20_000, seed: int = 0) -> None:
    """Sampled worlds are those in `ways`, as often as they are listed (chi-square, 1 in 10,000).

    `ways` holds the bytes of the state for every way to lay the unseen cards on hidden places that
    agrees with what the seat has witnessed, found by enumeration.
    """
    from scipy.stats import chisquare

    expected = Counter(ways)
    rng = np.random.default_rng(seed)
    met = Counter(view.imagine(rng).array.tobytes() for _ in range(draws))
    assert not met.keys() - expected.keys(), "a sampled world is not among the possible ones"
    share = draws / len(ways)
    result = chisquare([met[world] for world in expected], [share * n for n in expected.values()])
    assert result.pvalue > 1e-4, f"sampled worlds are not uniform: {result}"


class _Step(NamedTuple):
    """One action of a game as a seat witnesses it; action -1 is the deal that starts the game."""

    ply: int  # the number of actions afterwards
    seat: int
    before: Array  # what the seat sees before the action; the fresh game before the first deal
    after: Array
    who: int  # takes the action
    action: int
    orders: Array  # of the deals after the action, one in each row
    hidden: Array  # positions in the last order of cards that the seat does not see


def _choose_steps(game: Game, options: Options, seed: int, most: int) -> list[_Step]:
    """Return up to `most` steps of a random game in which something is hidden from the seat."""
    table = random_table(game, options, seed)
    course = [(game.start(options), 0)]
    course += [(again.state.copy(), len(again.deals)) for again in retrace(table)]
    chosen = []
    reshuffled = False
    for ply, (state, dealt) in enumerate(course[1:]):
        if ply and dealt > course[ply][1] and state.mover != OVER:
            reshuffled = not _is_new_deal(game, _make_step(table, course, ply, 0))
        if not reshuffled and state.mover != OVER:
            whole = state.array.tobytes()
            seats = range(table.seats)
            chosen += [(ply, k) for k in seats if state.view(k).array.tobytes() != whole]
    if len(chosen) > most:  # the first deal, and a random choice of the others
        first = sum(ply == 0 for ply, _ in chosen[:most])
        rng = np.random.default_rng(seed)
        places = rng.choice(len(chosen) - first, most - first, replace=False)
        chosen = chosen[:first] + [chosen[first + i] for i in sorted(places)]
    return [_make_step(table, course, ply, seat) for ply, seat in chosen]


def _make_step(table: Table, course: list[tuple[State, int]], ply: int, seat: int) -> _Step:
    """Return what a seat witnesses between two positions of a game."""
    (before, dealt), (after, dealt_now) = course[ply : ply + 2]
    game, action = table.game, table.actions[ply - 1] if ply else -1
    orders = np.zeros((dealt_now - dealt, game.deck), dtype=np.uint8)
    hidden = np.zeros(0, dtype=np.int64)
    if dealt_now > dealt:
        orders[:] = table.deals[dealt:dealt_now]
        waiting = before.copy()
        if ply:
            game.bindings.apply(waiting.array, 0, action)
        for order in orders[:-1]:
            game.bindings.deal(waiting.array, 0, order)
        hidden = _find_hidden_positions(waiting, orders[-1], seat)
    start = before if ply == 0 else before.view(seat)
    return _Step(
        ply, seat, start.array, after.view(seat).array, before.mover, action, orders, hidden
    )


def _find_hidden_positions(waiting: State, order: Array, seat: int) -> Array:
    """Return where the cards that the seat does not see lie in an order, or none if that is unsure.

    A position is hidden if its card can be exchanged with another so that the state changes, but
    not the view. All other positions must hold cards that `describe` lists: otherwise the order
    decides more than where each card lies, and these exchanges do not give all possible deals.
    """
    game, rng = waiting.game, np.random.default_rng(0)

    def deal(cards: Array) -> tuple[State, bytes]:
        state = waiting.copy()
        game.bindings.deal(state.array, 0, cards)
        return state, state.view(seat).array.tobytes()

    dealt, view = deal(order)
    hidden = set()
    for i in range(game.deck):
        for j in rng.permutation(game.deck)[:EXCHANGES].tolist():
            if i in hidden:
                break
            cards = order.copy()
            cards[[i, j]] = cards[[j, i]]
            changed, seen = deal(cards)
            if seen == view and changed.array.tobytes() != dealt.array.tobytes():
                hidden |= {i, j}
    listed = {card for zone in dealt.view(seat).describe().zones for card in zone.cards}
    seen_positions = set(range(game.deck)) - hidden
    sure = all(game.card_text(int(order[i])) in listed for i in seen_positions)
    return np.array(sorted(hidden) if sure else [], dtype=np.int64)


def _is_new_deal(game: Game, step: _Step) -> bool:
    """Return whether a deal decides all that is hidden; a reshuffle leaves hands as they were."""
    same_order = step._replace(hidden=step.hidden[:0])
    worlds = next(_replay(game, same_order))
    seats = [seat for seat in range(int(step.after[0].seats)) if seat != step.seat]
    looks = [_look(game, worlds, seat, False) for seat in seats if len(worlds)]
    return bool(looks) and all((look == look[0]).all() for look in looks)


class _Kernels(NamedTuple):
    """Kernels that make many worlds of one game."""

    replay: Callable[..., int]
    sample: Callable[..., int]
    look: Callable[..., None]


@functools.cache
def _make_kernels(game: Game) -> _Kernels:
    mover, deal, legal, apply = game.mover, game.deal, game.legal, game.apply
    conceal, imagine = game.conceal, game.imagine

    @kernel
    def sample_into(worlds: Any, row: int, view: Any, seat: int, rng: Any) -> bool:
        """Put a sampled world into a row; False if `imagine` rejects too many."""
        for _ in range(MOST_REJECTED):
            worlds[row] = view[0]
            if imagine(worlds[row], seat, rng):
                return True
        return False

    @kernel
    def take(s: Any, seat: int, who: int, action: int, buffer: Any, rng: Any) -> bool:
        """Take the action in a world, or, for another seat, half the time any; False: illegal."""
        if mover(s) != who:
            return False
        options = legal(s, buffer)
        if options and who != seat and below(rng, 2):
            apply(s, int64(buffer[below(rng, options)]))
            return True
        for i in range(options):
            if buffer[i] == action:
                apply(s, action)
                return True
        return False

    @kernel
    def deal_again(s: Any, orders: Any, hidden: Any, order: Any, rng: Any) -> bool:
        """Deal as the game did, with the hidden cards of the last deal in a random order."""
        for n in range(len(orders)):
            if mover(s) != DEALER:
                return False
            for i in range(len(order)):
                order[i] = orders[n, i]
            if n == len(orders) - 1:
                for i in range(len(hidden) - 1, 0, -1):
                    a, b = hidden[i], hidden[below(rng, i + 1)]
                    card = order[a]
                    order[a] = order[b]
                    order[b] = card
            deal(s, order)
        return mover(s) != DEALER

    @kernel
    def replay(
        before: Any, who: int, seat: int, action: int, cards: Any, scratch: Any, out: Any, rng: Any
    ) -> int:
        """Fill `out` with worlds after a step and how the seat sees them; return how many."""
        orders, hidden = cards
        order, buffer = scratch
        worlds, seen = out
        count = 0
        for _ in range(len(worlds)):
            if action < 0:
                worlds[count] = before[0]
            else:
                if not sample_into(worlds, count, before, seat, rng):
                    return count
                if not take(worlds[count], seat, who, action, buffer, rng):
                    continue
            if deal_again(worlds[count], orders, hidden, order, rng):
                seen[count] = worlds[count]
                conceal(seen[count], seat)
                count += 1
        return count

    @kernel
    def sample(view: Any, seat: int, worlds: Any, rng: Any) -> int:
        """Fill `worlds` with sampled worlds; return how many there are."""
        for row in range(len(worlds)):
            if not sample_into(worlds, row, view, seat, rng):
                return row
        return len(worlds)

    @kernel
    def look(worlds: Any, seat: int, seen: Any, mask: Any, buffer: Any) -> None:
        """Conceal worlds as another seat sees them, and mark what is legal in them."""
        for row in range(len(worlds)):
            for i in range(legal(worlds[row], buffer)):
                mask[row, buffer[i]] = 1
            seen[row] = worlds[row]
            conceal(seen[row], seat)

    return _Kernels(replay, sample, look)


def _as_bytes(records: Array) -> Array:
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)


def _stream(step: _Step, name: str) -> Array:
    return np.array([seeding.stream(step.ply, name, step.seat)], dtype=np.int64)


def _replay(game: Game, step: _Step) -> Iterator[Array]:
    """Yield those of BLOCK worlds at a time that look to the seat as the game after a step."""
    wanted = _as_bytes(step.after)
    out = np.empty(BLOCK, dtype=game.state), np.empty(BLOCK, dtype=game.state)
    scratch = np.empty(game.deck, dtype=np.uint8), np.empty(game.num_actions, dtype=np.int16)
    cards, rng = (step.orders, step.hidden), _stream(step, "reached worlds")
    for _ in range(TRIES // BLOCK):
        count = _make_kernels(game).replay(
            step.before, step.who, step.seat, step.action, cards, scratch, out, rng
        )
        worlds, seen = out[0][:count], out[1][:count]
        yield worlds[(_as_bytes(seen) == wanted).all(axis=1)]


def _reach(game: Game, step: _Step) -> Array:
    """Return up to ENOUGH worlds after a step that look to the seat as the game does."""
    kept = [np.empty(0, dtype=game.state)]
    found = tried = 0
    if len(step.orders) == 0 or len(step.hidden):
        for worlds in _replay(game, step):
            kept.append(worlds)
            found += len(worlds)
            tried += BLOCK
            if found >= ENOUGH or found * TRIES < CERTAIN * tried:  # enough, or too rare
                break
    return np.concatenate(kept)[:ENOUGH]


def _sample(game: Game, step: _Step, count: int) -> Array:
    """Return worlds sampled from what the seat sees after a step."""
    worlds = np.empty(count, dtype=game.state)
    rng = _stream(step, "sampled worlds")
    return worlds[: _make_kernels(game).sample(step.after, step.seat, worlds, rng)]


def _compare(game: Game, step: _Step, seed: int, reached: Array, sampled: Array) -> None:
    """Raise if something is frequent in one set of worlds and missing from the other."""
    mover = int(game.bindings.mover(step.after, 0))
    where = f"{game.name}, seed {seed}, ply {step.ply}, seat {step.seat}"
    for other in range(int(step.after[0].seats)):
        if other == step.seat:
            continue
        looks = [_look(game, worlds, other, other == mover) for worlds in (reached, sampled)]
        impossible = _find_missing(looks[1], looks[0])
        if impossible:
            row, column, times = impossible
            raise AssertionError(
                f"{where}: {times} of {len(sampled)} sampled worlds are impossible: "
                f"{_example(game, sampled, row, other, column)}, which replaying what the seat has "
                f"witnessed never gives in {len(reached)} worlds; let `imagine` respect all that "
                "the seat knows (such as shown voids), and keep it in the record"
            )
        missed = _find_missing(*looks)
        if missed:
            row, column, times = missed
            raise AssertionError(
                f"{where}: `imagine` misses possible worlds: "
                f"{_example(game, reached, row, other, column)} in {times} of {len(reached)} "
                "worlds that replaying what the seat has witnessed gives, but in none of "
                f"{len(sampled)} sampled worlds; let `imagine` choose among all possible worlds"
            )


def _look(game: Game, worlds: Array, seat: int, to_move: bool) -> Array:
    """Return what a seat sees and, if it is to move, may do in each world: one row of bytes."""
    seen, buffer = np.empty_like(worlds), np.empty(game.num_actions, dtype=np.int16)
    mask = np.zeros((len(worlds), game.num_actions), dtype=np.uint8)
    _make_kernels(game).look(worlds, seat, seen, mask, buffer)
    if not to_move:
        mask[:] = 0
    choices = np.minimum(mask.sum(axis=1), 255).astype(np.uint8)[:, None]
    return np.concatenate([_as_bytes(seen), mask, choices], axis=1)


def _find_missing(these: Array, those: Array) -> tuple[int, int, int] | None:
    """Return what at least CERTAIN rows of `these` have and no row of `those` has, or None.

    That is a row that has it, the first column of what it is, and how many rows have it.
    """
    varied = np.flatnonzero((these != those[0]).any(axis=0) | (those != those[0]).any(axis=0))
    ours, theirs = np.unpackbits(these[:, varied], axis=1), np.unpackbits(those[:, varied], axis=1)
    for bit in (1, 0):
        times = (ours == bit).sum(axis=0) * ~(theirs == bit).any(axis=0)
        if times.max(initial=0) >= CERTAIN:
            place = int(times.argmax())
            has = ours[:, place] == bit
            return int(has.argmax()), int(varied[place // 8]), int(times[place])
    for column in varied.tolist():
        found = np.bincount(those[:, column], minlength=256) > 0
        times = np.bincount(these[:, column], minlength=256) * ~found
        if times.max() >= CERTAIN:
            has = these[:, column] == times.argmax()
            return int(has.argmax()), column, int(times.max())
    whole = Counter(row.tobytes() for row in these[:, varied])
    for row in those[:, varied]:
        whole.pop(row.tobytes(), None)
    for key, count in whole.most_common(1):
        if count >= CERTAIN:
            rows = [row.tobytes() for row in these[:, varied]]
            return rows.index(key), int(varied[0]), count
    return None


def _example(game: Game, worlds: Array, row: int, seat: int, column: int) -> str:
    """Return in words what a seat has in a world, and where it differs."""
    view = State(game, worlds[row : row + 1]).view(seat)
    zones = [zone for zone in view.describe().zones if zone.seat == seat and zone.cards]
    cards = "; ".join(f"{zone.name} {' '.join(zone.cards[:12])}" for zone in zones)
    return f"seat {seat} with {cards or 'no cards'} ({_name_column(game, column)})"


def _name_column(game: Game, column: int) -> str:
    if column == game.state.itemsize + game.num_actions:
        return "the number of legal actions"
    if column >= game.state.itemsize:
        return f"legal action {game.action_text(column - game.state.itemsize)}"
    fields: Any = game.state.fields or {}
    name = max(
        (name for name in fields if fields[name][1] <= column), key=lambda name: fields[name][1]
    )
    return f"field {name!r} of the record"
