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


# %% played_alone

from cardlab.arena.leaderboard import played_alone
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter, play_tournament

with Store("games.db") as store:
    plan = Plan.make("birds_of_a_feather", ["heuristic", "random"], games=10)
    play_tournament(plan, store, enter(plan, store))
    for game, sentence in played_alone(store).items():
        print(f"{game}: {sentence}")

#: birds_of_a_feather: birds_of_a_feather is played alone, so agents have no ratings there; compare them on the same deals with `cardlab tournament birds_of_a_feather AGENT AGENT`
