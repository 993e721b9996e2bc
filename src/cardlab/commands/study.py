"""Commands that take long: train, reproduce."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cardlab.commands.arguments import GameName, Json, Workers, read_workers
from cardlab.display import compiling, new_console, progress_bar, table_of
from cardlab.errors import CardlabError
from cardlab.locks import only_one

__all__ = ["reproduce", "train"]


def train(
    what: Annotated[
        str | None, typer.Argument(help="GAME/METHOD; without it a list", metavar="[WHAT]")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="a setting as name=value; repeatable")
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="file of recorded games: short for --set records=FILE")
    ] = None,
    reward: Annotated[
        str | None, typer.Option(help="what is learned: short for --set reward=NAME")
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
        if setting or out or records or reward:
            raise CardlabError("a setting or a folder needs a training; name one as GAME/METHOD")
        if as_json:
            typer.echo(json.dumps(sorted(TRAININGS)))
            return
        table = table_of()
        table.add_column("training", no_wrap=True)
        for head in ("what it does", "settings"):
            table.add_column(head)
        for name in TRAININGS:
            try:
                module = find_training(name)
            except ImportError as error:
                table.add_row(name, _missing("it", error), "")
                continue
            fields = dataclasses.fields(module.Config)
            summary = (module.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
            table.add_row(name, summary, "\n".join(f"{one.name}={one.default}" for one in fields))
        new_console().print(table)
        return
    try:
        module = find_training(what)
    except ImportError as error:
        raise CardlabError(_missing(what, error)) from None
    named = {"records": records, "reward": reward}
    short = [f"{name}={value}" for name, value in named.items() if value is not None]
    config = read_config(module.Config, [*(setting or ()), *short])
    folder = out or Path("runs") / what
    try:
        with only_one(folder), compiling(), progress_bar("training") as progress:
            summary = module.train(config, folder, lambda stage, *at: progress(*at, stage))
    except KeyboardInterrupt:
        raise CardlabError(
            f"stopped; the same command goes on from the last checkpoint in {folder}"
        ) from None
    except ImportError as error:
        raise CardlabError(_missing(what, error)) from None
    except OSError as error:
        raise CardlabError(f"{error.filename or folder} cannot be used: {error.strerror}") from None
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
    from cardlab.papers.figures import require_figures

    paper = find_paper(game)
    folder = work or Path("runs") / "reproduce" / (f"{game}-quick" if quick else game)
    target = out or (Path("runs") / "papers" if quick else Path("docs") / "papers")
    try:
        require_figures()  # before the first game, not after the last
        target.mkdir(parents=True, exist_ok=True)
        with only_one(folder), compiling(), progress_bar("measuring") as progress:
            path = paper.reproduce(
                target,
                folder,
                quick=quick,
                workers=read_workers(workers),
                report=lambda stage, *at: progress(*at, stage),
            )
    except KeyboardInterrupt:
        raise CardlabError(f"stopped; the same command goes on with what is in {folder}") from None
    except ImportError as error:
        raise CardlabError(_missing("the report", error)) from None
    except OSError as error:
        raise CardlabError(f"{error.filename or folder} cannot be used: {error.strerror}") from None
    new_console().print(f"report: {path}", markup=False)


def _missing(what: str, error: ImportError) -> str:
    extra = "papers" if error.name in ("sklearn", "matplotlib", "pyarrow") else "train"
    return f"{what} needs {error.name}; install with: pip install 'cardlab[{extra}]'"
