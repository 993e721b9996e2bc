# %% Game

from cardlab import find_game

game = find_game("crazy_eights")
print(game.title, "has", game.num_actions, "actions and a deck of", game.deck)
print(game.read_options({"seats": 3}))
print(game.action_text(51), "is action", game.parse_action("8c=s"))
state = game.start({"seats": 3})  # no cards are dealt yet; `Table` deals
print(state.seats, "seats")

#: Crazy Eights has 66 actions and a deck of 52
#: {'seats': 3, 'hand_size': 5, 'reshuffle': False, 'optional_draw': False}
#: 8C=S is action 51
#: 3 seats


# %% Option

from cardlab import find_game

for option in find_game("crazy_eights").options:
    print(f"{option.name}={option.default}: {option.help} ({option.allowed_text})")

#: seats=2: how many play (a whole number from 2 to 4)
#: hand_size=5: cards dealt to each seat (a whole number from 1 to 12)
#: reshuffle=False: shuffle the discards when the stock runs out (true or false)
#: optional_draw=False: draw whenever you like; if false, the game draws when no card fits (true or false)


# %% State

from cardlab import Table

state = Table("crazy_eights", seed=36).state
print(state)
print("seat", state.mover, "may take", state.legal())
print("cards in the stock:", state.stock_end - state.stock_at)
print(state.view(0))

#: ply 0: top KS, suit S, stock 41
#:   seat 0* AS 2S 3D 8S KH
#:   seat 1  2H 5H 6H 7H TS
#: seat 0 may take [ 3  7 46 60 61 62 63]
#: cards in the stock: 41
#: ply 0: top KS, suit S, stock 41
#:   seat 0* AS 2S 3D 8S KH
#:   seat 1  5 cards


# %% View

import numpy as np

from cardlab import Table

view = Table("crazy_eights", seed=36).state.view(0)
print(view)
world = view.imagine(np.random.default_rng(1))
print(world)

#: ply 0: top KS, suit S, stock 41
#:   seat 0* AS 2S 3D 8S KH
#:   seat 1  5 cards
#: ply 0: top KS, suit S, stock 41
#:   seat 0* AS 2S 3D 8S KH
#:   seat 1  AD 2D 5C KC KD


# %% Turn

from cardlab import Table

turn = Table("crazy_eights", seed=36).turn()
print("seat", turn.seat, "holds", turn.view.describe().zones[0].cards)
for action, text in zip(turn.legal, turn.texts):
    print(action, text)

#: seat 0 holds ('AS', '2S', '3D', '8S', 'KH')
#: 3 AS
#: 7 2S
#: 46 KH
#: 60 8S=C
#: 61 8S=D
#: 62 8S=H
#: 63 8S=S


# %% Turns

import numpy as np

from cardlab import Batch

batch = Batch("crazy_eights", 1000, seed=1)
turns = batch.turns(np.arange(5))
print(len(turns), "turns of seats", turns.seats)
print("legal actions:", turns.mask.sum(axis=1))
print("top cards:", [turns.game.card_text(card) for card in turns.views["top"]])

#: 5 turns of seats [0 0 0 0 0]
#: legal actions: [1 1 2 2 1]
#: top cards: ['KC', '5H', '5C', '4D', '5C']


# %% DEALER, OVER

from cardlab import Table, find_game
from cardlab.engine.game import DEALER, OVER

state = find_game("crazy_eights").start()
print(state.mover == DEALER)  # the cards are not dealt yet

table = Table("crazy_eights", seed=36)
while table.mover != OVER:
    table.act(table.turn().legal[0])
print(table.mover, table.over)

#: True
#: -1 True


# %% Description

from cardlab import Table

table = Table("crazy_eights", seed=36)
table.act(table.turn().legal[0])
seen = table.state.view(0).describe()
print("seat", seen.seat, "of", seen.seats, "- to move:", seen.to_move)
print(seen.facts)
print([zone.name for zone in seen.zones])
print([event.text for event in seen.events])

#: seat 0 of 2 - to move: 1
#: {'suit': 'spades'}
#: ['hand', 'hand', 'stock', 'pile']
#: ['played AS']


# %% Zone

