# %% replay

from cardlab import CardlabError, play_game
from cardlab.engine.replay import replay

record = play_game("crazy_eights", ["heuristic", "random"], seed=36)
for table in replay(record):
    if len(table.actions) in (0, 3):
        print(table.state)

wrong = record.model_copy(update={"actions": [(0, "AC"), *record.actions[1:]]})
try:
    list(replay(wrong))
except CardlabError as error:
    print(error)

#: ply 0: top KS, suit S, stock 41
#:   seat 0* AS 2S 3D 8S KH
#:   seat 1  2H 5H 6H 7H TS
#: ply 3: top KH, suit H, stock 41
#:   seat 0  AS 3D 8S
#:   seat 1* 5H 6H 7H TS
#: crazy_eights, ply 0: seat 0 cannot take action 0 (AC); legal: AS (3), 2S (7), KH (46), 8S=C (60), 8S=D (61), 8S=H (62), 8S=S (63)
