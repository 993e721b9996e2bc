# %% find_report (needs matplotlib)

from cardlab.papers.reproduce import find_report

report = find_report("crazy_eights")
print(report.package.title, "- a quick run plays", report.quick.pair_games, "games a pair,")
print("the full one", report.full.pair_games)

#: Crazy Eights - a quick run plays 240 games a pair,
#: the full one 8000


# %% reproduce, Report, Study

from pathlib import Path

from cardlab.arena.match import Match
from cardlab.engine.manifest import GamePackage
from cardlab.papers.claim import Claim, compare, with_margin
from cardlab.papers.reproduce import Report, Study, reproduce

Path("my_game/paper").mkdir(parents=True)
Path("my_game/__init__.py").touch()
Path("my_game/paper/report.md").write_text("# My paper, {size}\n\n{claims}\n")
PACKAGE = GamePackage(module="my_game", game="cardlab.games.crazy_eights:GAME")


def measure(study: Study) -> tuple[float, float]:
    """Return the score of `heuristic` in percent, with its margin; games once played are kept."""
    match = Match.plan("crazy_eights", ["heuristic", "random"], games=study.plan)
    return study.play("matches", {"main": match})["main"].score()


def claims(score: tuple[float, float]) -> list[Claim]:
    """Return what the paper claims beside what was measured."""
    verdict = compare(60, 1, *score)
    return [Claim("table 1", "heuristic wins, in %", "60 ± 1", with_margin(score), verdict)]


report = Report(PACKAGE, 4000, 200, measure, lambda *_: None, claims, lambda _: {})
path = reproduce(report, Path("out"), Path("work"), quick=True, workers=1, progress=lambda *_: None)
print(path, path.read_text().strip(), sep="\n")

#: out/my_game.md
#: # My paper, quick run: wide intervals
#:
#: | where | the paper says | theirs | ours | verdict |
#: | --- | --- | --- | --- | --- |
#: | table 1 | heuristic wins, in % | 60 ± 1 | 63.0 ± 4.7 | agrees |
