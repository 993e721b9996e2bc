"""Files that pages are made of: read and compressed once, then answered from memory."""

from __future__ import annotations

import functools
import gzip
import hashlib
import mimetypes
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fastapi import Request, Response

__all__ = ["Kept", "answer", "keep", "static_file"]

STATIC = Path(__file__).parent / "static"
SMALL = 1000  # bytes that are not worth compressing
TYPES = {".js": "text/javascript"}  # which some systems call otherwise, and browsers then refuse


class Kept(NamedTuple):
    """What is answered, plain and compressed, and a tag of both that changes with it."""

    body: bytes
    packed: bytes | None
    tag: str
    media: str


def keep(body: bytes, media: str) -> Kept:
    """Return what is needed to answer with a file."""
    packed = gzip.compress(body, mtime=0) if len(body) >= SMALL else None
    return Kept(body, packed, f'W/"{hashlib.sha256(body).hexdigest()[:16]}"', media)


def answer(request: Request, kept: Kept, cache: str = "no-cache") -> Response:
    """Answer with a file, or that the browser has it already."""
    headers = {"ETag": kept.tag, "Cache-Control": cache, "Vary": "Accept-Encoding"}
    if kept.tag.removeprefix("W/") in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    body = kept.body
    if kept.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = kept.packed, "gzip"
    return Response(body, media_type=kept.media, headers=headers)


def static_file(name: str) -> Kept | None:
    """Return a file of the pages as it is on disk, or None if there is none of this name."""
    if name not in _names():
        return None
    path = STATIC / name
    with suppress(FileNotFoundError):  # it was there once
        return _read(path, path.stat().st_mtime_ns)
    return None


@functools.cache
def _names() -> frozenset[str]:
    files = (path for path in STATIC.rglob("*") if path.is_file())
    return frozenset(path.relative_to(STATIC).as_posix() for path in files)


@functools.lru_cache(maxsize=256)
def _read(path: Path, _changed: int) -> Kept:
    media = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    return keep(path.read_bytes(), media or "application/octet-stream")
