# %% leaderboards, Board

from cardlab.arena.leaderboard import Board, leaderboards
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament

with Store("games.db") as store:
    for agents in (["heuristic", "random"], ["tabular_q", "heuristic"]):
        plan = Plan.make("crazy_eights", agents, games=200)
        play_tournament(plan, store, enter(plan, store))
    board: Board = leaderboards(store, "crazy_eights")[0]

print(board.tournaments, "tournaments,", board.games, "games")
for one in board.ratings:
    print(f"{one.agent} {one.elo:+.0f}")

#: 2 tournaments, 400 games
#: heuristic +57
#: tabular_q +7
#: random -64
