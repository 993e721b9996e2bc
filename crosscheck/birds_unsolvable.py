"""Count the published deals of Birds of a Feather that cannot be solved, by a plain search.

    python crosscheck/birds_unsolvable.py                   seeds 0..9999: 24, in seconds
    python crosscheck/birds_unsolvable.py --reference       the published order of moves: minutes
    python crosscheck/birds_unsolvable.py --first -500000 --count 1000000

With `--reference` the nodes are counted as the published search counts them; over seeds 0..9999 the
median is 10,780, the mean 138,247, the maximum 88.0 million at seed 954.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.support.plain_birds_search import REFUTED, UNDECIDED, decide

KNOWN = {(0, 10_000): 24, (-500_000, 1_000_000): 1864}
CHUNK = 10_000


def main() -> int:
    """Count, print, and fail where the count is known to be another."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=10_000, help="how many seeds")
    parser.add_argument("--reference", action="store_true", help="moves in the published order")
    parser.add_argument("--bits", type=int, help="the table has 2**bits places, 16 bytes each")
    asked = parser.parse_args()
    if asked.count < 1:
        parser.error(f"--count {asked.count} is not possible; give 1 or more")
    bits = asked.bits or (27 if asked.reference else 24)
    began = time.process_time()
    all_nodes, lost = [], []
    end = asked.first + asked.count
    for first in range(asked.first, end, CHUNK):
        seeds = range(first, min(first + CHUNK, end))
        verdicts, nodes = decide(seeds, guided=not asked.reference, bits=bits)
        open_seeds = [seeds[i] for i in np.flatnonzero(verdicts == UNDECIDED)]
        if open_seeds:
            sys.stdout.write(f"undecided: {open_seeds}; try --bits {bits + 1}\n")
            return 1
        lost += [seeds[i] for i in np.flatnonzero(verdicts == REFUTED)]
        all_nodes.append(nodes)
    nodes = np.concatenate(all_nodes)
    seconds = time.process_time() - began
    if asked.count <= CHUNK:
        sys.stdout.write(f"{' '.join(map(str, lost))}\n")
    sys.stdout.write(
        f"{len(lost)} of the seeds {asked.first}..{end - 1} cannot be solved; nodes: median "
        f"{np.median(nodes):,.0f}, mean {nodes.mean():,.0f}, maximum {nodes.max():,} at seed "
        f"{asked.first + int(nodes.argmax())}; {seconds:.1f} s\n"
    )
    known = KNOWN.get((asked.first, asked.count), len(lost))
    if known != len(lost):
        sys.stdout.write(f"expected {known}\n")
    return int(known != len(lost))


if __name__ == "__main__":
    sys.exit(main())
