"""Attacks on certificates: a search for an input on which the executions of a program and its network differ.

Beside them runs the program's original: what its author wrote, called as it is. A certificate is a proof, and a proof
may have a fault. An attack looks where faults would show: at the shortest and the longest inputs, at ties, at positions
at the edge of a head's reach, and above all at means as near to where an answer changes as the program's numbers allow.
Such means are found by a search over how often each number occurs.
"""

import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from kleene.compiling.alta.certificates import Certificate, certify, program_of
from kleene.compiling.checking import Ended, difference, outcomes, output_difference
from kleene.errors import RunError
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.inputs import Inputs
from kleene.programs.alta.program import Program
from kleene.programs.alta.reference import reference_run
from kleene.programs.alta.variables import BLUR, Numeric
from kleene.traces import Trace
from kleene.traces.markup import html_text
from kleene.users_code import users_code

ORIGINAL, WORK = "original", 200_000  # pairs of positions, in all heads and layers, up to which the original runs
FEW, MORE = 8, 5  # originals up to which more work is done, and how much more
SEEN = 32  # inputs from which it is read which tokens the declared ones have
LONGEST = 512  # positions: softmax compares all pairs of them
BATCH, FIRST, WAITING = 8, 16, 200  # inputs in a block, tokens in the first blocks, most inputs that wait

Kinded = tuple[str, list[int]]  # an input, and why it is hard


@dataclass
class Attack:
    """What was tried against a certificate, and the first difference, if one was found.

    `originals` counts the inputs on which the original ran too: the function that the program was made of, called on
    plain values position by position, or RASP's own evaluation. It is slow, and is left out where runs are long.
    """

    program: str
    dtype: str
    length: int
    certified: bool
    executions: tuple[str, ...]
    tried: dict[str, int] = field(default_factory=dict)  # inputs by kind
    longest: int = 0
    originals: int = 0
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
            agree = f"{', '.join(self.executions)} agree on all"
            if self.originals < self.inputs:
                return shown + f"{agree}, and the {ORIGINAL} on the {self.originals} on which it was run"
            return shown + f"{agree}, and so does the {ORIGINAL}"
        found = self.first_difference
        answers = "; ".join(f"{name} answers {answer}" for name, answer in found["answers"].items())
        return shown + f"program and {found['execution']} differ on {found['input']}: {found['what']} ({answers})"

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
    """Look for an input of up to `length` tokens on which program, original, selecting and softmax network differ.

    Inputs are those that the program declares (`program.taking(…)` declares others), and without, all words. Ties and
    means near a threshold are made rather than drawn: of the tokens that the declared inputs have, in any order.
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
        work = WORK if result.originals >= FEW else MORE * WORK
        originals, result.first_difference = _compared(runs, found, [sequence for _, sequence in block], work)
        result.originals += originals
        if not result:
            break
    result.seconds = round(time.perf_counter() - started, 3)
    return result


def _blocks(chosen: Iterator[Kinded], started: float, seconds: float) -> Iterator[list[Kinded]]:
    """The inputs in blocks while there is time; long ones wait until shorter ones have turned out to be quick."""
    allowed, waiting, rate = FIRST, list[Kinded](), 0.0  # seconds per cubed token, because layers grow with the tokens
    while (left := seconds - (time.perf_counter() - started)) > 0:
        waiting += itertools.islice(chosen, WAITING - len(waiting))
        if not waiting:
            return
        fit = [item for item in waiting if rate * len(item[1]) ** 3 <= left]
        if not fit:
            waiting = []  # too long for the time that is left
            continue
        allowed = max(allowed, min(len(sequence) for _, sequence in fit))
        ready = [item for item in fit if len(item[1]) <= allowed][:BATCH]
        # A run that does not halt takes much longer than a rate tells, so that a block is a small part of what is left.
        while len(ready) > 1 and rate * sum(len(sequence) ** 3 for _, sequence in ready) > left / 8:
            ready.pop()
        waiting = [item for item in waiting if not any(item is other for other in ready)]
        before = time.perf_counter()
        yield ready
        taken = time.perf_counter() - before
        rate = taken / sum(max(len(sequence), FIRST) ** 3 for _, sequence in ready)
        if taken < seconds / 40:
            allowed *= 2


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


def _compared(
    runs: dict[str, Callable], program: Program, sequences: list[list[int]], work: int
) -> tuple[int, dict[str, Any] | None]:
    """On how many inputs the original ran, and the first difference."""
    shown = {name: outcomes(run, sequences) for name, run in runs.items()}
    originals = 0
    for index, sequence in enumerate(sequences):
        expected = shown["program"][index]
        given = {name: found[index] for name, found in shown.items()}
        what = {name: difference(expected, given[name]) for name in list(runs)[1:]}
        if _work(program, sequence, expected) <= work:
            given[ORIGINAL], what[ORIGINAL] = _original(program, sequence, expected)
            originals += given[ORIGINAL] is not None
        for name, differs in what.items():
            if differs is not None:
                answers = {name: _answer(ended) for name, ended in given.items()}
                return originals, {"input": sequence, "execution": name, "what": differs, "answers": answers}
    return originals, None


def _work(program: Program, sequence: Sequence[Any], ended: Ended) -> int:
    layers = ended.steps if isinstance(ended, Trace) else getattr(ended, "layer", program.max_layers)
    return len(sequence) ** 2 * (layers + 1) * (len(program.heads) + 1)


@users_code()
def _original(program: Program, sequence: Sequence[Any], expected: Ended) -> tuple[Any, str | None]:
    """What the original answers, and how the program's run differs from it; None where it has no value."""
    try:
        if program.original is None:
            ended: Ended = reference_run(program, sequence)
            return ended, difference(ended, expected)
        answer = program.original(sequence)
    except RunError as error:
        return (error, difference(error, expected)) if program.original is None else (None, None)
    except Exception as error:  # of the user's function
        return error, f"the {ORIGINAL} raised {type(error).__name__}: {error}"
    if isinstance(expected, RunError):
        return answer, f"the run ended with an error and the {ORIGINAL} did not: {expected!r}"
    return answer, output_difference(expected.output, answer, f"the {ORIGINAL}")


