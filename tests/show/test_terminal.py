"""The terminal table, played by scripted persons against real agents."""

from __future__ import annotations

import io
import re
import shlex
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
from cardlab.engine.records import Record, append_records, read_records
from cardlab.engine.registry import find_game
from cardlab.engine.replay import replay
from cardlab.show.rules_text import _plain, read_rules
from cardlab.show.terminal import _added, action_look, card_look, play_in_terminal, words_look
from cardlab.show.unfinished import continue_table, last_unfinished

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
    assert "cardlab play crazy_eights --against heuristic --seed 11" in result
    assert "--resume" not in result


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
        ("", "It is your move; type the number"),
        ("zebra", "Type 1 to 4, a card or action as shown, or ? for help."),
        ("r " + "9" * 5000, "Type 1 to 4, a card or action as shown, or ? for help."),
        ("[red]", "Type 1 to 4, a card or action as shown, or ? for help."),
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
        assert f"hint by {adviser}: " in table.output


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
    with pytest.raises(CardlabError, match="with 2 seats needs 1 opponent, got 2"):
        table.play(person(), "random", "random")
    with pytest.raises(CardlabError, match="no seat 2; its seats are 0 to 1"):
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


def resume(path: Path, read: Callable[[str], str], *, seat: int = 0) -> str:
    """Continue the unfinished game in a file, and return what was shown."""
    _, record = last_unfinished(path)
    names = [name for name in record.seats if name != "you"]
    file = io.StringIO()
    play_in_terminal(
        continue_table(record),
        names,
        seat=seat,
        record_path=path,
        console=Console(file=file, width=80),
        read=read,
        resumed=record,
    )
    return file.getvalue()


def test_a_resumed_game_takes_the_place_of_the_unfinished_one(table: Seating) -> None:
    first = table.play(person(), seed=1)
    left = table.play(person("1", "1", "1", END), "random", "heuristic", seats=3, seat=1, seed=5)
    assert left.note == "left unfinished"
    odd = b'{"not a record": 1}\r\n\n'
    with table.path.open("ab") as file:
        file.write(odd)
    lines = table.path.read_bytes().split(b"\n", 2)
    shown = resume(table.path, person(), seat=1)
    after = table.path.read_bytes().split(b"\n", 2)
    assert (after[0], after[2]) == (lines[0], lines[2])
    assert after[2] == odd
    done = Record.from_line(after[1].decode())
    assert done.actions[: len(left.actions)] == left.actions
    assert done.result is not None
    assert done.note is None
    assert (done.seats, done.options, done.seed) == (left.seats, left.options, left.seed)
    assert list(replay(done))[-1].over
    assert "Crazy Eights: result" in shown
    assert Record.from_line(after[0].decode()) == first
    with pytest.raises(CardlabError, match="holds no unfinished game"):
        last_unfinished(table.path)


def test_a_game_can_be_left_and_resumed_often(table: Seating) -> None:
    table.play(person("1", END))
    for _ in range(3):
        before = table.path.read_bytes()
        resume(table.path, person(END))
        assert table.path.read_bytes() == before  # nothing was played
        resume(table.path, person("1", END))
    [(_, record)] = read_records(table.path)
    assert len(record.actions) > 6
    assert list(replay(record))[-1].actions == [action for action, _ in record.actions]


def test_a_resumed_game_is_dealt_as_the_first_part_was(tmp_path: Path) -> None:
    game = find_game("koi_koi")
    whole = Table(game, seed=4, options={"rounds": 2})
    while not whole.over:
        whole.act(int(whole.turn().legal[0]))
    deals = [game.order_text(order) for order in whole.deals]
    assert len(deals) > 2
    for given, after in (((), ()), (deals[:2], deals[2:]), (deals[:2], ())):
        left = Table(game, seed=4 if not given else 99, deals=given, options={"rounds": 2})
        left.act(whole.actions[0])
        record = left.record(["you", "random"], note="left unfinished")
        again = continue_table(record, deals=after)
        assert again.actions == left.actions
        assert again.dealt_by_seed == (not given)
        if given and not after:  # the deals that follow come from the seed
            continue
        for action in whole.actions[1:]:
            again.act(action)
        assert [game.order_text(order) for order in again.deals] == deals


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rules": 99}, "rules version 99"),
        ({"actions": [(0, "AC")]}, "AC"),
        ({"seats": ["you", "random", "random"]}, "3 seats, but 2 play"),
    ],
)
def test_a_record_that_does_not_fit_cannot_be_resumed(
    table: Seating, changes: dict[str, Any], sentence: str
) -> None:
    record = table.play(person("1", END))
    with pytest.raises(CardlabError, match=sentence):
        continue_table(record.model_copy(update=changes))


