"""The messages and requests that browsers may send, validated field by field."""

from __future__ import annotations

import json
import unicodedata
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
)
from pydantic.functional_validators import AfterValidator

from cardlab.engine.errors import CardlabError

NAME = 24  # most characters of a person's name
SPEC_PATTERN = r"^[A-Za-z0-9_:=,.]{1,80}$"  # of an agent's name with its parameters
GAME_LETTERS = 40  # most characters of a game's name


def _clean(name: str | None) -> str | None:
    """Return a name on one line, without invisible characters and changes of direction."""
    if name is None:
        return None
    kept = "".join(c for c in name if unicodedata.category(c)[0] not in "C" or c == " ")
    return " ".join(kept.split())[:NAME] or None


Name = Annotated[str | None, Field(max_length=4 * NAME), AfterValidator(_clean)]
Spec = Annotated[str, Field(pattern=SPEC_PATTERN)]
Number = Annotated[int, Field(ge=0, lt=1 << 31, strict=True)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentSeat(_Strict):
    """A seat for an agent."""

    agent: Spec


class PersonSeat(_Strict):
    """A seat for a person; without a name it is free for anybody who has its link."""

    person: Name


def _kind_of_seat(seat: Any) -> str:
    """Return which kind of seat is meant, so that errors are about that kind."""
    named = seat if isinstance(seat, dict) else getattr(seat, "__dict__", {})
    return "person" if "person" in named else "agent"


NewSeat = Annotated[
    Annotated[AgentSeat, Tag("agent")] | Annotated[PersonSeat, Tag("person")],
    Discriminator(_kind_of_seat),
]


class NewTable(_Strict):
    """A request for a new table."""

    game: Annotated[str, Field(max_length=GAME_LETTERS)]
    options: Annotated[dict[str, bool | int | str], Field(max_length=20)] = {}
    seats: Annotated[list[NewSeat], Field(min_length=1, max_length=16)]
    seed: Annotated[int, Field(strict=True, gt=-(10**30), lt=10**30)] | None = None
    hints: bool = True
    adviser: Spec | None = None


class Join(_Strict):
    """The first message of a socket: who joins; without a secret a spectator."""

    type: Literal["join"]
    secret: Annotated[str, Field(max_length=64)] | None = None
    name: Name = None
    commitment: Digest | None = None  # SHA-256 of the share of a fair deal


class Share(_Strict):
    """The secret number that a person contributes to a fair deal."""

    type: Literal["share"]
    share: Digest


class Act(_Strict):
    """An action for the position with this version number."""

    type: Literal["act"]
    version: Number
    action: Number


class Hint(_Strict):
    """A request for the adviser's hint."""

    type: Literal["hint"]
    version: Number


class Undo(_Strict):
    """Take one move back; only in solo games."""

    type: Literal["undo"]


class Solvable(_Strict):
    """Ask whether the position can still be solved."""

    type: Literal["solvable"]


class Leave(_Strict):
    """Leave the table."""

    type: Literal["leave"]


class Advice(_Strict):
    """A request for the adviser's values at one position of a record."""

    record: Any
    ply: Number
    adviser: Spec


class Review(_Strict):
    """A request for the adviser's values at all positions of a record."""

    record: Any
    adviser: Spec


Message = Join | Share | Act | Hint | Undo | Solvable | Leave
MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])
Body = TypeVar("Body", bound=BaseModel)


def read_message(text: str) -> Message:
    """Return a socket's message, validated."""
    try:
        return MESSAGE.validate_python(_parse(text, "message"))
    except ValidationError as error:
        raise _complaint("message", error) from None


def read_body(text: str, model: type[Body]) -> Body:
    """Return the body of a request, validated."""
    try:
        return model.model_validate(_parse(text, "request"))
    except ValidationError as error:
        raise _complaint("request", error) from None


def _parse(text: str, what: str) -> Any:
    try:
        data = json.loads(text)
        if "\\ud" in text.lower():  # half a surrogate pair cannot be encoded
            json.dumps(data, ensure_ascii=False).encode()
        return data
    except (ValueError, RecursionError):
        raise CardlabError(f"the {what} is not valid JSON; send one JSON object") from None


def _complaint(what: str, error: ValidationError) -> CardlabError:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"])[:80] or "as a whole"
    return CardlabError(f"the {what} is invalid: {place}: {first['msg'][:160]}")
