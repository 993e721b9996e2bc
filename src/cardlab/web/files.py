"""The files of the pages: read and compressed once, then served from memory."""

from __future__ import annotations

import functools
import gzip
import hashlib
import mimetypes
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fastapi import Request, Response

from cardlab.engine.manifest import GamePackage

STATIC = Path(__file__).parent / "static"
PAGE_ENDINGS = (".css", ".jpg", ".js", ".png", ".svg", ".webp")  # files that a game's page may have
SMALL = 1000  # bytes below which compression is not worth it
TYPES = {".js": "text/javascript"}  # some systems name another type, which browsers refuse


class CachedFile(NamedTuple):
    """The content of a file, plain and compressed, with its ETag and media type."""

    body: bytes
    packed: bytes | None
    tag: str
    media: str


def cache_file(body: bytes, media: str) -> CachedFile:
    """Return a file's content, ready to be served."""
    packed = gzip.compress(body, mtime=0) if len(body) >= SMALL else None
    return CachedFile(body, packed, f'W/"{hashlib.sha256(body).hexdigest()[:16]}"', media)


def answer(request: Request, cached: CachedFile, cache: str = "no-cache") -> Response:
    """Answer with a file, or with 304 if the browser has it already."""
    headers = {"ETag": cached.tag, "Cache-Control": cache, "Vary": "Accept-Encoding"}
    if cached.tag.removeprefix("W/") in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    body = cached.body
    if cached.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = cached.packed, "gzip"
    return Response(body, media_type=cached.media, headers=headers)


def static_file(name: str) -> CachedFile | None:
    """Return a file of the pages, read again if it has changed; None if it does not exist."""
    return _file_in(STATIC, name)


def page_file(package: GamePackage, name: str) -> CachedFile | None:
    """Return a file of a game's page (module, style or picture); None if it does not exist."""
    if not package.page or not name.endswith(PAGE_ENDINGS):
        return None
    return _file_in(package.file(package.page), name)


def _file_in(folder: Path, name: str) -> CachedFile | None:
    if name not in _names(folder):
        return None
    path = folder / name
    with suppress(FileNotFoundError):  # deleted since the folder was listed
        return _read(path, path.stat().st_mtime_ns)
    return None


@functools.cache
def _names(folder: Path) -> frozenset[str]:
    """Return the names of all files in a folder, without links that lead out of it."""
    home = folder.resolve()
    files = (path for path in folder.rglob("*") if path.is_file())
    inside = (path for path in files if path.resolve().is_relative_to(home))
    return frozenset(path.relative_to(folder).as_posix() for path in inside)


@functools.lru_cache(maxsize=512)
def _read(path: Path, _changed: int) -> CachedFile:
    media = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    return cache_file(path.read_bytes(), media or "application/octet-stream")
