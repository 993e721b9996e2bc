"""What every agent must do, one function a check."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import cast

import numpy as np

from cardlab.agents.catalog import find_agent
from cardlab.engine.arguments import shorten
from cardlab.engine.errors import CardlabError, reason_of
from cardlab.engine.game import ActsInBatches, Agent, Game, OpenAgent, State, Turns, require_agent
from cardlab.engine.play import Table, ask
from cardlab.engine.registry import find_game
from cardlab.testing.random_games import Options, random_table, retrace


def check_is_an_agent(make: Callable[[], Agent], game: Game, options: Options) -> None:
    """It has what every agent must have: a name and a method to be asked by."""
    require_agent(make(), getattr(make, "__name__", repr(make)))


def check_always_legal(make: Callable[[], Agent], game: Game, options: Options) -> None:
    """In every seat the agent answers with a legal action, in its own type of whole number."""
    agent = make()
    for seed in range(2):
        table = Table(game, seed=seed, options=options)
        rng = np.random.default_rng(seed)
        while not table.over:
            table.act(ask(agent, table.state, rng))


def check_remembers_nothing(make: Callable[[], Agent], game: Game, options: Options) -> None:
    """The same turn with the same stream gets the same answer, whatever was asked between."""
    agent = make()
    states = _some_states(game, options)
    first = [ask(agent, state, np.random.default_rng(7)) for state in states]
    again = [ask(agent, state, np.random.default_rng(7)) for state in reversed(states)]
    assert first == again[::-1], (
        f"{agent.name}: the same turn got two answers, so it remembers what was asked before or "
        "draws from a generator of its own; keep nothing, and use the rng that act is given"
    )


def check_leaves_generators_alone(make: Callable[[], Agent], game: Game, options: Options) -> None:
    """The agent draws from its own stream only, never from a global generator."""
    agent = make()
    before = random.getstate(), repr(np.random.get_state())  # noqa: NPY002 - this is what we guard
    for state in _some_states(game, options):
        ask(agent, state, np.random.default_rng(1))
    after = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    assert before == after, (
        f"{agent.name}: it draws from a global generator; use the rng that act is given"
    )


def check_pickles(make: Callable[[], Agent], game: Game, options: Options) -> None:
    """A pickled agent acts the same, so that it can go to another process."""
    agent = make()
    copy = pickle.loads(pickle.dumps(agent))
    for state in _some_states(game, options):
        ours, theirs = (ask(player, state, np.random.default_rng(3)) for player in (agent, copy))
        assert ours == theirs, f"{agent.name}: its pickled copy acts differently"


def check_many_as_one(make: Callable[[], Agent], game: Game, options: Options) -> None:
    """Many turns at once get the answers that they get one by one."""
    agent = make()
    if not isinstance(agent, ActsInBatches):
        return
    states = _some_states(game, options)
    seats = np.array([state.mover for state in states])
    views = np.concatenate([state.view(state.mover).array for state in states])
    mask = np.zeros((len(states), game.num_actions), dtype=np.bool_)
    for row, state in enumerate(states):
        mask[row, state.legal()] = True
    rngs = [np.random.default_rng(row) for row in range(len(states))]
    many = agent.act_many(Turns(game, seats, views, mask), rngs).tolist()
    single = [ask(agent, state, np.random.default_rng(row)) for row, state in enumerate(states)]
    assert many == single, f"{agent.name}: act_many and act disagree"


def check_fair(make: Callable[[], Agent], game: Game, options: Options) -> None:
    """Reshuffling what the seat cannot see never changes the answer under the same stream."""
    agent = make()
    if isinstance(agent, OpenAgent):
        assert agent.name.partition(":")[0].endswith("_open"), (
            f"{agent.name}: an agent that sees the true state must say so: name it ..._open"
        )
        return
    for state in _some_states(game, options):
        choice = ask(agent, state, np.random.default_rng(5))
        for seed in range(3):
            world = state.view(state.mover).imagine(np.random.default_rng(seed))
            assert ask(agent, world, np.random.default_rng(5)) == choice, (
                f"{agent.name}: its choice changes with cards that it cannot see"
            )


AgentCheck = Callable[[Callable[[], Agent], Game, Options], None]

AGENT_CHECKS: tuple[AgentCheck, ...] = (
    check_is_an_agent,
    check_always_legal,
    check_leaves_generators_alone,
    check_remembers_nothing,
    check_pickles,
    check_many_as_one,
    check_fair,
)


def check_agent(
    agent: str | Agent | Callable[[], Agent], game: str | Game, options: Options | None = None
) -> None:
    """Run every check on an agent: its name, an agent, or a class or function that makes one."""
    found = find_game(game)
    make, values = _maker_of(agent, found), found.read_options(options)
    for check in AGENT_CHECKS:
        check(make, found, values)


def _maker_of(agent: object, game: Game) -> Callable[[], Agent]:
    """Return a function that makes the agent to check; its first call is tried here."""
    if isinstance(agent, str):
        find_agent(agent, game)
        return lambda: cast(Agent, find_agent(agent, game))
    if not isinstance(agent, type) and isinstance(agent, (Agent, OpenAgent)):
        return lambda: cast(Agent, agent)
    if not callable(agent):
        raise CardlabError(
            f"agent must be an agent, the name of one, or a class or function that makes one, got "
            f"{shorten(agent)}"
        )
    try:
        agent()
    except CardlabError:
        raise
    except Exception as error:  # whatever a person's maker raises is theirs to read
        raise CardlabError(
            f"agent {shorten(agent)} cannot be made ({reason_of(error, agent)}); give an agent "
            "instead of its class, or a function without arguments"
        ) from error
    return agent


def _some_states(game: Game, options: Options) -> list[State]:
    """Return states with a choice to make, from several games and seats."""
    states = [
        table.state.copy()
        for seed in range(3)
        for table in retrace(random_table(game, options, seed))
        if len(table.state.legal()) > 1
    ]
    return states[:: max(1, len(states) // 24)]
