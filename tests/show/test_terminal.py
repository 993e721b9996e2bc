"""The terminal table, played by scripted persons against real agents."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from cardlab.agents.catalog import find_agent
from cardlab.agents.play import play_game
from cardlab.engine.cards import RANKS, SUIT_SYMBOLS, SUITS
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Agent, Event, Game, OpenAgent, Turn
from cardlab.engine.play import Table
from cardlab.engine.records import Record, read_records
from cardlab.engine.registry import find_game
from cardlab.engine.replay import replay
from cardlab.show.terminal import _added, action_look, card_look, play_in_terminal, words_look

GAME = find_game("crazy_eights")
END = "end"  # of a script: Ctrl-D


def person(*answers: str, then: str = "1") -> Callable[[str], str]:
    """Return someone who gives these answers and then always the same one."""
    left: Iterator[str] = iter(answers)

    def read(prompt: str) -> str:
        answer = next(left, then)
        if answer == END:
            raise EOFError
        return answer

    return read


class Seating:
    """One game at a table of plain text, with what was shown and saved."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "games.jsonl"
        self.output = ""

    def play(
        self,
        read: Callable[[str], str],
        *against: str,
        seed: int = 11,
        seat: int = 0,
        adviser: str | None = "heuristic",
        width: int = 80,
        **options: object,
    ) -> Record:
        file = io.StringIO()
        helper = find_agent(adviser, GAME) if adviser else None
        assert helper is None or isinstance(helper, Agent)
        try:
            self.finished = play_in_terminal(
                Table(GAME, seed=seed, options=options),
                [find_agent(name, GAME) for name in against or ("heuristic",)],
                seat=seat,
                adviser=helper,
                record_path=self.path,
                console=Console(file=file, width=width),
                read=read,
            )
        finally:
            self.output = file.getvalue()
        *_, (_, record) = read_records(self.path)
        *_, table = replay(record)
        assert len(table.actions) == len(record.actions)
        return record


@pytest.fixture
def table(tmp_path: Path) -> Seating:
    return Seating(tmp_path)


def look(card: str) -> str:
    return card_look(card).plain


def test_a_whole_game_by_numbers(table: Seating) -> None:
    record = table.play(person())
    assert table.finished
    assert record.result is not None
    assert record.note is None
    assert record.seats == ["you", "heuristic"]
    result = table.output[table.output.index("Crazy Eights: result") :]
    assert f"after {len(record.actions)} plies" in result
    assert f"cardlab replay {table.path}" in result
    assert "cardlab play crazy_eights --seed 11" in result


def test_a_whole_game_by_texts(table: Seating) -> None:
    by_number = table.play(person())
    texts = [text.lower() for _, text in by_number.actions[::2]]
    by_text = table.play(person(*texts, then=END))
    assert by_text == by_number


def test_choices_can_be_typed_as_they_are_shown(table: Seating) -> None:
    by_number = table.play(person())
    shown = [action_look(text).plain for _, text in by_number.actions[::2]]
    assert any(" call " in one for one in shown)
    assert table.play(person(*shown, then=END)) == by_number


def test_opponents_draw_from_their_own_streams(table: Seating) -> None:
    record = table.play(person(), "random", "random", seat=1, seats=3, seed=5)
    mine = iter([action for action, _ in record.actions][1::3])

    class Same:
        name = "you"

        def act(self, turn: Turn, rng: object) -> int:
            return next(mine)

    random = find_agent("random", GAME)
    agents: list[Agent | OpenAgent] = [random, Same(), random]
    assert play_game(GAME, agents, seed=5, options={"seats": 3}) == record


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("99", "There is no choice 99; choose from 1 to 4."),
        ("0", "There is no choice 0"),
        ("9" * 5000, "There is no choice 999"),
        ("", "It is your move; give a number"),
        ("zebra", "Unknown card 'ZEBRA'"),
        ("[red]", "Unknown card '[RED]'"),
        ("8h", "8H must declare a suit; write it as 8H=C, =D, =H or =S."),
        ("7h=s", "7H is no eight"),
        ("ac", "A♣ is not legal now; choose"),
        ("pass", "Pass is not legal now; choose"),
    ],
)
def test_bad_input_gets_a_sentence_and_another_try(
    table: Seating, answer: str, sentence: str
) -> None:
    # four choices: the only card that fits is the eight of hearts
    before = ["1"] * 7
    assert "4) 8♥ call ♠" in play_until(table, before)
    record = table.play(person(*before, answer, "8H=S", END))
    assert record.actions[14][1] == "8H=S"
    after = table.output[table.output.rindex("4) 8♥ call ♠") :]
    assert sentence in " ".join(after.split())


