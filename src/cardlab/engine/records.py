"""Game records: one JSON line each, complete and exact.

A record holds the game, its rules version and options, every deck order as cards, who sat where,
every action as id and text, and the result. Replaying it needs no random numbers, so a game from a
kitchen table or from another program fits as well as one of ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from cardlab.engine.errors import CardlabError
from cardlab.engine.notebook_hooks import ShownAsHtml

__all__ = ["Record", "Result", "append_records", "read_records"]


class Result(BaseModel):
    """What a finished game brought to each seat."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    returns: list[float]
    points: list[float]


class Record(ShownAsHtml, BaseModel):
    """One game, complete or broken off (`result` is None)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str
    rules: int
    options: dict[str, bool | int | str]
    seed: int | None = None
    deals: list[str]
    seats: list[str]
    actions: list[tuple[int, str]]
    result: Result | None = None
    forfeit: int | None = None  # the seat that lost by failing to answer; `note` says why
    note: str | None = None

    def to_line(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.model_dump(exclude_none=True), separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Return the record that a line of JSON holds."""
        try:
            data: Any = json.loads(line)
            line.encode()
            if "\\ud" in line.lower():  # half a character, which no file or answer can hold
                json.dumps(data, ensure_ascii=False).encode()
        except json.JSONDecodeError as error:
            raise CardlabError(
                f"this is no JSON ({error.msg} at character {error.pos + 1})"
            ) from None
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else error
            raise CardlabError(f"this is no game record ({reason})") from None
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(step) for step in first["loc"]) or "the whole line"
            raise CardlabError(f"this is no game record: {place}: {first['msg']}") from None


def append_records(path: Path, *records: Record) -> None:
    """Add records to a file of records, making file and folders as needed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            if records and file.seek(0, 2):
                file.seek(-1, 2)
                if file.read(1) != b"\n":  # the last line was left open; it stays whole
                    file.write(b"\n")
            file.write(b"".join(record.to_line().encode() + b"\n" for record in records))
    except OSError as error:
        raise CardlabError(
            f"{path} cannot be written: {error.strerror}; name another file for records"
        ) from None


def read_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Yield the records of a file with their line numbers; errors name file and line."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    try:
                        yield number, Record.from_line(line)
                    except CardlabError as error:
                        raise CardlabError(f"{path}, line {number}: {error}") from None
    except OSError as error:
        raise CardlabError(
            f"{path} cannot be read: {error.strerror}; give a file of records, one JSON line each"
        ) from None
    except UnicodeDecodeError:
        raise CardlabError(
            f"{path} is not text; give a file of records, one JSON line each"
        ) from None
