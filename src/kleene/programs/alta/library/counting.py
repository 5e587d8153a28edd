"""Counting by attention: the average of a flag determines a count.

A head that averages a flag which is 1 at the START token and 0 elsewhere, over START and k other positions,
reads 1/(k + 1). No two counts give the same average, so the MLP can turn it back into k. Several programs of the
library count in this way; the largest count that they declare limits the length of their inputs.
"""

from typing import Any

from kleene.programs.alta import numeric_var
from kleene.programs.alta.variables import Numeric


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
