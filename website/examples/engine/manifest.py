# %% GamePackage, AgentEntry, Parameter, Level

from cardlab.engine.manifest import AgentEntry, GamePackage, Level, Parameter

# In my_games/kuhn_poker/__init__.py one writes `HERE = __name__`.
HERE = "my_games.kuhn_poker"
PERCENT = Parameter("percent", 50, 0, "how often it bluffs", high=100)
BLUFFER = AgentEntry(
    "bluffer", "bets with a jack now and then", f"{HERE}.agents:Bluffer", (PERCENT,)
)
PACKAGE = GamePackage(
    module=HERE,
    game=f"{HERE}.rules:GAME",
    summary="three cards, one bet",
    agents=(BLUFFER,),
    levels=(Level("Easy", "random"), Level("Hard", "bluffer:20")),
)

print(PACKAGE.name, "-", PACKAGE.title)
print(BLUFFER.usage, BLUFFER.fair, PERCENT.read("80", "bluffer"))
print([f"{level.name}: {level.agent}" for level in PACKAGE.levels])

#: kuhn_poker - Kuhn Poker
#: bluffer:50 True 80
#: ['Easy: random', 'Hard: bluffer:20']


# %% load

from cardlab.engine.manifest import load

game = load("cardlab.games.crazy_eights:GAME")
print(game.title, "has", game.num_actions, "actions")

#: Crazy Eights has 66 actions
