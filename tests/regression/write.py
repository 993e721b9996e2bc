"""Regression data: what every game and agent did, to be compared with what they do now.

    python tests/regression/write.py [--game NAME] [FOLDER]           writes the data
    python tests/regression/write.py --check [--game NAME] [FOLDER]   compares with it

FOLDER is the one beside this script where none is given. The README says when to write it again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cases
import differences
import numpy as np
import version_0_1
from typer.testing import CliRunner

from cardlab import Table, find_agent, find_game, play_game
from cardlab.agents.catalog import agents_for
from cardlab.cli import app

if version_0_1.RUNNING:
    from cardlab.features.observations import observation_of
    from cardlab.game import HasValues, OpenAgent
    from cardlab.play import ask, ask_values
else:
    from cardlab.engine.game import HasValues, OpenAgent
    from cardlab.engine.observation import observation_of
    from cardlab.engine.play import ask, ask_values

DATA = Path(__file__).parent / "data"
TOLERANCE = 1e-6  # of floats, which the last digits of a processor's functions may change
CLEAR = 0.1  # of the best action over the second best, as a share of the range of all
MASKED = {"milliseconds", "seconds", "store"}  # in what commands print


def digest(data: Any, digits: int = 16) -> str:
    """Return a short fingerprint of bytes, text or JSON data."""
    if not isinstance(data, bytes):
        text = data if isinstance(data, str) else json.dumps(data, sort_keys=True, default=str)
        data = text.encode()
    return hashlib.sha256(data).hexdigest()[:digits]


def stream(*path: object) -> np.random.Generator:
    """Return the random numbers of one place in the data."""
    return np.random.default_rng(int(digest(repr(path)), 16))


def words(options: dict[str, Any]) -> str:
    """Return options as one text."""
    return " ".join(f"{name}={value}" for name, value in options.items()) or "default"


def positions(game: Any, options: dict[str, Any], seed: int, most: int = 400) -> Iterator[Table]:
    """Yield a game at each of its decisions, and at its end; its choices are pseudo-random."""
    table = Table(game, seed=seed, options=options)
    while not table.over and len(table.actions) < most:
        yield table
        legal = table.state.legal()
        number = int(digest(f"{game.name} {seed} {len(table.actions)}", 8), 16)
        table.act(int(legal[number % len(legal)]))
    yield table


def rules(game: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Record what each seat is shown along a game: a fingerprint at each ply, some in full."""
    encoder = observation_of(game)
    shown: dict[str, list[str]] = {name: [] for name in ("choices", "describe", "text", "observe")}
    middle, numbers = {}, []
    for table in positions(game, options, seed=11):
        state = table.state
        views = [state.view(seat) for seat in range(table.seats)]
        told = [asdict(view.describe()) for view in views]
        rows = np.stack([encoder.one(view.array, seat) for seat, view in enumerate(views)])
        choices = [] if table.over else table.turn().texts
        shown["choices"].append(digest([table.mover, state.legal().tolist(), choices], 4))
        shown["describe"].append(digest(told, 4))
        shown["text"].append(digest([str(view) for view in views] + [str(state)], 4))
        shown["observe"].append(digest(rows.tobytes(), 4))
        numbers.append([int(np.count_nonzero(rows)), float(rows.sum())])
        if len(table.actions) == 7:
            middle = told[-1]
    return {
        **{name: " ".join(each) for name, each in shown.items()},
        "describe at ply 7": middle,
        "observe, numbers": numbers[::10],
        "observe, words": [encoder.size, digest(list(encoder.words)), float(encoder.high.sum())],
        "record": brief(table.record(["a"] * table.seats).model_dump()),
    }


