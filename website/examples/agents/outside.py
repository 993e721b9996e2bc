# %% AgentFailed

from pathlib import Path

from cardlab import play_game
from cardlab.agents.outside import AgentFailed

Path("silent.py").write_text("print('hello')")
try:
    play_game("crazy_eights", ["cmd:python silent.py", "random"], seed=36)
except AgentFailed as error:
    print(f"seat {error.seat}: {error}")

#: seat 0: garbage: b'hello' is not JSON


# %% Limits, DEFAULT_LIMITS

from cardlab.agents.outside import DEFAULT_LIMITS, Limits, OutsideAgent

print(DEFAULT_LIMITS.move_seconds, "s a move,", DEFAULT_LIMITS.memory_mb, "MB")
strict = Limits(move_seconds=0.5, game_seconds=20, memory_mb=256, log_folder="logs").check()
agent = OutsideAgent("cmd:python -c pass", strict)
print(agent.limits.move_seconds, "s a move,", agent.limits.memory_mb, "MB")

#: 10.0 s a move, 2048 MB
#: 0.5 s a move, 256 MB


# %% OutsideAgent

from pathlib import Path

from cardlab import play_game
from cardlab.agents.outside import Limits, OutsideAgent

Path("first.py").write_text("""
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready"}', flush=True)
    if message["type"] == "turn":
        answer = {"type": "action", "action": message["legal"][0]["id"]}
        print(json.dumps(answer), flush=True)
    if message["type"] == "bye":
        break
""")
agent = OutsideAgent("cmd:python first.py", Limits(move_seconds=2))
record = play_game("crazy_eights", [agent, "random"], seed=36)
print(record.seats, record.result.returns)

#: ['cmd:python first.py', 'random'] [1.0, -1.0]


# %% PROTOCOL

from cardlab import find_game
from cardlab.agents.outside import PROTOCOL, OutsideAgent

hello = OutsideAgent("cmd:python -c pass").hello(
    find_game("crazy_eights"), {"seats": 2}, seat=0, seats=2, seed=1
)
print(hello["protocol"] == PROTOCOL)  # the version that the hello names
print(list(hello))

#: True
#: ['type', 'protocol', 'game', 'rules', 'options', 'seats', 'seat', 'seed', 'move_seconds', 'game_seconds']


# %% Program

from cardlab.agents.outside import DEFAULT_LIMITS, Program

echo = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
program = Program(["python", "-c", echo], DEFAULT_LIMITS)
print(program.exchange({"type": "turn", "seat": 1}, seconds=5))
program.kill()

#: {'type': 'turn', 'seat': 1}


# %% as_command

from pathlib import Path

from cardlab.agents.outside import as_command

Path("agent.py").write_text("...")
print(as_command("agent.py --depth 3"))

#: cmd:python agent.py --depth 3


# %% dismiss_all

from pathlib import Path

from cardlab import play_game
from cardlab.agents.outside import dismiss_all

Path("last.py").write_text("""
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready"}', flush=True)
    if message["type"] == "turn":
        answer = {"type": "action", "action": message["legal"][-1]["text"]}
        print(json.dumps(answer), flush=True)
    if message["type"] == "bye":
        break
""")
for seed in range(3):  # one process plays all games
    record = play_game("crazy_eights", ["cmd:python last.py", "random"], seed=seed)
    print(record.result.points)
dismiss_all()  # end it now, not when Python ends

#: [9.0, 0.0]
#: [0.0, 0.0]
#: [0.0, 0.0]
