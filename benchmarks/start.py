"""How long commands take to start, with an empty cache of kernels (cold) and a full one (warm).

`play` until its first table is printed, `match` of 10 games from start to end, `serve` until a
table opened in it shows its first position. Each number is the median of `--repeat` starts.

    python benchmarks/start.py --games 10 --repeat 3 uno koi_koi
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

from websockets.sync.client import connect

from cardlab.engine.registry import find_game, our_games

PROMPT = b"your move"
SECONDS = 120  # to wait for an answer
Measure = Callable[[str, dict[str, str]], float | None]


def cardlab(*words: str) -> list[str]:
    return [sys.executable, "-m", "cardlab", *words]


def play(game: str, env: dict[str, str]) -> float:
    """Return the seconds until `play` shows its first table."""
    began = time.perf_counter()
    with subprocess.Popen(
        cardlab("play", game, "--seed", "1"),
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin
        assert process.stdout
        read_until(process.stdout, PROMPT)
        took = time.perf_counter() - began
        process.communicate(b"q\n")
    return took


def read_until(stream: IO[bytes], what: bytes) -> None:
    seen = b""
    while what not in seen:
        piece = os.read(stream.fileno(), 4096)
        if not piece:
            raise SystemExit(f"ended before {what.decode()!r}: {seen.decode()}")
        seen += piece


def match(game: str, env: dict[str, str]) -> float | None:
    """Return the seconds of a match of ten games, None for a game with one seat."""
    if int(find_game(game).fresh(**find_game(game).read_options({}))[0].seats) < 2:
        return None
    began = time.perf_counter()
    words = cardlab("match", game, "random", "heuristic", "--games", "10")
    subprocess.run(words, env=env, check=True, capture_output=True)
    return time.perf_counter() - began


def serve(game: str, env: dict[str, str]) -> float:
    """Return the seconds until a table opened in a new server shows its first position."""
    seats = int(find_game(game).fresh(**find_game(game).read_options({}))[0].seats)
    wish = {
        "game": game,
        "options": {},
        "seats": [{"person": "Ann"}, *[{"agent": "heuristic"}] * (seats - 1)],
        "seed": 1,
    }
    began = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            cardlab("serve", "--port", "0", "--store", f"{folder}/web.db"),
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            open_table(process, wish)
            took = time.perf_counter() - began
        finally:
            process.terminate()
    return took


def open_table(process: subprocess.Popen[bytes], wish: dict[str, object]) -> None:
    """Open a table in a server that starts, and wait until its first position is shown."""
    assert process.stdout
    address = process.stdout.readline().decode().split()[3].rstrip("/")
    head = {"content-type": "application/json"}
    ask = urllib.request.Request(f"{address}/api/tables", json.dumps(wish).encode(), head)
    with urllib.request.urlopen(ask, timeout=SECONDS) as answer:
        table = json.load(answer)
    with connect(f"ws{address.removeprefix('http')}/api/tables/{table['id']}/socket") as line:
        line.send(json.dumps({"type": "join", "secret": table["seats"][0]["secret"]}))
        while json.loads(line.recv(SECONDS))["type"] != "view":
            pass


MEASURES: dict[str, Measure] = {"play": play, "match": match, "serve": serve}


def median(measure: Measure, game: str, repeat: int, cache: str | None) -> float | None:
    """Return the median of some starts, each with an empty cache if none is given."""
    found = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            home = {"XDG_DATA_HOME": folder, "CARDLAB_CACHE_DIR": cache or f"{folder}/kernels"}
            found.append(measure(game, {**os.environ, **home}))
    times = [seconds for seconds in found if seconds is not None]
    return statistics.median(times) if times else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", help="default: all")
    parser.add_argument("--repeat", type=int, default=3, help="starts for each number")
    parser.add_argument("--only", choices=["cold", "warm"], help="only one of the two")
    given = parser.parse_args()
    kinds = [kind for kind in ("cold", "warm") if given.only in (None, kind)]
    columns = [(name, kind) for name in MEASURES for kind in kinds]
    print("| game | " + " | ".join(f"{name}, {kind}" for name, kind in columns) + " |")
    print("|---|" + "--:|" * len(columns))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as full:
        for game in given.games or our_games():
            if "warm" in kinds:
                env = {**os.environ, "CARDLAB_CACHE_DIR": full}
                subprocess.run(cardlab("warmup", game), env=env, check=True, capture_output=True)
            cells = []
            for name, kind in columns:
                cache = str(Path(full)) if kind == "warm" else None
                took = median(MEASURES[name], game, given.repeat, cache)
                cells.append("-" if took is None else f"{took:.1f} s")
            print(f"| {game} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