from cardlab import Table
from cardlab.engine.game import Zone

for zone in Table("crazy_eights", seed=36).state.view(0).describe().zones:
    print(zone.name, zone.seat, zone.count, zone.cards)

print(Zone("hand", 3, seat=1))  # three cards that are hidden

#: hand 0 5 ('AS', '2S', '3D', '8S', 'KH')
#: hand 1 5 ()
#: stock None 41 ()
#: pile None 1 ('KS',)
#: Zone(name='hand', count=3, cards=(), seat=1)


# %% Event

from cardlab import Table
from cardlab.engine.game import Event

table = Table("crazy_eights", seed=36)
for _ in range(3):
    table.act(table.turn().legal[0])
for event in table.state.view(0).describe().events:
    print(f"seat {event.seat}: {event.text}")

print(Event(seat=None, text="the stock is shuffled"))  # nobody did it

#: seat 0: played AS
#: seat 1: played TS
#: seat 0: played 2S
#: Event(seat=None, text='the stock is shuffled')


# %% Agent

from cardlab import Agent, play_game


class KeepEights:
    name = "keep_eights"

    def act(self, turn, rng):
        plain = [action for action, text in zip(turn.legal, turn.texts) if text[0] != "8"]
        return int(rng.choice(plain or turn.legal))


agent = KeepEights()
print(isinstance(agent, Agent))
print(play_game("crazy_eights", [agent, "random"], seed=36).result)

#: True
#: returns=[1.0, -1.0] points=[27.0, 0.0]


# %% OpenAgent

from cardlab import play_game
from cardlab.engine.cards import cards_in, cards_text
from cardlab.engine.game import OpenAgent


class Spy:
    """Leaves the suit that the other seat holds fewest of."""

    name = "spy_open"  # it sees all cards, so the name must end in _open

    def act_open(self, state, rng):
        other = cards_text(cards_in(state.hands[1 - state.mover]))
        legal = state.legal().tolist()
        return min(legal, key=lambda action: other.count(state.game.action_text(action)[-1]))


print(isinstance(Spy(), OpenAgent))
print(play_game("crazy_eights", [Spy(), "random"], seed=36).result)

#: True
#: returns=[1.0, -1.0] points=[50.0, 0.0]


# %% ActsInBatches

from cardlab.arena.match import Match, play_match
from cardlab.engine.game import ActsInBatches


class First:
    name = "first"

    def act(self, turn, rng):
        return int(turn.legal[0])

    def act_many(self, turns, rngs):  # the same answers, thousands at once
        return turns.mask.argmax(axis=1)


print(isinstance(First(), ActsInBatches))
result = play_match(Match.plan("crazy_eights", [First(), "random"], games=2000, seed=1))
for one in result.standings:
    print(one.agent, one.wins, "won,", one.losses, "lost,", one.ties, "tied")

#: True
#: first 847 won, 705 lost, 448 tied
#: random 705 won, 847 lost, 448 tied


# %% HasValues

import numpy as np

from cardlab import Table
from cardlab.engine.game import HasValues


class CountsSuits:
    """Values an action by how many cards of its suit are in the hand."""

    name = "counts_suits"

    def values(self, turn, rng):
        hand = turn.view.describe().zones[0].cards
        return np.array([sum(card[1] == text[-1] for card in hand) / 10 for text in turn.texts])

    def act(self, turn, rng):
        return int(turn.legal[self.values(turn, rng).argmax()])


turn = Table("crazy_eights", seed=36).turn()
agent = CountsSuits()
print(isinstance(agent, HasValues))
print(dict(zip(turn.texts, agent.values(turn, np.random.default_rng(1)).tolist())))

#: True
#: {'AS': 0.3, '2S': 0.3, 'KH': 0.1, '8S=C': 0.0, '8S=D': 0.1, '8S=H': 0.1, '8S=S': 0.3}


# %% HasUnit, Unit

import numpy as np

from cardlab import Table
from cardlab.engine.game import HasUnit, Unit
from cardlab.show.explanation import ask_about, words_of


