"""Programs that move tokens along the sequence: to where they stand backwards, into order, and past each other."""

from collections.abc import Sequence

from kleene.programs.alta import (
    Program,
    halt_spec,
    input_var,
    numeric_var,
    position_var,
    program_spec,
    qkv,
    v_relative,
    var,
)
from kleene.programs.alta.library import inputs

LETTERS, LONGEST = 8, 16
START = BLANK = LETTERS  # the same number: START in the input, a blank in the output
VALUES, POSITIONS = 16, 400
TWO = 0.5  # the average of `odd` over two neighbours


def reverse(letters: int = LETTERS, longest: int = LONGEST) -> Program:
    """Up to `longest` letters 0..letters-1 backwards, in two layers.

    A position must know how long the sequence is before it knows where to read. The average over all positions of a
    flag that is 1 at the first one is 1/N. Layer 1 turns it into N and so into the position to read, layer 2 reads
    there.

    >>> reverse().run([0, 1, 2, 3]).output
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

    def read_mirror(z):
        length = round(1 / z["average"])
        if z["position"] < length:  # always true, but only attention makes sure
            z["mirror"] = length - 1 - z["position"]
        z["reversed"] = z["letter_there"]  # at the mirror position that the layer before stored

    return program_spec(
        variables,
        heads,
        read_mirror,
        "reversed",
        input_range=letters,
        position_range=longest,
        max_layers=2,
        name="reverse",
        inputs=inputs.letters(letters, "abcd", longest),
    )


def sort(values: int = VALUES, positions: int = POSITIONS) -> Program:
    """Up to `positions` numbers in 0..values-1 in order: neighbours swap until all are (odd-even transposition).

    In each layer every position looks at one neighbour: at `turn` 0 it is the left one of a pair and keeps the smaller
    number, at `turn` 1 it is the right one and keeps the larger. The turns alternate, so that the pairs do. N numbers
    are in order after N such rounds; `done` spreads from the first position to the last in exactly that many layers.

    At the ends there is no neighbour, which only attention can show: the average of `odd` over a position and its
    neighbour is 1/2 where there is one, and the position's own 0 or 1 where there is none.

    >>> sort().run([2, 4, 1, 2]).output
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
        halt=halt_spec("done"), name="sort", inputs=inputs.Integers(0, values - 1, 1, positions, "3 5 4 2"),
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


def induction_head(letters: int = LETTERS) -> Program:
    """The next token as an induction head predicts it: what followed this token the last time it occurred?

    The letters 0..letters-1 follow a START token (the number `letters`). `shifted` is the sequence shifted to the
    right, one more position in each layer: after t layers a position holds the token that stands t positions before
    it. When what arrives equals the position's own token, that is its latest earlier occurrence, and what the position
    held until then is the token that followed it. When START arrives, there was no earlier occurrence. A run takes at
    most as many layers as there are letters, at any length.

    >>> induction_head().run([START, 0, 1, 2, 0, 1]).output
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
        halt=halt_spec("done"), name="induction_head", inputs=inputs.letters(letters, "abcab", start=letters),
    )  # fmt: skip


def backwards(tokens: Sequence[int]) -> list[int]:
    """What `reverse` gives."""
    return list(reversed(tokens))


def in_order(tokens: Sequence[int]) -> list[int]:
    """What `sort` gives."""
    return sorted(tokens)


def last_followers(tokens: Sequence[int], blank: int = BLANK) -> list[int]:
    """What `induction_head` gives: the token that last followed each token, from a dict."""
    followed_by: dict[int, int] = {}
    found = []
    for position, token in enumerate(tokens):
        if position:
            followed_by[tokens[position - 1]] = token
        found.append(followed_by.get(token, blank))
    return found
