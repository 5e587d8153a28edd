"""Random memories for each circuit of the shelf, in plain Python."""

from random import Random


def swap(random: Random) -> list[int]:
    size = random.randint(5, 14)
    values = [random.randrange(1, size) for _ in range(size - 3)]
    return [random.randrange(size - 3), random.randrange(size - 3), *values, 0]


def increment(random: Random) -> list[int]:
    size = random.randint(3, 14)
    return [*(random.randrange(1, size) for _ in range(size - 1)), 0]


def permute(random: Random) -> list[int]:
    length, padding = random.randint(1, 6), random.randint(0, 1)
    size = 2 * length + 1 + padding
    order = random.sample(range(length), length)
    return [length + 1, *order, *(random.randrange(size) for _ in range(length)), *[0] * padding]


def list_k(random: Random) -> list[int]:
    length, padding = random.randint(2, 6), random.randint(0, 1)
    size = 3 + 2 * length + padding
    memory = [0] * size
    nodes = random.sample(range(3, 3 + 2 * length, 2), length)
    for node, after in zip(nodes, [*nodes[1:], 0]):
        memory[node : node + 2] = [after, random.randrange(size)]
    memory[:3] = [nodes[0], random.randrange(length), 2]
    return memory


def merge(random: Random) -> list[int]:
    first, second, padding = random.randint(1, 4), random.randint(1, 4), random.randint(0, 1)
    size = 2 * (first + second) + 5 + padding
    lists = [sorted(random.randrange(1, size) for _ in range(count)) for count in (first, second)]
    heads = [3, 4 + first, 5 + first + second]
    return [*heads, *lists[0], 0, *lists[1], 0, *[0] * (first + second + padding)]
