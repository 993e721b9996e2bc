"""Commands that analyse: score, analyse, solve, explain."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardlab.commands.arguments import GameName, Json, Trust, Workers, read_workers
from cardlab.commands.names import complete_agent
from cardlab.display import compiling, new_console, progress_bar, show_advice, table_of
from cardlab.errors import CardlabError

if TYPE_CHECKING:
    from cardlab.game import Game
    from cardlab.records import Record

__all__ = ["analyse", "explain", "score", "solve"]

EXPLAINERS = (
    "koi_koi_win",
    "uno_net",
    "cribbage_expert",
    "solver",
    "monte_carlo",
)  # the first found
Cribbage = Annotated[
    str, typer.Argument(help="cribbage", metavar="GAME", autocompletion=lambda: ["cribbage"])
]
SETTLED_AT_SIGHT = 10  # a seed of Birds of a Feather whose nine of clubs fits no other card


def score(
    game: Cribbage,
    hand: Annotated[str, typer.Argument(help="four cards, such as '5H 5C 5S JD'", metavar="HAND")],
    cut: Annotated[str, typer.Option(help="the card turned up", metavar="CARD")],
    crib: Annotated[bool, typer.Option("--crib", help="count it as a crib")] = False,
    as_json: Json = False,
) -> None:
    """Explain every point of a hand.

    Examples:
      cardlab score cribbage "5H 5C 5S JD" --cut 5D
      cardlab score cribbage "2H 4H 6H 8H" --cut KS --crib
    """
    from rich.text import Text

    from cardlab.cards import card_text
    from cardlab.games import find_game
    from cardlab.games.cribbage_scoring import score_text
    from cardlab.terminal import card_look

    if find_game(game).name != "cribbage":
        raise CardlabError(f"hands of {game} are not scored by themselves; use cribbage")
    rows, total = score_text(hand, cut, crib=crib)
    if as_json:
        listed = [
            {"reason": row.reason, "cards": [card_text(c) for c in row.cards], "points": row.points}
            for row in rows
        ]
        typer.echo(json.dumps({"rows": listed, "total": total}, indent=2))
        return
    table = table_of("why", "cards", title=f"[bold]{'crib' if crib else 'hand'} of {total}[/]")
    table.add_column("points", justify="right")
    for row in rows:
        looks = Text(" ").join(card_look(card_text(card)) for card in row.cards)
        table.add_row(row.reason, looks, str(row.points))
    new_console().print(table)


def analyse(
    game: Cribbage,
    hand: Annotated[
        str, typer.Argument(help="six cards, such as '5H 5D 6S JC 4H KD'", metavar="HAND")
    ],
    dealer: Annotated[
        bool, typer.Option("--dealer/--pone", help="whether the crib is yours")
    ] = False,
    score: Annotated[
        str, typer.Option(help="your score and the other's", metavar="OWN-OTHER")
    ] = "0-0",
    as_json: Json = False,
) -> None:
    """Rank the 15 ways to lay two of six cards away.

    Examples:
      cardlab analyse cribbage "5H 5D 6S JC 4H KD"
      cardlab analyse cribbage "5H 5D 6S JC 4H KD" --dealer --score 78-81
    """
    from cardlab.games import find_game
    from cardlab.solvers.cribbage_advice import advise, parse_hand, parse_score

    if find_game(game).name != "cribbage":
        raise CardlabError(f"hands of {game} cannot be analysed; use cribbage")
    cards, scores = parse_hand(hand), parse_score(score)
    with compiling():
        advice = advise(cards, dealer=dealer, score=scores)
    if as_json:
        typer.echo(json.dumps(advice.to_dict(), indent=2))
    else:
        show_advice(advice)


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
    """Solve a deal, or prove that nobody can.

    With --seeds a whole range of deals is settled.

    Examples:
      cardlab solve birds_of_a_feather --seed 123
      cardlab solve birds_of_a_feather --seeds 0:10000 --out deals.csv
    """
    from cardlab.games import find_game

    if find_game(game).name != "birds_of_a_feather":
        raise CardlabError(f"{game} cannot be solved; use birds_of_a_feather")
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

    from cardlab.birds_pictures import follow, show_solution
    from cardlab.game import State
    from cardlab.games.birds_of_a_feather import (
        EMPTY_TEXT,
        GAME,
        action_text,
        parse_deal,
        parse_position,
        position_text,
    )
    from cardlab.play import Table
    from cardlab.solvers.birds_of_a_feather import solve as find_solution

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
    from cardlab.birds_pictures import show_census
    from cardlab.papers.birds_census import parse_range, take_census

    wanted = parse_range(seeds)
    try:
        with compiling(), progress_bar("seeds", 1) as progress:
            census = take_census(wanted, out=out, workers=workers, progress=progress)
    except KeyboardInterrupt:
        kept = f"the same command goes on from the rows kept for {out}"
        lost = "nothing is kept; with --out FILE the same command goes on where it was stopped"
        sys.stderr.write(f"cardlab: {kept if out else lost}\n")
        raise
    if as_json:
        typer.echo(json.dumps(census.to_dict(), indent=2))
    else:
        show_census(census, new_console())


def explain(
    game: GameName,
    record: Annotated[Path, typer.Argument(help="records, one JSON line each", metavar="RECORD")],
    ply: Annotated[
        int, typer.Option(help="the decision to explain, after so many actions", metavar="N")
    ] = 0,
    line: Annotated[
        int, typer.Option(help="the record's line in the file; 0: the game's first", metavar="N")
    ] = 0,
    agent: Annotated[
        str | None,
        typer.Option(
            help="the agent that explains; without it a sensible one",
            metavar="AGENT",
            autocompletion=complete_agent,
        ),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="draw it into this file as well", metavar="FILE")
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Say what an agent thinks of every choice in a recorded game.

    Where it plays by a network with attention, the maps of what that looks at are shown too.

    Examples:
      cardlab explain koi_koi game.jsonl --ply 12
      cardlab explain uno game.jsonl --ply 3 --agent uno_net --svg why.svg
    """
    from cardlab.agents.catalog import agents_for, find_agent
    from cardlab.explanation import explain as find_reasons
    from cardlab.explanation import show
    from cardlab.explanation_svg import draw_explanations
    from cardlab.game import OpenAgent
    from cardlab.games import find_game

    found = find_game(game)
    names = [one.name for one in agents_for(found)]
    adviser = find_agent(agent or next(one for one in EXPLAINERS if one in names), found)
    if isinstance(adviser, OpenAgent):
        raise CardlabError(f"--agent {agent} sees all cards; name a fair agent")
    number, wanted = _find_record(record, found, line)
    with compiling():
        try:
            told = find_reasons(wanted, ply, adviser, trust=trust)
        except CardlabError as error:
            raise CardlabError(f"{record}, line {number}: {error}") from None
    if svg:
        draw_explanations(svg, [told])
    if as_json:
        typer.echo(json.dumps(told.to_dict(), indent=2))
        return
    out = new_console()
    show(told, out)
    if svg:
        out.print(f"drawn in {svg}", markup=False)


def _find_record(path: Path, game: Game, line: int) -> tuple[int, Record]:
    """Return a record of a game with its line: the first one, or that of a line."""
    from cardlab.records import read_records

    names = (game.name, game.reference)
    for number, record in read_records(path):
        if line and number != line:
            continue
        if record.game in names:
            return number, record
        if line:
            raise CardlabError(f"{path}, line {line} is a game of {record.game}, not {game.name}")
    if line:
        raise CardlabError(f"{path} has no record in line {line}; leave --line out for the first")
    raise CardlabError(f"{path} holds no record of {game.name}")
