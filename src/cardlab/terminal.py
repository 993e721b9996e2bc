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

import contextlib
import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from cardlab import seeding
from cardlab.cards import RANKS, SUIT_NAMES, SUIT_SYMBOLS, SUITS
from cardlab.errors import CardlabError
from cardlab.game import Agent, Description, Event, Game, HasValues, OpenAgent, Turn, Zone
from cardlab.play import Table, ask
from cardlab.records import append_record

__all__ = ["action_look", "card_look", "play_in_terminal", "words_look"]

UNFINISHED = "left unfinished"
SUIT_STYLES = ("color(28)", "color(27)", "color(196)", "")  # fit for light and dark backgrounds
HAND_ORDER = "CDSH"  # black and red by turns
CARD = re.compile(f"[{RANKS}][{SUITS}]")
WORD = re.compile(rf"\b(?:[{RANKS}][{SUITS}]|{'|'.join(SUIT_NAMES)})\b")
MOST_NEWS = 8
WIDEST, NARROW = 80, 56
BAR = 20
TO_ASCII = str.maketrans(SUIT_SYMBOLS + "▮█░…–•", SUITS + "##.~-*")


def card_look(text: str) -> Text:
    """Return a standard card such as `TH` as `10♥` in its colour, any other text as it is."""
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


def play_in_terminal(
    game: Game,
    opponents: Sequence[Agent | OpenAgent],
    *,
    seed: int,
    deals: Sequence[str] = (),
    options: dict[str, Any],
    seat: int = 0,
    adviser: Agent | None = None,
    record_path: Path,
    console: Console,
    read: Callable[[str], str] = input,
    you: str = "you",
) -> bool:
    """Play one game with a person on `seat`, save its record and return whether it was finished."""
    table = Table(game, seed=seed, deals=deals, options=options)
    if not 0 <= seat < table.seats:
        raise CardlabError(f"there is no seat {seat} in {game.name} with {table.seats} seats; "
                           f"use 0 to {table.seats - 1}")
    if len(opponents) != table.seats - 1:
        raise CardlabError(f"{len(opponents)} opponents for {table.seats - 1} other seats of "
                           f"{game.name}; name one for each")
    agents: list[Agent | OpenAgent | None] = [*opponents[:seat], None, *opponents[seat:]]
    sitting = _Sitting(table, agents, seat, seed, adviser, console, read)
    try:
        sitting.run()
    except (KeyboardInterrupt, EOFError):
        sitting.show(Text())  # the prompt's line is still open
    finally:
        names = [agent.name if agent else you for agent in agents]
        record = table.record(names, note=None if table.over else UNFINISHED)
        append_record(record_path, record)
    sitting.show_end(record_path, dealt=bool(deals))
    return table.over


