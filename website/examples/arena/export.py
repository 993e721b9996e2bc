# %% export_games

import csv

from cardlab.arena.export import export_games
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament
from cardlab.engine.records import read_records

with Store("games.db") as store:
    plan = Plan.make("crazy_eights", ["heuristic", "random"], games=20)
    play_tournament(plan, store, enter(plan, store))
    print(export_games(store, store.tournaments(), "games.csv"), "games")
    export_games(store, store.tournaments(), "games.jsonl")

with open("games.csv", newline="") as file:
    row = next(csv.DictReader(file))
print(row["tournament"], row["seats"], row["points"], row["plies"])
_, record = next(read_records("games.jsonl"))
print(record.seats)

#: 20 games
#: crazy_eights-1 ["heuristic", "random"] [6.0, 0.0] 9
#: ['heuristic', 'random']


# %% FORMATS

from cardlab.arena.export import FORMATS

print(FORMATS)

#: ('.jsonl', '.csv', '.parquet')
