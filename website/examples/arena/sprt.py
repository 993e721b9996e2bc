# %% Test, play_sprt

from cardlab.arena.sprt import Test, play_sprt
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan

test = Test(elo0=0, elo1=50)  # no stronger, or stronger by 50 nElo?
plan = Plan.make("crazy_eights", ["heuristic", "random"], games=4000, format="sprt")
with Store("games.db") as store:
    verdict = play_sprt(plan, test, store)

print(verdict.accepted, "after", 2 * sum(verdict.counts), "games")

#: H1 after 62 games


# %% judge, Verdict

from cardlab.arena.sprt import Test, Verdict, judge

counts = (12, 40, 96, 71, 31)  # pairs of games in which A won 0, 1/2, 1, 3/2 and 2 games
verdict: Verdict = judge(counts, Test(elo0=0, elo1=10))

low, high = verdict.bounds
print(f"log-likelihood ratio {verdict.llr:.2f}, decided at {low:.2f} or {high:.2f}")
print(f"nElo {verdict.nelo:.0f} +- {verdict.nelo_margin:.0f}, accepted: {verdict.accepted}")

#: log-likelihood ratio 2.38, decided at -2.94 or 2.94
#: nElo 66 +- 30, accepted: None


# %% read_counts

from cardlab.arena.sprt import Test, judge, read_counts

counts = read_counts("379,10170,21828,10640,343")
print(counts)
print(judge(counts, Test(elo0=0, elo1=5)).accepted)

#: (379, 10170, 21828, 10640, 343)
#: None
