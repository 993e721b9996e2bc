"""Intended differences between the stored data and the present version, each with its reason.

A pattern matches the path of a value in the data of one game, as `write.py --check` prints it; `*`
stands for anything. When the data is written again, this list is emptied. The words of views of
Cribbage ("discards" for "cards laid away", "discarded" for "laid away") were changed in the data
itself, after a check that the old words in their place give the old fingerprints.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

INTENDED: tuple[tuple[str, str], ...] = (
    ("* / lists / agents / * / summary", "agents are described in the words of the literature"),
    ("* / lists / agents / * / parameters / * / help", "likewise their parameters"),
    ("* / lists / agents / * / strength / *", "measured against heuristic, no longer random"),
    ("* / store / sprt / *", "sprt names its store and tournament"),
    ("* / command, sprt * / store", "sprt names its store and tournament"),
    ("* / command, check * / hidden_cards", "check runs the tests about hidden cards"),
    ("* / command, check-agent * / * / check", "in plain words"),
    ("* / match* / match / salt", "deals of programs come from a salt; there is none here"),
    ("koi_koi / lists / train / koi_koi/monte_carlo / ends", "called outcomes; old runs are read"),
    ("koi_koi / lists / train / koi_koi/monte_carlo / outcomes", "formerly ends"),
    ("cribbage / training, pegging_statistics / files / *", "files have the training's name"),
    ("koi_koi / lists / train / koi_koi/monte_carlo / ends", "the setting is named outcomes"),
    ("koi_koi / lists / train / koi_koi/monte_carlo / outcomes", "the setting was named ends"),
    (
        "cribbage / agent, cribbage_* / values / *",
        "hints show the chances to win of `analyse`; the order of the choices is as it was",
    ),
    ("cribbage / training, win_probability / files / *", "files have the training's name"),
    ("cribbage / lists / games / summary", "cards are discarded, no longer laid away"),
    ("crazy_eights / lists / games / options / * / help", "says when a card is drawn"),
    ("uno / lists / games / summary", "a card matches by colour, number or sign"),
    ("cribbage / command, analyse * / advice", "cards are discarded, no longer laid away"),
)


def is_intended(path: str) -> bool:
    """Return whether a value may differ."""
    return any(fnmatchcase(path, pattern) for pattern, _ in INTENDED)