def play_until(table: Seating, answers: list[str]) -> str:
    table.play(person(*answers, END))
    return table.output[table.output.rindex("╭─ Crazy Eights") :]


def test_enter_takes_the_only_choice(table: Seating) -> None:
    assert "2)" not in play_until(table, [])
    record = table.play(person("", END))
    assert len(record.actions) == 2


@pytest.mark.parametrize("adviser", ["heuristic", "random", "monte_carlo:100", None])
def test_hints_and_help_change_nothing(table: Seating, adviser: str | None) -> None:
    plain = table.play(person(), "random", "monte_carlo:20", seats=3)
    curious = person(*("?", "h", "1") * 60)
    hinted = table.play(curious, "random", "monte_carlo:20", seats=3, adviser=adviser)
    assert hinted == plain
    assert GAME.summary in table.output
    if adviser is None:
        assert "Nobody gives hints" in table.output
    elif adviser.startswith("monte_carlo"):
        bars = re.findall(r"^ +\d+\) .* (\d+)%  █*░* *$", table.output, flags=re.MULTILINE)
        assert bars
        assert all(0 <= int(score) <= 100 for score in bars)
    else:
        assert f"{adviser} would take " in table.output


def test_hints_are_sorted_best_first(table: Seating) -> None:
    table.play(person(*["1"] * 7, "h", END), adviser="monte_carlo:200")
    scores = [int(one) for one in re.findall(r"(\d+)%  ", table.output)]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("way_out", [END, "q", "Q"])
def test_leaving_saves_the_game_so_far(table: Seating, way_out: str) -> None:
    record = table.play(person("1", "1", way_out))
    assert not table.finished
    assert record.note == "left unfinished"
    assert record.result is None
    assert len(record.actions) == 4
    assert "You left the game after 4 plies." in table.output
    assert f"cardlab replay {table.path}" in table.output


def test_ctrl_c_at_the_prompt_saves_too(table: Seating) -> None:
    def read(prompt: str) -> str:
        raise KeyboardInterrupt

    assert table.play(read).note == "left unfinished"
    assert not table.finished


class Interrupted:
    """Plays once, then is interrupted by Ctrl-C while it thinks."""

    name = "interrupted"

    def __init__(self) -> None:
        self.turns = 0

    def act(self, turn: Turn, rng: object) -> int:
        self.turns += 1
        if self.turns == 2:
            raise KeyboardInterrupt
        return int(turn.legal[0])


