"""Which fraction of the tokens so far, the current one included, is a given letter? One layer, two numbers wide.

A head that attends to all positions up to here, and averages a flag that is 1 at the letter, reads the fraction
itself. The declared values are all fractions with denominators up to the longest input; the output is the index of
the one that was read.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from kleene.programs.alta import Program, numeric_var, program_spec, qkv, var
from kleene.programs.alta.library.counting import up_to_here

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
LETTER, LONGEST = "l", 16


@cache
def fractions(longest: int = LONGEST) -> tuple[Fraction, ...]:
    """All fractions from 0 to 1 with denominators up to `longest`, in order.

    >>> [str(fraction) for fraction in fractions(3)]
    ['0', '1/3', '1/2', '2/3', '1']
    """
    return tuple(sorted({Fraction(a, b) for b in range(1, longest + 1) for a in range(b + 1)}))


def build(letter: str = LETTER, longest: int = LONGEST) -> Program:
    """A program for up to `longest` letters a..z as tokens 0..25.

    >>> hello = [ALPHABET.index(letter) for letter in "hello"]
    >>> [str(fractions()[index]) for index in build().run(hello).output]
    ['0', '0', '1/3', '1/2', '2/5']
    """
    index = {float(fraction): i for i, fraction in enumerate(fractions(longest))}
    wanted = ALPHABET.index(letter)
    variables = {
        "hit": numeric_var(values=(0, 1), input_init_fn=lambda token: token == wanted),
        "same": var(1),  # query and key of a head that selects by distance alone
        "fraction": var(len(index)),
    }
    heads = {"average": qkv("same", "same", "hit", up_to_here(longest), output_spec=numeric_var(values=index))}

    def look_up(z):
        z["fraction"] = index[z["average"]]

    return program_spec(
        variables, heads, look_up, "fraction", input_range=len(ALPHABET), position_range=longest,
        name="fraction_previous",
    )  # fmt: skip


def reference(tokens: Sequence[int], letter: str = LETTER, longest: int = LONGEST) -> list[int]:
    """The indices of the fractions, computed by counting."""
    wanted, known = ALPHABET.index(letter), fractions(longest)
    return [known.index(Fraction(tokens[:n].count(wanted), n)) for n in range(1, len(tokens) + 1)]
