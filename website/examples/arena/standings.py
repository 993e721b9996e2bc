# %% Results, Standings

from cardlab.arena.match import Match, Shard, play_deals
from cardlab.arena.standings import Results, Standings

match = Match.plan("crazy_eights", ["random", "heuristic"], games=100)
results = Results([match])
results.add(play_deals(Shard(match, first=0, count=50, keep_records=True)))
print(results.games, "games of", results.planned, "planned")

table: Standings = results.table()
print(table.ranking())

#: 100 games of 100 planned
#: ['heuristic', 'random']


# %% Line, Cell

from cardlab.arena.match import Match, Shard, play_deals
from cardlab.arena.standings import Cell, Line, Results

match = Match.plan("crazy_eights", ["random", "heuristic"], games=100)
results = Results([match])
results.add(play_deals(Shard(match, first=0, count=50, keep_records=True)))
table = results.table()

best: Line = table.lines[0]
print(f"{best.agent}: {best.wins} wins, {best.losses} losses, score {best.score:.3f}")
print(f"rating {best.rating.elo:.0f}")

cell: Cell = table.cells["heuristic", "random"]
print(f"before random in {100 * cell.share:.1f} % of {cell.games} games")

#: heuristic: 53 wins, 24 losses, score 0.645
#: rating 68
#: before random in 64.5 % of 100 games


# %% outcome_of

from cardlab.arena.standings import outcome_of

who = [2, 0, 1]  # the agent on every seat
print(outcome_of(who, [0.0, 1.0, -1.0]))
print(outcome_of(who, [0.5, 0.5, -1.0]))  # agents 2 and 0 share the first place

#: ((0,), (2,), (1,))
#: ((0, 2), (1,))
