"""Games of Koi-Koi in batches for networks: what `token_games` must know of the game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cardlab.engine.game import Array
from cardlab.engine.kernel import int64, kernel
from cardlab.games.koi_koi import tokens
from cardlab.games.koi_koi.heuristic import choose
from cardlab.games.koi_koi.networks.transformer import KoiKoiTransformer, decisions_of
from cardlab.games.koi_koi.rules import GAME
from cardlab.games.koi_koi.table import MOST_ROUNDS, dealer
from cardlab.games.koi_koi.tokens import DECISION_OF_KIND, DECISIONS, KIND
from cardlab.learning import token_games
from cardlab.learning.token_games import Tokens


@kernel
def episode_of(s: Any, seat: int) -> int:
    """Return the number within a game of what is rewarded: a round, for a seat."""
    return 2 * (int64(s.round_number) - 1) + seat


@kernel
def decision_of(row: Any) -> int:
    """Return which of the paper's three models takes a decision."""
    return int64(DECISION_OF_KIND[row[KIND]])


@kernel
def first_dealer(s: Any, before: int) -> int:
    """Return who dealt the first round."""
    return dealer(s) if s.round_number == 1 else int64(before)


TOKENS = Tokens.of_module(
    tokens,
    GAME,
    choose,
    episodes=2 * MOST_ROUNDS,
    episode_of=episode_of,
    decisions=len(DECISIONS),
    decision_of=decision_of,
    mark=first_dealer,
    skips_forced=False,
)


def _take_best(network: KoiKoiTransformer, rows: Tensor, choices: Tensor) -> tuple[Tensor, Tensor]:
    """Return the place of the most valued choice and how likely each outcome is after it."""
    likely = network.predict(rows, choices).softmax(-1)
    places = network.value(rows, likely).argmax(dim=1)
    chosen = places[:, None, None].expand(-1, 1, likely.shape[-1])
    return places, likely.gather(1, chosen)[:, 0]


class KoiKoiPlayer(token_games.Player):
    """The networks of a design, which choose for a seat."""

    def __init__(
        self, networks: Mapping[str, KoiKoiTransformer], design: str, *, compiled: bool = False
    ) -> None:
        decisions = decisions_of(design)
        network_of = [
            number
            for decision in DECISIONS
            for number, group in enumerate(decisions)
            if decision in group
        ]
        given = list(networks.values())
        best = _take_best if given[0].outcomes else token_games.take_best
        super().__init__(given, network_of, best=best, compiled=compiled)


class KoiKoiGames(token_games.TokenGames):
    """Some games of Koi-Koi that advance together; `first_dealers` dealt their first rounds."""

    def __init__(
        self,
        seeds: Array,
        seats: Array,
        *,
        device: torch.device,
        epsilon: float = 0.0,
        first: int = 0,
    ) -> None:
        states = np.repeat(GAME.fresh(**GAME.read_options({})), len(seeds))
        super().__init__(TOKENS, states, seeds, seats, device=device, epsilon=epsilon, first=first)

    @property
    def first_dealers(self) -> Array:
        """Who dealt the first round of each game."""
        return self.marks
