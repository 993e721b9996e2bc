"""From rows of the encoding `fair` to the tokens of Uno, for card transformers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from cardlab.games.uno import tokens as encoding
from cardlab.games.uno.cards import ACTIONS
from cardlab.games.uno.features import (
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
from cardlab.networks.token_networks import join_features, pad_tokens, split_axis


class UnoExpansion(nn.Module):
    """From rows of the encoding `fair` to features of tokens and shared ones."""

    attributes: Tensor
    scales: Tensor

    token_features, shared_features = encoding.TOKEN_FEATURES, encoding.SHARED_FEATURES
    row_width, most_choices = encoding.WIDTH, encoding.MOST_CHOICES

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype
        cards = torch.arange(PLANE)
        special = torch.zeros(encoding.TOKENS, 4 + ACTIONS + 1)
        special[:PLANE, :4] = functional.one_hot(cards // ACTIONS, 4).float()
        special[:PLANE, 4:-1] = functional.one_hot(cards % ACTIONS, ACTIONS).float()
        special[PLANE, -1] = 1
        self.register_buffer("attributes", special, persistent=False)
        self.register_buffer("scales", torch.from_numpy(SCALES["fair"]), persistent=False)

    def forward(self, row: Tensor) -> tuple[Tensor, Tensor]:
        """Return (batch, 61, ...) and (batch, ...), each filled up with zeros."""
        number = row.to(self.dtype) * self.scales.to(self.dtype)
        planes = split_axis(number[:, :BY_COLOUR], -1, PLANE).transpose(1, 2)
        colours = number[:, BY_COLOUR:SEATS]
        of_colour = split_axis(colours, -1, 4).transpose(1, 2)
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
        tokens = join_features([pad_tokens(of_cards, encoding.TOKENS), fixed])
        shared = [colours, number[:, SEATS:TABLE], number[:, TABLE:HOW_MANY]]
        return tokens, join_features(
            [*shared, number[:, HOW_MANY:], self._by_trait(number, TARGET)]
        )

    def _by_trait(self, number: Tensor, *planes: int) -> Tensor:
        """Return the sum of some planes over the colours: (batch, traits)."""
        whole = sum(number[:, plane : plane + PLANE] for plane in planes)
        assert isinstance(whole, Tensor)
        return split_axis(whole, 4, ACTIONS).sum(1)
