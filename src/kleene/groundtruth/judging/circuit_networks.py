"""The networks that circuit methods are judged on: plain Transformers whose true circuits are known, by families.

Compiled ones show their circuit in their weights. A hidden one is the same network in another basis, with a decoy head
in every layer. A softened one is hidden, too, and its attention is no longer hard, so that its answers are the same and
its numbers are not. Taught ones were trained to keep the algorithm: their circuit is what they were taught to use.
"""

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from pathlib import Path
from typing import Any

from kleene import naming
from kleene.compiling import compile
from kleene.errors import InputError, KleeneError
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.explaining.circuits.truth import true_circuit
from kleene.groundtruth.judging.circuits import LEAST, JudgedCircuit
from kleene.groundtruth.taught import SHIPPED, KeptNetwork
from kleene.groundtruth.transformers import hide_transformer
from kleene.groundtruth.truths import circuit_onto
from kleene.kinds import RASP
from kleene.machines.transformer.plain import PlainTransformer

SHOWN = 300  # words on whose runs the true circuit is computed
TRIES = 20  # words that are drawn for each that the program takes
HIDING: dict[str, dict[str, Any]] = {"hidden": {"decoys": 1}, "softened": {"decoys": 1, "scores": 4.0}}
TAUGHT = {"interchange": "taught", "strict hints": "taught, strict hints", "hints": "taught, hints"}


@dataclass(frozen=True)
class CircuitSize:
    """How much is judged: programs by name, the longest inputs, and how many pairs of them.

    A RASP program is judged over the first `symbols` of its vocabulary. `hide` is the number of hidden networks, and of
    softened ones, of each program. `taught` is a folder of taught networks, "" for those that come with Kleene, and
    None for none; those that do not keep their algorithm are left out.
    """

    programs: tuple[str, ...] = (
        "rasp:shift", "rasp:hist", "rasp:causal_hist", "rasp:count", "rasp:detect_pattern", "rasp:reverse",
        "rasp:count_less_freq", "parity_relative",
    )  # fmt: skip
    symbols: int = 3
    length: int = 5
    words: int = 32
    hide: int = 1
    taught: str | None = ""

    def __post_init__(self) -> None:
        least = {"symbols": 2, "length": 2, "words": LEAST, "hide": 0}
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise InputError(f"{name} is {getattr(self, name)}, which is too small; give {smallest} or more")

    @property
    def families(self) -> tuple[str, ...]:
        """The names of the families of networks, in their order."""
        made = ["compiled", *(HIDING if self.hide else ())]
        return (*made, *([] if self.taught is None else TAUGHT.values()))


QUICK_CIRCUITS = CircuitSize()
FULL_CIRCUITS = CircuitSize(
    (*QUICK_CIRCUITS.programs, "rasp:length", "rasp:sort_unique", "rasp:sort", "rasp:shuffle_dyck", "parity_absolute"),
    words=64, hide=3,
)  # fmt: skip


def circuit_networks(
    size: CircuitSize, seed: int = 0, families: Iterable[str] = (), on_network: Callable[[str], None] | None = None
) -> Iterator[JudgedCircuit]:
    """The networks of a size, family by family; by default of all families, and those not asked for cost nothing.

    Programs and files are found at once, and each network is made when it is asked for.
    """
    wanted = tuple(families) or size.families
    made = [family for family in ("compiled", *HIDING) if family in wanted]
    programs = {name: judged_program(name, size.symbols, size.length) for name in size.programs if made}
    taught = [] if size.taught is None else kept_networks(size.taught)

    def compiled() -> Iterator[JudgedCircuit]:
        known: dict[str, KnownCircuit] = {}
        for family, (name, program) in product(made, programs.items()):
            if name not in known:
                if on_network is not None:
                    on_network(f"compiling: {name}")
                known[name] = KnownCircuit.of(program, size, seed)
            yield from _variants(name, family, known[name], size, seed)

    return chain(compiled(), _taught(taught, size, seed, wanted, on_network))


