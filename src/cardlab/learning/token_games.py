"""Thousands of games at once for networks over tokens: rules on threads, choices in large batches.

`TokenGames` holds some games of one kind in arrays. `advance` takes the chosen actions, deals,
moves for seats of the heuristic and of chance, and writes the row of the next decision of each
game; threads share the games and change nothing but the time, since every game has streams of its
own. `play` takes several `TokenGames` in turn: while the device answers the decisions of
one, the rules of the next run.

Every decision carries its episode, a game and what in it is rewarded (a seat, or a round of a
seat), in one number, so that what an episode brought is joined to its decisions after all games
have ended, without a list for each game.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
import torch._dynamo
from torch import Tensor, nn

from cardlab.engine.game import DEALER, OVER, Array, Game
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.seeding import RANDOM_RESOLUTION, SEAT, below, branch

__all__ = [
    "HEURISTIC",
    "LEARNER",
    "RANDOM",
    "RIVAL",
    "Clock",
    "Decided",
    "Player",
    "Samples",
    "TokenGames",
    "Tokens",
    "game_seeds",
    "play",
    "take_best",
    "usable_threads",
]

LEARNER, RIVAL, HEURISTIC, RANDOM = range(4)  # who sits on a seat; the first two are networks
NOTHING, FRESH = 255, 254  # what a game waits for, other than a decision
GREEDY = 255
STEP = 128  # on a GPU, batches for a network are padded to a multiple: few sizes, none below two


@kernel
def only_decision(row: Any) -> int:
    """Return the one kind of decision of a game whose decisions one network takes."""
    return int64(0)


@kernel
def seat_of(s: Any, seat: int) -> int:
    """Return the episode of a game that is rewarded as a whole."""
    return int64(seat)


@kernel
def no_mark(s: Any, before: int) -> int:
    """Remember nothing of a deal."""
    return int64(before)


class Tokens(NamedTuple):
    """A game as networks over tokens play it: its rules and its kernels of features."""

    game: Game
    choose: Callable[..., int]  # the heuristic
    write_view: Callable[..., None]
    write_choices: Callable[..., int]
    action_of_token: Callable[..., int]
    width: int
    most_choices: int
    episodes: int  # of a game
    episode_of: Callable[..., int] = seat_of
    decisions: int = 1  # kinds that networks may share between them
    decision_of: Callable[..., int] = only_decision  # from a row
    mark: Callable[..., int] = no_mark  # what is remembered of a game's deals: (state, so far)
    skips_forced: bool = True  # whether a single choice is taken without asking

    @classmethod
    def of_module(
        cls, module: Any, game: Game, choose: Callable[..., int], episodes: int, **others: Any
    ) -> Tokens:
        """Return the description of a game in its module `tokens`."""
        return cls(
            game=game,
            choose=choose,
            write_view=module.write_view,
            write_choices=module.write_choices,
            action_of_token=module.action_of_token,
            width=module.WIDTH,
            most_choices=module.MOST_CHOICES,
            episodes=episodes,
            **others,
        )


class Arrays(NamedTuple):
    """The state of some games as the kernel takes it, a game in each row."""

    states: Array
    seeds: Array
    deals: Array
    streams: Array
    seats: Array
    marks: Array
    waits: Array
    slots: Array  # which of its choices a network took
    rows: Array
    choices: Array
    forced: Array
    episodes: Array


@functools.cache
def make_advance(tokens: Tokens) -> Callable[..., None]:
    """Return the kernel that takes a game's decisions and advances to the next ones."""
    rules = tokens.game
    mover, deal, legal, apply = rules.mover, rules.deal, rules.legal, rules.apply
    deck_order, choose, mark = rules.shuffle, tokens.choose, tokens.mark
    write_view, write_choices = tokens.write_view, tokens.write_choices
    action_of_token, decision_of = tokens.action_of_token, tokens.decision_of
    episode_of, per_game = tokens.episode_of, tokens.episodes
    decisions, skips_forced = tokens.decisions, tokens.skips_forced

    @kernel
    def advance(
        games: Any, explore: int, start: int, stop: int, order: Any, buffer: Any, rng: Any
    ) -> None:
        """Take the chosen actions of games `start` to `stop - 1`, advance to their next ones."""
        waits, choices = games.waits, games.choices
        for game in range(start, stop):
            if waits[game] == NOTHING:
                continue
            s = games.states[game]
            if waits[game] != FRESH:
                apply(s, action_of_token(s, int64(choices[game, games.slots[game]])))
            own = games.streams[game : game + 1]
            while True:
                seat = mover(s)
                if seat == OVER:
                    waits[game] = NOTHING
                    break
                if seat == DEALER:
                    deck_order(games.seeds[game], games.deals[game], order, rng)
                    games.deals[game] += 1
                    deal(s, order)
                    games.marks[game] = mark(s, int64(games.marks[game]))
                    continue
                who = games.seats[game, seat]
                if who == HEURISTIC:
                    apply(s, choose(s, seat, buffer, legal(s, buffer)))
                    continue
                if who == RANDOM:
                    apply(s, int64(buffer[below(own, legal(s, buffer))]))
                    continue
                count = write_choices(s, seat, choices[game])
                if skips_forced and count == 1:
                    apply(s, action_of_token(s, int64(choices[game, 0])))
                    continue
                write_view(s, seat, games.rows[game])
                games.forced[game] = GREEDY
                if who == LEARNER and explore > 0 and below(own, RANDOM_RESOLUTION) < explore:
                    games.forced[game] = below(own, count)
                games.episodes[game] = game * per_game + episode_of(s, seat)
                waits[game] = who * decisions + decision_of(games.rows[game])
                break

    return advance