def test_ctrl_c_while_an_opponent_thinks_saves_too(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    console = Console(file=io.StringIO(), width=80)
    finished = play_in_terminal(
        Table(GAME, seed=11), [Interrupted()], record_path=path, console=console, read=person()
    )
    assert not finished
    [(_, record)] = read_records(path)
    assert record.note == "left unfinished"
    assert len(record.actions) == 3
    *_, last = replay(record)
    assert last.mover == 1


@pytest.mark.parametrize("seed", range(12))
def test_nothing_hidden_appears(table: Seating, seed: int) -> None:
    curious = person(*("?", "h", "1") * 60)
    record = table.play(
        curious, "uct_open:50", "heuristic", seed=seed, seats=3, adviser="monte_carlo:50"
    )
    witnessed: set[str] = set()
    for position in replay(record):
        view = position.state.view(0).describe()
        witnessed.update(card for zone in view.zones for card in zone.cards)
    played = {text[:2] for _, text in record.actions}
    assert played - {"pa"} <= witnessed
    unseen = {rank + suit for rank in RANKS for suit in SUITS} - witnessed
    assert unseen
    shown = set(re.findall(r"(?:10|[A2-9TJQK])[♣♦♥♠CDHS]", table.output))
    assert not shown & unseen
    assert not shown & {look(card) for card in unseen}
    assert shown & {look(card) for card in witnessed}


def test_what_happened_is_told_with_names(table: Seating) -> None:
    table.play(person(), "random", "random", "uct_open:20", seats=4, seed=3)
    assert re.search(r"• you (drew \d+ cards? and )?played ", table.output)
    assert re.search(r"• random \(seat 1\) (drew|played)", table.output)
    assert re.search(r"• random \(seat 2\) (drew|played)", table.output)
    assert re.search(r"• uct_open:20 (drew|played)", table.output)
    assert "sees all cards" in table.output
    assert re.search(r"seat 1  random +▮▮▮▮▮ 5 cards", table.output)


def test_legal_cards_are_marked_without_colour(table: Seating) -> None:
    shown = play_until(table, [])
    assert "[J♣]   2♠    5♥    10♥   K♥" in shown
    assert "new in your hand: K♣  3♥" in play_until(table, ["1", "1"])


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(table: Seating, width: int) -> None:
    table.play(person(*("h", "?", "1") * 60), width=width, adviser="monte_carlo:50")
    table_lines = table.output[: table.output.index("saved in")].splitlines()
    assert max(map(len, table_lines)) <= width


def test_a_terminal_that_knows_only_ascii(tmp_path: Path) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    finished = play_in_terminal(
        Table(GAME, seed=11),
        [find_agent("heuristic", GAME)],
        record_path=tmp_path / "games.jsonl",
        console=Console(file=file, width=80, force_terminal=True, color_system=None),
        read=person("h"),
    )
    file.flush()
    assert finished
    assert "[JC]   2S    5H    10H   KH" in raw.getvalue().decode("ascii")


def test_mistakes_are_told_before_the_game(table: Seating, tmp_path: Path) -> None:
    with pytest.raises(CardlabError, match="2 opponents for 1 other seats"):
        table.play(person(), "random", "random")
    with pytest.raises(CardlabError, match="no seat 2"):
        table.play(person(), seat=2)
    table.path = tmp_path / "records" / "games.jsonl"
    with pytest.raises(CardlabError, match="records does not exist; make it with mkdir -p"):
        table.play(person())


@pytest.mark.parametrize(
    ("text", "shown"),
    [("TH", "10♥"), ("AS", "A♠"), ("9C", "9♣"), ("QD", "Q♦"), ("wild", "wild"), ("R5", "R5")],
)
def test_card_looks(text: str, shown: str) -> None:
    assert card_look(text).plain == shown


def test_the_four_suits_differ_in_symbol_and_colour() -> None:
    looks = [card_look(f"7{suit}") for suit in SUITS]
    assert [one.plain[1] for one in looks] == list(SUIT_SYMBOLS)
    assert len({str(one.style) for one in looks}) == 4


def test_action_and_sentence_looks() -> None:
    assert action_look("8H=S").plain == "8♥ call ♠"
    assert action_look("wild=red").plain == "wild call red"
    assert action_look("pass").plain == "pass"
    assert words_look("played TH and called clubs").plain == "played 10♥ and called ♣ clubs"


def test_news_of_logs_that_grow_that_forget_and_that_start_again() -> None:
    a, b, c, d = (Event(0, text) for text in "abcd")
    assert _added((a, b), (a, b, c)) == (c,)
    assert _added((a, b, c), (b, c, d)) == (d,)
    assert _added((a, b), (c,)) == (c,)
    assert _added((a, a), (a, a)) == ()


def test_a_hint_counts_an_even_game_as_one_in_so_many_seats(
    crazy_eights: Game, tmp_path: Path
) -> None:
    class Even:
        name = "even"

        def act(self, turn: Any, rng: Any) -> int:
            return int(turn.legal[0])

        def values(self, turn: Any, rng: Any) -> Any:
            return np.zeros(len(turn.legal))

    for seats, share in ((2, "50%"), (4, "25%")):
        console = Console(file=io.StringIO(), width=80)
        answers = iter(["h"])
        play_in_terminal(
            Table(crazy_eights, seed=3, options={"seats": seats}),
            [Even()] * (seats - 1),
            adviser=Even(),
            record_path=tmp_path / "games.jsonl",
            console=console,
            read=lambda prompt, answers=answers: next(answers, "q"),
        )
        assert share in console.file.getvalue()  # type: ignore[attr-defined]


def test_coloured_cards_have_their_colour() -> None:
    assert card_look("R7").plain == "R7"
    assert str(card_look("Y+2").style) != str(card_look("G+2").style) != ""
