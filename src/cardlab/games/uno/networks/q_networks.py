"""Networks that value the 61 outputs of Uno, for encodings of `features`, found by name.

feedforward     input-512-512-61, the paper's
planes          an input layer for each plane of 4 x 15, joined downstream: the paper's future work
convolutional   two layers of 3 x 3 over the planes, then as feedforward
residual        blocks that add to their input
recurrent       a GRU over the events of `fair_log`, beside the rest of the turn
colours         the same small network for each of the four colours, which also sees the mean of
                all four: renaming the colours renames the answer

Each takes `features`, a batch of encoded turns as bytes, and returns a batch of numbers: 61, or
several times 61 if more heads are asked for.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

from cardlab.engine.errors import CardlabError, suggest
from cardlab.games.uno.cards import ACTIONS
from cardlab.games.uno.features import (
    BY_COLOUR,
    COLOUR_ROWS,
    EVENT_SIZE,
    EVENTS,
    FAIR_SIZE,
    NUM_OUTPUTS,
    PLANE,
    PLANES,
    SCALES,
    SEATS,
    SIZES,
)

EVENT_KINDS, EVENT_WIDTH = 72, 32  # what an event can be, as `log_what` + 1; width of its vector


class Head(nn.Linear):
    """A last layer that stays in full precision where the others are computed in half of it.

    The values of two actions often differ by less than bfloat16 can tell.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Return the answer of the layer."""
        if not torch.is_autocast_enabled(x.device.type):
            return super().forward(x)
        with torch.autocast(x.device.type, enabled=False):
            return super().forward(x.float())


class QNetwork(nn.Module):
    """What all share: bytes come in, each multiplied by its scale."""

    def __init__(self, encoding: str, heads: int = 1) -> None:
        super().__init__()
        self.encoding = encoding
        self.heads = heads
        self.num_inputs = SIZES[encoding]
        self.num_planes = PLANES[encoding]
        self.num_outputs = heads * NUM_OUTPUTS
        self.needs_scale = bool((SCALES[encoding] != 1).any())
        self.register_buffer("scale", torch.from_numpy(SCALES[encoding].copy()), persistent=False)

    def scaled(self, features: Tensor) -> Tensor:
        """Return the features as numbers between 0 and about 1."""
        numbers = features.float()
        return numbers * self.get_buffer("scale") if self.needs_scale else numbers


class Feedforward(QNetwork):
    """Fully connected layers."""

    def __init__(self, encoding: str, width: int, layers: int, heads: int) -> None:
        super().__init__(encoding, heads)
        sizes = [self.num_inputs] + layers * [width]
        self.body = nn.Sequential(
            *(
                part
                for above, below in itertools.pairwise(sizes)
                for part in (nn.Linear(above, below), nn.ReLU())
            )
        )
        self.head = Head(width, self.num_outputs)

    def forward(self, features: Tensor) -> Tensor:
        """Return the value of every output."""
        answer: Tensor = self.head(self.body(self.scaled(features)))
        return answer


class Planes(QNetwork):
    """Each plane, and what comes after the planes, has an input layer of its own."""

    def __init__(self, encoding: str, width: int, layers: int, heads: int) -> None:
        super().__init__(encoding, heads)
        each = width // 8
        self.inputs = nn.ModuleList(nn.Linear(PLANE, each) for _ in range(self.num_planes))
        rest = self.num_inputs - PLANE * self.num_planes
        self.rest = nn.Linear(rest, 2 * each) if rest else None
        joined = each * (self.num_planes + (2 if rest else 0))
        self.body = _stack(joined, width, layers)
        self.head = Head(width, self.num_outputs)

    def forward(self, features: Tensor) -> Tensor:
        """Return the value of every output."""
        scaled = self.scaled(features)
        planes = torch.split(scaled[:, : PLANE * self.num_planes], PLANE, dim=1)
        parts = [layer(plane) for layer, plane in zip(self.inputs, planes, strict=True)]
        if self.rest is not None:
            parts.append(self.rest(scaled[:, PLANE * self.num_planes :]))
        answer: Tensor = self.head(self.body(torch.relu(torch.cat(parts, dim=1))))
        return answer


class Convolutional(QNetwork):
    """Planes as the channels of a picture of 4 x 15."""

    def __init__(self, encoding: str, width: int, layers: int, heads: int) -> None:
        super().__init__(encoding, heads)
        channels = width // 16
        self.picture = nn.Sequential(
            nn.Conv2d(self.num_planes, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        rest = self.num_inputs - PLANE * self.num_planes
        self.body = _stack(channels * PLANE + rest, width, layers)
        self.head = Head(width, self.num_outputs)

    def forward(self, features: Tensor) -> Tensor:
        """Return the value of every output."""
        scaled = self.scaled(features)
        end = PLANE * self.num_planes
        seen = self.picture(scaled[:, :end].reshape(-1, self.num_planes, 4, ACTIONS))
        answer: Tensor = self.head(self.body(torch.cat([seen, scaled[:, end:]], dim=1)))
        return answer


class ResidualBlock(nn.Module):
    """Adds to its input what two layers make of it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.change = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the input and the change."""
        return x + self.change(x)


class Residual(QNetwork):
    """Blocks that add to their input; the first layer sets the width."""

    def __init__(self, encoding: str, width: int, layers: int, heads: int) -> None:
        super().__init__(encoding, heads)
        self.first = nn.Linear(self.num_inputs, width)
        self.blocks = nn.Sequential(
            *(ResidualBlock(width) for _ in range(layers)), nn.LayerNorm(width)
        )
        self.head = Head(width, self.num_outputs)

    def forward(self, features: Tensor) -> Tensor:
        """Return the value of every output."""
        answer: Tensor = self.head(self.blocks(self.first(self.scaled(features))))
        return answer


class Recurrent(QNetwork):
    """A GRU reads the last events at the table, oldest first."""

    def __init__(self, encoding: str, width: int, layers: int, heads: int) -> None:
        super().__init__(encoding, heads)
        if encoding != "fair_log":
            raise CardlabError(
                f"the network 'recurrent' reads events, which encoding {encoding!r} has not; "
                "set encoding=fair_log"
            )
        memory = width // 4
        self.who = nn.Embedding(12, EVENT_WIDTH)
        self.what = nn.Embedding(EVENT_KINDS, EVENT_WIDTH)
        self.reader = nn.GRU(EVENT_WIDTH, memory, batch_first=True)
        self.body = _stack(FAIR_SIZE + memory, width, layers)
        self.head = Head(width, self.num_outputs)

    def forward(self, features: Tensor) -> Tensor:
        """Return the value of every output."""
        events = features[:, FAIR_SIZE:].reshape(-1, EVENTS, EVENT_SIZE).long()
        read, _ = self.reader(self.who(events[:, :, 0]) + self.what(events[:, :, 1]))
        turn = self.scaled(features)[:, :FAIR_SIZE]
        answer: Tensor = self.head(self.body(torch.cat([turn, read[:, -1]], dim=1)))
        return answer


class ColourBlock(nn.Module):
    """Changes what is known of each colour by itself and by the mean of all four."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.own = nn.Linear(width, width)
        self.all = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return the input and the change."""
        seen = self.norm(x)
        mixed = self.own(seen) + self.all(seen.mean(dim=1, keepdim=True))
        return x + self.out(torch.relu(mixed))


class Colours(QNetwork):
    """One network for each colour with shared weights; what has no colour goes to all of them."""

    def __init__(self, encoding: str, width: int, layers: int, heads: int) -> None:
        super().__init__(encoding, heads)
        if encoding != "fair":
            raise CardlabError(
                f"the network 'colours' takes the encoding 'fair', not {encoding!r}; "
                "set encoding=fair"
            )
        self.each = nn.Linear(self.num_planes * ACTIONS + COLOUR_ROWS, width)
        self.rest = nn.Linear(FAIR_SIZE - SEATS, width, bias=False)
        self.blocks = nn.Sequential(*(ColourBlock(width) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.play = Head(width, heads * ACTIONS)
        self.draw = Head(width, heads)

    def forward(self, features: Tensor) -> Tensor:
        """Return the value of every output."""
        scaled = self.scaled(features)
        planes = scaled[:, :BY_COLOUR].reshape(-1, self.num_planes, 4, ACTIONS)
        planes = planes.transpose(1, 2).reshape(-1, 4, self.num_planes * ACTIONS)
        rows = scaled[:, BY_COLOUR:SEATS].reshape(-1, COLOUR_ROWS, 4).transpose(1, 2)
        table = self.rest(scaled[:, SEATS:]).unsqueeze(1)
        found = self.norm(self.blocks(self.each(torch.cat([planes, rows], dim=2)) + table))
        play = self.play(found).reshape(-1, 4, self.heads, ACTIONS).transpose(1, 2)
        play = play.reshape(-1, self.heads, 4 * ACTIONS)
        draw = self.draw(found.mean(dim=1)).unsqueeze(2)
        return torch.cat([play, draw], dim=2).reshape(-1, self.num_outputs)


def _stack(inputs: int, width: int, layers: int) -> nn.Sequential:
    """Return fully connected layers of one width."""
    parts: list[nn.Module] = []
    for layer in range(layers):
        parts += [nn.Linear(width if layer else inputs, width), nn.ReLU()]
    return nn.Sequential(*parts)


NETWORKS: dict[str, type[QNetwork]] = {
    "feedforward": Feedforward,
    "planes": Planes,
    "convolutional": Convolutional,
    "residual": Residual,
    "recurrent": Recurrent,
    "colours": Colours,
}


def build(name: str, encoding: str, width: int = 512, layers: int = 2, heads: int = 1) -> QNetwork:
    """Return a new network; its weights come from torch's generator."""
    if name not in NETWORKS:
        raise CardlabError(suggest("network", name, NETWORKS))
    if encoding not in SIZES:
        raise CardlabError(suggest("encoding", encoding, SIZES))
    if width < 16 or width % 16 or layers < 1:
        raise CardlabError(
            f"a network of {layers} layers of {width} cannot be; "
            "give 1 or more layers, and a width that is a multiple of 16"
        )
    return NETWORKS[name](encoding, width, layers, heads)  # type: ignore[call-arg]


def set_bits(sets: Tensor) -> Tensor:
    """Return sets of legal outputs as rows of truth values."""
    places = torch.arange(NUM_OUTPUTS, device=sets.device)
    return (sets.unsqueeze(1) >> places) & 1 == 1
