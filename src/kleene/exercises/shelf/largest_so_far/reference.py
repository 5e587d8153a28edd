"""What `largest_so_far` has to compute."""

from itertools import accumulate


def reference(tokens: list) -> list:
    return list(accumulate(tokens, max))
