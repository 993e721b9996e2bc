# %% Store, Entered

from cardlab.arena.store import Entered, Store
from cardlab.arena.tournament import Plan, enter, play_tournament

with Store("games.db") as store:
    plan = Plan.make("crazy_eights", ["heuristic", "random"], games=20)
    play_tournament(plan, store, enter(plan, store, name="evening"))

with Store("games.db", read_only=True) as store:
    for entered in store.tournaments("crazy_eights"):
        print(entered.name, entered.settings["agents"], store.count(entered.id), "games")
    evening: Entered = store.find("evening")
    pairing, game = next(store.games(evening.id, plan.matches))
    print("finished:", evening.finished, "- first game:", game.returns)

#: evening ['heuristic', 'random'] 20 games
#: finished: True - first game: (1.0, -1.0)


# %% StoreError

from cardlab.arena.store import Store, StoreError

try:
    Store("elsewhere.db", read_only=True)
except StoreError as error:
    print(error)

#: store elsewhere.db does not exist; name another with --store, or make it by playing a tournament


# %% StoreUnavailable, TROUBLE (needs psycopg)

from cardlab.arena.store import TROUBLE, Store, StoreUnavailable

try:
    Store("postgresql://ann@localhost:1/games")  # no database listens there
except StoreUnavailable as error:
    print(error.public == TROUBLE)  # a server shows strangers this, and logs `error`
    print(error.public)

#: True
#: games cannot be read or kept at the moment; try again in a minute


# %% default_store

from pathlib import Path

from cardlab.arena.store import default_store

print(Path(default_store()).name)  # in the user's data folder

#: arena.db


# %% SCHEMA

import sqlite3

from cardlab.arena.store import SCHEMA, Store

Store("games.db").close()
with sqlite3.connect("games.db") as database:
    print(database.execute("SELECT schema FROM cardlab").fetchone() == (SCHEMA,))

#: True
