"""The command line: thin edges over the library; every mistake of a person's is one sentence."""

from __future__ import annotations

import io
import json
import secrets
import signal
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from cardlab import __version__
from cardlab.display import (
    compiling,
    new_console,
    progress_bar,
    show_match,
    show_tournament,
    table_of,
)
from cardlab.errors import CardlabError, CardlabWarning

app = typer.Typer(
    help="Card-playing AI: play it, measure it, build it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GameName = Annotated[str, typer.Argument(help="a game, see `cardlab games`", metavar="GAME")]
OptionList = Annotated[
    list[str] | None,
    typer.Option("-o", "--option", help="an option of the game, such as seats=3; repeatable"),
]
Seed = Annotated[int, typer.Option(help="the same seed gives the same deals and the same result")]
Workers = Annotated[int, typer.Option(help="processes to use; 0: one for each core")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of a table")]

SETTLED_AT_SIGHT = 10  # a seed of Birds of a Feather whose nine of clubs fits no other card


def main() -> None:
    """Run the command line; mistakes end in one sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± still gets its numbers
    for name in (signal.SIGINT, signal.SIGTERM):  # both end a command alike: keep, tidy up
        signal.signal(name, signal.default_int_handler)
    warnings.showwarning = _show_warning  # type: ignore[assignment]  # it takes more and uses less
    try:
        app(prog_name="cardlab")
    except CardlabError as error:
        sys.stderr.write(f"cardlab: {error}\n")
        sys.exit(2)
    except SystemExit as end:
        if end.code == 130:
            sys.stderr.write("cardlab: stopped\n")
        raise


def _show_warning(message: Any, category: Any, *rest: Any) -> None:
    if issubclass(category, CardlabWarning):
        sys.stderr.write(f"cardlab: {message}\n")


@app.callback(invoke_without_command=True)
def about(
    version: Annotated[bool, typer.Option("--version", help="show the version")] = False,
) -> None:
    """Card-playing AI: play it, measure it, build it."""
    if version:
        typer.echo(f"cardlab {__version__}")
        raise typer.Exit


@app.command()
def games(as_json: Json = False) -> None:
    """List the games and their options."""
    from cardlab.games import GAMES, find_game

    found = [find_game(name) for name in GAMES]
    if as_json:
        rows = [
            {
                "name": game.name,
                "title": game.title,
                "summary": game.summary,
                "rules": game.rules_version,
                "options": {one.name: one.default for one in game.options},
            }
            for game in found
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    table = table_of("game", "what it is", "options (default first)")
    for game in found:
        options = "\n".join(
            f"{one.name}={str(one.default).lower()}: {one.help} ({one.allowed_text})"
            for one in game.options
        )
        table.add_row(game.name, f"{game.title}: {game.summary}", options)
    new_console().print(table)


@app.command()
def agents(game: GameName, as_json: Json = False) -> None:
    """List the agents that can play a game."""
    from cardlab.agents.catalog import agents_for, strength_of
    from cardlab.games import find_game

    found = find_game(game)
    entries = agents_for(found)
    if as_json:
        rows = [
            {
                "name": one.name,
                "usage": one.usage,
                "fair": one.fair,
                "summary": one.summary,
                "strength": strength_of(one, found),
            }
            for one in entries
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    table = table_of()
    table.add_column("agent", no_wrap=True)
    for head in ("what it does", "sees", "score against random"):
        table.add_column(head)
    settings = table_of("parameter", "of", title="name:budget,parameter=value")
    owners: dict[str, list[str]] = {}
    for one in entries:
        sees = "its seat" if one.fair else "all cards"
        table.add_row(one.usage, one.summary, sees, strength_of(one, found) or "-")
        for place, each in enumerate(one.parameters):
            text = f"{each.name}={each.default:g}: {each.help}{'' if place else ' (the budget)'}"
            owners.setdefault(text, []).append(one.name)
    for text, names in owners.items():
        settings.add_row(text, ", ".join(names))
    new_console().print(table, settings)


@app.command()
def match(
    game: GameName,
    agents: Annotated[list[str], typer.Argument(help="two or more agents, see `cardlab agents`")],
    games: Annotated[int, typer.Option(help="games to play, rounded up to whole deals")] = 400,
    seed: Seed = 0,
    option: OptionList = None,
    workers: Workers = 0,
    save: Annotated[Path | None, typer.Option(help="append every game's record here")] = None,
    as_json: Json = False,
) -> None:
    """Let agents play each other on paired deals.

    Example: cardlab match crazy_eights uct_open:1000 random --games 400 --seed 7
    """
    from cardlab.arena.match import Match, play_match
    from cardlab.records import append_records

    plan = Match.plan(game, agents, games, seed, _options(option))

    if save:
        append_records(save)  # a place that cannot be written to is found before the first game
    with compiling(), progress_bar("games", plan.seats) as progress:
        result = play_match(
            plan,
            workers=_workers(workers),
            progress=progress,
            save=(lambda records: append_records(save, *records)) if save else None,
        )
    if as_json:
        typer.echo(json.dumps(result.to_dict(), indent=2))
    else:
        show_match(result)


@app.command()
def tournament(
    game: GameName,
    agents: Annotated[list[str], typer.Argument(help="two or more agents, see `cardlab agents`")],
    games: Annotated[int, typer.Option(help="games for every pair")] = 200,
    seed: Seed = 0,
    option: OptionList = None,
    workers: Workers = 0,
    as_json: Json = False,
) -> None:
    """Let every pair of agents meet on the same deals and print the cross-table.

    Example: cardlab tournament crazy_eights random heuristic monte_carlo:1000
    """
    from cardlab.arena.tournament import play_tournament

    options = _options(option)
    with compiling(), progress_bar("games", 2) as progress:
        result = play_tournament(
            game,
            agents,
            games,
            seed=seed,
            options=options,
            workers=_workers(workers),
            progress=progress,
        )
    if as_json:
        rows = [one.to_dict() for one in result.matches.values()]
        typer.echo(json.dumps({"ranking": result.ranking(), "matches": rows}, indent=2))
    else:
        show_tournament(result, game)


@app.command()
def play(
    game: GameName,
    against: Annotated[
        list[str] | None, typer.Option(help="an opponent; repeatable, the last fills all seats")
    ] = None,
    seat: Annotated[int, typer.Option(help="your seat, 0 moves first")] = 0,
    seed: Annotated[int | None, typer.Option(help="the deal's seed; without it a new one")] = None,
    deal: Annotated[
        list[str] | None, typer.Option(help="a whole deck, first card dealt first; repeatable")
    ] = None,
    option: OptionList = None,
    adviser: Annotated[
        str | None, typer.Option(help="the agent that gives hints; without it a sensible one")
    ] = None,
    record: Annotated[Path | None, typer.Option(help="where to keep the game")] = None,
) -> None:
    """Play at the terminal against agents.

    Example: cardlab play crazy_eights --against heuristic
    """
    from platformdirs import user_data_path

    from cardlab.agents.catalog import agents_for, find_agent
    from cardlab.game import OpenAgent
    from cardlab.games import find_game
    from cardlab.terminal import play_in_terminal

    found = find_game(game)
    options = found.read_options(_options(option))
    seats = int(found.fresh(**options)[0].seats)
    names = list(against or ["heuristic"] * (seats > 1))
    if len(names) > seats - 1:
        raise CardlabError(f"{len(names)} opponents for {seats - 1} other seats of {game}")
    names += names[-1:] * (seats - 1 - len(names))
    if not 0 <= seat < seats:
        raise CardlabError(f"--seat {seat} is not at the table; {game} has seats 0 to {seats - 1}")
    alone = "solver" if "solver" in {one.name for one in agents_for(found)} else "heuristic"
    advice = find_agent(adviser or ("monte_carlo:4000" if seats > 1 else alone), found)
    if isinstance(advice, OpenAgent):
        raise CardlabError(f"--adviser {adviser} sees all cards; name a fair agent")
    opponents = [find_agent(name, found) for name in names]
    orders = [found.order_text(found.parse_order(one)) for one in deal or ()]
    with compiling():
        play_in_terminal(
            found,
            opponents,
            seed=secrets.randbelow(10**9) if seed is None else seed,
            deals=orders,
            options=options,
            seat=seat,
            adviser=advice,
            record_path=record
            or user_data_path("cardlab", appauthor=False) / "games" / f"{found.name}.jsonl",
            console=new_console(),
        )


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="records, one JSON line each")],
    brief: Annotated[bool, typer.Option("--brief", help="one line for every game")] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="import games from outside that records name")
    ] = False,
) -> None:
    """Play recorded games again by the rules, show them, and report the first disagreement."""
    from rich.padding import Padding
    from rich.text import Text

    from cardlab.records import read_records
    from cardlab.replay import replay as replayed
    from cardlab.terminal import action_look

    out = new_console()
    count = 0
    with compiling():
        for number, record in read_records(file):
            try:
                movers = [table.mover for table in replayed(record, trust=trust)]
            except CardlabError as error:
                raise CardlabError(f"{file}, line {number}: {error}") from None
            count += 1
            outcome = record.note or "not finished"
            if record.result:
                earned = zip(record.seats, record.result.points, strict=True)
                outcome = "points: " + ", ".join(f"{name} {value:g}" for name, value in earned)
            head = Text.assemble((f"{number} ", "bold"), f"{record.game}: ")
            head.append(f"{' - '.join(record.seats)}, {len(record.actions)} plies, {outcome}")
            out.print(head)
            if not brief and record.actions:
                line = Text()
                for seat, (_, text) in zip(movers, record.actions, strict=False):
                    line.append(f"{seat}:", style="dim")
                    line.append_text(Text.assemble(action_look(text), "  "))
                out.print(Padding(line, (0, 0, 0, 3)))
    if not count:
        raise CardlabError(f"{file} holds no record")
    out.print(f"{count} game{'s' if count > 1 else ''} replayed, every one as recorded")


@app.command()
def score(
    game: Annotated[str, typer.Argument(help="cribbage", metavar="GAME")],
    hand: Annotated[str, typer.Argument(help="four cards, such as '5H 5C 5S JD'")],
    cut: Annotated[str, typer.Option(help="the card turned up")],
    crib: Annotated[bool, typer.Option("--crib", help="count it as a crib")] = False,
    as_json: Json = False,
) -> None:
    """Explain every point of a hand.

    Example: cardlab score cribbage "5H 5C 5S JD" --cut 5D
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


@app.command()
def train(
    what: Annotated[
        str | None, typer.Argument(help="GAME/METHOD; without it a list", metavar="[WHAT]")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="a setting as name=value; repeatable")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="folder of the run; default runs/WHAT")] = None,
    as_json: Json = False,
) -> None:
    """Train an agent; started again with the same folder it goes on where it was.

    Example: cardlab train crazy_eights/tabular_q --set games=100000
    """
    import dataclasses

    from cardlab.learning import TRAININGS, find_training
    from cardlab.learning.runs import read_config

    if what is None:
        table = table_of("training", "what it does", "settings")
        for name in TRAININGS:
            module = find_training(name)
            fields = dataclasses.fields(module.Config)
            summary = (module.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
            table.add_row(name, summary, "\n".join(f"{one.name}={one.default}" for one in fields))
        new_console().print(table)
        return
    module = find_training(what)
    config = read_config(module.Config, setting or ())
    folder = out or Path("runs") / what
    try:
        with compiling(), progress_bar("training") as progress:
            summary = module.train(config, folder, lambda stage, *at: progress(*at, stage))
    except KeyboardInterrupt:
        raise CardlabError(
            f"stopped; the same command goes on from the last checkpoint in {folder}"
        ) from None
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    table = table_of("", title=f"[bold]{what}[/]")
    table.add_column("", justify="right")
    for name, value in summary.items():
        table.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
    out_console = new_console()
    out_console.print(table)
    out_console.print(f"kept in {folder}", markup=False)


@app.command()
def reproduce(
    game: GameName,
    quick: Annotated[
        bool, typer.Option("--quick", help="few games: minutes instead of an hour")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="folder of the report; default docs/papers, quick: runs/papers"),
    ] = None,
    work: Annotated[
        Path | None, typer.Option(help="folder of the measurements; default runs/reproduce/GAME")
    ] = None,
    workers: Workers = 0,
) -> None:
    """Measure a game's paper again and write the report; stopped, it goes on where it was.

    Example: cardlab reproduce crazy_eights --quick
    """
    from cardlab.papers import find_paper

    paper = find_paper(game)
    folder = work or Path("runs") / "reproduce" / (f"{game}-quick" if quick else game)
    target = out or (Path("runs") / "papers" if quick else Path("docs") / "papers")
    try:
        with compiling(), progress_bar("measuring") as progress:
            path = paper.reproduce(
                target,
                folder,
                quick=quick,
                workers=_workers(workers),
                report=lambda stage, *at: progress(*at, stage),
            )
    except KeyboardInterrupt:
        raise CardlabError(f"stopped; the same command goes on with what is in {folder}") from None
    new_console().print(f"report: {path}", markup=False)


