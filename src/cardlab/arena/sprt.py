"""The sequential probability ratio test: is A stronger than B? It stops as soon as it decides.

A deal is played with both seatings; the sum of A's two scores is 0, 1/2, 1, 3/2 or 2, and the five
counts are all that the test knows. They carry the deals' luck: what swapping seats cancels does not
widen the test. Strength is normalised Elo,

    nElo = 800 / ln 10 * (mean score of a game - 1/2) / standard deviation of a game

so that the number of games until a decision does not depend on how often draws occur. With t the
same ratio for a pair of games, and t0, t1 its values at the two hypotheses,

    LLR = pairs / 2 * ln((1 + (t - t0)**2) / (1 + (t - t1)**2))

(Michel Van den Bergh, "Comments on Normalized Elo"). Maximising the likelihood of the five counts
under each hypothesis instead gives the same to a few parts in ten thousand, for more work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cardlab.arena.standings import Results
from cardlab.arena.store import Store, read_store
from cardlab.arena.tournament import Plan, enter, play_tournament, read_plan, resume
from cardlab.engine.arguments import read_count, read_kind, read_number, read_text, shorten
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.statistics import Z95

__all__ = ["Test", "Verdict", "judge", "play_sprt", "read_counts"]

NELO = 800 / np.log(10)
SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # of a pair of games, as a share
MOST_ELO = 10_000  # nElo that a test may be about
LEAST_ERROR = 1e-9  # how rarely a test may be wrong
FAINT = 1e-3  # stands for a count of zero: what was not seen is not impossible


@dataclass(frozen=True)
class Test:
    """The hypotheses, nElo of at most `elo0` or at least `elo1`, and the error probabilities."""

    __test__ = False  # this is no test for pytest

    elo0: float = 0.0  # nElo of H0: stronger by no more than this
    elo1: float = 10.0  # nElo of H1: stronger by at least this
    alpha: float = 0.05  # probability to accept H1 where H0 holds
    beta: float = 0.05  # probability to accept H0 where H1 holds

    def check(self) -> Test:
        """Return this test; raise a sentence if a value is out of range."""
        for name in ("elo0", "elo1", "alpha", "beta"):
            read_number(getattr(self, name), name)
        if self.elo0 >= self.elo1:
            raise CardlabError(
                f"--elo0 must be less than --elo1, got {self.elo0:g} and {self.elo1:g}; write for "
                "example --elo0 0 --elo1 10"
            )
        for name, value in (("elo0", self.elo0), ("elo1", self.elo1)):
            if abs(value) > MOST_ELO:
                raise CardlabError(
                    f"--{name} must be from -{MOST_ELO:,} to {MOST_ELO:,}, got {value:g}"
                )
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not LEAST_ERROR <= value < 0.5:
                raise CardlabError(
                    f"--{name} must be at least {LEAST_ERROR:g} and less than 0.5, got {value:g}"
                )
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which H0 and H1 are accepted."""
        low, high = self.beta / (1 - self.alpha), (1 - self.beta) / self.alpha
        return float(np.log(low)), float(np.log(high))


@dataclass(frozen=True)
class Verdict:
    """The result of a sequential test."""

    counts: tuple[int, ...]  # pairs of games by their sum of scores: 0, 1/2, 1, 3/2, 2
    llr: float  # log-likelihood ratio of H1 to H0
    bounds: tuple[float, float]  # of llr: at or below H0, at or above H1
    nelo: float  # normalised Elo of the first agent
    nelo_margin: float  # half a 95 % interval
    score: float  # of the first agent, 0 to 1
    score_margin: float  # half a 95 % interval
    salt: str | None = None  # the secret that the deals depended on, if programs have played
    tournament: str | None = None  # its name in the store, where every game is kept

    @property
    def accepted(self) -> str | None:
        """`H0`, `H1`, or None: play on."""
        if self.llr <= self.bounds[0]:
            return "H0"
        return "H1" if self.llr >= self.bounds[1] else None

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        data = asdict(self) | {"accepted": self.accepted, "games": 2 * sum(self.counts)}
        for name in ("nelo_margin", "score_margin"):
            data[name] = data[name] if np.isfinite(data[name]) else None  # of no games
        return data


