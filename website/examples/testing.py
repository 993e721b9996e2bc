# %% check_game, GAME_CHECKS, GameCheck

from cardlab import find_game
from cardlab.testing import GAME_CHECKS, GameCheck, check_game

game = find_game("crazy_eights")
check_game(game, {"seats": 3}, seeds=range(3))  # raises AssertionError if the game is at fault

first: GameCheck = GAME_CHECKS[0]  # one by one, for a test runner that names them
first(game, {"seats": 3}, range(3))
print(len(GAME_CHECKS), "checks, the first is", first.__name__)

#: 14 checks, the first is check_layout


# %% check_agent, check_always_legal, AGENT_CHECKS, AgentCheck

from pathlib import Path

from cardlab import find_game
from cardlab.testing import AGENT_CHECKS, AgentCheck, check_agent, check_always_legal

Path("forgetful.py").write_text("""
class First:
    name = "first"

    def act(self, turn, rng):
        return turn.legal[0]
""")

from forgetful import First

game = find_game("crazy_eights")
check_always_legal(First, game, {})  # one check
check_agent(First, game)  # all of them; AssertionError says what to fix

last: AgentCheck = AGENT_CHECKS[-1]
print(len(AGENT_CHECKS), "checks, the last is", last.__name__)

#: 7 checks, the last is check_fair


# %% audit_random_games

from cardlab import find_game
from cardlab.testing import audit_random_games

audit_random_games(find_game("crazy_eights"), 20_000, seed=1, options={"seats": 3})
print("20,000 games, every invariant held at every step")

#: 20,000 games, every invariant held at every step


# %% audit_hidden_cards, HiddenCards

from cardlab.testing import HiddenCards, audit_hidden_cards

checked: HiddenCards = audit_hidden_cards("crazy_eights", 5, seed=1)
print(checked.hidden, checked.views > 0, checked.positions > 0)

#: True True True


# %% playthrough, check_playthrough

from pathlib import Path

from cardlab import find_game
from cardlab.testing import check_playthrough, playthrough

game = find_game("crazy_eights")
golden = Path("crazy_eights.txt")
golden.write_text(playthrough(game, {"hand_size": 2}, seed=3), encoding="utf-8")

check_playthrough(game, golden)  # in later versions: raises AssertionError if the rules changed
print(*golden.read_text(encoding="utf-8").splitlines()[4:10], sep="\n")

#: ply 0: top QH, suit H, stock 44
#:   seat 0* 2C 2D 6C 9S KH
#:   seat 1  5C 8H
#: view 869eef49a34479fe
#: legal 46 KH
#: seat 0 takes KH


# %% random_table, retrace

from cardlab import find_game
from cardlab.testing import random_table, retrace

table = random_table(find_game("crazy_eights"), {}, seed=5, plies=4)
print(len(table.actions), "actions, seat", table.mover, "is to move")
print([len(again.state.legal()) for again in retrace(table)], "legal actions at each step")

#: 4 actions, seat 0 is to move
#: [1, 1, 1, 2, 2] legal actions at each step


# %% fingerprint

from cardlab import find_game
from cardlab.testing import fingerprint

digest = fingerprint(find_game("crazy_eights"), {}, seeds=range(2))
print(len(digest), "digits, the same as long as the rules are")

#: 64 digits, the same as long as the rules are


# %% check_uniform

from contextlib import suppress
from itertools import permutations

from cardlab import IllegalAction, Table, find_game
from cardlab.testing import check_uniform, random_table

game = find_game("crazy_eights")
table = random_table(game, {}, seed=16, plies=39)
view = table.state.view(table.mover)
held = view.hands[view.seat] | view.discards  # sets of cards
unseen = [card for card in table.deals[0] if not held >> int(card) & 1]

ways = []  # all ways to lay the unseen cards that agree with what the seat has witnessed
for cards in permutations(unseen):
    laid = dict(zip(unseen, cards, strict=True))
    other = Table(game, deals=[[laid.get(card, card) for card in table.deals[0]]])
    with suppress(IllegalAction):
        for action in table.actions:
            other.act(action)
        if other.state.view(view.seat).array.tobytes() == view.array.tobytes():
            ways.append(other.state.array.tobytes())

check_uniform(view, ways, draws=2000)
print(len(ways), "ways, met equally often")

#: 24 ways, met equally often
