"""A transformer over cards: every card of a deck is a token, decisions are tokens too.

"Learning to Play Koi-Koi Hanafuda Card Games With Transformers", section IV-A: two position-wise
layers (512, 256) with ReLU, two encoder blocks with normalisation after each residual sum, four
heads, a feed-forward part of 512, one output for each token. With 300 features this has 1,339,905
weights. Nothing here knows a game: a game brings the features of its tokens, those that all tokens
share, and which tokens can be chosen.

Three savings leave the results as they are. Features that all tokens share pass the first layer
once for a position, not once for each token. The last block answers only the tokens that are asked
for, since its output for one token needs keys and values of all, but the query of that one alone.
And rows are padded to the widths that tensor cores like.

`CardTransformer(..., outputs=3, norm_first=True)` is the improved design: one trunk for all kinds
of decisions with an output for each kind, and normalisation before each part, which needs no
careful start. It has a third of the weights of three models, and what it learns from the frequent
decision serves the rare ones.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["CardTransformer", "Shape", "count_weights"]


@dataclass(frozen=True)
class Shape:
    """What makes one network differ from another: the paper's numbers unless one changes them."""

    token_features: int
    shared_features: int
    hidden: int = 512
    width: int = 256
    heads: int = 4
    blocks: int = 2
    feed_forward: int = 512
    outputs: int = 1
    norm_first: bool = False

    def about(self) -> dict[str, Any]:
        """Return the shape as plain data."""
        return asdict(self)


class Attention(nn.Module):
    """Multi-head attention of some tokens to all tokens."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.into = nn.Linear(width, 3 * width)  # queries, keys, values
        self.out = nn.Linear(width, width)
        nn.init.xavier_uniform_(self.into.weight)
        nn.init.zeros_(self.into.bias)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor, asked: Tensor | None = None) -> Tensor:
        """Return what the `asked` of the tokens `x` draw from all of them; None asks all."""
        width = x.shape[-1]
        weight, bias = self.into.weight.to(x.dtype), self.into.bias.to(x.dtype)
        if asked is None:
            query, key, value = functional.linear(x, weight, bias).chunk(3, dim=-1)
        else:
            query = functional.linear(asked, weight[:width], bias[:width])
            key, value = functional.linear(x, weight[width:], bias[width:]).chunk(2, dim=-1)
        found = functional.scaled_dot_product_attention(
            self._split(query), self._split(key), self._split(value)
        )
        joined = found.transpose(1, 2).reshape(query.shape)
        return functional.linear(joined, self.out.weight.to(x.dtype), self.out.bias.to(x.dtype))

    def weights(self, x: Tensor) -> Tensor:
        """Return how much each token attends to each, for every head."""
        both = functional.linear(x, self.into.weight.to(x.dtype), self.into.bias.to(x.dtype))
        query, key, _ = both.chunk(3, dim=-1)
        scores = self._split(query) @ self._split(key).transpose(-1, -2)
        return torch.softmax(scores.float() / (x.shape[-1] // self.heads) ** 0.5, dim=-1)

    def _split(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)


class EncoderBlock(nn.Module):
    """One encoder block, normalised after each residual sum or before each part."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.norm_first = shape.norm_first
        self.dropout = dropout
        self.attention = Attention(shape.width, shape.heads)
        self.wide = nn.Linear(shape.width, shape.feed_forward)
        self.narrow = nn.Linear(shape.feed_forward, shape.width)
        self.norm_attention = nn.LayerNorm(shape.width)
        self.norm_feed_forward = nn.LayerNorm(shape.width)

    def forward(self, x: Tensor, places: Tensor | None = None) -> Tensor:
        """Return the block's output for the tokens at `places`, or for all."""
        calm = _norm(self.norm_attention, x) if self.norm_first else x
        drawn = self.attention(calm, None if places is None else _at(calm, places))
        if places is not None:
            # Few tokens are left: from here on in float32, for values of actions are often closer
            # to each other than half precision can tell.
            x, drawn = _at(x, places).float(), drawn.float()
        x = x + self._drop(drawn)
        if self.norm_first:
            return x + self._drop(self._feed_forward(_norm(self.norm_feed_forward, x)))
        x = _norm(self.norm_attention, x)
        return _norm(self.norm_feed_forward, x + self._drop(self._feed_forward(x)))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return _linear(self.narrow, self._drop(torch.relu(_linear(self.wide, x))))

    def _drop(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropout, self.training) if self.dropout else x


