"""The sequence backwards, in two layers.

A position must know how long the sequence is before it knows where to read. The average over all positions of a flag
that is 1 at the first one is 1/N. Layer 1 turns it into N and so into the position to read, layer 2 reads there.
"""

from collections.abc import Sequence

from kleene.programs.alta import Program, input_var, numeric_var, position_var, program_spec, qkv, var

LETTERS, LONGEST = 8, 16


def build(letters: int = LETTERS, longest: int = LONGEST) -> Program:
    """A program that reverses up to `longest` letters 0..letters-1.

    >>> build().run([0, 1, 2, 3]).output
    [3, 2, 1, 0]
    """
    variables = {
        "letter": input_var(letters),
        "position": position_var(longest),
        "mirror": var(longest),
        "first": numeric_var(values=(0, 1), position_init_fn=lambda i: i == 0),
        "same": var(1),  # query and key of a head that reads all positions
        "reversed": var(letters),
    }
    heads = {
        "average": qkv("same", "same", "first", output_spec=numeric_var(values=(1 / n for n in range(1, longest + 1)))),
        "letter_there": qkv("mirror", "position", "letter"),
    }

    def reverse(z):
        length = round(1 / z["average"])
        if z["position"] < length:  # always true, but only attention makes sure
            z["mirror"] = length - 1 - z["position"]
        z["reversed"] = z["letter_there"]  # at the mirror position that the layer before stored

    return program_spec(
        variables, heads, reverse, "reversed", input_range=letters, position_range=longest, max_layers=2, name="reverse"
    )


def reference(tokens: Sequence[int]) -> list[int]:
    """The tokens backwards."""
    return list(reversed(tokens))