class CountsCards:
    name = "counts_cards"
    unit = Unit("cards of this suit in hand", "{:.0f}", limits=(0, 5))

    def values(self, turn, rng):
        hand = turn.view.describe().zones[0].cards
        return np.array([sum(card[1] == text[-1] for card in hand) for text in turn.texts])

    def act(self, turn, rng):
        return int(turn.legal[self.values(turn, rng).argmax()])


turn = Table("crazy_eights", seed=36).turn()
print(isinstance(CountsCards(), HasUnit))
explanation = ask_about(CountsCards(), turn)
print(words_of(explanation.unit))
for text, value in zip(turn.texts, explanation.values):
    print(text, explanation.unit.form.format(value))

#: True
#: cards of this suit in hand
#: AS 3
#: 2S 3
#: KH 1
#: 8S=C 0
#: 8S=D 1
#: 8S=H 1
#: 8S=S 3


# %% HasAttention, Attention (needs onnxruntime)

import numpy as np

from cardlab import Table, find_agent
from cardlab.engine.game import HasAttention

turn = Table("koi_koi", seed=1).turn()
agent = find_agent("koi_koi_win", "koi_koi")
print(isinstance(agent, HasAttention))
attention = agent.attention(turn)
print(attention.weights.shape)  # block, head, action, token
first = attention.weights[-1].mean(axis=0)[0]  # the last block, the first action
print(turn.texts[0], "attends most to", attention.tokens[first.argmax()])

#: True
#: (2, 4, 8, 50)
#: 1-crane attends most to 2-red


# %% FollowsGames

from cardlab import play_game
from cardlab.engine.game import FollowsGames


class Diary:
    name = "diary"

    def __init__(self):
        self.lines = []

    def begin(self, game, options, seat, seats, rng):
        self.lines.append(f"{game.name} with {seats} seats, mine is {seat}")

    def act(self, turn, rng):
        return int(turn.legal[0])

    def end(self, seat, returns, points):
        self.lines.append(f"return {returns[seat]}, points {points}")


agent = Diary()
print(isinstance(agent, FollowsGames))
play_game("crazy_eights", [agent, "random"], seed=36)
print("\n".join(agent.lines))

#: True
#: crazy_eights with 2 seats, mine is 0
#: return 1.0, points [57.0, 0.0]


# %% PlansAhead

import numpy as np

from cardlab import Table, find_agent
from cardlab.engine.game import PlansAhead

table = Table("birds_of_a_feather", seed=1)
agent = find_agent("solver", "birds_of_a_feather")
print(isinstance(agent, PlansAhead))
actions, nodes = agent.plan(table.turn(), np.random.default_rng(1))
for action in actions:
    table.act(action)
print(len(actions), "moves after", nodes, "nodes; solved:", table.state.returns() == [1.0])

#: True
#: 15 moves after 38 nodes; solved: True


# %% require_agent

from cardlab import CardlabError
from cardlab.engine.game import require_agent


class Unnamed:
    def act(self, turn, rng):
        return int(turn.legal[0])


for found in (Unnamed, Unnamed()):
    try:
        require_agent(found, "my_agents:Unnamed")
    except CardlabError as error:
        print(error)

#: agent 'my_agents:Unnamed' is a class; make an agent of it: Unnamed()
#: agent 'my_agents:Unnamed', of type Unnamed, has no name (write name = "mine" in its class)


# %% nth_legal

import numpy as np

from cardlab import Batch
from cardlab.engine.game import nth_legal

batch = Batch("crazy_eights", 1000, seed=1)
rng = np.random.default_rng(1)
while not batch.over.all():
    batch.step(nth_legal(batch.mask, rng.integers(batch.mask.sum(axis=1).clip(min=1))))
print(batch.returns.mean(axis=0))

#: [ 0.033 -0.033]


# %% record_type

import numpy as np

from cardlab.engine.game import record_type

STATE = record_type(
    [
        ("hands", "i8", (2,)),  # a set of cards for each seat
        ("phase", "u1"),
        ("seat", "u1"),
        ("seats", "u1"),
    ]
)

state = np.zeros(1, dtype=STATE)  # an array of one game
s = state[0]
s.seats = 2
s.hands[1] = 0b101
print(s.seats, s.hands, STATE.itemsize, "bytes")

#: 2 [0 5] 19 bytes
