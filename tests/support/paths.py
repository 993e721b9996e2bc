"""Where things lie that tests read: from the root of the repository."""

from __future__ import annotations

from pathlib import Path

__all__ = ["DOCS", "EXAMPLES", "GOLDEN", "NOTEBOOKS", "PROGRAMS", "ROOT"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
NOTEBOOKS = ROOT / "notebooks"
GOLDEN = ROOT / "tests" / "golden"
PROGRAMS = ROOT / "tests" / "support" / "programs"  # outside agents that misbehave
