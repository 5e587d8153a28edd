"""Attacks on certificates: a search for an input on which the executions of a program and its network differ.

A certificate is a proof, and a proof may have a fault. An attack looks where faults would show: at the shortest and the
longest inputs, at ties, at positions at the edge of a head's reach, and above all at means as near to where an answer
changes as the program's numbers allow. Such means are found by a search over how often each number occurs.
"""

import itertools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from kleene.compiling.alta.certificates import Certificate, certify, program_of
from kleene.compiling.checking import difference, outcomes
from kleene.errors import RunError
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import BLUR, Numeric
from kleene.traces import Trace
from kleene.traces.markup import html_text

LONGEST = 512  # positions: softmax compares all pairs of them
BATCH, FIRST, WAITING = 8, 16, 200  # inputs in a block, tokens in the first blocks, most inputs that wait

Kinded = tuple[str, list[int]]  # an input, and why it is hard


@dataclass
class Attack:
    """What was tried against a certificate, and the first difference, if one was found."""

    program: str
    dtype: str
    length: int
    certified: bool
    executions: tuple[str, ...]
    tried: dict[str, int] = field(default_factory=dict)  # inputs by kind
    longest: int = 0
    seconds: float = 0.0
    first_difference: dict[str, Any] | None = None

    @property
    def inputs(self) -> int:
        return sum(self.tried.values())

    def __bool__(self) -> bool:
        """Whether the certificate withstood the attack."""
        return self.first_difference is None

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.tried.items())
        shown = f"attacked with {self.inputs} inputs of up to {self.longest} tokens ({kinds}) in {self.seconds:.1f} s: "
        if self.first_difference is None:
            return shown + f"{', '.join(self.executions)} agree on all"
        found = self.first_difference
        return shown + f"program and {found['execution']} differ on {found['input']}: {found['what']}"

    def _repr_html_(self) -> str:
        return html_text(self)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"inputs": self.inputs, "stood": bool(self)}


def attack(
    network: UniversalTransformer,
    *,
    length: int | None = None,
    program: Program | None = None,
    certificate: Certificate | None = None,
    seconds: float = 10.0,
    inputs: int = 2000,
    longest: int = LONGEST,
    seed: int = 0,
    jax: bool = False,
) -> Attack:
    """Look for an input of up to `length` tokens on which program, selecting network and softmax network differ.

    The search ends at the first difference, after `inputs` inputs, or after `seconds` seconds. Inputs of more than
    `longest` tokens are not tried. The default `length` is the certificate's own. With `jax`, the selecting network
    also runs in jax, which compiles it for many shapes.

    >>> import kleene
    >>> from kleene.programs.alta.library import parity
    >>> bool(attack(kleene.compile(parity.relative()), length=40, inputs=20))
    True
    """
    found = program_of(network, program)
    if certificate is None:
        certificate = certify(network, length=length, program=found)
    runs = _executions(network, found, jax)
    result = Attack(found.name, network.dtype, certificate.length, certificate.valid, tuple(runs))
    started = time.perf_counter()
    chosen = itertools.islice(hard_inputs(found, min(certificate.length, longest), random.Random(seed)), inputs)
    for block in _blocks(chosen, started, seconds):
        for kind, sequence in block:
            result.tried[kind] = result.tried.get(kind, 0) + 1
            result.longest = max(result.longest, len(sequence))
        result.first_difference = _first_difference(runs, [sequence for _, sequence in block])
        if not result:
            break
    result.seconds = round(time.perf_counter() - started, 3)
    return result


def _blocks(chosen: Iterator[Kinded], started: float, seconds: float) -> Iterator[list[Kinded]]:
    """The inputs in blocks while there is time; long ones wait until shorter ones have turned out to be quick."""
    allowed, waiting, rate = FIRST, list[Kinded](), 0.0  # seconds per cubed token, because layers grow with the tokens
    while (left := seconds - (time.perf_counter() - started)) > 0:
        ready = [item for item in waiting if len(item[1]) <= allowed][:BATCH]
        waiting = [item for item in waiting if item not in ready]
        for item in chosen:
            (ready if len(item[1]) <= allowed else waiting).append(item)
            if len(ready) >= BATCH or len(waiting) >= WAITING:
                break
        if not ready and not waiting:
            return
        ready = [item for item in ready if rate * len(item[1]) ** 3 * len(ready) <= left]
        before = time.perf_counter()
        if ready:
            yield ready
            rate = (time.perf_counter() - before) / sum(len(sequence) ** 3 for _, sequence in ready)
        if time.perf_counter() - before < seconds / 40:
            allowed *= 2
        elif len(waiting) >= WAITING:
            waiting = []  # too long for the time that is left


def _executions(network: UniversalTransformer, program: Program, jax: bool) -> dict[str, Callable]:
    """Every execution of the program and its network, by name."""
    runs: dict[str, Callable] = {
        "program": program.run_batch,
        "selecting network": lambda x: network.run_batch(x, backend="numpy"),
        "softmax network": lambda x: network.run_batch(x, attention="softmax", backend="numpy"),
    }
    if jax:
        runs["selecting network in jax"] = lambda x: network.run_batch(x, backend="jax")
    return runs


