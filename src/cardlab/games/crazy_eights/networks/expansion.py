"""From rows of bytes to the tokens of Crazy Eights, for card transformers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from cardlab.games.crazy_eights import tokens as encoding
from cardlab.games.crazy_eights.hidden_hands import DECK
from cardlab.games.crazy_eights.rules import FIRST_EIGHT, MAX_SEATS
from cardlab.networks.token_networks import join_features, one_hot, pad_tokens, split_axis

RANKS = DECK // 4


class CrazyEightsExpansion(nn.Module):
    """From rows of `crazy_eights.tokens` to features of tokens and shared ones."""

    attributes: Tensor

    token_features, shared_features = encoding.TOKEN_FEATURES, encoding.SHARED_FEATURES
    row_width, most_choices = encoding.WIDTH, encoding.MOST_CHOICES

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype
        cards = torch.arange(encoding.PASS_TOKEN)
        special = torch.zeros(encoding.TOKENS, 4 + RANKS + 3)
        special[: len(cards), :4] = functional.one_hot(cards % 4, 4).float()
        ranks = torch.where(cards < DECK, cards // 4, FIRST_EIGHT // 4)
        special[: len(cards), 4:-3] = functional.one_hot(ranks, RANKS).float()
        special[encoding.EIGHT_TOKEN : encoding.PASS_TOKEN, -3] = 1
        special[encoding.PASS_TOKEN, -2] = special[encoding.DRAW_TOKEN, -1] = 1
        self.register_buffer("attributes", special, persistent=False)

    def forward(self, row: Tensor) -> tuple[Tensor, Tensor]:
        """Return (batch, 58, ...) and (batch, ...), each filled up with zeros."""
        row = row.to(torch.int32)
        zone = row[:, :DECK] % encoding.LEGAL
        at = one_hot(zone, 0, len(encoding.ZONES), self.dtype)
        laid = row[:, encoding.LAID : encoding.HELD] - 1
        was_laid = (laid >= 0)[..., None].to(self.dtype)
        by = one_hot(laid // encoding.AGES, 0, MAX_SEATS, self.dtype) * was_laid
        ago = one_hot(laid % encoding.AGES, 0, encoding.AGES, self.dtype) * was_laid
        held = split_axis(row[:, encoding.HELD : encoding.LACKING], -1, DECK).transpose(1, 2)
        of_cards = torch.cat([by, ago, held.to(self.dtype) / 5], dim=-1)
        tokens = [
            pad_tokens(at, encoding.TOKENS),
            self._legal(row),
            pad_tokens(of_cards, encoding.TOKENS),
            pad_tokens(self._of_suits_and_ranks(row, at), encoding.TOKENS),
            self.attributes.to(self.dtype).expand(row.shape[0], -1, -1),
        ]
        return join_features(tokens), self._of_game(row, zone)

    def _legal(self, row: Tensor) -> Tensor:
        cards = row[:, :DECK] >= encoding.LEGAL
        eight = row[:, encoding.EIGHT_LEGAL, None].expand(-1, 4) > 0
        rest = row[:, encoding.PASS_LEGAL : encoding.DRAW_LEGAL + 1] > 0
        return torch.cat([cards, eight, rest], dim=1)[..., None].to(self.dtype)

    def _of_suits_and_ranks(self, row: Tensor, at: Tensor) -> Tensor:
        """Return what tokens with a suit share with others of it, and of their rank."""
        lacking = split_axis(row[:, encoding.LACKING : encoding.SUIT], -1, 4).transpose(1, 2)
        cards = torch.stack([at[..., encoding.MINE], at[..., encoding.UNSEEN]], dim=-1)
        grid = split_axis(cards, RANKS, 4)
        of_suit, of_rank = grid.sum(1), grid.sum(2)  # (batch, 4, 2), (batch, 13, 2)
        force = row[:, encoding.SUIT : encoding.SUIT + 4, None].to(self.dtype)
        suits = torch.cat([lacking.to(self.dtype) / 5, of_suit, force], dim=-1)
        suits = suits.repeat(1, RANKS + 1, 1)
        eight = of_rank[:, FIRST_EIGHT // 4, None].expand(-1, 4, -1)
        ranks = torch.cat([of_rank.repeat_interleave(4, dim=1), eight], dim=1)
        return torch.cat(
            [
                suits[..., : MAX_SEATS - 1],
                suits[..., -3, None] / 5,
                ranks[..., 0, None] / 5,
                suits[..., -2, None] / 13,
                ranks[..., 1, None] / 4,
                suits[..., -1, None],
            ],
            dim=-1,
        )

    def _of_game(self, row: Tensor, zone: Tensor) -> Tensor:
        number = row.to(self.dtype)
        sizes = row[:, encoding.SIZES : encoding.STOCK]
        few = [((sizes <= most) & (sizes > 0)).to(self.dtype) for most in (1, 2, 3)]
        top = split_axis(zone == encoding.TOP, RANKS, 4).any(2)
        parts = [
            number[:, encoding.SUIT : encoding.SUIT + 4],
            top.to(self.dtype),
            sizes.to(self.dtype) / 8,
            torch.stack(few, dim=2).flatten(1),
            number[:, encoding.STOCK, None] / 52,
            number[:, encoding.DREW, None] / 5,
            number[:, encoding.PASSES, None] / 4,
            one_hot(row[:, encoding.SEATS], 2, MAX_SEATS - 1, self.dtype),
            number[:, encoding.RESHUFFLES : encoding.DRAWS_AT_WILL + 1],
            number[:, encoding.PLIES, None] / 50,
        ]
        return join_features(parts)
