"""Commands of Birds of a Feather: solve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cardlab.commands.arguments import Json, Workers, read_workers
from cardlab.engine.errors import CardlabError
from cardlab.show.console import compiling, new_console, progress_bar, say

SETTLED_AT_SIGHT = 10  # a seed whose nine of clubs fits no other card


def solve(
    game: Annotated[
        str,
        typer.Argument(
            help="birds_of_a_feather",
            metavar="GAME",
            autocompletion=lambda: ["birds_of_a_feather"],
        ),
    ],
    seed: Annotated[
        int | None, typer.Option(help="a published deal; may be negative", metavar="N")
    ] = None,
    deal: Annotated[
        str | None,
        typer.Option(help="sixteen cards row by row, `--` for an empty cell", metavar="CARDS"),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(help="a range such as 0:10000; --seeds=-500:500 below 0", metavar="FROM:TO"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="with --seeds: a row a seed, .csv or .parquet", metavar="FILE"),
    ] = None,
    workers: Workers = 0,
    as_json: Json = False,
) -> None:
    """Solve a deal, or prove that it has no solution.

    With --seeds: solve a whole range of deals.

    Examples:
      cardlab solve birds_of_a_feather --seed 123
      cardlab solve birds_of_a_feather --seeds 0:10000 --out deals.csv
    """
    from cardlab.engine.registry import find_game

    if find_game(game).name != "birds_of_a_feather":
        raise CardlabError(
            f"`cardlab solve` solves deals of birds_of_a_feather, not of {game}; "
            "write `cardlab solve birds_of_a_feather --seed 123`"
        )
    given = [one for one in (seed, deal, seeds) if one is not None]
    if len(given) != 1:
        raise CardlabError("give one of --seed, --deal and --seeds")
    if seeds is not None:
        _take_census(seeds, out, read_workers(workers), as_json)
    elif out:
        raise CardlabError("--out keeps the rows of a range; give --seeds with it")
    else:
        _solve_one(seed, deal, as_json)


def _solve_one(seed: int | None, deal: str | None, as_json: bool) -> None:
    import time

    from cardlab.engine.game import State
    from cardlab.engine.play import Table
    from cardlab.games.birds_of_a_feather.rules import (
        EMPTY_TEXT,
        GAME,
        action_text,
        parse_deal,
        parse_position,
        position_text,
    )
    from cardlab.games.birds_of_a_feather.solvers.solver import solve as find_solution
    from cardlab.games.birds_of_a_feather.terminal import follow, show_solution

    with compiling():
        if deal is not None and EMPTY_TEXT in deal:
            state = State(GAME, parse_position(deal))
        else:
            orders = () if deal is None else (parse_deal(deal),)
            state = Table(GAME, seed=seed, deals=orders).state
        find_solution(Table(GAME, seed=SETTLED_AT_SIGHT).state)  # compiles before the clock runs
    began = time.perf_counter()
    solution = find_solution(state)
    seconds = time.perf_counter() - began
    if not as_json:
        show_solution(state, solution, seconds, new_console())
        return
    actions = solution.actions or ()
    moves = [
        {"action": action, "text": action_text(action), "words": step.words}
        for action, step in zip(actions, follow(state, actions), strict=True)
    ]
    answer = {
        "seed": seed,
        "position": position_text(state.array[0]),
        "solvable": solution.actions is not None,
        "moves": moves if solution.actions is not None else None,
        "proof": solution.proof,
        "nodes": solution.nodes,
        "seconds": seconds,
    }
    typer.echo(json.dumps(answer, indent=2))


def _take_census(seeds: str, out: Path | None, workers: int, as_json: bool) -> None:
    from cardlab.games.birds_of_a_feather.census import parse_range, take_census
    from cardlab.games.birds_of_a_feather.terminal import show_census

    wanted = parse_range(seeds)
    try:
        with compiling(), progress_bar("seeds", 1) as progress:
            census = take_census(wanted, out=out, workers=workers, progress=progress)
    except KeyboardInterrupt:
        kept = f"rerun to resume from the rows in {out}"
        lost = "nothing is kept; with --out FILE the same command can resume"
        say(kept if out else lost)
        raise
    if as_json:
        typer.echo(json.dumps(census.to_dict(), indent=2))
    else:
        show_census(census, new_console())
