"""Learners and networks for Uno compared at equal games, each with one configuration.

Every entry plays the same number of games on the same kinds of tables (a random number of seats,
the rules of RLCard, encoding `fair`) against random seats, and is evaluated alike. The learning
algorithms differ in one entry each; so do the networks, all trained by deep Monte Carlo. Each entry
is a run of its own in a folder of that name, and resumes when it is started again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cardlab.engine.errors import CardlabError, suggest
from cardlab.games.uno.learning import deep_monte_carlo, policy_gradient
from cardlab.games.uno.learning import dqn as deep_q
from cardlab.games.uno.learning.runs import Common, Report, without_places
from cardlab.learning.runs import open_run, read_json, write_json

Entry = tuple[Callable[[Any, Path, Report], dict[str, Any]], Any]


@dataclass(frozen=True)
class Config(Common):
    """What all entries share; `minutes` are for each."""

    games: int = 2_000_000
    seats: str = "2-5"
    rules: str = "rlcard"
    only: str = ""  # names of entries, separated by commas; none: all
    stretches: int = 20
    evaluation_games: int = 10_000


def entries(config: Config) -> dict[str, Entry]:
    """Return what is compared: the training of each entry and its configuration."""
    shared = {name: value for name, value in asdict(config).items() if name != "only"}
    shared["evaluate_every"] = max(1, config.stretches // 4)
    dqn = deep_q.Config(encoding="fair", **shared)
    monte_carlo = deep_monte_carlo.Config(self_play=0.0, **shared)
    gradient = policy_gradient.Config(self_play=0.0, heuristic=0.0, **shared)
    wide: dict[str, Any] = {"network": "feedforward", "width": 512, "layers": 2}
    found: dict[str, Entry] = {
        "dqn": (deep_q.train, dqn),
        "deep_sarsa": (deep_q.train, replace(dqn, method="deep_sarsa")),
        "dqn_target_network": (deep_q.train, replace(dqn, target_every=500)),
        "dqn_curiosity": (deep_q.train, replace(dqn, curiosity=0.1)),
        "monte_carlo": (deep_monte_carlo.train, replace(monte_carlo, **wide)),
        "monte_carlo_trace": (deep_monte_carlo.train, replace(monte_carlo, **wide, trace=0.8)),
        "policy_gradient": (policy_gradient.train, replace(gradient, **wide)),
        "policy_gradient_colours": (policy_gradient.train, gradient),
    }
    for network in ("planes", "convolutional", "residual"):
        changed = replace(monte_carlo, **(wide | {"network": network}))
        found[f"monte_carlo_{network}"] = (deep_monte_carlo.train, changed)
    recurrent = replace(monte_carlo, **(wide | {"network": "recurrent", "encoding": "fair_log"}))
    found["monte_carlo_recurrent"] = (deep_monte_carlo.train, recurrent)
    found["monte_carlo_colours"] = (deep_monte_carlo.train, monte_carlo)
    return found


def run_all(
    config: Any, chosen: Mapping[str, Entry], folder: Path, report: Report
) -> dict[str, Any]:
    """Train all entries, each in a folder of its own, and return one line for each."""
    open_run(folder, without_places(config))
    table: dict[str, Any] = {}
    lines: dict[str, Any] = {}
    for name, (train_entry, settings) in chosen.items():
        where = folder / name
        result = read_json(where / "result.json")
        if result is None or result["games"] < settings.games:
            train_entry(settings, where, lambda _, *at, name=name: report(name, *at))
            result = read_json(where / "result.json")
        table[name] = {"games": result["games"], "scores": result["scores"]}
        lines[name] = f"{result['games']:,} games; " + ", ".join(
            f"{seats} {result['summary'][f'{config.rules}/random/{seats}'].partition(' of')[0]}"
            for seats in (2, 3, 4, 5)
            if f"{config.rules}/random/{seats}" in result["summary"]
        )
        write_json(folder / "table.json", table)
    return lines


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Train every entry; return its win shares by number of seats."""
    known = entries(config)
    names = [name.strip() for name in config.only.split(",") if name.strip()] or list(known)
    for name in names:
        if name not in known:
            raise CardlabError(suggest("entry", name, known))
    return run_all(config, {name: known[name] for name in names}, folder, report)
