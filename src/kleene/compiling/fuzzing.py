"""Trust at scale: random programs by the thousand, compiled and compared, with every failure made small.

Program number n of a seed is always the same one, so that a run can be resumed where it was stopped, and a failure
repeated from the number that is printed.
"""

import json
import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kleene.compiling.checking import check
from kleene.compiling.transformer import compile_program
from kleene.errors import CompileError, ModelFileError
from kleene.files import write_atomically
from kleene.programs.alta.program import Program
from kleene.programs.alta.random_programs import generate, random_inputs

INPUTS, LONGEST = 5, 7
WAYS: tuple[dict[str, Any], ...] = ({}, {"rules": "paper"}, {"activation": "relu"}, {"dtype": "float64"})
SAVE_EVERY = 5.0  # seconds


@dataclass
class Tally:
    """How far a run is: programs tried, those the compiler refused for the number type, and the failures."""

    seed: int
    done: int = 0
    agree: int = 0
    refused: int = 0
    inputs: int = 0
    seconds: float = 0.0
    failures: list[dict[str, Any]] = field(default_factory=list)


def fuzz(
    programs: int, *, seed: int = 0, resume: str | None = None, on_program: Callable[[Tally], None] | None = None
) -> Tally:
    """Try so many random programs. With `resume`, a file keeps the tally, and a run that was killed goes on from it."""
    tally = _resumed(seed, resume)
    started, saved = time.perf_counter() - tally.seconds, time.perf_counter()
    while tally.done < programs:
        _try(tally)
        tally.seconds = round(time.perf_counter() - started, 3)
        if on_program is not None:
            on_program(tally)
        if resume and (time.perf_counter() - saved > SAVE_EVERY or tally.done == programs):
            write_atomically(resume, json.dumps(asdict(tally)).encode())
            saved = time.perf_counter()
    return tally


def _resumed(seed: int, resume: str | None) -> Tally:
    if resume is None or not Path(resume).exists():
        return Tally(seed)
    try:
        tally = Tally(**json.loads(Path(resume).read_text()))
    except (ValueError, TypeError) as error:
        raise ModelFileError(f"{resume!r} does not hold a tally of random checks ({error}); remove it") from None
    if tally.seed != seed:
        raise ModelFileError(f"{resume!r} is of seed {tally.seed}, and seed {seed} was asked for; name another file")
    return tally


def _try(tally: Tally) -> None:
    number = tally.seed * 1_000_000_007 + tally.done
    generated = generate(number)
    way = WAYS[tally.done % len(WAYS)]
    tally.done += 1
    try:
        network = compile_program(generated.program, **way)
    except CompileError:
        tally.refused += 1
        return
    inputs = random_inputs(random.Random(number), generated.program, INPUTS, LONGEST)
    tally.inputs += len(inputs)
    report = check(generated.program, network=network, inputs=inputs)
    if report:
        tally.agree += 1
        return
    shortest = _shortest_failure(generated.program, network, inputs)
    tally.failures.append(
        {
            "program": number,
            "way": way,
            "input": shortest,
            "source": generated.source,
            "what": report.first_disagreement,
        }
    )


def _shortest_failure(program: Program, network: Any, inputs: list[list[int]]) -> list[int]:
    """The smallest input on which the disagreement still shows: tokens are left out one by one while it does."""

    def fails(sequence: list[int]) -> bool:
        return bool(sequence) and not check(program, network=network, inputs=[sequence])

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
