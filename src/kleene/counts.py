"""Numbers that a person gives as limits: of steps, of states."""

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
