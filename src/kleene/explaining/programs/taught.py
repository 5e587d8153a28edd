"""What a machine that was taught a program does on test inputs, beside what the program does.

The machine comes from `kleene.teaching` or from a file: a Transformer, or a compiled one whose MLP was learned.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kleene import kinds
from kleene.errors import InputError
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Categorical
from kleene.traces.trace import meant

MOST = 2_000  # test inputs on which a taught machine is run; it takes longer than the program
TAUGHT = (kinds.TAUGHT_TRANSFORMERS, kinds.LEARNED_MLPS)


@dataclass(frozen=True)
class TaughtOutputs:
    """The outputs of a taught machine on some of the test inputs, which `rows` numbers; `what` says what it is."""

    what: str
    rows: list[int]
    outputs: list[list[Any]]


def taught_outputs(machine: Any, program: Program, tests: Sequence[list[Any]], what: str) -> TaughtOutputs:
    """The outputs on the test inputs, or on a random choice of them where there are many.

    A machine that was taught another program is refused.
    """
    check_taught(machine, program)
    rows = list(range(len(tests)))
    if len(rows) > MOST:
        rows = sorted(random.Random(0).sample(rows, MOST))
    words = [program.check_input(tests[row]) for row in rows]  # codes, which a machine taught a RASP program reads
    start = program.prefix
    if kinds.of(machine) is kinds.LEARNED_MLPS:  # its traces know what codes stand for
        return TaughtOutputs(what, rows, [o[start:] for o in machine.run_batch(words, record=False).outputs])
    channel = next(c for c in program.channels if c.name == program.output_name)
    return TaughtOutputs(what, rows, [meant(channel, trace.output[start:]) for trace in machine.run_batch(words)])


def check_taught(machine: Any, program: Program) -> None:
    """Refuse a machine that is not taught a transformer program, or another one."""
    try:
        kind = kinds.of(machine)
    except TypeError:
        kind = None
    if kind not in TAUGHT:
        raise InputError(
            f"a {type(machine).__name__} is no network that was taught a transformer program; give a file that "
            f"`kleene teach {program.name} --machine mlp --model FILE` wrote, or the same with --machine transformer"
        )
    if kind is kinds.LEARNED_MLPS:
        layout = machine.layout
        taught = layout.name, layout.input_range, layout.output_name
        fits = taught == (program.name, program.input_range, program.output_name)
        fits = fits and [c.name for c in layout.channels] == list(program.domains)
    else:  # its file does not have the program's name
        sizes = {name: v.range for name, v in program.variables.items() if isinstance(v, Categorical)}
        taught = "another program", len(machine.embedding), machine.output_name
        fits = taught[1:] == (program.input_range, program.output_name) and dict(machine.variables) == sizes
    if not fits:
        which = f"another {program.name}" if taught[0] == program.name else taught[0]
        raise InputError(f"the network was taught {which}; give one that was taught {program.name}")
