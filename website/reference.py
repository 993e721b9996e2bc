"""The Python reference: a page for each purpose, an entry for each public name.

Everything but the examples is read from the source without importing it, so that no extra needs to
be there: signatures, docstrings, attributes with their comments, methods, and what is raised.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import examples
import source as code

FOLDER = "python"  # of the pages, beside the first one


@dataclass(frozen=True)
class Page:
    """A page of the reference: its file, its title, what it is about, its sections."""

    slug: str
    title: str
    about: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]  # heading, `module` or `module: names`


PAGES = (
    Page(
        "play",
        "Games and play",
        "Find a game, play it move by move or between agents, and look at what a seat knows.",
        (
            ("Play a game", ("cardlab.games", "cardlab.agents.play", "cardlab.engine.play: Table")),
            (
                "The game and its positions",
                ("cardlab.engine.game: Game Option State View Turn Turns DEALER OVER",),
            ),
            ("What a seat knows, in words", ("cardlab.engine.game: Description Zone Event",)),
            ("Errors", ("cardlab.engine.errors",)),
            ("A loop of one's own", ("cardlab.engine.play",)),
        ),
    ),
    Page(
        "agents",
        "Agents",
        "Find an agent by name, write one, or run a program as one.",
        (
            ("Agents by name", ("cardlab.agents.catalog",)),
            (
                "What an agent is, and what it may offer",
                (
                    "cardlab.engine.game: Agent OpenAgent ActsInBatches HasValues HasUnit Unit "
                    "HasAttention Attention FollowsGames PlansAhead require_agent",
                ),
            ),
            ("Programs as agents", ("cardlab.agents.outside",)),
            ("A learned table", ("cardlab.games.crazy_eights.agents.tabular_q",)),
        ),
    ),
    Page(
        "many_games",
        "Many games at once",
        "Thousands of games in step as arrays, rows of numbers for learners, and the GPU.",
        (
            ("Batches", ("cardlab.engine.batch", "cardlab.engine.game: nth_legal")),
            ("Observations", ("cardlab.engine.observation",)),
            ("On a GPU", ("cardlab.engine.gpu",)),
        ),
    ),
    Page(
        "records",
        "Records",
        "Games as lines of JSON: write, read and replay them.",
        (
            ("Records", ("cardlab.engine.records: Record Result", "cardlab.engine.records")),
            ("Replays", ("cardlab.engine.replay",)),
        ),
    ),
    Page(
        "arena",
        "Matches, tournaments and ratings",
        "Compare agents on the same deals, keep the games, and compute ratings with intervals.",
        (
            ("Matches", ("cardlab.arena.match: Match play_match", "cardlab.arena.match")),
            ("Tournaments", ("cardlab.arena.tournament", "cardlab.arena.standings")),
            ("Sequential tests", ("cardlab.arena.sprt",)),
            ("Ratings", ("cardlab.arena.ratings", "cardlab.arena.leaderboard")),
            ("The store of games", ("cardlab.arena.store", "cardlab.arena.export")),
            ("Programs on trial", ("cardlab.arena.compliance",)),
            ("Processes and machines", ("cardlab.arena.workers",)),
        ),
    ),
    Page(
        "rules",
        "Write a game",
        "The manifest, the record, kernels, random streams, cards, and the conformance tests.",
        (
            ("The manifest", ("cardlab.engine.manifest",)),
            ("The record", ("cardlab.engine.game: record_type",)),
            ("Kernels", ("cardlab.engine.kernel: kernel", "cardlab.engine.kernel")),
            ("Random streams", ("cardlab.engine.seeding",)),
            ("The standard deck", ("cardlab.engine.cards",)),
            ("Conformance", ("cardlab.testing",)),
        ),
    ),
    Page(
        "search",
        "Search",
        "Search algorithms for every game; budgets are counts.",
        (
            ("Play-outs", ("cardlab.engine.playouts",)),
            ("Flat Monte Carlo", ("cardlab.search.monte_carlo",)),
            ("Information-set tree search", ("cardlab.search.information_set",)),
            ("UCT", ("cardlab.search.uct",)),
            ("Alpha-beta", ("cardlab.search.alpha_beta",)),
            ("Determinised search", ("cardlab.search.determinised",)),
        ),
    ),
    Page(
        "learning",
        "Learning and papers",
        "Start trainings from Python, and measure the claims of the papers again.",
        (
            ("Trainings", ("cardlab.learning",)),
            ("Q-learning in Crazy Eights", ("cardlab.games.crazy_eights.learning.tabular_q",)),
            ("Papers", ("cardlab.papers.reproduce",)),
        ),
    ),
    Page(
        "pictures",
        "Pictures and explanations",
        "Cards, hands and tables as SVG, and what an agent thinks of every choice.",
        (
            ("Pictures of cards", ("cardlab.show.pictures",)),
            ("Explanations", ("cardlab.show.explanation",)),
            ("In a notebook", ("cardlab.show.notebook",)),
        ),
    ),
    Page(
        "cribbage",
        "Cribbage hands",
        "Count hands and rank discards without playing a game.",
        (
            ("Counting", ("cardlab.games.cribbage.scoring",)),
            ("Advice", ("cardlab.games.cribbage.solvers.advice",)),
        ),
    ),
    Page(
        "libraries",
        "Other libraries",
        "Our games as environments of PettingZoo, Gymnasium, Stable-Baselines3 and OpenSpiel.",
        (
            ("PettingZoo", ("cardlab.interop.pettingzoo",)),
            ("Gymnasium", ("cardlab.interop.gymnasium", "cardlab.interop.vector")),
            ("Stable-Baselines3", ("cardlab.interop.stable_baselines3",)),
            ("OpenSpiel", ("cardlab.interop.openspiel",)),
        ),
    ),
)
LONG = 200  # characters of a constant's value that are shown


@dataclass(frozen=True)
class Entry:
    """A public name: where it is offered, and where it is made."""

    page: Page
    module: str
    name: str
    home: code.Module
    node: ast.stmt

    @property
    def about(self) -> str:
        """What it is, in one sentence."""
        if isinstance(self.node, ast.FunctionDef | ast.ClassDef):
            return code.sentence(self.node)
        return self.home.comment_of(self.node)


class Reference:
    """The reference of a source tree: its pages as Markdown."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.main = code.read(source, "cardlab")
        self.examples = examples.all_examples()

    @cached_property
    def modules(self) -> list[str]:
        """The public modules, in the order of the pages."""
        parts = [part for page in PAGES for _, parts in page.sections for part in parts]
        return list(dict.fromkeys(part.partition(":")[0] for part in parts))

    @cached_property
    def sections(self) -> list[tuple[Page, str, list[Entry]]]:
        """Page, heading and entries of every section; names that are given come first."""
        named = {
            (part.partition(":")[0], name)
            for page in PAGES
            for _, parts in page.sections
            for part in parts
            for name in part.partition(":")[2].split()
        }
        made: set[tuple[str, str]] = set()
        found = []
        for page in PAGES:
            for heading, parts in page.sections:
                entries = []
                for part in parts:
                    name, colon, given = part.partition(":")
                    module = code.read(self.source, name)
                    rest = [one for one in sorted(module.public) if (name, one) not in named]
                    for one in given.split() if colon else rest:
                        entry = Entry(page, name, one, *code.resolve(self.source, module, one))
                        if (entry.home.name, one) not in made:  # two modules may offer one thing
                            made.add((entry.home.name, one))
                            entries.append(entry)
                found.append((page, heading, entries))
        return found

    @cached_property
    def entries(self) -> list[Entry]:
        """All public names."""
        return [one for _, _, entries in self.sections for one in entries]

    @cached_property
    def short(self) -> dict[tuple[str, str], str]:
        """Where `from cardlab import NAME` gives it: by the module where it is made, and name."""
        found = {}
        for name in self.main.public:
            home, _ = code.resolve(self.source, self.main, name)
            if home is not self.main:
                found[home.name, name] = "cardlab"
        return found

    @cached_property
    def titles(self) -> dict[Entry, str]:
        """The heading of every entry: its name, after that of its module where two are alike."""
        counts = Counter((one.page.slug, one.name.lower()) for one in self.entries)
        return {
            one: one.name
            if counts[one.page.slug, one.name.lower()] == 1
            else f"{one.module.rpartition('.')[2]}.{one.name}"
            for one in self.entries
        }

    @cached_property
    def links(self) -> dict[str, Entry]:
        """The entries that a docstring means by a name: those of which there is one."""
        counts = Counter(one.name for one in self.entries)
        telling = re.compile(r"[A-Z]|\w_\w")  # a common word is not meant for a link
        return {
            one.name: one
            for one in self.entries
            if counts[one.name] == 1 and telling.search(one.name)
        }

    def link(self, entry: Entry, here: Page | None) -> str:
        """Return the address of an entry as seen from a page; None: from the first one."""
        anchor = re.sub(r"[^\w\s-]", "", self.titles[entry]).strip().lower()
        if entry.page is here:
            return f"#{anchor}"
        return f"{'' if here else FOLDER + '/'}{entry.page.slug}.md#{anchor}"

    def linked(self, text: str, entry: Entry) -> str:
        """Return a docstring with links at the names of other entries."""

        def replace(match: re.Match[str]) -> str:
            meant = self.links.get(match[1])
            if meant is None or meant is entry:
                return match[0]
            return f"[`{match[1]}`]({self.link(meant, entry.page)})"

        parts = re.split(r"(\n\n +[^\n]+(?:\n+ +[^\n]+)*)", text)  # blocks of code stay
        return "".join(
            part if n % 2 else re.sub(r"`(\w+)`", replace, part) for n, part in enumerate(parts)
        )

    def first_page(self) -> str:
        """Return what most people use, and the names of every page."""
        top = [(home, name) for (home, name) in self.short]
        found = {(one.home.name, one.name): one for one in self.entries}
        rows = [found[one] for one in sorted(top, key=_commonest) if one in found]
        parts = ["## What most people use", "`from cardlab import ...`:"]
        lines = ["| name | what it is |", "|---|---|"]
        lines += [
            f"| [`{one.name}`]({self.link(one, None)}) | {_cell(one.about)} |" for one in rows
        ]
        parts += ["\n".join(lines), "## By purpose"]
        for page in PAGES:
            names = [one for one in self.entries if one.page is page]
            listed = ", ".join(f"[`{self.titles[one]}`]({self.link(one, None)})" for one in names)
            parts += [f"### [{page.title}]({FOLDER}/{page.slug}.md)", page.about, f"{listed}."]
        return "\n\n".join(parts)

    def page(self, page: Page) -> str:
        """Return a page of entries."""
        parts = [f"# {page.title}", page.about]
        for each, heading, entries in self.sections:
            if each is page:
                parts.append(f"## {heading}")
                modules = {one.module for one in entries}
                if len(modules) == 1 and modules != {"cardlab.engine.game"}:  # it is everywhere
                    parts.append(self._about(*modules))
                parts += [part for one in entries for part in self._entry(one)]
        return "\n\n".join(parts) + "\n"

    def _about(self, module: str) -> str:
        return " ".join(code.read(self.source, module).about.partition("\n\n")[0].split())

    def _entry(self, entry: Entry) -> list[str]:
        node = entry.node
        home = self.short.get((entry.home.name, entry.name), entry.module)
        parts = [f"### `{self.titles[entry]}`"]
        bare = f"from {home} import {entry.name}"
        if isinstance(node, ast.FunctionDef):
            parts += [
                _block(f"{bare}\n\n{code.signature(entry.name, node)}"),
                *self._kernel(node),
                self._text(code.sentence(node, full=True), entry),
            ]
        elif isinstance(node, ast.ClassDef):
            parts += self._class(entry, node, bare)
        else:
            shown = ast.unparse(code.value_of(node, entry.name))
            shown = shown if len(shown) <= LONG else f"{shown[:LONG]} ..."
            about = entry.home.comment_of(node)
            parts += [_block(f"{bare}\n\n{entry.name} = {shown}")]
            parts += [self._text(_capital(about), entry)] if about else []
        makes = node
        if isinstance(node, ast.ClassDef):
            makes = code.constructor(self.source, entry.home, node)
        return [*parts, *self._example(entry), *(self._raises(entry, makes) if makes else [])]

    def _kernel(self, node: ast.FunctionDef) -> list[str]:
        if not code.has(node, "kernel"):
            return []
        return ["*A kernel: compiled when it is first called, from Python or from other kernels.*"]

    def _text(self, text: str, entry: Entry) -> str:
        text = re.sub(r"([^\n])\n(- )", r"\1\n\n\2", text, count=1)  # a list needs a line before it
        text = re.sub(r"(?<!`)\b2\*\*(\w+)", r"`2**\1`", text)
        return self.linked(text, entry)

    def _class(self, entry: Entry, node: ast.ClassDef, bare: str) -> list[str]:
        bases = [ast.unparse(one) for one in node.bases]
        maker = code.constructor(self.source, entry.home, node)
        attributes = code.attributes(self.source, entry.home, node)
        if maker:
            call = code.signature(entry.name, maker, bound=True)
        elif "Protocol" in bases:
            call = f"class {entry.name}(Protocol)"
        else:
            call = code.fields_text(entry.name, node)
        text = code.sentence(node, full=True)
        told, text = _bullets(text, {one.name for one in attributes})
        ours = [one for one in bases if one in self.links or one.endswith("Error")]
        parts = [_block(f"{bare}\n\n{call}"), self._text(text, entry)]
        if maker and code.sentence(maker):
            parts.append(self._text(code.sentence(maker, full=True), entry))
        if ours:
            parts.append(
                f"A kind of {' and '.join(self.linked(f'`{one}`', entry) for one in ours)}."
            )
        if attributes:
            lines = [
                _item(_declared(one), self.linked(_capital(_flat(words)), entry))
                for one in attributes
                for words in [one.about or told.get(one.name, "")]
            ]
            parts += ["**Attributes**", "\n".join(lines)]
        lines = [
            self._method(entry, one)
            for _, each in code.classes_of(self.source, entry.home, node)
            for one in code.methods(each)
            if not code.has(one, "property")
        ]
        return [*parts, "**Methods**", "\n".join(lines)] if lines else parts

    def _method(self, entry: Entry, node: code.Function) -> str:
        of_class = code.has(node, "classmethod") or code.has(node, "staticmethod")
        name = f"{entry.name}.{node.name}" if of_class else node.name
        call = code.signature(name, node, bound=True, wide=1000)
        words = self.linked(_flat(code.sentence(node, full=True)), entry)
        raises = sorted(code.raised(self.source, entry.home, node))
        known = [one for one in raises if one.rpartition(".")[2] in self.links]
        more = f" Raises {self._listed(known, entry)}." if known else ""
        return _item(call, f"{words}{more}")

    def _listed(self, kinds: Iterable[str], entry: Entry) -> str:
        return " and ".join(self.linked(f"`{one}`", entry) for one in kinds)

    def _raises(self, entry: Entry, node: ast.stmt) -> list[str]:
        parts = []
        for kind, texts in code.raised(self.source, entry.home, node).items():
            if kind == "AssertionError":  # of a mistake of ours
                continue
            parts.append(f"**Raises** {self.linked(f'`{kind}`', entry)}")
            if texts:
                parts.append("\n".join(f"- {_message(text)}" for text in texts))
        return parts

    def _example(self, entry: Entry) -> list[str]:
        example = self.examples.get((entry.module, entry.name))
        if example is None:
            return []
        first = example.names[0]
        if first != entry.name:
            meant = next(
                one for one in self.entries if (one.module, one.name) == (entry.module, first)
            )
            return [f"**Example**: see [`{first}`]({self.link(meant, entry.page)})."]
        needs = f" (needs {', '.join(example.needs)})" if example.needs else ""
        parts = [f"**Example**{needs}", _block(example.code)]
        return [*parts, _block(example.output, "text")] if example.output else parts


