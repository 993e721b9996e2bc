"""A game at the terminal: a person on one seat, agents on the others.

Whatever a turn shows comes from the `Description` of the person's own view, so that nothing hidden
can show. Games differ only in that data and in their texts, for which a few general rules hold:

- a zone called "hand" with a seat is that seat's hand; other zones with a seat are listed with it;
- a zone called "pile" shows its first card only, which lies on top; others show all known cards;
- a card of the person is marked where the text of a legal action mentions it;
- in all texts `TH` is a card, `hearts` a suit, `8H=S` an action that calls something, and `seat 1`
  is whoever sits there.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

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
from cardlab.engine.records import append_records

__all__ = [
    "action_look",
    "card_look",
    "play_in_terminal",
    "scale_values",
    "values_grid",
    "words_look",
]

HAND, PILE = "hand", "pile"  # zone names that mean something here
UNFINISHED = "left unfinished"
SUIT_STYLES = ("color(28)", "color(27)", "color(196)", "")  # fit for light and dark backgrounds
HAND_ORDER = "CDSH"  # black and red by turns
CARD = re.compile(f"[{RANKS}][{SUITS}]")
COLOURED = re.compile(r"[RGBY](?:\d|S|R|\+2)")
COLOUR_STYLES = {"R": "color(196)", "G": "color(28)", "B": "color(27)", "Y": "color(136)"}
WORD = re.compile(rf"\b(?:[{RANKS}][{SUITS}]|{'|'.join(SUIT_NAMES)})\b")
MOST_NEWS = 8
WIDEST, NARROW = 80, 56
BAR = 20
TO_ASCII = str.maketrans(SUIT_SYMBOLS + "▮█░…•", SUITS + "##.~*")


def card_look(text: str) -> Text:
    """Return `TH` as `10♥` and `R7` in their colours, any other text as it is."""
    if COLOURED.fullmatch(text):
        return Text(text, style=COLOUR_STYLES[text[0]])
    if not CARD.fullmatch(text):
        return Text(text)
    suit = SUITS.index(text[1])
    return Text(text[0].replace("T", "10") + SUIT_SYMBOLS[suit], style=SUIT_STYLES[suit])


def words_look(text: str) -> Text:
    """Return a sentence with its cards and suits in symbols and colours."""
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
    turn: Turn, values: Array, unit: Unit | None, *, digits: int = 0, taken: int | None = None
) -> Grid:
    """Return the legal actions with their values and a bar for each, best first.

    Expected returns become scores, a win as 100%. An action `taken` is marked.
    """
    texts, shares = scale_values(turn, values, unit, digits)
    grid = _grid(2)
    for place in np.argsort(-values, kind="stable"):
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
    """Return values as texts, scores with so many digits, and the share of a bar each fills."""
    if unit is None:
        seats = max(2, int(turn.view.seats))
        scores = ((1 + (seats - 1) * values) / seats).clip(0, 1)  # an even game: one in `seats`
        return [f"{score:4.{digits}%}" for score in scores], scores
    low, high = unit.limits or (float(values.min()), float(values.max()))
    shares = (values - low) / (high - low) if high > low else np.ones(len(values))
    return [unit.form.format(value) for value in values], shares.clip(0, 1)


def play_in_terminal(
    table: Table,
    opponents: Sequence[Agent | OpenAgent],
    *,
    seat: int = 0,
    adviser: Agent | None = None,
    record_path: Path,
    console: Console,
    read: Callable[[str], str] = input,
    you: str = "you",
) -> bool:
    """Play a new game with a person on `seat`, save its record, return whether it was finished."""
    game = table.game
    if not 0 <= seat < table.seats:
        raise CardlabError(
            f"there is no seat {seat} in {game.name} with {table.seats} seats; "
            f"use 0 to {table.seats - 1}"
        )
    if len(opponents) != table.seats - 1:
        raise CardlabError(
            f"{len(opponents)} opponents for {table.seats - 1} other seats of "
            f"{game.name}; name one for each"
        )
    require_folder(record_path)
    try:
        record_path.open("a").close()  # better a complaint now than a game lost at its end
    except OSError as error:
        raise CardlabError(
            f"the record cannot be saved in {record_path} ({error.strerror}); name "
            "a file that can be written"
        ) from None
    agents: list[Agent | OpenAgent | None] = [*opponents[:seat], None, *opponents[seat:]]
    sitting = _Sitting(table, agents, seat, adviser, console, read)
    try:
        sitting.run()
    except (KeyboardInterrupt, EOFError):
        sitting.show(Text())  # the prompt's line is still open
    finally:
        names = [agent.name if agent else you for agent in agents]
        record = table.record(names, note=None if table.over else UNFINISHED)
        append_records(record_path, record)
    sitting.show_end(record_path)
    return table.over


@dataclass
class _Sitting:
    """One person's game from the first turn to the last."""

    table: Table
    agents: Sequence[Agent | OpenAgent | None]
    seat: int
    adviser: Agent | None
    console: Console
    read: Callable[[str], str]

    def __post_init__(self) -> None:
        self.game = self.table.game
        self.seed = self.table.seed or 0
        self.width = min(self.console.width, WIDEST)
        self.names = names = ["you" if agent is None else agent.name for agent in self.agents]
        self.labels = [
            name if names.count(name) == 1 else f"{name} (seat {seat})"
            for seat, name in enumerate(names)
        ]
        self.rngs = [seeding.generator(self.seed, "seat", k) for k in range(self.table.seats)]
        self.log: tuple[Event, ...] = ()
        self.news: list[Event] = []  # since the person's last turn
        self.hand: tuple[str, ...] = ()  # as it was at the person's last turn
        self.listen()

    def run(self) -> None:
        """Play until the game is over."""
        open_game(self.table, self.agents, self.rngs)
        while not self.table.over:
            seat = self.table.mover
            agent = self.agents[seat]
            if agent is None:
                action = self.choose()
                self.news.clear()
            else:
                with self.thinking(self.labels[seat]):
                    place = f", ply {len(self.table.actions)}, seed {self.table.seed}"
                    action = ask(agent, self.table.state, self.rngs[seat], place)
            self.table.act(action)
            self.listen()

    def listen(self) -> None:
        """Take up what the person has witnessed since the last call."""
        events = self.table.state.view(self.seat).describe().events
        self.news.extend(_added(self.log, events))
        self.log = events

    def tell(self, text: str) -> Text:
        """Return a game's text in looks, with names for seats."""
        return words_look(re.sub(r"\bseat (\d+)\b", lambda seat: self.labels[int(seat[1])], text))

    def show(self, part: RenderableType, *, soft_wrap: bool = False) -> None:
        """Write to the terminal, in plain letters where it knows no others."""
        if not self.console.options.ascii_only:
            self.console.print(part, soft_wrap=soft_wrap)
            return
        with self.console.capture() as written:
            self.console.print(part, soft_wrap=soft_wrap)
        self.console.file.write(written.get().translate(TO_ASCII))

    def thinking(self, name: str) -> AbstractContextManager[object]:
        """Return a context in which the terminal says who thinks."""
        quiet = self.console.options.ascii_only
        return nullcontext() if quiet else self.console.status(Text(f"{name} thinks"))

    def choose(self) -> int:
        """Show the turn and ask until the answer is a legal action."""
        turn = self.table.turn()
        self.show_turn(turn)
        count = len(turn.legal)
        ways = f"1-{count}" if count > 1 else "1 or Enter"
        while True:
            answer = self.read(f" your move ({ways}, ? for help): ").strip()
            if not self.console.is_terminal:
                self.show(Text(answer))  # a file or pipe has no echo of it
            try:
                if answer == "?":
                    self.show_help(turn)
                elif answer.lower() == "h":
                    self.show_hint(turn)
                elif answer.lower() == "q":
                    raise EOFError
                else:
                    return self.read_action(answer, turn)
            except CardlabError as error:
                sentence = str(error)
                stop = "" if sentence.endswith(("?", ".")) else "."
                self.show(_aside(Text(sentence[:1].upper() + sentence[1:] + stop)))

    def read_action(self, answer: str, turn: Turn) -> int:
        """Return the legal action that a number or text means, nothing meaning the only one."""
        actions = [int(action) for action in turn.legal]
        looks = [action_look(text).plain for text in turn.texts]
        numbers = [str(number) for number in range(1, len(actions) + 1)]
        if not answer:
            if len(actions) == 1:
                return actions[0]
            raise CardlabError(
                "it is your move; give a number from your choices or a text such as "
                f"{turn.texts[0].lower()}, or ? for help"
            )
        for action, *known in zip(actions, numbers, turn.texts, looks, strict=True):
            if answer.casefold() in (name.casefold() for name in known):
                return action
        if answer.isdecimal():
            raise CardlabError(f"there is no choice {answer}; choose from 1 to {len(actions)}")
        action = self.game.parse_action(answer)
        if action not in actions:
            meant = action_look(self.game.action_text(action)).plain
            *most, last = looks
            legal = f"{', '.join(most)} or {last}" if most else last
            raise CardlabError(f"{meant} is not legal now; choose {legal}")
        return action

    def show_turn(self, turn: Turn) -> None:
        """Show the table, the news, the hand and the choices."""
        description = turn.view.describe()
        hands = [zone for zone in description.zones if (zone.name, zone.seat) == (HAND, self.seat)]
        hand = tuple(card for zone in hands for card in zone.cards)
        news = self.news_lines()
        gained = list((Counter(hand) - Counter(self.hand)).elements())
        if self.hand and 0 < len(gained) < len(hand):  # no news after a whole new deal
            news.append(Text.assemble("new in your hand: ", _row(_sorted(gained))))
        self.hand = hand
        parts = self.table_parts(description, news)
        if hands:
            cards = [_marked(card, turn.texts) for card in _sorted(hand)]
            for card in cards:
                card.pad_right(max(map(len, cards)) - len(card))
            title = Text(f"your hand, {_count(len(hand), 'card')}", style="bold")
            parts.append(Group(title, Columns(cards)))
        choices = [
            Text.assemble((f"{number:>2}", "bold"), ") ", action_look(text))
            for number, text in enumerate(turn.texts, start=1)
        ]
        parts.append(Group(Text("your choices", style="bold"), Columns(choices, padding=(0, 2))))
        self.show(self.panel(self.game.title, parts))

    def panel(self, title: str, parts: Sequence[RenderableType]) -> Panel:
        """Return parts in one frame, a blank line between them."""
        place = Text(f"ply {len(self.table.actions)}, seed {self.seed}", style="dim")
        rows = [row for part in parts for row in (Text(), part)][1:]
        return Panel(
            Group(*rows),
            title=Text(title, style="bold"),
            title_align="left",
            subtitle=place,
            subtitle_align="right",
            width=self.width,
        )

    def table_parts(self, description: Description, news: Sequence[Text]) -> list[RenderableType]:
        """Return the other seats, what lies in the middle with facts and news, other zones."""
        others = _grid(2)
        for seat in (
            (self.seat + step) % description.seats for step in range(1, description.seats)
        ):
            held = [_zone_line(zone, self.width) for zone in description.zones if zone.seat == seat]
            if isinstance(self.agents[seat], OpenAgent):
                held.append(Text("sees all cards", style="italic"))
            others.add_row(f"seat {seat}", Text(self.names[seat], style="bold"), Group(*held))
        boxes: list[RenderableType] = []
        lists: list[RenderableType] = []
        for zone in description.zones:
            if zone.seat is None and (zone.name == PILE or len(zone.cards) < 2):
                boxes.append(_box(zone))
            elif zone.seat is None:
                lists.append(_zone_line(zone, self.width))
            elif zone.seat == self.seat and zone.name != HAND:
                lists.append(_zone_line(zone, self.width, "your "))
        row, words, middle = _grid(1), _grid(1), _grid(2)
        row.add_row(*boxes)
        for name, value in description.facts.items():
            words.add_row("", Text.assemble((f"{name} ", "bold"), self.tell(str(value))))
        for line in news:
            words.add_row("•", line)
        middle.add_row(row, words)
        parts: list[RenderableType] = [others] if description.seats > 1 else []
        parts.append(middle if self.width >= NARROW else Group(row, words))
        return [*parts, Group(*lists)] if lists else parts

    def news_lines(self) -> list[Text]:
        """Return what happened since the person's last turn in sentences, the latest last."""
        lines = []
        for event, same in groupby(self.news):
            who = "" if event.seat is None else f"{self.labels[event.seat]} "
            times = len(list(same))
            often = f" ({times} times)" if times > 1 else ""
            lines.append(Text.assemble(who, self.tell(event.text), often))
        return lines if len(lines) <= MOST_NEWS else [Text("…"), *lines[-MOST_NEWS:]]

    def show_help(self, turn: Turn) -> None:
        """Say how to play."""
        last = turn.texts[-1]
        grid = _grid(2)
        grid.add_row(str(len(turn.texts)), "the number of a choice")
        grid.add_row(Text(last.lower()), Text.assemble("or its text, here for ", action_look(last)))
        grid.add_row("h", "a hint, by an adviser who sees only what you see")
        grid.add_row("q", "leave (as does Ctrl-C); the game so far is saved")
        title = Text(f"{self.game.title}: {self.game.summary}.", style="bold")
        has_hand = any(zone.name == HAND for zone in turn.view.describe().zones)
        brackets = "Cards in [brackets] can be played now. " if has_hand else ""
        self.show(_aside(title, Text(f"{brackets}Type"), grid))

    def show_hint(self, turn: Turn) -> None:
        """Show what the adviser thinks, from a random stream that nobody else draws from."""
        adviser = self.adviser
        if adviser is None:
            raise CardlabError("nobody gives hints in this game")
        rng = seeding.generator(self.seed, "hint", len(self.table.actions))
        if not isinstance(adviser, HasValues):
            with self.thinking(adviser.name):
                best = ask(adviser, self.table.state, rng, ", as adviser")
            text = self.game.action_text(best)
            self.show(_aside(Text.assemble(f"{adviser.name} would take ", action_look(text))))
            return
        with self.thinking(adviser.name):
            values = ask_values(adviser, turn, rng)
        unit = adviser.unit if isinstance(adviser, HasUnit) else None
        says = f", {unit.words}:" if unit else " expects this score, with a win as 100%:"
        self.show(_aside(Text(adviser.name + says), values_grid(turn, values, unit)))

    def show_end(self, path: Path) -> None:
        """Show the result, or that there is none, and how to see or play the game again."""
        table = self.table
        plies = _count(len(table.actions), "ply", "plies")
        if table.over:
            grid = _grid(2)
            for seat, points in enumerate(table.state.points()):
                grid.add_row(f"seat {seat}", Text(self.names[seat]), _count(points, "point"))
            verdict = Text(f"{self.verdict()} after {plies}", style="bold")
            description = table.state.view(self.seat).describe()
            parts = [*self.table_parts(description, self.news_lines()), Group(verdict, grid)]
            self.show(self.panel(f"{self.game.title}: result", parts))
        else:
            self.show(_aside(Text(f"You left the game after {plies}.")))
        lines = [f"saved in    {path}", f"to see it   cardlab replay {shlex.quote(str(path))}"]
        if table.over and table.dealt_by_seed:
            usual = self.game.read_options({})
            changed = [(k, value) for k, value in table.options.items() if value != usual[k]]
            also = "".join(f" -o {k}={str(value).lower()}" for k, value in changed)
            name = self.game.identifier
            lines.append(f"same deal   cardlab play {name} --seed {self.seed}{also}")
        for line in lines:  # never broken, so that commands can be copied
            self.show(Text(f" {line}"), soft_wrap=True)

    def verdict(self) -> str:
        """Return who won, in words."""
        returns = self.table.state.returns()
        best = max(returns)
        winners = [self.labels[seat] for seat, value in enumerate(returns) if value == best]
        if len(returns) == 1:
            return "You win" if best > 0 else "You lose"
        if len(winners) == len(returns):
            return "A tie"
        if winners == ["you"]:
            return "You win"
        return f"{' and '.join(winners)} {'wins' if len(winners) == 1 else 'win'}"


