"""Commands that run for minutes to hours: train, reproduce."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cardlab.commands.arguments import Json, Workers, print_json, read_workers
from cardlab.commands.completion import complete_paper, complete_training
from cardlab.commands.signals import when_stopped
from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import check_folder
from cardlab.engine.locks import only_one
from cardlab.show.console import compiling, new_console, progress_bar


def train(
    what: Annotated[
        str | None,
        typer.Argument(
            help="what to train; default: list all trainings and their settings",
            metavar="GAME/METHOD",
            autocompletion=complete_training,
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="a setting of the training; repeatable", metavar="NAME=VALUE"),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(help="recorded games; short for --set records=FILE", metavar="FILE"),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(help="the reward to learn; short for --set reward=NAME", metavar="NAME"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="folder of the run; default: runs/GAME/METHOD", metavar="FOLDER"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Train an agent.

    A stopped training resumes when it is started again with the same folder.

    Examples:
      cardlab train
      cardlab train crazy_eights/tabular_q --set games=100000
    """
    from cardlab.learning import all_trainings, find_training
    from cardlab.learning.runs import read_config
    from cardlab.show.layout import print_list
    from cardlab.show.result_tables import Column, ResultTable

    if what is None:
        if setting or out or records or reward:
            raise CardlabError(
                "argument GAME/METHOD is missing, but settings or a folder are given; write "
                "`cardlab train GAME/METHOD ...`"
            )
        if as_json:
            print_json([_about(name) for name in all_trainings()])
            return
        entries = []
        for name in all_trainings():
            about = _about(name)
            settings = "  ".join(f"{key}={value}" for key, value in about["settings"].items())
            entries.append((name, [about["summary"], settings]))
        print_list(new_console(), entries)
        return
    try:
        module = find_training(what)
    except ImportError as error:
        raise CardlabError(_missing(what, error)) from None
    named = {"records": records, "reward": reward}
    short = [f"{name}={value}" for name, value in named.items() if value is not None]
    config = read_config(module.Config, [*(setting or ()), *short])
    folder = out or Path("runs") / what
    check_folder(folder)
    run = _long_run(what, folder, "from the last checkpoint in")
    with run, only_one(folder), compiling(), progress_bar("training") as progress:
        summary = module.train(config, folder, lambda stage, *at: progress(*at, stage))
    if as_json:
        print_json(summary)
        return
    rows = [
        (name, f"{value:,}" if isinstance(value, int) else str(value))
        for name, value in summary.items()
    ]
    columns = (Column("result", text=True), Column("value"))
    out_console = new_console()
    ResultTable(what, columns, tuple(rows)).show(out_console)
    out_console.print(f"kept in {folder}", markup=False, soft_wrap=True)


def reproduce(
    game: Annotated[
        str,
        typer.Argument(help="the game of a paper", metavar="GAME", autocompletion=complete_paper),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="play few games: minutes instead of an hour")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="folder of the report; default: docs/papers, with --quick runs/papers",
            metavar="FOLDER",
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            help="folder of the measurements; default: runs/reproduce/GAME", metavar="FOLDER"
        ),
    ] = None,
    workers: Workers = 0,
) -> None:
    """Measure a game's paper again and write the report.

    A stopped run resumes when it is started again.

    Examples:
      cardlab reproduce crazy_eights --quick
      cardlab reproduce uno --out reports
    """
    from cardlab.papers.figures import require_figures
    from cardlab.papers.reproduce import find_report
    from cardlab.papers.reproduce import reproduce as measure_again

    report = find_report(game)
    folder = work or Path("runs") / "reproduce" / (f"{game}-quick" if quick else game)
    target = out or (Path("runs") / "papers" if quick else Path("docs") / "papers")
    with _long_run("the report", folder, "from the measurements in"):
        require_figures()  # before the first game, not after the last
        check_folder(target)
        check_folder(folder)
        with only_one(folder), compiling(), progress_bar("measuring") as progress:
            path = measure_again(
                report,
                target,
                folder,
                quick=quick,
                workers=read_workers(workers),
                progress=lambda stage, *at: progress(*at, stage),
            )
    new_console().print(f"report: {path}", markup=False)


@contextmanager
def _long_run(what: str, folder: Path, source: str) -> Iterator[None]:
    """Say in one sentence how to resume a stopped run, what is missing, or which file failed."""
    try:
        with when_stopped(lambda: f"the same command resumes {source} {folder}"):
            yield
    except ImportError as error:
        raise CardlabError(_missing(what, error)) from None
    except OSError as error:
        raise CardlabError(f"{error.filename or folder} cannot be used: {error.strerror}") from None


def _about(name: str) -> dict[str, Any]:
    """Return what a training does and its settings, or which package is missing."""
    import dataclasses

    from cardlab.learning import find_training

    try:
        module = find_training(name)
    except ImportError as error:
        return {"name": name, "summary": _missing("it", error), "settings": {}}
    summary = (module.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
    settings = {one.name: one.default for one in dataclasses.fields(module.Config)}
    return {"name": name, "summary": summary, "settings": settings}


def _missing(what: str, error: ImportError) -> str:
    extra = "papers" if error.name in ("sklearn", "matplotlib", "pyarrow") else "train"
    return f"{what} needs {error.name}; install with: pip install 'cardlab[{extra}]'"
