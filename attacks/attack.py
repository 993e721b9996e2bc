"""Attack a real `cardlab serve` and real tournaments, and tell what was lost.

    python -m attacks.attack [--quick] [--only CASE ...] [--json FILE] [--seed N]

Everything happens on this machine's loopback, in a temporary folder, bounded in number and time.
Cases that measure time run alone, the others side by side. The exit code is 1 if anything was
lost; Ctrl-C ends the suite and all it has started. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

from attacks import cheats, clocks, flood, fuzz, kills, slow, stores, tournaments
from attacks.case import Case, Outcome, Setting, losses, table
from attacks.programs import Failed, Server
from attacks.visitors import Party

CASES = (
    Case("flood", "four attacks at once while somebody plays", flood.four_at_once, alone=True),
    Case("slow and forged", "slow, half-closed, oversized, forged, too many", slow.slow_and_forged),
    Case("damaged rows", "rows of the store that no server wrote", stores.damaged_rows),
    Case("damaged pages", "bytes of the store overwritten", stores.damaged_pages),
    Case("disk full", "no space for some seconds while people play", stores.disk_full),
    Case("clock", "the system clock jumps while people play", clocks.clock_jumps),
    Case("web fuzz", "thousands of broken requests, messages and records", fuzz.web_fuzzed),
    Case("server killed", "kill -9 of the server in mid-game", kills.server_killed),
    Case("workers killed", "kill -9 of those who think", kills.workers_killed),
    Case("database stopped", "PostgreSQL stopped in mid-game", kills.postgres_stopped),
    Case("tournament killed", "kill -9 of it or its workers", tournaments.tournament_killed),
    Case("tournament, disk full", "no space left in mid-way", tournaments.tournament_disk_full),
    Case("damaged tournaments", "bytes overwritten, ends cut off", tournaments.damaged_tournaments),
    Case("programs that cheat", "they remember deals, or guess seeds", cheats.curious),
    Case("programs that break", "they crash, hang, flood, lie, fork", cheats.misbehaving),
    Case("store held", "another program holds the store for up to 30 s", kills.store_held),
)
SIDE_BY_SIDE = 3
MOST_FILES = 8192
BY_CTRL_C = 130


def main() -> None:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    names = [file_name(case) for case in CASES]
    parser.add_argument("--quick", action="store_true", help="a few tries of each case")
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="CASE", help=f"of {', '.join(names)}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures and losses")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")
    wanted = parser.parse_args()
    chosen = [
        case
        for case, name in zip(CASES, names, strict=True)
        if wanted.only is None or name in wanted.only
    ]
    _allow_many_files()
    began = time.monotonic()
    runner = asyncio.Runner()
    try:
        with tempfile.TemporaryDirectory(
            prefix="cardlab-attack-", ignore_cleanup_errors=True
        ) as folder:
            outcomes = runner.run(_run_all(chosen, Path(folder), wanted.quick, wanted.seed))
    except (KeyboardInterrupt, asyncio.CancelledError):
        _say("stopped")
        os._exit(BY_CTRL_C)  # all programs have ended; a thread may still compute
    runner.close()
    rows = [(case.name, outcomes[case.name]) for case in chosen]
    print(table(rows))
    if sentences := losses(rows):
        print(f"\n{sentences}")
    lost = sum(len(outcome.lost) for outcome in outcomes.values())
    print(f"\n{lost or 'nothing'} lost in {time.monotonic() - began:.0f} s")
    if wanted.json:
        found = {name: outcome.to_dict() for name, outcome in rows}
        wanted.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if lost else 0)


async def _run_all(cases: list[Case], folder: Path, quick: bool, seed: int) -> dict[str, Outcome]:
    """Return the outcome of every case, by name."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    outcomes: dict[str, Outcome] = {}
    places = asyncio.Semaphore(SIDE_BY_SIDE)

    async def run(case: Case) -> None:
        async with places:
            own = folder / file_name(case)
            own.mkdir()
            _say(f"{case.name}: {case.what}")
            began = time.monotonic()
            try:
                outcome = await case.run(Setting(own, quick, seed))
            except Failed as error:
                outcome = Outcome(1, [str(error)])
            except Exception as error:
                outcome = Outcome(1, [f"{type(error).__name__}: {error}"])
            outcomes[case.name] = outcome
            _say(f"{case.name}: {len(outcome.lost)} lost, {time.monotonic() - began:.0f} s")

    await _warm_up(folder)
    for case in cases:
        if case.alone:
            await run(case)
    async with asyncio.TaskGroup() as group:
        for case in cases:
            if not case.alone:
                group.create_task(run(case))
    return outcomes


async def _warm_up(folder: Path) -> None:
    """Have everything compiled that the cases play: later starts are quick, and comparable."""
    own = folder / "warm-up"
    own.mkdir()
    _say("warm-up: a game of each kind")
    async with Server(own) as server:
        party = Party(server, 1, 0)
        async with party:
            await party.everybody_plays(600)
            lost = await party.end()
    if lost:
        raise Failed(f"the server does not even work in peace: {lost[0]}")


def file_name(case: Case) -> str:
    """Return the name of a case in one word."""
    return case.name.replace(",", "").replace(" ", "-")


def _allow_many_files() -> None:
    """Let this process hold as many connections as the cases open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1,localhost,::1"


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
