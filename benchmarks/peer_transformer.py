"""A Transformer with shared weights in plain, eager PyTorch: what a person would write, as the peer of
`kleene bench learnability`. The network, the batch, the noise and the loss are those of `kleene teach parity_relative`.
"""

import math
import random
import time

import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]

SYMBOLS, START = 3, 2


class EagerTransformer(nn.Module):
    """One layer, repeated: attention with biases by distance, an MLP, a norm after each, and linear readings."""

    def __init__(self, width: int, heads: int, units: int, reach: int, values: int) -> None:
        super().__init__()
        self.width, self.heads, self.reach = width, heads, reach
        self.embedding = nn.Embedding(SYMBOLS, width)
        self.projected = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.distances = nn.Parameter(torch.zeros(heads, 2 * reach + 1))
        self.units, self.mlp_out = nn.Linear(width, units), nn.Linear(units, width)
        self.gains = nn.Parameter(torch.ones(2, width))
        self.readings = nn.Linear(width, values)

    def normed(self, stream: torch.Tensor) -> torch.Tensor:
        return nn.functional.layer_norm(stream, (self.width,), eps=1e-5)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor, layers: int, noise: float) -> torch.Tensor:
        """The logits of all variables at the start and after each layer: (step, batch, position, values)."""
        batch, size = tokens.shape
        at = torch.arange(size)
        distance = (at[None] - at[:, None]).clamp(-self.reach, self.reach) + self.reach
        outside = at >= lengths[:, None]
        bias = self.distances[:, distance][None].masked_fill(outside[:, None, None], -math.inf)
        scale = (torch.log(lengths + 2.0) / math.log(10.0) / (self.width // self.heads) ** 0.5)[:, None, None, None]
        stream = self.normed(self.embedding(tokens))
        states = [stream]
        for _ in range(layers):
            read = stream + noise * torch.randn_like(stream)
            parts = self.projected(read).view(batch, size, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            logits = parts[0] @ parts[1].transpose(-1, -2) * scale + bias
            mixed = (torch.softmax(logits, dim=-1) @ parts[2]).transpose(1, 2).reshape(batch, size, self.width)
            stream = self.normed(read + self.out(mixed)) * self.gains[0]
            stream = self.normed(stream + self.mlp_out(torch.relu(self.units(stream)))) * self.gains[1]
            states.append(stream)
        return self.readings(torch.stack(states))


def parity_batch(
    rng: random.Random, batch: int, longest: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Words of START and random bits, their lengths, and the parity and `done` after each layer."""
    size = longest + 1
    tokens, lengths = torch.zeros(batch, size, dtype=torch.long), torch.zeros(batch, dtype=torch.long)
    for row in range(batch):
        bits = [rng.randrange(2) for _ in range(rng.randint(1, longest))]
        tokens[row, : len(bits) + 1] = torch.tensor([START, *bits])
        lengths[row] = len(bits) + 1
    ones = (tokens == 1).long()
    layer, at = torch.arange(size)[:, None, None], torch.arange(size)
    done = (at <= layer).long().expand(size, batch, size)
    parity = torch.where(done.bool(), ones.cumsum(dim=1) % 2, ones)
    return tokens, lengths, parity, done


def updates_a_second(
    updates: int = 20, *, batch: int, longest: int, width: int, heads: int, units: int, reach: int, noise: float
) -> float:
    """Updates a second of one network that learns parity with all hints."""
    torch.manual_seed(0)
    rng, layers = random.Random(0), longest
    network = EagerTransformer(width, heads, units, reach, 4)
    adam = torch.optim.Adam(network.parameters(), lr=3e-3)
    started = time.perf_counter()
    for _ in range(updates):
        tokens, lengths, parity, done = parity_batch(rng, batch, longest)
        logits = network(tokens, lengths, layers, noise)
        at = torch.arange(longest + 1)
        inside = at < lengths[:, None]
        ran = (torch.arange(layers + 1)[:, None] < lengths)[..., None] & inside
        last = logits[lengths - 1, torch.arange(batch)]
        loss = nn.functional.cross_entropy(last[inside][:, :2], (parity[lengths - 1, torch.arange(batch)])[inside])
        for first, target in ((0, parity), (2, done)):
            loss = loss + nn.functional.cross_entropy(logits[ran][:, first : first + 2], target[ran]) / 2
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adam.step()
    return updates / (time.perf_counter() - started)
