"""RASP programs that go through every format: a count, a copy, a mean, and words that are not letters."""

from kleene.programs import rasp
from kleene.programs.rasp import lib
from kleene.programs.rasp.lowering import lowered

PROGRAMS = {
    "length": lowered(lib.make_length(), "abc", 4),
    "reverse": lowered(lib.make_reverse(rasp.tokens), "abc", 4),
    "hist": lowered(lib.make_hist(), (1, 2, "x"), 4),
    "fractions": lowered(lib.make_frac_prevs(rasp.tokens == "x"), "xy", 4),
}