def brief(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with its deals as fingerprints and its actions in one line."""
    return {
        **{name: value for name, value in record.items() if value is not None},
        "deals": digest(record["deals"]),
        "actions": " ".join(str(action) for action, _ in record["actions"]),
        "texts": digest([text for _, text in record["actions"]]),
    }


def spec_of(entry: Any, game: str) -> str:
    """Return the present name of an agent with a small budget."""
    name = version_0_1.present_names(entry.name, game)
    return f"{name}:{cases.BUDGETS.get(name, '20')}" if entry.parameters else name


def play(game: Any, spec: str, case: cases.Case) -> dict[str, Any]:
    """Record a game of an agent, and what it thinks of some positions."""
    agent = find_agent(version_0_1.asked(spec, game.name), game)
    options = case.options[0]
    seats = int(game.fresh(**game.read_options(options))[0].seats)
    other = [find_agent(case.opponent, game)] * (seats - 1) if case.opponent else []
    played = brief(play_game(game, [agent, *other], seed=3, options=options).model_dump())
    found: dict[str, Any] = {"game": version_0_1.present_names(played, game.name)}
    if isinstance(agent, HasValues):
        found["values"] = {
            f"ply {len(table.actions)}": ask_values(agent, table.turn(), stream("values")).tolist()
            for table in positions(game, options, seed=5, most=9)
            if not table.over and len(table.actions) % 4 == 1
        }
    return found


def is_clear(agent: Any, turn: Any, rng: np.random.Generator) -> bool:
    """Return whether an agent values one action well above all others, as far as it says."""
    if not isinstance(agent, HasValues) or isinstance(agent, OpenAgent):
        return True
    values = np.sort(ask_values(agent, turn, rng))
    return bool(values[-1] - values[-2] > max(CLEAR * np.ptp(values), 0.01))


def choose(game: Any, spec: str, options: dict[str, Any], stored: dict[str, int] | None) -> Any:
    """Record what a network chooses at positions where its choice is clear, or at those stored."""
    agent = find_agent(version_0_1.asked(spec, game.name), game)
    found: dict[str, int] = {}
    for table in positions(game, options, seed=17, most=60):
        name = f"ply {len(table.actions)}"
        if table.over or (len(found) == cases.POSITIONS if stored is None else name not in stored):
            continue
        turn = table.turn()
        if len(turn.legal) < 2:
            continue
        if stored is None and not is_clear(agent, turn, stream(name)):
            continue
        found[name] = int(ask(agent, table.state, stream(name)))
    return found


def masked(value: Any) -> Any:
    """Return what a command printed without times and places."""
    if isinstance(value, dict):
        return {k: "-" if k in MASKED else masked(v) for k, v in value.items()}
    return [masked(one) for one in value] if isinstance(value, list) else value


def command(game: str, *args: str) -> Any:
    """Return the JSON that a command prints."""
    asked = [version_0_1.asked(arg, game) for arg in args]
    done = CliRunner().invoke(app, [*asked, "--json"])
    if done.exit_code:
        raise RuntimeError(f"cardlab {' '.join(asked)}: {done.exception!r}\n{done.output}")
    return masked(version_0_1.present_names(json.loads(done.stdout), game))


def commands(game: str, case: cases.Case, folder: Path) -> Iterator[tuple[str, Any]]:
    """Record what the commands print about a game."""
    from cardlab.learning import find_training  # noqa: F401  # its imports, before the commands

    alone = ["--workers", "1"]
    store = ["--store", str(folder / "games.db")]
    yield "games", next(row for row in command(game, "games") if row["name"] == game)
    yield "agents", {row["name"]: row for row in command(game, "agents", game)}
    pair = ["heuristic", "random"]
    for options in case.options if case.opponent else ():
        given = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        saved = folder / f"{words(options)}.jsonl"
        result = command(
            *(game, "match", game, *pair, *given, *alone),
            *("--games", "12", "--seed", "5", "--save", str(saved)),
        )
        yield f"match, {words(options)}", result
        yield f"match, {words(options)}, records", digest(saved.read_text())
        yield f"replay, {words(options)}", command(game, "replay", str(saved), "--brief")[:2]
    given = [part for name, value in case.options[0].items() for part in ("-o", f"{name}={value}")]
    table = command(
        *(game, "tournament", game, *pair, "monte_carlo:6", "--games", "4", *given, *alone),
        *("--name", "one", *store),
    )
    yield "tournament", table
    saved = folder / "exported.jsonl"
    CliRunner().invoke(app, ["export", str(saved), *store, "--name", "one"])
    yield "export", digest(saved.read_text())
    replayed = command(game, "replay", str(saved))
    yield "replay, actions", [replayed[0]["actions"][:5], digest(replayed)]
    if case.opponent:
        yield "leaderboard", command(game, "leaderboard", game, *store)
        yield "sprt", command(game, "sprt", game, *pair, "--games", "20", *given, *store, *alone)
    yield "check", command(game, "check", game, "--games", "50", *given, *alone)
    yield (
        "explain",
        command(game, "explain", game, str(saved), "--ply", "4", "--agent", "monte_carlo:60"),
    )
    trainings = command(game, "train")
    yield (
        "train",
        {one["name"]: one["settings"] for one in trainings if one["name"].startswith(f"{game}/")},
    )
    for name, args in case.commands.items():
        yield name, command(game, *args)


def collect(name: str, stored: dict[str, Any] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield everything that is recorded of a game: paths and values."""
    game, case = find_game(name), cases.CASES[name]
    for options in case.options:
        yield f"rules, {words(options)}", rules(game, options)
    for spec in sorted(spec_of(entry, name) for entry in agents_for(game)):
        if spec.partition(":")[0] not in cases.NETWORKS:
            yield f"agent, {spec}", play(game, spec, case)
            continue
        several = case.options if ":" not in spec else case.options[:1]
        for options in several:
            path = f"network, {spec}, {words(options)}"
            yield path, choose(game, spec, options, stored and stored.get(path))
    with tempfile.TemporaryDirectory() as folder:
        for path, value in commands(name, case, Path(folder)):
            yield f"command, {path}", value


def file_of(folder: Path, name: str) -> Path:
    """Return where the data of a game is."""
    return folder / f"{name}.json"


def write(name: str, folder: Path) -> None:
    """Write the data of a game: one line for each entry."""
    lines = [f"{json.dumps(path)}: {json.dumps(value)}" for path, value in collect(name)]
    folder.mkdir(parents=True, exist_ok=True)
    file_of(folder, name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def compare(path: str, was: Any, now: Any) -> Iterator[str]:
    """Yield a line for each value that differs: where, what it was, what it is."""
    if differences.is_intended(path):
        return
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *(key for key in now if key not in was)]:
            yield from compare(f"{path} / {key}", was.get(key), now.get(key))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for place, (one, other) in enumerate(zip(was, now, strict=True)):
            yield from compare(f"{path} / {place}", one, other)
    elif isinstance(was, float) and isinstance(now, float):
        if not np.isclose(was, now, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            yield f"{path}: was {was!r}, is {now!r}"
    elif was != now or type(was) is not type(now):
        yield f"{path}: {first_difference(was, now)}"


def first_difference(was: Any, now: Any) -> str:
    """Return both values, of long rows of words from the first one that differs."""
    if isinstance(was, str) and isinstance(now, str) and len(was) > 80:
        before, after = was.split(), now.split()
        at = next(
            (i for i, pair in enumerate(zip(before, after, strict=False)) if len({*pair}) > 1),
            min(len(before), len(after)),
        )
        was, now = " ".join(before[at : at + 8]), " ".join(after[at : at + 8])
        return f"from word {at} on was {was!r}, is {now!r}"
    return f"was {str(was)[:300]!r}, is {str(now)[:300]!r}"


def check(name: str, folder: Path = DATA) -> list[str]:
    """Return a line for each value of a game that is not as it is stored."""
    stored = json.loads(file_of(folder, name).read_text(encoding="utf-8"))
    found = {path: json.loads(json.dumps(value)) for path, value in collect(name, stored)}
    return list(compare(name, stored, found))


def main() -> None:
    """Write or check as the command line says."""
    parser = argparse.ArgumentParser(description="Write or check the regression data.")
    parser.add_argument("folder", nargs="?", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--game", choices=sorted(cases.CASES), help="one game; without it all")
    parser.add_argument("--check", action="store_true", help="compare with the stored data")
    given = parser.parse_args()
    failed = False
    for name in [given.game] if given.game else cases.CASES:
        began = time.process_time()
        if given.check:
            lines = check(name, given.folder)
            failed |= bool(lines)
            sys.stdout.write("".join(f"{line}\n" for line in lines))
            said = f"{len(lines)} differences"
        else:
            write(name, given.folder)
            said = f"{file_of(given.folder, name).stat().st_size:,} bytes"
        sys.stdout.write(f"{name}: {said}, {time.process_time() - began:.0f} s of processor time\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
