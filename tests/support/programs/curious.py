#!/usr/bin/env python3
"""A program of Crazy Eights that plays better as soon as it knows the hand of the other seat.

    curious.py remember LOG     recognises a deal that it has met in the other seat
    curious.py seed LOG         computes the deal from the seed of a match, tried from 0 on
    curious.py honest LOG       its honest twin: knows nothing, and plays the same otherwise

For every game it appends a line to LOG: the hand that it believes the other seat was dealt, or
nothing. It needs cardlab only to compute deals.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from typing import Any

REMEMBERED = 2  # games; a longer memory only adds deals that look alike
SEEDS = range(3)  # of matches, that people use
DEALS = range(200)


def cards_of(view: dict[str, Any], name: str) -> list[str]:
    """Return the cards that the view shows of the own hand, or of the pile."""
    zones = (zone for zone in view["zones"] if zone["name"] == name)
    return [
        card for zone in zones if zone["seat"] in (view["seat"], None) for card in zone["cards"]
    ]


class Memory:
    """The first card of the pile and the own hand of the last games."""

    def __init__(self) -> None:
        self.games: deque[tuple[str, list[str]]] = deque(maxlen=REMEMBERED)

    def recall(self, first: str, hand: list[str]) -> list[str]:
        """Return the other hand of this deal, if it has been the own one lately."""
        others = [own for pile, own in self.games if pile == first and not {*own} & {*hand}]
        self.games.append((first, hand))
        return others[-1] if others else []


class Seeds:
    """All deals of the seeds that people use, by the own hand."""

    def __init__(self) -> None:
        from cardlab.arena.shard import Match
        from cardlab.engine.play import Table
        from cardlab.engine.registry import find_game

        game = find_game("crazy_eights")
        self.other: dict[frozenset[str], list[str]] = {}
        for seed in SEEDS:
            match = Match(game.name, ("random", "random"), len(DEALS), seed)
            for deal in DEALS:
                state = Table(game, seed=match.game_seed(deal)).state
                hands = [self._hand(state, seat) for seat in range(2)]
                for seat, hand in enumerate(hands):
                    self.other[frozenset(hand)] = hands[1 - seat]

    @staticmethod
    def _hand(state: Any, seat: int) -> list[str]:
        from dataclasses import asdict

        return cards_of(asdict(state.view(seat).describe()), "hand")

    def recall(self, first: str, hand: list[str]) -> list[str]:
        """Return the other hand of this deal, if a seed gives it."""
        return self.other.get(frozenset(hand), [])


class Nothing:
    """Knows no other hand."""

    def recall(self, first: str, hand: list[str]) -> list[str]:
        """Return nothing."""
        return []


def follows(card: str, text: str) -> bool:
    """Return whether a card can be played on what a legal action lays down."""
    suit = text[-1]  # of an eight: the suit that it calls
    return card[0] == "8" or card[1] == suit or card[0] == text[0]


def choose(turn: dict[str, Any], known: list[str]) -> int:
    """Return the action that leaves the other seat the fewest answers, among equals the first."""
    plays = [row for row in turn["legal"] if row["text"] not in ("draw", "pass")]
    plain = [row for row in plays if row["text"][0] != "8"] or plays or turn["legal"]

    def answers(row: dict[str, Any]) -> int:
        return sum(follows(card, row["text"]) for card in known)

    return int(min(plain, key=answers)["id"])


def main() -> None:
    """Answer one line after another until there is nothing more to do."""
    mode, log = sys.argv[1:3]
    source: Memory | Seeds | Nothing = {"remember": Memory, "seed": Seeds}.get(mode, Nothing)()
    known: list[str] = []
    asked = False
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, Any] | None = None
        if message["type"] == "hello":
            asked, known, answer = False, [], {"type": "ready"}
        elif message["type"] == "turn":
            view = message["view"]
            if not asked:  # its first turn: the hand is as it was dealt
                asked = True
                played = {row["text"].partition("played ")[2][:2] for row in view["events"]}
                first = " ".join({*cards_of(view, "pile")} - played)
                known = source.recall(first, cards_of(view, "hand"))
                with open(log, "a") as file:
                    file.write(" ".join(sorted(known)) + "\n")
            played = {*cards_of(view, "pile")}
            known = [card for card in known if card not in played]
            answer = {"type": "action", "action": choose(message, known)}
        elif message["type"] == "bye":
            break
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
