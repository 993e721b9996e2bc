"""Training: `cardlab train GAME/METHOD`.

A training is a module with a frozen dataclass `Config` and a function
`train(config, folder, report) -> summary`. It keeps everything in its folder, reports its progress
as `report(what, done, total)`, and resumes when the folder holds an unfinished run of the same
configuration. One that makes networks also has `export(run, name, target) -> paths`, which writes
the files that agents play. Manifests name the trainings of each game.
"""

from __future__ import annotations

from types import ModuleType

from cardlab.aliases import TRAININGS
from cardlab.engine.arguments import read_text
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.manifest import load
from cardlab.engine.registry import known_packages

__all__ = ["all_trainings", "find_training"]


def all_trainings() -> dict[str, str]:
    """Return the modules of all trainings by name, `GAME/METHOD`."""
    return {
        f"{game}/{method}": module
        for game, package in known_packages().items()
        for method, module in package.trainings.items()
    }


def find_training(name: str) -> ModuleType:
    """Return the module of a training by its name, `GAME/METHOD`."""
    name = read_text(name, "training", "GAME/METHOD")
    known = all_trainings()
    name = TRAININGS.get(name, name)
    if name not in known:
        raise CardlabError(suggest("training", name, known))
    module: ModuleType = load(known[name])
    return module
