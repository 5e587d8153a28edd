"""Circuits for the command line: a shelf of examples, how a memory is typed, and how a run is shown.

The examples are the five circuits that the partial-traces paper teaches; they are files in `texts/`. NRAMs that run
circuits are typed and shown in the same way.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from random import Random
from typing import Any

from kleene.errors import InputError
from kleene.notation.console import Entry, Shelf, Telling
from kleene.notation.edits import Edit
from kleene.programs.circuits.circuit import Circuit
from kleene.traces import Trace


@cache
def stored(name: str) -> Circuit:
    """The circuit in `texts/NAME.nram`."""
    return Circuit.from_text(text_of(name), name)


def text_of(name: str) -> str:
    """The content of `texts/NAME.nram`, comments included."""
    return resources.files("kleene.programs.circuits").joinpath("texts", f"{name}.nram").read_text("utf-8")


def swap(memory: Sequence[int]) -> list[int]:
    """The memory `a b p… 0` with p[a] and p[b] exchanged.

    >>> swap([0, 2, 7, 5, 6, 1, 1, 0])
    [0, 2, 6, 5, 7, 1, 1, 0]
    """
    after = list(memory)
    first, second = memory[0] + 2, memory[1] + 2
    after[first], after[second] = memory[second], memory[first]
    return after


def increment(memory: Sequence[int]) -> list[int]:
    """The memory `p… 0` with one added to every cell but the last, modulo its size."""
    return [(value + 1) % len(memory) for value in memory[:-1]] + [memory[-1]]


def permute(memory: Sequence[int]) -> list[int]:
    """The memory `a P… A…` with each P[i] replaced by A[P[i]]; a cell of padding may follow."""
    start = memory[0]
    return [start, *(memory[start + index] for index in memory[1:start]), *memory[start:]]


def list_k(memory: Sequence[int]) -> list[int]:
    """The memory `head k out (next, value)…` with the value of the node k hops from the head in cell 2."""
    node = memory[0]
    for _ in range(memory[1]):
        node = memory[node]
    return [*memory[:2], memory[node + 1], *memory[3:]]


def merge(memory: Sequence[int]) -> list[int]:
    """The memory `a b c A… 0 B… 0 out…` with all of A and B in order in out."""
    first, second, out = memory[:3]
    both = sorted([*memory[first : second - 1], *memory[second : out - 1]])
    return [*memory[:out], *both, *memory[out + len(both) :]]


def _values(chance: Random, count: int, low: int, high: int) -> list[int]:
    return [chance.randrange(low, high) for _ in range(count)]


def _padded(memory: Sequence[int], size: int) -> list[int]:
    return [*memory, *[0] * (size - len(memory))]


def a_swap(chance: Random, size: int) -> list[int]:
    """A random memory of that size for `swap`; those below are for the other circuits."""
    return [*_values(chance, 2, 0, size - 3), *_values(chance, size - 3, 1, size), 0]


def an_increment(chance: Random, size: int) -> list[int]:
    return [*_values(chance, size - 1, 1, size), 0]


def a_permute(chance: Random, size: int) -> list[int]:
    length = (size - 1) // 2
    order = chance.sample(range(length), length)
    return _padded([length + 1, *order, *_values(chance, length, 0, size)], size)


def a_list_k(chance: Random, size: int) -> list[int]:
    nodes = [3 + 2 * place for place in range((size - 3) // 2)]
    order = chance.sample(nodes, len(nodes))
    memory = _padded([order[0], chance.randrange(len(nodes)), 2], size)
    for node, following in zip(order, [*order[1:], 0]):
        memory[node : node + 2] = following, chance.randrange(size)
    return memory


def a_merge(chance: Random, size: int) -> list[int]:
    both = (size - 5) // 2
    first = chance.randrange(1, both)
    left, right = (sorted(_values(chance, count, 1, size)) for count in (first, both - first))
    return _padded([3, 4 + first, 5 + both, *left, 0, *right, 0], size)


def _entry(
    name: str,
    summary: str,
    example: str,
    reference: Callable[[Sequence[int]], list[int]],
    sample: Callable[[Random, int], list[int]],
    smallest: int,
) -> Entry:
    """An entry whose sampled memories are never smaller than the smallest that the circuit works on."""
    return Entry(
        name,
        summary,
        lambda: stored(name),
        tuple(example.split()),
        reference=reference,
        sample=lambda chance, size: sample(chance, max(smallest, size)),
    )


_SHELF = Shelf(
    "circuit",
    (
        _entry("swap", "a b p… 0: exchanges p[a] and p[b]", "0 2 7 5 6 1 1 0", swap, a_swap, 5),
        _entry("increment", "p… 0: adds one to every cell", "3 1 4 1 5 0", increment, an_increment, 3),
        _entry("permute", "a P… A…: P[i] becomes A[P[i]]", "4 2 0 1 5 6 4", permute, a_permute, 3),
        _entry(
            "list_k",
            "head k out (next, value)…: the value k hops down a list",
            "5 1 2 0 7 3 4 8 8",
            list_k,
            a_list_k,
            7,
        ),
        _entry(
            "merge",
            "a b c A… 0 B… 0 out…: merges two sorted lists",
            "3 6 9 2 5 0 1 4 0 0 0 0 0",
            merge,
            a_merge,
            9,
        ),
    ),
)
entries, get = _SHELF.entries, _SHELF.get


def spelled(text: str) -> Circuit | None:
    """The circuit in a .nram file; None for any other text."""
    return Circuit.load(text) if text.endswith(".nram") else None


def read(words: Sequence[str], subject: Any = None) -> list[int]:
    """The memory that a person typed: whole numbers, with spaces or commas between them.

    >>> read(["3 1", "2,0"])
    [3, 1, 2, 0]
    """
    memory = []
    for word in " ".join(words).replace(",", " ").split():
        try:
            memory.append(int(word))
        except ValueError:
            raise InputError(f"the cell {word!r} is not a whole number; give a memory, such as 3 1 2 0") from None
    if not memory:
        raise InputError("there is no input; give a memory, such as 3 1 2 0")
    return memory


def run(subject: Any, memory: Any, *, name: str, steps: int | None = None, edits: Sequence[Edit] = ()) -> Trace:
    """The trace of `steps` steps, or of as many as the circuit declares."""
    if steps is None and subject.steps is None:
        raise InputError(f"{name!r} does not say how many steps it runs; give --steps")
    return subject.run(memory, steps, edits=edits)


def telling(outcome: Any) -> Telling:
    """The memory that was left, and the registers."""
    trace = outcome.trace
    registers = [c.name for c in trace.channels if not c.per_step and c.name != "memory"]
    facts = {"output": trace.output, "steps": trace.steps}
    facts["registers"] = [int(trace[register][-1]) for register in registers]
    answer = " ".join(map(str, trace.output))
    connections = tuple(c.name for c in trace.channels if c.per_step)  # they would fill a screen
    return Telling(facts, answer, f"took {trace.steps} steps", hidden=connections)


def sizes(network: Any) -> dict[str, Any]:
    """How large a compiled NRAM is."""
    size, wiring = network.size, network.wiring
    found = {"hidden_units": size.hidden_units, "registers": wiring.registers, "modules": len(wiring.modules)}
    return found | {"parameters": size.parameters, "nonzero": size.nonzero}
