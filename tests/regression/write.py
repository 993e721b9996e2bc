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
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cases
import differences
import numpy as np
import version_0_1
from typer.testing import CliRunner

from cardlab import CardlabError, Table, find_agent, find_game, play_game
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

ALONE = ["--workers", "1"]
FIRST_LEGAL = Path(__file__).parents[2] / "examples" / "first_legal.sh"
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
    """Record a game of an agent with each of the options, and what it thinks of some positions."""
    agent = find_agent(version_0_1.asked(spec, game.name), game)
    found: dict[str, Any] = {}
    for options in case.options:
        seats = int(game.fresh(**game.read_options(options))[0].seats)
        others = [find_agent(case.opponent, game) for _ in range(1, seats)]
        try:
            record = play_game(game, [agent, *others], seed=3, options=options)
        except CardlabError as error:  # some agents play with two seats only
            found[words(options)] = str(error)
            continue
        found[words(options)] = version_0_1.present_names(brief(record.model_dump()), game.name)
    if isinstance(agent, HasValues):
        found["values"] = {
            f"ply {len(table.actions)}": ask_values(agent, table.turn(), stream("values")).tolist()
            for table in positions(game, case.options[0], seed=5, most=9)
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
    """Return the JSON that a command prints; names of agents are those of a game."""
    asked = [version_0_1.asked(arg, game) for arg in args]
    done = CliRunner().invoke(app, [*asked, "--json"])
    if done.exit_code:
        raise RuntimeError(f"cardlab {' '.join(asked)}: {done.exception!r}\n{done.output}")
    return masked(version_0_1.present_names(json.loads(done.stdout), game))


def given(options: dict[str, Any]) -> list[str]:
    """Return options as a command line has them."""
    return [part for name, value in options.items() for part in ("-o", f"{name}={value}")]


def about(game: str) -> dict[str, Any]:
    """Record what the commands list about a game."""
    return {
        "games": next(row for row in command(game, "games") if row["name"] == game),
        "agents": {row["name"]: row for row in command(game, "agents", game)},
        "train": {
            row["name"]: row["settings"]
            for row in command("", "train")
            if row["name"].startswith(f"{game}/")
        },
    }


def matched(game: str, options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Record a short match and its records."""
    saved = folder / f"{words(options)}.jsonl"
    result = command(
        *(game, "match", game, "heuristic", "random", *given(options), *ALONE),
        *("--games", "12", "--seed", "5", "--save", str(saved)),
    )
    replayed = command(game, "replay", str(saved), "--brief")
    return {"match": result, "records": digest(saved.read_text()), "replay": replayed[:2]}


def stored_games(game: str, case: cases.Case, folder: Path) -> dict[str, Any]:
    """Record a tournament and what the commands make of its store."""
    store, pair = ["--store", str(folder / "games.db")], ["heuristic", "random"]
    options, saved = given(case.options[0]), folder / "exported.jsonl"
    table = command(
        *(game, "tournament", game, *pair, "monte_carlo:6", "--games", "4", *options, *ALONE),
        *("--name", "one", *store),
    )
    CliRunner().invoke(app, ["export", str(saved), *store, "--name", "one"])
    replayed = command(game, "replay", str(saved))
    adviser = ["--ply", "4", "--agent", "monte_carlo:60"]
    found = {
        "tournament": table,
        "export": digest(saved.read_text()),
        "replay": [replayed[0]["actions"][:5], digest(replayed)],
        "explain": command(game, "explain", game, str(saved), *adviser),
    }
    if case.opponent:
        found["leaderboard"] = command(game, "leaderboard", game, *store)
        found["sprt"] = command(
            game, "sprt", game, *pair, "--games", "20", *options, *store, *ALONE
        )
    return found


def trained(game: str, method: str, settings: str, folder: Path) -> dict[str, Any]:
    """Record a short training: what it says and which files it leaves."""
    run = folder / method
    chosen = [part for setting in settings.split() for part in ("--set", setting)]
    summary = command("", "train", f"{game}/{method}", *chosen, "--out", str(run))
    files = sorted(str(file.relative_to(run)) for file in run.rglob("*.*"))
    return {"summary": summary, "files": files}


def collect(name: str, stored: dict[str, Any] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield everything that is recorded of a game: paths and values."""
    game, case = find_game(name), cases.CASES[name]
    for options in case.options:
        yield f"rules, {words(options)}", rules(game, options)
    for spec in sorted(spec_of(entry, name) for entry in agents_for(game)):
        path = f"agent, {spec}"
        if spec.partition(":")[0] not in cases.NETWORKS:
            yield path, attempt(path, play, game, spec, case)
            continue
        searches = ":" in spec
        for options in case.options[:1] if searches else case.options:
            path = f"network, {spec}, {words(options)}"
            yield path, attempt(path, choose, game, spec, options, stored and stored.get(path))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        yield "lists", attempt("lists", about, name)
        for options in case.options if case.opponent else ():
            path = f"match, {words(options)}"
            yield path, attempt(path, matched, name, options, folder)
        yield "store", attempt("store", stored_games, name, case, folder)
        for method, settings in case.trainings.items():
            path = f"training, {method}"
            yield path, attempt(path, trained, name, method, settings, folder)
        for args in (
            ["check", name, "--games", "50", *given(case.options[0]), *ALONE],
            ["check-agent", str(FIRST_LEGAL), "--game", name],
            *case.commands,
        ):
            path = f"command, {' '.join(args)}".replace(str(FIRST_LEGAL), FIRST_LEGAL.name)
            yield path, attempt(path, command, name, *args)


def attempt(path: str, function: Callable[..., Any], *args: Any) -> Any:
    """Return what a function returns, or a text where it fails, so that the rest is compared."""
    try:
        return function(*args)
    except Exception as error:
        traceback.print_exc()
        return f"fails: {type(error).__name__}"


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
