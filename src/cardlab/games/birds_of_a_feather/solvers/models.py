"""Linear models of solvability in Birds of a Feather, as plain arrays on disk.

A model scales each product of features to [0, 1] over its training rows and adds the weighted
results up; where it is a logistic regression, the sum is the log-odds of being solvable. The
logistic function rises, so a search that sorts children by probability may sort them by the sum.

The models that come with the package are named in `SHIPPED`. Beside each file of arrays lies a file
of JSON that says how the model was made and how often it is right.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.engine.array_files import read_arrays
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Array
from cardlab.games.birds_of_a_feather import PACKAGE
from cardlab.games.birds_of_a_feather.features import MOVE_FEATURES, NUM_TERMS, polynomial

FOLDER = PACKAGE.shipped("models")
LOGISTIC, LINEAR = "logistic", "linear"
STAGES = {16: "stage_16_15", 14: "stage_14_13", 12: "stage_12_11", 10: "stage_10_9"}
SHIPPED = ("lr", "lr8", "lr16", *STAGES.values(), "linear")
EVOLVED = "evolved"


@dataclass(frozen=True, eq=False)
class Model:
    """One linear model over the products of features, the first `len(coefficients)` of them."""

    kind: str
    intercept: float
    coefficients: Array
    minimum: Array
    scale: Array

    @property
    def weights(self) -> Array:
        """The constant and 83 weights on plain products that `features.score` takes."""
        plain = np.zeros(1 + NUM_TERMS)
        used = len(self.coefficients)
        plain[1 : 1 + used] = self.coefficients * self.scale
        plain[0] = self.intercept - float(self.coefficients @ (self.minimum * self.scale))
        return plain

    def predict(self, features: Array) -> Array:
        """Return the predicted solvability of each row of six features."""
        terms = polynomial(features)[:, : len(self.coefficients)]
        total = (terms - self.minimum) * self.scale @ self.coefficients + self.intercept
        return np.asarray(1 / (1 + np.exp(-total)) if self.kind == LOGISTIC else total)

    def save(self, folder: Path, name: str, facts: Mapping[str, Any]) -> None:
        """Write the arrays, and beside them what a reader should know about the model."""
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(
            folder / f"{name}.npz",
            kind=np.array(self.kind),
            intercept=np.array(self.intercept),
            coefficients=self.coefficients,
            minimum=self.minimum,
            scale=self.scale,
        )
        save_facts(folder, name, facts)


@dataclass(frozen=True, eq=False)
class Ordering:
    """Weights of an ordering of moves: `level + slope * stacks / 16` for each feature of a move."""

    wanted: int
    level: Array
    slope: Array

    @property
    def weights(self) -> Array:
        """The set of features, their levels and their slopes in one array."""
        return np.concatenate([[float(self.wanted)], self.level, self.slope])

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that count."""
        return tuple(name for i, name in enumerate(MOVE_FEATURES) if self.wanted >> i & 1)

    def save(self, folder: Path, name: str, facts: Mapping[str, Any]) -> None:
        """Write the arrays, and beside them what a reader should know about the ordering."""
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(
            folder / f"{name}.npz",
            wanted=np.array(self.wanted),
            level=self.level,
            slope=self.slope,
        )
        save_facts(folder, name, facts)


def save_facts(folder: Path, name: str, facts: Mapping[str, Any]) -> None:
    """Write facts as JSON, for people and programs alike."""
    (folder / f"{name}.json").write_text(json.dumps(facts, indent=2) + "\n")


def _read(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """Return the arrays of these names of a file; all that are not text are finite numbers."""
    if not path.exists():
        raise CardlabError(
            f"there is no model {path}; make one with "
            "`cardlab train birds_of_a_feather/solvability`"
        )
    arrays = read_arrays(path, "model")
    for name in names:
        if name not in arrays or (
            name != "kind"
            and (arrays[name].dtype.kind not in "biuf" or not np.isfinite(arrays[name]).all())
        ):
            raise CardlabError(f"{path} holds no model (its array {name!r} is missing or damaged)")
    return arrays


def load_model(path: Path) -> Model:
    """Return the model in a file of arrays."""
    arrays = _read(path, ("kind", "intercept", "coefficients", "minimum", "scale"))
    shape = arrays["coefficients"].shape
    if (
        arrays["intercept"].shape
        or not 1 <= arrays["coefficients"].size <= NUM_TERMS
        or not shape == arrays["minimum"].shape == arrays["scale"].shape == shape[:1]
    ):
        raise CardlabError(f"{path} holds no model (its arrays do not fit each other)")
    return Model(
        str(arrays["kind"]),
        float(arrays["intercept"]),
        arrays["coefficients"],
        arrays["minimum"],
        arrays["scale"],
    )


def load_ordering(path: Path) -> Ordering:
    """Return the ordering in a file of arrays."""
    arrays = _read(path, ("wanted", "level", "slope"))
    shape = (len(MOVE_FEATURES),)
    if arrays["wanted"].shape or not arrays["level"].shape == arrays["slope"].shape == shape:
        raise CardlabError(f"{path} holds no ordering (its arrays do not fit each other)")
    return Ordering(int(arrays["wanted"]), arrays["level"], arrays["slope"])


@functools.cache
def shipped_model(name: str) -> Model:
    """Return a model that comes with the package."""
    if name not in SHIPPED:
        raise CardlabError(suggest("model", name, SHIPPED))
    return load_model(FOLDER / f"{name}.npz")


@functools.cache
def shipped_ordering() -> Ordering:
    """Return the evolved ordering that comes with the package."""
    return load_ordering(FOLDER / f"{EVOLVED}.npz")
