"""Limits by address: counts connections, sockets and requests, and refuses too many."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from cardlab.engine.errors import CardlabError
from cardlab.web.fair_queue import Busy
from cardlab.web.limits import Limits, RateLimiter

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SENTENCES = {  # what visitors read when their address exceeds a limit
    "connections": "too many connections from your network; close some and try again",
    "sockets": "too many tables are open from your network; close some tabs and try again",
    "replays": "your last replays are still being computed; try again in a moment",
    "requests": "too many requests from your network; wait a moment",
    "new tables": "too many new tables from your network; wait a minute",
    "records": "too many replays and questions from your network; wait a minute",
    "hints": "too many hints asked from your network; wait a moment",
}


def network_of(host: str) -> str:
    """Return the address that limits count: an IPv4 address, or the /64 network of an IPv6 one."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))


def read_proxies(names: Iterable[str]) -> tuple[Network, ...]:
    """Return the addresses and networks of the proxies that an operator names."""
    found = []
    for name in names:
        try:
            found.append(ipaddress.ip_network(name.strip(), strict=False))
        except ValueError:
            raise CardlabError(
                f"--proxy must be an address or a network, got {name!r}; "
                "give for example 127.0.0.1 or 10.0.0.0/8"
            ) from None
    return tuple(found)


class Bound(NamedTuple):
    """The most of a kind, in all and for one address."""

    in_all: int
    of_address: int


@dataclass
class Admission:
    """Counts the connections and requests of addresses, and refuses those above the limits."""

    limits: Limits
    proxies: tuple[Network, ...] = ()  # reverse proxies, whose connections serve many visitors
    held: Counter[tuple[str, str]] = field(default_factory=Counter)  # by kind and address
    total: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Read the bounds."""
        limits = self.limits
        endless = 1 << 60
        self.bounds = {
            "connections": Bound(limits.connections, limits.connections_of_address),
            "sockets": Bound(limits.sockets, limits.sockets_of_address),
            "replays": Bound(endless, limits.replays_of_address),
        }
        self.rates = {
            "requests": RateLimiter(60 * limits.requests_a_second, limits.request_burst),
            "new tables": RateLimiter(limits.tables_a_minute),
            "records": RateLimiter(limits.replays_a_minute),
            "hints": RateLimiter(limits.hints_a_minute),
        }

    @classmethod
    def of(cls, limits: Limits, proxies: Iterable[str] = ()) -> Admission:
        """Return an admission with these limits and trusted proxies."""
        return cls(limits, read_proxies(proxies))

    def is_proxy(self, host: str) -> bool:
        """Return whether a connection comes from a proxy that the operator has named."""
        if not self.proxies:
            return False
        try:
            address = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self.proxies)

    def enter(self, kind: str, address: str, shared: bool = False) -> bool:
        """Return whether an address may hold one more of a kind, and count it.

        A shared address (a proxy) serves many visitors: only the limit in all applies to it.
        """
        bound = self.bounds[kind]
        full = self.total[kind] >= bound.in_all
        if full or (not shared and self.held[kind, address] >= bound.of_address):
            self.refused[kind] += 1
            return False
        self.held[kind, address] += 1
        self.total[kind] += 1
        return True

    def leave(self, kind: str, address: str) -> None:
        """Count one less."""
        self.total[kind] -= 1
        self.held[kind, address] -= 1
        if self.held[kind, address] <= 0:
            del self.held[kind, address]

    def may(self, kind: str, address: str) -> bool:
        """Return whether an address is within a rate limit, and count the event."""
        if self.rates[kind].take(address):
            return True
        self.refused[kind] += 1
        return False

    def check_rate(self, kind: str, address: str) -> None:
        """Raise `Busy` if an address exceeds a rate limit."""
        if not self.may(kind, address):
            raise Busy(SENTENCES[kind])
