"""The system clock jumps while people play: nothing but the dates of records may depend on it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from attacks.case import Outcome, Setting
from attacks.programs import Server
from attacks.visitors import Party
from attacks.wire import percentile

LIBRARIES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1")
JUMPS = ("+2d", "-2d", "+400d", "-400d", "+0", "+3600", "-1", "+0")
PAUSE = 2.5  # seconds that each jump is played in: it is noticed within one
MOST_SECONDS = 30.0  # until a move is acknowledged: waits that the clock counts would be longer


async def clock_jumps(setting: Setting) -> Outcome:
    """The clock of a server jumps by seconds, days and years, to and fro."""
    outcome = Outcome()
    found = [path for pattern in LIBRARIES for path in Path("/").glob(pattern[1:])]
    if not found:
        outcome.skipped = "libfaketime is not installed (Debian's package libfaketime)"
        return outcome
    clock = setting.folder / "clock"
    clock.write_text("+0\n")
    server = Server(
        setting.folder,
        LD_PRELOAD=str(found[0]),
        FAKETIME_TIMESTAMP_FILE=str(clock),
        FAKETIME_CACHE_DURATION="1",  # seconds until it looks at the file again
        DONT_FAKE_MONOTONIC="1",  # the system's own monotonic clock does not jump either
    )
    async with server:
        party = Party(server, 3, setting.seed)
        async with party:
            outcome.lost += await party.everybody_plays()
            for jump in JUMPS[: setting.count(len(JUMPS), 2)]:
                outcome.tries += 1
                clock.write_text(f"{jump}\n")
                await asyncio.sleep(PAUSE)
                lost = await party.everybody_plays(MOST_SECONDS)
                outcome.lost += [f"after a jump to {jump}: {sentence}" for sentence in lost]
                trouble = await server.settled(MOST_SECONDS)
                outcome.demand(trouble is None, f"after a jump to {jump}: {trouble}")
            outcome.lost += await party.end()
        outcome.lost += server.tracebacks()
        most = max(party.seconds)
        outcome.demand(most < MOST_SECONDS, f"a move was acknowledged after {most:.1f} s")
        outcome.figures |= {
            "moves acknowledged": party.acknowledged,
            "p99 ms": round(1000 * percentile(party.seconds, 99)),
        }
    return outcome
