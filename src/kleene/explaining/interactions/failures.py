"""What goes wrong in methods that are judged: a line for each problem, so that the others can go on."""

import re
from typing import Any

import numpy as np

from kleene.errors import InputError

FAILURES = (Exception, SystemExit)  # what a method may raise; Ctrl-C is not its own, and stops the judge


class MethodFailures:
    """The failures of methods on networks, as they come.

    Those of one method that differ only in numbers and in what is quoted, such as the shape or the word of a network,
    are one line, which counts the networks.

    >>> failures = MethodFailures()
    >>> for name in ("shift", "hist"):
    ...     failures.add("mine", name, "compiled", KeyError("x"))
    >>> failures.lines()
    ("mine on 2 networks, first: shift (compiled): KeyError: 'x'",)
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[str]] = {}

    def add(self, method: str, network: str, family: str, error: BaseException) -> None:
        kind = "" if isinstance(error, InputError) else type(error).__name__
        told = ": ".join(filter(None, (kind, str(error))))
        alike = re.sub(r"'[^']*'|\d+", "", told)
        self._found.setdefault((method, alike), []).append(f"{network} ({family}): {told}")

    def lines(self) -> tuple[str, ...]:
        return tuple(
            f"{method} on {some[0]}" if len(some) == 1 else f"{method} on {len(some)} networks, first: {some[0]}"
            for (method, _), some in self._found.items()
        )


def real_numbers(given: Any) -> np.ndarray:
    """What a method returned as an array of real numbers; an `InputError` if it is none.

    >>> real_numbers([[1, 2]]).tolist()
    [[1.0, 2.0]]
    """
    try:
        found = np.asarray(given)
        if not _is_complex(found):
            return found.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"it returned {type(given).__name__}, and an array of numbers was expected") from None
    raise InputError("it returned complex numbers, and real ones were expected; return their absolute values, or parts")


def _is_complex(found: np.ndarray) -> bool:
    entries = found.ravel() if found.dtype == object else ()
    return np.iscomplexobj(found) or any(isinstance(one, (complex, np.complexfloating)) for one in entries)