@app.command()
def solve(
    game: Annotated[str, typer.Argument(help="birds_of_a_feather", metavar="GAME")],
    seed: Annotated[int | None, typer.Option(help="a published deal; may be negative")] = None,
    deal: Annotated[
        str | None, typer.Option(help="sixteen cards row by row, `--` for an empty cell")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="a range such as 0:10000 or, with =, --seeds=-500:500")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="with --seeds: a row for every seed, .csv or .parquet")
    ] = None,
    workers: Workers = 0,
    as_json: Json = False,
) -> None:
    """Solve a deal or prove that nobody can; or settle a whole range of deals.

    Example: cardlab solve birds_of_a_feather --seed 123
    """
    from cardlab.games import find_game

    if find_game(game).name != "birds_of_a_feather":
        raise CardlabError(f"{game} cannot be solved; use birds_of_a_feather")
    given = [one for one in (seed, deal, seeds) if one is not None]
    if len(given) != 1:
        raise CardlabError("give one of --seed, --deal and --seeds")
    if seeds is not None:
        _take_census(seeds, out, _workers(workers), as_json)
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
    with compiling(), progress_bar("seeds", 1) as progress:
        census = take_census(wanted, out=out, workers=workers, progress=progress)
    if as_json:
        typer.echo(json.dumps(census.to_dict(), indent=2))
    else:
        show_census(census, new_console())


