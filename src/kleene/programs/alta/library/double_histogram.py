"""For each token, how many different letters occur as often as it does (itself included), in two layers.

Layer 1 is the histogram. In layer 2 every position attends to all positions with its own count, and to START, and so
learns how many positions those are. Each letter among them takes `count` positions, so a division gives their
number.
"""

from collections.abc import Sequence

from kleene.programs.alta import Program, input_var, program_spec, qkv, set_var, var
from kleene.programs.alta.library.counting import count, count_buckets, start_flag

LETTERS, LONGEST = 8, 16
START = LETTERS


def build(letters: int = LETTERS, longest: int = LONGEST) -> Program:
    """The double histogram of up to `longest` letters after START, in `abcc` for example 2, 2, 1, 1.

    >>> build().run([START, 0, 1, 2, 2]).output
    [0, 2, 2, 1, 1]
    """
    start = letters
    variables = {
        "letter": input_var(letters + 1),
        "alike": set_var(
            letters + 1, values=[{a, start} for a in range(letters + 1)], input_init_fn=lambda token: {token, start}
        ),
        "start": start_flag(start),
        "count": var(longest + 1),  # 0 at START, and elsewhere until it is known
        "as_frequent": set_var(longest + 1, values=[{0, k} for k in range(longest + 1)]),
        "letters": var(longest + 1),
    }
    heads = {
        "same_letter": qkv("alike", "letter", "start", output_spec=count_buckets(longest)),
        "same_count": qkv("as_frequent", "count", "start", output_spec=count_buckets(longest)),
    }

    def tally_twice(z):
        if z["count"] == 0:
            occurrences = count(z["same_letter"])
            z["count"] = occurrences
            z["as_frequent"] = {0, int(occurrences)}
        else:
            z["letters"] = count(z["same_count"]) // z["count"]

    return program_spec(
        variables, heads, tally_twice, "letters", input_range=letters + 1, position_range=longest + 1, max_layers=2,
        name="double_histogram",
    )  # fmt: skip


def reference(tokens: Sequence[int], start: int = START) -> list[int]:
    """The answer by counting letters with equal counts; 0 at START."""
    counts = {letter: tokens.count(letter) for letter in set(tokens) - {start}}
    return [0 if token == start else list(counts.values()).count(counts[token]) for token in tokens]
