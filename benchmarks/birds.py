"""Measure the solver of Birds of a Feather: deals a CPU second, nodes, and the slowest deal.

Seeds 0..9999, 100000..199999, and a range on which no weight of the solver was chosen; with `--all`
also -500000..499999, with the slowest deal.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from cardlab.games.birds_of_a_feather.solvers.solver import solve_seeds

RANGES = (range(0, 10_000), range(100_000, 200_000), range(10_000_000, 10_100_000))
WHOLE = range(-500_000, 500_000)
SLOW = 10_000  # nodes from which a deal is worth timing alone


def measure(seeds: range) -> None:
    """Settle a range of seeds and print what it took."""
    began = time.process_time()
    solvable, nodes, disconnected = solve_seeds(seeds.start, len(seeds))
    seconds = time.process_time() - began
    print(
        f"seeds {seeds.start}..{seeds.stop - 1}: {len(seeds) / seconds:,.0f} deals a CPU second, "
        f"{1e9 * seconds / nodes.sum():.0f} ns a node"
    )
    print(
        f"  nodes: mean {nodes.mean():.1f}, median {np.median(nodes):.0f}, most {nodes.max():,}; "
        f"{np.mean(nodes == 16):.1%} solved without a step back"
    )
    proofs = nodes[~solvable & ~disconnected]
    print(
        f"  unsolvable: {np.count_nonzero(~solvable):,}, {np.count_nonzero(disconnected):,} at "
        f"sight; the other {len(proofs)} take {proofs.sum() / nodes.sum():.0%} of all nodes, "
        f"solvable deals {nodes[solvable].mean():.1f} each"
    )
    if seeds is WHOLE:
        slowest, which = 0.0, 0
        for place in np.flatnonzero(nodes >= SLOW).tolist():
            began = time.process_time()
            solve_seeds(seeds[place], 1)
            spent = time.process_time() - began
            if spent > slowest:
                slowest, which = spent, seeds[place]
        print(f"  slowest deal: seed {which}, {slowest:.2f} s of CPU time")


def main() -> None:
    """Print the figures of the usual ranges, and of the whole million if asked."""
    solve_seeds(0, 1)  # compiled or loaded before the clock runs
    for seeds in (*RANGES, *([WHOLE] if "--all" in sys.argv[1:] else [])):
        measure(seeds)


if __name__ == "__main__":
    main()