def test_only_a_game_with_one_person_can_be_resumed(table: Seating) -> None:
    left = table.play(person("1", END))
    path = table.path.with_name("others.jsonl")
    for changes in (
        {"note": "something else"},
        {"note": None},
        {"seats": ["heuristic", "random"]},
        {"seats": ["you", "you"]},
    ):
        append_records(path, left.model_copy(update=changes))
    with pytest.raises(CardlabError, match="holds no unfinished game"):
        last_unfinished(path)
    with pytest.raises(CardlabError, match="holds no unfinished game of uno"):
        last_unfinished(table.path, find_game("uno"))


def test_the_last_unfinished_game_of_a_game_is_found_behind_a_torn_line(table: Seating) -> None:
    table.play(person("1", END), seed=1)
    second = table.play(person("1", END), seed=2)
    with table.path.open("a") as file:
        file.write('{"game": "cra')
    assert last_unfinished(table.path, GAME) == (2, second)


def test_the_commands_at_the_end_name_everything(table: Seating) -> None:
    order = GAME.order_text(Table(GAME, seed=77).deals[0])
    file = io.StringIO()
    play_in_terminal(
        Table(GAME, seed=-3, deals=[order], options={"seats": 3, "reshuffle": True}),
        ["random", "monte_carlo:20"],
        seat=1,
        adviser="monte_carlo:50",
        record_path=table.path.with_name("my games.jsonl"),
        console=Console(file=file, width=80),
        read=person("1", "q"),
    )
    commands = [shlex.split(line[13:]) for line in file.getvalue().splitlines()[-3:]]
    path = str(table.path.with_name("my games.jsonl"))
    assert commands == [
        ["cardlab", "play", "--resume", path, "--adviser", "monte_carlo:50"],
        ["cardlab", "replay", path],
        [
            *["cardlab", "play", "crazy_eights", "--against", "random"],
            *["--against", "monte_carlo:20", "--seat", "1", "-o", "seats=3"],
            *["-o", "reshuffle=true", "--seed", "-3", "--deal", order],
            *["--adviser", "monte_carlo:50"],
        ],
    ]


SOLO = find_game("birds_of_a_feather")


def play_solo(path: Path, *answers: str, seed: int = 3, adviser: str | None = None) -> str:
    file = io.StringIO()
    play_in_terminal(
        Table(SOLO, seed=seed),
        [],
        adviser=adviser,
        record_path=path,
        console=Console(file=file, width=80),
        read=person(*answers, then=END),
    )
    return file.getvalue()


def actions_in(path: Path) -> list[str]:
    *_, (_, record) = read_records(path)
    assert list(replay(record))
    return [text for _, text in record.actions]


def test_moves_of_a_game_for_one_can_be_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    play_solo(path, "1", "1", "1", "2")
    whole = actions_in(path)
    assert len(whole) == 4
    play_solo(path, "1", "1", "1", "1", "u", "2", "U", "undo")
    assert actions_in(path) == whole[:2]
    shown = play_solo(path, "1", "1", "1", "2", "u 3", "u 2", "u")
    assert actions_in(path) == []
    assert "2 moves cannot be taken back; you can take back 1 move." in shown
    shown = play_solo(path, "u", "1", "u 0", "u" + "9" * 5000)
    assert "1 move cannot be taken back; you have made no move." in shown
    assert actions_in(path) == whole[:1]


def test_a_lost_game_for_one_can_be_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    lost = play_solo(path, *["1"] * 14, "")
    made = actions_in(path)
    assert "You lose" in lost
    assert lost.count(": result") == 1
    tries = ["1"] * len(made)
    play_solo(path, *tries, "u")
    *_, (_, record) = read_records(path)
    assert record.note == "left unfinished"
    assert actions_in(path) == made[:-1]


def test_undo_is_offered_to_a_single_player_only(table: Seating, tmp_path: Path) -> None:
    assert "take back" in play_solo(tmp_path / "games.jsonl", "?")
    table.play(person("?", "u", END))
    assert "take back" not in table.output
    assert "Moves cannot be taken back in Crazy Eights." in table.output


def test_a_hint_says_that_all_choices_are_equally_good(tmp_path: Path) -> None:
    shown = play_solo(tmp_path / "games.jsonl", "h", adviser="solver")
    hint = shown.split("hint by solver: ")[1]
    assert "all 36 choices are equally good (100%)" in hint
    assert "1)" not in hint


