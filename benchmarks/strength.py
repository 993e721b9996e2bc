"""Measure every agent of the catalogue against `random` and keep the table that `agents` shows."""

from __future__ import annotations

import json
from pathlib import Path

from cardlab.agents import catalog
from cardlab.agents.catalog import agents_for
from cardlab.arena.match import Match, play_match
from cardlab.arena.workers import default_workers
from cardlab.games import GAMES, find_game

SEED = 2026
GAMES_A_PAIR = {"heuristic": 20_000}
OTHERS = 4_000


def main() -> None:
    """Play the matches and write the table next to the catalogue."""
    table: dict[str, dict[str, str]] = {}
    for name in GAMES:
        game = find_game(name)
        if game.start().seats < 2:
            continue  # nobody to be measured against
        for entry in agents_for(game):
            if entry.name == "random":
                continue
            games = GAMES_A_PAIR.get(entry.name, OTHERS)
            plan = Match.plan(name, [entry.usage, "random"], games, SEED)
            result = play_match(plan, workers=default_workers())
            first = result.standings[0]
            half = (first.score_interval[1] - first.score_interval[0]) / 2
            text = f"{100 * first.score:.1f} ± {100 * half:.1f} ({result.games:,} games)"
            table.setdefault(name, {})[entry.usage] = text
            print(f"{name} {entry.usage}: {text}, {first.milliseconds:.2f} ms a move")
    path = Path(catalog.__file__).with_name("strength.json")
    path.write_text(json.dumps(table, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
