"""How often each token occurs in the whole sequence, in one layer.

Every position attends to all positions with its own letter, and to START. The average of a flag that is 1 at START
alone is then 1/(k + 1) for k occurrences, which the MLP turns back into k.
"""

from collections.abc import Sequence

from kleene.programs.alta import Program, input_var, program_spec, qkv, set_var, var
from kleene.programs.alta.library.counting import count, count_buckets, start_flag

LETTERS, LONGEST = 8, 16
START = LETTERS


def build(letters: int = LETTERS, longest: int = LONGEST) -> Program:
    """A histogram of up to `longest` letters 0..letters-1, which follow a START token (the number `letters`).

    >>> build().run([START, 0, 1, 0, 2]).output
    [0, 2, 1, 2, 1]
    """
    start = letters
    variables = {
        "letter": input_var(letters + 1),
        "alike": set_var(
            letters + 1, values=[{a, start} for a in range(letters + 1)], input_init_fn=lambda token: {token, start}
        ),
        "start": start_flag(start),
        "count": var(longest + 1),
    }
    heads = {"average": qkv("alike", "letter", "start", output_spec=count_buckets(longest))}

    def tally(z):
        z["count"] = count(z["average"])

    return program_spec(
        variables, heads, tally, "count", input_range=letters + 1, position_range=longest + 1, name="histogram"
    )


def reference(tokens: Sequence[int], start: int = START) -> list[int]:
    """The counts, computed with Python; 0 at START."""
    return [0 if token == start else tokens.count(token) for token in tokens]
