"""Game records: one JSON line each, complete and exact.

A record holds the game, its rules version and options, every deck order as cards, who sat where,
every action as id and text, and the result. Replaying it needs no random numbers, so a record can
also describe a game that was played with real cards or by another program.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict, ValidationError

from cardlab.engine.arguments import read_path, shorten
from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import require_folder
from cardlab.engine.notebook_hooks import ShownAsHtml
from cardlab.engine.whole_files import whole_file

__all__ = ["Record", "Result", "append_records", "read_records"]

TAIL_BYTES = 1 << 16  # of a file, read at once from its end


class Result(BaseModel):
    """The result of a finished game: returns and points of every seat."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    returns: list[float]  # utility by seat, from -1 to 1
    points: list[float]  # by seat, as on a scoreboard


class Record(ShownAsHtml, BaseModel):
    """One game: complete, or not finished (`result` is None)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str  # name, or module:NAME of one from outside
    rules: int  # version of the rules
    options: dict[str, bool | int | str]  # all options with their values
    seed: int | None = None  # that dealt; None: dealt by hand or by a secret
    deals: list[str]  # deck orders as texts, in order
    seats: list[str]  # name of the player of each seat
    actions: list[tuple[int, str]]  # id and text of each, in order
    result: Result | None = None  # None: not finished
    forfeit: int | None = None  # the seat that lost because it failed to answer; see `note`
    note: str | None = None  # for people

    def to_line(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.model_dump(exclude_none=True), separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Return the record in a line of JSON."""
        if not isinstance(line, str):
            raise CardlabError(f"a record must be a line of JSON, got {shorten(line)}")
        try:
            data: Any = json.loads(line)
            line.encode()
            if "\\ud" in line.lower():  # half a character, which no file or answer can hold
                json.dumps(data, ensure_ascii=False).encode()
        except json.JSONDecodeError as error:
            reason = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
            raise CardlabError(f"invalid JSON at character {error.pos + 1}: {reason}") from None
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise CardlabError(f"not a game record: {reason}") from None
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(step) for step in first["loc"]) or "the whole line"
            raise CardlabError(f"not a game record: {place}: {first['msg']}") from None


def append_records(path: str | PathLike[str], *records: Record) -> None:
    """Add records to a file, which is made if it is not there; its folder must exist.

    If writing fails, as on a full disk, the file ends with the last record that was written whole.
    """
    path = read_path(path)
    for record in records:
        if not isinstance(record, Record):
            raise CardlabError(f"append_records writes Records, got {shorten(record)}")
    require_folder(path)
    data = b"".join(record.to_line().encode() + b"\n" for record in records)
    opened = False
    try:
        with path.open("ab+", buffering=0) as file:
            opened = True
            if data:
                _write_whole_lines(file, data if _ends_with_a_line(file, path) else b"\n" + data)
    except OSError as error:
        state = "; it ends with its last whole record, free some space or" * opened
        raise CardlabError(
            f"{path} cannot be written: {error.strerror}{state or ';'} name another file for "
            "records"
        ) from None


def _ends_with_a_line(file: BinaryIO, path: Path) -> bool:
    """Return whether a file of records ends with a line break; a cut-off last line raises."""
    size = at = file.seek(0, 2)
    tail = b""
    while at and b"\n" not in tail:
        at = max(0, at - TAIL_BYTES)
        file.seek(at)
        tail = file.read(size - at)
    last = tail.rpartition(b"\n")[2]
    if last:
        try:
            Record.from_line(last.decode())
        except ValueError:  # CardlabError is one, too
            raise CardlabError(
                f"{path} cannot be continued: its last line is cut off; remove that line, or name "
                "another file"
            ) from None
    return not last


def _write_whole_lines(file: BinaryIO, data: bytes) -> None:
    """Write lines at the end of a file; if that fails, cut the file after its last whole line."""
    end = file.seek(0, 2)
    written = 0
    try:
        while written < len(data):
            written += file.write(data[written:])
    except BaseException:
        with suppress(OSError):  # of a device, not of a file
            file.truncate(end + data.rfind(b"\n", 0, written) + 1)
        raise


def replace_record(path: str | PathLike[str], old: Record, new: Record) -> None:
    """Put a record in the place of the last equal one in a file; other lines keep every byte.

    The file is written whole or not at all. If the old record is no longer there, because another
    program has replaced it, the new one is appended.
    """
    path = read_path(path).resolve()  # a link stays a link
    try:
        lines = path.read_bytes().splitlines(keepends=True)
        number = _last_line_of(old, lines)
        if number is None:
            append_records(path, new)
            return
        end = lines[number][len(lines[number].rstrip()) :]
        lines[number] = new.to_line().encode() + end
        with whole_file(path) as rough:
            rough.write_bytes(b"".join(lines))
            shutil.copymode(path, rough)
    except OSError as error:
        raise CardlabError(
            f"{path} cannot be written: {error.strerror}; it is as it was before"
        ) from None


def _last_line_of(record: Record, lines: list[bytes]) -> int | None:
    """Return the index of the last line that holds a record."""
    for number in range(len(lines) - 1, -1, -1):
        with suppress(ValueError):  # another line, or a damaged one
            if Record.from_line(lines[number].decode()) == record:
                return number
    return None


def read_records(
    path: str | PathLike[str], *, damaged: list[tuple[int, str]] | None = None
) -> Iterator[tuple[int, Record]]:
    """Yield the line number and the record of every line of a file.

    A line that is not a record raises a sentence with file and line, after all records before it.
    With a list `damaged` such lines are skipped, and their numbers and sentences are added to it.
    """
    return _records_in(read_path(path), damaged)


def _records_in(path: Path, damaged: list[tuple[int, str]] | None) -> Iterator[tuple[int, Record]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    try:
                        record = Record.from_line(line.decode())
                    except ValueError as error:  # CardlabError, or UnicodeDecodeError
                        sentence = _describe_damage(path, number, line, error)
                        if damaged is None:
                            raise CardlabError(sentence) from None
                        damaged.append((number, sentence))
                    else:
                        yield number, record
    except OSError as error:
        raise CardlabError(
            f"{path} cannot be read: {error.strerror}; give a file of records, one JSON line each"
        ) from None


def _describe_damage(path: Path, number: int, line: bytes, error: ValueError) -> str:
    """Return a sentence about a line that is not a record."""
    text = line.rstrip()
    unread = isinstance(error, UnicodeDecodeError) or str(error).startswith("invalid JSON")
    closed = line.endswith(b"\n") and text.endswith(b"}")
    if unread and text.startswith(b"{") and not closed:
        return (
            f"{path}, line {number} is cut off: the disk was full, or the program that wrote it "
            "was stopped"
        )
    if isinstance(error, UnicodeDecodeError):
        return f"{path}, line {number} is not text; give a file of records, one JSON line each"
    return f"{path}, line {number}: {error}"
