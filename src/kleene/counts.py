"""Numbers from people and from files, and their bounds."""

import re
from fractions import Fraction
from numbers import Integral
from typing import Any

from kleene.errors import InputError


def checked_count(value: Any, name: str, what: str, least: int = 0) -> int:
    """The number as a plain int; refuses what is no whole number (True is none), or too small.

    >>> import numpy as np
    >>> checked_count(np.int64(5), "max_steps", "it is a number of steps, 0 or more")
    5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} is {value!r}; {what}")
    return int(value)


def read_count(text: str, most_digits: int = 18) -> int | None:
    """The whole number, 0 or more, that a text is; None where it is none, or has too many digits to count anything.

    >>> read_count("12"), read_count("-1"), read_count("9" * 30)
    (12, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most_digits else None


def read_fraction(text: str, most_digits: int = 4000) -> Fraction:
    """The exact number that a text such as 1/2, 3 or 2.5e3 is; a ValueError where written out it is too long.

    >>> read_fraction("-1/2"), read_fraction("2.5e3")
    (Fraction(-1, 2), Fraction(2500, 1))
    """
    exponent = re.search(r"[eE]([+-]?[0-9_]+)\s*$", text[-most_digits:])
    tens = exponent[1].lstrip("+-0_") if exponent else ""
    if len(text) > most_digits or len(tens) > 6 or int(tens or 0) > most_digits:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise ValueError(f"the number {shown} has more than {most_digits:,} digits")
    return Fraction(text)