def _variants(name: str, family: str, known: "KnownCircuit", size: CircuitSize, seed: int) -> Iterator[JudgedCircuit]:
    """The network of a program, or so many of the same in other bases, to which its circuit is carried along."""
    if family == "compiled":
        yield known.judged(name, family, name)
        return
    for number in range(seed, seed + size.hide):
        hidden = hide_transformer(known.network, seed=number, words=known.words, **HIDING[family])
        circuit = circuit_onto(known.circuit, hidden.map)
        label = name if size.hide == 1 else f"{name} seed {number}"
        yield replace(known, network=hidden.network, circuit=circuit).judged(label, family, name)


def kept_networks(taught: str) -> list[KeptNetwork]:
    """The taught networks in a folder, or those that come with Kleene."""
    folder = Path(taught) if taught else SHIPPED
    if not os.path.isdir(folder):
        raise InputError(f"there is no folder {str(folder)!r} of taught networks")
    return [KeptNetwork.load(path) for path in sorted(folder.glob("*.safetensors"))]


def _taught(
    taught: list[KeptNetwork],
    size: CircuitSize,
    seed: int,
    wanted: tuple[str, ...],
    tell: Callable[[str], None] | None,
) -> Iterator[JudgedCircuit]:
    """Taught networks that keep their algorithm; of the others nobody knows the circuit, so they are left out."""
    for kept in taught:
        family = TAUGHT.get(kept.method)
        if family not in wanted:
            continue
        if not kept.verified:
            if tell is not None:
                tell(f"left out: {kept.name} does not keep its algorithm")
            continue
        known = known_circuit(kept.network, kept.circuit(), kept.words(), size.words, seed)
        yield known.judged(kept.name, family, kept.program)


def judged_program(name: str, vocab: Any, length: int) -> Any:
    """The program of this name; a RASP program with so many symbols of its vocabulary, or with these."""
    found = naming.find(name)
    if "layers" not in found.kind.options:
        raise InputError(
            f"circuits are judged on transformer and RASP programs, and {name!r} is of the kind {found.kind.name}; "
            f"give one such as rasp:reverse or parity_relative"
        )
    if found.kind is not RASP:
        return found.subject
    symbols = tuple(found.subject.vocab)[:vocab] if isinstance(vocab, int) else tuple(vocab or found.subject.vocab)
    return replace(found.subject, vocab=symbols, max_length=length)


@dataclass(frozen=True, eq=False)
class KnownCircuit:
    """A network of a program, its circuit, pairs of inputs that the program takes, and more of such words."""

    network: PlainTransformer
    circuit: TrueCircuit
    inputs: tuple[Any, ...]
    others: tuple[Any, ...]
    words: tuple[Any, ...]

    @classmethod
    def of(cls, program: Any, size: CircuitSize, seed: int) -> "KnownCircuit":
        """The compiled network of a program."""
        network = PlainTransformer.from_unrolled(compile(program, layers="unrolled", max_length=size.length))
        words = drawn_inputs(program, network, SHOWN, size.length, seed)
        return cls(network, true_circuit(network, words), *_paired(words, size.words, seed), tuple(words))

    def judged(self, name: str, family: str, program: str) -> JudgedCircuit:
        return JudgedCircuit(name, family, self.network, self.circuit, self.inputs, self.others, program=program)


def known_circuit(
    network: PlainTransformer, circuit: TrueCircuit, words: Sequence[Any], pairs: int, seed: int
) -> KnownCircuit:
    """A network whose circuit is given, with pairs of these words."""
    return KnownCircuit(network, circuit, *_paired(words, pairs, seed), tuple(words))


def _paired(words: Sequence[Any], count: int, seed: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Inputs, and for each another that is no shorter."""
    chance = random.Random(seed)
    inputs = [chance.choice(words) for _ in range(count)]
    return tuple(inputs), tuple(chance.choice([word for word in words if len(word) >= len(one)]) for one in inputs)


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
