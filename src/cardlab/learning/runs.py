"""The folder of a training run: its configuration, checkpoints, and where results come from."""

from __future__ import annotations

import dataclasses
import gzip
import json
import math
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cardlab import __version__
from cardlab.engine.array_files import read_arrays
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.folders import make_folder
from cardlab.engine.game import Array, Game
from cardlab.engine.whole_files import whole_file

__all__ = [
    "Report",
    "archive",
    "describe_run",
    "load_arrays",
    "open_run",
    "provenance",
    "read_config",
    "read_json",
    "read_seats",
    "save_arrays",
    "write_json",
]

Config = TypeVar("Config")
Report = Callable[[str, int, int], None]  # what, done, of how many: how far a training is


def read_config(kind: type[Config], settings: Sequence[str]) -> Config:
    """Return a configuration with what `name=value` texts change."""
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    renamed, values = _renamed(kind), {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = renamed.get(name, name)
        if name not in fields:
            raise CardlabError(suggest("setting", name, fields))
        if name in values:
            raise CardlabError(f"setting {name} is given twice")
        if not equals:
            raise CardlabError(f"setting {name} has no value; write {name}=VALUE")
        values[name] = _read_value(name, text, type(fields[name].default))
    return kind(**values)


def _renamed(config: Any) -> dict[str, str]:
    """Return the names of settings by those that they had before, as stored runs have them."""
    fields = dataclasses.fields(config)
    return {field.metadata["was"]: field.name for field in fields if "was" in field.metadata}


def _read_value(name: str, text: str, kind: type) -> Any:
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        if kind is int:
            return int(text.replace("_", ""))
        value = kind(text)
        if kind is float and not math.isfinite(value):
            raise ValueError
        return value
    except (ValueError, KeyError):
        what = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise CardlabError(f"setting {name} must be {what}, got {text}") from None


def read_seats(text: str, most: int) -> range:
    """Return the numbers of seats that `3` or `2-4` mean."""
    low, _, high = text.partition("-")
    try:
        numbers = range(int(low), int(high or low) + 1)
    except ValueError:
        numbers = range(0)
    if not numbers or numbers[0] < 2 or numbers[-1] > most:
        raise CardlabError(
            f"setting seats must be a number or a range from 2 to {most}, such as 2-4, got {text}"
        )
    return numbers


def open_run(folder: Path, config: Any) -> None:
    """Make the folder of a run, or make sure that the run in it has the same configuration."""
    path = folder / "config.json"
    wanted = json.loads(json.dumps(dataclasses.asdict(config)))
    if path.exists():
        try:
            found = dict(json.loads(path.read_text()))
        except (ValueError, TypeError):
            raise CardlabError(f"{path} is damaged; name another folder with --out") from None
        renamed = _renamed(config)
        found = {renamed.get(name, name): value for name, value in found.items()}
        # Settings that came later had their default.
        found = {field.name: field.default for field in dataclasses.fields(config)} | found
        if found != wanted:
            names = sorted(found.keys() | wanted.keys())
            changed = [name for name in names if found.get(name) != wanted.get(name)]
            raise CardlabError(
                f"{folder} holds a run with other settings ({', '.join(changed)}); give the same "
                "settings to resume it, or name another folder with --out"
            )
        return
    make_folder(folder, parents=True)  # a mistyped --out was found by the command
    write_json(path, wanted)


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file whole or not at all."""
    with whole_file(path) as rough:
        rough.write_text(json.dumps(data, indent=2) + "\n")


def read_json(path: Path) -> Any:
    """Return what a JSON file holds, or None if there is no such file."""
    return json.loads(path.read_text()) if path.exists() else None


def save_arrays(path: Path, **arrays: Array) -> None:
    """Write arrays to an npz file, whole or not at all."""
    import numpy as np

    with whole_file(path) as rough, rough.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_arrays(path: Path) -> dict[str, Array] | None:
    """Return the arrays of an npz file, or None if there is none."""
    if not path.exists():
        return None
    try:
        return read_arrays(path, "arrays")
    except CardlabError:
        raise CardlabError(f"{path} is damaged; remove it to start again") from None


def _settings(config: Any) -> list[str]:
    """Return the options of a command that give this configuration."""
    return [
        f"--set {field.name}={shlex.quote(str(getattr(config, field.name)))}"
        for field in dataclasses.fields(config)
        if getattr(config, field.name) != field.default
    ]


def provenance(game: Game, command: str, config: Any) -> dict[str, Any]:
    """Return where a result comes from: command, configuration, commit and rules version.

    The command is completed by every setting that is not as by default.
    """
    try:
        commit = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    return {
        "command": " ".join([command, *_settings(config)]),
        "config": dataclasses.asdict(config),
        "cardlab": __version__,
        "commit": commit,
        "game": game.name,
        "rules": game.rules_version,
    }


def describe_run(run: Path) -> dict[str, Any]:
    """Return the description of a run: its summary, or if it has not ended how far it is."""
    finished: dict[str, Any] | None = read_json(run / "summary.json")
    if finished is not None:
        return finished
    config, state = read_json(run / "config.json"), read_json(run / "state.json") or {}
    if config is None:
        return {}
    reached = {name: value for name, value in state.items() if isinstance(value, int)}
    return {"config": config, "summary": {**reached, "finished": False}}


def archive(run: Path, name: str, target: Path, *, after: bool = False) -> list[Path]:
    """Write the log of a run, compressed, and its description to a folder for reports.

    With `after`, the run resumed the one that is archived: its log follows that one's.
    """
    description, log = describe_run(run), run / "log.jsonl"
    if not description or not log.exists():
        raise CardlabError(f"{run} holds no run with a log; name the folder of a training")
    make_folder(target)
    packed, about = target / f"{name}.jsonl.gz", target / f"{name}.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    if after:
        if not packed.exists():
            raise CardlabError(f"{packed} does not exist; archive the run that {run} resumed first")
        first = [json.loads(line) for line in gzip.decompress(packed.read_bytes()).splitlines()]
        last = first[-1]["step"]
        lines = first + [{**line, "step": last + line["step"]} for line in lines]
        description = {**description, "after": read_json(about)}
    text = "".join(json.dumps(line) + "\n" for line in lines)
    packed.write_bytes(gzip.compress(text.encode(), mtime=0))
    write_json(about, description)
    return [packed, about]
