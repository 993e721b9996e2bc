# %% explain, Explanation

from cardlab import find_agent, play_game
from cardlab.show.explanation import Explanation, explain

record = play_game("crazy_eights", ["heuristic", "random"], seed=18)
agent = find_agent("monte_carlo:2000", "crazy_eights")
found: Explanation = explain(record, 0, agent)

for text, value in zip(found.turn.texts, found.values, strict=True):
    print(f"{text}: {value:+.2f}")
print("best:", found.turn.texts[found.best], "- taken:", found.turn.game.action_text(found.taken))

#: 7S: +0.14
#: 8S=C: +0.08
#: 8S=D: +0.03
#: 8S=H: -0.03
#: 8S=S: +0.23
#: best: 8S=S - taken: 7S


# %% ask_about, words_of

from cardlab import Table, find_agent
from cardlab.show.explanation import ask_about, words_of

turn = Table("crazy_eights", seed=18).turn()
found = ask_about(find_agent("monte_carlo:2000", "crazy_eights"), turn)
print(words_of(found.unit))
print(found.to_dict()["choices"][0])

#: expected score, with a win as 100%
#: {'action': 27, 'text': '7S', 'value': 0.1425}


# %% show

from rich.console import Console

from cardlab import Table, find_agent
from cardlab.show.explanation import ask_about, show

turn = Table("crazy_eights", seed=18).turn()
found = ask_about(find_agent("monte_carlo:2000", "crazy_eights"), turn)
show(found, Console(width=64, color_system=None))

#: ╭─ Crazy Eights ───────────────────────────────────────────────╮
#: │ suit       ♠ spades                                          │
#: │ your hand  7♦  7♠  8♠  9♦  Q♦                                │
#: │ pile       3♠                                                │
#: │                                                              │
#: │ monte_carlo:2000, expected score, with a win as 100%         │
#: │  5)  8♠ call ♠  61.4%  ████████████░░░░░░░░                  │
#: │  1)  7♠         57.1%  ███████████░░░░░░░░░                  │
#: │  2)  8♠ call ♣  53.9%  ███████████░░░░░░░░░                  │
#: │  3)  8♠ call ♦  51.4%  ██████████░░░░░░░░░░                  │
#: │  4)  8♠ call ♥  48.4%  ██████████░░░░░░░░░░                  │
#: ╰────────────────────────────────────── ply 0, seat 0 to move ─╯
