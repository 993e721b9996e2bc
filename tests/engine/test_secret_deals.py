"""Decks from a key: permutations, uniform, other ones for every key and number, checkable."""

from __future__ import annotations

import hashlib
from itertools import permutations

from cardlab.engine.game import Game
from cardlab.engine.play import Table
from cardlab.engine.secret_deals import derive_key, secret_order


def test_a_deck_is_its_cards_sorted_by_their_hashes() -> None:
    key = derive_key("a key")
    for n in (0, 1, 70_000):
        by_hand = sorted(
            range(52),
            key=lambda card: hashlib.sha256(
                key + n.to_bytes(4, "big") + card.to_bytes(2, "big")
            ).digest(),
        )
        assert secret_order(key, n, 52).tolist() == by_hand


def test_keys_depend_on_where_parts_end() -> None:
    keys = {derive_key(*parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""))}
    assert len(keys) == 4
    assert derive_key("x", 12) == derive_key(b"x", "12")


def test_all_orders_are_equally_likely() -> None:
    counts = dict.fromkeys(permutations(range(4)), 0)
    for n in range(4800):
        counts[tuple(secret_order(b"uniform", n, 4).tolist())] += 1
    chi = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert chi < 55.0  # 23 degrees of freedom: exceeded once in 5,000 keys, and this key is fixed


def test_a_table_takes_its_decks_from_a_dealer(crazy_eights: Game) -> None:
    def dealer(n: int) -> object:
        return secret_order(b"k", n, crazy_eights.deck)

    table = Table(crazy_eights, seed=1, dealer=dealer)  # type: ignore[arg-type]
    assert table.deals[0].tolist() == dealer(0).tolist()  # type: ignore[attr-defined]
    assert not table.dealt_by_seed
    record = table.record(["a", "b"])
    again = Table(crazy_eights, deals=record.deals, options=dict(record.options))
    assert again.state.array.tobytes() == table.state.array.tobytes()
