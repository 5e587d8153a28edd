"""What `total` has to leave in the memory, and its inputs: numbers that are not 0, and a 0 behind them."""

from collections.abc import Iterator
from itertools import product
from random import Random


def reference(memory: list) -> list:
    return [*memory[:-1], sum(memory) % len(memory)]


def every(size: int) -> Iterator[list]:
    for cells in range(3, size + 1):
        for values in product(range(1, cells), repeat=cells - 1):
            yield [*values, 0]


def sample(chance: Random, size: int) -> list:
    return [*(chance.randrange(1, size) for _ in range(size - 1)), 0]
