"""What the site needs beyond plain Markdown, done while MkDocs builds it.

Links to files beside `docs/` work on any forge; for the site those files are copied to `files/`,
and their own links to pages in `docs/` lead to the pages of the site.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(?<=\]\()(?P<path>[^):#\s]+)(?=[)#])")
COPIES = "files/"
FENCE = re.compile(r"(^ *```.*?^ *```)", re.MULTILINE | re.DOTALL)
OWN_FILES = ("site.css", "icon.svg")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add our style and icon, and the files beside `docs/` that pages link to."""
    for name in OWN_FILES:
        text = (ROOT / "website" / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text))
    for file in list(files.documentation_pages()):
        for path in _outside(file.src_uri, file.content_string):
            uri = f"{COPIES}{path}"
            if files.get_file_from_path(uri) is None:
                text = (ROOT / path).read_text(encoding="utf-8")
                files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Point links to files beside `docs/` to their copies, and links of copies to pages."""
    uri = page.file.src_uri
    known = _outside(uri, markdown)
    folder = PurePosixPath(uri).parent

    def rewrite(match: re.Match[str]) -> str:
        path = _beside(uri, match["path"])
        if path in known:
            return os.path.relpath(f"{COPIES}{path}", folder)
        if uri.startswith(COPIES) and path.startswith("docs/"):
            return os.path.relpath(path.removeprefix("docs/"), folder)
        return match["path"]

    parts = FENCE.split(markdown)
    return "".join(one if n % 2 else LINK.sub(rewrite, one) for n, one in enumerate(parts))


def _beside(page: str, link: str) -> str:
    """Return a linked path as seen from the repository."""
    home = page.removeprefix(COPIES) if page.startswith(COPIES) else f"docs/{page}"
    return os.path.normpath(PurePosixPath(home).parent / link)


def _outside(page: str, markdown: str) -> list[str]:
    """Return the files beside `docs/` that a page links to."""
    prose = "".join(FENCE.split(markdown)[::2])
    paths = [_beside(page, one["path"]) for one in LINK.finditer(prose)]
    return [one for one in paths if not one.startswith("docs") and (ROOT / one).is_file()]
