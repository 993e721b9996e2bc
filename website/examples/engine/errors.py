# %% CardlabError

from cardlab import CardlabError, Table

try:
    Table("crazy_eights", seed=1, options={"seats": 7})
except CardlabError as error:
    print(error)

#: option seats=7 of crazy_eights is not allowed; use a whole number from 2 to 4


# %% CardlabWarning

import warnings

from cardlab import CardlabWarning
from cardlab.arena.match import Match, play_match


class First:
    name = "first"

    def act(self, turn, rng):
        return int(turn.legal[0])


match = Match.plan("crazy_eights", [First(), "random"], games=20, seed=1)
with warnings.catch_warnings():
    warnings.simplefilter("error", CardlabWarning)  # stop at a warning
    try:
        play_match(match, workers=2)
    except CardlabWarning as warning:
        print(warning)

#: agent 'first' cannot be sent to other processes, so this one plays all games; define its class in a module to use 2 workers


# %% IllegalAction

from cardlab import IllegalAction, Table

table = Table("crazy_eights", seed=36)
try:
    table.act(0)
except IllegalAction as error:
    print(error)
print(len(table.actions))  # nothing has happened

#: crazy_eights, ply 0: seat 0 cannot take action 0 (AC); legal: AS (3), 2S (7), KH (46), 8S=C (60), 8S=D (61), 8S=H (62), 8S=S (63)
#: 0


# %% one_line

from cardlab.engine.errors import one_line

print(one_line("two lines\nand a tab\tand a bell\a"))

#: two lines and a tab and a bell�


# %% reason_of

from cardlab.engine.errors import reason_of


def choose(turn):
    return turn.legal[0]


try:
    choose(None)
except AttributeError as error:
    print(reason_of(error, choose))

#: ..., line 5: AttributeError: 'NoneType' object has no attribute 'legal'


# %% require

from cardlab import CardlabError
from cardlab.engine.errors import require

require("the report", "papers", "json")  # it is there: nothing happens
try:
    require("the report", "papers", "json", "a_plotting_library")
except CardlabError as error:
    print(error)

#: the report needs a_plotting_library; install with: pip install 'cardlab[papers]'


# %% suggest

from cardlab.engine.errors import CardlabError, suggest

colours = ["red", "green", "blue"]
for given in ("bleu", "mauve"):
    if given not in colours:
        print(CardlabError(suggest("colour", given, colours)))

#: unknown colour 'bleu'; did you mean 'blue'?
#: unknown colour 'mauve'; known: blue, green, red