ORDER = (  # of what most people use; the rest follows by name
    *("find_game", "find_agent", "play_game", "Table", "Match", "play_match", "Record"),
    *("read_records", "Batch", "Game", "Agent", "Turn", "State", "View", "Turns"),
)


def _commonest(key: tuple[str, str]) -> tuple[int, str]:
    name = key[1]
    return (ORDER.index(name) if name in ORDER else len(ORDER), name.lower())


def _block(text: str, language: str = "python") -> str:
    return f"```{language}\n{text.strip()}\n```"


def _declared(one: code.Attribute) -> str:
    kind = f": {one.type}" if one.type else ""
    return f"{one.name}{kind}{f' = {one.default}' if one.default else ''}"


def _bullets(text: str, names: set[str]) -> tuple[dict[str, str], str]:
    """Take the points of a docstring that describe attributes out of it."""
    told, kept = {}, []
    for line in text.splitlines():
        point = re.match(r"- ((?:`\w+`(?:, | and )?)+) (.*)", line)
        given = re.findall(r"`(\w+)`", point[1]) if point else []
        if point and set(given) <= names:
            told |= dict.fromkeys(given, point[2])
        else:
            kept.append(line)
    return told, "\n".join(kept)


def _item(call: str, words: str) -> str:
    return f"- `{call}`" + (f": {words}" if words else "")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _capital(text: str) -> str:
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:]}{'' if text[-1] in '.!?' else '.'}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _message(text: str) -> str:
    """Return the text of an error with what is filled in as its name in angle brackets."""
    plain = re.sub(r"\{(\w+|\.\.\.)\}", lambda found: f"‹{found[1]}›", text)
    return re.sub(r"([*_<])", r"\\\1", plain)
