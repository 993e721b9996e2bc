# %% play_game

from cardlab import play_game

record = play_game("crazy_eights", ["heuristic", "random", "random"], seed=27, options={"seats": 3})
print(len(record.actions), "moves:", *(text for _, text in record.actions))
print(record.result)

#: 13 moves: 6H KH 8S=H 4H TH AH 8C=D KD 5D TD TS 3S 5S
#: returns=[1.0, -0.5, -0.5] points=[59.0, 0.0, 0.0]
