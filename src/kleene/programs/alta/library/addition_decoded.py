"""Addition as a decoder does it: the digits of the sum are written out one after the other, lowest first.

The prompt is `a + b =` with the digits of both numbers reversed and padded to the same length. A position that has just
received a digit of the sum finds, at fixed distances to its left, the two digits of its own column and the two of the
column before. The carry need not be stored, because it follows from the column before and the digit just written there.
One layer is enough at any length.
"""

from collections.abc import Sequence

from kleene.errors import InputError
from kleene.programs import alta

PLUS, EQUALS = 10, 11


def _digit(token):
    """A token's value in the sum; '+' and '=', which stand past the highest digits, count as 0."""
    return token * (token < 10)


def _mlp(z):
    if z["writing"]:
        carry = 0
        if z["token"] != EQUALS:
            column = _digit(z["a_before"]) + _digit(z["b_before"])
            carry = int(column > 9 or (column == 9 and z["token"] == 0))
        z["output"] = (_digit(z["a"]) + _digit(z["b"]) + carry) % 10


def build(digits: int = 20) -> alta.Program:
    """The program for numbers of up to `digits` digits."""
    first = 2 * digits + 1  # where '=' stands
    return alta.program_spec(
        variables={
            "token": alta.input_var(12),
            "writing": alta.position_var(2, lambda i: i >= first),
            "output": alta.var(10),
        },
        heads={
            "a": alta.v_relative("token", -first),
            "b": alta.v_relative("token", -digits),
            "a_before": alta.v_relative("token", -first - 1),
            "b_before": alta.v_relative("token", -digits - 1),
        },
        ffn_fn=_mlp,
        output_name="output",
        input_range=12,
        position_range=first + digits + 2,
        name="addition_decoded",
    )


def prompt(a: int, b: int, digits: int = 20) -> list[int]:
    """The tokens of `a + b =`, lowest digits first."""
    if min(a, b) < 0 or max(len(str(a)), len(str(b))) > digits:
        raise InputError(f"addition_decoded adds numbers from 0 of up to {digits} digits, and got {a} and {b}")
    left, right = ([int(c) for c in reversed(str(n).zfill(digits))] for n in (a, b))
    return [*left, PLUS, *right, EQUALS]


def number(written: Sequence[int]) -> int:
    """The number whose digits were written, lowest first.

    >>> number(build(digits=3).decode(prompt(789, 456, digits=3), tokens=4).tokens)
    1245
    """
    return int("".join(str(d) for d in reversed(written)) or "0")
