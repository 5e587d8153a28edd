"""What `plus_one` has to compute, and its inputs: bits, and a 2 at the end."""

from collections.abc import Iterator
from itertools import product
from random import Random


def reference(tokens: list) -> list:
    bits = tokens[:-1]
    number = int("".join(map(str, bits)), 2) + 1
    return [*(number >> place & 1 for place in reversed(range(len(bits)))), 2]


def every(size: int) -> Iterator[list]:
    for length in range(1, size):
        for bits in product((0, 1), repeat=length):
            yield [*bits, 2]


def sample(chance: Random, size: int) -> list:
    return [*(chance.randrange(2) for _ in range(size - 1)), 2]
