# %% Plan, enter, play_tournament

from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament

plan = Plan.make("crazy_eights", ["random", "heuristic", "tabular_q"], games=200, seed=1)
print(len(plan.matches), "pairings,", plan.deals, "deals each")

with Store("games.db") as store:
    entered = enter(plan, store, name="evening")
    results = play_tournament(plan, store, entered)
print(results.table().ranking())

#: 3 pairings, 100 deals each
#: ['tabular_q', 'heuristic', 'random']


# %% resume

from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament, resume

plan = Plan.make("crazy_eights", ["random", "heuristic"], games=200)
with Store("games.db") as store:
    entered = enter(plan, store)
    play_tournament(plan, store, entered, stop=lambda results: results.games >= 10)
    print(store.count(entered.id) < 200)

    entered = resume(plan, store)  # the latest with the same settings
    print(play_tournament(plan, store, entered).games, "games of", entered.name)

#: True
#: 200 games of crazy_eights-1


# %% FORMATS

from cardlab.arena.tournament import FORMATS, Plan

for format in FORMATS:
    plan = Plan.make("crazy_eights", ["heuristic", "random", "tabular_q"], format=format)
    print(f"{format}: {[match.agents for match in plan.matches]}")

#: round-robin: [('heuristic', 'random'), ('heuristic', 'tabular_q'), ('random', 'tabular_q')]
#: gauntlet: [('heuristic', 'random'), ('heuristic', 'tabular_q')]
