#!/usr/bin/env python3
"""Takes more and more memory."""

import sys
import time

for line in sys.stdin:
    if '"type":"hello"' in line:
        sys.stdout.write('{"type":"ready"}\n')
        sys.stdout.flush()
    elif '"type":"turn"' in line:
        held = []
        while True:
            held.append(bytearray(b"x" * (20 << 20)))
            time.sleep(0.05)
