"""What `add_cells` has to leave in the memory, and its inputs: three cells or more."""

from collections.abc import Iterator
from itertools import product
from random import Random


def reference(memory: list) -> list:
    return [*memory[:2], (memory[0] + memory[1]) % len(memory), *memory[3:]]


def every(size: int) -> Iterator[list]:
    for cells in range(3, size + 1):
        for values in product(range(cells), repeat=3):
            yield [*values, *range(1, cells - 2)]


def sample(chance: Random, size: int) -> list:
    return [chance.randrange(size) for _ in range(size)]
