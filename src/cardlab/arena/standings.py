"""What a tournament's games say: standings, cross-table and ratings, from the games alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardlab.arena.match import shares
from cardlab.arena.ratings import Outcome, Rating, rate
from cardlab.arena.shard import Match, ShardResult, usual_reason
from cardlab.arena.store import Store
from cardlab.engine.game import Array
from cardlab.engine.notebook_hooks import ShownAsHtml
from cardlab.engine.statistics import mean_and_interval

__all__ = ["Cell", "Line", "Results", "Standings", "outcome_of"]

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class Cell:
    """How often one agent came out before another where both sat, draws counting half."""

    share: float  # of games that the first agent finished ahead; ties count half
    interval: Interval  # 95 %; None: too few deals
    games: int  # that both played


@dataclass(frozen=True)
class Line:
    """One agent's line of the standings."""

    agent: str  # its name
    games: int  # it played
    wins: int  # games
    ties: int  # games
    losses: int  # games
    forfeits: int  # games given away
    score: float  # mean of a game, 0 to 1
    score_interval: Interval  # 95 %; None: too few deals
    points: float  # mean of a game
    points_interval: Interval  # 95 %; None: too few deals
    milliseconds: float  # a decision; where agents play alone, a deal
    nodes: float | None  # the median a deal, of agents that plan a whole deal
    rating: Rating | None  # None: one seat, so no opponent
    forfeit_reason: str | None = None  # of most forfeits


@dataclass(frozen=True)
class Standings(ShownAsHtml):
    """What a tournament has brought: lines, best first, and how every pair did."""

    game: str  # its name
    seats: int  # of each game
    lines: tuple[Line, ...]  # one for each agent, the best first
    cells: dict[tuple[str, str], Cell]  # by agent and other agent
    games: int  # played so far
    planned: int  # games in all
    deals: int  # played so far

    def ranking(self) -> list[str]:
        """Return the agents, the best first."""
        return [line.agent for line in self.lines]

    def to_dict(self, *, times: bool = True) -> dict[str, Any]:
        """Return the table as plain data; without times it is the same for the same seed."""
        lines = [asdict(line) for line in self.lines]
        for line, one in zip(lines, self.lines, strict=True):
            line["rating"] = one.rating and one.rating.to_dict()
            if not times:
                del line["milliseconds"]
        return {
            "game": self.game,
            "seats": self.seats,
            "games": self.games,
            "planned": self.planned,
            "deals": self.deals,
            "ranking": self.ranking(),
            "lines": lines,
            "cells": [
                {"agent": agent, "other": other, **asdict(cell)}
                for (agent, other), cell in self.cells.items()
            ],
        }


