"""Shares of what was counted, with their intervals."""

from math import sqrt

Z = 1.96  # standard errors in a 95% interval


def interval(hits: int, of: int) -> tuple[float, float]:
    """The 95% interval of a share (Wilson), which is right for few seeds and for shares of 0 and 1 too.

    >>> low, high = interval(9, 10)
    >>> round(low, 2), round(high, 2)
    (0.6, 0.98)
    """
    share, spread = hits / of, Z * Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = Z * sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)
