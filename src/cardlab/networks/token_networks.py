"""Card transformers over rows of bytes, expanded to tokens where the network computes.

The network is that of `card_transformer` in its improved design, one trunk with normalisation
before each part; a game adds an expansion of its rows and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from cardlab.networks.card_transformer import CardTransformer, Shape

__all__ = [
    "Expansion",
    "TokenNetwork",
    "join_features",
    "make_network",
    "one_hot",
    "pad_tokens",
    "split_axis",
]

COLUMNS = 8  # features are padded to a multiple, as tensor cores like


class Expansion(Protocol):
    """A module from rows of bytes to features of tokens and features that all tokens share."""

    dtype: torch.dtype
    token_features: int
    shared_features: int
    row_width: int
    most_choices: int

    def __call__(self, row: Tensor) -> tuple[Tensor, Tensor]:
        """Return (batch, tokens, features) and (batch, features)."""


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
    make_expansion: Callable[[torch.dtype], Expansion],
    *,
    width: int = 256,
    blocks: int = 2,
    dtype: torch.dtype = torch.float32,
) -> TokenNetwork:
    """Return a network for the rows of an expansion, randomly initialised."""
    expansion = make_expansion(dtype)
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


def one_hot(value: Tensor, first: int, count: int, dtype: torch.dtype) -> Tensor:
    """Return one column for each of `count` values from `first` on."""
    values = torch.arange(first, first + count, device=value.device, dtype=torch.int32)
    return (value[..., None] == values).to(dtype)


def split_axis(x: Tensor, rows: int, columns: int) -> Tensor:
    """Return the second axis as rows and columns."""
    return x.reshape(x.shape[0], rows, columns, *x.shape[2:])


def pad_tokens(x: Tensor, tokens: int) -> Tensor:
    """Return features of cards as those of all tokens; they say nothing of the others."""
    return functional.pad(x, (0, 0, 0, tokens - x.shape[1]))


def join_features(parts: list[Tensor]) -> Tensor:
    """Return features side by side, padded to a multiple of columns."""
    whole = torch.cat(parts, dim=-1)
    return functional.pad(whole, (0, -whole.shape[-1] % COLUMNS))