def test_keys_can_be_written_as_words(table: Seating, tmp_path: Path) -> None:
    table.play(person("hint", "HELP", "rules", "undo", "u 2", "quit", then="1"))
    assert not table.finished
    for shown in ("hint by heuristic: ", "Type one of these", "The rules of Crazy Eights"):
        assert table.output.count(shown) == 1
    assert table.output.count("Moves cannot be taken back in Crazy Eights.") == 2
    assert table.play(person("1", "Exit", then="1")).note == "left unfinished"


def test_arrow_keys_are_ignored(table: Seating) -> None:
    plain = table.play(person("1", END))
    # one choice, which Enter alone would take
    assert table.play(person("\x1b[A", "\x1b[1;5D", "\x1bOB", "\x1b", END)).actions == []
    assert table.play(person("\x1b[A1\x1b[D", END)) == plain


def test_an_illegal_action_names_a_few_legal_ones(tmp_path: Path) -> None:
    shown = " ".join(play_solo(tmp_path / "games.jsonl", "b1>a1").split())
    few = "choose one of A1>A3, A3>A1, B2>B3, B3>B2, C1>C3 and 31 more; ? shows how to write them."
    assert f"B1>A1 is not legal now; {few}" in shown


def test_a_mistake_in_an_action_is_told_by_the_game(tmp_path: Path) -> None:
    shown = play_solo(tmp_path / "games.jsonl", "a1>d4", "fo")
    assert "A1>D4 is neither along a row nor along a column" in shown
    assert "Type 1 to 36, a card or action as shown, or ? for help." in shown


def test_many_choices_fit_a_usual_terminal(tmp_path: Path) -> None:
    low, high = 24, 60
    counts = []
    for seed in range(40):
        tables = []
        for height in (low, high):
            file = io.StringIO()
            play_in_terminal(
                Table(SOLO, seed=seed),
                [],
                record_path=tmp_path / "games.jsonl",
                console=Console(file=file, width=80, height=height),
                read=person(then=END),
            )
            tables.append(file.getvalue()[: file.getvalue().rindex("╯") + 2].splitlines())
        assert len(tables[0]) < low
        assert any(" on " in line for line in tables[1])
        count = len(Table(SOLO, seed=seed).turn().legal)
        assert any(f"{count}) " in line for line in tables[0])
        counts.append(len(tables[1]))
    assert max(counts) >= low  # some do not fit with what each move does


def test_a_hand_stands_in_the_order_of_the_choices(tmp_path: Path) -> None:
    file = io.StringIO()
    play_in_terminal(
        Table(find_game("cribbage"), seed=3),
        ["heuristic"],
        record_path=tmp_path / "games.jsonl",
        console=Console(file=file, width=80),
        read=person("?", "1", "?", then=END),
    )
    discard, *later = file.getvalue().split("your hand, ")[1:]
    [hand] = re.findall(r"2♠.*J♠", discard.splitlines()[1])
    assert hand.split() == ["2♠", "4♥", "6♦", "8♣", "9♦", "J♠"]  # and no brackets: all can be laid
    assert "in [brackets]" not in discard
    assert later
    for part in later:
        marked = "[" in part.splitlines()[1]
        assert ("in [brackets]" in part) == marked or "Type one" not in part


@pytest.mark.parametrize(
    ("best", "rest", "note"),
    [
        (1.0, -1.0, "and 31 more, 2 of them with 100%, too"),
        (1.0, 0.9999, "and 31 more with 100%"),  # not alike, but shown alike
    ],
)
def test_a_hint_names_the_best_of_many(table: Seating, best: float, rest: float, note: str) -> None:
    class Ranked:
        name = "ranked"

        def act(self, turn: Turn, rng: object) -> int:
            return int(turn.legal[0])

        def values(self, turn: Turn, rng: object) -> Any:
            values = np.full(len(turn.legal), rest)
            values[10:17] = best
            return values

    file = io.StringIO()
    play_in_terminal(
        Table(SOLO, seed=3),
        [],
        adviser=Ranked(),
        record_path=table.path,
        console=Console(file=file, width=80),
        read=person("h", then=END),
    )
    hint = file.getvalue().split("hint by ranked")[1]
    assert re.findall(r"^ +(\d+)\)", hint, flags=re.MULTILINE) == ["11", "12", "13", "14", "15"]
    assert note in hint


def test_help_names_every_key_and_the_adviser(table: Seating) -> None:
    table.play(person("?", END), adviser="monte_carlo:50")
    text = " ".join(table.output.split())
    assert "h a hint by monte_carlo:50, who sees only what you see" in text
    assert "Cards in [brackets] can be played now." in text
    assert "r the rules in short; r 1 to r 5 show one section" in text
    assert "8h=s play the eight of hearts and call spades" in text


