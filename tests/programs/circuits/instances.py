"""Random memories for each circuit of the shelf, in plain Python, and a plain interpreter to compare with."""

from random import Random

from kleene.programs.circuits import Circuit


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


def plain_run(circuit: Circuit, memory: list[int], steps: int) -> tuple[list[int], list[int]]:
    """The memory and the registers after so many steps of a complete circuit, by names and one thing at a time."""
    size, cells = len(memory), list(memory)
    wiring = circuit.wiring
    registers = {f"r{number}": number % size for number in range(wiring.registers)}
    for _ in range(steps):
        zero = [registers[f"r{number}"] == 0 for number in range(wiring.registers)]
        block = next(b for b in circuit.blocks if all(s == "-" or (s == "0") == z for s, z in zip(b.pattern, zero)))
        wired = {c.name: wiring.sources[choice] for c, choice in zip(wiring.connections, block.choices)}
        known = dict(registers)
        for name in wiring.names:
            a, b = (known.get(wired.get(f"{name}.{slot}", ""), 0) for slot in "ab")
            known[name] = {
                "ZERO": 0, "ONE": 1, "TWO": 2, "INC": a + 1, "DEC": a - 1, "ADD": a + b, "SUB": a - b, "LT": int(a < b),
                "LEQ": int(a <= b), "EQ": int(a == b), "MIN": min(a, b), "MAX": max(a, b), "READ": cells[a], "WRITE": 0,
            }[name.rstrip("0123456789")] % size  # fmt: skip
            if name.startswith("WRITE"):
                cells[a] = b
        registers = {register: known[wired[f"{register}.c"]] for register in registers}
    return cells, list(registers.values())
