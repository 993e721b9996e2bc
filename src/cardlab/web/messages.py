"""What browsers may send, checked field by field before anything else looks at it."""

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

NAME = 24  # characters of a person's name
SPEC_PATTERN = r"^[A-Za-z0-9_:=,.]{1,80}$"  # an agent's
GAME_LETTERS = 40  # of a game's name


def _clean(name: str | None) -> str | None:
    """Return a name on one line, without characters that draw nothing or turn the text round."""
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
    """A seat for an agent of the catalogue."""

    agent: Spec


class PersonSeat(_Strict):
    """A seat for a person; without a name it is open to whoever gets the link."""

    person: Name


def _kind_of_seat(seat: Any) -> str:
    """Return which of the two seats is meant, so that a mistake is explained for that one."""
    named = seat if isinstance(seat, dict) else getattr(seat, "__dict__", {})
    return "person" if "person" in named else "agent"


NewSeat = Annotated[
    Annotated[AgentSeat, Tag("agent")] | Annotated[PersonSeat, Tag("person")],
    Discriminator(_kind_of_seat),
]


class NewTable(_Strict):
    """A table that somebody wants."""

    game: Annotated[str, Field(max_length=GAME_LETTERS)]
    options: Annotated[dict[str, bool | int | str], Field(max_length=20)] = {}
    seats: Annotated[list[NewSeat], Field(min_length=1, max_length=16)]
    seed: Annotated[int, Field(strict=True, gt=-(10**30), lt=10**30)] | None = None
    hints: bool = True
    adviser: Spec | None = None


class Join(_Strict):
    """The first message of a socket: who it is; without a secret a spectator."""

    type: Literal["join"]
    secret: Annotated[str, Field(max_length=64)] | None = None
    name: Name = None
    commitment: Digest | None = None  # SHA-256 of the share of a fair deal


class Share(_Strict):
    """The number that a person adds to a fair deal."""

    type: Literal["share"]
    share: Digest


class Act(_Strict):
    """An action, for the position that has this version."""

    type: Literal["act"]
    version: Number
    action: Number


class Hint(_Strict):
    """A question to the adviser."""

    type: Literal["hint"]
    version: Number


class Undo(_Strict):
    """One move back, where a game is played alone."""

    type: Literal["undo"]


class Solvable(_Strict):
    """Whether the position can still be solved."""

    type: Literal["solvable"]


class Leave(_Strict):
    """Good-bye."""

    type: Literal["leave"]


class Advice(_Strict):
    """A question about one position of a record."""

    record: Any
    ply: Number
    adviser: Spec


class Review(_Strict):
    """A question about all positions of a record."""

    record: Any
    adviser: Spec


Message = Join | Share | Act | Hint | Undo | Solvable | Leave
MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])
Body = TypeVar("Body", bound=BaseModel)


def read_message(text: str) -> Message:
    """Return what a socket's message says."""
    try:
        return MESSAGE.validate_python(_parse(text, "message"))
    except ValidationError as error:
        raise _complaint("message", error) from None


def read_body(text: str, model: type[Body]) -> Body:
    """Return what the body of a request says."""
    try:
        return model.model_validate(_parse(text, "request"))
    except ValidationError as error:
        raise _complaint("request", error) from None


def _parse(text: str, what: str) -> Any:
    try:
        data = json.loads(text)
        if "\\ud" in text.lower():  # half a character could be stored or sent nowhere
            json.dumps(data, ensure_ascii=False).encode()
        return data
    except (ValueError, RecursionError):
        raise CardlabError(f"this {what} is no JSON; send one object") from None


def _complaint(what: str, error: ValidationError) -> CardlabError:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"])[:80] or "the whole"
    return CardlabError(f"this {what} is not understood: {place}: {first['msg'][:160]}")
