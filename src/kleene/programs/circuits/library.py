"""A shelf of circuits by name, the five that the partial-traces paper teaches; they are texts in `texts/`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from kleene.errors import InputError, did_you_mean
from kleene.programs.circuits.circuit import Circuit


@dataclass(frozen=True)
class Entry:
    """A circuit of the shelf, a memory to show it with, and in plain Python what it leaves in a memory.

    >>> increment = get("increment")
    >>> increment.build().run(increment.example).output == increment.expected(increment.example)
    True
    """

    name: str
    summary: str
    example: tuple[int, ...]
    expected: Callable[[Sequence[int]], list[int]]

    def build(self) -> Circuit:
        return stored(self.name)

    @property
    def text(self) -> str:
        """What stands in its file, comments included."""
        return resources.files("kleene.programs.circuits").joinpath("texts", f"{self.name}.nram").read_text("utf-8")


@cache
def stored(name: str) -> Circuit:
    """The circuit in `texts/NAME.nram`."""
    return Circuit.from_text(entries()[name].text, name)


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


_ENTRIES = [
    Entry("swap", "a b p… 0: exchanges p[a] and p[b]", (0, 2, 7, 5, 6, 1, 1, 0), swap),
    Entry("increment", "p… 0: adds one to every cell", (3, 1, 4, 1, 5, 0), increment),
    Entry("permute", "a P… A…: P[i] becomes A[P[i]]", (4, 2, 0, 1, 5, 6, 4), permute),
    Entry("list_k", "head k out (next, value)…: the value k hops down a list", (5, 1, 2, 0, 7, 3, 4, 8, 8), list_k),
    Entry("merge", "a b c A… 0 B… 0 out…: merges two sorted lists", (3, 6, 9, 2, 5, 0, 1, 4, 0, 0, 0, 0, 0), merge),
]


def entries() -> dict[str, Entry]:
    """Every circuit of the shelf by its name."""
    return {entry.name: entry for entry in _ENTRIES}


def get(name: str) -> Entry:
    """The entry of that name; an InputError suggests another where there is none."""
    found = entries().get(name)
    if found is None:
        raise InputError(f"there is no circuit {name!r}; {did_you_mean(name, entries())}")
    return found
