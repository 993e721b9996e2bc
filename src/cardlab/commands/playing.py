"""Commands that play: games, agents, match, play, replay."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardlab.commands.arguments import (
    AgentNames,
    FreshProcess,
    GameName,
    Json,
    LimitList,
    OptionList,
    Salt,
    SaveFile,
    Seed,
    Trust,
    Workers,
    print_json,
    read_limits,
    read_options,
    read_workers,
)
from cardlab.commands.completion import complete_agent, complete_game
from cardlab.engine.errors import CardlabError
from cardlab.show.console import compiling, new_console, progress_bar, say

if TYPE_CHECKING:
    from cardlab.engine.game import Game
    from cardlab.engine.play import Table
    from cardlab.engine.records import Record

MOST_LINES = 20  # of a damaged file, whose numbers are named
MEASURED = ("score %", "rating")  # columns of an agent's strength


def games(as_json: Json = False) -> None:
    """List all games, installed packages included, and their options.

    Examples:
      cardlab games
      cardlab games --json
    """
    from cardlab.engine.registry import find_game, find_package, installed, our_packages
    from cardlab.show.layout import print_list

    found, broken = [*our_packages().values()], {}
    for name in installed("cardlab.games"):
        try:
            if name not in our_packages():
                find_game(name)
                found.append(find_package(name))
        except CardlabError as error:  # a broken package must not hide the others
            broken[name] = str(error)
    if as_json:
        rows = [
            {
                "name": game.name,
                "title": game.title,
                "summary": game.summary,
                "rules": game.rules_version,
                "options": [one.to_dict() for one in game.options],
            }
            for game in found
        ]
        rows += [{"name": name, "error": reason} for name, reason in broken.items()]
        print_json(rows)
        return
    entries = []
    for game in found:
        options = [
            f"{one.name}={str(one.default).lower()}: {one.help} ({one.allowed_text})"
            for one in game.options
        ]
        entries.append((game.name, [f"{game.title}: {game.summary}", *options]))
    entries += [(name, [reason]) for name, reason in broken.items()]
    print_list(new_console(), entries)


def agents(game: GameName, as_json: Json = False) -> None:
    """List the agents of a game, with their measured strength.

    Examples:
      cardlab agents crazy_eights
      cardlab agents uno --json
    """
    from cardlab.agents.entries import agents_in, strength_in
    from cardlab.engine.registry import find_package, installed
    from cardlab.show.layout import print_list
    from cardlab.show.result_tables import Column, ResultTable

    found = find_package(game)
    entries = agents_in(found)
    if as_json:
        rows = [
            {
                "name": one.name,
                "usage": one.usage,
                "fair": one.fair,
                "summary": one.summary,
                "parameters": [asdict(each) for each in one.parameters],
                "strength": asdict(strength) if (strength := strength_in(one, found)) else None,
            }
            for one in entries
        ]
        blank = {"fair": None, "parameters": None, "strength": None}  # nothing is known of them
        rows += [
            {"name": name, "usage": name, "summary": f"from outside: {reference}", **blank}
            for name, reference in installed("cardlab.agents").items()
        ]
        print_json(rows)
        return
    columns = (Column("agent", text=True), Column("sees", text=True), *map(Column, MEASURED))
    lines: list[tuple[str, ...]] = []
    for one in entries:
        strength = strength_in(one, found)
        measured = (strength.score_text, strength.rating_text) if strength else ("-", "-")
        lines.append((one.usage, "its seat" if one.fair else "all cards", *measured))
    outside = installed("cardlab.agents")
    lines += [(name, "-", "-", "-") for name in outside]
    out = new_console()
    texts = [
        *(one.summary for one in entries),
        *(f"from outside: {one}" for one in outside.values()),
    ]
    ResultTable("", columns, tuple(lines)).show(out, texts)
    out.print("score: in % against heuristic; rating: Elo, heuristic = 0; both with 95 % intervals")
    owners: dict[str, list[str]] = {}
    for one in entries:
        for place, each in enumerate(one.parameters):
            text = f"{each.name}={each.default:g}: {each.help}{'' if place else ' (the budget)'}"
            owners.setdefault(text, []).append(one.name)
    if owners:
        out.print("\nParameters, written as name:budget,parameter=value\n", markup=False)
        print_list(out, [(text, [", ".join(names)]) for text, names in owners.items()])


def match(
    game: GameName,
    agents: AgentNames,
    games: Annotated[
        int,
        typer.Option(help="games to play, rounded up to whole deals", metavar="N"),
    ] = 400,
    seed: Seed = 0,
    option: OptionList = None,
    workers: Workers = 0,
    save: SaveFile = None,
    limits: LimitList = None,
    fresh_process: FreshProcess = False,
    salt: Salt = None,
    as_json: Json = False,
) -> None:
    """Play agents against each other on paired deals.

    Ctrl-C ends the match early and shows the result of the games played so far.

    Examples:
      cardlab match crazy_eights uct_open:1000 random --games 400 --seed 7
      cardlab match uno heuristic random -o seats=3 --save games.jsonl
    """
    from cardlab.arena.match import Match, SavingFailed, play_match
    from cardlab.commands.starting import match_ready
    from cardlab.engine.records import append_records
    from cardlab.engine.registry import find_game
    from cardlab.show.tournament import show_match

    bounds = read_limits(limits, fresh_process)
    plan = Match.plan(game, agents, games, seed, read_options(option), bounds, salt)

    if games != plan.deals * plan.seats:
        say(f"{plan.deals * plan.seats} games are played: every deal in all {plan.seats} seatings")
    if save:
        append_records(save)  # a file that cannot be written fails before the first game
    failure: SavingFailed | None = None
    with (
        match_ready(find_game(plan.game), dict(plan.options), plan.agents),
        progress_bar("games", plan.seats) as progress,
    ):
        try:
            result = play_match(
                plan,
                workers=read_workers(workers),
                progress=progress,
                save=(lambda records: append_records(save, *records)) if save else None,
            )
        except SavingFailed as error:
            failure, result = error, error.result
    if as_json:
        print_json(result.to_dict())
    else:
        show_match(result)
    if failure:
        raise failure


def play(
    game: Annotated[
        str | None,
        typer.Argument(
            help="a game, see `cardlab games`; may be left out with --resume",
            metavar="GAME",
            autocompletion=complete_game,
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="an opponent; repeatable, the last one takes all other seats; default: heuristic, "
            "or monte_carlo:1000 in a game that has no heuristic",
            metavar="AGENT",
            autocompletion=complete_agent,
        ),
    ] = None,
    seat: Annotated[int | None, typer.Option(help="your seat; default: 0", metavar="N")] = None,
    seed: Annotated[
        int | None, typer.Option(help="the seed of the deal; default: a random one", metavar="N")
    ] = None,
    deal: Annotated[
        list[str] | None,
        typer.Option(
            help="the cards of a whole deck in the order of dealing; repeatable", metavar="CARDS"
        ),
    ] = None,
    option: OptionList = None,
    adviser: Annotated[
        str | None,
        typer.Option(
            help="the agent that gives hints; default: the adviser of the game",
            metavar="AGENT",
            autocompletion=complete_agent,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="append the game's record to this file; default: a file in the user's data folder",
            metavar="FILE",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="continue the last unfinished game in this file; its record is replaced",
            metavar="FILE",
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="with --resume: run games and agents from outside"),
    ] = False,
) -> None:
    """Play against agents at the terminal.

    Every game is saved, also one that you leave. The last lines name the command that resumes it.

    Examples:
      cardlab play crazy_eights --against heuristic
      cardlab play uno --against guided:300 -o seats=4 --seed 7
      cardlab play --resume games.jsonl
    """
    from platformdirs import user_data_path

    from cardlab.agents.catalog import adviser_of, find_agent
    from cardlab.commands.starting import table_ready
    from cardlab.engine.folders import make_data_folder
    from cardlab.engine.game import OpenAgent
    from cardlab.show.terminal import play_in_terminal, require_writable

    if resume is not None:
        new = {"--against": against, "--seat": seat, "--seed": seed, "-o": option}
        wrong = [name for name, value in {**new, "--save": save}.items() if value is not None]
        if wrong:
            raise CardlabError(f"--resume takes the game from {resume}; leave out {wrong[0]}")
        start = _unfinished(resume, game, deal or [], trust)
        path: Path = resume
    elif game is None:
        raise CardlabError(
            "play needs a game, such as `cardlab play GAME` with a name of `cardlab games`, or "
            "--resume FILE"
        )
    else:
        start = _new_game(game, against, read_options(option), seat or 0, seed, deal or [])
        folder = user_data_path("cardlab", appauthor=False) / "games"
        if save is None:
            make_data_folder(folder)
        path = save or folder / f"{start.game.name}.jsonl"
    require_writable(path)
    found = start.game
    helper = adviser or adviser_of(found)
    for name in (helper, *start.opponents):  # a mistake is found before anything is compiled
        agent = find_agent(name, found)
        if name == helper and isinstance(agent, OpenAgent):
            raise CardlabError(f"adviser {name} sees all cards; name an agent that does not")
    with table_ready(found, start.options, [helper, *start.opponents]):
        play_in_terminal(
            start.deal(),
            start.opponents,
            seat=start.seat,
            adviser=helper,
            record_path=path,
            console=new_console(),
            resumed=start.record,
        )


@dataclass(frozen=True)
class Start:
    """A game at the terminal that is about to be dealt, or to continue."""

    game: Game
    options: dict[str, Any]
    opponents: list[str]  # one for each seat but the person's
    seat: int  # the person's
    deal: Callable[[], Table]
    record: Record | None = None  # of the unfinished game


def _new_game(
    name: str,
    against: list[str] | None,
    options: dict[str, str],
    seat: int,
    seed: int | None,
    deals: list[str],
) -> Start:
    """Return a new game with the opponents that were named."""
    from cardlab.engine.play import Table
    from cardlab.engine.registry import find_game, package_of

    game = find_game(name)
    read = game.read_options(options)
    others = int(game.fresh(**read)[0].seats) - 1
    usual = "heuristic" if package_of(game).heuristic else "monte_carlo:1000"
    if against and not others:
        raise CardlabError(f"{name} is played alone; leave --against out")
    names = list(against or [usual] * (others > 0))
    if len(names) > others:
        seats = f"{others} opponent{'' if others == 1 else 's'}"
        raise CardlabError(f"{name} takes {seats}, got {len(names)}")
    if not 0 <= seat <= others:
        raise CardlabError(f"--seat must be 0 to {others} in {name}, got {seat}")
    names += names[-1:] * (others - len(names))
    number = secrets.randbelow(10**9) if seed is None else seed
    orders = _read_deals(game, deals)
    return Start(
        game, read, names, seat, lambda: Table(game, seed=number, deals=orders, options=read)
    )


def _read_deals(game: Game, deals: list[str]) -> list[str]:
    """Return deck orders as records write them."""
    return [game.order_text(game.parse_order(order)) for order in deals]


def _unfinished(path: Path, name: str | None, deals: list[str], trust: bool) -> Start:
    """Return the last unfinished game of a file."""
    from cardlab.agents.catalog import find_agent, is_catalogued
    from cardlab.engine.registry import find_game
    from cardlab.engine.replay import check_version
    from cardlab.show.unfinished import YOU, continue_table, last_unfinished

    wanted = None if name is None else find_game(name)
    line, record = last_unfinished(path, wanted)

    @contextmanager
    def naming_the_line() -> Iterator[None]:
        try:
            yield
        except CardlabError as error:
            raise CardlabError(f"{path}, line {line}: {error}") from None

    def proceed() -> Table:
        with naming_the_line():
            return continue_table(record, deals=orders, game=game)

    with naming_the_line():
        game = wanted or find_game(record.game, trust=trust)
        check_version(record, game)
        orders = _read_deals(game, deals)
        options = game.read_options(record.options)
        names = [player for player in record.seats if player != YOU]
        for opponent in names:
            outside = any(sign in opponent for sign in ".:") and not is_catalogued(opponent, game)
            if outside and not trust:
                raise CardlabError(
                    f"opponent {opponent!r} is not an agent of cardlab and may run code from "
                    "outside; give --trust if you know where it comes from"
                )
            find_agent(opponent, game)
    return Start(game, options, names, record.seats.index(YOU), proceed, record)


def replay(
    file: Annotated[
        Path, typer.Argument(help="a file of records, one JSON line each", metavar="FILE")
    ],
    brief: Annotated[
        bool, typer.Option("--brief", help="print one line for each game, without its actions")
    ] = False,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Replay recorded games by the rules.

    A damaged line, or a record that breaks the rules, is skipped and reported at the end.

    Examples:
      cardlab replay games.jsonl
      cardlab replay games.jsonl --brief
    """
    from rich.padding import Padding
    from rich.text import Text

    from cardlab.engine.records import read_records
    from cardlab.engine.replay import replay as replayed
    from cardlab.show.terminal import action_look

    out = new_console()
    count, rows = 0, []
    skipped: list[tuple[int, str]] = []
    with compiling():
        for number, record in read_records(file, damaged=skipped):
            try:
                movers = [table.mover for table in replayed(record, trust=trust)]
            except CardlabError as error:
                skipped.append((number, f"{file}, line {number}: {error}"))
                continue
            count += 1
            if as_json:
                actions = [text for _, text in record.actions]
                row = {"line": number, "game": record.game, "seats": record.seats}
                if not brief:
                    row["actions"] = [
                        {"seat": seat, "text": text}
                        for seat, text in zip(movers, actions, strict=False)
                    ]
                result = record.result.model_dump() if record.result else None
                rows.append({**row, "plies": len(actions), "result": result, "note": record.note})
                continue
            outcome = record.note or "not finished"
            if record.result:
                earned = zip(record.seats, record.result.points, strict=True)
                outcome = "points: " + ", ".join(f"{name} {value:g}" for name, value in earned)
            head = Text.assemble((f"{number} ", "bold"), f"{record.game}: ")
            line = f"{' - '.join(record.seats)}, {len(record.actions)} plies, {outcome}"
            head.append(line.replace("\n", " "))
            out.print(head)
            if not brief and record.actions:
                moves = Text()
                for seat, (_, text) in zip(movers, record.actions, strict=False):
                    moves.append(f"{seat}:", style="dim")
                    moves.append_text(Text.assemble(action_look(text), "  "))
                out.print(Padding(moves, (0, 0, 0, 3)))
    if not count and not skipped:
        raise CardlabError(f"{file} holds no record")
    if as_json:
        print_json(rows)
    elif count:
        end = f"; {len(skipped)} skipped" if skipped else ", every one as recorded"
        out.print(f"{count} game{'s' * (count != 1)} replayed{end}")
    if skipped:
        raise CardlabError(_skipped_lines(skipped))


def _skipped_lines(skipped: list[tuple[int, str]]) -> str:
    """Return one sentence about lines of a file that were skipped."""
    (_, first), *others = sorted(skipped)
    if not others:
        return first
    numbers = ", ".join(str(number) for number, _ in others[:MOST_LINES])
    more = ", ..." * (len(others) > MOST_LINES)
    lines = f"line{'s' * (len(others) > 1)} {numbers}{more}"
    return f"{first}; {len(others)} more skipped: {lines}"