def _answer(ended: Any) -> Any:
    if isinstance(ended, Exception):
        return f"{type(ended).__name__}: {ended}"
    return ended.output if isinstance(ended, Trace) else ended


def hard_inputs(program: Program, length: int, chance: random.Random) -> Iterator[Kinded]:
    """Hard inputs with their kinds, without end: the kinds take turns, and each begins with its hardest."""
    words, made = program.words, _Made.of(program, length, chance)
    offsets = {abs(o) + more for head in program.heads.values() for o in head.offsets for more in (-1, 0, 1, 2)}
    kinds = {
        "near edges of means": made.fitted(_means(program, length, chance, made.tokens)),
        "short": _short(words, length, chance),
        "long": _of_lengths(words, (length, length - 1, length - 2, length // 2), length, chance),
        "ties": made.fitted(_ties(made.tokens, length, chance)),
        "edges of offsets": _of_lengths(words, sorted(offsets), length, chance),
        "random": _random(words, length, chance),
    }
    while kinds:
        for kind in list(kinds):
            sequence = next(kinds[kind], None)
            if sequence is None:
                del kinds[kind]
            elif sequence:
                yield kind, sequence


@dataclass(frozen=True)
class _Made:
    """How inputs are made of tokens, so that they look like those that the program declares.

    `front` is the token that all of these begin with and that none has elsewhere, if there is one.
    """

    program: Program
    length: int
    tokens: list[int]
    front: int | None = None

    @classmethod
    def of(cls, program: Program, length: int, chance: random.Random) -> "_Made":
        if program.inputs is None:
            return cls(program, length, list(range(program.input_range)))
        drawn = [program.check_input(program.inputs.sample(chance, 1 + n)) for n in range(SEEN)]
        first = drawn[0][0]
        is_front = all(word[0] == first and first not in word[1:] for word in drawn)
        tokens = sorted({token for word in drawn for token in word})
        return cls(program, length, tokens, first if is_front else None)

    def fitted(self, sequences: Iterator[list[int]]) -> Iterator[list]:
        """The sequences with the front where it belongs, as the program is given them."""
        for sequence in sequences:
            if self.front is not None:
                sequence = [self.front, *(token for token in sequence if token != self.front)][: self.length]
            yield _given(self.program, sequence)


def _given(program: Program, tokens: list[int]) -> list:
    """The tokens as the program is given them: as values, without the start, if it has a vocabulary."""
    if program.vocabulary is None:
        return tokens
    return [program.vocabulary.values[token - 1] for token in tokens if token][: program.vocabulary.longest]


def _draw(words: Inputs, most: int, chance: random.Random) -> list | None:
    """A random input of about so many tokens and no more; None where all are longer."""
    size = most
    while size > 0:
        found = list(words.sample(chance, size))
        if len(found) <= most:
            return found
        size -= max(1, (len(found) - most) // 2)
    return None


def _short(words: Inputs, length: int, chance: random.Random) -> Iterator[list]:
    every = words.every
    found = (words.sample(chance, 1 + n % 3) for n in range(30)) if every is None else every(3)
    yield from itertools.islice((list(word) for word in found if len(word) <= length), 100)


def _of_lengths(words: Inputs, lengths: Sequence[int], most: int, chance: random.Random) -> Iterator[list]:
    for n in lengths:
        if 0 < n <= most and (found := _draw(words, n, chance)) is not None:
            yield found


def _random(words: Inputs, length: int, chance: random.Random) -> Iterator[list]:
    if _draw(words, length, chance) is None:
        return
    while True:
        found = _draw(words, chance.randint(1, length), chance)
        if found is not None:
            yield found


def _ties(tokens: Sequence[int], length: int, chance: random.Random) -> Iterator[list[int]]:
    """Inputs of one token, and of two that alternate or halve the input: all match, none match, and ties."""
    pairs = [(chance.choice(tokens), chance.choice(tokens)) for _ in range(4)]
    for n in dict.fromkeys((length, max(1, length // 2), min(length, 4))):
        for token in tokens[:4]:
            yield [token] * n
        for a, b in pairs:
            yield ([a, b] * n)[:n]
            yield [a] * (n // 2) + [b] * (n - n // 2)


def _means(program: Program, length: int, chance: random.Random, allowed: Sequence[int]) -> Iterator[list[int]]:
    """Inputs whose means are nearest to where the answer of a numeric head changes, the nearest first."""
    found = []
    for name, head in program.heads.items():
        output, (by, starts) = program.outputs[name], program.starts[head.value]
        if not isinstance(output, Numeric) or by != "input":
            continue
        most = min(length, len(head.offsets) or length)
        for tokens in _alike(program, head.key, allowed):
            for a, b in itertools.combinations(sorted(tokens, key=lambda t: starts[t]), 2):
                if starts[a] < starts[b]:
                    for off, n, count in _nearest(output, float(starts[a]), float(starts[b]), most):
                        found.append((off, n, [a] * (n - count) + [b] * count))
    for _, _, sequence in sorted(found, key=lambda item: item[:2]):
        chance.shuffle(sequence)
        yield sequence


def _alike(program: Program, key: str | None, tokens: Sequence[int]) -> list[list[int]]:
    """The tokens in groups that one query selects together, as far as the start values show."""
    if key is None or program.starts[key][0] != "input":
        return [list(tokens)]
    codes = program.starts[key][1]
    return [[t for t in tokens if codes[t] == c] for c in sorted(set(codes[list(tokens)].tolist()))]


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
