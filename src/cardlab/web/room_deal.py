"""How the cards of a table are dealt, and how players can verify that nobody chose them.

Between people the deal uses a commit-reveal protocol. The server draws a secret number and shows
its hash; every player's browser draws a number too and sends its hash. The players' numbers are
sent only when all hashes are known, the server's only after the game. The key of all decks is
derived from all numbers: without every one of them it can be neither known nor chosen.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.secret_deals import derive_key, secret_order

Kind = Literal["fair", "server", "chosen", "numbered"]
NUMBER_BYTES = 32


def draw_number() -> str:
    """Return a random secret number, as hexadecimal digits."""
    return secrets.token_hex(NUMBER_BYTES)


def hash_of(number: str) -> str:
    """Return the hash that commits to a number."""
    return hashlib.sha256(number.encode()).hexdigest()


@dataclass
class Dealing:
    """The deal of one table: its kind and the numbers that it is derived from.

    - `fair`: derived from the numbers of the server and of every person
    - `server`: derived from the server's number alone
    - `chosen`: from a seed chosen by the person who opened the table
    - `numbered`: one of a game's numbered deals
    """

    kind: Kind
    secret: str = ""
    people: list[int] = field(default_factory=list)  # seats whose numbers are needed
    commitments: dict[int, str] = field(default_factory=dict)  # hashes, by seat
    shares: dict[int, str] = field(default_factory=dict)  # numbers, by seat
    by_server: list[int] = field(default_factory=list)  # seats whose number the server has drawn

    @classmethod
    def plan(cls, seed: int | None, numbered: bool, people: Sequence[int]) -> Dealing:
        """Return how a new table is dealt."""
        if numbered:
            return cls("numbered")
        if seed is not None:
            return cls("chosen")
        if len(people) < 2:
            return cls("server", draw_number())
        return cls("fair", draw_number(), list(people))

    @classmethod
    def of(cls, stored: dict[str, Any] | None) -> Dealing:
        """Return a deal from its stored form; tables of old versions have a seed instead."""
        if stored is None:
            return cls("chosen")
        by_seat = {
            name: {int(seat): text for seat, text in stored[name].items()}
            for name in ("commitments", "shares")
        }
        return cls(**{**stored, **by_seat})

    def to_dict(self) -> dict[str, Any]:
        """Return the deal in its stored form."""
        return asdict(self)

    @property
    def commitment(self) -> str | None:
        """The hash of the server's number."""
        return hash_of(self.secret) if self.secret else None

    @property
    def all_committed(self) -> bool:
        """Whether every person's hash is known."""
        return self.commitments.keys() >= set(self.people)

    @property
    def ready(self) -> bool:
        """Whether the cards can be dealt."""
        return self.shares.keys() >= set(self.people)

    @property
    def waiting_for(self) -> list[int]:
        """The seats whose hash is missing or, once all hashes are known, whose number is."""
        known = self.shares if self.all_committed else self.commitments
        return [seat for seat in self.people if seat not in known]

    def commit(self, seat: int, commitment: str | None) -> bool:
        """Record the hash of a person's number; return whether anything has changed.

        For a client that sends no hash the server draws a number. A hash can be replaced only
        until the first number is sent: later the person could choose the deal.
        """
        if self.kind != "fair" or seat not in self.people or seat in self.by_server:
            return False
        known = self.commitments.get(seat)
        revealed = self.shares.keys() - set(self.by_server)
        if known is not None and (revealed or commitment in (None, known)):
            return False
        if commitment is None:
            self.shares[seat] = draw_number()
            self.by_server.append(seat)
            commitment = hash_of(self.shares[seat])
        self.commitments[seat] = commitment
        return True

    def reveal(self, seat: int, share: str) -> None:
        """Record a person's number, which must match the hash sent before."""
        if self.kind != "fair" or seat not in self.people or not self.all_committed:
            raise CardlabError("no number is expected now; wait until all players have joined")
        if seat in self.shares:
            raise CardlabError("your number was received already; reload the page")
        if not hmac.compare_digest(hash_of(share), self.commitments[seat]):
            raise CardlabError(
                "this number does not match the hash that you sent; open a new table"
            )
        self.shares[seat] = share

    @property
    def key(self) -> bytes:
        """The key that all decks are derived from."""
        if self.kind == "server":
            return derive_key("server deal", self.secret)
        return derive_key("fair deal", self.secret, *(self.shares[seat] for seat in self.people))

    def dealer(self, cards: int) -> Callable[[int], Array] | None:
        """Return the function that gives the n-th deck, or None where a seed decides the cards."""
        if not self.secret:
            return None
        key = self.key
        return lambda n: secret_order(key, n, cards)

    # What is sent

    def facts(self, seats: int) -> dict[str, Any]:
        """Return what everybody may know of the deal during the game."""
        return {
            "kind": self.kind,
            "commitment": self.commitment,
            "commitments": [self.commitments.get(seat) for seat in range(seats)],
        }

    def progress(self, seats: int) -> dict[str, Any]:
        """Return which players the deal still waits for."""
        return {
            **self.facts(seats),
            "shares": len(self.shares),
            "waiting_for": self.waiting_for,
            "reveal": self.all_committed,
        }

    def proof(self, seats: int, cards: Sequence[str]) -> dict[str, Any] | None:
        """Return everything needed to verify the deal once the game is over."""
        if not self.secret:
            return None
        return {
            **self.facts(seats),
            "secret": self.secret,
            "shares": [self.shares.get(seat) for seat in range(seats)],
            "by_server": list(self.by_server),
            "key": self.key.hex(),
            "cards": list(cards),
        }
