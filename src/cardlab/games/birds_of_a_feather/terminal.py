"""Birds of a Feather at the terminal: what a move does, and solutions move by move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.columns import Columns
from rich.console import Console, Group
from rich.text import Text

from cardlab.engine.cards import card_text
from cardlab.engine.game import State
from cardlab.games.birds_of_a_feather.rules import EMPTY, MOVES, ROWS, cell_text
from cardlab.show.console import table_of
from cardlab.show.terminal import card_look, words_look
from cardlab.show.terminal_texts import TerminalTexts

if TYPE_CHECKING:
    from cardlab.games.birds_of_a_feather.census import Census
    from cardlab.games.birds_of_a_feather.solvers.solver import Solution

NOTHING = "·"
CELL = 4  # as wide as `10♥` and a gap


@dataclass(frozen=True)
class Step:
    """One move of a solution: in words, and the top cards after it."""

    words: str
    tops: tuple[int, ...]
    end: int


def follow(state: State, actions: Sequence[int]) -> Iterator[Step]:
    """Play actions by the rules and yield every step."""
    state = state.copy()
    for action in actions:
        start, end = MOVES[action]
        card, covered = (card_text(int(state.tops[cell])) for cell in (start, end))
        words = f"{card} from {cell_text(start)} onto {covered} in {cell_text(end)}"
        state.game.bindings.apply(state.array, 0, action)
        yield Step(words, tuple(int(top) for top in state.tops), end)


def show_solution(state: State, solution: Solution, seconds: float, out: Console) -> None:
    """Print how a position is solved, or why it cannot be."""
    plain = bool(out.options.ascii_only)
    tops = tuple(int(top) for top in state.tops)
    start = _picture(Text("at the start", style="bold"), tops, None, plain)
    effort = f"{solution.nodes:,} node{'s' if solution.nodes > 1 else ''}, {1000 * seconds:.1f} ms"
    if solution.actions is None:
        out.print(start)
        reason = Text(solution.proof or "") if plain else words_look(solution.proof or "")
        out.print(Text.assemble(("There is no solution: ", "bold"), reason, f" ({effort})"))
        return
    pictures = [start]
    for number, step in enumerate(follow(state, solution.actions), start=1):
        words = Text(step.words) if plain else words_look(step.words)
        title = Text.assemble((f"{number:>2} ", "bold"), words)
        pictures.append(_picture(title, step.tops, step.end, plain))
    out.print(Columns(pictures, padding=(0, 2)))
    moves = len(solution.actions)
    count = f"{moves} move{'' if moves == 1 else 's'}"
    out.print(Text.assemble((f"Solved in {count}", "bold"), f" ({effort})"))


def _picture(title: Text, tops: Sequence[int], moved: int | None, plain: bool) -> Group:
    """Return the grid under a title, the card that has just moved in reverse."""
    lines = [title]
    for row in ROWS:
        line = Text("   ")
        for cell in row:
            if tops[cell] == EMPTY:
                look = Text("." if plain else NOTHING, style="dim")
            else:
                look = Text(card_text(tops[cell])) if plain else card_look(card_text(tops[cell]))
            gap = " " * (CELL - len(look))
            if cell == moved:
                look.stylize("reverse")
            line.append_text(look).append(gap)
        lines.append(line)
    return Group(*lines, Text())


def show_census(census: Census, out: Console) -> None:
    """Print the results of a census."""
    facts = census.to_dict()
    table = table_of("hardest seeds", "solvable")
    table.add_column("nodes", justify="right")
    for one in facts["hardest"]:
        table.add_row(str(one["seed"]), "yes" if one["solvable"] else "no", f"{one['nodes']:,}")
    out.print(table)
    nodes = facts["nodes"]
    out.print(
        f"{_solvable_words(facts)}; nodes: mean {nodes['mean']:,.1f}, "
        f"median {nodes['median']:,.0f}, most {nodes['max']:,}"
    )
    if facts["added"]:
        rate = facts["added"] / max(facts["seconds"], 1e-9)
        out.print(f"{facts['added']:,} settled now, {rate:,.0f} a second")


def effect(s: Any, action: int) -> str:
    """Return which card a move puts onto which other one."""
    start, end = MOVES[action]
    return f"{card_text(int(s.tops[start]))} on {card_text(int(s.tops[end]))}"


def help_rows(s: Any) -> tuple[tuple[str, str], ...]:
    """Return what the text of a move means."""
    return (
        (
            "a1>d1",
            "move the stack in row A, column 1 onto the stack in row D, column 1: their top cards "
            "have the same suit, the same rank or neighbouring ranks",
        ),
        ("--", "an empty place"),
    )


TERMINAL = TerminalTexts(help=help_rows, effect=effect, heading="       1    2    3    4")


def _solvable_words(summary: dict[str, Any]) -> str:
    """Return how many seeds can be solved, and why the others cannot."""
    seeds, lost, apart = (summary[name] for name in ("seeds", "unsolvable", "disconnected"))
    if not lost:
        return f"all {seeds:,} solvable" if seeds > 1 else "1 seed, solvable"
    words = f"{seeds:,} seed{'s' * (seeds > 1)}, {lost:,} unsolvable"
    if apart:
        some = "" if apart == lost else f"{apart:,} of them "
        words += f", {some}because no moves connect all the cards"
    return words
