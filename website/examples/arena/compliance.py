# %% check_program, Finding

import sys
from pathlib import Path

from cardlab.arena.compliance import Finding, check_program

PROGRAM = """
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready"}', flush=True)
    elif message["type"] == "turn":
        first = message["legal"][0]["id"]
        print(json.dumps({"type": "action", "action": first}), flush=True)
    elif message["type"] == "bye":
        break
"""
Path("my_agent.py").write_text(PROGRAM)

findings: list[Finding] = check_program(f"{sys.executable} my_agent.py", "crazy_eights")
for one in findings:
    print("passed:" if one.passed else "failed:", one.check)

last = check_program("echo hello", "crazy_eights")[-1]
print(last.passed, last.fix.partition(";")[0])

#: passed: starts, and answers hello with ready
#: passed: plays 2 games in a row on seat 0
#: passed: plays 2 games in a row on seat 1
#: passed: learns of a game that another seat forfeited
#: passed: plays the same with the same seed
#: passed: ends by itself when it reads bye
#: passed: ends by itself at the end of its input
#: False garbage: b'hello' is not JSON
