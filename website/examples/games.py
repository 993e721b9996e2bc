# %% find_game

from cardlab import CardlabError, find_game

game = find_game("crazy_eights")
print(f"{game.title}: {game.summary}")
print(game.num_actions, "actions,", game.deck, "cards")

try:
    find_game("crazy_aces")
except CardlabError as error:
    print(error)

#: Crazy Eights: shed your cards by matching rank or suit; eights are wild
#: 66 actions, 52 cards
#: unknown game 'crazy_aces'; did you mean 'crazy_eights'?