@app.command()
def check(
    game: GameName,
    games: Annotated[int, typer.Option(help="random games to play")] = 1_000_000,
    seed: Seed = 0,
    option: OptionList = None,
    workers: Workers = 0,
) -> None:
    """Play random games with every invariant checked at every step."""
    import time

    from cardlab.arena.workers import stream_results
    from cardlab.games import find_game

    found = find_game(game)
    options = found.read_options(_options(option))
    if games < 1:
        raise CardlabError(f"--games {games} is not possible; give 1 or more")
    size = 20_000
    tasks = [
        (found, min(size, games - first), seed, first, options) for first in range(0, games, size)
    ]
    began = time.perf_counter()
    with compiling(), progress_bar("games", 1) as progress:
        _audit((found, 1, seed, 0, options))
        done = 0
        for count in stream_results(_audit, tasks, _workers(workers)):
            done += count
            progress(done, games)
    new_console().print(
        f"{found.title}: {games:,} random games, every invariant checked at every step, no fault "
        f"({time.perf_counter() - began:.1f} s, seed {seed})"
    )


def _audit(task: tuple[Any, int, int, int, dict[str, Any]]) -> int:
    from cardlab.testing import audit_random_games

    game, count, seed, first, options = task
    audit_random_games(game, count, seed=seed, first=first, options=options)
    return count


