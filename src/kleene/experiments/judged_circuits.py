"""The networks that circuit methods are judged on: plain Transformers whose true circuits are known, by families."""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from kleene import naming
from kleene.compiling import compile
from kleene.errors import InputError, KleeneError
from kleene.explaining.circuits.judging import LEAST, JudgedCircuit
from kleene.explaining.circuits.truth import true_circuit
from kleene.kinds import RASP
from kleene.machines.transformer.plain import PlainTransformer

SHOWN = 300  # words on whose runs the true circuit is computed
TRIES = 20  # words that are drawn for each that the program takes


@dataclass(frozen=True)
class CircuitSize:
    """How much is judged: programs by name, the longest inputs, and how many pairs of them.

    A RASP program is judged over the first `symbols` of its vocabulary.
    """

    programs: tuple[str, ...] = (
        "rasp:shift", "rasp:hist", "rasp:causal_hist", "rasp:count", "rasp:detect_pattern", "rasp:reverse",
        "rasp:count_less_freq", "parity_relative",
    )  # fmt: skip
    symbols: int = 3
    length: int = 5
    words: int = 32

    def __post_init__(self) -> None:
        least = {"symbols": 2, "length": 2, "words": LEAST}
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise InputError(f"{name} is {getattr(self, name)}, which is too small; give {smallest} or more")

    @property
    def families(self) -> tuple[str, ...]:
        """The names of the families of networks, in their order."""
        return ("compiled",)


QUICK_CIRCUITS = CircuitSize()
FULL_CIRCUITS = CircuitSize(
    (*QUICK_CIRCUITS.programs, "rasp:length", "rasp:sort_unique", "rasp:sort", "rasp:shuffle_dyck", "parity_absolute"),
    words=64,
)  # fmt: skip


def circuit_networks(
    size: CircuitSize, seed: int = 0, families: Iterable[str] = (), on_network: Callable[[str], None] | None = None
) -> Iterator[JudgedCircuit]:
    """The networks of a size, family by family; by default of all families."""
    wanted = tuple(families) or size.families
    programs = {}
    for name in size.programs:
        if on_network is not None:
            on_network(f"compiling: {name}")
        programs[name] = _Known.of(name, size, seed)
    for family in wanted:
        for name, known in programs.items():
            yield JudgedCircuit(name, family, known.network, known.circuit, known.inputs, known.others, program=name)


@dataclass(frozen=True, eq=False)
class _Known:
    """A program's plain network, its circuit, and pairs of inputs that the program takes."""

    network: PlainTransformer
    circuit: Any
    inputs: tuple[Any, ...]
    others: tuple[Any, ...]

    @classmethod
    def of(cls, name: str, size: CircuitSize, seed: int) -> "_Known":
        found = naming.find(name)
        program = found.subject
        if found.kind is RASP:
            program = replace(program, vocab=tuple(program.vocab)[: size.symbols], max_length=size.length)
        network = PlainTransformer.from_unrolled(compile(program, layers="unrolled", max_length=size.length))
        words = drawn_inputs(program, network, SHOWN, size.length, seed)
        chance = random.Random(seed)
        inputs = [chance.choice(words) for _ in range(size.words)]
        others = [chance.choice([word for word in words if len(word) >= len(one)]) for one in inputs]
        return cls(network, true_circuit(network, words), tuple(inputs), tuple(others))


def drawn_inputs(program: Any, network: PlainTransformer, count: int, longest: int, seed: int) -> list[list[Any]]:
    """Random inputs of 1 to `longest` tokens that the program takes; some may be the same."""
    layout, chance = network.layout, random.Random(seed)
    if layout.vocabulary is not None:
        symbols: Any = layout.vocabulary.values
    else:
        symbols = range(layout.symbols) if layout.alphabet is None else layout.alphabet
    found: list[list[Any]] = []
    for _ in range(TRIES * count):
        word = [chance.choice(symbols) for _ in range(chance.randint(1, longest))]
        try:
            program.run(word)
        except KleeneError:
            continue
        found.append(word)
        if len(found) == count:
            return found
    raise InputError(f"{layout.name} takes only {len(found)} of {TRIES * count} random inputs, and {count} are needed")
