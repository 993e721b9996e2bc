"""What an address may hold and ask for, and who thinks first when many want to."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from cardlab.engine.errors import CardlabError
from cardlab.web.admission import Admission, network_of
from cardlab.web.fair_queue import Busy, FairQueue, Payer
from cardlab.web.limits import Limits
from cardlab.web.logs import LINES, Sparing
from tests.support.web_wire import run_alone


@pytest.mark.parametrize(
    ("host", "counts_as"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_ipv6_counts_by_its_network(host: str, counts_as: str) -> None:
    assert network_of(host) == counts_as


def test_what_an_address_holds_is_bounded_and_given_back() -> None:
    admission = Admission(Limits(sockets=4, sockets_of_address=2))
    assert [admission.enter("sockets", "a") for _ in range(3)] == [True, True, False]
    assert [admission.enter("sockets", "b") for _ in range(2)] == [True, True]
    assert not admission.enter("sockets", "c")  # the server is full
    admission.leave("sockets", "a")
    assert admission.enter("sockets", "c")
    assert admission.refused == {"sockets": 2}
    for address in ("a", "b", "b", "c"):
        admission.leave("sockets", address)
    assert not admission.held
    assert admission.total["sockets"] == 0


def test_rates_count_each_address_by_itself() -> None:
    admission = Admission(Limits(hints_a_minute=2))
    admission.check_rate("hints", "a")
    admission.check_rate("hints", "a")
    with pytest.raises(Busy, match="too many hints"):
        admission.check_rate("hints", "a")
    admission.check_rate("hints", "b")


def queue_of(work: Any, places: int = 1, **limits: Any) -> Any:
    """Run work with a queue, in a loop of its own."""

    async def run() -> Any:
        return await asyncio.wait_for(work(FairQueue(places, Limits(**limits))), 60)

    return run_alone(run())


async def settle() -> None:
    """Let everything happen that can happen now."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_addresses_take_turns_however_much_one_asks_for() -> None:
    async def work(queue: FairQueue) -> list[str]:
        order: list[str] = []

        async def ask(payer: Payer) -> None:
            async with queue.place(payer):
                order.append(payer.address)
                await settle()

        tasks = [asyncio.create_task(ask(Payer("loud", str(k)))) for k in range(20)]
        await settle()
        tasks.append(asyncio.create_task(ask(Payer("quiet"))))
        await asyncio.gather(*tasks)
        assert queue.free == 1
        return order

    order = queue_of(work)
    assert order.index("quiet") <= 2  # those that had begun, and then whoever is new


def test_tables_of_one_address_take_turns() -> None:
    async def work(queue: FairQueue) -> list[str]:
        order: list[str] = []

        async def ask(payer: Payer) -> None:
            async with queue.place(payer):
                order.append(payer.table)
                await settle()

        tables = "aaaabb"
        await asyncio.gather(*(ask(Payer("one", table)) for table in tables))
        return order

    assert "".join(queue_of(work)) in ("aabaab", "aababa", "ababaa")


def test_who_has_used_much_comes_after_who_has_used_little() -> None:
    async def work(queue: FairQueue) -> list[str]:
        queue.use("heavy", 30.0)
        order: list[str] = []

        async def ask(address: str) -> None:
            async with queue.place(Payer(address)):
                order.append(address)
                await settle()

        await asyncio.gather(*(ask(one) for one in ("first", "heavy", "light", "heavy", "light")))
        return order

    assert queue_of(work) == ["first", "light", "light", "heavy", "heavy"]


def test_what_runs_counts_before_it_ends() -> None:
    """Somebody with a long decision under way is not served a second one before others."""

    async def work(queue: FairQueue) -> list[str]:
        order: list[str] = []
        go = asyncio.Event()

        async def ask(address: str, wait: bool = False) -> None:
            async with queue.place(Payer(address)):
                order.append(address)
                if wait:
                    await go.wait()

        tasks = [asyncio.create_task(ask("long", True)), asyncio.create_task(ask("x", True))]
        await settle()
        queue.use("y", 5.0)  # has used something, but nothing of it runs
        tasks += [asyncio.create_task(ask(one)) for one in ("long", "y")]
        await settle()
        queue._release()  # as if a third place had come free
        await settle()
        served = list(order)
        go.set()
        await asyncio.gather(*tasks)
        return served

    assert queue_of(work, places=2) == ["long", "x", "y", "long"]


def test_a_full_queue_drops_the_last_of_who_has_most() -> None:
    async def work(queue: FairQueue) -> dict[str, int]:
        busy = {"loud": 0, "late": 0}
        go = asyncio.Event()

        async def ask(address: str) -> None:
            try:
                async with queue.place(Payer(address)):
                    await go.wait()
            except Busy:
                busy[address] += 1

        tasks = [asyncio.create_task(ask("loud")) for _ in range(12)]
        await settle()
        tasks.append(asyncio.create_task(ask("late")))
        await settle()
        go.set()
        await asyncio.gather(*tasks)
        assert (queue.free, queue.waiting, dict(queue.running)) == (1, 0, {})
        return busy

    assert queue_of(work, waiting=8, waiting_of_address=8) == {"loud": 4, "late": 0}


def test_who_stops_waiting_takes_no_place_along() -> None:
    async def work(queue: FairQueue) -> None:
        async def ask() -> None:
            async with queue.place(Payer("a")):
                await settle()

        first = asyncio.create_task(ask())
        await asyncio.sleep(0)
        others = [asyncio.create_task(ask()) for _ in range(4)]
        await asyncio.sleep(0)
        others[0].cancel()
        others[2].cancel()
        await asyncio.gather(first, *others, return_exceptions=True)
        given = asyncio.create_task(ask())
        await asyncio.sleep(0)
        given.cancel()  # while it holds the place
        await asyncio.gather(given, return_exceptions=True)
        assert (queue.free, queue.waiting, queue.queues) == (1, 0, {})

    queue_of(work)


def test_the_log_has_a_bounded_number_of_lines_of_each_kind() -> None:
    sparing = Sparing()

    def line(text: str, *args: Any) -> bool:
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, text, args, None)
        return sparing.filter(record)

    passed = sum(line("socket.accept() out of system resource %d", k) for k in range(10_000))
    assert passed == LINES
    assert line("something else")


def test_proxies_are_addresses_or_networks() -> None:
    admission = Admission.of(Limits(), ["10.0.0.0/8", "::1", "192.0.2.7"])
    for host in ("10.1.2.3", "::1", "192.0.2.7", "::ffff:10.9.9.9"):
        assert admission.is_proxy(host), host
    for host in ("11.0.0.1", "::2", "192.0.2.8", "local", "fe80::1%eth0"):
        assert not admission.is_proxy(host), host
    assert not Admission.of(Limits()).is_proxy("127.0.0.1")


@pytest.mark.parametrize("name", ["*", "", "proxy.example", "10.0.0.0/99"])
def test_a_proxy_that_is_no_address_is_refused(name: str) -> None:
    with pytest.raises(CardlabError, match="--proxy must be an address or a network, got"):
        Admission.of(Limits(), [name])


def test_what_many_visitors_share_is_bounded_in_all_only() -> None:
    admission = Admission(Limits(connections=4, connections_of_address=2))
    taken = [admission.enter("connections", "a proxy", shared=True) for _ in range(5)]
    assert taken == [True] * 4 + [False]
    assert not admission.enter("connections", "a visitor")