@app.command()
def warmup(
    game: Annotated[
        str | None, typer.Argument(help="a game; without it all", metavar="[GAME]")
    ] = None,
) -> None:
    """Compile everything now, so that later starts are quick."""
    import time

    import numpy as np

    from cardlab import kernel
    from cardlab.agents.catalog import agents_for, find_agent
    from cardlab.batch import Batch
    from cardlab.game import ActsInBatches, OpenAgent
    from cardlab.games import GAMES, find_game
    from cardlab.play import play_game
    from cardlab.testing import audit_random_games

    kernel.prune_cache()
    for name in [game] if game else GAMES:
        found = find_game(name)
        began, before = time.perf_counter(), len(kernel.compiled)
        with compiling():
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
        fresh = len(kernel.compiled) - before
        typer.echo(f"{name}: {fresh} kernels compiled in {time.perf_counter() - began:.1f} s")
    typer.echo(f"kept in {kernel.cache_folder()}")


def _options(given: list[str] | None) -> dict[str, str]:
    options: dict[str, str] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals:
            raise CardlabError(f"option {one!r} has no value; write it as name=value")
        if name in options:
            raise CardlabError(f"option {name} is given twice")
        options[name] = value
    return options


def _workers(asked: int) -> int:
    from cardlab.arena.workers import default_workers

    if asked < 0:
        raise CardlabError(f"--workers {asked} is not possible; give 0 or more")
    return asked or default_workers()


if __name__ == "__main__":
    main()