class CardTransformer(nn.Module):
    """Values of tokens from their features; it computes in `dtype`, its weights stay in float32."""

    def __init__(
        self, shape: Shape, *, dropout: float = 0.0, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.shape, self.dtype, self.dropout = shape, dtype, dropout
        self.first = nn.Linear(shape.token_features + shape.shared_features, shape.hidden)
        self.second = nn.Linear(shape.hidden, shape.width)
        self.blocks = nn.ModuleList(EncoderBlock(shape, dropout) for _ in range(shape.blocks))
        self.last = nn.Linear(shape.width, shape.outputs)
        self.norm_last = nn.LayerNorm(shape.width) if shape.norm_first else None

    def forward(self, tokens: Tensor, shared: Tensor, places: Tensor | None = None) -> Tensor:
        """Return (batch, places, outputs) values.

        `tokens` is (batch, tokens, features), `shared` (batch, features); both may be padded with
        columns of zeros. `places` (batch, n) are the tokens asked for; None asks for all.
        """
        x = self.embed(tokens, shared)
        for number, block in enumerate(self.blocks):
            x = block(x, places if number == len(self.blocks) - 1 else None)
        if self.norm_last is not None:
            x = _norm(self.norm_last, x)
        return _linear(self.last, x.float())

    def embed(self, tokens: Tensor, shared: Tensor) -> Tensor:
        """Return the tokens after the two position-wise layers."""
        own, weight = self.shape.token_features, self.first.weight.to(self.dtype)
        of_token = _padded(weight[:, :own], tokens.shape[-1])
        of_all = _padded(weight[:, own:], shared.shape[-1])
        both = functional.linear(shared.to(self.dtype), of_all, self.first.bias.to(self.dtype))
        x = torch.relu(functional.linear(tokens.to(self.dtype), of_token) + both[:, None])
        if self.dropout:
            x = functional.dropout(x, self.dropout, self.training)
        return torch.relu(_linear(self.second, x))

    def attention(self, tokens: Tensor, shared: Tensor) -> list[Tensor]:
        """Return the attention weights of every block: (batch, heads, tokens, tokens)."""
        x, found = self.embed(tokens, shared), []
        for block in self.blocks:
            assert isinstance(block, EncoderBlock)
            calm = _norm(block.norm_attention, x) if self.shape.norm_first else x
            found.append(block.attention.weights(calm))
            x = block(x)
        return found


def count_weights(model: nn.Module) -> int:
    """Return how many weights a network learns."""
    return sum(one.numel() for one in model.parameters())


def _linear(layer: nn.Linear, x: Tensor) -> Tensor:
    return functional.linear(x, layer.weight.to(x.dtype), layer.bias.to(x.dtype))


def _norm(layer: nn.LayerNorm, x: Tensor) -> Tensor:
    weight, bias = layer.weight.to(x.dtype), layer.bias.to(x.dtype)
    return functional.layer_norm(x, layer.normalized_shape, weight, bias, layer.eps)


def _padded(weight: Tensor, columns: int) -> Tensor:
    missing = columns - weight.shape[1]
    return functional.pad(weight, (0, missing)) if missing else weight


def _at(x: Tensor, places: Tensor) -> Tensor:
    return x.gather(1, places[:, :, None].expand(-1, -1, x.shape[-1]))
