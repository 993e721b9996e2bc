"""Where things lie that tests read: from the root of the repository."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["DOCS", "EXAMPLES", "GOLDEN", "NOTEBOOKS", "PROGRAMS", "ROOT", "koi_koi_records"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
NOTEBOOKS = ROOT / "notebooks"
GOLDEN = ROOT / "tests" / "golden"
PROGRAMS = ROOT / "tests" / "support" / "programs"  # outside agents that misbehave


def koi_koi_records() -> Path | None:
    """Return where the published games of people at Koi-Koi lie, if they are here."""
    beside = ROOT.parent / "shared" / "data" / "koikoi-human-games.jsonl.gz"
    path = Path(os.environ.get("CARDLAB_KOI_KOI_RECORDS", beside))
    return path if path.is_file() else None
