"""Measure every agent of the catalogue against `random` and keep the table that `agents` shows.

`python benchmarks/strength.py uno` measures those of one game, `... uno/uno_net` one agent of it,
`... missing` those that the table lacks.
`python benchmarks/strength.py tables` measures what the shipped tables are worth instead: the agent
that uses each, against the one that does without; the result goes into the JSON file beside it.
Names after `tables` measure those alone (`... tables agents/tables/koi_koi_terms`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cardlab.agents import catalog
from cardlab.agents.catalog import agents_for
from cardlab.arena.match import Match, play_match
from cardlab.arena.workers import default_workers
from cardlab.engine.registry import find_game, our_games

SEED = 2026
QUICK = 20_000  # games for agents that do not search
SEARCHING = {"crazy_eights": 4_000, "uno": 1_000, "koi_koi": 100, "cribbage": 100}
SLOW = {  # agents that search or ask large networks, and their games
    "determinised": 400,
    "oracle_open": 400,
    "crazy_eights_transformer": 4_000,
    "uno_transformer": 4_000,
    "uno_dqn": 4_000,
    "uno_dqn_open": 4_000,
    "uno_deep_sarsa": 4_000,
    "uno_deep_sarsa_open": 4_000,
    "koi_koi_supervised": 1_000,
    "koi_koi_point": 1_000,
    "koi_koi_win": 1_000,
    "cribbage_random_weights": 10_000,
}
TABLE_GAMES = 10_000
EXPERT = ("cribbage_expert:30", "hand_max_avg")
TABLES = {  # under agents or solvers: the agent that uses a table, and whom to measure it against
    "agents/tables/crazy_eights_tabular_q": ("tabular_q", "random"),
    "agents/tables/cribbage_greedy_pegging": ("pegging_max_avg_gained", "random"),
    "agents/tables/cribbage_pegging_mix": ("cribbage_mixed_pegging", "hand_max_avg"),
    "agents/tables/cribbage_pegging_values": ("cribbage_learned_pegging", "hand_max_avg"),
    "agents/tables/cribbage_strategy_weights": ("cribbage_weighted", "hand_max_avg"),
    "agents/tables/koi_koi_terms": ("koi_koi_linear", "heuristic"),
    "solvers/tables/cribbage_pegging": EXPERT,
    "solvers/tables/cribbage_tosses": EXPERT,
    "solvers/tables/cribbage_winning": EXPERT,
}


def measure_tables(names: list[str]) -> None:
    """Write how strong agents with the shipped tables are into the files beside the tables."""
    root = Path(catalog.__file__).parents[1]
    found: dict[tuple[str, ...], dict[str, str | int]] = {}
    for name in names:
        pair = TABLES[name]
        path = root / f"{name}.json"
        told = json.loads(path.read_text(encoding="utf-8"))
        if pair not in found:
            plan = Match.plan(told["game"], pair, TABLE_GAMES, SEED)
            result = play_match(plan, workers=default_workers())
            first = result.standings[0]
            low, high = first.score_interval or (first.score, first.score)
            found[pair] = {
                "agent": pair[0],
                "against": pair[1],
                "score": f"{100 * first.score:.1f} ± {50 * (high - low):.1f} %",
                "games": result.games,
                "seed": SEED,
            }
            print(f"{told['game']} {pair[0]} against {pair[1]}: {found[pair]['score']}")
        told["strength"] = found[pair]
        text = json.dumps(told, indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Play the matches of the games named, or of all, and keep the table next to the catalogue."""
    path = Path(catalog.__file__).with_name("strength.json")
    table: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    missing = sys.argv[1:] == ["missing"]
    for named in our_games() if missing else sys.argv[1:] or our_games():
        name, _, only = named.partition("/")
        if not only and not missing:
            table[name] = {}
        game = find_game(name)
        if game.start().seats < 2:
            table.pop(name, None)
            continue  # nobody to be measured against
        for entry in agents_for(game):
            if entry.name == "random" or only not in ("", entry.name):
                continue
            if missing and entry.usage in table[name]:
                continue
            games = SLOW.get(entry.name, SEARCHING[name] if entry.parameters else QUICK)
            plan = Match.plan(name, [entry.usage, "random"], games, SEED)
            result = play_match(plan, workers=default_workers())
            first = result.standings[0]
            low, high = first.score_interval or (first.score, first.score)
            margin = f" ± {50 * (high - low):.1f}" if high > low else ""
            table[name][entry.usage] = f"{100 * first.score:.1f}{margin} ({result.games:,} games)"
            print(f"{name} {entry.usage}: {table[name][entry.usage]}")
        lines = json.dumps(table, indent=2, ensure_ascii=False)
        path.write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["tables"]:
        unknown = set(sys.argv[2:]) - set(TABLES)
        if unknown:
            sys.exit(f"unknown table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
        measure_tables(sys.argv[2:] or list(TABLES))
    else:
        main()
