# %% Match, play_match

from cardlab.arena.match import Match, play_match

match = Match.plan("crazy_eights", ["heuristic", "random"], games=200, seed=1)
print(match.deals, "deals, each with", [match.seating(rotation) for rotation in match.rotations])

result = play_match(match)
for one in result.standings:
    low, high = one.score_interval
    print(f"{one.agent}: {one.score:.3f} of a win a game, between {low:.3f} and {high:.3f}")

#: 100 deals, each with [['heuristic', 'random'], ['random', 'heuristic']]
#: heuristic: 0.603 of a win a game, between 0.547 and 0.658
#: random: 0.398 of a win a game, between 0.342 and 0.453


# %% MatchResult, Standing

from cardlab.arena.match import Match, MatchResult, Standing, play_match

result: MatchResult = play_match(Match.plan("crazy_eights", ["heuristic", "random"], games=200))
print(result.games, "games, stopped early:", result.stopped)

first: Standing = result.standings[0]
print(first.agent, first.wins, "wins", first.losses, "losses", first.ties, "ties")
print(f"{first.points:.1f} points a game, {first.forfeits} games given away")
print(list(result.to_dict()))

#: 200 games, stopped early: False
#: heuristic 103 wins 51 losses 46 ties
#: 13.1 points a game, 0 games given away
#: ['game', 'options', 'seed', 'deals', 'games', 'planned', 'seconds', 'standings', 'salt']


# %% SavingFailed

from cardlab.arena.match import Match, SavingFailed, play_match
from cardlab.engine.records import append_records

match = Match.plan("crazy_eights", ["heuristic", "random"], games=200)
try:
    play_match(match, save=lambda records: append_records("no/games.jsonl", *records))
except SavingFailed as error:
    print(error)
    print(error.result.games, "of", error.result.planned, "games were played")

#: no/games.jsonl cannot be written: folder no does not exist; make it with mkdir -p no; the match ended after 4 games
#: 4 of 200 games were played


# %% Shard, play_deals

from cardlab.arena.match import Match, Shard, play_deals

match = Match.plan("crazy_eights", ["heuristic", "random"], games=200)
played = play_deals(Shard(match, first=11, count=5, keep_records=True))

print(played.returns.shape, "deals, seatings, seats")
print(played.returns[0].tolist(), "the first of them: returns by seating and seat")
game = played.games[0]
print("deal", game.deal, "rotation", game.rotation, "points", game.points)

#: (5, 2, 2) deals, seatings, seats
#: [[1.0, -1.0], [-1.0, 1.0]] the first of them: returns by seating and seat
#: deal 11 rotation 0 points (12.0, 0.0)


# %% shares

import numpy as np

from cardlab.arena.match import shares

returns = np.array([[1.0, -1.0, 0.0], [0.5, 0.5, -1.0]])  # two games of three seats
print(shares(returns))

#: [[1.  0.  0. ]
#:  [0.5 0.5 0. ]]
