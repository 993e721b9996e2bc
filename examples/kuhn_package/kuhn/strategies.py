"""Mixed strategies as tables, and the expected return of actions if both seats follow one.

A table has the probability of a bet for everything that a seat can know: its card and the actions
so far, `p` for a pass and `b` for a bet. `Qpb` is the queen of seat 0 after its pass and a bet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from cardlab.engine.errors import CardlabError

__all__ = ["CARDS", "DEALS", "ENDS", "KNOWN", "action_values", "load_table", "payoff", "value"]

CARDS = "JQK"
DEALS = [(a, b) for a in CARDS for b in CARDS if a != b]  # the cards of both seats
ENDS = ("pp", "bp", "bb", "pbp", "pbb")
SAID = ("", "p", "b", "pb")  # where a seat is to move
KNOWN = tuple(card + said for card in CARDS for said in SAID)

Table = Mapping[str, float]


def payoff(cards: tuple[str, str], said: str) -> int:
    """Return the chips that seat 0 wins in a finished game."""
    if said.endswith("bp"):
        return 1 if len(said) == 2 else -1
    stake = 2 if said.endswith("bb") else 1
    return stake if CARDS.index(cards[0]) > CARDS.index(cards[1]) else -stake


def value(cards: tuple[str, str], said: str, table: Table) -> float:
    """Return the chips that seat 0 wins on average from here on."""
    if said in ENDS:
        return payoff(cards, said)
    bet = table[cards[len(said) % 2] + said]
    return (1 - bet) * value(cards, said + "p", table) + bet * value(cards, said + "b", table)


def action_values(card: str, said: str, table: Table) -> tuple[float, float]:
    """Return the chips that a pass and a bet win on average for the seat to move.

    The probability of the other card follows from the other seat's actions and the table.
    """
    seat = len(said) % 2
    weights, sums = 0.0, [0.0, 0.0]
    for other in CARDS.replace(card, ""):
        weight = 1e-9  # of actions that the table never takes
        first = 1 - seat  # the index of the other seat's first action
        if len(said) > first:
            bet = table[other + said[:first]]
            weight += bet if said[first] == "b" else 1 - bet
        cards = (card, other) if seat == 0 else (other, card)
        weights += weight
        for action, letter in enumerate("pb"):
            won = value(cards, said + letter, table)
            sums[action] += weight * (won if seat == 0 else -won)
    return sums[0] / weights, sums[1] / weights


def load_table(path: Path) -> dict[str, float]:
    """Return the table in a JSON file."""
    try:
        table = {name: float(share) for name, share in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CardlabError(f"{path} is not a table of a strategy ({error})") from None
    if set(table) != set(KNOWN) or not all(0 <= share <= 1 for share in table.values()):
        raise CardlabError(
            f"{path} must have the probability of a bet for each of {', '.join(KNOWN)}"
        )
    return table