class _Sitting:
    """One person's game from the first turn to the last."""

    def __init__(
        self,
        table: Table,
        agents: Sequence[Agent | OpenAgent | None],
        seat: int,
        seed: int,
        adviser: Agent | None,
        console: Console,
        read: Callable[[str], str],
    ) -> None:
        self.table, self.game = table, table.game
        self.agents, self.seat, self.seed, self.adviser = agents, seat, seed, adviser
        self.console, self.read = console, read
        self.width = min(console.width, WIDEST)
        self.rngs = [seeding.generator(seed, "seat", k) for k in range(table.seats)]
        self.log: tuple[Event, ...] = ()
        self.news: list[Event] = []
        self.hand: tuple[str, ...] = ()  # as it was at the person's last turn
        self.listen()

    def run(self) -> None:
        """Play until the game is over."""
        while not self.table.over:
            seat = self.table.mover
            agent = self.agents[seat]
            if agent is None:
                action = self.choose()
                self.news.clear()
            else:
                with self.thinking(self.name(seat)):
                    action = ask(agent, self.table.state, self.rngs[seat])
            self.table.act(action)
            self.listen()

    def listen(self) -> None:
        """Take up what the person has witnessed since the last call."""
        events = self.describe().events
        self.news.extend(_news(self.log, events))
        self.log = events

    def describe(self) -> Description:
        """Return what the person may know."""
        return self.table.state.view(self.seat).describe()

    def name(self, seat: int) -> str:
        """Return what to call whoever sits there, one name for each."""
        agent = self.agents[seat]
        if agent is None:
            return "you"
        same = sum(1 for other in self.agents if other and other.name == agent.name)
        return agent.name if same == 1 else f"{agent.name} (seat {seat})"

    def tell(self, text: str) -> Text:
        """Return a game's text in looks, with names for seats."""
        named = re.sub(r"\bseat (\d+)\b", lambda found: self.name(int(found[1])), text)
        return words_look(named)

    def show(self, part: RenderableType, *, soft: bool = False) -> None:
        """Write to the terminal, in plain letters where it knows no others."""
        if not self.console.options.ascii_only:
            self.console.print(part, soft_wrap=soft)
            return
        with self.console.capture() as written:
            self.console.print(part, soft_wrap=soft)
        self.console.file.write(written.get().translate(TO_ASCII))

    def say(self, text: str | Text) -> None:
        """Write one sentence."""
        self.show(Padding(Text(text) if isinstance(text, str) else text, (0, 1)))

    def thinking(self, name: str) -> contextlib.AbstractContextManager[object]:
        """Return a context in which the terminal says who thinks."""
        if self.console.options.ascii_only:
            return contextlib.nullcontext()
        return self.console.status(Text(f"{name} thinks"))

    def choose(self) -> int:
        """Show the turn and ask until the answer is a legal action."""
        turn = self.table.turn()
        self.show_turn(turn)
        only = len(turn.legal) == 1
        which = "Enter takes the only choice" if only else f"1-{len(turn.legal)} or a card"
        while True:
            answer = self.read(f" your move ({which}, ? for help): ").strip()
            if not self.console.is_terminal:
                self.show(Text(answer))  # nobody else echoes it
            if answer == "?":
                self.show_help(turn)
            elif answer.lower() == "h":
                self.show_hint(turn)
            elif answer.lower() == "q":
                raise EOFError
            elif only and not answer:
                return int(turn.legal[0])
            else:
                try:
                    return self.read_action(answer, turn)
                except CardlabError as error:
                    self.say(str(error))

    def read_action(self, answer: str, turn: Turn) -> int:
        """Return the legal action that a number or text means."""
        actions = [int(action) for action in turn.legal]
        looks = [action_look(text).plain for text in turn.texts]
        if not answer:
            raise CardlabError(f"Your move: give a number from 1 to {len(actions)}, a text such as "
                               f"{turn.texts[0].lower()}, or ? for help.")
        if answer.isdecimal():
            for number, action in enumerate(actions, start=1):
                if answer == str(number):
                    return action
            raise CardlabError(f"There is no choice {answer}; give a number from 1 to "
                               f"{len(actions)}, or ? for help.")
        for action, *texts in zip(actions, turn.texts, looks, strict=True):
            if answer.casefold() in (text.casefold() for text in texts):
                return action
        action = self.game.parse_action(answer)
        if action in actions:
            return action
        meant = action_look(self.game.action_text(action)).plain
        *most, last = looks
        choices = f"{', '.join(most)} or {last}" if most else last
        raise CardlabError(f"{meant} is not among your legal moves; choose {choices}.")

    def show_turn(self, turn: Turn) -> None:
        """Show the table, the news, the hand and the choices."""
        told = turn.view.describe()
        hand = _hand_of(told)
        news = self.news_lines()
        gained = tuple((Counter(hand) - Counter(self.hand)).elements())
        if self.hand and len(gained) < len(hand):
            new = Text("  ").join(card_look(card) for card in _sorted(gained))
            news += [Text.assemble("new in your hand: ", new)] if gained else []
        self.hand = hand
        parts: list[RenderableType] = [self.seats_part(told), self.middle_part(told, news)]
        for zone in told.zones:
            if zone.seat is None and not _is_boxed(zone):
                parts += [_zone_line(zone.name, zone, self.width), Text()]
        marked = [_marked(card, turn.texts) for card in _sorted(hand)]
        count = Text(f"your hand, {_cards(len(hand))}", style="bold")
        parts += [count, Columns(marked, equal=True, padding=(0, 1))]
        parts += [
            _zone_line(f"your {zone.name}", zone, self.width)
            for zone in told.zones
            if zone.seat == self.seat and zone.name != "hand"
        ]
        choices = [
            Text.assemble((f"{number:>2} ", "bold"), action_look(text))
            for number, text in enumerate(turn.texts, start=1)
        ]
        parts += [Text(), Text("your choices", style="bold"), Columns(choices, padding=(0, 2))]
        self.show(self.panel(self.game.title, parts))

    def panel(self, title: str, parts: Sequence[RenderableType]) -> Panel:
        """Return parts in a frame."""
        place = Text(f"ply {len(self.table.actions)}, seed {self.seed}", style="dim")
        return Panel(
            Group(*parts),
            title=Text(title, style="bold"),
            title_align="left",
            subtitle=place,
            subtitle_align="right",
            width=self.width,
        )

    def seats_part(self, told: Description) -> RenderableType:
        """Return the other seats in the order in which they follow, with what they hold."""
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, style="bold")
        grid.add_column()
        for seat in ((self.seat + step) % told.seats for step in range(1, told.seats)):
            agent = self.agents[seat]
            held = [
                _zone_line("" if zone.name == "hand" else zone.name, zone, self.width)
                for zone in told.zones
                if zone.seat == seat
            ]
            if isinstance(agent, OpenAgent):
                held.append(Text("sees all cards", style="italic"))
            grid.add_row(f"seat {seat}", Text(agent.name if agent else ""), Group(*held))
        return grid

    def middle_part(self, told: Description, news: Sequence[Text]) -> RenderableType:
        """Return piles and stocks as boxes, beside or above facts and news."""
        boxes = [_box(zone) for zone in told.zones if zone.seat is None and _is_boxed(zone)]
        beside = Grid.grid(padding=(0, 1, 0, 0))
        beside.add_row(*boxes)
        facts = [
            Text.assemble((f"{name} ", "bold"), self.tell(str(value)))
            for name, value in told.facts.items()
        ]
        words = Grid.grid(padding=(0, 1, 0, 0))
        for fact in facts:
            words.add_row("", fact)
        for line in news:
            words.add_row("•", line)
        if self.width < NARROW:
            return Group(beside, words, Text())
        both = Grid.grid(padding=(0, 2, 0, 0))
        both.add_row(beside, words)
        return both

    def news_lines(self) -> list[Text]:
        """Return what happened since the person's last turn in sentences, the latest last."""
        lines = []
        for event, same in groupby(self.news):
            who = "" if event.seat is None else f"{self.name(event.seat)} "
            times = len(list(same))
            often = f" ({times} times)" if times > 1 else ""
            lines.append(Text.assemble(who, self.tell(event.text), often))
        left_out = len(lines) - MOST_NEWS
        return [Text("…"), *lines[-MOST_NEWS:]] if left_out > 0 else lines

    def show_help(self, turn: Turn) -> None:
        """Say how to play."""
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="bold", no_wrap=True)
        last = turn.texts[-1]
        grid.add_row(str(len(turn.texts)), Text.assemble("a number from your choices"))
        grid.add_row(last.lower(), Text.assemble("or its text, here for ", action_look(last)))
        grid.add_row("h", "a hint: what an adviser who sees only your cards would do")
        grid.add_row("q", "leave; the game so far is saved (so does Ctrl-C)")
        marks = Text("Cards in [brackets] are those you may play now.")
        self.say(Text(f"{self.game.title}: {self.game.summary}.", style="bold"))
        self.show(Padding(Group(marks, grid), (0, 1)))

    def show_hint(self, turn: Turn) -> None:
        """Show what the adviser thinks, from a random stream that nobody else draws from."""
        if self.adviser is None:
            self.say("Nobody gives hints in this game.")
            return
        rng = seeding.generator(self.seed, "hint", len(self.table.actions))
        name = self.adviser.name
        try:
            with self.thinking(name):
                if isinstance(self.adviser, HasValues):
                    values = np.asarray(self.adviser.values(turn, rng), dtype=float)
                else:
                    action = self.adviser.act(turn, rng)
        except CardlabError as error:
            self.say(str(error))
            return
        if not isinstance(self.adviser, HasValues):
            self.say(Text.assemble(f"{name} would take ", action_look(turn.game.action_text(action))))
            return
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(justify="right")
        for place in np.argsort(-values, kind="stable"):
            score = (1 + values[place]) / 2
            filled = round(BAR * score)
            bar = Text("█" * filled).append("░" * (BAR - filled), style="dim")
            look = action_look(turn.texts[place])
            grid.add_row(Text(str(place + 1), style="bold"), look, f"{score:4.0%}", bar)
        self.say(f"{name} expects to score, for each choice:")
        self.show(Padding(grid, (0, 1)))

    def show_end(self, path: Path, *, dealt: bool) -> None:
        """Show the result, or that there is none, and how to see or play the game again."""
        table = self.table
        if table.over:
            grid = Grid.grid(padding=(0, 2, 0, 0))
            for seat, points in enumerate(table.state.points()):
                unit = "point" if points == 1 else "points"
                grid.add_row(f"seat {seat}", self.name(seat), f"{points:g} {unit}")
            news = [Text.assemble("• ", line) for line in self.news_lines()]
            verdict = Text(self.verdict(), style="bold")
            self.show(self.panel(f"{self.game.title}: result", [*news, Text(), verdict, grid]))
        else:
            self.say(f"You left the game after {_plies(len(table.actions))}.")
        file = shlex.quote(str(path))
        lines = [f" saved in {path}; to see it: cardlab replay {file}"]
        if table.over and not dealt:
            changed = [
                f"{option.name}={table.options[option.name]}"
                for option in self.game.options
                if table.options[option.name] != option.default
            ]
            also = f" (and {', '.join(changed)})" if changed else ""
            again = f"cardlab play {self.game.name} --seed {self.seed}{also}"
            lines.append(f" the same deal again: {again}")
        for line in lines:
            self.show(Text(line), soft=True)

    def verdict(self) -> str:
        """Return who won, in a sentence."""
        returns = self.table.state.returns()
        winners = [seat for seat, one in enumerate(returns) if one == max(returns)]
        after = f"after {_plies(len(self.table.actions))}"
        if len(winners) == len(returns) > 1:
            return f"A tie {after}."
        if self.seat in winners and (len(returns) > 1 or returns[0] > 0):
            others = [self.name(seat) for seat in winners if seat != self.seat]
            return f"You{''.join(f' and {one}' for one in others)} win {after}!"
        if len(returns) == 1:
            return f"You lose {after}."
        names = " and ".join(self.name(seat) for seat in winners)
        return f"{names} {'win' if len(winners) > 1 else 'wins'} {after}."


