"""Predict the next token as an induction head does: what followed this token the last time it occurred?

Everything moves by one position a layer. `shifted` is the sequence shifted to the right, one more position in each
layer: after t layers a position holds the token that stands t positions before it. When what arrives equals the
position's own token, that is its latest earlier occurrence, and what the position held until then is the token that
followed it. When START arrives, there was no earlier occurrence. A run takes at most as many layers as there are
letters, at any length.
"""

from collections.abc import Sequence

from kleene.programs.alta import Program, halt_spec, input_var, program_spec, v_relative, var

LETTERS = 8
START = BLANK = LETTERS  # the same number: START in the input, a blank in the output


def build(letters: int = LETTERS) -> Program:
    """An induction head over letters 0..letters-1, which follow a START token (the number `letters`).

    >>> build().run([START, 0, 1, 2, 0, 1]).output
    [8, 8, 8, 8, 1, 2]
    """
    start = blank = letters
    variables = {
        "token": input_var(letters + 1),
        "shifted": input_var(letters + 1),
        "prediction": var(letters + 1, default=blank),
        "done": var(2, input_init_fn=lambda token: token == start),
    }
    heads = {"arriving": v_relative("shifted", -1)}

    def shift_and_compare(z):
        if z["token"] != start:  # START has nothing to its left, and stays
            z["shifted"] = z["arriving"]
            if not z["done"]:
                if z["arriving"] == start:
                    z["done"] = 1
                elif z["arriving"] == z["token"]:
                    z["prediction"] = z["shifted"]
                    z["done"] = 1

    return program_spec(
        variables, heads, shift_and_compare, "prediction", input_range=letters + 1,
        halt=halt_spec("done"), name="induction_head",
    )  # fmt: skip


def reference(tokens: Sequence[int], blank: int = BLANK) -> list[int]:
    """The token that last followed each token, computed with a dict."""
    followed_by: dict[int, int] = {}
    found = []
    for position, token in enumerate(tokens):
        if position:
            followed_by[tokens[position - 1]] = token
        found.append(followed_by.get(token, blank))
    return found
