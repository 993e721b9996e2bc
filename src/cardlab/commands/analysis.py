"""Commands that analyse any game: explain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardlab.commands.arguments import GameName, Json, Trust, print_json
from cardlab.commands.completion import complete_agent
from cardlab.engine.errors import CardlabError
from cardlab.show.console import compiling, new_console, say

if TYPE_CHECKING:
    from cardlab.engine.game import Game
    from cardlab.engine.records import Record


def explain(
    game: GameName,
    record: Annotated[Path, typer.Argument(help="records, one JSON line each", metavar="RECORD")],
    ply: Annotated[
        int,
        typer.Option(help="the decision to explain: the number of actions before it", metavar="N"),
    ] = 0,
    line: Annotated[
        int,
        typer.Option(
            help="the line of the record in the file; 0: the first of the game", metavar="N"
        ),
    ] = 0,
    agent: Annotated[
        str | None,
        typer.Option(
            help="the agent that explains; default: the adviser of the game",
            metavar="AGENT",
            autocompletion=complete_agent,
        ),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="also draw the explanation as SVG", metavar="FILE")
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Show how an agent values every choice in a recorded game.

    For a network with attention, also show its attention maps.

    Examples:
      cardlab explain koi_koi game.jsonl --ply 12
      cardlab explain uno game.jsonl --ply 3 --agent uno_net --svg why.svg
    """
    from cardlab.agents.catalog import adviser_of, find_agent
    from cardlab.engine.game import OpenAgent
    from cardlab.engine.registry import find_game
    from cardlab.show.explanation import explain as find_reasons
    from cardlab.show.explanation import show
    from cardlab.show.explanation_svg import draw_explanations

    found = find_game(game)
    adviser = find_agent(agent or adviser_of(found), found)
    if isinstance(adviser, OpenAgent):
        raise CardlabError(f"--agent must be a fair agent, got {agent}, which sees all cards")
    number, wanted = _find_record(record, found, line)
    with compiling():
        try:
            explanation = find_reasons(wanted, ply, adviser, trust=trust)
        except CardlabError as error:
            raise CardlabError(f"{record}, line {number}: {error}") from None
    if svg:
        draw_explanations(svg, [explanation])
    if as_json:
        print_json(explanation.to_dict())
        return
    out = new_console()
    show(explanation, out)
    if svg:
        out.print(f"drawn in {svg}", markup=False)


def _find_record(path: Path, game: Game, line: int) -> tuple[int, Record]:
    """Return a record of a game with its line: the first one, or that of a line."""
    from cardlab.engine.records import read_records

    names = (game.name, game.reference)
    damaged: list[tuple[int, str]] = []
    for number, record in read_records(path, damaged=damaged):
        if line and number != line:
            continue
        if record.game in names:
            if damaged and not line:
                say(f"{damaged[0][1]}; skipped")
            return number, record
        if line:
            raise CardlabError(f"{path}, line {line} is a game of {record.game}, not {game.name}")
    for number, sentence in damaged:
        if line in (0, number):
            raise CardlabError(sentence)
    if line:
        raise CardlabError(f"{path} has no record in line {line}; leave --line out for the first")
    raise CardlabError(f"{path} holds no record of {game.name}")
