"""An NTM in plain, eager PyTorch: what a person would write, as the peer of `kleene bench teach`."""

import time

import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]

SYMBOLS, CELLS, WIDTH, HIDDEN = 10, 32, 8, 50


class EagerNTM(nn.Module):
    """One read and one write head, a feed-forward controller of 2×50 units, memory 32×8."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(SYMBOLS + WIDTH, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.heads = nn.ModuleList(nn.Linear(HIDDEN, WIDTH + 6) for _ in range(2))
        self.erase, self.add = nn.Linear(HIDDEN, WIDTH), nn.Linear(HIDDEN, WIDTH)
        self.out = nn.Linear(HIDDEN, SYMBOLS)

    def address(self, said: torch.Tensor, before: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        key, rest = said[:, :WIDTH], said[:, WIDTH:]
        strength = nn.functional.softplus(rest[:, :1])
        near = nn.functional.cosine_similarity(memory, key[:, None], dim=-1, eps=1e-6)
        content = torch.softmax(strength * near, dim=-1)
        gate = torch.sigmoid(rest[:, 1:2])
        moved = gate * content + (1 - gate) * before
        shift = torch.softmax(rest[:, 2:5], dim=-1)
        moved = sum(shift[:, n : n + 1] * torch.roll(moved, n - 1, dims=-1) for n in range(3))
        sharp = (moved + 1e-12) ** (1 + nn.functional.softplus(rest[:, 5:6]))
        return sharp / sharp.sum(dim=-1, keepdim=True)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        batch = inputs.shape[1]
        memory = torch.full((batch, CELLS, WIDTH), 1e-3)
        read = write = torch.eye(CELLS)[0].expand(batch, CELLS)
        value, said = torch.zeros(batch, WIDTH), []
        for entry in inputs:
            state = torch.tanh(self.second(torch.tanh(self.first(torch.cat([entry, value], dim=-1)))))
            read = self.address(self.heads[0](state), read, memory)
            write = self.address(self.heads[1](state), write, memory)
            value = (read[:, None] @ memory)[:, 0]
            erased = 1 - write[..., None] * torch.tanh(self.erase(state))[:, None]
            memory = memory * erased + write[..., None] * torch.tanh(self.add(state))[:, None]
            said.append(self.out(state))
        return torch.stack(said)


def iterations_a_second(iterations: int = 20, batch: int = 32, longest: int = 5) -> float:
    """Updates a second of one network on Copy, lengths 1 to 5."""
    torch.manual_seed(0)
    network = EagerNTM()
    adam = torch.optim.Adam(network.parameters(), lr=1e-3)
    started = time.perf_counter()
    for _ in range(iterations):
        length = int(torch.randint(1, longest + 1, ()))
        payload = torch.randint(0, SYMBOLS - 2, (length, batch))
        steps = 2 * length + 2
        inputs = torch.zeros(steps, batch, SYMBOLS)
        inputs[:length] = nn.functional.one_hot(payload, SYMBOLS).float()
        inputs[length, :, SYMBOLS - 2] = 1
        inputs[length + 1 :, :, SYMBOLS - 1] = 1
        target = torch.cat([payload, torch.full((1, batch), SYMBOLS - 2)])
        said = network(inputs)[length + 1 :]
        loss = nn.functional.cross_entropy(said.reshape(-1, SYMBOLS), target.reshape(-1))
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 10.0)
        adam.step()
    return iterations / (time.perf_counter() - started)
