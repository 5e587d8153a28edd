"""Teaching an ordinary encoder Transformer a transformer program end to end (ALTA, §4.1 and Appendix D.1)."""

from collections.abc import Sequence
from typing import Any

from kleene.machines.transformer.encoder import EncoderTransformer
from kleene.programs.alta import Program
from kleene.programs.alta.inputs import is_free
from kleene.programs.rasp.program import RaspProgram
from kleene.teaching.lesson import Lesson, perfect
from kleene.teaching.optimisers import optimiser_of
from kleene.teaching.options import EncoderOptions
from kleene.teaching.parity_words import PROGRAMS, BalancedParity, balanced
from kleene.teaching.program_words import Pool, check_longest, readable, taught_program
from kleene.teaching.transformers import Encoder, ProgramTask, policies_of, pools_of, with_lengths


def encoder_lesson(program: Program | RaspProgram, **options: Any) -> Lesson:
    """The lesson of an ordinary encoder Transformer that learns a program from its outputs.

    It has `layers` layers, with weights of their own or `shared`, `attention` heads whose keys have `key` numbers, and
    `hidden` units in each MLP. Where there are as many layers as the program takes on every word, hints on its
    variables after each layer are possible as well. Words are drawn as by `transformer_lesson`; those of parity are
    about equally many for each number of ones, unless there are `inputs`. A RASP program is taught as by
    `transformer_lesson`. The options are `EncoderOptions`.
    """
    given = EncoderOptions(**options)
    free = given.inputs is None and isinstance(program, Program) and is_free(program.words)
    is_parity = free and program.name in PROGRAMS
    program, sample = taught_program(program, given.inputs)
    given = with_lengths(given, sample)
    most = max(given.longest, *given.lengths)
    samples = [balanced(program, size) for size in (given.longest, max(given.lengths))] if is_parity else 2 * [sample]
    if given.inputs is None:
        check_longest(program, sample, most)
    training, tests = pools_of(program, samples[0], given.longest, samples[1], given.lengths, given.pool)
    variables, heads = _hinted(program, (training, tests), given.layers)
    arguments = {
        "symbols": program.input_range, "variables": variables, "head_outputs": heads,
        "output_name": program.output_name,
        "places": None if given.positions == "relative" else max(training.longest, tests.longest),
    }  # fmt: skip
    arguments |= given.stored("layers", "width", "shared", attention="heads", key="key_size", hidden="units")
    has_hints = len(variables) + len(heads) > 1
    make = BalancedParity if is_parity else ProgramTask
    layers = (lambda of: given.layers + 0 * of) if has_hints else None
    task = make(program.name, training, tests, layers, last=given.answer == "last")
    config = {"name": task.name, "machine": "encoder", "arguments": arguments}
    config |= given.stored("longest", "lengths", "batch", "optimiser", "rate", "answer")
    return Lesson(
        task,
        Encoder(arguments, network=EncoderTransformer),
        policies_of([*variables], [*heads]) if has_hints else {},
        criterion=perfect,
        optimiser=optimiser_of(given.optimiser, given.rate),
        name=f"{program.name} encoder",
        batch=given.batch,
        tests=64,
        iterations=3_000,
        seeds=4,
        config=config | {"words": [training.digest, tests.digest]},
    )


def _hinted(program: Program, pools: Sequence[Pool], layers: int) -> tuple[dict[str, int], dict[str, int]]:
    """The variables and heads that are read: all, or the output alone where the layers are too few for hints."""
    variables, heads = readable(program)
    if layers >= max(int(pool.steps.max()) for pool in pools):
        return variables, heads
    return {program.output_name: variables[program.output_name]}, {}