@pytest.mark.parametrize(
    "name", ["crazy_eights", "uno", "birds_of_a_feather", "koi_koi", "cribbage"]
)
def test_rules_are_shown_by_section(name: str, tmp_path: Path) -> None:
    game = find_game(name)
    sections = read_rules(game)[1:]
    file = io.StringIO()
    play_in_terminal(
        Table(game, seed=3),
        ["random"] * (Table(game, seed=3).seats - 1),
        record_path=tmp_path / "games.jsonl",
        console=Console(file=file, width=80),
        read=person("r", "rules 1", f"r {len(sections)}", "r 0", "R 99", then=END),
    )
    shown = file.getvalue()
    for number, section in enumerate(sections, start=1):
        assert f"r {number}  {section.title}" in shown
    assert sections[-1].text.split()[-1] in shown
    assert "The rules have no section 0" in shown
    assert "The rules have no section 99" in shown
    assert not re.search(r"\[(?:[A2-9TJQK][CDHS] ?)+\]", shown)  # cards are in symbols
    assert max(map(len, shown[: shown.index("saved in")].splitlines())) <= 80


@pytest.mark.parametrize("typed", ["r5", "R 5"])
def test_a_card_comes_before_the_rules(typed: str, tmp_path: Path) -> None:
    game = find_game("uno")
    turns = (Table(game, seed=n).turn() for n in range(500))
    seed = next(n for n, turn in enumerate(turns) if turn.seat == 0 and "R5" in turn.texts)
    file = io.StringIO()
    play_in_terminal(
        Table(game, seed=seed),
        ["random"],
        record_path=tmp_path / "games.jsonl",
        console=Console(file=file, width=80),
        read=person(typed, then=END),
    )
    assert actions_in(tmp_path / "games.jsonl")[0] == "R5"


def test_long_texts_stop_at_the_end_of_the_screen(tmp_path: Path) -> None:
    file = io.StringIO()
    prompts = []

    def read(prompt: str) -> str:
        prompts.append(prompt)
        return ["r 3", "", "q", "q"][len(prompts) - 1]

    play_in_terminal(
        Table(GAME, seed=3),
        ["random"],
        record_path=tmp_path / "games.jsonl",
        console=Console(file=file, width=80, height=10, force_terminal=True, color_system=None),
        read=read,
    )
    assert [prompt.startswith(" Enter for more") for prompt in prompts] == [
        False,
        True,
        True,
        False,
    ]
    assert "An empty stock." not in file.getvalue()


def test_a_low_terminal_gets_no_blank_lines(tmp_path: Path) -> None:
    for height, blank in ((40, True), (10, False)):
        file = io.StringIO()
        play_in_terminal(
            Table(GAME, seed=3),
            ["random"],
            record_path=tmp_path / "games.jsonl",
            console=Console(file=file, width=80, height=height),
            read=person(then=END),
        )
        assert bool(re.search(r"^│ +│$", file.getvalue(), flags=re.MULTILINE)) == blank


def test_names_are_never_broken_at_80_columns(table: Seating) -> None:
    for name in ("monte_carlo:400", "guided:20", "uct_open:simulations=20,c=1.4"):
        table.play(person("1", END), name, "random", seats=3)
        rows = [line for line in table.output.splitlines() if "seat 1  " in line]
        assert rows
        assert all(f"seat 1  {name}" in row and "▮" in row for row in rows)


def test_the_choices_are_the_hand_where_every_card_can_be_played(tmp_path: Path) -> None:
    file = io.StringIO()
    play_in_terminal(
        Table(find_game("koi_koi"), seed=3),
        ["random"],
        record_path=tmp_path / "games.jsonl",
        console=Console(file=file, width=80),
        read=person(then=END),
    )
    assert "your hand, 8 cards: choose one" in file.getvalue()
    assert "your choices" not in file.getvalue()


def test_help_of_an_open_game_does_not_speak_of_what_is_hidden(tmp_path: Path) -> None:
    shown = play_solo(tmp_path / "games.jsonl", "?", adviser="solver")
    assert "a hint by solver" in shown
    assert "who sees only what you see" not in shown
    assert "[brackets]" not in shown


def test_only_cards_become_symbols_and_links_stay() -> None:
    text = "take [5H] or [QS]: they\n[TH 2C]\n\n[page](x.md) and [page][1]\n\n[1]: y.md\n"
    plain = _plain(text)
    assert "take 5♥ or Q♠: they" in plain
    assert "\n10♥ 2♣\n" in plain
    assert plain.endswith("[page](x.md) and [page][1]\n\n[1]: y.md")
