"""Birds of a Feather: each rule with its source, published deals, unsolvable deals counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cardlab.agents.heuristic import Heuristic
from cardlab.agents.play import play_game
from cardlab.agents.searchers import UctOpen
from cardlab.engine import cards
from cardlab.engine.batch import Batch
from cardlab.engine.errors import CardlabError, IllegalAction
from cardlab.engine.game import DEALER, OVER, State, Turn
from cardlab.engine.kernel import JIT
from cardlab.engine.play import Table
from cardlab.games.birds_of_a_feather import rules
from cardlab.testing import check_agent, random_table, retrace
from tests.support import plain_birds_search

GAME = rules.GAME
MANY = 300 if JIT else 5
SEED_0 = "TH5HKSTC6SACTS6C6HQD4SJDJS3C5D3S"  # facts: published texts of two seeds
SEED_10 = "5S5H6H6S5D4D2HJHKD2SQD2DAS9C3SJD"


def at(position: str) -> State:
    """Return a game that stands as `position` says."""
    return State(GAME, rules.parse_position(position))


def moves(state: State) -> list[str]:
    return [rules.action_text(int(action)) for action in state.legal()]


def take(state: State, *texts: str) -> str:
    """Take legal moves and return the position that they lead to."""
    for text in texts:
        assert text in moves(state), text
        GAME.bindings.apply(state.array, 0, rules.parse_action(text))
    return rules.position_text(state.array[0])


# Published deals


def freecell_deal(seed: int) -> str:
    """Return a deal by the generator as the facts state it, all 51 steps."""
    deck = [rank + suit for rank in "A23456789TJQK" for suit in "CDHS"]
    s = seed
    for i in range(51, 0, -1):
        s = (s * 214013 + 2531011) & 0x7FFFFFFF
        r = (s >> 16) % (i + 1)
        deck[r], deck[i] = deck[i], deck[r]
    return "".join(deck[51 - i] for i in range(16))


@pytest.mark.parametrize(("seed", "text"), [(0, SEED_0), (10, SEED_10)])
def test_published_seeds_have_their_published_deals(seed: int, text: str) -> None:
    assert freecell_deal(seed) == text
    assert rules.position_text(Table(GAME, seed=seed).state.array[0]) == text
    assert rules.position_text(Batch(GAME, 1, seeds=[seed]).states[0]) == text
    assert Table(GAME, seed=seed).record(["nobody"]).deals == [" ".join(rules.split_cards(text))]


@pytest.mark.parametrize("seed", [1, 954, 9999, -1, -500_000, 2**31, 2**31 + 10, -(2**62), 2**62])
def test_any_seed_has_the_deal_of_the_published_generator(seed: int) -> None:
    table = Table(GAME, seed=seed)
    assert rules.position_text(table.state.array[0]) == freecell_deal(seed)
    assert sorted(table.deals[0].tolist()) == list(range(52))


# Every step of whole games against rules written plainly


def plain_moves(tops: list[str]) -> list[int]:
    """Return the legal ids from texts alone, in the order of the published search (facts)."""
    found, number = [], 0
    rows = [[4 * r + c for c in range(4)] for r in range(4)]
    columns = [[4 * r + c for r in range(4)] for c in range(4)]
    for line in rows + columns:
        for c1 in range(4):
            for c2 in range(c1 + 1, 4):
                one, two = tops[line[c1]], tops[line[c2]]
                if "--" not in (one, two):
                    distance = cards.RANKS.index(one[0]) - cards.RANKS.index(two[0])
                    if one[1] == two[1] or distance in (-1, 0, 1):
                        found += [number, number + 1]
                number += 2
    return found


def test_every_step_agrees_with_the_plain_rules() -> None:
    for seed in range(-MANY, MANY):
        table = random_table(GAME, {}, seed)
        tops = rules.split_cards(freecell_deal(seed))
        for one in retrace(table):
            assert rules.split_cards(rules.position_text(one.state.array[0])) == tops
            assert one.state.legal().tolist() == plain_moves(tops)
            assert one.over == (not plain_moves(tops))
            if not one.over:
                start, end = rules.action_text(table.actions[len(one.actions)]).split(">")
                a, b = ("ABCD".index(name[0]) * 4 + int(name[1]) - 1 for name in (start, end))
                tops[a], tops[b] = "--", tops[a]
        stacks = 16 - tops.count("--")
        assert table.state.returns() == [1.0 if stacks == 1 else -1.0]
        assert table.state.points() == [16 - stacks]


def test_actions_are_numbered_as_the_published_search_tries_them() -> None:
    # Facts: rows 0-3, in each the pairs c1 < c2, c1 onto c2 then c2 onto c1; columns alike.
    first = ["A1>A2", "A2>A1", "A1>A3", "A3>A1", "A1>A4", "A4>A1", "A2>A3", "A3>A2"]
    assert [rules.action_text(action) for action in range(8)] == first
    assert [rules.action_text(a) for a in (12, 47, 48, 49, 95)] == [
        "B1>B2",
        "D4>D3",
        "A1>B1",
        "B1>A1",
        "D4>C4",
    ]
    assert GAME.num_actions == 96


# Single rules: paper, section 1, and facts


@pytest.mark.parametrize(
    ("one", "two", "may"),
    [
        ("KH", "QC", True),  # adjacent ranks: the paper's example
        ("KH", "9H", True),  # same suit: the paper's example, "rank" being a slip
        ("KH", "KC", True),  # same rank
        ("AC", "2D", True),  # the ace is low
        ("AC", "KD", False),  # no way round from king to ace
        ("AC", "KC", True),
        ("7H", "5S", False),
        ("7H", "9C", False),
    ],
)
def test_which_cards_fit(one: str, two: str, may: bool) -> None:
    for a, b in ((one, two), (two, one)):
        state = at(f"{a}{b}" + "--" * 14)
        assert moves(state) == (["A1>A2", "A2>A1"] if may else [])


def test_a_stack_moves_along_its_row_or_column_at_any_distance() -> None:
    # Facts: empty cells and stacks between do not matter.
    assert moves(at("KH -- -- QH" + "--" * 12)) == ["A1>A4", "A4>A1"]
    assert moves(at("KH 2C 5S QH" + "--" * 12)) == ["A1>A4", "A4>A1"]
    assert moves(at("KH------" + "2C------" + "--------" + "QH------")) == ["A1>D1", "D1>A1"]
    assert moves(at("KH------" + "--QH----" + "--" * 8)) == [], "never across"


def test_a_move_lays_one_top_card_on_another() -> None:
    state = at("KH QH JC --" + "--" * 12)
    assert moves(state) == ["A1>A2", "A2>A1", "A2>A3", "A3>A2"]
    assert take(state, "A2>A3") == "KH--QH--" + "--" * 12
    assert moves(state) == ["A1>A3", "A3>A1"], "only the new top card counts"


def test_one_stack_left_is_a_win_and_scores_fifteen() -> None:
    state = at("KHQH" + "--" * 14)
    assert state.mover == 0
    take(state, "A2>A1")
    assert state.mover == OVER
    assert state.returns() == [1]
    assert state.points() == [15]
    assert "solved" in str(state)
    assert state.view(0).describe().facts == {"stacks": 1, "result": "solved"}


def test_no_move_left_is_a_loss_and_scores_what_was_gathered() -> None:
    state = at("KHQH5S" + "--" * 13)
    take(state, "A2>A1")
    assert state.mover == OVER
    assert state.returns() == [-1]
    assert state.points() == [14]
    assert state.view(0).describe().facts["result"] == "stuck with 2 stacks"


def deal_without_a_move() -> str:
    """Return sixteen cards of which no two in a line fit, found by trying cards in turn."""
    chosen: list[int] = []

    def lay(cell: int) -> bool:
        if cell == 16:
            return True
        row, column = divmod(cell, 4)
        seen = [chosen[4 * row + c] for c in range(column)]
        seen += [chosen[4 * r + column] for r in range(row)]
        for card in range(52):
            if card not in chosen and not any(rules.birds_of_a_feather(card, o) for o in seen):
                chosen.append(card)
                if lay(cell + 1):
                    return True
                chosen.pop()
        return False

    assert lay(0)
    return "".join(cards.card_text(card) for card in chosen)


def test_a_deal_without_a_move_is_lost_at_once() -> None:
    table = Table(GAME, deals=[rules.parse_deal(deal_without_a_move())])
    assert table.over
    assert table.state.returns() == [-1]
    assert table.state.points() == [0]


def test_the_view_is_the_state() -> None:
    state = Table(GAME, seed=3).state
    view = state.view(0)
    assert view.array.tobytes() == state.array.tobytes()
    assert view.imagine(np.random.default_rng(0)).array.tobytes() == state.array.tobytes()


# The oracle: which of the published deals can be solved


@pytest.mark.skipif(not JIT, reason="too many nodes to interpret")
def test_24_of_the_first_10000_seeds_cannot_be_solved() -> None:
    verdicts, _ = plain_birds_search.decide(range(10_000), guided=True, bits=22)
    assert (verdicts != plain_birds_search.UNDECIDED).all()
    assert (verdicts == plain_birds_search.REFUTED).sum() == 24


@pytest.mark.skipif(not JIT, reason="too many nodes to interpret")
def test_moves_in_the_published_order_decide_alike() -> None:
    # Facts: over seeds 0..9999 the median is 10,780 nodes; crosscheck/birds_unsolvable.py counts
    # them all.
    seeds = range(200)
    ours, _ = plain_birds_search.decide(seeds, guided=True, bits=20)
    theirs, nodes = plain_birds_search.decide(seeds, guided=False, bits=23)
    assert ours.tolist() == theirs.tolist()
    assert 3_000 < np.median(nodes) < 30_000


@pytest.mark.skipif(not JIT, reason="too many nodes to interpret")
@pytest.mark.parametrize("guided", [True, False])
def test_what_the_searches_find_solves_the_deal(guided: bool) -> None:
    for seed in (0, 1, 2, -7):
        table = Table(GAME, seed=seed)
        for action in plain_birds_search.solve(seed, guided=guided) or []:
            table.act(action)
        assert table.state.returns() == [1]
        assert len(table.actions) == 15
    assert plain_birds_search.solve(10, guided=guided) is None


# Agents


def test_the_heuristic_solves_most_deals() -> None:
    # Measured on 2,000 deals: 68 %, while random play solves about one deal in 10,000.
    solved = 0
    for seed in range(MANY):
        result = play_game(GAME, [Heuristic()], seed=seed).result
        solved += result is not None and result.returns == [1]
    assert solved > 0.5 * MANY


def test_the_heuristic_is_a_sound_agent() -> None:
    check_agent(Heuristic, GAME)


def test_the_heuristic_keeps_the_flock_together() -> None:
    # The queen of clubs joins the king of hearts and the five of clubs: it must not be covered.
    state = at("KHQC5C--" + "--" * 12)
    turn = Turn(GAME, 0, state.view(0), state.legal())
    assert turn.texts == ["A1>A2", "A2>A1", "A2>A3", "A3>A2"]
    choice = Heuristic().act(turn, np.random.default_rng(0))
    assert rules.action_text(choice) in ("A2>A1", "A2>A3")


@pytest.mark.skipif(not JIT, reason="too many play-outs to interpret")
def test_uct_solves_deals_from_end_to_end() -> None:
    # Measured on 200 deals: 25 % with 2,000 simulations a move.
    results = [play_game(GAME, [UctOpen(2000)], seed=seed).result for seed in range(12)]
    assert any(result and result.returns == [1] for result in results)


# Texts


def test_every_position_can_be_written_and_read() -> None:
    for seed in range(MANY):
        for table in retrace(random_table(GAME, {}, seed)):
            s = table.state.array[0]
            again = rules.parse_position(rules.position_text(s))
            assert GAME.audit(again[0]) == 0
            for name in ("pairs", "plies", "phase", "seat", "seats"):
                assert again[name][0] == table.state.array[name][0]
            assert again["tops"].tolist() == table.state.array["tops"].tolist()
        dealt = Table(GAME, seed=seed).state.array
        again = rules.parse_position(rules.position_text(dealt[0]))
        assert again.tobytes() == dealt.tobytes(), "nothing is lost before the first move"


def test_the_history_brings_back_every_card() -> None:
    table = random_table(GAME, {}, 5)
    past = list(rules.history(table.state.array[0]))
    assert [action for action, _, _ in past] == table.actions
    left = rules.split_cards(rules.position_text(table.state.array[0]).replace("--", ""))
    dealt = rules.split_cards(freecell_deal(5))
    assert sorted(left + [cards.card_text(covered) for _, _, covered in past]) == sorted(dealt)
    events = table.state.view(0).describe().events
    start, end = rules.MOVES[table.actions[0]]
    text = rules.action_text(table.actions[0])
    assert events[0].text == f"moved {dealt[start]} onto {dealt[end]}, {text}"


def test_a_position_read_from_text_has_no_past_but_a_future() -> None:
    state = at("KHQH" + "--" * 14)
    assert state.view(0).describe().events == ()
    take(state, "A1>A2")
    assert [event.text for event in state.view(0).describe().events] == ["moved KH onto QH, A1>A2"]
    assert GAME.audit(state.array[0]) == 0


def test_a_deal_may_be_written_with_or_without_spaces() -> None:
    spaced = " ".join(rules.split_cards(SEED_0))
    order = rules.parse_deal(SEED_0)
    for text in (spaced, spaced.lower(), SEED_0.replace("T", "10"), spaced.replace(" ", ", ")):
        assert rules.parse_deal(text).tolist() == order.tolist()
    assert GAME.parse_order(spaced).tolist() == order.tolist()
    rows = "\n".join(SEED_0[i : i + 8] for i in range(0, 32, 8))
    assert rules.parse_deal(rows).tolist() == order.tolist()
    table = Table(GAME, deals=[order])
    assert rules.position_text(table.state.array[0]) == SEED_0


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (SEED_0[:-2], "the deal has 15 cards; birds_of_a_feather needs 16"),
        (SEED_0 + "2C", "the deal has 17 cards"),
        (SEED_0[:-1], "card 16 of the deal: unknown card '3'"),
        ("", "the deal has 0 cards"),
        (SEED_0[:-2] + "TH", "card 16 of the deal: TH is listed more often"),
        ("1X" + SEED_0[2:], "card 1 of the deal: unknown card '1X'"),
        ("--" + SEED_0[2:], "card 1 of the deal: unknown card '--'"),
    ],
)
def test_impossible_deals(text: str, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        rules.parse_deal(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (SEED_0[:-2], "the position has 15 cells; birds_of_a_feather needs 16"),
        ("", "the position has 0 cells"),
        (SEED_0[:-2] + "TH", "cell D4 of the position: TH lies in A1 already"),
        (SEED_0[:10] + "1X" + SEED_0[12:], "cell B2 of the position: unknown card '1X'"),
        (SEED_0[:-1] + "-", "cell D4 of the position: unknown card '3-'"),
        ("--" * 16, "the position has no card"),
    ],
)
def test_broken_positions(text: str, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        rules.parse_position(text)


@pytest.mark.parametrize("text", ["A1>A3", "a1 a3", "a1a3", "A1 onto a3", "a1->a3", " a1 to A3 "])
def test_what_people_type(text: str) -> None:
    assert rules.action_text(rules.parse_action(text)) == "A1>A3"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("TH", "unknown move 'TH'; write two cells such as A1>A3"),
        ("", "unknown move ''"),
        ("A1>A5", "unknown cell 'A5'; rows are A to D and columns 1 to 4"),
        ("E1>A1", "unknown cell 'E1'"),
        ("A1>A1", "A1>A1 is one cell"),
        ("A1>B2", "A1>B2 is neither along a row nor along a column"),
    ],
)
def test_what_people_mistype(text: str, answer: str) -> None:
    with pytest.raises(CardlabError, match=answer):
        rules.parse_action(text)


def test_there_are_no_options() -> None:
    with pytest.raises(CardlabError, match="unknown option of birds_of_a_feather 'seats'"):
        Table(GAME, seed=0, options={"seats": 2})


def test_a_move_that_does_not_fit_is_refused() -> None:
    table = Table(GAME, seed=0)
    with pytest.raises(IllegalAction, match=r"cannot take action 2 \(A1>A3\)"):
        table.act(rules.parse_action("A1>A3"))  # TH and KS


def test_the_rows_are_shown() -> None:
    told = Table(GAME, seed=0).state.view(0).describe()
    assert [zone.name for zone in told.zones] == ["row A", "row B", "row C", "row D"]
    assert told.zones[0].cards == ("TH", "5H", "KS", "TC")
    assert told.facts == {"stacks": 16}
    assert GAME.start().mover == DEALER
    assert "not dealt" in str(GAME.start())


def test_every_table_of_the_rules_agrees_with_the_pairs() -> None:
    for cell, pair in itertools.product(range(16), range(48)):
        assert (rules.TOUCHING[cell] >> pair & 1) == (cell in rules.PAIRS[pair])
    for cell in range(16):
        for other, pair in zip(rules.PARTNER[cell], rules.PAIR_WITH[cell], strict=True):
            assert {cell, int(other)} == set(rules.PAIRS[pair])
