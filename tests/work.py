"""How much work a function does, as a number that is the same on every machine and under any load."""

import cProfile
from collections.abc import Callable
from typing import Any

CHECKERS = ("beartype", "jaxtyping", "typechecking.py")  # parts of the paths of what checks annotations in the tests


def calls(function: Callable[[], Any]) -> int:
    """How many functions, of Python and of C, are called while this one runs; those that check annotations are not."""
    profile = cProfile.Profile()
    profile.runcall(function)
    ours = [entry for entry in profile.getstats() if not isinstance(entry.code, str) and not _is_checking(entry.code)]
    of_c = [called for entry in ours for called in entry.calls or () if isinstance(called.code, str)]
    return sum(entry.callcount for entry in (*ours, *of_c))


def _is_checking(code: Any) -> bool:
    return any(part in code.co_filename for part in CHECKERS)
