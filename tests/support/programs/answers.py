"""An outside agent that answers as it is told: argv holds the bytes for hello and turn, in hex."""

import json
import sys

answers = {"hello": bytes.fromhex(sys.argv[1]), "turn": bytes.fromhex(sys.argv[2])}
for line in sys.stdin:
    kind = json.loads(line)["type"]
    if kind == "bye":
        break
    if kind in answers:
        sys.stdout.buffer.write(answers[kind] + b"\n")
        sys.stdout.flush()
