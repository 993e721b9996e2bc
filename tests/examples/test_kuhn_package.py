"""A game from outside with a full manifest, installed: terminal, arena, training and web table."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from typing import Any

import pytest

from tests.support.kuhn_package import KUHN_PACKAGE, install_kuhn_package
from tests.support.paths import EXAMPLES

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-c", "from cardlab.cli import main; main()"]
RULES_OF_BOTH = re.compile(r"\n# The record\n.*?\n# All of it together\n", re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Where commands run: an empty folder, the package installed beside this installation."""
    return install_kuhn_package(tmp_path_factory.mktemp("kuhn"))


def cardlab(place: dict[str, Any], *args: str, text: str = "") -> str:
    """Return what a command prints."""
    done = subprocess.run(
        [*COMMAND, *args], **place, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_rules_are_those_of_the_short_example() -> None:
    short = RULES_OF_BOTH.search((EXAMPLES / "kuhn_poker.py").read_text())
    full = RULES_OF_BOTH.search((KUHN_PACKAGE / "kuhn" / "rules.py").read_text())
    assert short
    assert full
    assert short[0] == full[0]


def test_the_terminal_lists_and_plays_it(place: dict[str, Any]) -> None:
    names = [game["name"] for game in json.loads(cardlab(place, "games", "--json"))]
    assert names[-1] == "kuhn"  # its place is after those of the package
    agents = json.loads(cardlab(place, "agents", "kuhn", "--json"))
    own = {agent["usage"]: agent["summary"] for agent in agents}
    assert {"random", "heuristic", "bluffer:50", "equilibrium", "monte_carlo:1000"} <= set(own)
    said = cardlab(place, "play", "kuhn", "--seed", "3", text="bet\nbet\n")
    assert "wins" in said
    hint = cardlab(place, "play", "kuhn", "--seed", "3", text="h\nbet\nbet\n")
    assert "expected" in hint or "%" in hint
    assert "no fault" in cardlab(place, "check", "kuhn", "--games", "1000")


def test_the_arena_measures_it(place: dict[str, Any]) -> None:
    pair = ["kuhn", "equilibrium", "bluffer:100"]
    match = json.loads(
        cardlab(
            place,
            "match",
            *pair,
            "--games",
            "600",
            "--workers",
            "1",
            "--save",
            "games.jsonl",
            "--json",
        )
    )
    assert match["standings"][0]["agent"] == "equilibrium"
    assert match["standings"][0]["points"] > 0
    agents = ["random", "heuristic", "bluffer:30", "equilibrium"]
    cardlab(place, "tournament", "kuhn", *agents, "--games", "20", "--store", "games.db")
    board = json.loads(cardlab(place, "leaderboard", "kuhn", "--store", "games.db", "--json"))
    assert {line["agent"] for line in board[0]["ratings"]} == set(agents)
    assert "every one as recorded" in cardlab(place, "replay", "games.jsonl", "--brief", "--trust")
    reasons = json.loads(
        cardlab(place, "explain", "kuhn", "games.jsonl", "--ply", "0", "--trust", "--json")
    )
    assert reasons["agent"] == "equilibrium"
    assert [choice["text"] for choice in reasons["choices"]] == ["pass", "bet"]


def test_it_is_trained(place: dict[str, Any]) -> None:
    trainings = {row["name"]: row for row in json.loads(cardlab(place, "train", "--json"))}
    assert trainings["kuhn/regret_matching"]["settings"] == {"rounds": 5000}
    assert trainings["kuhn/regret_matching"]["summary"].startswith("Regret matching")
    train = ["train", "kuhn/regret_matching", "--json"]
    summary = json.loads(cardlab(place, *train))
    assert summary["chips that seat 0 wins a game"] == pytest.approx(-1 / 18, abs=0.001)
    run = place["cwd"] / "runs" / "kuhn" / "regret_matching"
    shipped = json.loads((KUHN_PACKAGE / "kuhn" / "data" / "equilibrium.json").read_text())
    assert json.loads((run / "equilibrium.json").read_text()) == pytest.approx(shipped, abs=0.01)
    assert json.loads(cardlab(place, *train)) == summary  # there is nothing left to learn
    learned = f"kuhn.agents:TableAgent:table={run / 'equilibrium.json'}"
    match = cardlab(place, "match", "kuhn", learned, "random", "--games", "200", "--json")
    assert json.loads(match)["standings"][0]["points"] > 0


def test_the_web_table_offers_it(place: dict[str, Any]) -> None:
    with subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--store", "web.db"],
        **place,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[3].rstrip("/")

            def get(path: str) -> bytes:
                with urllib.request.urlopen(address + path) as answer:
                    assert "default-src 'none'" in answer.headers["content-security-policy"]
                    content: bytes = answer.read()
                    return content

            games = {game["name"]: game for game in json.loads(get("/api/games"))}
            kuhn = games["kuhn"]
            assert [level["name"] for level in kuhn["levels"]] == ["Easy", "Medium", "Hard"]
            assert kuhn["adviser"] == "equilibrium"
            assert "three cards, one bet" in kuhn["page"]["rules"].lower()
            assert b"export function render" in get(kuhn["page"]["module"])
            assert b".kuhn" in get(kuhn["page"]["style"])
            assert all(b"<svg" in get(level["portrait"]) for level in kuhn["levels"])
        finally:
            server.send_signal(signal.SIGINT)
