"""Measure every agent of the catalogue against `random` and keep the table that `agents` shows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cardlab.agents import catalog
from cardlab.agents.catalog import agents_for
from cardlab.arena.match import Match, play_match
from cardlab.arena.workers import default_workers
from cardlab.games import GAMES, find_game

SEED = 2026
QUICK = 20_000  # games for agents that do not search
SEARCHING = {"crazy_eights": 4_000, "uno": 1_000, "koi_koi": 100, "cribbage": 100}
SLOW = {"determinised": 400, "oracle_open": 400}


def main() -> None:
    """Play the matches of the games named, or of all, and keep the table next to the catalogue."""
    path = Path(catalog.__file__).with_name("strength.json")
    table: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    for name in sys.argv[1:] or GAMES:
        table[name] = {}
        game = find_game(name)
        if game.start().seats < 2:
            del table[name]
            continue  # nobody to be measured against
        for entry in agents_for(game):
            if entry.name == "random":
                continue
            games = SLOW.get(entry.name, SEARCHING[name]) if entry.parameters else QUICK
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
    main()