def _first_difference(runs: dict[str, Callable], sequences: list[list[int]]) -> dict[str, Any] | None:
    shown = {name: outcomes(run, sequences) for name, run in runs.items()}
    for index, sequence in enumerate(sequences):
        expected = shown["program"][index]
        for name in list(runs)[1:]:
            what = difference(expected, shown[name][index])
            if what is not None:
                answers = {n: _answer(found[index]) for n, found in shown.items()}
                return {"input": sequence, "execution": name, "what": what, "answers": answers}
    return None


def _answer(outcome: Trace | RunError) -> Any:
    return outcome.output if isinstance(outcome, Trace) else f"{type(outcome).__name__}: {outcome}"


def hard_inputs(program: Program, length: int, chance: random.Random) -> Iterator[Kinded]:
    """Hard inputs with their kinds, without end: the kinds take turns, and each begins with its hardest."""
    kinds = {
        "near edges of means": _means(program, length, chance),
        "short": _short(program, length),
        "long": _long(program, length, chance),
        "ties": _ties(program, length, chance),
        "edges of offsets": _offsets(program, length, chance),
        "random": _random(program, length, chance),
    }
    while True:
        for kind in list(kinds):
            sequence = next(kinds[kind], None)
            if sequence is None:
                del kinds[kind]
            elif given := _given(program, sequence):
                yield kind, given


def _given(program: Program, tokens: list[int]) -> list:
    """The tokens as the program is given them: as values, without the start, if it has a vocabulary."""
    if program.vocabulary is None:
        return tokens
    return [program.vocabulary.values[token - 1] for token in tokens if token][: program.vocabulary.longest]


def _draw(program: Program, length: int, chance: random.Random) -> list[int]:
    return [chance.randrange(program.input_range) for _ in range(length)]


def _short(program: Program, length: int) -> Iterator[list[int]]:
    tokens = range(program.input_range)
    every = (list(x) for n in (1, 2, 3) if n <= length for x in itertools.product(tokens, repeat=n))
    yield from itertools.islice(every, 100)


def _long(program: Program, length: int, chance: random.Random) -> Iterator[list[int]]:
    for n in (length, length - 1, length - 2, length // 2):
        if n > 0:
            yield _draw(program, n, chance)


def _ties(program: Program, length: int, chance: random.Random) -> Iterator[list[int]]:
    """Inputs of one token, and of two that alternate or halve the input: all match, none match, and ties."""
    pairs = [(chance.randrange(program.input_range), chance.randrange(program.input_range)) for _ in range(4)]
    for n in dict.fromkeys((length, max(1, length // 2), min(length, 4))):
        for token in range(min(program.input_range, 4)):
            yield [token] * n
        for a, b in pairs:
            yield ([a, b] * n)[:n]
            yield [a] * (n // 2) + [b] * (n - n // 2)


def _offsets(program: Program, length: int, chance: random.Random) -> Iterator[list[int]]:
    offsets = {abs(o) for head in program.heads.values() for o in head.offsets}
    for n in sorted({o + more for o in offsets for more in (-1, 0, 1, 2)}):
        if 0 < n <= length:
            yield _draw(program, n, chance)


def _random(program: Program, length: int, chance: random.Random) -> Iterator[list[int]]:
    while True:
        yield _draw(program, chance.randint(1, length), chance)


def _means(program: Program, length: int, chance: random.Random) -> Iterator[list[int]]:
    """Inputs whose means are nearest to where the answer of a numeric head changes, the nearest first."""
    found = []
    for name, head in program.heads.items():
        output, (by, starts) = program.outputs[name], program.starts[head.value]
        if not isinstance(output, Numeric) or by != "input":
            continue
        most = min(length, len(head.offsets) or length)
        for tokens in _alike(program, head.key):
            for a, b in itertools.combinations(sorted(tokens, key=lambda t: starts[t]), 2):
                if starts[a] < starts[b]:
                    for off, n, count in _nearest(output, float(starts[a]), float(starts[b]), most):
                        found.append((off, n, [a] * (n - count) + [b] * count))
    for _, _, sequence in sorted(found, key=lambda item: item[:2]):
        chance.shuffle(sequence)
        yield sequence


def _alike(program: Program, key: str | None) -> list[list[int]]:
    """The tokens in groups that one query selects together, as far as the start values show."""
    tokens = range(program.input_range)
    if key is None or program.starts[key][0] != "input":
        return [list(tokens)]
    codes = program.starts[key][1]
    return [[t for t in tokens if codes[t] == c] for c in sorted(set(codes.tolist()))]


def _nearest(output: Numeric, low: float, high: float, most: int) -> Iterator[tuple[float, int, int]]:
    """(off, n, count): the mean of n numbers, of which `count` are the higher one, is `off` from an edge."""
    values, n = [Fraction(v) for v in output.values], np.arange(1, most + 1)
    for below, above in itertools.pairwise(values):
        middle, half = (below + above) / 2, (above - below) * Fraction(BLUR)
        for edge in (middle - half, middle + half, middle):
            share = (float(edge) - low) / (high - low)
            if not 0 <= share <= 1:
                continue
            for count in (np.floor(n * share), np.ceil(n * share)):
                off = np.abs(count / n - share)
                for at in np.argsort(off, kind="stable")[:4]:
                    yield float(off[at]), int(n[at]), int(count[at])
