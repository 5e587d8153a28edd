"""RASP programs that go through every format: a count, a copy, a mean, and words that are not letters."""

import random

from kleene.errors import ProgramError
from kleene.programs import rasp
from kleene.programs.rasp import lib
from kleene.programs.rasp.lowering import lowered
from kleene.programs.rasp.program import RaspProgram
from kleene.programs.rasp.random_programs import random_program

PROGRAMS = {
    "length": lowered(lib.make_length(), "abc", 4),
    "reverse": lowered(lib.make_reverse(rasp.tokens), "abc", 4),
    "hist": lowered(lib.make_hist(), (1, 2, "x"), 4),
    "fractions": lowered(lib.make_frac_prevs(rasp.tokens == "x"), "xy", 4),
}


def random_rasp(seed: int) -> tuple[RaspProgram, list[list]] | None:
    """A random program with counts and averages, causal or not, and inputs of every length; None if it is refused."""
    made = random_program(seed, size=5, max_length=3)
    program = RaspProgram(made.expression, made.vocab, made.max_length, made.causal)
    try:
        assert program.lowered
    except ProgramError:
        return None
    chance = random.Random(seed)
    return program, [[chance.choice(program.vocab) for _ in range(n)] for n in (1, 2, 3, 3)]
