# %% html_of

from cardlab import Table
from cardlab.arena.match import Match, play_match
from cardlab.show.notebook import html_of

turn = Table("crazy_eights", seed=18).turn()
print(html_of(turn).partition("<p>")[2])  # the last line of a notebook cell is shown by itself

result = play_match(Match.plan("crazy_eights", ["heuristic", "random"], games=20))
print(html_of(result).count("<tr"), "rows")

#: seat 0 may: 7S, 8S=C, 8S=D, 8S=H, 8S=S</p>
#: 3 rows
