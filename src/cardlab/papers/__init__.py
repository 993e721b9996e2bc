"""The papers: what each claims, measured again; `cardlab reproduce GAME` writes the reports."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from cardlab.errors import CardlabError
from cardlab.games import find_game

__all__ = ["PAPERS", "find_paper"]

PAPERS = {
    "crazy_eights": "cardlab.papers.crazy_eights",
    "birds_of_a_feather": "cardlab.papers.birds_of_a_feather",
    "cribbage": "cardlab.papers.cribbage",
    "koi_koi": "cardlab.papers.koi_koi",
    "uno": "cardlab.papers.uno",
}


def find_paper(game: str) -> ModuleType:
    """Return the module that measures a game's paper again."""
    name = find_game(game).name
    if name not in PAPERS:
        raise CardlabError(
            f"the paper of {name} is not measured again yet; these are: {', '.join(PAPERS)}"
        )
    return import_module(PAPERS[name])
