"""Uno, rule set `rlcard`, against RLCard 1.2.0: the same deck, the same choices, every step.

    python crosscheck/uno_rlcard.py [--games N]

Needs `pip install rlcard==1.2.0`. RLCard is driven from outside only: its generator is replaced by
one that hands out our deck orders. Legal actions, hands, seats, top card, colour and stock must
agree at every step of games with 2 to 5 seats; each known defect of RLCard is asserted as one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import rlcard  # type: ignore[import-not-found,import-untyped,unused-ignore]
from rlcard.agents import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    RandomAgent,
)
from rlcard.games.uno import Game  # type: ignore[import-not-found,import-untyped,unused-ignore]
from rlcard.games.uno.utils import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    ACTION_LIST,
    ACTION_SPACE,
)

from cardlab.engine.game import DEALER, OVER, State
from cardlab.games.uno import cards as uno_cards
from cardlab.games.uno import hidden_hands as uno_knowledge
from cardlab.games.uno import kernels as uno_rules
from cardlab.games.uno.rules import GAME

COLOURS = "rgby"
TRAITS = [action.partition("-")[2] for action in ACTION_LIST[:15]]


class Disagreement(Exception):
    """Ours and theirs differ."""


def kind_of(card: Any) -> int:
    """Return our kind for a card of theirs."""
    trait = TRAITS.index(card.trait)
    return trait if trait >= 13 else 15 * COLOURS.index(card.color) + trait


@dataclass
class OrderedChance:
    """Stands in for RLCard's generator: shuffles and chooses as our deck orders say."""

    seats: int
    orders: list[tuple[Any, int]] = field(default_factory=list)  # each with our top card then
    dealt: bool = False
    pile: Callable[[], int] | None = None  # how many cards have been played, once a game is on

    def shuffle(self, deck: list[Any]) -> None:
        """Arrange a deck, which is drawn from its end, as the next order says."""
        order, top = self.orders.pop(0)
        kinds = [int(uno_cards.KIND[card]) for card in order]
        if not self.dealt:  # they deal seven cards in a row to each seat, we go round the table
            self.dealt = True
            hands = 7 * self.seats
            kinds = [k for seat in range(self.seats) for k in kinds[seat : hands : self.seats]] + (
                kinds[hands:]
            )
        else:
            kinds = self.shuffled_like_ours(order, top, [kind_of(card) for card in deck])
        waiting: dict[int, list[Any]] = {}
        for card in deck:
            waiting.setdefault(kind_of(card), []).append(card)
        deck[:] = [waiting[kind].pop() for kind in reversed(kinds)]

    def shuffled_like_ours(self, order: Any, top: int, kinds: list[int]) -> list[int]:
        """Return kinds in the sequence that our rules take from an order.

        At the start the four that was turned lies at the end of theirs, ours puts it in somewhere;
        later theirs holds the old stock, then what was played, which ours lays by the order before
        it puts in the old stock card by card.
        """
        scratch = GAME.start().array
        s = scratch[0]
        if self.pile is None:
            s.stock[: len(kinds) - 1] = kinds[-2::-1]
            s.stock_end = len(kinds) - 1
            uno_knowledge.insert(s, kinds[-1], uno_knowledge.check_sum(order, uno_cards.FOUR_BIT))
        else:
            old = kinds[: len(kinds) - self.pile()]
            for kind in kinds[len(old) :]:
                uno_cards.add(s.cards[0], kind)
            sign = uno_knowledge.stack(s, order, s.cards[0, 0], s.cards[0, 1], top)
            for kind in reversed(old):
                uno_knowledge.insert(s, kind, sign)
        return [int(kind) for kind in s.stock[s.stock_at : s.stock_end]]

    def choice(self, colours: list[str]) -> str:
        """Return the colour of the next order's first coloured card."""
        kinds = (int(uno_cards.KIND[card]) for card in self.orders.pop(0)[0])
        return colours[next(k for k in kinds if k not in (uno_cards.WILD, uno_cards.FOUR)) // 15]


def deal(state: State, rng: Any, chance: OrderedChance) -> int:
    """Deal for ours as often as it waits for that, keep the orders for theirs; return how many."""
    dealt = 0
    while state.mover == DEALER:
        order = rng.permutation(uno_cards.DECK).astype(np.uint8)
        turned = state.phase == uno_rules.RESHUFFLE
        chance.orders.append((order, int(state.top) if turned else uno_cards.FOUR))
        GAME.bindings.deal(state.array, 0, order)
        dealt += 1
    return dealt


def compare(state: State, theirs: Any, where: str) -> None:
    """Raise unless both stand in the same position."""
    row = state.array[0]
    hands = [sorted(uno_cards.cards_in(row.cards[seat])) for seat in range(row.seats)]
    ours: dict[str, Any] = {
        "hands": hands,
        "top card": int(row.top),
        "colour": COLOURS[int(row.colour)],
        "stock": [int(kind) for kind in row.stock[row.stock_at : row.stock_end]],
        "pile": sorted(uno_cards.cards_in(row.cards[uno_knowledge.PILE])),
        "over": state.mover == OVER,
    }
    them: dict[str, Any] = {
        "hands": [sorted(kind_of(card) for card in player.hand) for player in theirs.players],
        "top card": kind_of(theirs.round.target),
        "colour": theirs.round.target.color,
        "stock": [kind_of(card) for card in reversed(theirs.dealer.deck)],
        "pile": sorted(kind_of(card) for card in theirs.round.played_cards),
        "over": theirs.is_over(),
    }
    if not ours["over"]:
        ours["seat"], them["seat"] = state.mover, theirs.get_player_id()
        ours["legal"] = state.legal().tolist()
        them["legal"] = sorted({ACTION_SPACE[action] for action in theirs.get_legal_actions()})
    for name, value in ours.items():
        if value != them[name]:
            raise Disagreement(f"{where}: {name}: ours {value}, theirs {them[name]}")


def play(seats: int, seed: int, found: Counter[str]) -> None:
    """Play one game in both, comparing every step and counting defects."""
    rng = np.random.default_rng([seed, seats])
    state = GAME.start({"seats": seats, "rules": "rlcard"})
    chance = OrderedChance(seats)
    deal(state, rng, chance)
    theirs = Game(num_players=seats)
    theirs.np_random = chance
    theirs.init_game()
    chance.pile = lambda: len(theirs.round.played_cards)
    ply = 0
    while True:
        compare(state, theirs, f"{seats} seats, game {seed}, ply {ply}")
        found["steps"] += 1
        if state.mover == OVER:
            break
        observe_target(theirs, found)
        action = int(rng.choice(state.legal()))
        GAME.bindings.apply(state.array, 0, action)
        found["chance events"] += deal(state, rng, chance)
        theirs.step(ACTION_LIST[action])
        if chance.orders:
            raise Disagreement(f"{seats} seats, game {seed}, ply {ply}: ours had more chance")
        ply += 1
    check_payoffs(state, theirs, found)


def observe_target(theirs: Any, found: Counter[str]) -> None:
    """Defect: after a wild the observed target keeps the colour that the card was made with."""
    target = theirs.round.target
    shown = theirs.get_state(theirs.get_player_id())["target"]
    if target.trait.startswith("wild"):
        found["states after a wild"] += 1
        found["of these with the wrong colour shown"] += shown[0] != target.color
    elif shown != f"{target.color}-{target.trait}":
        raise Disagreement(f"the observed target {shown} is wrong without a wild")


def check_payoffs(state: State, theirs: Any, found: Counter[str]) -> None:
    """Defect: payoffs write to seat `1 - winner`, whoever that is."""
    seats = int(state.seats)
    winner = int(state.winner)
    if theirs.round.winner != [winner]:
        raise Disagreement(f"winner: ours {winner}, theirs {theirs.round.winner}")
    expected = [0] * seats
    expected[winner] = 1
    expected[1 - winner] = -1
    if theirs.get_payoffs() != expected:
        raise Disagreement(f"payoffs {theirs.get_payoffs()} are not the known defect {expected}")
    if seats > 2:
        found["payoffs with more than two seats"] += 1
        found["of these with the winner at -1"] += expected[winner] == -1


def check_environment() -> list[str]:
    """Assert the defects of RLCard's environment and return them in words."""
    told = []
    four = rlcard.make("uno", {"game_num_players": 4, "seed": 0})
    if four.num_players != 2:
        raise Disagreement("make('uno', game_num_players=4) no longer plays two seats")
    told.append("make('uno', {'game_num_players': 4}) plays two seats")

    runs = []
    for _ in range(2):
        env = rlcard.make("uno", {"seed": 7})
        env.set_agents([RandomAgent(num_actions=61) for _ in range(2)])
        env.run()
        runs.append(list(env.action_recorder))
    if runs[0] == runs[1]:
        raise Disagreement("the same seed gives the same game now")
    told.append("the same seed gives different games")

    env = rlcard.make("uno", {"seed": 3})
    state, _ = env.reset()
    illegal = next(action for action in range(61) if action not in state["legal_actions"])
    try:
        env.step(illegal)
    except ValueError as error:  # it means to choose another action at random, and cannot
        if ACTION_LIST[illegal] in str(error) or env.action_recorder:
            raise Disagreement("an illegal action is refused by its name now") from None
    else:
        raise Disagreement("an illegal action no longer ends in an error of NumPy")
    told.append("an illegal action meets no check; its replacement dies inside NumPy")
    return told


def main() -> int:
    """Compare, print a summary, return 1 if anything disagrees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=2000, help="how many games (default 2000)")
    games = parser.parse_args().games
    if version("rlcard") != "1.2.0":
        sys.stdout.write(f"rlcard {version('rlcard')} is installed; this check is about 1.2.0\n")
        return 1
    found: Counter[str] = Counter()
    try:
        for seed in range(games):
            play(2 + seed % 4, seed, found)
        defects = check_environment()
        wrong, all_wild = (
            found["of these with the wrong colour shown"],
            found["states after a wild"],
        )
        if not wrong:
            raise Disagreement("the observed target is no longer stale after a wild")
        if games >= 100 and not found["of these with the winner at -1"]:
            raise Disagreement("the winner is no longer paid -1 with three seats")
    except Disagreement as error:
        sys.stdout.write(f"disagreement: {error}\n")
        return 1
    games_wrong = found["payoffs with more than two seats"]
    lines = [
        f"uno, rules=rlcard, against RLCard 1.2.0: {games:,} games of 2-5 seats agree",
        f"  {found['steps']:,} positions, {found['chance events']:,} chance events within games",
        "known defects, all still there:",
        f"  target colour wrong in {wrong:,} of {all_wild:,} states after a wild",
        f"  payoffs wrong in all {games_wrong:,} games of 3-5 seats, "
        f"in {found['of these with the winner at -1']:,} the winner gets -1",
        *(f"  {defect}" for defect in defects),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
