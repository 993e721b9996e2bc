# %% Record

from cardlab import Record, play_game

record = play_game("crazy_eights", ["heuristic", "random"], seed=36)
print(record.seats, [text for _, text in record.actions])
line = record.to_line()
print(line[:72], "...")
print(Record.from_line(line) == record)

#: ['heuristic', 'random'] ['2S', '2H', 'KH', '5H', '8S=D', 'AD', '3D', '3S', 'AS']
#: {"game":"crazy_eights","rules":1,"options":{"seats":2,"hand_size":5,"res ...
#: True


# %% Result

from cardlab import Table, play_game

record = play_game("crazy_eights", ["heuristic", "random"], seed=36)
print(record.result.returns, record.result.points)

table = Table("crazy_eights", seed=36)
print(table.record(["me", "you"]).result)  # the game is not over

#: [1.0, -1.0] [39.0, 0.0]
#: None


# %% append_records

from pathlib import Path

from cardlab import play_game
from cardlab.engine.records import append_records

agents = ["heuristic", "random"]
append_records("games.jsonl", *(play_game("crazy_eights", agents, seed=i) for i in range(10)))
append_records("games.jsonl", play_game("crazy_eights", agents, seed=10))
print(len(Path("games.jsonl").read_text().splitlines()), "lines")

#: 11 lines


# %% read_records

from pathlib import Path

from cardlab import play_game
from cardlab.engine.records import append_records, read_records

games = [play_game("crazy_eights", ["heuristic", "random"], seed=i) for i in range(5)]
append_records("games.jsonl", *games)
for number, record in read_records("games.jsonl"):
    print(f"line {number}: seed {record.seed}, returns {record.result.returns}")

Path("games.jsonl").write_text(games[0].to_line() + "\n{}\n")
damaged = []
print(len(list(read_records("games.jsonl", damaged=damaged))), "record,", damaged)

#: line 1: seed 0, returns [-1.0, 1.0]
#: line 2: seed 1, returns [0.0, 0.0]
#: line 3: seed 2, returns [-1.0, 1.0]
#: line 4: seed 3, returns [-1.0, 1.0]
#: line 5: seed 4, returns [1.0, -1.0]
#: 1 record, [(2, 'games.jsonl, line 2: not a game record: game: Field required')]
