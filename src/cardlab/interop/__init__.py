"""Environments for other libraries: PettingZoo, Gymnasium, Stable-Baselines3, OpenSpiel.

Each module needs the library that it is named after and raises one sentence if that is missing;
nothing else in cardlab imports these modules. docs/how_to/environments.md shows how to
use them, docs/reference/observations.md explains every number of an observation.
"""

from __future__ import annotations
