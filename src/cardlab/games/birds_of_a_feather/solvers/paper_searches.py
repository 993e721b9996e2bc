"""The paper's searches for Birds of a Feather, each by name, with nodes counted as it counts them.

Paper: "Machine Learning Based Heuristic Search Algorithms to Solve Birds of a Feather Card Game",
sections 2 to 5. `ALGORITHMS` lists the names. Nodes are

- of depth-first searches: positions entered, repeats, dead ends and the goal included
  (`depth_first`);
- of `lr_queue`: positions taken from the queue (`best_first`);
- of `mcts`: moves taken, fifteen for a solution (`mcts`); simulations are counted apart;
- of a combination: the sum of its parts.

In the paper's program "LR" is a depth-first search with sorted children, in its text one priority
queue over all open nodes; both are here, as `lr` and `lr_queue`. The model that sorts the children
of a position is chosen by the number of cards of that position.

Deviations. The paper sorts the first moves by a model trained on deals alone, `lr16_deals_dfs`. Few
deals are unsolvable, and those have more fitting pairs than others rather than fewer; what
sets them apart does not separate good first moves from bad, and the model does worse than none.
`lr16_dfs` takes the model of 16 and 15 cards instead. The queue goes broad (`best_first`), so
`lr_queue` gives up after a number of nodes. The paper takes one run of MCTS; `mcts` begins again
from the deal, with other random numbers, when it ends in a dead end, at most `ATTEMPTS` times. The
combinations that the paper proposes as future work are made complete: if the second part fails,
`lr` searches from the deal and the outcome says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError, suggest
from cardlab.engine.game import Array, State
from cardlab.engine.kernel import int64, kernel
from cardlab.games.birds_of_a_feather.features import (
    NUM_TERMS,
    count_fits,
    features_after,
    score,
    top_cards,
)
from cardlab.games.birds_of_a_feather.rules import (
    CELLS,
    DEAL,
    DECK,
    GAME,
    NUM_ACTIONS,
    STATE,
    fresh,
    legal,
    published_order,
)
from cardlab.games.birds_of_a_feather.solvers import best_first, depth_first, mcts
from cardlab.games.birds_of_a_feather.solvers.depth_first import (
    BY_MODEL,
    BY_MOVE_FEATURES,
    DEPTH,
    ENTERED,
    NO_BUDGET,
    NODES,
    REACHED,
    SOLVED,
    STOPPED,
    Plan,
    Scratch,
    Tables,
    sort_by_score,
)
from cardlab.games.birds_of_a_feather.solvers.models import (
    EVOLVED,
    STAGES,
    shipped_model,
    shipped_ordering,
)

ATTEMPTS = 40
HANDOVER = 10  # stacks left when one part of a combination hands over to the other
REFERENCE_ORDER = -1
REPEATS = 5  # of each measurement in `breakdown`
SINGLE_MODELS = {  # by search: the model, and the fewest cards at which it sorts
    "lr": ("lr", 0),
    "lr_linear": ("linear", 0),
    "lr8_dfs": ("lr8", 8),
    "lr16_dfs": ("stage_16_15", 16),
    "lr16_deals_dfs": ("lr16", 16),
}
COMBINED = ("lr_then_mcts", "mcts_then_lr")
Models = Mapping[str, Any]  # Model, or under the name `evolved` an Ordering


ALGORITHMS = {
    "dfs": "depth first in the reference order, refuted positions remembered",
    "lr": "depth first, children sorted by one model for all cards",
    "lr8_dfs": "one model sorts while eight or more cards are left, then dfs",
    "lr16_dfs": "a model sorts the first moves only, then dfs",
    "lr16_deals_dfs": "as lr16_dfs, by a model trained on deals alone, as the paper's was",
    "lr_dfs": "four models sort by the cards left, 16 to 9, and dfs below",
    "lr_linear": "as lr, by linear instead of logistic regression, as the paper's text has it",
    "lr_queue": "one priority queue over all open nodes, as the paper's text has it; not complete",
    "evolved": "depth first, moves sorted by evolved weights",
    "mcts": "UCT with random play-outs, 160,000 simulations a move; not complete",
    "lr_then_mcts": "lr until ten cards are left, then UCT; lr from the deal if that fails",
    "mcts_then_lr": "UCT until ten cards are left, then lr; lr from the deal if that fails",
}


@dataclass(frozen=True)
class Limits:
    """What a search may spend: counts, never seconds."""

    simulations: int = mcts.SIMULATIONS  # of MCTS, for each move
    attempts: int = ATTEMPTS  # of MCTS, from the deal
    queue_nodes: int = 100_000  # of lr_queue
    nodes: int = NO_BUDGET  # of the other searches


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Outcome:
    """What one search found and what it took."""

    actions: tuple[int, ...] | None
    nodes: int
    seconds: float = 0.0
    simulations: int = 0
    attempts: int = 1
    gave_up: bool = False  # the budget of nodes was spent, so None proves nothing


class Results(NamedTuple):
    """What a search made of many seeds, an entry for each."""

    solved: Array
    nodes: Array
    seconds: Array
    gave_up: Array  # not solved, but not refuted either


def deal_seed(seed: int) -> Array:
    """Return an array of one game: the published deal of a seed."""
    state = fresh()
    order = np.empty(DECK, dtype=np.uint8)
    published_order(seeding.read_seed(seed), 0, order, np.zeros(1, dtype=np.int64))
    GAME.bindings.deal(state, 0, order)
    return state


def _read_deal(deal: int | Array | State) -> Array:
    if isinstance(deal, (int, np.integer)):
        return deal_seed(int(deal))
    state = deal.array if isinstance(deal, State) else deal
    if state[0].phase == DEAL:
        raise CardlabError("nothing is dealt yet; give a seed, or deal before searching")
    return state


def run(
    name: str,
    deal: int | Array | State,
    *,
    models: Models | None = None,
    seed: int = 0,
    limits: Limits = DEFAULT_LIMITS,
) -> Outcome:
    """Search a published deal, by its seed, or any position, and return what was found.

    `models` take the place of those that come with the package, by their names there. `seed` is
    for the random numbers of MCTS.
    """
    return _Search(name, models or {}, limits).run(_read_deal(deal), seed)


def run_seeds(
    name: str,
    seeds: Iterable[int],
    *,
    models: Models | None = None,
    seed: int = 0,
    limits: Limits = DEFAULT_LIMITS,
) -> Results:
    """Search published deals one after another and return an entry for each in arrays."""
    search = _Search(name, models or {}, limits)
    outcomes = [search.run(deal_seed(number), seeding.stream(seed, number)) for number in seeds]
    rows = [(o.actions is not None, o.nodes, o.seconds, o.gave_up) for o in outcomes]
    return Results(*map(np.array, zip(*rows, strict=True)))


def _make_plan(name: str, models: Models) -> Plan:
    """Return how the depth-first search of this name sorts children."""

    def weights(*names: str) -> Array:
        return np.stack([(models.get(n) or shipped_model(n)).weights for n in names])

    model_of = np.full(CELLS + 1, REFERENCE_ORDER, dtype=np.int64)
    if name == "dfs":
        return Plan(BY_MODEL, np.zeros((1, 1 + NUM_TERMS)), model_of)
    if name == "evolved":
        model_of[:] = 0
        ordering = models.get(EVOLVED) or shipped_ordering()
        return Plan(BY_MOVE_FEATURES, ordering.weights[None, :], model_of)
    if name == "lr_dfs":
        for row, cards in enumerate(STAGES):
            model_of[cards - 1 : cards + 1] = row
        return Plan(BY_MODEL, weights(*STAGES.values()), model_of)
    model, least_cards = SINGLE_MODELS[name]
    model_of[least_cards:] = 0
    return Plan(BY_MODEL, weights(model), model_of)


class _Search:
    """One search with its models and the memory that one deal after another uses."""

    def __init__(self, name: str, models: Models, limits: Limits) -> None:
        if name not in ALGORITHMS:
            raise CardlabError(suggest("search", name, ALGORITHMS))
        runs = {
            "lr_queue": self.queue,
            "mcts": self.mcts,
            "lr_then_mcts": self.lr_then_mcts,
            "mcts_then_lr": self.mcts_then_lr,
        }
        self.once = runs.get(name, self.depth_first)
        sorted_as = {"mcts": "dfs"} | dict.fromkeys(("lr_queue", *COMBINED), "lr")
        self.plan = _make_plan(sorted_as.get(name, name), models)
        self.limits = limits
        self.scratch = Scratch.new()
        self.tables = Tables()

    def run(self, state: Array, seed: int) -> Outcome:
        """Search from a position."""
        began = time.perf_counter()
        outcome = self.once(state, seed)
        return replace(outcome, seconds=time.perf_counter() - began)

    @property
    def nodes(self) -> int:
        return int(self.scratch.progress[NODES])

    def standing(self) -> Array:
        """Return where the depth-first search has stopped, as an array of one record."""
        depth = int(self.scratch.progress[DEPTH])
        return self.scratch.path[depth : depth + 1].copy()

    def depth_first(self, state: Array, seed: int) -> Outcome:
        verdict = depth_first.search(
            state, self.plan, self.scratch, self.tables, budget=self.limits.nodes
        )
        actions = _actions_between(state, self.standing()) if verdict == SOLVED else None
        return Outcome(actions, self.nodes, gave_up=verdict == STOPPED)

    def queue(self, state: Array, seed: int) -> Outcome:
        verdict, nodes, actions = best_first.search(
            state, self.plan.weights[0], self.tables, budget=self.limits.queue_nodes
        )
        return Outcome(
            tuple(actions) if verdict == SOLVED else None, nodes, gave_up=verdict == STOPPED
        )

    def mcts(self, state: Array, seed: int) -> Outcome:
        nodes = simulations = 0
        for attempt in range(self.limits.attempts):
            stream = seeding.stream(seed, "mcts", attempt)
            end, actions = mcts.play(state, self.limits.simulations, stream)
            nodes += len(actions)
            simulations += len(actions) * self.limits.simulations
            if mcts.is_solved(end):
                return Outcome(tuple(actions), nodes, simulations=simulations, attempts=attempt + 1)
        attempts = self.limits.attempts
        return Outcome(None, nodes, simulations=simulations, attempts=attempts, gave_up=True)

    def lr_then_mcts(self, state: Array, seed: int) -> Outcome:
        reached, nodes = state, 0
        if CELLS - int(state[0].plies) > HANDOVER:
            verdict = depth_first.search(
                state, self.plan, self.scratch, self.tables, stop_at=HANDOVER
            )
            nodes = self.nodes
            if verdict != REACHED:
                return Outcome(None, nodes)
            reached = self.standing()
        first = _actions_between(state, reached)
        stream = seeding.stream(seed, "mcts", 0)
        end, actions = mcts.play(reached, self.limits.simulations, stream)
        simulations = len(actions) * self.limits.simulations
        nodes += len(actions)
        if mcts.is_solved(end):
            return Outcome((*first, *actions), nodes, simulations=simulations)
        return self.fall_back(state, nodes, simulations)

    def mcts_then_lr(self, state: Array, seed: int) -> Outcome:
        stream = seeding.stream(seed, "mcts", 0)
        reached, first = mcts.play(state, self.limits.simulations, stream, stop_at=HANDOVER)
        simulations = len(first) * self.limits.simulations
        rest = self.depth_first(reached, seed)
        nodes = len(first) + rest.nodes
        if rest.actions is not None:
            return Outcome((*first, *rest.actions), nodes, simulations=simulations)
        return self.fall_back(state, nodes, simulations)

    def fall_back(self, state: Array, nodes: int, simulations: int) -> Outcome:
        """Search from the deal after all, and say so."""
        whole = self.depth_first(state, 0)
        return replace(whole, nodes=nodes + whole.nodes, simulations=simulations)


def _actions_between(before: Array, after: Array) -> tuple[int, ...]:
    """Return the actions that lead from one position to a later one of the same game."""
    log = after[0].log_action[int(before[0].plies) : int(after[0].plies)]
    return tuple(int(action) for action in log)


# Where the time goes


@kernel
def prepare_many(states: Any, parts: int, weights: Any, actions: Any, x: Any, scores: Any) -> float:
    """List the children of many positions and do the first `parts` of the work on them.

    The parts are features, prediction and sorting. The return value depends on all of them, so
    that none can be left out.
    """
    total = 0.0
    for row in range(len(states)):
        s = states[row]
        count = legal(s, actions)
        total += actions[0]
        if parts == 0:
            continue
        cards = top_cards(s)
        fits = count_fits(cards)
        for i in range(count):
            features_after(s, int64(actions[i]), cards, fits, x)
            scores[i] = x[0] + x[1] + x[4] + x[5]
            if parts > 1:
                scores[i] = score(weights, x)
        if parts > 2:
            sort_by_score(actions, count, scores)
        total += scores[0] + actions[count - 1]
    return total


def breakdown(
    seeds: Iterable[int], *, models: Models | None = None, positions: int = 100_000
) -> dict[str, float]:
    """Return the share of each part in the time of `lr`, measured on positions that it enters.

    The search runs once over the seeds. Then the positions that it entered first, at most
    `positions`, are listed again without features, with features, with predictions and with
    sorting; the differences, scaled to all positions, are set against the time of the search.
    """
    plan = _make_plan("lr", models or {})
    scratch, tables = Scratch.new(), Tables()
    trace = np.empty(positions, dtype=STATE)
    traced = entered = 0
    states = [deal_seed(seed) for seed in seeds]
    began = time.perf_counter()
    for state in states:
        depth_first.search(state, plan, scratch, tables, trace=trace[traced:])
        fresh_ones = int(scratch.progress[ENTERED])
        traced = min(traced + fresh_ones, positions)
        entered += fresh_ones
    whole = time.perf_counter() - began
    actions = np.empty(NUM_ACTIONS, dtype=np.int16)
    fastest = np.full(4, np.inf)
    for parts in (*range(4),) * REPEATS:  # the fastest of some, in turn: other work only adds time
        began = time.perf_counter()
        prepare_many(trace[:traced], parts, plan.weights[0], actions, scratch.x, scratch.scores)
        fastest[parts] = min(fastest[parts], time.perf_counter() - began)
    spent = fastest * entered / traced / whole
    features, prediction, sorting = np.diff(spent).tolist()
    return {
        "features": features,
        "prediction": prediction,
        "sorting": sorting,
        "search": 1 - features - prediction - sorting,
    }
