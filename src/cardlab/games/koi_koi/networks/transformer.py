"""Networks of Koi-Koi: rows of `tokens` expanded to tokens where a network computes.

Two designs. `separate` is the paper's: three models of one shape, for discards, picks and calls.
`shared` is one trunk with an output for each of the three. With `outcomes` an output becomes a
distribution over what the round may bring, and the value is its mean worth. `outcomes="point"`
counts points; `outcomes="win"` looks the chance to win up in a table that lies beside the weights
(`chances`), so that what a lead is worth need not be learned.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cardlab.games.koi_koi import tokens as rows
from cardlab.games.koi_koi.cards import DECK
from cardlab.games.koi_koi.rules import START
from cardlab.games.koi_koi.table import MOST_ROUNDS
from cardlab.games.koi_koi.tokens import DECISIONS, GLOBAL_FEATURES, TOKEN_FEATURES
from cardlab.games.koi_koi.win_chances import OUTCOMES, POINTS
from cardlab.networks.card_transformer import CardTransformer, Shape
from cardlab.networks.token_networks import join_features, one_hot

DESIGNS = ("separate", "shared")
MONTHS = DECK // 4


def _members(sets: list[int]) -> Tensor:
    """Return which card is in which set: (cards, sets)."""
    return torch.tensor([[cards >> card & 1 for cards in sets] for card in range(DECK)])


def _attributes() -> Tensor:
    """Return the features of a token that never change: (tokens, 35), in their order."""
    cards = torch.arange(DECK)
    own = torch.cat(
        [
            nn.functional.one_hot(cards // 4, MONTHS),
            nn.functional.one_hot(cards % 4, 4),
            _members(list(rows.CATEGORY_SETS.values())),
            _members(list(rows.YAKU.values())),
        ],
        dim=1,
    )
    special = torch.zeros(rows.TOKENS, own.shape[1] + 2)
    special[:DECK, : own.shape[1]] = own
    special[DECK, -2] = special[DECK + 1, -1] = 1
    return special


class Expansion(nn.Module):
    """From rows of bytes to the features of tokens and those that all tokens share."""

    attributes: Tensor
    sets: Tensor
    months: Tensor
    bits: Tensor

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype
        counted = [cards for cards, _ in rows.COUNTED.values()]
        whole = torch.tensor([float(number) for _, number in rows.COUNTED.values()])
        kept: dict[str, Tensor] = {
            "attributes": _attributes(),
            "sets": _members(counted).float() / whole,
            "months": torch.arange(DECK, dtype=torch.int32) // 4,
            "bits": torch.arange(8, dtype=torch.int32),
        }
        for name, tensor in kept.items():
            self.register_buffer(name, tensor, persistent=False)

    def forward(self, row: Tensor) -> tuple[Tensor, Tensor]:
        """Return (batch, 50, 120) and (batch, 192): 113 and 187 features, then zeros."""
        row = row.to(torch.int32)
        batch = row.shape[0]
        place = row[:, :DECK]
        zone = place % rows.LEGAL
        at = self._one_hot(zone, 0, len(rows.ZONES))  # (batch, cards, zones)
        counted = torch.stack([at[..., one] for one in rows.COUNTED_ZONES], dim=-1)
        of_cards = self._of_cards(row, zone, at, counted)
        blank = of_cards.new_zeros(batch, rows.TOKENS - DECK, of_cards.shape[-1])
        tokens = torch.cat([of_cards, blank], dim=1)
        calling = (row[:, rows.KIND] == 3)[:, None].expand(-1, rows.TOKENS - DECK)
        legal = torch.cat([place >= rows.LEGAL, calling], dim=1)[..., None].to(self.dtype)
        fixed = self.attributes.to(self.dtype).expand(batch, -1, -1)
        dynamic, relations = tokens[..., :71], tokens[..., 71:]
        whole = join_features([dynamic, fixed, legal, relations])
        return whole, self._of_game(row, at, counted)

    def _of_cards(self, row: Tensor, zone: Tensor, at: Tensor, counted: Tensor) -> Tensor:
        """Return where cards are and what turns did, then how they relate to the pick and month."""
        entered = row[:, rows.ENTERED : rows.TAKEN]
        taken = row[:, rows.TAKEN : rows.KIND]
        on_table = (zone >= rows.FIELD) & (zone <= rows.THEIR_PILE)
        dealt = (on_table & (entered == 0))[..., None].to(self.dtype)
        pending = row[:, rows.PENDING_CARD, None]
        matches = ((pending // 4 == self.months) & (pending < DECK))[..., None].to(self.dtype)
        of_month = counted.reshape(row.shape[0], MONTHS, 4, -1).sum(2) / 4
        of_month = of_month[:, :, None].expand(-1, -1, 4, -1).flatten(1, 2)
        return torch.cat(
            [
                at,
                dealt,
                self._one_hot(entered, 1, 32),
                self._one_hot(taken, 1, 32),
                matches,
                of_month,
            ],
            dim=-1,
        )

    def _of_game(self, row: Tensor, at: Tensor, counted: Tensor) -> Tensor:
        number = row.to(self.dtype)
        lead = row[:, rows.LEAD] - rows.LEAD_ZERO
        cards = at.sum(1)  # bf16 counts up to 256 exactly
        levels = torch.arange(-rows.MOST_LEAD, rows.MOST_LEAD + 1, device=row.device)
        calls = row[:, rows.MY_CALLS : rows.THEIR_CALLS + 1].clamp(max=rows.MOST_CALLS)
        left = row[:, rows.ROUNDS_LEFT].clamp(max=rows.ROUNDS_TOLD)
        sets = counted.transpose(1, 2) @ self.sets.to(self.dtype)
        parts = [
            self._one_hot(1 - row[:, rows.I_DEAL], 0, 2),
            self._one_hot(left, 1, rows.ROUNDS_TOLD),
            self._one_hot(row[:, rows.TURN], 0, 16),
            self._one_hot(row[:, rows.KIND], 0, len(rows.KINDS)),
            (lead / 30)[:, None].to(self.dtype),
            (lead[:, None] >= levels).to(self.dtype),
            cards[:, rows.MY_HAND, None] / 8,
            number[:, rows.THEIR_HAND, None] / 8,
            cards[:, rows.FIELD, None] / 8,
            cards[:, rows.MY_PILE, None] / 16,
            cards[:, rows.THEIR_PILE, None] / 16,
            number[:, rows.STOCK_LEFT, None] / 24,
            sets.flatten(1),
            self._bits(row, rows.MY_YAKU, rows.MY_YAKU_HIGH)[:, : len(rows.YAKU)],
            self._bits(row, rows.THEIR_YAKU, rows.THEIR_YAKU_HIGH)[:, : len(rows.YAKU)],
            number[:, rows.MY_YAKU_POINTS : rows.THEIR_YAKU_POINTS + 1] / 10,
            number[:, rows.MY_SCORE : rows.THEIR_SCORE + 1] / 10,
            number[:, rows.MY_CALLS : rows.THEIR_CALLS + 1] / rows.MOST_CALLS,
            self._one_hot(calls, 0, rows.MOST_CALLS + 1).flatten(1),
            self._bits(row, rows.MY_CALL_TURNS, rows.THEIR_CALL_TURNS),
            number[:, rows.RULES, None],
        ]
        return join_features(parts)

    def _one_hot(self, value: Tensor, first: int, count: int) -> Tensor:
        return one_hot(value, first, count, self.dtype)

    def _bits(self, row: Tensor, *places: int) -> Tensor:
        taken = [row[:, place, None] // (1 << self.bits) % 2 for place in places]
        return torch.cat(taken, dim=1).to(self.dtype)


class KoiKoiTransformer(nn.Module):
    """Values of the choices of decisions, straight from their rows of bytes."""

    chances: Tensor  # to win: (rounds left, I deal, lead + START)
    gains: Tensor  # of the outcomes

    def __init__(
        self,
        shape: Shape,
        *,
        outcomes: str = "",
        dropout: float = 0.0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.outcomes = outcomes
        self.expansion = Expansion(dtype)
        self.network = CardTransformer(shape, dropout=dropout, dtype=dtype)
        if outcomes:
            self.register_buffer("gains", torch.from_numpy(OUTCOMES), persistent=False)
        if outcomes == "win":
            self.register_buffer("chances", torch.zeros(MOST_ROUNDS + 1, 2, 2 * START + 1))

    def forward(self, rows: Tensor, choices: Tensor) -> Tensor:
        """Return the value of each of the tokens `choices` (batch, n)."""
        predicted = self.predict(rows, choices)
        return self.value(rows, predicted.softmax(-1)) if self.outcomes else predicted.squeeze(-1)

    def predict(self, rows: Tensor, choices: Tensor) -> Tensor:
        """Return (batch, n, 1) values, or (batch, n, outcomes) logits."""
        tokens, shared = self.expansion(rows)
        found = self.network(tokens, shared, choices.long())
        each = NUM_OUTCOMES if self.outcomes else 1
        if found.shape[-1] == each:
            return found
        kind = rows[:, KIND].long()
        decision = (kind + 1) // 2  # discard 0, picks 1 and 2, call 3
        place = each * decision[:, None, None] + torch.arange(each, device=rows.device)
        return found.gather(2, place.expand(-1, found.shape[1], -1))

    def value(self, rows: Tensor, likely: Tensor) -> Tensor:
        """Return the worth of choices (batch, n) by chances of outcomes (batch, n, outcomes)."""
        return (likely * self.worth(rows)[:, None]).sum(-1)

    def worth(self, rows: Tensor) -> Tensor:
        """Return what each outcome is worth: tens of points, or the expected return."""
        if self.outcomes == "point":
            return (self.gains / POINTS).expand(rows.shape[0], -1)
        left = rows[:, LEFT, None].long().clamp(1, MOST_ROUNDS) - 1
        lead = rows[:, LEAD, None].long() - LEAD_ZERO + self.gains
        # The winner of a round deals the next one; where nobody won, the other seat does.
        deals = torch.where(self.gains == 0, 1 - rows[:, I_DEAL, None].long(), self.gains > 0)
        return 2.0 * self.chances[left, deals.long(), lead.clamp(-START, START) + START] - 1.0


KIND, LEFT, LEAD, I_DEAL = rows.KIND, rows.ROUNDS_LEFT, rows.LEAD, rows.I_DEAL
LEAD_ZERO, NUM_OUTCOMES = rows.LEAD_ZERO, len(OUTCOMES)


def decisions_of(design: str) -> tuple[tuple[str, ...], ...]:
    """Return which decisions each network of a design takes."""
    return tuple((one,) for one in DECISIONS) if design == "separate" else (DECISIONS,)


def make_networks(
    design: str,
    *,
    width: int = 256,
    outcomes: str = "",
    dropout: float = 0.0,
    dtype: torch.dtype = torch.float32,
) -> dict[str, KoiKoiTransformer]:
    """Return the networks of a design by name, weights drawn from torch's generator."""
    made: dict[str, Any] = {}
    for decisions in decisions_of(design):
        shared = len(decisions) > 1
        shape = Shape(
            TOKEN_FEATURES,
            GLOBAL_FEATURES,
            hidden=2 * width,
            width=width,
            feed_forward=2 * width,
            outputs=len(decisions) * (len(OUTCOMES) if outcomes else 1),  # of each kind
            norm_first=shared,
        )
        name = "all" if shared else decisions[0]
        made[name] = KoiKoiTransformer(shape, outcomes=outcomes, dropout=dropout, dtype=dtype)
    return made
