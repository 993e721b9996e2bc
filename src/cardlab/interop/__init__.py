"""cardlab in other people's tools: PettingZoo, Gymnasium, Stable-Baselines3, OpenSpiel.

Each module needs the library that it is named after and says so in one sentence where that is
missing; nothing else in cardlab imports them. docs/how_to/environments.md lists what every
number of an observation means.
"""

from __future__ import annotations
