"""Numbers from people and from files, and their bounds."""

import re
from fractions import Fraction
from numbers import Integral
from typing import Any

from kleene.errors import InputError


def checked_count(value: Any, name: str, what: str, least: int = 0) -> int:
    """The number as a plain int. Raises unless it is an integer of at least `least`; booleans are rejected.

    >>> import numpy as np
    >>> checked_count(np.int64(5), "max_steps", "it is a number of steps, 0 or more")
    5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} is {value!r}; {what}")
    return int(value)


def read_count(text: str, most_digits: int = 18) -> int | None:
    """The whole number, 0 or more, that a string spells; None where it spells none, or one of too many digits.

    >>> read_count("12"), read_count("-1"), read_count("9" * 30)
    (12, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most_digits else None


def read_fraction(text: str, most_digits: int = 4000) -> Fraction:
    """The exact number that a string such as 1/2, 3 or 2.5e3 spells; a ValueError where it has too many digits.

    >>> read_fraction("-1/2"), read_fraction("2.5e3")
    (Fraction(-1, 2), Fraction(2500, 1))
    """
    exponent = re.search(r"[eE]([+-]?[0-9_]+)\s*$", text[-most_digits:])
    tens = exponent[1].lstrip("+-0_") if exponent else ""
    if len(text) > most_digits or len(tens) > 6 or int(tens or 0) > most_digits:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise ValueError(f"the number {shown} has more than {most_digits:,} digits")
    return Fraction(text)