@kernel
def sort_waiting(
    waits: Any, network_of: Any, step: int, counts: Any, starts: Any, index: Any
) -> None:
    """Write the games that wait for each network one after the other, padded to full steps."""
    total = len(counts)
    for game in range(len(waits)):
        if waits[game] < FRESH:
            counts[network_of[waits[game]]] += 1
    for network in range(total):
        starts[network + 1] = starts[network] + (counts[network] + step - 1) // step * step
    for network in range(total):
        place = starts[network]
        first = place
        for game in range(len(waits)):
            if waits[game] < FRESH and network_of[waits[game]] == network:
                index[place] = game
                place += 1
        while place < starts[network + 1]:
            index[place] = index[first]
            place += 1


@kernel
def write_seeds(start: int, first: int, out: Any) -> None:
    """Write the seeds of games `first`, `first + 1`, ... of a stream."""
    for i in range(len(out)):
        out[i] = branch(start, first + i)


def game_seeds(start: int, count: int, *, paired: bool = False) -> Array:
    """Return the seeds of `count` games; paired, each two neighbours get the same deals."""
    seeds = np.empty(count // 2 if paired else count, dtype=np.int64)
    write_seeds(start, 0, seeds)
    return np.repeat(seeds, 2) if paired else seeds


class Clock:
    """Seconds by stage; with `exact` the device is waited for, so that each stage bears its own."""

    def __init__(self, device: torch.device, *, exact: bool = False) -> None:
        self.seconds: dict[str, float] = {}
        self._device, self._exact = device, exact

    @contextlib.contextmanager
    def on(self, stage: str) -> Iterator[None]:
        """Count the time of a block to a stage."""
        start = time.perf_counter()
        yield
        if self._exact and self._device.type == "cuda":
            torch.cuda.synchronize()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start


def take_best(network: nn.Module, rows: Tensor, choices: Tensor) -> tuple[Tensor, Tensor]:
    """Return the place of the most valued choice and its value."""
    values, places = network(rows, choices).max(dim=1)
    return places, values


class Player:
    """Networks that choose for a seat, greedily; `network_of` maps decisions to networks."""

    def __init__(
        self,
        networks: Sequence[nn.Module],
        network_of: Sequence[int] = (0,),
        *,
        best: Callable[..., tuple[Tensor, Tensor]] = take_best,
        compiled: bool = False,
    ) -> None:
        self.networks = list(networks)
        self.network_of = np.array(network_of)
        self._compiled = compiled
        self._best: Any = torch.compile(best) if compiled else best

    def best(self, number: int, rows: Tensor, choices: Tensor) -> tuple[Tensor, Tensor]:
        """Return the place among its choices that a network values most, and what it sees there."""
        if self._compiled:  # one graph for batches of any size, and for all networks of a shape
            for tensor in (rows, choices):
                torch._dynamo.maybe_mark_dynamic(tensor, 0)
        with torch.no_grad():
            found: tuple[Tensor, Tensor] = self._best(self.networks[number], rows, choices)
            return found


class Decided(NamedTuple):
    """Decisions that were taken, one a row."""

    rows: Tensor
    tokens: Tensor  # what was taken
    episodes: Tensor
    moments: Tensor  # those of an episode rise with time
    values: Tensor  # of the best choice, as the network saw it: a number, or chances of outcomes
    explored: Tensor  # whether another was taken


class Samples:
    """Decisions of one network, as they come."""

    def __init__(self) -> None:
        self._parts: list[Decided] = []

    def add(self, part: Decided) -> None:
        """Keep some decisions."""
        self._parts.append(part)

    def joined(self) -> Decided:
        """Return all of them; what is kept in parts is given up."""
        whole = Decided(*(torch.cat(column) for column in zip(*self._parts, strict=True)))
        self._parts = []
        return whole

    def __bool__(self) -> bool:
        return bool(self._parts)


class TokenGames:
    """Some games that advance together; row i of every array belongs to game i."""

    def __init__(
        self,
        tokens: Tokens,
        states: Array,
        seeds: Array,
        seats: Array,
        *,
        device: torch.device,
        epsilon: float = 0.0,
        first: int = 0,
    ) -> None:
        """Take games that wait for their first deal, and who sits on each seat of each."""
        count = len(seeds)
        self.tokens, self.states = tokens, states
        self.count, self.first, self.device = count, first, device
        self.explore = round(epsilon * RANDOM_RESOLUTION)
        self.seeds = seeds.astype(np.int64)
        self.seats = seats.astype(np.uint8)
        self.streams = np.zeros(count, dtype=np.int64)
        _write_streams(self.seeds, self.streams)
        self.deals = np.zeros(count, dtype=np.int64)
        self.marks = np.zeros(count, dtype=np.uint8)
        self.waits = np.full(count, FRESH, dtype=np.uint8)
        self._step = STEP if device.type == "cuda" else 1
        self._moment = 0
        most = count + STEP * 2 * tokens.decisions
        self._host = {
            "rows": self._array((count, tokens.width), torch.uint8),
            "choices": self._array((count, tokens.most_choices), torch.uint8),
            "forced": self._array((count,), torch.uint8),
            "episodes": self._array((count,), torch.int32),
            "index": self._array((most,), torch.int32),
        }
        self._slots = self._array((count,), torch.uint8)
        self._event: Any = torch.cuda.Event() if device.type == "cuda" else None  # type: ignore[no-untyped-call]

    def _array(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        return torch.zeros(shape, dtype=dtype, pin_memory=self.device.type == "cuda")

    @property
    def running(self) -> bool:
        """Whether a game is not over."""
        return bool((self.waits != NOTHING).any())

    def wait(self) -> None:
        """Wait until the device has answered."""
        if self._event is not None:
            self._event.synchronize()

    def advance(self, pool: ThreadPoolExecutor, threads: int) -> None:
        """Take the answers and advance to the next decisions."""
        bounds = np.linspace(0, self.count, threads + 1).astype(int)
        advance, game = make_advance(self.tokens), self.tokens.game
        arrays = Arrays(
            self.states,
            self.seeds,
            self.deals,
            self.streams,
            self.seats,
            self.marks,
            self.waits,
            self._slots.numpy(),
            *(self._host[name].numpy() for name in ("rows", "choices", "forced", "episodes")),
        )
        work = [
            pool.submit(
                advance,
                arrays,
                self.explore,
                int(bounds[i]),
                int(bounds[i + 1]),
                np.empty(game.deck, dtype=np.uint8),
                np.empty(game.num_actions, dtype=np.int16),
                np.zeros(1, dtype=np.int64),
            )
            for i in range(threads)
        ]
        for future in work:
            future.result()

    def ask(self, players: Sequence[Player], samples: Sequence[Samples] | None) -> None:
        """Let the device answer all waiting decisions, and keep those of the learner."""
        if not self.running:
            return
        networks = [(player, i) for player in players for i in range(len(player.networks))]
        offsets = np.cumsum([0] + [len(player.networks) for player in players])
        network_of = np.concatenate(
            [player.network_of + offsets[k] for k, player in enumerate(players)]
        )
        counts = np.zeros(len(networks), dtype=np.int64)
        starts = np.zeros(len(networks) + 1, dtype=np.int64)
        index = self._host["index"].numpy()
        sort_waiting(self.waits, network_of, self._step, counts, starts, index)
        there = {
            name: tensor.to(self.device, non_blocking=True)
            for name, tensor in self._host.items()
            if name != "index"
        }
        places = self._host["index"][: starts[-1]].to(self.device, non_blocking=True)
        slots = torch.zeros(self.count, dtype=torch.uint8, device=self.device)
        for number, (player, which) in enumerate(networks):
            if counts[number] == 0:
                continue
            here = places[starts[number] : starts[number + 1]].long()
            rows, choices, forced = (
                there[name].index_select(0, here) for name in ("rows", "choices", "forced")
            )
            best, values = player.best(which, rows, choices)
            slot = torch.where(forced == GREEDY, best.to(torch.uint8), forced)
            slots[here] = slot
            if samples is not None and number < offsets[1]:
                taken = choices.gather(1, slot.long()[:, None])[:, 0]
                waiting = int(counts[number])
                before = self.first * self.tokens.episodes
                episodes = there["episodes"].index_select(0, here) + before
                moments = torch.full_like(episodes, self._moment)
                other = taken != choices.gather(1, best[:, None])[:, 0]
                found = (rows, taken, episodes, moments, values.float(), other)
                samples[number].add(Decided(*(column[:waiting] for column in found)))
        self._moment += 1
        self._slots.copy_(slots, non_blocking=True)
        if self._event is not None:
            self._event.record()


def play(
    groups: Sequence[TokenGames],
    players: Sequence[Player],
    *,
    threads: int,
    clock: Clock,
    samples: Sequence[Samples] | None = None,
) -> None:
    """Play all games to their end; the learner is the first of the players."""
    with ThreadPoolExecutor(threads) as pool:
        running = list(groups)
        while running:
            for games in running:
                with clock.on("device"):
                    games.wait()
                with clock.on("rules"):
                    games.advance(pool, threads)
                with clock.on("asking"):
                    games.ask(players, samples)
            running = [games for games in running if games.running]


@kernel
def _write_streams(seeds: Any, out: Any) -> None:
    """Write the stream of chance moves of each game, apart from its deals."""
    for i in range(len(seeds)):
        out[i] = branch(seeds[i], SEAT)


def usable_threads(wanted: int) -> int:
    """Return how many threads to use: as many as wanted, or one for each core."""
    if wanted:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
