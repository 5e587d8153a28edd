"""Parity of bits by four algorithms, which need networks of different depth and width.

- `absolute` and `relative` carry the running parity along, one position a layer: as many layers as bits. One finds
  its neighbour by position number, the other by distance, which works at any length.
- `sum_modulo` counts the ones in a single layer and asks whether the count is odd: as wide as the largest count.
- `sum_modulo_steps` does the same in two layers, with the count itself as a variable that can be seen in the trace.
"""

import itertools
import operator
from collections.abc import Sequence

from kleene.programs.alta import Program, halt_spec, input_var, position_var, program_spec, qkv, v_relative, var
from kleene.programs.alta.library.counting import count, count_buckets, start_flag
from kleene.programs.alta.library.inputs import bits

START = 2
POSITIONS, MOST_ONES = 400, 100


def absolute(positions: int = POSITIONS) -> Program:
    """Running parity. A position waits until its left neighbour is done, then adds the neighbour's parity.

    >>> absolute().run([1, 0, 1, 0, 1]).output
    [1, 1, 0, 0, 1]
    """
    variables = {
        "parity": input_var(2),
        "done": var(2, position_init_fn=lambda i: i == 0),
        "idx": position_var(positions),
        "idx_left": position_var(positions, lambda i: max(i - 1, 0)),
    }
    heads = {
        "parity_left": qkv("idx_left", "idx", "parity"),
        "done_left": qkv("idx_left", "idx", "done"),
    }
    return program_spec(
        variables, heads, _carry_along, "parity", input_range=2, position_range=positions,
        halt=halt_spec("done"), name="parity_absolute", inputs=bits(positions),
    )  # fmt: skip


def relative() -> Program:
    """Running parity of the bits after START, at any length: the neighbour is the position one to the left.

    >>> relative().run([START, 1, 0, 1, 0, 1]).output
    [0, 1, 1, 0, 0, 1]
    """
    variables = {
        "parity": var(2, input_init_fn=lambda token: token == 1),
        "done": var(2, input_init_fn=lambda token: token == START),
    }
    heads = {"parity_left": v_relative("parity", -1), "done_left": v_relative("done", -1)}
    return program_spec(
        variables, heads, _carry_along, "parity", input_range=3, halt=halt_spec("done"), name="parity_relative",
        inputs=bits(start=START),
    )  # fmt: skip


def _carry_along(z):
    if not z["done"] and z["done_left"]:
        z["parity"] = z["parity"] ^ z["parity_left"]
        z["done"] = 1


def sum_modulo(most_ones: int = MOST_ONES) -> Program:
    """The parity of all bits after START, at every position, in one layer. Takes up to `most_ones` bits.

    >>> sum_modulo().run([START, 1, 0, 1, 1]).output
    [1, 1, 1, 1, 1]
    """

    def count_and_halve(z):
        z["parity"] = count(z["average"]) % 2

    return program_spec(
        {"parity": var(2)} | _counted_variables(), _counting_head(most_ones), count_and_halve, "parity",
        input_range=3, position_range=most_ones + 1, name="parity_sum_modulo", inputs=bits(most_ones, START),
    )  # fmt: skip


def sum_modulo_steps(most_ones: int = MOST_ONES) -> Program:
    """The same in two layers: the first stores the number of ones, the second its parity.

    >>> trace = sum_modulo_steps().run([START, 1, 0, 1, 1])
    >>> trace["ones"][-1].tolist(), trace.output
    ([3, 3, 3, 3, 3], [1, 1, 1, 1, 1])
    """

    def store(z):
        z["ones"] = count(z["average"])

    def halve(z):
        z["parity"] = z["ones"] % 2  # of the count that the layer before stored

    return program_spec(
        {"parity": var(2), "ones": var(most_ones + 1)} | _counted_variables(), _counting_head(most_ones),
        [store, halve], "parity", input_range=3, position_range=most_ones + 1, max_layers=2,
        name="parity_sum_modulo_steps", inputs=bits(most_ones, START),
    )  # fmt: skip


def _counted_variables() -> dict:
    return {
        "start": start_flag(START),
        "counted": var(2, input_init_fn=lambda token: token in (1, START)),
        "one": var(2, default=1),
    }


def _counting_head(most_ones: int) -> dict:
    return {"average": qkv("one", "counted", "start", output_spec=count_buckets(most_ones))}


def running_parity(tokens: Sequence[int]) -> list[int]:
    """What `absolute` and `relative` give, computed directly."""
    return list(itertools.accumulate((int(token == 1) for token in tokens), operator.xor))


def whole_parity(tokens: Sequence[int]) -> list[int]:
    """What the two `sum_modulo` programs give, computed directly."""
    return [tokens.count(1) % 2] * len(tokens)