def _news(before: tuple[Event, ...], now: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return what `now` adds to `before`; a log of limited length loses its oldest events."""
    kept = next(k for k in range(len(before), -1, -1) if before[len(before) - k :] == now[:k])
    return now[kept:]


def _hand_of(told: Description) -> tuple[str, ...]:
    hands = (zone for zone in told.zones if zone.seat == told.seat and zone.name == "hand")
    return tuple(card for zone in hands for card in zone.cards)


def _sorted(cards: Sequence[str]) -> list[str]:
    """Return standard cards by suit, then rank; a hand of other cards as it comes."""
    if not all(CARD.fullmatch(card) for card in cards):
        return list(cards)
    return sorted(cards, key=lambda card: (HAND_ORDER.index(card[1]), RANKS.index(card[0])))


def _marked(card: str, actions: Sequence[str]) -> Text:
    """Return a card in brackets if an action mentions it, else dim; both show without colour."""
    mention = re.compile(rf"(?<!\w){re.escape(card)}(?!\w)")
    if any(mention.search(text) for text in actions):
        return Text.assemble("[", card_look(card), "]", style="bold")
    return Text.assemble(" ", card_look(card), " ", style="dim")


def _is_boxed(zone: Zone) -> bool:
    return zone.name == "pile" or len(zone.cards) < 2


def _box(zone: Zone) -> RenderableType:
    """Return a zone as one card: its top card, or its back with the number of cards."""
    if zone.cards:
        face = card_look(zone.cards[0])
        face.stylize("bold")
    else:
        face = Text(f"▮ {zone.count}" if zone.count else "–")
    face.pad_left((4 - len(face)) // 2)
    return Group(Panel(face, width=max(len(face), 4) + 4), Text(f"  {zone.name}", style="dim"))


def _zone_line(label: str, zone: Zone, width: int) -> Text:
    """Return a zone on one line: its known cards, or a row of backs and their number."""
    if zone.cards:
        what = Text("  ").join(card_look(card) for card in _sorted(zone.cards))
    else:
        what = Text(f"{'▮' * min(zone.count, width // 6)} {_cards(zone.count)}".lstrip())
    return Text.assemble((f"{label}  ", "bold") if label else "", what)


def _cards(count: int) -> str:
    return f"{count} card" if count == 1 else f"{count} cards"


def _plies(count: int) -> str:
    return f"{count} ply" if count == 1 else f"{count} plies"
