"""Card transformers of Crazy Eights and Uno: rows of bytes expanded to tokens where they compute.

The network is that of `card_transformer` in its improved design, one trunk with normalisation
before each part; a game adds an expansion of its rows (`features.tokens_*`) and nothing else.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from cardlab.features import tokens_crazy_eights as eights
from cardlab.features import tokens_uno as uno
from cardlab.features.uno import (
    BY_COLOUR,
    HOW_MANY,
    OWN,
    OWN_TWICE,
    PLANE,
    SCALES,
    SEATS,
    TABLE,
    TARGET,
    UNSEEN,
    UNSEEN_TWICE,
)
from cardlab.games.crazy_eights import FIRST_EIGHT, MAX_SEATS
from cardlab.games.crazy_eights_knowledge import DECK
from cardlab.games.uno_cards import ACTIONS
from cardlab.networks.card_transformer import CardTransformer, Shape

__all__ = ["CrazyEightsExpansion", "TokenNetwork", "UnoExpansion", "make_network"]

WIDE = 8  # columns are padded to a multiple, as tensor cores like
RANKS = DECK // 4


class CrazyEightsExpansion(nn.Module):
    """From rows of `features.tokens_crazy_eights` to features of tokens and shared ones."""

    attributes: Tensor

    token_features, shared_features = eights.TOKEN_FEATURES, eights.SHARED_FEATURES
    row_width, most_choices = eights.WIDTH, eights.MOST_CHOICES

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype
        tokens = torch.arange(eights.PASS_TOKEN)
        special = torch.zeros(eights.TOKENS, 4 + RANKS + 3)
        special[: len(tokens), :4] = functional.one_hot(tokens % 4, 4).float()
        ranks = torch.where(tokens < DECK, tokens // 4, FIRST_EIGHT // 4)
        special[: len(tokens), 4:-3] = functional.one_hot(ranks, RANKS).float()
        special[eights.EIGHT_TOKEN : eights.PASS_TOKEN, -3] = 1
        special[eights.PASS_TOKEN, -2] = special[eights.DRAW_TOKEN, -1] = 1
        self.register_buffer("attributes", special, persistent=False)

    def forward(self, row: Tensor) -> tuple[Tensor, Tensor]:
        """Return (batch, 58, ...) and (batch, ...), each filled up with zeros."""
        row = row.to(torch.int32)
        zone = row[:, :DECK] % eights.LEGAL
        at = _told(zone, 0, len(eights.ZONES), self.dtype)
        laid = row[:, eights.LAID : eights.HELD] - 1
        was_laid = (laid >= 0)[..., None].to(self.dtype)
        by = _told(laid // eights.AGES, 0, MAX_SEATS, self.dtype) * was_laid
        ago = _told(laid % eights.AGES, 0, eights.AGES, self.dtype) * was_laid
        held = _cut(row[:, eights.HELD : eights.LACKING], -1, DECK).transpose(1, 2)
        of_cards = torch.cat([by, ago, held.to(self.dtype) / 5], dim=-1)
        tokens = [
            _extended(at, eights.TOKENS),
            self._legal(row),
            _extended(of_cards, eights.TOKENS),
            _extended(self._of_suits_and_ranks(row, at), eights.TOKENS),
            self.attributes.to(self.dtype).expand(row.shape[0], -1, -1),
        ]
        return _filled(tokens), self._of_game(row, zone)

    def _legal(self, row: Tensor) -> Tensor:
        cards = row[:, :DECK] >= eights.LEGAL
        eight = row[:, eights.EIGHT_LEGAL, None].expand(-1, 4) > 0
        rest = row[:, eights.PASS_LEGAL : eights.DRAW_LEGAL + 1] > 0
        return torch.cat([cards, eight, rest], dim=1)[..., None].to(self.dtype)

    def _of_suits_and_ranks(self, row: Tensor, at: Tensor) -> Tensor:
        """Return what tokens with a suit share with others of it, and of their rank."""
        lacking = _cut(row[:, eights.LACKING : eights.SUIT], -1, 4).transpose(1, 2)
        cards = torch.stack([at[..., eights.MINE], at[..., eights.UNSEEN]], dim=-1)
        grid = _cut(cards, RANKS, 4)
        of_suit, of_rank = grid.sum(1), grid.sum(2)  # (batch, 4, 2), (batch, 13, 2)
        force = row[:, eights.SUIT : eights.SUIT + 4, None].to(self.dtype)
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
        sizes = row[:, eights.SIZES : eights.STOCK]
        few = [((sizes <= most) & (sizes > 0)).to(self.dtype) for most in (1, 2, 3)]
        top = _cut(zone == eights.TOP, RANKS, 4).any(2)
        parts = [
            number[:, eights.SUIT : eights.SUIT + 4],
            top.to(self.dtype),
            sizes.to(self.dtype) / 8,
            torch.stack(few, dim=2).flatten(1),
            number[:, eights.STOCK, None] / 52,
            number[:, eights.DREW, None] / 5,
            number[:, eights.PASSES, None] / 4,
            _told(row[:, eights.SEATS], 2, MAX_SEATS - 1, self.dtype),
            number[:, eights.RESHUFFLES : eights.DRAWS_AT_WILL + 1],
            number[:, eights.PLIES, None] / 50,
        ]
        return _filled(parts)


class UnoExpansion(nn.Module):
    """From rows of the encoding `fair` to features of tokens and shared ones."""

    attributes: Tensor
    scales: Tensor

    token_features, shared_features = uno.TOKEN_FEATURES, uno.SHARED_FEATURES
    row_width, most_choices = uno.WIDTH, uno.MOST_CHOICES

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype
        cards = torch.arange(PLANE)
        special = torch.zeros(uno.TOKENS, 4 + ACTIONS + 1)
        special[:PLANE, :4] = functional.one_hot(cards // ACTIONS, 4).float()
        special[:PLANE, 4:-1] = functional.one_hot(cards % ACTIONS, ACTIONS).float()
        special[PLANE, -1] = 1
        self.register_buffer("attributes", special, persistent=False)
        self.register_buffer("scales", torch.from_numpy(SCALES["fair"]), persistent=False)

    def forward(self, row: Tensor) -> tuple[Tensor, Tensor]:
        """Return (batch, 61, ...) and (batch, ...), each filled up with zeros."""
        number = row.to(self.dtype) * self.scales.to(self.dtype)
        planes = _cut(number[:, :BY_COLOUR], -1, PLANE).transpose(1, 2)
        colours = number[:, BY_COLOUR:SEATS]
        of_colour = _cut(colours, -1, 4).transpose(1, 2)
        traits = [self._by_trait(number, OWN, OWN_TWICE) / 4]
        traits.append(self._by_trait(number, UNSEEN, UNSEEN_TWICE) / 8)
        of_cards = torch.cat(
            [
                planes,
                of_colour.repeat_interleave(ACTIONS, dim=1),
                torch.stack(traits, dim=-1).repeat(1, 4, 1),
            ],
            dim=-1,
        )
        fixed = self.attributes.to(self.dtype).expand(row.shape[0], -1, -1)
        tokens = _filled([_extended(of_cards, uno.TOKENS), fixed])
        shared = [colours, number[:, SEATS:TABLE], number[:, TABLE:HOW_MANY]]
        return tokens, _filled([*shared, number[:, HOW_MANY:], self._by_trait(number, TARGET)])

    def _by_trait(self, number: Tensor, *planes: int) -> Tensor:
        """Return the sum of some planes over the colours: (batch, traits)."""
        whole = sum(number[:, plane : plane + PLANE] for plane in planes)
        assert isinstance(whole, Tensor)
        return _cut(whole, 4, ACTIONS).sum(1)


Expansion = CrazyEightsExpansion | UnoExpansion
EXPANSIONS: dict[str, type[Expansion]] = {
    "crazy_eights": CrazyEightsExpansion,
    "uno": UnoExpansion,
}


class TokenNetwork(nn.Module):
    """Values of the choices of decisions, straight from their rows of bytes."""

    def __init__(self, expansion: Expansion, shape: Shape) -> None:
        super().__init__()
        self.expansion = expansion
        self.network = CardTransformer(shape, dtype=expansion.dtype)

    def forward(self, rows: Tensor, choices: Tensor) -> Tensor:
        """Return the value of each of the tokens `choices` (batch, n)."""
        tokens, shared = self.expansion(rows)
        values: Tensor = self.network(tokens, shared, choices.long())
        return values.squeeze(-1)


def make_network(
    game: str, *, width: int = 256, blocks: int = 2, dtype: torch.dtype = torch.float32
) -> TokenNetwork:
    """Return a network for a game, weights drawn from torch's generator."""
    expansion = EXPANSIONS[game](dtype)
    shape = Shape(
        expansion.token_features,
        expansion.shared_features,
        hidden=2 * width,
        width=width,
        blocks=blocks,
        feed_forward=2 * width,
        norm_first=True,
    )
    return TokenNetwork(expansion, shape)


def _told(value: Tensor, first: int, count: int, dtype: torch.dtype) -> Tensor:
    """Return one column for each of `count` values from `first` on."""
    values = torch.arange(first, first + count, device=value.device, dtype=torch.int32)
    return (value[..., None] == values).to(dtype)


def _cut(x: Tensor, rows: int, columns: int) -> Tensor:
    """Return the second axis as rows and columns."""
    return x.reshape(x.shape[0], rows, columns, *x.shape[2:])


def _extended(x: Tensor, tokens: int) -> Tensor:
    """Return features of cards as those of all tokens; they say nothing of the others."""
    return functional.pad(x, (0, 0, 0, tokens - x.shape[1]))


def _filled(parts: list[Tensor]) -> Tensor:
    whole = torch.cat(parts, dim=-1)
    return functional.pad(whole, (0, -whole.shape[-1] % WIDE))
