"""Commands that maintain the installation: check, warmup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardlab.commands.arguments import (
    AnyGame,
    GameName,
    Json,
    OptionList,
    Seed,
    Workers,
    print_json,
    read_options,
    read_workers,
)
from cardlab.commands.signals import when_stopped
from cardlab.engine.errors import CardlabError
from cardlab.show.console import compiling, new_console, progress_bar

if TYPE_CHECKING:
    from cardlab.testing import HiddenCards

SIZE = 20_000  # games of a task
MOST = 10**12  # games that are numbered
HIDDEN_SHARE = 2_000  # one game in so many has its hidden cards checked,
FEWEST_HIDDEN, MOST_HIDDEN = 5, 100  # within these limits


def check(
    game: GameName,
    games: Annotated[int, typer.Option(help="random games to play", metavar="N")] = 1_000_000,
    first: Annotated[
        int,
        typer.Option(help="number of the first game, as a stopped check prints it", metavar="N"),
    ] = 0,
    seed: Seed = 0,
    option: OptionList = None,
    workers: Workers = 0,
    as_json: Json = False,
) -> None:
    """Check the rules of a game in random games.

    In every game, at every step: what `audit` of the rules checks, the legal actions, the seat to
    move; at the end the number of plies and the returns. In one game of 2,000 (at least 5, at most
    100): whether a view changes when cards that the seat has not seen are exchanged (leak test),
    whether sampled worlds are those that play can reach, whether descriptions name existing seats.
    A check that is stopped prints how to resume it. `check_game` of cardlab.testing checks more.

    Examples:
      cardlab check crazy_eights --games 1000000
      cardlab check uno -o seats=4 --games 100000
    """
    import time

    from cardlab.arena.workers import stream_results
    from cardlab.engine.registry import find_game
    from cardlab.testing import audit_hidden_cards

    found = find_game(game)
    options = found.read_options(read_options(option))
    if games < 1:
        raise CardlabError(f"--games must be at least 1, got {games}")
    if not 0 <= first <= MOST:
        raise CardlabError(f"--first must be from 0 to {MOST:,}, got {first}")
    end = first + games
    tasks = [
        (found, min(SIZE, end - start), seed, start, options) for start in range(first, end, SIZE)
    ]
    began = time.perf_counter()
    done: dict[int, int] = {}  # how many games from which one on

    def rest() -> str:
        at = next((one for one in range(first, end, SIZE) if one not in done), end)
        return (
            f"{at - first:,} games without a fault; resume the check with --first {at} "
            f"--games {end - at}"
        )

    with when_stopped(rest), compiling(), progress_bar("games", 1) as progress:
        _audit((found, 1, seed, first, options))
        share = min(games, max(FEWEST_HIDDEN, min(MOST_HIDDEN, games // HIDDEN_SHARE)))
        hidden = audit_hidden_cards(found, share, seed=seed, first=first, options=options)
        for start, count in stream_results(_audit, tasks, read_workers(workers)):
            done[start] = count
            progress(sum(done.values()), games)
    seconds = time.perf_counter() - began
    if as_json:
        run = {"game": found.name, "options": options, "seed": seed, "first": first}
        checked = {"hidden_cards": hidden._asdict(), "seconds": seconds}
        print_json({**run, "games": games, "faults": 0, **checked})
        return
    out = new_console()
    for line in (
        f"{found.title}: no fault in {games:,} random games, in {seconds:.1f} s, seed {seed}",
        "every step: what `audit` checks, legal actions, mover; the end: returns",
        *_say_hidden(hidden),
    ):
        out.print(line, markup=False, highlight=False)


def _say_hidden(checked: HiddenCards) -> list[str]:
    """Return lines on what was checked about hidden cards."""
    described = f"{checked.games} of these games: descriptions name existing seats"
    if not checked.hidden:
        return [f"{described}; every seat sees all, so nothing can leak"]
    leaks = f"{described}; {checked.views:,} views stay the same when hidden cards are exchanged"
    if not checked.positions:
        return [leaks, "too few worlds were reached to compare sampled worlds with them"]
    skipped = f" ({checked.skipped:,} more could not be compared)" if checked.skipped else ""
    agree = f"sampled worlds agree with reached worlds in {checked.positions:,} positions{skipped}"
    return [leaks, agree]


def _audit(task: tuple[Any, int, int, int, dict[str, Any]]) -> tuple[int, int]:
    from cardlab.testing import audit_random_games

    game, count, seed, first, options = task
    audit_random_games(game, count, seed=seed, first=first, options=options)
    return first, count


def warmup(game: AnyGame = None, as_json: Json = False) -> None:
    """Compile all rules and agents; later starts are quick.

    Examples:
      cardlab warmup
      cardlab warmup crazy_eights
    """
    import time

    import numpy as np

    from cardlab.agents.catalog import agents_for, find_agent
    from cardlab.agents.play import play_game
    from cardlab.commands.starting import compile_now
    from cardlab.engine import kernel
    from cardlab.engine.batch import Batch
    from cardlab.engine.game import ActsInBatches, OpenAgent
    from cardlab.engine.registry import find_game, our_games
    from cardlab.testing import audit_random_games

    kernel.prune_cache()
    rows = []
    for name in [game] if game else our_games():
        found = find_game(name)
        began, before = time.perf_counter(), len(kernel.compiled)
        with compiling(f"the rules and agents of {found.title}"):
            helped = compile_now(found)
            audit_random_games(found, 1)
            batch = Batch(found, 1)
            batch.turns(np.array([0]))
            batch.step(batch.mask.argmax(axis=1))
            for entry in agents_for(found):
                spec = f"{entry.name}:2" if entry.parameters else entry.name
                agent = find_agent(spec, found)
                play_game(found, [agent] * batch.seats, seed=0)
                if isinstance(agent, ActsInBatches) and not isinstance(agent, OpenAgent):
                    agent.act_many(batch.turns(np.array([0])), [np.random.default_rng(0)])
        fresh = helped + len(kernel.compiled) - before
        seconds = time.perf_counter() - began
        rows.append({"game": name, "kernels": fresh, "seconds": seconds})
        if not as_json:
            typer.echo(f"{name}: {fresh} kernels compiled in {seconds:.1f} s")
    if as_json:
        print_json({"cache": kernel.cache_folder(), "games": rows})
    else:
        typer.echo(f"compiled code is kept in {kernel.cache_folder()}")
