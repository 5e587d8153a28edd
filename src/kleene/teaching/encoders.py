"""Teaching an ordinary encoder Transformer a transformer program end to end (ALTA, §4.1 and Appendix D.1)."""

from collections.abc import Sequence
from typing import Any

from kleene.errors import InputError
from kleene.machines.transformer.encoder import EncoderTransformer
from kleene.programs.alta import Program
from kleene.programs.alta.inputs import is_free
from kleene.programs.rasp.program import RaspProgram
from kleene.teaching.lesson import Lesson, perfect
from kleene.teaching.optimisers import optimiser_of
from kleene.teaching.parity_words import PROGRAMS, BalancedParity, balanced
from kleene.teaching.program_words import Pool, check_longest, readable, taught_program, usual_longest
from kleene.teaching.transformers import (
    Encoder,
    ProgramTask,
    check_answer,
    check_positive,
    policies_of,
    pools_of,
    test_lengths,
)

POSITIONS = ("relative", "absolute")


def encoder_lesson(
    program: Program | RaspProgram,
    *,
    inputs: Any = None,
    longest: int | None = None,
    lengths: Sequence[int] | None = None,
    layers: int = 4,
    shared: bool = False,
    positions: str = "relative",
    width: int = 64,
    attention: int = 4,
    key: int = 16,
    hidden: int = 128,
    optimiser: str = "adafactor",
    rate: float | None = None,
    batch: int = 64,
    pool: int = 1024,
    answer: str = "all",
) -> Lesson:
    """The lesson of an ordinary encoder Transformer that learns a program from its outputs.

    It has `layers` layers, with weights of their own or `shared`, `attention` heads whose keys have `key` numbers, and
    `hidden` units in each MLP. Where there are as many layers as the program takes on every word, hints on its
    variables after each layer are possible as well. Words are drawn as by `transformer_lesson`; those of parity are
    about equally many for each number of ones, unless there are `inputs`. A RASP program is taught as by
    `transformer_lesson`.
    """
    check_positive(layers=layers, width=width, attention=attention, key=key, hidden=hidden, batch=batch)
    check_answer(answer)
    check_positions(positions)
    is_parity = inputs is None and isinstance(program, Program) and program.name in PROGRAMS and is_free(program.words)
    program, sample = taught_program(program, inputs)
    longest = usual_longest(sample) if longest is None else longest
    lengths = test_lengths(longest, lengths)
    samples = [balanced(program, most) for most in (longest, max(lengths))] if is_parity else 2 * [sample]
    if inputs is None:
        check_longest(program, sample, max(longest, *lengths))
    training, tests = pools_of(program, samples[0], longest, samples[1], lengths, pool)
    variables, heads = _hinted(program, (training, tests), layers)
    arguments = {
        "symbols": program.input_range, "variables": variables, "head_outputs": heads, "layers": layers,
        "output_name": program.output_name, "width": width, "heads": attention, "key_size": key, "units": hidden,
        "shared": shared, "places": None if positions == "relative" else max(training.longest, tests.longest),
    }  # fmt: skip
    has_hints = len(variables) + len(heads) > 1
    make = BalancedParity if is_parity else ProgramTask
    task = make(
        program.name, training, tests, (lambda of: layers + 0 * of) if has_hints else None, last=answer == "last"
    )
    config = {"name": task.name, "machine": "encoder", "longest": longest, "lengths": list(lengths), "batch": batch}
    config |= {"optimiser": optimiser, "rate": rate, "answer": answer, "arguments": arguments}
    return Lesson(
        task,
        Encoder(arguments, network=EncoderTransformer),
        policies_of([*variables], [*heads]) if has_hints else {},
        criterion=perfect,
        optimiser=optimiser_of(optimiser, rate),
        name=f"{program.name} encoder",
        batch=batch,
        tests=64,
        iterations=3_000,
        seeds=4,
        config=config | {"words": [training.digest, tests.digest]},
    )


def check_positions(positions: str) -> None:
    """Refuse positions that are neither relative nor absolute."""
    if positions not in POSITIONS:
        raise InputError(f"positions is {positions!r}; it is {' or '.join(map(repr, POSITIONS))}")


def _hinted(program: Program, pools: Sequence[Pool], layers: int) -> tuple[dict[str, int], dict[str, int]]:
    """The variables and heads that are read: all, or the output alone where the layers are too few for hints."""
    variables, heads = readable(program)
    if layers >= max(int(pool.steps.max()) for pool in pools):
        return variables, heads
    return {program.output_name: variables[program.output_name]}, {}
