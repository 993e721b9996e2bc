"""Whatever a browser sends is a message or a mistake in one sentence; a fair deal stays fair."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import replace
from ipaddress import IPv6Address
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from pydantic import BaseModel

from cardlab.engine.errors import CardlabError
from cardlab.engine.secret_deals import secret_order
from cardlab.web import messages
from cardlab.web.admission import network_of, read_proxies
from cardlab.web.agent_pool import check_agent, is_open, is_usual, parameters_of
from cardlab.web.limits import Limits
from cardlab.web.menu import Menu
from cardlab.web.room_deal import Dealing, draw_number, hash_of
from tests.support.strategies import any_text, json_values, texts_near, value_or_error

HEX = "0123456789abcdef"
FIELDS: dict[str, list[Any]] = {
    "type": ["join", "share", "act", "hint", "undo", "solvable", "leave", "view"],
    "secret": ["x" * 32, None],
    "name": ["Ann", "\u202eAnn\n", None],
    "commitment": ["0" * 64, None],
    "share": ["f" * 64, "F" * 64],
    "version": [0, 1, 2**31, -1, True, "0", 1.0],
    "action": [0, 5, 2**31 - 1, None],
    "game": ["uno", "cribbage"],
    "options": [{}, {"seats": 3}],
    "seats": [[{"agent": "heuristic"}, {"person": "Ann"}], [{"person": None}], [{}]],
    "seed": [0, 10**29, -(10**31), None],
    "hints": [True, False],
    "adviser": ["heuristic", "monte_carlo:100", None],
    "ply": [0, -1],
    "record": [{}, "", None],
}


@st.composite
def objects(draw: Any) -> Any:
    """Return an object with fields of messages, right, wrong or left out."""
    names = draw(st.lists(st.sampled_from(list(FIELDS)), max_size=7, unique=True))
    found = {name: draw(st.sampled_from(FIELDS[name]) | json_values | any_text) for name in names}
    return found | draw(st.just({}) | st.dictionaries(any_text, json_values, max_size=1))


SENT = (
    objects().map(json.dumps)
    | objects().map(lambda found: json.dumps(found, ensure_ascii=False))
    | json_values.map(json.dumps)
    | any_text
    | st.integers(1, 200_000).map(lambda depth: '{"record":' + "[" * depth)
)


@given(SENT)
def test_any_text_is_a_message_of_a_socket_or_a_mistake(text: str) -> None:
    message = value_or_error(messages.read_message, text)
    if not isinstance(message, CardlabError):
        check_model(message)
        assert messages.read_message(message.model_dump_json()) == message


@given(SENT, st.sampled_from([messages.NewTable, messages.Advice, messages.Review]))
def test_any_text_is_the_body_of_a_request_or_a_mistake(
    text: str, model: type[messages.NewTable | messages.Advice | messages.Review]
) -> None:
    body = value_or_error(messages.read_body, text, model)
    if not isinstance(body, CardlabError):
        check_model(body)


def check_model(model: BaseModel) -> None:
    """What was read can be written and sent again, and its names are short and of one line."""
    model.model_dump_json().encode()
    named = [getattr(model, "name", None)]
    named += [getattr(seat, "person", None) for seat in getattr(model, "seats", ())]
    for name in filter(None, named):
        assert name.isprintable()
        assert len(name) <= messages.NAME


@functools.cache
def menu() -> Menu:
    return Menu.of()


@given(
    st.sampled_from(sorted(menu().games)),
    texts_near(
        [
            "heuristic",
            "monte_carlo:1000",
            "uct_open:10,c=2",
            "information_set:5,trees=2",
            "guided:9",
        ],
        ":,=",
    ),
)
def test_an_agent_that_strangers_ask_for_is_bounded_or_refused(name: str, spec: str) -> None:
    game, limits = menu().game(name), Limits()
    entry = value_or_error(check_agent, spec, game, limits, menu().agents)
    if not isinstance(entry, CardlabError):
        usual = {one.name: one.default for one in entry.parameters}
        for key, value in parameters_of(spec, entry).items():
            assert value <= max(1, usual[key]) * limits.budget_factor
        is_usual(spec, entry)
        assert is_open(spec) != entry.fair


@given(texts_near(["127.0.0.1", "10.0.0.0/8", "::1", "fe80::1%eth0", "::ffff:1.2.3.4"], ".:/%"))
def test_any_text_is_a_proxy_or_a_mistake_and_counts_as_one_address(text: str) -> None:
    assert network_of(text) == network_of(text)
    value_or_error(read_proxies, [text])


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1), st.integers(0, 127))
def test_who_has_a_network_of_64_bits_counts_as_one(
    first: IPv6Address, host: int, bit: int
) -> None:
    neighbour = IPv6Address(int(first) >> 64 << 64 | host)
    assert (first.ipv4_mapped is not None) or network_of(str(first)) == network_of(str(neighbour))
    other = IPv6Address(int(first) ^ 1 << bit)
    same = bit < 64 and first.ipv4_mapped is None and other.ipv4_mapped is None
    assert (network_of(str(first)) == network_of(str(other))) == same
    for address in (first, other):
        if address.ipv4_mapped is not None:
            assert network_of(str(address)) == network_of(str(address.ipv4_mapped))


digests = st.text(HEX, min_size=64, max_size=64)


class FairDeal(RuleBasedStateMachine):
    """Calls of a fair deal in any order; what a person's browser would send, and other things."""

    drawn = Bundle("drawn")

    @initialize(people=st.sets(st.integers(0, 4), min_size=2, max_size=4))
    def open(self, people: set[int]) -> None:
        self.people = sorted(people)
        self.dealing = Dealing.plan(None, False, self.people)
        self.hashes: dict[int, str | None] = {}  # what each seat has last had accepted
        self.own: dict[int, str] = {}  # the number behind it
        self.numbers: dict[int, str] = {}
        self.server = self.dealing.commitment

    @rule(target=drawn, number=digests)
    def draw(self, number: str) -> str:
        return number

    @rule(seat=st.integers(0, 4), number=drawn)
    def commit(self, seat: int, number: str) -> None:
        closed = bool(self.numbers)
        before = dict(self.dealing.commitments)
        if self.dealing.commit(seat, hash_of(number)):
            assert seat in self.people
            assert seat not in self.dealing.by_server
            assert not closed or seat not in before  # later it would be a choice
            self.hashes[seat], self.own[seat] = hash_of(number), number
        else:
            assert self.dealing.commitments == before

    @rule(seat=st.integers(0, 4))
    def commit_without_a_number(self, seat: int) -> None:
        known = seat in self.dealing.commitments
        assert self.dealing.commit(seat, None) == (seat in self.people and not known)

    @rule(seat=st.integers(-1, 5), number=drawn | digests | any_text)
    def reveal(self, seat: int, number: str) -> None:
        shares = dict(self.dealing.shares)
        answer = value_or_error(self.dealing.reveal, seat, number)
        if isinstance(answer, CardlabError):
            assert self.dealing.shares == shares
            return
        assert hashlib.sha256(number.encode()).hexdigest() == self.hashes[seat]
        assert self.dealing.all_committed
        assert seat not in shares
        self.numbers[seat] = number

    @rule(data=st.data())
    def go_on_as_browsers_do(self, data: st.DataObject) -> None:
        """Send what the deal waits for, from one of those for whom it waits."""
        if self.dealing.waiting_for:
            seat = data.draw(st.sampled_from(self.dealing.waiting_for))
            if self.dealing.all_committed:
                self.reveal(seat, self.own[seat])
            else:
                self.commit(seat, draw_number())

    @rule()
    def restart(self) -> None:
        """The server goes away and comes back with what the store has kept."""
        self.dealing = Dealing.of(json.loads(json.dumps(self.dealing.to_dict())))

    @invariant()
    def is_sound(self) -> None:
        deal = self.dealing
        assert deal.commitment == self.server == hash_of(deal.secret)
        assert deal.all_committed == (set(deal.commitments) == set(self.people))
        assert deal.ready == (set(deal.shares) == set(self.people))
        assert deal.all_committed or not self.numbers
        sent = json.dumps([deal.facts(5), deal.progress(5)])
        assert deal.secret not in sent
        for seat in deal.shares:
            assert deal.shares[seat] not in sent
            assert hash_of(deal.shares[seat]) == deal.commitments[seat]

    @precondition(lambda self: self.dealing.ready)
    @invariant()
    def depends_on_everybody(self) -> None:
        deal = self.dealing
        keys = {deal.key, replace(deal, secret=draw_number()).key}
        for seat in self.people:
            keys.add(replace(deal, shares={**deal.shares, seat: draw_number()}).key)
        assert len(keys) == 2 + len(self.people)
        proof = deal.proof(5, ["a card"])
        assert proof is not None
        assert proof["key"] == deal.key.hex()
        assert hash_of(proof["secret"]) == proof["commitment"]
        dealer = deal.dealer(52)
        assert dealer is not None
        assert dealer(0).tolist() == secret_order(deal.key, 0, 52).tolist()
        assert sorted(dealer(1).tolist()) == list(range(52))


TestFairDeal = FairDeal.TestCase
