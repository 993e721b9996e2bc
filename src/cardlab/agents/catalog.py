"""The catalogue of agents, and the grammar of their names.

name                     heuristic
name:value               uct_open:1000            the value is the agent's main budget
name:key=value,...       uct_open:simulations=1000,c=1.4
name:value,key=value     uct_open:1000,c=1.4
package.module:NAME      an agent, or a class or function that makes one; the module is in the
                         working folder or installed
package.module:NAME:parameters
name, name:parameters    the same for an entry point of this name in the group `cardlab.agents` of
                         an installed package
cmd:COMMAND              a program that speaks the protocol of agents.outside
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os.path import isfile as is_file  # False for what cannot be a name, too
from typing import Any, cast

from cardlab.agents.entries import Strength, agents_in, strength_in
from cardlab.agents.outside import OutsideAgent, as_command
from cardlab.aliases import current_agent
from cardlab.engine.arguments import read_text, shorten
from cardlab.engine.errors import CardlabError, reason_of, suggest
from cardlab.engine.game import Agent, Game, OpenAgent, require_agent
from cardlab.engine.manifest import AgentEntry, load
from cardlab.engine.registry import (
    find_game,
    find_package,
    import_named,
    installed,
    our_packages,
)

__all__ = [
    "Strength",
    "adviser_of",
    "agents_for",
    "find_agent",
    "find_agents",
    "strength_of",
]


def agents_for(game: str | Game) -> list[AgentEntry]:
    """Return the entries of all agents that can play a game: general ones and its own."""
    return agents_in(find_package(game))


def adviser_of(game: str | Game) -> str:
    """Return the name of the agent that gives hints and explanations in a game."""
    return find_package(game).adviser


def find_agents(
    agents: Sequence[str | Agent | OpenAgent], game: str | Game
) -> list[Agent | OpenAgent]:
    """Return agents that are given by name or as objects, ready to play a game."""
    if isinstance(agents, str) or not isinstance(agents, Sequence):
        raise CardlabError(
            f"agents must be a list of names or agents, one for each seat, got {shorten(agents)}"
        )
    found = find_game(game)
    return [find_agent(agent, found) for agent in agents]


def find_agent(agent: str | Agent | OpenAgent, game: str | Game) -> Agent | OpenAgent:
    """Return the agent with this name, ready to play a game; an agent is returned unchanged."""
    found = find_game(game)
    return _find_named(agent, found) if isinstance(agent, str) else _checked(agent, found)


def _checked(found: object, game: Game, spec: str | None = None) -> Agent | OpenAgent:
    """Return an object as an agent, after checking that it is one and that its name is honest."""
    if spec is None and not any(hasattr(found, part) for part in ("act", "act_open")):
        known = ", ".join(entry.usage for entry in agents_for(game))
        raise CardlabError(
            f"agent must be the name of one or an object with a name and a method act, got "
            f"{shorten(found)}; known: {known}"
        )
    require_agent(found, spec)
    agent = cast(Agent | OpenAgent, found)
    name = agent.name.partition(":")[0] if spec is None else agent.name
    if isinstance(found, OpenAgent) and not name.endswith("_open"):
        raise CardlabError(
            f"agent {agent.name if spec is None else spec!r} sees the true state, so its name must "
            f"end in '_open', got {agent.name!r}"
        )
    return agent


def _find_named(spec: str, game: Game) -> Agent | OpenAgent:
    """Return the agent that a text names."""
    name, _, rest = current_agent(spec.strip(), game.name).partition(":")
    known = {entry.name: entry for entry in agents_for(game)}
    if name == "cmd":
        return OutsideAgent(spec.strip())
    if name not in known:
        plugged = installed("cardlab.agents")
        if name in plugged:
            found = f"{plugged[name]}:{rest}" if rest else plugged[name]
            return _from_outside(found, game, here=False)
        written, _, parameters = name.partition(",")
        if written in known and parameters:
            meant = f"{written}:{spec.strip().removeprefix(f'{written},')}"
            raise CardlabError(f"unknown agent {spec!r}; write {meant!r}")
        attribute = rest.partition(":")[0]
        if name.endswith(".py") and is_file(name) and attribute.isidentifier():
            module = name.removeprefix("./").removesuffix(".py").replace("/", ".")
            meant = f"{module}:{rest}"
            raise CardlabError(f"agent {spec!r} names a file; write {meant!r}")
        if is_file(f"{name}.py") and not rest:
            raise CardlabError(
                f"agent {spec!r} is not the name of an agent; if {name}.py is a program, write "
                f"{as_command(f'{name}.py')!r}; if it is a module, write '{name}:NAME'"
            )
        if any(sign in name for sign in " /") or is_file(name):
            raise CardlabError(
                f"agent {spec!r} is not the name of an agent; if it is a program, write "
                f"{as_command(spec)!r}"
            )
        if "." in name or rest.partition(":")[0].isidentifier():
            return _from_outside(spec, game)
        packages = our_packages().values()
        if any(name == entry.name for package in packages for entry in agents_in(package)):
            raise CardlabError(
                f"agent {name!r} does not play {game.name}; use one of {', '.join(sorted(known))}"
            )
        raise CardlabError(suggest("agent", name, {**known, **plugged}))
    entry = known[name]
    values = _read_parameters(rest, entry)
    try:
        make: Callable[..., Agent | OpenAgent] = load(entry.maker)
        return make(**values, **({"name": spec.strip()} if values else {}))
    except CardlabError:
        raise
    except Exception as error:  # of an outside package
        raise CardlabError(f"agent {spec!r} cannot be made ({reason_of(error)})") from error


def is_catalogued(spec: str, game: str | Game) -> bool:
    """Return whether a name means an agent of cardlab, of the game or of an installed package.

    Any other name runs code or a program; see `find_agent`.
    """
    found = find_game(game)
    name = current_agent(spec.strip(), found.name).partition(":")[0]
    return name in installed("cardlab.agents") or name in {one.name for one in agents_for(found)}


def _read_parameters(text: str, entry: AgentEntry) -> dict[str, Any]:
    values: dict[str, Any] = {}
    known = {parameter.name: parameter for parameter in entry.parameters}
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


def _from_outside(spec: str, game: Game, *, here: bool = True) -> Agent | OpenAgent:
    """Return the agent that `module:NAME`, with or without parameters, names."""
    module, _, rest = spec.strip().partition(":")
    name, _, parameters = rest.partition(":")
    found = import_named(f"{module}:{name}" if name else module, "agent", here=here)
    if callable(found) and (isinstance(found, type) or not hasattr(found, "act")):
        found = _call_maker(found, spec, parameters)
    elif parameters:
        raise CardlabError(f"agent {spec!r} takes no parameters; leave out {parameters!r}")
    return _checked(found, game, spec)


def _call_maker(maker: Callable[..., Any], spec: str, parameters: str) -> object:
    values: dict[str, Any] = {}
    for part in parameters.split(",") if parameters else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise CardlabError(f"{part!r} in agent {spec!r} has no key; write key=value")
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


def strength_of(agent: str | AgentEntry, game: str | Game) -> Strength | None:
    """Return the measured strength of an agent of the catalogue, or None if it was not measured."""
    package = find_package(game)
    if isinstance(agent, AgentEntry):
        return strength_in(agent, package)
    name, _, rest = current_agent(
        read_text(agent, "agent", "heuristic").strip(), package.name
    ).partition(":")
    known = {entry.name: entry for entry in agents_in(package)}
    if name not in known:
        raise CardlabError(suggest("agent", name, known))
    values = _read_parameters(rest, known[name])
    usual = {parameter.name: parameter.default for parameter in known[name].parameters}
    return strength_in(known[name], package) if {**usual, **values} == usual else None
