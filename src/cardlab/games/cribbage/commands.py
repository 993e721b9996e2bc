"""Commands of Cribbage: score, analyse."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cardlab.commands.arguments import Json
from cardlab.engine.errors import CardlabError
from cardlab.show.console import compiling, new_console, table_of


def _require_cribbage(context: typer.Context, game: str) -> str:
    """Return the name of the game, or say which game has hands to score."""
    from cardlab.engine.registry import find_game

    if not context.resilient_parsing and find_game(game).name != "cribbage":
        command = context.info_name
        raise CardlabError(
            f"`cardlab {command}` is about hands of cribbage, not of {game}; "
            f"write `cardlab {command} cribbage HAND`"
        )
    return game


Cribbage = Annotated[
    str,
    typer.Argument(
        help="cribbage",
        metavar="GAME",
        autocompletion=lambda: ["cribbage"],
        callback=_require_cribbage,
        is_eager=True,  # before a missing --cut
    ),
]


def score(
    game: Cribbage,
    hand: Annotated[str, typer.Argument(help="four cards such as '5H 5C 5S JD'", metavar="HAND")],
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

    from cardlab.engine.cards import card_text
    from cardlab.games.cribbage.scoring import score_text
    from cardlab.show.terminal import card_look

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
        str, typer.Argument(help="six cards such as '5H 5D 6S JC 4H KD'", metavar="HAND")
    ],
    dealer: Annotated[
        bool, typer.Option("--dealer/--pone", help="whether the crib is yours")
    ] = False,
    score: Annotated[
        str, typer.Option(help="your score and the other's", metavar="OWN-OTHER")
    ] = "0-0",
    as_json: Json = False,
) -> None:
    """Rank all 15 discards from a hand of six cards.

    Examples:
      cardlab analyse cribbage "5H 5D 6S JC 4H KD"
      cardlab analyse cribbage "5H 5D 6S JC 4H KD" --dealer --score 78-81
    """
    from cardlab.games.cribbage.show_advice import show_advice
    from cardlab.games.cribbage.solvers.advice import advise, parse_hand, parse_score

    cards, scores = parse_hand(hand), parse_score(score)
    with compiling():
        advice = advise(cards, dealer=dealer, score=scores)
    if as_json:
        typer.echo(json.dumps(advice.to_dict(), indent=2))
    else:
        show_advice(advice)
