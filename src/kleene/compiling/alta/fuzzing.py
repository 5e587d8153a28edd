"""Random programs by the thousand, compiled and compared with their networks; every failing input is made small.

Program number n of a seed is always the same, so a run can be resumed where it stopped, and a failure can be repeated
from the number that is printed.
"""

import functools
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from kleene.compiling.alta.attacks import attack as attack_certificate
from kleene.compiling.alta.certificates import certify
from kleene.compiling.alta.compiler import compile_program
from kleene.compiling.checking import check
from kleene.errors import CompileError, ModelFileError
from kleene.files import MOST_TEXT, check_seal, read_bytes, sealed_json, write_atomically
from kleene.programs.alta.program import Program
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.spawning import on_one_thread, spawned_pool

INPUTS, LONGEST = 5, 7
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"rules": "paper"}, {"activation": "relu"}, {"dtype": "float64"})
ATTACKED: tuple[dict[str, Any], ...] = (*OPTIONS, {"dtype": "bfloat16"})  # whose certificates are attacked
ATTACKS, REACH = 24, 130  # inputs, and tokens in the longest of them
SAVE_EVERY = 5.0  # seconds
FAILURE = {
    "program",
    "way",
    "input",
    "what",
    "source",
}  # facts of a failure; "way" has the options


@dataclass(frozen=True)
class FuzzOutcome:
    """The outcome for one program: the number of inputs compared, or refused, and the failure if there was one."""

    inputs: int = 0
    refused: bool = False
    failure: dict[str, Any] | None = None


@dataclass
class Tally:
    """The counts of a run: programs tried, those that the compiler refused for the number type, and the failures.

    If certificates are `attacked`, programs that could not be certified count as refused too.
    """

    seed: int
    done: int = 0
    agree: int = 0
    refused: int = 0
    inputs: int = 0
    seconds: float = 0.0
    failures: list[dict[str, Any]] = field(default_factory=list)
    attacked: bool = False

    def add(self, outcome: FuzzOutcome) -> None:
        self.done += 1
        self.inputs += outcome.inputs
        self.refused += outcome.refused
        if outcome.failure is not None:
            self.failures.append(outcome.failure)
        elif not outcome.refused:
            self.agree += 1


def fuzz(
    programs: int,
    *,
    seed: int = 0,
    workers: int = 1,
    resume: str | None = None,
    attack: bool = False,
    on_program: Callable[[Tally], None] | None = None,
) -> Tally:
    """Try `programs` random programs. With `resume`, a file keeps the tally, and a killed run goes on from it.

    The programs are divided among `workers` processes; the tally is the same for any number of them. With `attack`,
    each program is certified for the longest inputs possible, and the certificate is attacked.
    """
    tally = _resumed(seed, resume, attack)
    started, saved = time.perf_counter() - tally.seconds, time.perf_counter()
    for outcome in _outcomes(_attack if attack else _try, seed, range(tally.done, programs), workers):
        tally.add(outcome)
        tally.seconds = round(time.perf_counter() - started, 3)
        if on_program is not None:
            on_program(tally)
        if resume and (time.perf_counter() - saved > SAVE_EVERY or tally.done == programs):
            write_atomically(resume, sealed_json(asdict(tally)))
            saved = time.perf_counter()
    return tally


def _outcomes(
    trial: Callable[[int, int], FuzzOutcome], seed: int, indices: range, workers: int
) -> Iterator[FuzzOutcome]:
    """The outcome of each program, in order, so that a tally always counts the first programs without a gap."""
    if workers == 1:
        yield from (trial(seed, index) for index in indices)
        return
    with spawned_pool(workers, "tries random programs", begin=on_one_thread) as pool:
        yield from pool.map(functools.partial(trial, seed), indices, chunksize=16)


def _resumed(seed: int, resume: str | None, attack: bool) -> Tally:
    if resume is None or not os.path.exists(resume):
        return Tally(seed, attacked=attack)
    content = read_bytes(resume, MOST_TEXT)
    check_seal(resume, content)
    try:
        kept = {key: value for key, value in json.loads(content).items() if key != "checksum"}
        for name, kind in {"failures": list, "seconds": (int, float), "attacked": bool}.items():
            if name in kept and not isinstance(kept[name], kind):
                raise ValueError(f"its entry {name!r} is {kept[name]!r}")
        for name in ("seed", "done", "agree", "refused", "inputs"):
            if type(kept[name]) is not int or kept[name] < 0:
                raise ValueError(f"its count {name!r} is {kept[name]!r}")
        if not all(isinstance(one, dict) and set(one) >= FAILURE for one in kept["failures"]):
            raise ValueError("its failures are not described")
        tally = Tally(**kept)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{resume!r} does not hold a tally of random checks ({error}); remove it") from None
    if tally.seed != seed:
        raise ModelFileError(f"{resume!r} is of seed {tally.seed}, and seed {seed} was asked for; name another file")
    if tally.attacked != attack:
        kind = "attacks" if tally.attacked else "checks"
        raise ModelFileError(f"{resume!r} holds a tally of {kind} on random programs; name another file")
    return tally


def _try(seed: int, index: int) -> FuzzOutcome:
    number = seed * 1_000_000_007 + index
    generated = generate(number)
    options = OPTIONS[index % len(OPTIONS)]
    try:
        network = compile_program(generated.program, **options)
    except CompileError:
        return FuzzOutcome(refused=True)
    inputs = random_inputs(random.Random(number), generated.program, INPUTS, LONGEST)
    report = check(generated.program, network=network, inputs=inputs)
    if report.first_disagreement is None:
        return FuzzOutcome(len(inputs))
    shortest = _shortest_failure(generated.program, network, inputs)
    refusal = certify(network, length=len(shortest)).first_failure
    if refusal is not None and refusal.name == "averages":
        return FuzzOutcome(refused=True)  # the number type cannot tell a mean from an edge, and the certificate says so
    failure = {"program": number, "way": options, "input": shortest, "source": generated.source}
    return FuzzOutcome(len(inputs), failure=failure | {"what": report.first_disagreement})


def _attack(seed: int, index: int) -> FuzzOutcome:
    """The outcome of an attack on one certificate; two of three programs average numbers, the hardest case."""
    number = seed * 1_000_000_007 + index
    generated = generate(number, averaging=index % 3 != 0)
    options = ATTACKED[index % len(ATTACKED)]
    try:
        network = compile_program(generated.program, **options)
        certificate = certify(network)
    except CompileError:
        return FuzzOutcome(refused=True)
    if not certificate:
        return FuzzOutcome(refused=True)
    result = attack_certificate(
        network, certificate=certificate, seconds=60, inputs=ATTACKS, longest=REACH, seed=number
    )
    failure = None
    if result.first_difference is not None:
        found = result.first_difference | {"length": certificate.length}
        failure = {"program": number, "way": options, "source": generated.source} | found
    return FuzzOutcome(result.inputs, failure=failure)


def _shortest_failure(program: Program, network: Any, inputs: list[list[int]]) -> list[int]:
    """A smallest failing input: tokens are left out one by one as long as it still fails."""

    def fails(sequence: list[int]) -> bool:
        return bool(sequence) and check(program, network=network, inputs=[sequence]).first_disagreement is not None

    failing = min((s for s in inputs if fails(s)), key=len)
    shrunk = True
    while shrunk:
        shrunk = False
        for i in range(len(failing)):
            shorter = failing[:i] + failing[i + 1 :]
            if fails(shorter):
                failing, shrunk = shorter, True
                break
    return failing
