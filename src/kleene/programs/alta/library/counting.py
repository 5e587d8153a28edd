"""Counting by attention, because the average of a flag determines a count: histograms, and sorting by frequency.

A head that averages a flag which is 1 at the START token and 0 elsewhere, over START and k other positions,
reads 1/(k + 1). No two counts give the same average, so the MLP can turn it back into k. Other programs of the
library count in this way too; the largest count that they declare limits the length of their inputs.

The programs here read letters 0..letters-1, which follow a START token, the number `letters`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kleene.programs.alta import (
    Program,
    halt_spec,
    input_var,
    numeric_var,
    position_var,
    program_spec,
    qkv,
    set_var,
    var,
)
from kleene.programs.alta.library import inputs
from kleene.programs.alta.variables import Numeric, SetValued

LETTERS, LONGEST = 8, 16
START = BLANK = LETTERS  # the same number: START in the input, a blank in the output
COUNT, RANK, READ, DONE = range(4)  # the steps of `most_frequent_sort`


def start_flag(start: int) -> Numeric:
    """The variable to average: 1 at the START token, 0 elsewhere."""
    return numeric_var(values=(0, 1), input_init_fn=lambda token: token == start)


def count_buckets(most: int) -> Numeric:
    """The averages that stand for 0..`most` positions besides START: the `output_spec` of a head that counts."""
    return numeric_var(values=(1 / (k + 1) for k in range(most + 1)))


def count(average: Any) -> Any:
    """How many positions besides START went into the average.

    >>> count(0.25)
    3
    """
    return round(1 / average) - 1


def up_to_here(longest: int) -> frozenset[int]:
    """The offsets of a position itself and of all before it, in inputs of at most `longest` tokens."""
    return frozenset(range(1 - longest, 1))


def _alike(letters: int) -> SetValued:
    """A query for all positions with the same letter, and for START."""
    start = letters
    return set_var(
        letters + 1, values=[{a, start} for a in range(letters + 1)], input_init_fn=lambda token: {token, start}
    )


def histogram(letters: int = LETTERS, longest: int = LONGEST) -> Program:
    """How often each token occurs among up to `longest` letters 0..letters-1 after START, in one layer.

    Every position attends to all positions with its own letter, and to START.

    >>> histogram().run([START, 0, 1, 0, 2]).output
    [0, 2, 1, 2, 1]
    """
    start = letters
    variables = {
        "letter": input_var(letters + 1),
        "alike": _alike(letters),
        "start": start_flag(start),
        "count": var(longest + 1),
    }
    heads = {"average": qkv("alike", "letter", "start", output_spec=count_buckets(longest))}

    def tally(z):
        z["count"] = count(z["average"])

    return program_spec(
        variables, heads, tally, "count", input_range=letters + 1, position_range=longest + 1, name="histogram",
        inputs=_after_start(letters, longest),
    )  # fmt: skip


def double_histogram(letters: int = LETTERS, longest: int = LONGEST) -> Program:
    """For each token, how many different letters occur as often as it does (itself included), in two layers.

    Layer 1 is the histogram. In layer 2 every position attends to all positions with its own count, and to START, and
    so learns how many positions those are. Each letter among them takes `count` positions, so a division gives their
    number: in `abcc` 2, 2, 1, 1.

    >>> double_histogram().run([START, 0, 1, 2, 2]).output
    [0, 2, 2, 1, 1]
    """
    start = letters
    variables = {
        "letter": input_var(letters + 1),
        "alike": _alike(letters),
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
        name="double_histogram", inputs=_after_start(letters, longest),
    )  # fmt: skip


def most_frequent_sort(letters: int = LETTERS, longest: int = LONGEST) -> Program:
    """The distinct letters after START, most frequent first, ties by first occurrence; blanks fill what is left.

    1. Count each letter in the whole sequence and up to here. A position where its letter occurs for the first time
       joins the group of letters with that count; any other position becomes a blank and joins group 0.
    2. A position's rank is the number of positions in higher groups plus the number in its own group up to here:
       sorting by counting, with the blanks last.
    3. Every position reads the letter whose rank is its own position.

    START, here a group of its own, is always among the positions averaged.

    >>> most_frequent_sort().run([START, 0, 1, 1, 2]).output
    [8, 1, 0, 2, 8]
    """
    blank = start = letters
    start_group = longest + 1
    groups = range(longest + 2)

    def higher_than(group: int) -> set[int]:
        return {start_group, *range(group + 1, start_group)}

    variables = {
        "letter": input_var(letters + 1),
        "alike": _alike(letters),
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
        halt=halt_spec("step", DONE), name="most_frequent_sort", inputs=_after_start(letters, longest),
    )  # fmt: skip


def _after_start(letters: int, longest: int) -> inputs.Row:
    return inputs.letters(letters, "abac", longest, start=letters)


def occurrences(tokens: Sequence[int], start: int = START) -> list[int]:
    """What `histogram` gives, computed directly: the counts, and 0 at START."""
    return [0 if token == start else tokens.count(token) for token in tokens]


def equally_frequent(tokens: Sequence[int], start: int = START) -> list[int]:
    """What `double_histogram` gives, by counting letters with equal counts; 0 at START."""
    counts = {letter: tokens.count(letter) for letter in set(tokens) - {start}}
    return [0 if token == start else list(counts.values()).count(counts[token]) for token in tokens]


def by_frequency(tokens: Sequence[int], start: int = START) -> list[int]:
    """What `most_frequent_sort` gives, from Python's Counter, which keeps ties in order of first occurrence."""
    ranked = [letter for letter, _ in Counter(tokens[1:]).most_common()]
    return [start, *ranked] + [start] * (len(tokens) - 1 - len(ranked))
