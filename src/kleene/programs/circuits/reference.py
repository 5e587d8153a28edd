"""The reference interpreter of circuits: plain Python, one module at a time. `Circuit.run` is checked against it."""

from collections.abc import Sequence

from kleene.programs.circuits.circuit import Circuit


def reference_run(circuit: Circuit, memory: Sequence[int], steps: int) -> tuple[list[int], list[int]]:
    """The memory and the registers after `steps` steps; holes are filled with their defaults, as `Circuit.run` does.

    >>> from kleene.programs.circuits.library import get
    >>> reference_run(get("increment").build(), [1, 2, 0], 5)
    ([2, 0, 0], [2, 0])
    """
    circuit, size, cells = circuit.filled(), len(memory), list(memory)
    wiring = circuit.wiring
    registers = {f"r{number}": number % size for number in range(wiring.registers)}
    for _ in range(steps):
        zero = [value == 0 for value in registers.values()]
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
