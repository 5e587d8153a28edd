"""Addition of two numbers of any length, digit by digit from the right, as on paper.

The input is START a + b END, both numbers padded with zeros to the same length. Three pointers walk to the left
together: at the digit of a, at the digit of b, and at the place where a digit of the sum goes, which is the digit of
b itself. Each layer adds the two digits and the carry, which every position holds. When the pointer into a arrives
at START, the carry goes to the place of the '+': the sum stands where '+' and b stood. N digits take N + 3 layers.

The MLP is three functions that write different variables. Each runs on all values of what it reads: pointers and
digits together would be a hundred times as many.
"""

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kleene.errors import InputError
from kleene.programs.alta import Program, halt_spec, input_var, program_spec, qkv, v_relative, var

START, ADD, END = 10, 11, 12
INIT, ITERATE, FINALIZE, DONE = range(4)


def build() -> Program:
    """The addition program.

    >>> build().run(tokens("789", "456")).output
    [0, 0, 0, 0, 1, 2, 4, 5, 0]
    """
    variables = {
        "token": input_var(13),
        "step": var(4),
        "ptr_a": var(2),
        "ptr_b": var(2),
        "ptr_out": var(2),
        "value_carry": var(10),
        "value_out": var(10),
        "one": var(2, default=1),
    }
    heads = {
        "token_right": v_relative("token", 1),
        "ptr_a_right": v_relative("ptr_a", 1),
        "ptr_b_right": v_relative("ptr_b", 1),
        "ptr_out_right": v_relative("ptr_out", 1),
        "ptr_a_token": qkv("one", "ptr_a", "token"),
        "ptr_b_token": qkv("one", "ptr_b", "token"),
    }
    return program_spec(
        variables, heads, [_next_step, _move_pointers, _add_digits], "value_out", input_range=13,
        halt=halt_spec("step", DONE), name="addition", inputs=Summands(),
    )  # fmt: skip


def _next_step(z):
    if z["step"] == INIT:
        z["step"] = ITERATE
    elif z["step"] == ITERATE:
        if z["ptr_a_token"] == START:
            z["step"] = FINALIZE
    elif z["step"] == FINALIZE:
        z["step"] = DONE


def _move_pointers(z):
    if z["step"] == INIT:
        if z["token"] != END:  # END has nothing to its right
            if z["token_right"] == ADD:
                z["ptr_a"] = 1
            if z["token_right"] == END:
                z["ptr_b"] = 1
                z["ptr_out"] = 1
    elif z["step"] == ITERATE and z["ptr_a_token"] != START and z["token"] != END:
        for pointer in ("ptr_a", "ptr_b", "ptr_out"):
            z[pointer] = z[f"{pointer}_right"]


def _add_digits(z):
    if z["step"] == ITERATE and z["ptr_a_token"] != START:
        total = z["value_carry"] + z["ptr_a_token"] + z["ptr_b_token"]
        z["value_carry"] = total // 10
        if z["ptr_out"]:
            z["value_out"] = total % 10
    elif z["step"] == FINALIZE and z["ptr_out"]:
        z["value_out"] = z["value_carry"]


def tokens(a: str, b: str) -> list[int]:
    """The input for two numbers in decimal digits.

    >>> tokens("7", "12")
    [10, 0, 7, 11, 1, 2, 12]
    """
    length = max(len(a), len(b))
    first, second = ([int(digit) for digit in number.zfill(length)] for number in (a, b))
    return [START, *first, ADD, *second, END]


def digits_of_sum(inputs: Sequence[int], outputs: Sequence[int]) -> list[int]:
    """The digits of the sum in the program's output: from the place of the '+' to the last digit of b."""
    return list(outputs[inputs.index(ADD) : inputs.index(END)])


def reference(tokens: Sequence[int]) -> list[int]:
    """The program's output, computed with Python's own addition."""
    plus, end = tokens.index(ADD), tokens.index(END)
    a, b = (int("".join(map(str, number))) for number in (tokens[1:plus], tokens[plus + 1 : end]))
    total = str(a + b).zfill(end - plus)
    return [0] * plus + [int(digit) for digit in total] + [0]


@dataclass(frozen=True)
class Summands:
    """Two whole numbers to add."""

    example: str = "789 456"

    def read(self, words: Sequence[str]) -> list[int]:
        found = " ".join(words).replace("+", " ").split()
        if len(found) != 2 or not all(re.fullmatch("[0-9]+", word) for word in found):
            got = " ".join(words) or "nothing"
            raise InputError(f"got {got!r}; give two whole numbers from zero up, for example: {self.example}")
        return tokens(*(word.lstrip("0") or "0" for word in found))

    def sample(self, rng: random.Random, size: int) -> list[int]:
        """Two numbers of up to `size` digits, leading zeros included."""
        return tokens(*("".join(rng.choices("0123456789", k=max(1, size))) for _ in range(2)))

    def every(self, most: int) -> Iterator[list[int]]:
        """Up to `most` digits in both numbers together, but at least one in each."""
        for length in range(1, max(1, most // 2) + 1):
            for digits in itertools.product("0123456789", repeat=2 * length):
                yield tokens("".join(digits[:length]), "".join(digits[length:]))

    def spelled(self, token: int) -> str:
        return {START: "START", ADD: "+", END: "END"}.get(token, str(token))
