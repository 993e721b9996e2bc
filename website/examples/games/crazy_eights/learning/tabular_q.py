# %% Config, train

from pathlib import Path

from cardlab.games.crazy_eights.learning.tabular_q import Config, train


def report(what, done, total):
    """Show the progress."""
    print(f"{done:,} of {total:,} {what}")


config = Config(games=40_000, learn_from_losses=True, seed=1)
summary = train(config, Path("run"), report)
print(summary["states visited"], "states visited,", summary["decisions"], "decisions")
print(sorted(path.name for path in Path("run").iterdir()))

#: 0 of 40,000 games
#: 20,000 of 40,000 games
#: 40,000 of 40,000 games
#: 3816 states visited, 954218 decisions
#: ['checkpoint.npz', 'config.json', 'table.json', 'table.npz']
