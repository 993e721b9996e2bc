"""A game at the terminal: a person on one seat, agents on the others.

All that a turn shows comes from the person's own view: from its `Description`, and from the
`TerminalTexts` of the game, if it has any. So nothing hidden can show. For every game:

- a zone called "hand" with a seat is that seat's hand; other zones with a seat are listed with it;
- a zone called "pile" shows its first card only, which lies on top; others show all known cards;
- a card of the person is marked if the text of a legal action mentions it, unless all cards are;
- in all texts `TH` is a card, `hearts` a suit, and `8H=S` an action that calls a suit;
- `seat 1` in a text is replaced by the name of the player there.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import SegmentLines
from rich.table import Table as Grid
from rich.text import Text

from cardlab.agents.catalog import adviser_of, find_agent
from cardlab.engine import seeding
from cardlab.engine.cards import RANKS, SUIT_NAMES, SUIT_SYMBOLS, SUITS
from cardlab.engine.errors import CardlabError
from cardlab.engine.folders import require_folder
from cardlab.engine.game import (
    Agent,
    Array,
    Description,
    Event,
    HasUnit,
    HasValues,
    OpenAgent,
    Turn,
    Unit,
    Zone,
)
from cardlab.engine.play import Table, ask, ask_values, open_game
from cardlab.engine.records import Record, append_records, replace_record
from cardlab.show.rules_text import read_rules
from cardlab.show.terminal_texts import TerminalTexts, terminal_texts_of
from cardlab.show.unfinished import (
    UNFINISHED,
    YOU,
    replay_command,
    resume_command,
    same_deal_command,
)

__all__ = [
    "action_look",
    "card_look",
    "play_in_terminal",
    "require_writable",
    "scale_values",
    "values_grid",
    "words_look",
]

HAND, PILE = "hand", "pile"  # zone names that mean something here
SUIT_STYLES = ("color(28)", "color(27)", "color(196)", "")  # fit for light and dark backgrounds
HAND_ORDER = "CDSH"  # black and red by turns
CARD = re.compile(f"[{RANKS}][{SUITS}]")
COLOURED = re.compile(r"[RGBY](?:\d|S|R|\+2)")
COLOUR_STYLES = {"R": "color(196)", "G": "color(28)", "B": "color(27)", "Y": "color(136)"}
WORD = re.compile(rf"\b(?:[{RANKS}][{SUITS}]|{'|'.join(SUIT_NAMES)})\b")
MOST_NEWS = 8  # lines
JOINED = 30  # columns beside two sentences about one player on one line
MOST_HINTS = 5  # choices
GAP = "   "  # between facts, and between zones, on one line
MOST_NAMED = 5  # legal choices after an illegal one
MANY = 20  # choices; more of them are shown without effects if the table is too high otherwise
KEYS = {"hint": "h", "help": "?", "quit": "q", "exit": "q"}  # words for keys
CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|[\x00-\x08\x0a-\x1f\x7f]"
)  # such as arrow keys
FIRST = re.compile(r"\w+")  # word of an action
UNDO = re.compile(r"u(?:ndo)? *(\d{0,9})", re.IGNORECASE)
RULES = re.compile(r"r(?:ules)?(?: +(\d{1,9}))?", re.IGNORECASE)
WIDEST, NARROW = 80, 56
BAR = 20
TO_ASCII = str.maketrans(SUIT_SYMBOLS + "▮█░…•→", SUITS + "##.~*>")


def card_look(text: str) -> Text:
    """Return `TH` as `10♥` and `R7` in their colours, any other text as it is."""
    if COLOURED.fullmatch(text):
        return Text(text, style=COLOUR_STYLES[text[0]])
    if not CARD.fullmatch(text):
        return Text(text)
    suit = SUITS.index(text[1])
    return Text(text[0].replace("T", "10") + SUIT_SYMBOLS[suit], style=SUIT_STYLES[suit])


def words_look(text: str) -> Text:
    """Return a sentence with symbols and colours for its cards and suits."""
    look, end = Text(), 0
    for found in WORD.finditer(text):
        look.append(text[end : found.start()])
        word, end = found[0], found.end()
        look.append_text(_suit_look(word) if word in SUIT_NAMES else card_look(word))
    return look.append(text[end:])


def action_look(text: str) -> Text:
    """Return an action in symbols and colours, `8H=S` as `8♥ call ♠`."""
    what, equals, called = text.partition("=")
    if not equals:
        return words_look(text)
    is_suit = called in SUITS and CARD.fullmatch(what)
    look = _suit_look(called) if is_suit else words_look(called)
    return Text.assemble(words_look(what), " call ", look)


def _suit_look(text: str) -> Text:
    suit = SUITS.index(text) if text in SUITS else SUIT_NAMES.index(text)
    name = f" {text}" if text in SUIT_NAMES else ""
    return Text(SUIT_SYMBOLS[suit] + name, style=SUIT_STYLES[suit])


def values_grid(
    turn: Turn,
    values: Array,
    unit: Unit | None,
    *,
    digits: int = 0,
    taken: int | None = None,
    most: int | None = None,
) -> Grid:
    """Return the legal actions with their values and a bar for each, best first.

    Expected returns become scores, where 100% is a win. The action `taken` is marked. With `most`
    the grid ends after so many actions.
    """
    texts, shares = scale_values(turn, values, unit, digits)
    grid = _grid(2)
    for place in np.argsort(-values, kind="stable")[:most]:
        filled = round(BAR * shares[place])
        bar = Text("█" * filled).append("░" * (BAR - filled), style="dim")
        number = Text.assemble((f"{place + 1:>2}", "bold"), ")")
        row = [number, action_look(turn.texts[place]), Text(texts[place], justify="right"), bar]
        if taken is not None:
            row.append(Text("taken" if turn.legal[place] == taken else "", style="italic"))
        grid.add_row(*row)
    return grid


def scale_values(
    turn: Turn, values: Array, unit: Unit | None, digits: int
) -> tuple[list[str], Array]:
    """Return each value as text, with so many digits, and the part of its bar that is filled."""
    if unit is None:
        seats = max(2, int(turn.view.seats))
        scores = ((1 + (seats - 1) * values) / seats).clip(0, 1)  # an even game: one in `seats`
        return [f"{score:4.{digits}%}" for score in scores], scores
    low, high = unit.limits or (float(values.min()), float(values.max()))
    shares = (values - low) / (high - low) if high > low else np.ones(len(values))
    return [unit.form.format(value) for value in values], shares.clip(0, 1)


def play_in_terminal(
    table: Table,
    opponents: Sequence[str | Agent | OpenAgent],
    *,
    seat: int = 0,
    adviser: str | Agent | None = None,
    record_path: Path,
    console: Console,
    read: Callable[[str], str] = input,
    resumed: Record | None = None,
) -> bool:
    """Play a game with a person on `seat`, save its record, return whether it was finished.

    A table with actions is continued. The record then replaces `resumed` in its file; otherwise it
    is appended. Without an adviser there are no hints.
    """
    game = table.game
    if not 0 <= seat < table.seats:
        raise CardlabError(f"{game.name} has no seat {seat}; its seats are 0 to {table.seats - 1}")
    if len(opponents) != table.seats - 1:
        raise CardlabError(
            f"{game.name} with {table.seats} seats needs "
            f"{_count(table.seats - 1, 'opponent')}, got {len(opponents)}"
        )
    require_writable(record_path)
    if read is input and sys.stdin is not None and sys.stdin.isatty():
        with suppress(ImportError):  # some systems have none
            importlib.import_module("readline")  # then `input` edits lines
    found = [find_agent(agent, game) for agent in opponents]
    names = [agent if isinstance(agent, str) else agent.name for agent in opponents]
    names.insert(seat, YOU)
    helper = None if adviser is None else find_agent(adviser, game)
    if isinstance(helper, OpenAgent):
        raise CardlabError(f"adviser {helper.name} sees all cards; name an agent that does not")
    sitting = _Sitting(table, [*found[:seat], None, *found[seat:]], names, helper, console, read)
    try:
        sitting.run()
    except (KeyboardInterrupt, EOFError):
        sitting.show(Text())  # the prompt's line is still open
    finally:
        table = sitting.table
        record = table.record(names, note=None if table.over else UNFINISHED)
        if resumed is None:
            append_records(record_path, record)
        elif record != resumed:
            replace_record(record_path, resumed, record)
    usual = adviser is None or adviser == adviser_of(game)
    sitting.show_end(record_path, None if usual or not isinstance(adviser, str) else adviser)
    return table.over


def require_writable(path: Path) -> None:
    """Raise an error before the game if its record could not be saved at its end."""
    require_folder(path)
    try:
        path.open("a").close()
    except OSError as error:
        raise CardlabError(
            f"{path} cannot be written: {error.strerror}; name another file for the record"
        ) from None


@dataclass
class _Sitting:
    """One person's game from the first turn to the last."""

    table: Table
    agents: Sequence[Agent | OpenAgent | None]
    names: Sequence[str]
    adviser: Agent | None
    console: Console
    read: Callable[[str], str]
    result_shown: bool = False
    has_marks: bool = False  # whether the last table shows cards in brackets

    def __post_init__(self) -> None:
        self.game = self.table.game
        self.texts: TerminalTexts = terminal_texts_of(self.game)
        self.seat = self.names.index(YOU)
        self.seed = self.table.seed or 0
        self.width = min(self.console.width, WIDEST)
        self.labels = [
            name if self.names.count(name) == 1 else f"{name} (seat {seat})"
            for seat, name in enumerate(self.names)
        ]
        # A resumed game draws new random numbers: the first ones were used before it was left.
        plies = len(self.table.actions)
        again: tuple[str | int, ...] = ("resumed", plies) if plies else ()
        self.rngs = [
            seeding.generator(self.seed, "seat", k, *again) for k in range(self.table.seats)
        ]
        self.look_again()

    @property
    def can_undo(self) -> bool:
        """Whether moves may be taken back: nobody else has acted on them."""
        return self.table.seats == 1

    @property
    def sees_all(self) -> bool:
        """Whether the game hides nothing from the person."""
        view = self.table.state.view(self.seat)
        alone = self.table.seats == 1 and view.array.tobytes() == self.table.state.array.tobytes()
        return self.game.open_cards or alone

    def look_again(self) -> None:
        """Forget what the person was shown, as if the table were new to them."""
        self.log: tuple[Event, ...] = ()
        self.news: list[Event] = []  # since the person's last turn
        self.hand: tuple[str, ...] = ()  # as it was at the person's last turn
        self.listen()

    def run(self) -> None:
        """Play until the game is over."""
        open_game(self.table, self.agents, self.rngs)
        while not self.table.over or self.wants_undo():
            seat = self.table.mover
            agent = self.agents[seat]
            if agent is None:
                action = self.choose()
                if action is None:
                    continue
                self.news.clear()
            else:
                with self.thinking(self.labels[seat]):
                    place = f", ply {len(self.table.actions)}, seed {self.table.seed}"
                    action = ask(agent, self.table.state, self.rngs[seat], place)
            self.table.act(action)
            self.listen()

    def listen(self) -> None:
        """Add what the person has seen since the last call to the news."""
        events = self.table.state.view(self.seat).describe().events
        self.news.extend(_added(self.log, events))
        self.log = events

    def named(self, text: str) -> Text:
        """Return a game's text with symbols and colours, and with names for seats."""
        return words_look(re.sub(r"\bseat (\d+)\b", lambda seat: self.labels[int(seat[1])], text))

    def show(self, part: RenderableType, *, soft_wrap: bool = False) -> None:
        """Write to the terminal; to one that knows only ASCII, in ASCII."""
        if not self.console.options.ascii_only:
            self.console.print(part, soft_wrap=soft_wrap)
            return
        with self.console.capture() as written:
            self.console.print(part, soft_wrap=soft_wrap)
        text = written.get().translate(TO_ASCII)
        self.console.file.write(text.encode("ascii", "replace").decode("ascii"))

    def thinking(self, name: str) -> AbstractContextManager[object]:
        """Return a context in which the terminal shows who is thinking."""
        quiet = self.console.options.ascii_only
        return nullcontext() if quiet else self.console.status(Text(f"{name} is thinking"))

    def ask_person(self, prompt: str) -> str:
        """Return what the person types."""
        while True:
            typed = self.read(prompt).strip()
            answer = CONTROL.sub("", typed).strip()
            if not self.console.is_terminal:
                self.show(Text(answer))  # a file or pipe does not show what was typed
            if answer or not typed:  # else nothing but arrow keys
                return answer

    def choose(self) -> int | None:
        """Show the turn, ask until there is an action; None after moves were taken back."""
        turn = self.table.turn()
        self.show_turn(turn)
        count = len(turn.legal)
        ways = f"1-{count}" if count > 1 else "1 or Enter"
        while True:
            answer = self.ask_person(f" your move ({ways}, ? for help): ")
            try:
                if answer.casefold() in map(str.casefold, turn.texts):
                    return self.read_action(answer, turn)
                answer = KEYS.get(answer.lower(), answer)
                if answer.lower() == "q":
                    raise EOFError
                moves = UNDO.fullmatch(answer)
                sure = self.can_undo and moves and not moves[1]
                if moves and (sure or not self.means_legal_action(answer, turn)):
                    if not self.can_undo:
                        raise CardlabError(f"moves cannot be taken back in {self.game.title}")
                    self.take_back(int(moves[1] or 1))
                    return None
                if not self.show_more(answer, turn):
                    return self.read_action(answer, turn)
            except CardlabError as error:
                sentence = str(error)
                stop = "" if sentence.endswith(("?", ".")) else "."
                self.show(_aside(Text(sentence[:1].upper() + sentence[1:] + stop)))

    def show_more(self, answer: str, turn: Turn) -> bool:
        """Show help, a hint or rules if the answer asks for one of them."""
        if answer == "?":
            self.show_help(turn)
        elif answer.lower() == "h":
            self.show_hint(turn)
        elif section := RULES.fullmatch(answer):
            if section[1] and self.means_legal_action(answer, turn):  # such as a red five
                return False
            self.show_rules(section[1] or "")
        else:
            return False
        return True

    def means_legal_action(self, answer: str, turn: Turn) -> bool:
        """Return whether the game reads an answer as a legal action."""
        try:
            return self.game.parse_action(answer) in turn.legal
        except CardlabError:
            return False

    def take_back(self, moves: int) -> None:
        """Take back the last moves."""
        made = len(self.table.actions)
        if not 1 <= moves <= made:
            most = f"you can take back {_count(made, 'move')}" if made else "you have made no move"
            raise CardlabError(f"{_count(moves, 'move')} cannot be taken back; {most}")
        self.table = self.table.at_ply(made - moves)
        self.look_again()
        self.news.clear()

    def wants_undo(self) -> bool:
        """Offer to take back moves of a lost game with one seat; return whether that was done."""
        if not self.can_undo or self.table.state.returns()[0] > 0:
            return False
        self.show_result()
        self.result_shown = True
        answer = self.ask_person(" type u to take back your last move, or Enter to end: ")
        moves = UNDO.fullmatch(answer)
        if moves:
            self.take_back(min(max(int(moves[1] or 1), 1), len(self.table.actions)))
            self.result_shown = False
        return bool(moves)

    def read_action(self, answer: str, turn: Turn) -> int:
        """Return the legal action that a number or text means; nothing means the only one."""
        actions = [int(action) for action in turn.legal]
        looks = [action_look(text).plain for text in turn.texts]
        numbers = [str(number) for number in range(1, len(actions) + 1)]
        if not answer:
            if len(actions) == 1:
                return actions[0]
            raise CardlabError(
                "it is your move; type the number of a choice or its text, such as "
                f"{turn.texts[0].lower()}, or ? for help"
            )
        for action, *known in zip(actions, numbers, turn.texts, looks, strict=True):
            if answer.casefold() in (name.casefold() for name in known):
                return action
        if answer.isdecimal():
            raise CardlabError(f"there is no choice {answer}; choose from 1 to {len(actions)}")
        try:
            action = self.game.parse_action(answer)
        except CardlabError:
            if self.begins_like_action(answer, turn):
                raise
            ways = f"1 to {len(actions)}" if len(actions) > 1 else "1"
            raise CardlabError(f"type {ways}, a card or action as shown, or ? for help") from None
        if action not in actions:
            meant = action_look(self.game.action_text(action)).plain
            raise CardlabError(f"{meant} is not legal now; choose {_some_of(looks)}")
        return action

    def begins_like_action(self, answer: str, turn: Turn) -> bool:
        """Return whether the first word is a card, or begins a legal action."""
        with suppress(CardlabError):
            self.game.parse_card(re.split(r"[\s=]", answer)[0])
            return True
        firsts = {FIRST.match(text.casefold()) for text in turn.texts}
        first = FIRST.match(answer.casefold())
        return first is not None and first[0] in {one[0] for one in firsts if one}

    def show_turn(self, turn: Turn) -> None:
        """Show the table, the news, the hand and the choices."""
        description = turn.view.describe()
        hands = [zone for zone in description.zones if (zone.name, zone.seat) == (HAND, self.seat)]
        hand = tuple(card for zone in hands for card in zone.cards)
        news = self.news_lines()
        gained = list((Counter(hand) - Counter(self.hand)).elements())
        if self.hand and 0 < len(gained) < len(hand):  # no news after a whole new deal
            news.append(Text.assemble("new in your hand: ", _row(self.in_order(gained))))
        self.hand = hand
        parts = self.table_parts(news)
        title = "your choices"
        self.has_marks = False
        if hands and sorted(hand) == sorted(turn.texts):  # each card of the hand is a choice
            title = f"your hand, {_count(len(hand), 'card')}: choose one"
        elif hands:
            held = self.in_order(hand)
            playable = [_is_mentioned(card, turn.texts) for card in held]
            self.has_marks = any(playable) and not all(playable)
            cards = [
                _marked(card, can)
                if self.has_marks or not can
                else Text(" ").append_text(card_look(card))
                for card, can in zip(held, playable, strict=True)
            ]
            for card in cards:
                card.pad_right(max(map(len, cards)) - len(card))
            heading = Text(f"your hand, {_count(len(hand), 'card')}", style="bold")
            parts.append(Group(heading, Columns(cards)))
        short, full = [], []
        for number, (action, text) in enumerate(zip(turn.legal, turn.texts, strict=True), start=1):
            choice = Text.assemble((f"{number:>2}", "bold"), ") ", action_look(text))
            effect = self.texts.effect(turn.view.array[0], int(action))
            short.append(choice)
            full.append(Text.assemble(choice, "  ", words_look(effect)) if effect else choice)
        versions = [
            [*parts, Group(Text(title, style="bold"), Columns(choices, padding=(0, 2)))]
            for choices in ((full, short) if len(full) > MANY else (full,))
        ]
        self.show(self.panel(self.game.title, *versions))

    def in_order(self, cards: Sequence[str]) -> list[str]:
        """Return standard cards in the order that the game gives hands; other cards as they come.

        Of one rank, cards stand in the order of their numbers, as choices do.
        """
        if not all(CARD.fullmatch(card) for card in cards):
            return list(cards)
        if self.texts.order == "rank":
            return sorted(cards, key=lambda card: (RANKS.index(card[0]), SUITS.index(card[1])))
        return sorted(cards, key=lambda card: (HAND_ORDER.index(card[1]), RANKS.index(card[0])))

    def panel(self, title: str, *versions: Sequence[RenderableType]) -> Panel:
        """Return the first version of a table that fits, in one frame, else the first one of all.

        There are blank lines between its parts if these fit.
        """
        place = Text(f"ply {len(self.table.actions)}, seed {self.seed}", style="dim")

        def framed(rows: Sequence[RenderableType]) -> Panel:
            return Panel(
                Group(*rows),
                title=Text(title, style="bold"),
                title_align="left",
                subtitle=place,
                subtitle_align="right",
                width=self.width,
            )

        for parts in versions:
            spacious = [row for part in parts for row in (Text(), part)][1:]
            for frame in (framed(spacious), framed(parts)):
                lines = self.console.render_lines(frame, self.console.options)
                if len(lines) < self.console.height:  # the prompt takes one line
                    return frame
        return framed(versions[0])

    def table_parts(self, news: Sequence[Text]) -> list[RenderableType]:
        """Return the other seats, the middle with facts and news, and other zones."""
        view = self.table.state.view(self.seat)
        description = view.describe()
        boxes: list[RenderableType] = []
        lists: list[RenderableType] = []
        mine: list[Text] = []
        taken = 0  # columns
        for zone in description.zones:
            if zone.seat is None and (zone.name == PILE or len(zone.cards) < 2):
                boxes.append(_box(zone))
                taken += max(_box_width(zone), len(zone.name)) + 1
            elif zone.seat is None:
                lists.append(_zone_line(zone, self.width))
            elif zone.seat == self.seat and zone.name != HAND:
                mine.append(_zone_line(zone, self.width))
        if self.texts.heading and lists:
            lists.insert(0, Text(self.texts.heading, style="dim"))
        for place, line in enumerate(_flow(mine, self.width - 9)):
            lists.append(Text.assemble("     " if place else "your ", line))
        wide = self.width >= NARROW
        room = self.width - 6 - (taken + 2 if wide else 0)
        facts = {**description.facts, **self.texts.facts(view.array[0], self.seat)}
        lines = [
            Text.assemble((f"{name} ", "bold"), self.named(str(value)))
            for name, value in facts.items()
        ]
        row, words, middle = _grid(1), _grid(1), _grid(2)
        row.add_row(*boxes)
        for line in _flow(lines, room):
            words.add_row("", line)
        for line in news:
            words.add_row("•", line)
        middle.add_row(row, words)
        parts = self.other_seats(description)
        parts.append(middle if wide else Group(row, words))
        return [*parts, Group(*lists)] if lists else parts

    def other_seats(self, description: Description) -> list[RenderableType]:
        """Return the other seats with their zones, from the next one on."""
        if description.seats == 1:
            return []
        grid = Grid.grid(padding=(0, 2, 0, 0))
        for wraps in (False, False, True):
            grid.add_column(no_wrap=not wraps)
        longest = max(len(name) for name in self.names)
        room = self.width - 4 - len("seat 0  ") - min(longest, self.width // 2) - 4
        for step in range(1, description.seats):
            seat = (self.seat + step) % description.seats
            held = [_zone_line(zone, self.width) for zone in description.zones if zone.seat == seat]
            if isinstance(self.agents[seat], OpenAgent):
                held.append(Text("sees all cards", style="italic"))
            grid.add_row(f"seat {seat}", self.name_of(seat), Group(*_flow(held, room)))
        return [grid]

    def name_of(self, seat: int) -> Text:
        """Return a player's name on one line, cut off if it takes more than half of the width."""
        name = Text(self.names[seat], style="bold", no_wrap=True)
        name.truncate(self.width // 2, overflow="ellipsis")
        return name

    def news_lines(self) -> list[Text]:
        """Return what happened since the person's last turn, a sentence each, the latest last."""
        lines: list[Text] = []
        last = None
        for event, same in groupby(self.news):
            who = "" if event.seat is None else f"{self.labels[event.seat]} "
            times = len(list(same))
            often = f" ({times} times)" if times > 1 else ""
            text = Text.assemble(self.named(event.text), often)
            if who and event.seat == last and len(lines[-1]) + len(text) <= self.width - JOINED:
                lines[-1] = Text.assemble(lines[-1], "; ", text)
            else:
                lines.append(Text.assemble(who, text))
            last = event.seat
        return lines if len(lines) <= MOST_NEWS else [Text("…"), *lines[-MOST_NEWS:]]

    def show_help(self, turn: Turn) -> None:
        """Show all that can be typed."""
        last = turn.texts[-1]
        rows = [
            (str(len(turn.texts)), "a choice by its number"),
            (last.lower(), f"a choice by its text, here {action_look(last).plain}"),
        ]
        if self.adviser is not None:
            sees = "" if self.sees_all else ", who sees only what you see"
            rows.append(("h", f"a hint by {self.adviser.name}{sees}"))
        if self.can_undo:
            rows.append(("u", "take back your last move; u 3 takes back three"))
        if sections := read_rules(self.game)[1:]:
            rows.append(("r", f"the rules in short; r 1 to r {len(sections)} show one section"))
        rows.append(("q", "leave, as does Ctrl-C; the game is saved, and can be resumed"))
        title = Text(f"{self.game.title}: {self.game.summary}.", style="bold")
        brackets = "Cards in [brackets] can be played now. " if self.has_marks else ""
        parts: list[RenderableType] = [title, Text(f"{brackets}Type one of these, then Enter:")]
        parts.append(_rows(rows))
        if more := self.texts.help(turn.view.array[0]):
            parts += [Text("In this game:"), _rows(more)]
        self.show_pages(_aside(*parts))

    def show_rules(self, section: str) -> None:
        """Show the rules in short and the titles of their sections, or one section."""
        rules = read_rules(self.game)
        if not rules:
            raise CardlabError(f"{self.game.title} has no text of its rules")
        first, *sections = rules
        if not section:
            rows = [(f"r {number}", one.title) for number, one in enumerate(sections, start=1)]
            title = Text(f"The rules of {self.game.title}", style="bold")
            self.show_pages(_aside(title, first.rendered(), Text(), _rows(rows)))
            return
        if not 1 <= int(section) <= len(sections):
            raise CardlabError(
                f"the rules have no section {section}; type r 1 to r {len(sections)}"
            )
        chosen = sections[int(section) - 1]
        self.show_pages(_aside(Text(chosen.title, style="bold"), chosen.rendered()))

    def show_pages(self, part: RenderableType) -> None:
        """Show a text; on a terminal that is too low for it, page by page."""
        size = self.console.options.update(width=self.width)
        lines = self.console.render_lines(part, size)
        if not self.console.is_terminal or len(lines) < self.console.height:
            self.show(SegmentLines(lines, new_lines=True))
            return
        step = max(self.console.height - 2, 1)
        for first in range(0, len(lines), step):
            self.show(SegmentLines(lines[first : first + step], new_lines=True))
            if first + step < len(lines) and self.ask_person(" Enter for more, q to stop: "):
                return

    def show_hint(self, turn: Turn) -> None:
        """Show the adviser's best choices; its random stream is used for nothing else."""
        adviser = self.adviser
        if adviser is None:
            raise CardlabError("nobody gives hints in this game")
        rng = seeding.generator(self.seed, "hint", len(self.table.actions))
        name = f"hint by {adviser.name}: "
        if not isinstance(adviser, HasValues):
            with self.thinking(adviser.name):
                best = ask(adviser, self.table.state, rng, ", as adviser")
            self.show(_aside(Text.assemble(name, action_look(self.game.action_text(best)))))
            return
        with self.thinking(adviser.name):
            values = ask_values(adviser, turn, rng)
        unit = adviser.unit if isinstance(adviser, HasUnit) else None
        words = unit.words if unit else "the expected score of each choice; 100% is a win"
        parts: list[RenderableType] = [Text(f"{name}{words}")]
        if len(values) > 1 and np.ptp(values) == 0:
            share = scale_values(turn, values, unit, 0)[0][0].strip()
            every = "both" if len(values) == 2 else f"all {len(values)}"
            parts.append(Text(f"{every} choices are equally good ({share})"))
            self.show(_aside(*parts))
            return
        shortened = len(values) > MOST_HINTS + 1  # one more choice takes no more room than a note
        parts.append(values_grid(turn, values, unit, most=MOST_HINTS if shortened else None))
        if shortened:
            parts.append(Text(_rest_of(scale_values(turn, values, unit, 0)[0], values)))
        self.show(_aside(*parts))

    def show_end(self, path: Path, adviser: str | None) -> None:
        """Show the result, or that there is none, and the commands to continue from here."""
        table = self.table
        if not table.over:
            plies = _count(len(table.actions), "ply", "plies")
            self.show(_aside(Text(f"You left the game after {plies}.")))
        elif not self.result_shown:
            self.show_result()
        lines = [f"saved in    {path}"]
        if not table.over:
            lines.append(f"resume it   {resume_command(path, table, self.names, adviser)}")
        lines.append(f"see it      {replay_command(path, table.game)}")
        lines.append(f"same deal   {same_deal_command(table, self.names, adviser)}")
        for line in lines:  # never broken, so that commands can be copied
            self.show(Text(f" {line}"), soft_wrap=True)

    def show_result(self) -> None:
        """Show the table of a finished game, who won and the points."""
        grid = _grid(2)
        for seat, points in enumerate(self.table.state.points()):
            grid.add_row(f"seat {seat}", self.name_of(seat), _count(points, "point"))
        plies = _count(len(self.table.actions), "ply", "plies")
        verdict = Text(f"{self.verdict()} after {plies}", style="bold")
        parts = [*self.table_parts(self.news_lines()), Group(verdict, grid)]
        self.show(self.panel(f"{self.game.title}: result", parts))

    def verdict(self) -> str:
        """Return who won, in words."""
        returns = self.table.state.returns()
        best = max(returns)
        winners = [self.labels[seat] for seat, value in enumerate(returns) if value == best]
        if len(returns) == 1:
            return "You win" if best > 0 else "You lose"
        if len(winners) == len(returns):
            return "A tie"
        if winners == [YOU]:
            return "You win"
        return f"{' and '.join(winners)} {'wins' if len(winners) == 1 else 'win'}"


def _some_of(choices: Sequence[str]) -> str:
    """Return the texts of choices in one sentence, of many only the first ones."""
    if len(choices) > MOST_NAMED:
        rest = len(choices) - MOST_NAMED
        named = ", ".join(choices[:MOST_NAMED])
        return f"one of {named} and {rest} more; ? shows how to write them"
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last


def _rest_of(texts: Sequence[str], values: Array) -> str:
    """Return how many choices a hint leaves out, and how many of them are as good as the best."""
    order = [texts[place] for place in np.argsort(-values, kind="stable")]
    rest = order[MOST_HINTS:]
    alike = sum(text == order[0] for text in rest)
    also = f", {alike} of them with {order[0].strip()}, too" if alike else ""
    if alike == len(rest):
        also = f" with {order[0].strip()}"
    return f"and {len(rest)} more{also}"


def _flow(parts: Sequence[Text], room: int) -> list[Text]:
    """Return parts on as few lines as they fit, in their order."""
    lines: list[Text] = []
    for part in parts:
        if lines and len(lines[-1]) + len(GAP) + len(part) <= room:
            lines[-1] = Text.assemble(lines[-1], GAP, part)
        else:
            lines.append(part)
    return lines


def _added(before: tuple[Event, ...], now: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return what `now` adds to `before`; a log of limited length loses its oldest events."""
    kept = next(k for k in range(len(before), -1, -1) if before[len(before) - k :] == now[:k])
    return now[kept:]


def _row(cards: Sequence[str]) -> Text:
    return Text("  ").join(card_look(card) for card in cards)


def _columns(cards: Sequence[str]) -> Text:
    """Return cards side by side, each as wide as a ten, so that rows of them stand in columns."""
    looks = [card_look(card) for card in cards]
    for look in looks[:-1]:
        look.pad_right(max(0, 3 - len(look)) if any(CARD.fullmatch(card) for card in cards) else 0)
    return Text("  ").join(looks)


def _is_mentioned(card: str, actions: Sequence[str]) -> bool:
    mention = re.compile(rf"(?<!\w){re.escape(card)}(?!\w)")
    return any(mention.search(text) for text in actions)


def _marked(card: str, playable: bool) -> Text:
    """Return a card in brackets if it can be played, else dim; it shows without colour too."""
    if playable:
        return Text.assemble("[", card_look(card), "]", style="bold")
    return Text.assemble(" ", card_look(card), " ", style="dim")


def _face(zone: Zone) -> Text:
    return card_look(zone.cards[0]) if zone.cards else Text(f"▮ {zone.count}")


def _box_width(zone: Zone) -> int:
    return max(len(_face(zone)), 4) + 4


def _box(zone: Zone) -> RenderableType:
    """Return a zone as one card: its top card, or a back with the number of cards."""
    face = Text.assemble(_face(zone), style="bold", justify="center")
    frame = Panel(face, width=_box_width(zone))
    return Group(frame, Text(zone.name, style="dim", justify="center"))


def _zone_line(zone: Zone, width: int) -> Text:
    """Return a zone on one line: its known cards, or a row of backs and their number."""
    backs = "▮" * min(zone.count, width // 5 - 4)
    held = (
        _columns(zone.cards)
        if zone.cards
        else Text(f"{backs} {_count(zone.count, 'card')}".strip())
    )
    return held if zone.name == HAND else Text.assemble((f"{zone.name}  ", "bold"), held)


def _rows(rows: Sequence[tuple[str, str]]) -> Grid:
    """Return texts with their meanings, in two columns."""
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    for text, meaning in rows:
        grid.add_row(Text(text, style="bold"), Text(meaning))
    return grid


def _grid(gap: int) -> Grid:
    return Grid.grid(padding=(0, gap, 0, 0))


def _aside(*parts: RenderableType) -> Padding:
    return Padding(Group(*parts), (0, 1))


def _count(count: float, one: str, many: str = "") -> str:
    return f"{count:g} {one if count == 1 else many or one + 's'}"
