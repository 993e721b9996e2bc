# %% rate, Rating, Outcome

from cardlab.arena.ratings import Outcome, Rating, rate

agents = ["ann", "bob", "cem"]
ann_before_bob: Outcome = ((0,), (1,))  # groups that share a place, the best first
bob_before_cem: Outcome = ((1,), (2,))
cem_before_ann: Outcome = ((2,), (0,))
deals = {
    deal: {ann_before_bob: 2, bob_before_cem: 1 + deal % 2, cem_before_ann: deal % 2}
    for deal in range(40)
}

ratings: list[Rating] = rate(agents, deals)
for one in ratings:
    low, high = one.interval
    print(f"{one.agent} {one.elo:+.0f} [{low:+.0f}, {high:+.0f}] rank {one.rank} {one.groups}")

#: ann +192 [+152, +250] rank (1, 1) a
#: bob -22 [-29, -16] rank (2, 2) b
#: cem -170 [-221, -136] rank (3, 3) c
