"""Sorts numbers, which may be equal, by odd-even transposition: neighbours swap until all are in order.

In each layer every position looks at one neighbour: at `turn` 0 it is the left one of a pair and keeps the smaller
number, at `turn` 1 it is the right one and keeps the larger. The turns alternate, so that the pairs do. N numbers are
in order after N such rounds; `done` spreads from the first position to the last in exactly that many layers.

At the ends there is no neighbour, which only attention can show: the average of `odd` over a position and its neighbour
is 1/2 where there is one, and the position's own 0 or 1 where there is none.
"""

from collections.abc import Sequence

from kleene.programs.alta import Program, halt_spec, input_var, numeric_var, program_spec, qkv, v_relative, var

VALUES, POSITIONS = 16, 400
TWO = 0.5  # the average of `odd` over two neighbours


def build(values: int = VALUES, positions: int = POSITIONS) -> Program:
    """A program that sorts up to `positions` numbers in 0..values-1.

    >>> build().run([2, 4, 1, 2]).output
    [1, 2, 2, 4]
    """
    variables = {
        "number": input_var(values),
        "turn": var(2, position_init_fn=lambda i: i % 2),
        "odd": numeric_var(values=(0, 1), position_init_fn=lambda i: i % 2),
        "done": var(2),
        "same": var(1),  # query and key of heads that select by distance alone
    }
    average = numeric_var(values=(0, TWO, 1))
    heads = {
        "number_left": v_relative("number", -1),
        "number_right": v_relative("number", 1),
        "done_left": v_relative("done", -1),
        "with_left": qkv("same", "same", "odd", {-1, 0}, output_spec=average),
        "with_right": qkv("same", "same", "odd", {0, 1}, output_spec=average),
    }
    return program_spec(
        variables, heads, _swap, "number", input_range=values, position_range=positions,
        halt=halt_spec("done"), name="sort",
    )  # fmt: skip


def _swap(z):
    if z["turn"] == 0:
        if z["with_right"] == TWO and z["number_right"] < z["number"]:
            z["number"] = z["number_right"]
    elif z["with_left"] == TWO and z["number_left"] > z["number"]:
        z["number"] = z["number_left"]
    z["turn"] = 1 - z["turn"]
    if z["with_left"] == TWO:
        z["done"] = z["done_left"]
    else:
        z["done"] = 1


def reference(tokens: Sequence[int]) -> list[int]:
    """The numbers in order."""
    return sorted(tokens)
