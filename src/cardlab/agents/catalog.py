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

from collections.abc import Callable
from os.path import isfile as is_file  # False for what cannot be a name, too
from typing import Any, cast

from cardlab.agents.entries import Strength, agents_in, strength_in
from cardlab.agents.outside import OutsideAgent, as_command
from cardlab.aliases import current_agent
from cardlab.engine.errors import CardlabError, reason_of, suggest
from cardlab.engine.game import Agent, Game, OpenAgent, require_agent
from cardlab.engine.manifest import AgentEntry, load
from cardlab.engine.registry import import_named, installed, our_packages, package_of

__all__ = ["Strength", "adviser_of", "agents_for", "find_agent", "strength_of"]


def agents_for(game: Game) -> list[AgentEntry]:
    """Return the entries that can play a game: general ones, and those of its manifest."""
    return agents_in(package_of(game))


def adviser_of(game: Game) -> str:
    """Return the agent that gives hints and explanations in a game, as its manifest says."""
    return package_of(game).adviser


def find_agent(spec: str, game: Game) -> Agent | OpenAgent:
    """Return the agent that `spec` names, ready to play `game`."""
    name, _, rest = current_agent(spec.strip(), game.name).partition(":")
    known = {entry.name: entry for entry in agents_for(game)}
    if name == "cmd":
        return OutsideAgent(spec.strip())
    if name not in known:
        plugged = installed("cardlab.agents")
        if name in plugged:
            found = f"{plugged[name]}:{rest}" if rest else plugged[name]
            return _from_outside(found, here=False)
        if any(sign in name for sign in " /") or is_file(name):
            raise CardlabError(
                f"agent {spec!r} is no agent, but may be a program; write {as_command(spec)!r}"
            )
        if "." in name or rest.partition(":")[0].isidentifier():
            return _from_outside(spec)
        packages = our_packages().values()
        if any(name == entry.name for package in packages for entry in agents_in(package)):
            raise CardlabError(
                f"agent {name!r} does not play {game.name}; these do: {', '.join(sorted(known))}"
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


def _from_outside(spec: str, *, here: bool = True) -> Agent | OpenAgent:
    module, _, rest = spec.strip().partition(":")
    name, _, parameters = rest.partition(":")
    found = import_named(f"{module}:{name}" if name else module, "agent", here=here)
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


def strength_of(entry: AgentEntry, game: Game) -> Strength | None:
    """Return how well an agent plays, or None where nobody has measured it."""
    return strength_in(entry, package_of(game))
