"""Commands that measure: tournament, sprt, leaderboard, export, check-agent."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from cardlab.commands.arguments import (
    AgentNames,
    AnyGame,
    FreshProcess,
    GameName,
    Json,
    LimitList,
    OptionList,
    Salt,
    Seed,
    StoreAddress,
    Trust,
    Workers,
    print_json,
    read_limits,
    read_options,
    read_workers,
)
from cardlab.commands.completion import complete_agent, complete_game
from cardlab.commands.signals import when_stopped
from cardlab.engine.errors import CardlabError, suggest
from cardlab.show.console import compiling, new_console, progress_bar, say

Name = Annotated[
    str | None,
    typer.Option(help="name of the tournament in the store; default: GAME-NUMBER", metavar="NAME"),
]
Resume = Annotated[bool, typer.Option("--resume", help="resume a stopped run")]
RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="play on a Ray cluster: auto, or its address; default: this machine",
        metavar="ADDRESS",
    ),
]
Ladder = Annotated[
    bool, typer.Option("--ladder", help="show ratings that are updated after every game")
]


def tournament(
    game: GameName,
    agents: AgentNames,
    games: Annotated[int, typer.Option(help="games per pairing", metavar="N")] = 200,
    seed: Seed = 0,
    option: OptionList = None,
    format: Annotated[
        str,
        typer.Option(
            help="round-robin, or gauntlet: the first agent against all others",
            metavar="FORMAT",
            autocompletion=lambda: ["round-robin", "gauntlet"],
        ),
    ] = "round-robin",
    store: StoreAddress = None,
    name: Name = None,
    resume: Resume = False,
    workers: Workers = 0,
    ray: RayAddress = None,
    limits: LimitList = None,
    fresh_process: FreshProcess = False,
    salt: Salt = None,
    ladder: Ladder = False,
    as_json: Json = False,
) -> None:
    """Play agents against each other on the same deals and rate them.

    Every game is kept in the store; `--resume` resumes a stopped tournament.

    Examples:
      cardlab tournament crazy_eights random heuristic monte_carlo:1000
      cardlab tournament uno random heuristic guided:300 -o seats=3 --games 300
    """
    from cardlab.arena import tournament as arena
    from cardlab.arena.ladder import Ladder as MovingRatings
    from cardlab.arena.store import Store
    from cardlab.arena.workers import joined_cluster
    from cardlab.show.tournament import live_table, show_standings

    if format not in arena.FORMATS:
        raise CardlabError(suggest("format", format, arena.FORMATS))
    plan = arena.Plan.make(
        game,
        agents,
        games,
        seed=seed,
        options=read_options(option),
        format=format,
        limits=read_limits(limits, fresh_process),
        salt=salt,
    )
    crew = read_workers(workers)
    steps = MovingRatings() if ladder else None
    if ladder and plan.matches[0].seats == 1:
        raise CardlabError(
            f"--ladder needs a game of two or more seats, got {game}, which is played alone; leave "
            "--ladder out"
        )
    began = time.perf_counter()
    with joined_cluster(ray), Store(store) as kept:  # no cluster, no entry in the store
        entered = (arena.resume if resume else arena.enter)(plan, kept, name)
        if steps:  # games of an earlier run count, too
            for pairing, one in kept.games(entered.id, plan.matches):
                steps.game(plan.matches[pairing].seating(one.rotation), one.returns)
        stopped = when_stopped(
            lambda: (
                f"{kept.count(entered.id):,} games of tournament {entered.name!r} are kept in "
                f"{kept.shown}; rerun with --resume to resume"
            )
        )
        with stopped, compiling(), live_table(steps) as progress:
            results = arena.play_tournament(
                plan, kept, entered, workers=crew, ray=ray, progress=progress
            )
        table = results.table(seed=seed)
        if as_json:
            data: dict[str, Any] = {"tournament": entered.name, "store": kept.shown}
            data |= {"salt": entered.salt, **table.to_dict()}
            if steps:
                data["ladder"] = steps.standings()
            print_json(data)
        else:
            where = f"{kept.shown} as tournament {entered.name!r}"
            show_standings(table, where, time.perf_counter() - began, steps, entered.salt)


def sprt(
    game: Annotated[
        str | None,
        typer.Argument(help="a game of two seats", metavar="GAME", autocompletion=complete_game),
    ] = None,
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help="two agents; the test asks whether the first is stronger",
            metavar="AGENT",
            autocompletion=complete_agent,
        ),
    ] = None,
    elo0: Annotated[float, typer.Option(help="normalised Elo of H0", metavar="ELO")] = 0.0,
    elo1: Annotated[float, typer.Option(help="normalised Elo of H1", metavar="ELO")] = 10.0,
    alpha: Annotated[
        float,
        typer.Option(help="probability of rejecting a true H0", metavar="SHARE"),
    ] = 0.05,
    beta: Annotated[
        float,
        typer.Option(help="probability of rejecting a true H1", metavar="SHARE"),
    ] = 0.05,
    games: Annotated[
        int, typer.Option(help="games after which to stop undecided", metavar="N")
    ] = 200_000,
    counts: Annotated[
        str | None,
        typer.Option(help="play no games: test these five counts of pairs", metavar="A,B,C,D,E"),
    ] = None,
    seed: Seed = 0,
    option: OptionList = None,
    store: StoreAddress = None,
    name: Name = None,
    resume: Resume = False,
    workers: Workers = 0,
    ray: RayAddress = None,
    limits: LimitList = None,
    fresh_process: FreshProcess = False,
    salt: Salt = None,
    as_json: Json = False,
) -> None:
    """Test whether one agent is stronger than another.

    Play pairs of games until the sequential probability ratio test decides. With --counts, test
    given counts without playing.

    Examples:
      cardlab sprt crazy_eights heuristic tabular_q --elo0 0 --elo1 10
      cardlab sprt --counts 379,10170,21828,10640,343 --elo0 0 --elo1 2
    """
    from cardlab.arena.sprt import Test, judge, play_sprt, read_counts
    from cardlab.arena.store import Store
    from cardlab.arena.tournament import Plan
    from cardlab.arena.workers import joined_cluster
    from cardlab.show.tournament import live_verdict, show_verdict

    test = Test(elo0, elo1, alpha, beta).check()
    names: tuple[str, str] | None = None
    where = ""
    if counts is not None:
        verdict = judge(read_counts(counts), test)
    else:
        if game is None or len(agents or ()) != 2:
            raise CardlabError(
                "the sequential test needs a game and two agents, or --counts; see "
                "`cardlab sprt --help`"
            )
        assert agents
        plan = Plan.make(
            game,
            agents,
            games,
            seed=seed,
            options=read_options(option),
            format="sprt",
            limits=read_limits(limits, fresh_process),
            salt=salt,
        )
        names = (agents[0], agents[1])
        crew = read_workers(workers)
        with joined_cluster(ray), Store(store) as kept:
            stopped = when_stopped(
                lambda: f"the games so far are kept in {kept.shown}; rerun with --resume to resume"
            )
            with stopped, compiling(), live_verdict() as progress:
                where = kept.shown
                verdict = play_sprt(
                    plan,
                    test,
                    kept,
                    name=name,
                    go_on=resume,
                    workers=crew,
                    ray=ray,
                    progress=progress,
                )
    if as_json:
        print_json({"store": where or None, **verdict.to_dict()})
    else:
        show_verdict(verdict, test, names, where)


def leaderboard(
    game: AnyGame = None,
    store: StoreAddress = None,
    ladder: Ladder = False,
    as_json: Json = False,
) -> None:
    """Rate all agents in a store over all its tournaments.

    Games that are played alone have no ratings; `cardlab tournament` compares agents there.

    Examples:
      cardlab leaderboard
      cardlab leaderboard crazy_eights --store games.db --json
    """

    from cardlab.arena.leaderboard import leaderboards, played_alone
    from cardlab.arena.store import Store
    from cardlab.engine.registry import find_package
    from cardlab.show.tournament import show_boards

    if game is not None and ":" not in game:
        find_package(game)  # a mistyped name is another error than a game nobody played
    with Store(store, read_only=True) as kept:
        boards = leaderboards(kept, game, ladder=ladder)
        alone = played_alone(kept, game)
    if as_json:
        print_json([board.to_dict() for board in boards])
        for sentence in alone.values():
            say(sentence)
    else:
        show_boards(boards, alone.values())


def export(
    out: Annotated[
        Path, typer.Argument(help="a file ending in .jsonl, .csv or .parquet", metavar="FILE")
    ],
    store: StoreAddress = None,
    name: Annotated[
        str | None, typer.Option(help="one tournament; default: all", metavar="NAME")
    ] = None,
    trust: Trust = False,
) -> None:
    """Write the games of a store to a file.

    JSON lines are full records, which `cardlab replay` reads; writing them runs the rules. CSV and
    Parquet (extra papers) have one row per game; writing them runs no rules.

    Examples:
      cardlab export games.jsonl --name crazy_eights-1
      cardlab export games.parquet --store games.db
    """
    from cardlab.arena.export import export_games
    from cardlab.arena.store import Store

    with Store(store, read_only=True) as kept:
        chosen = [kept.find(name)] if name is not None else kept.tournaments()
        total = sum(kept.count(one.id) for one in chosen)
        with compiling(), progress_bar("games") as progress:
            count = export_games(kept, chosen, out, lambda done: progress(done, total), trust=trust)
        where = f"{len(chosen)} tournament{'s' * (len(chosen) != 1)} in {kept.shown}"
    text = f"{count:,} games of {where} written to {out}"
    new_console().print(text, markup=False, soft_wrap=True)


def check_agent(
    command: Annotated[
        str,
        typer.Argument(
            help="the command line of the program, quoted as one word", metavar="COMMAND"
        ),
    ],
    game: Annotated[
        str | None,
        typer.Option(
            help="the game to play; default: the first of `cardlab games`",
            metavar="GAME",
            autocompletion=complete_game,
        ),
    ] = None,
    option: OptionList = None,
    games: Annotated[int, typer.Option(help="games per seat", metavar="N")] = 2,
    seed: Seed = 0,
    limits: LimitList = None,
    as_json: Json = False,
) -> None:
    """Check a program as an outside agent; explain each fault.

    Exit codes: 0 all checks passed; 1 a check failed.

    Examples:
      cardlab check-agent ./my_agent --game uno
      cardlab check-agent "python3 my_agent.py --fast" --game crazy_eights
    """
    from cardlab.arena.compliance import check_program
    from cardlab.engine.registry import our_games

    with nullcontext() if as_json else compiling():
        findings = check_program(
            command,
            game or our_games()[0],
            options=read_options(option),
            games=games,
            seed=seed,
            limits=read_limits(limits),
        )
    failed = [one for one in findings if not one.passed]
    if as_json:
        rows = [{"check": one.check, "passed": one.passed, "fix": one.fix} for one in findings]
        print_json(rows)
    else:
        out = new_console()
        for one in findings:
            out.print(f"{'ok  ' if one.passed else 'FAIL'} {one.check}", markup=False)
            if one.fix:
                out.print(f"     {one.fix}", markup=False)
        if not failed:
            out.print(
                f"{len(findings)} checks passed: {command!r} is ready for `cmd:`", markup=False
            )
    if failed:
        raise typer.Exit(1)
