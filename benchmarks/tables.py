"""Measure what the shipped tables are worth: the agent that uses each, against one without it.

`python benchmarks/tables.py` measures all, `... cribbage/discards` one. The result goes into the
JSON file beside the table. All of them take hours.
"""

from __future__ import annotations

import json
import sys

from cardlab.arena.match import Match, play_match
from cardlab.arena.workers import default_workers
from cardlab.engine.registry import find_package

SEED = 2026
GAMES = 10_000
EXPERT = ("cribbage_expert:30", "hand_max_avg")
TABLES = {  # in a game's data: the agent that uses a table, and whom to measure it against
    "crazy_eights/tabular_q": ("tabular_q", "random"),
    "cribbage/greedy_pegging": ("pegging_max_avg_gained", "random"),
    "cribbage/pegging_mix": ("cribbage_mixed_pegging", "hand_max_avg"),
    "cribbage/pegging_values": ("cribbage_learned_pegging", "hand_max_avg"),
    "cribbage/strategy_weights": ("cribbage_weighted", "hand_max_avg"),
    "koi_koi/linear": ("koi_koi_linear", "heuristic"),
    "cribbage/discards": EXPERT,
    "cribbage/pegging_statistics": EXPERT,
    "cribbage/win_probability": EXPERT,
}


def measure(names: list[str]) -> None:
    """Write how strong agents with the shipped tables are into the files beside the tables."""
    found: dict[tuple[str, ...], dict[str, str | int]] = {}
    for name in names:
        game, _, table = name.partition("/")
        pair = TABLES[name]
        path = find_package(game).shipped(f"{table}.json")
        description = json.loads(path.read_text(encoding="utf-8"))
        if pair not in found:
            result = play_match(Match.plan(game, pair, GAMES, SEED), workers=default_workers())
            first = result.standings[0]
            low, high = first.score_interval or (first.score, first.score)
            found[pair] = {
                "agent": pair[0],
                "against": pair[1],
                "score": f"{100 * first.score:.1f} ± {50 * (high - low):.1f} %",
                "games": result.games,
                "seed": SEED,
            }
            print(f"{game} {pair[0]} against {pair[1]}: {found[pair]['score']}")
        description["strength"] = found[pair]
        text = json.dumps(description, indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - set(TABLES)
    if unknown:
        sys.exit(f"unknown table {', '.join(sorted(unknown))}; tables: {', '.join(TABLES)}")
    measure(sys.argv[1:] or list(TABLES))