def judge(counts: Sequence[int], test: Test) -> Verdict:
    """Return the verdict on five counts of paired games: both lost, ..., both won."""
    counts, test = _read_five(counts), _read_test(test)
    numbers = np.array(counts, dtype=np.float64)
    pairs = numbers.sum()
    if pairs == 0:
        return Verdict(counts, 0.0, test.bounds, 0.0, np.inf, 0.5, np.inf)
    share = np.maximum(numbers, FAINT)
    share /= share.sum()
    mean, deviation = _moments(share)
    game = np.sqrt(2) * deviation  # of one game, were the two of a pair independent
    t = (mean - 0.5) / deviation
    t0, t1 = (elo * np.sqrt(2) / NELO for elo in (test.elo0, test.elo1))
    llr = pairs / 2 * np.log((1 + (t - t0) ** 2) / (1 + (t - t1) ** 2))
    return Verdict(
        counts,
        float(llr),
        test.bounds,
        float(NELO * (mean - 0.5) / game),
        float(Z95 * NELO / np.sqrt(2 * pairs)),
        mean,
        float(Z95 * deviation / np.sqrt(pairs)),
    )


def _read_five(given: object) -> tuple[int, ...]:
    """Return five counts that are given as numbers."""
    try:
        counts = [] if isinstance(given, str) else [*given]  # type: ignore[misc]
    except TypeError:
        counts = []
    if len(counts) != len(SCORES):
        raise CardlabError(
            f"counts must be five whole numbers, of pairs of games that brought 0, 1/2, 1, 3/2 "
            f"and 2 wins, got {shorten(given)}"
        )
    return tuple(read_count(one, "each of the five counts", lowest=0) for one in counts)


def _read_test(test: object) -> Test:
    way = "make one by Test(elo0=0, elo1=10)"
    return read_kind(test, Test, "test", way).check()


def _moments(share: Array) -> tuple[float, float]:
    mean = float(share @ SCORES)
    return mean, float(np.sqrt(share @ (SCORES - mean) ** 2))


class _Watch:
    """Reads a match deal by deal, in order, until the test decides.

    What arrives early waits for the deals before it: the verdict does not depend on workers.
    """

    def __init__(self, test: Test) -> None:
        self.test = test
        self.counts = [0] * len(SCORES)
        self.verdict = judge(self.counts, test)
        self._next = 0

    def decided(self, results: Results) -> bool:
        """Count all complete deals, and return whether the test is decided."""
        returns, who, done = results.returns[0], results.who[0], results.done(0)
        while not self.verdict.accepted and self._next < len(done) and done[self._next]:
            mine = returns[self._next][who == 0]  # of the first agent, one for each seating
            self.counts[round(float((1 + np.sign(mine)).sum()))] += 1
            self.verdict = judge(self.counts, self.test)
            self._next += 1
        return self.verdict.accepted is not None


def play_sprt(
    plan: Plan,
    test: Test,
    store: Store,
    *,
    name: str | None = None,
    go_on: bool = False,
    workers: int = 1,
    ray: str | None = None,
    progress: Callable[[Verdict, int], None] | None = None,
) -> Verdict:
    """Play until the test decides or all planned games are played; every game is kept."""
    plan, test, store = read_plan(plan), _read_test(test), read_store(store)
    if len(plan.agents) != 2 or plan.matches[0].seats != 2:
        raise CardlabError(
            "the sequential test needs two agents and two seats, got "
            f"{len(plan.agents)} agents and {plan.matches[0].seats} seats"
        )
    watch = _Watch(test)
    entered = (resume if go_on else enter)(plan, store, name)

    def report(results: Results, _: object) -> None:
        watch.decided(results)
        if progress:
            progress(watch.verdict, results.planned)

    play_tournament(
        plan, store, entered, workers=workers, ray=ray, progress=report, stop=watch.decided
    )
    store.finish(entered.id)  # decided: no further deal will be played
    return replace(watch.verdict, salt=entered.salt, tournament=entered.name)


def read_counts(text: str) -> tuple[int, ...]:
    """Return five counts from a text such as 379,10170,21828,10640,343."""
    text = read_text(text, "counts", "379,10170,21828,10640,343")
    parts = text.replace("/", ",").replace(" ", ",").split(",")
    try:
        counts = tuple(int(one) for one in parts if one)
    except ValueError:
        counts = ()
    if len(counts) != len(SCORES) or min(counts) < 0:
        raise CardlabError(
            f"--counts must be five whole numbers, got {text!r}; give how many pairs of games "
            "scored 0, 1/2, 1, 3/2 and 2, as in 379,10170,21828,10640,343"
        )
    return counts