class Results:
    """The games of a tournament so far, as arrays by deal, seating and seat."""

    def __init__(self, matches: Sequence[Match]) -> None:
        """Begin with no games."""
        self.matches = tuple(matches)
        first = matches[0]
        self.deals, self.seats = first.deals, len(first.lineup)
        self.agents = list(dict.fromkeys(agent for match in matches for agent in match.agents))
        shapes = [(self.deals, len(match.rotations), self.seats) for match in matches]
        self.returns: list[Array] = [np.full(shape, np.nan) for shape in shapes]
        self.points: list[Array] = [np.full(shape, np.nan) for shape in shapes]
        self.forfeits: dict[str, list[str]] = {}  # by agent, the reasons
        self.nodes: dict[str, list[int]] = {}
        self.seconds: dict[str, float] = dict.fromkeys(self.agents, 0.0)
        self.decisions: dict[str, int] = dict.fromkeys(self.agents, 0)
        # By pairing, the agent on every seat of every seating.
        self.who = [
            np.array(
                [[self.agents.index(one) for one in match.seating(r)] for r in match.rotations]
            )
            for match in matches
        ]

    @classmethod
    def load(cls, matches: Sequence[Match], store: Store, tournament: int) -> Results:
        """Return the games that a store holds, without those that are damaged."""
        results = cls(matches)
        places = [{r: n for n, r in enumerate(match.rotations)} for match in matches]
        for row in store.outcomes(tournament, matches):
            place = places[row.pairing][row.rotation]
            forfeit = None if row.forfeit is None else (row.forfeit, row.reason)
            results._put(row.pairing, row.deal, place, row.returns, row.points, forfeit, row.nodes)
        for pairing, seconds, decisions in store.times(tournament, matches):
            results._count_times(pairing, seconds, decisions)
        return results

    def add(self, chunk: ShardResult) -> None:
        """Count the games of a shard."""
        match = self.matches[chunk.pairing]
        places = {rotation: place for place, rotation in enumerate(match.rotations)}
        for one in chunk.games:
            place = places[one.rotation]
            forfeit = None if one.forfeit is None else (one.forfeit, one.reason)
            self._put(chunk.pairing, one.deal, place, one.returns, one.points, forfeit, one.nodes)
        self._count_times(chunk.pairing, chunk.seconds, chunk.decisions)

    def _put(
        self,
        pairing: int,
        deal: int,
        place: int,
        returns: Sequence[float],
        points: Sequence[float],
        forfeit: tuple[int, str | None] | None,
        nodes: int | None,
    ) -> None:
        if not np.isnan(self.returns[pairing][deal, place, 0]):
            return  # a shard that came twice counts once
        self.returns[pairing][deal, place] = returns
        self.points[pairing][deal, place] = points
        if forfeit is not None:
            loser = self.agents[self.who[pairing][place, forfeit[0]]]
            self.forfeits.setdefault(loser, []).append(forfeit[1] or "")
        if nodes is not None:
            self.nodes.setdefault(self.agents[self.who[pairing][place, 0]], []).append(nodes)

    def _count_times(
        self, pairing: int, seconds: Iterable[float], decisions: Iterable[int]
    ) -> None:
        for agent, spent, made in zip(
            self.matches[pairing].agents, seconds, decisions, strict=True
        ):
            self.seconds[agent] += spent
            self.decisions[agent] += made

    def done(self, pairing: int) -> Array:
        """Return which deals of a pairing are played in every seating."""
        whole = np.isfinite(self.returns[pairing][:, :, 0]).all(axis=1)
        return np.asarray(whole)

    @property
    def games(self) -> int:
        """How many games there are."""
        return int(sum((~np.isnan(one[:, :, 0])).sum() for one in self.returns))

    @property
    def planned(self) -> int:
        """How many games there will be."""
        return sum(one.shape[0] * one.shape[1] for one in self.returns)

    def table(self, *, ratings: bool = True, seed: int = 0) -> Standings:
        """Return what the games so far say."""
        rated: dict[str, Rating] = {}
        if ratings and self.seats > 1 and self.games:
            rated = {one.agent: one for one in rate(self.agents, self.outcomes(), seed=seed)}
        lines = [self._line(index, rated.get(agent)) for index, agent in enumerate(self.agents)]
        lines.sort(key=_place)
        cells = {}
        for one in lines:
            for other in lines:
                cell = self._cell(self.agents.index(one.agent), self.agents.index(other.agent))
                if one is not other and cell:
                    cells[one.agent, other.agent] = cell
        played = [self.done(pairing) for pairing in range(len(self.matches))]
        deals = int(np.logical_or.reduce(played).sum())
        return Standings(
            self.matches[0].game,
            self.seats,
            tuple(lines),
            cells,
            self.games,
            self.planned,
            deals,
        )

    def outcomes(self) -> dict[int, dict[Outcome, int]]:
        """Return who came before whom, counted for every deal."""
        found: dict[int, dict[Outcome, int]] = {}
        for returns, who in zip(self.returns, self.who, strict=True):
            for deal, place in np.argwhere(~np.isnan(returns[:, :, 0])).tolist():
                outcome = outcome_of(who[place].tolist(), returns[deal, place].tolist())
                counts = found.setdefault(deal, {})
                counts[outcome] = counts.get(outcome, 0) + 1
        return found

    def _by_deal(self, values: list[Array], masks: list[Array]) -> Array:
        """Return the mean of masked values for every deal that has any."""
        total, count = np.zeros(self.deals), np.zeros(self.deals)
        for value, mask in zip(values, masks, strict=True):
            there = mask[None] & ~np.isnan(value)
            total += np.where(there, value, 0.0).sum(axis=(1, 2))
            count += there.sum(axis=(1, 2))
        means: Array = total[count > 0] / count[count > 0]
        return means

    def _line(self, index: int, rating: Rating | None) -> Line:
        agent = self.agents[index]
        masks = [who == index for who in self.who]
        seats = self.seats
        scores = [shares(one) if seats > 1 else (1 + one) / 2 for one in self.returns]
        wins = ties = played = 0
        for returns, mask in zip(self.returns, masks, strict=True):
            there = mask[None] & ~np.isnan(returns)
            best = returns.max(axis=2, keepdims=True) if seats > 1 else np.ones_like(returns)
            top = (returns == best) & there
            alone = (returns == best).sum(axis=2, keepdims=True) == 1
            wins += int((top & alone).sum())
            ties += int((top & ~alone).sum())
            played += int(there.sum())
        none = (0.0, None)
        by_deal = self._by_deal(scores, masks)
        score, score_interval = mean_and_interval(by_deal, 0, 1) if len(by_deal) else none
        by_deal = self._by_deal(self.points, masks)
        points, points_interval = mean_and_interval(by_deal) if len(by_deal) else none
        asked = self.decisions[agent] if seats > 1 else played
        nodes = self.nodes.get(agent)
        reasons = self.forfeits.get(agent, [])
        return Line(
            agent,
            played,
            wins,
            ties,
            played - wins - ties,
            len(reasons),
            score,
            score_interval,
            points,
            points_interval,
            1000 * float(self.seconds[agent]) / max(1, int(asked)),
            float(np.median(nodes)) if nodes else None,
            rating,
            usual_reason(reasons),
        )

    def _cell(self, one: int, other: int) -> Cell | None:
        """Return how often `one` came before `other`, by deal: at one table, or each alone."""
        if self.seats == 1:
            apart = [self.points[one][:, 0, 0] - self.points[other][:, 0, 0]]
        else:
            apart = [
                returns[:, place, i] - returns[:, place, j]
                for returns, who in zip(self.returns, self.who, strict=True)
                for place in range(len(who))
                for i in np.flatnonzero(who[place] == one)
                for j in np.flatnonzero(who[place] == other)
            ]
        total, count = np.zeros(self.deals), np.zeros(self.deals)
        for difference in apart:
            ahead = (1 + np.sign(difference)) / 2
            there = ~np.isnan(ahead)
            total += np.where(there, ahead, 0.0)
            count += there
        if not count.any():
            return None
        share, interval = mean_and_interval(total[count > 0] / count[count > 0], 0, 1)
        return Cell(share, interval, int(count.sum()))


def outcome_of(who: Sequence[int], returns: Sequence[float]) -> Outcome:
    """Return who came before whom in one game: groups that share a place, the best first."""
    groups: dict[float, list[int]] = {}
    for agent, value in zip(who, returns, strict=True):
        groups.setdefault(value, []).append(agent)
    return tuple(tuple(sorted(groups[value])) for value in sorted(groups, reverse=True))


def _place(line: Line) -> tuple[float, float, float, str]:
    """Return what agents are sorted by: rating, or what they solved and by how many nodes."""
    nodes = float("inf") if line.nodes is None else line.nodes
    if line.rating:
        return (-line.rating.elo, -line.points, nodes, line.agent)
    return (-line.score, -line.points, nodes, line.agent)
