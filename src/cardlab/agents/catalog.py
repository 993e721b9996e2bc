"""The catalogue of agents, and the one grammar for naming them.

name                     heuristic
name:value               uct_open:1000            the value is the agent's main budget
name:key=value,...       uct_open:simulations=1000,c=1.4
name:value,key=value     uct_open:1000,c=1.4
package.module:NAME      an agent, or a class or function that makes one; module:NAME if the
                         module lies in the working folder or can be imported
package.module:NAME:parameters
name, name:parameters    likewise, where an installed package has an entry point of this name in the
                         group `cardlab.agents`
cmd:COMMAND              a program that speaks the protocol of agents.outside
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from os.path import isfile as is_file  # False for what cannot be a name, too
from typing import Any, cast

from cardlab.agents.outside import OutsideAgent, as_command
from cardlab.errors import CardlabError, reason_of, suggest
from cardlab.game import Agent, Game, OpenAgent, require_agent
from cardlab.games import GAMES, import_named, installed

__all__ = ["CATALOG", "Entry", "Parameter", "Strength", "agents_for", "find_agent", "strength_of"]

MEASURED = re.compile(r"(?P<score>[\d.]+)(?: ± (?P<margin>[\d.]+))? \((?P<games>[\d,]+) games\)")


@dataclass(frozen=True)
class Parameter:
    """One number that an agent takes: the first of an entry may be given without its name."""

    name: str
    default: int | float
    low: float
    help: str
    high: float = 10_000_000

    def read(self, text: str, agent: str) -> int | float:
        """Return the number that `text` means."""
        kind = type(self.default)
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not self.low <= value <= self.high:
            what = "a whole number" if kind is int else "a number"
            raise CardlabError(
                f"{self.name}={text} of agent {agent!r} is not allowed; use {what} from "
                f"{self.low:g} to {self.high:,.0f}"
            )
        return value


@dataclass(frozen=True)
class Entry:
    """One kind of agent: what it does, whether it is fair, where it is made."""

    name: str
    summary: str
    maker: str
    parameters: tuple[Parameter, ...] = ()
    games: tuple[str, ...] | None = None  # None: any game

    @property
    def fair(self) -> bool:
        """Whether the agent sees no more than its seat; the name tells."""
        return not self.name.endswith("_open")

    @property
    def usage(self) -> str:
        """The name with its main budget."""
        return f"{self.name}:{self.parameters[0].default:g}" if self.parameters else self.name


@dataclass(frozen=True)
class Strength:
    """The score of an agent against `random`, in percent, and what it rests on."""

    score: float
    margin: float | None  # half of the 95 % interval; None: every game ended alike
    games: int  # 0: by symmetry, without a game

    @classmethod
    def read(cls, text: str) -> Strength:
        """Return what a text such as `59.5 ± 0.6 (20,000 games)` says."""
        found = MEASURED.fullmatch(text)
        if not found:
            raise CardlabError(f"{text!r} is no strength; write it as 59.5 ± 0.6 (20,000 games)")
        margin = float(found["margin"]) if found["margin"] else None
        return cls(float(found["score"]), margin, int(found["games"].replace(",", "")))

    @property
    def score_text(self) -> str:
        """The score and its interval as a person would write them."""
        return f"{self.score:.1f}" + (f" ± {self.margin:.1f}" if self.margin else "")

    def __str__(self) -> str:
        return f"{self.score_text} ({f'{self.games:,} games' if self.games else 'by symmetry'})"


TREES = Parameter("trees", 1, 1, "trees that share the budget", high=64)
THREADS = Parameter("threads", 1, 1, "threads; they change the time only", high=64)

UNO_SEARCH = (
    Parameter("playouts", 3000, 1, "play-outs a decision, over all actions"),
    Parameter("others", 0, 0, "how others play in them: 0 at random, 1 sensibly", high=1),
    THREADS,
)

# The strategies of agents.cribbage_strategies, each playable by itself.
CRIBBAGE_STRATEGIES = {
    "hand_max_min": "keeps the hand that counts most at worst",
    "hand_max_avg": "keeps the hand that counts most on average",
    "hand_max_med": "keeps the hand with the highest median",
    "hand_max_poss": "keeps the hand that can count most",
    "crib_min_avg": "lays away what counts least in the crib",
    "pegging_max_avg_gained": "keeps what pegs most on average",
    "pegging_max_med_gained": "keeps what has the highest median in pegging",
    "pegging_min_avg_given": "keeps what lets the other peg least",
}

# Searches of the paper on Birds of a Feather, each playable by itself.
BIRDS_SEARCHES = {
    "search_dfs": "searches depth first in the reference order",
    "search_lr": "searches depth first, children sorted by one model",
    "search_lr_dfs": "searches depth first, four models sort down to nine cards",
    "search_evolved": "searches depth first, moves sorted by evolved weights",
}

CATALOG: tuple[Entry, ...] = (
    Entry("random", "takes any legal action", "cardlab.agents.random_agent:RandomAgent"),
    Entry(
        "heuristic",
        "follows a few sensible rules of the game",
        "cardlab.agents.rule_based:Heuristic",
        games=tuple(GAMES),
    ),
    Entry(
        "tabular_q",
        "plays a table of values that it learned against itself",
        "cardlab.agents.tabular_q:TabularQ",
        games=("crazy_eights",),
    ),
    Entry(
        "solver",
        "plays a solution wherever there is one",
        "cardlab.agents.solver:Solver",
        games=("birds_of_a_feather",),
    ),
    *(
        Entry(name, told, f"cardlab.agents.solver:{name}", games=("birds_of_a_feather",))
        for name, told in BIRDS_SEARCHES.items()
    ),
    Entry(
        "cribbage_expert",
        "weighs hand, crib and pegging, guesses and solves in the play, knows the score",
        "cardlab.agents.cribbage_expert:CribbageExpert",
        (Parameter("samples", 30, 1, "guesses at the other hand a decision", high=1820),),
        games=("cribbage",),
    ),
    Entry(
        "cribbage_expected_value",
        "lays away by hand, crib and pegging as the expert, pegs greedily",
        "cardlab.agents.cribbage_expert:CribbageExpectedValue",
        games=("cribbage",),
    ),
    Entry(
        "cribbage_learned_pegging",
        "keeps the best hand on average, pegs as it learned by reinforcement alone",
        "cardlab.agents.cribbage_pegging:learned",
        games=("cribbage",),
    ),
    Entry(
        "cribbage_mixed_pegging",
        "keeps the best hand on average, pegs by a learned mix of offence and defence",
        "cardlab.agents.cribbage_pegging:mixed",
        games=("cribbage",),
    ),
    Entry(
        "cribbage_searched_pegging",
        "keeps the best hand on average, guesses and solves in the play as the expert",
        "cardlab.agents.cribbage_pegging:SearchedPegging",
        (Parameter("samples", 30, 1, "guesses at the other hand a decision", high=1820),),
        games=("cribbage",),
    ),
    Entry(
        "cribbage_weighted",
        "weighs eight strategies by the score, as it learned against itself",
        "cardlab.agents.cribbage_strategies:learned",
        games=("cribbage",),
    ),
    Entry(
        "cribbage_random_weights",
        "weighs eight strategies at random, what learning starts from",
        "cardlab.agents.cribbage_strategies:unlearned",
        (Parameter("seed", 0, 0, "which random weights"),),
        games=("cribbage",),
    ),
    *(
        Entry(name, told, f"cardlab.agents.cribbage_strategies:{name}", games=("cribbage",))
        for name, told in CRIBBAGE_STRATEGIES.items()
    ),
    Entry(
        "uno_net",
        "plays the strongest network, trained with any number of seats by both rule sets",
        "cardlab.agents.uno_network:uno_net",
        games=("uno",),
    ),
    Entry(
        "uno_dqn",
        "plays the paper's DQN, but sees only what its seat may know",
        "cardlab.agents.uno_network:uno_dqn",
        games=("uno",),
    ),
    Entry(
        "uno_deep_sarsa",
        "plays the paper's DeepSARSA, but sees only what its seat may know",
        "cardlab.agents.uno_network:uno_deep_sarsa",
        games=("uno",),
    ),
    Entry(
        "uno_dqn_open",
        "plays the paper's DQN on the paper's input: all other hands together",
        "cardlab.agents.uno_network:uno_dqn_open",
        games=("uno",),
    ),
    Entry(
        "uno_deep_sarsa_open",
        "plays the paper's DeepSARSA on the paper's input: all other hands together",
        "cardlab.agents.uno_network:uno_deep_sarsa_open",
        games=("uno",),
    ),
    Entry(
        "koi_koi_supervised",
        "plays networks that learned from recorded games of people",
        "cardlab.agents.koi_koi_network:koi_koi_supervised",
        games=("koi_koi",),
    ),
    Entry(
        "koi_koi_point",
        "plays networks that learned from play to win points",
        "cardlab.agents.koi_koi_network:koi_koi_point",
        games=("koi_koi",),
    ),
    Entry(
        "koi_koi_win",
        "plays networks that learned from play to win games",
        "cardlab.agents.koi_koi_network:koi_koi_win",
        games=("koi_koi",),
    ),
    Entry(
        "koi_koi_terms",
        "adds up terms in microseconds, as learned from the networks of `koi_koi_win`",
        "cardlab.agents.koi_koi_terms:KoiKoiTerms",
        games=("koi_koi",),
    ),
    Entry(
        "koi_koi_search",
        "checks what `koi_koi_win` expects by play-outs in likely worlds",
        "cardlab.agents.koi_koi_search:KoiKoiSearch",
        (
            Parameter("worlds", 400, 1, "worlds a decision", high=100_000),
            Parameter("hands", 1000, 1, "hands imagined for the other seat", high=1_000_000),
            Parameter("most", 4, 2, "actions that are tried in them", high=8),
        ),
        games=("koi_koi",),
    ),
    Entry(
        "koi_koi_hand_open",
        "searches as `koi_koi_search`, but sees the other hand, though not the stock",
        "cardlab.agents.koi_koi_search:KoiKoiHandOpen",
        (Parameter("worlds", 400, 1, "stocks imagined a decision", high=100_000),),
        games=("koi_koi",),
    ),
    Entry(
        "crazy_eights_transformer",
        "plays a card transformer that learned against itself",
        "cardlab.agents.token_network:crazy_eights_transformer",
        games=("crazy_eights",),
    ),
    Entry(
        "uno_transformer",
        "plays a card transformer that learned against itself, with 2 to 5 seats",
        "cardlab.agents.token_network:uno_transformer",
        games=("uno",),
    ),
    Entry(
        "monte_carlo",
        "tries every action in imagined worlds and plays each out at random",
        "cardlab.agents.searchers:MonteCarlo",
        (Parameter("playouts", 1000, 1, "play-outs a decision, over all actions"), THREADS),
    ),
    Entry(
        "information_set",
        "grows one tree over imagined worlds by the actions legal in each",
        "cardlab.agents.searchers:InformationSet",
        (
            Parameter("iterations", 1000, 1, "worlds and play-outs a decision"),
            Parameter("c", 1.0, 0, "weight of exploration"),
            TREES,
            THREADS,
        ),
    ),
    Entry(
        "fair",
        "plays out worlds in which the others acted sensibly, with sensible play",
        "cardlab.agents.searchers:Fair",
        (Parameter("worlds", 2000, 1, "worlds a decision, for each action"), THREADS),
        games=("crazy_eights",),
    ),
    Entry(
        "fair",
        "plays every action out fast in worlds that agree with what its seat knows",
        "cardlab.agents.uno_searchers:UnoFair",
        UNO_SEARCH,
        games=("uno",),
    ),
    Entry(
        "uno_search",
        "the same search, guided by what `uno_net` expects of every action",
        "cardlab.agents.uno_searchers:UnoSearch",
        (Parameter("playouts", 4000, 1, "play-outs a decision, over all actions"), *UNO_SEARCH[1:]),
        games=("uno",),
    ),
    Entry(
        "uno_union_open",
        "the same search, knowing the union of the other hands",
        "cardlab.agents.uno_searchers:uno_union_open",
        UNO_SEARCH,
        games=("uno",),
    ),
    Entry(
        "uno_hands_open",
        "the same search, knowing every hand",
        "cardlab.agents.uno_searchers:uno_hands_open",
        UNO_SEARCH,
        games=("uno",),
    ),
    Entry(
        "uno_deck_open",
        "the same search, knowing every hand and the order of the stock",
        "cardlab.agents.uno_searchers:uno_deck_open",
        UNO_SEARCH,
        games=("uno",),
    ),
    Entry(
        "determinised",
        "imagines worlds and judges each with all cards open",
        "cardlab.agents.searchers:Determinised",
        (
            Parameter("worlds", 30, 1, "worlds a decision"),
            Parameter("depth", 0, 0, "plies to look ahead in a world; 0: solve it", high=40),
            THREADS,
        ),
        games=("crazy_eights",),
    ),
    Entry(
        "monte_carlo_open",
        "plays every action out at random from the true state",
        "cardlab.agents.searchers:MonteCarloOpen",
        (Parameter("playouts", 1000, 1, "play-outs an action"),),
    ),
    Entry(
        "alpha_beta_points_open",
        "looks ahead on the true state, values cards in hand",
        "cardlab.agents.searchers:AlphaBetaPointsOpen",
        (Parameter("depth", 4, 1, "plies to look ahead", high=40),),
        games=("crazy_eights",),
    ),
    Entry(
        "alpha_beta_wins_open",
        "looks ahead on the true state, values wins only",
        "cardlab.agents.searchers:AlphaBetaWinsOpen",
        (Parameter("depth", 4, 1, "plies to look ahead", high=40),),
        games=("crazy_eights",),
    ),
    Entry(
        "uct_open",
        "tree search on the true state: sees all cards",
        "cardlab.agents.searchers:UctOpen",
        (
            Parameter("simulations", 1000, 1, "play-outs a decision"),
            Parameter("c", 1.4, 0, "weight of exploration"),
            TREES,
            THREADS,
        ),
    ),
    Entry(
        "oracle_open",
        "solves the true state exactly: the most that can be known",
        "cardlab.agents.searchers:OracleOpen",
        (Parameter("simulations", 1000, 1, "play-outs to choose among equals"),),
        games=("crazy_eights",),
    ),
)


def agents_for(game: Game) -> list[Entry]:
    """Return the entries that can play a game."""
    return [entry for entry in CATALOG if entry.games is None or game.name in entry.games]


def find_agent(spec: str, game: Game) -> Agent | OpenAgent:
    """Return the agent that `spec` names, ready to play `game`."""
    name, _, rest = spec.strip().partition(":")
    known = {entry.name: entry for entry in agents_for(game)}
    if name == "cmd":
        return OutsideAgent(spec.strip())
    if name not in known:
        plugged = installed("cardlab.agents")
        if name in plugged:
            return _from_outside(f"{plugged[name]}:{rest}" if rest else plugged[name])
        if any(sign in name for sign in " /") or is_file(name):
            raise CardlabError(
                f"agent {spec!r} is no agent, but may be a program; write {as_command(spec)!r}"
            )
        if "." in name or rest.partition(":")[0].isidentifier():
            return _from_outside(spec)
        if any(entry.name == name for entry in CATALOG):
            raise CardlabError(
                f"agent {name!r} does not play {game.name}; these do: {', '.join(sorted(known))}"
            )
        raise CardlabError(suggest("agent", name, {**known, **plugged}))
    entry = known[name]
    values = _read_parameters(rest, entry)
    module, _, attribute = entry.maker.partition(":")
    make: Callable[..., Agent | OpenAgent] = getattr(import_module(module), attribute)
    return make(**values, **({"name": spec.strip()} if values else {}))


def _read_parameters(text: str, entry: Entry) -> dict[str, Any]:
    values: dict[str, Any] = {}
    known = {one.name: one for one in entry.parameters}
    for place, part in enumerate(text.split(",") if text else []):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and place == 0 and entry.parameters:
            key, value = entry.parameters[0].name, key
        if key not in known:
            if not known:
                raise CardlabError(f"agent {entry.name!r} takes no parameters; leave out {text!r}")
            if not equals:
                raise CardlabError(
                    f"{part!r} in agent '{entry.name}:{text}' has no value; "
                    f"write it as in '{entry.usage},{entry.parameters[-1].name}=2'"
                )
            raise CardlabError(suggest(f"parameter of {entry.name}", key, known))
        if key in values:
            raise CardlabError(f"agent '{entry.name}:{text}' sets {key} twice")
        values[key] = known[key].read(value, f"{entry.name}:{text}")
    return values


def _from_outside(spec: str) -> Agent | OpenAgent:
    module, _, rest = spec.strip().partition(":")
    name, _, parameters = rest.partition(":")
    found = import_named(f"{module}:{name}" if name else module, "agent")
    if callable(found) and (isinstance(found, type) or not hasattr(found, "act")):
        found = _call_maker(found, spec, parameters)
    elif parameters:
        raise CardlabError(f"agent {spec!r} is ready-made and takes no parameters")
    require_agent(found, spec)
    if isinstance(found, OpenAgent) and not found.name.endswith("_open"):
        raise CardlabError(
            f"agent {spec!r} sees the true state, so its name must end in '_open', "
            f"not {found.name!r}"
        )
    return cast(Agent | OpenAgent, found)


def _call_maker(maker: Callable[..., Any], spec: str, parameters: str) -> object:
    values: dict[str, Any] = {}
    for part in parameters.split(",") if parameters else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise CardlabError(f"{part!r} in agent {spec!r} has no name; write key=value")
        values[key.strip()] = _number_or_text(value.strip())
    try:
        return maker(**values)
    except Exception as error:  # whatever a person's maker raises is theirs to read
        called = getattr(maker, "__init__", None) if isinstance(maker, type) else maker
        reason = reason_of(error, called)
        raise CardlabError(f"agent {spec!r} cannot be made ({reason})") from error


def _number_or_text(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@cache
def _strengths() -> dict[str, dict[str, str]]:
    table = files("cardlab.agents").joinpath("strength.json")
    loaded: dict[str, dict[str, str]] = json.loads(table.read_text()) if table.is_file() else {}
    return loaded


def strength_of(entry: Entry, game: Game) -> Strength | None:
    """Return the score of an agent against `random`, or None where none was measured."""
    known = _strengths().get(game.name, {})
    if entry.name == "random" and known:
        return Strength(50.0, 0.0, 0)
    return Strength.read(known[entry.usage]) if entry.usage in known else None
