"""The distinct letters, most frequent first, ties by first occurrence; blanks fill what is left. Three layers.

1. Count each letter in the whole sequence and up to here. A position where its letter occurs for the first time joins
   the group of letters with that count; any other position becomes a blank and joins group 0.
2. A position's rank is the number of positions in higher groups plus the number in its own group up to here: sorting
   by counting, with the blanks last.
3. Every position reads the letter whose rank is its own position.

Counting is done as in `counting`: START, here a group of its own, is always among the positions averaged.
"""

from collections import Counter
from collections.abc import Sequence

from kleene.programs.alta import Program, halt_spec, input_var, position_var, program_spec, qkv, set_var, var
from kleene.programs.alta.library.counting import count, count_buckets, start_flag, up_to_here

LETTERS, LONGEST = 8, 16
START = BLANK = LETTERS  # the same number: START in the input, a blank in the output
COUNT, RANK, READ, DONE = range(4)


def build(letters: int = LETTERS, longest: int = LONGEST) -> Program:
    """A program that sorts the letters of up to `longest` tokens after START by how often they occur.

    >>> build().run([START, 0, 1, 1, 2]).output
    [8, 1, 0, 2, 8]
    """
    blank = start = letters
    start_group = longest + 1
    groups = range(longest + 2)

    def higher_than(group: int) -> set[int]:
        return {start_group, *range(group + 1, start_group)}

    variables = {
        "letter": input_var(letters + 1),
        "alike": set_var(
            letters + 1, values=[{a, start} for a in range(letters + 1)], input_init_fn=lambda token: {token, start}
        ),
        "start": start_flag(start),
        "group": var(len(groups), input_init_fn=lambda token: start_group if token == start else 0),
        "own_group": set_var(len(groups), values=[{g, start_group} for g in groups], default={start_group}),
        "higher_groups": set_var(len(groups), values=[higher_than(g) for g in groups], default={start_group}),
        "rank": var(longest + 1),
        "position": position_var(longest + 1),
        "step": var(4),
    }
    so_far, counts = up_to_here(longest + 1), count_buckets(longest)
    heads = {
        "same_letter": qkv("alike", "letter", "start", output_spec=counts),
        "same_letter_so_far": qkv("alike", "letter", "start", so_far, output_spec=counts),
        "higher": qkv("higher_groups", "group", "start", output_spec=counts),
        "same_group_so_far": qkv("own_group", "group", "start", so_far, output_spec=counts),
        "letter_ranked_here": qkv("position", "rank", "letter"),
    }

    def sort(z):
        if z["step"] == COUNT:
            occurrence = count(z["same_letter_so_far"])  # 0 at START
            if occurrence == 1:
                join(z, int(count(z["same_letter"])))
            elif occurrence > 1:
                join(z, 0)
                z["letter"] = blank
            z["step"] = RANK
        elif z["step"] == RANK:
            rank = count(z["higher"]) + count(z["same_group_so_far"])
            if rank <= longest:  # always true, but only attention makes sure
                z["rank"] = rank
            z["step"] = READ
        elif z["step"] == READ:
            z["letter"] = z["letter_ranked_here"]
            z["step"] = DONE

    def join(z, group: int):
        z["group"] = group
        z["own_group"] = {group, start_group}
        z["higher_groups"] = higher_than(group)

    return program_spec(
        variables, heads, sort, "letter", input_range=letters + 1, position_range=longest + 1,
        halt=halt_spec("step", DONE), name="most_frequent_sort",
    )  # fmt: skip


def reference(tokens: Sequence[int], start: int = START) -> list[int]:
    """The answer from Python's Counter, which keeps ties in order of first occurrence."""
    ranked = [letter for letter, _ in Counter(tokens[1:]).most_common()]
    return [start, *ranked] + [start] * (len(tokens) - 1 - len(ranked))