def _added(before: tuple[Event, ...], now: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return what `now` adds to `before`; a log of limited length loses its oldest events."""
    kept = next(k for k in range(len(before), -1, -1) if before[len(before) - k :] == now[:k])
    return now[kept:]


def _sorted(cards: Sequence[str]) -> list[str]:
    """Return standard cards by suit, then rank; other cards as they come."""
    if not all(CARD.fullmatch(card) for card in cards):
        return list(cards)
    return sorted(cards, key=lambda card: (HAND_ORDER.index(card[1]), RANKS.index(card[0])))


def _row(cards: Sequence[str]) -> Text:
    return Text("  ").join(card_look(card) for card in cards)


def _columns(cards: Sequence[str]) -> Text:
    """Return cards side by side, each as wide as a ten, so that rows of them stand in columns."""
    looks = [card_look(card) for card in cards]
    for look in looks[:-1]:
        look.pad_right(max(0, 3 - len(look)) if any(CARD.fullmatch(card) for card in cards) else 0)
    return Text("  ").join(looks)


def _marked(card: str, actions: Sequence[str]) -> Text:
    """Return a card in brackets if an action mentions it, else dim; it shows without colour too."""
    mention = re.compile(rf"(?<!\w){re.escape(card)}(?!\w)")
    if any(mention.search(text) for text in actions):
        return Text.assemble("[", card_look(card), "]", style="bold")
    return Text.assemble(" ", card_look(card), " ", style="dim")


def _box(zone: Zone) -> RenderableType:
    """Return a zone as one card: its top card, or a back with the number of cards."""
    face = card_look(zone.cards[0]) if zone.cards else Text(f"▮ {zone.count}")
    frame = Panel(Text.assemble(face, style="bold", justify="center"), width=max(len(face), 4) + 4)
    return Group(frame, Text(zone.name, style="dim", justify="center"))


def _zone_line(zone: Zone, width: int, owner: str = "") -> Text:
    """Return a zone on one line: its known cards, or a row of backs and their number."""
    backs = "▮" * min(zone.count, width // 5 - 4)
    held = (
        _columns(zone.cards)
        if zone.cards
        else Text(f"{backs} {_count(zone.count, 'card')}".strip())
    )
    return held if zone.name == HAND else Text.assemble((f"{owner}{zone.name}  ", "bold"), held)


def _grid(gap: int) -> Grid:
    return Grid.grid(padding=(0, gap, 0, 0))


def _aside(*parts: RenderableType) -> Padding:
    return Padding(Group(*parts), (0, 1))


def _count(count: float, one: str, many: str = "") -> str:
    return f"{count:g} {one if count == 1 else many or one + 's'}"
