"""Where two answers in JSON differ: numbers with a fraction within a tolerance, everything else exactly."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

EXACT = 1e-6  # relative; compiled networks and arithmetic
# Relative; what a few updates of training lead to. Sums of floats are ordered as the CPU and XLA's flags have it, and
# Adam divides by small gradients. A change of the training itself moves losses by a hundredth or more.
TRAINED = 1e-4
SHOWN = 8  # differences in a message
WIDTH = 100  # characters of a value in a message


def differences(old: Any, new: Any, tolerance: float, path: str = "") -> Iterator[str]:
    """A line for each place where the answers differ, such as `output[2]: 1 → 0`, in the order of the old answer.

    >>> list(differences({"a": [1, 2.0]}, {"a": [1, 2.0000001], "b": None}, 1e-6))
    ['b: (nothing) → None']
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            inner = f"{path}.{key}" if path else key
            if key in old and key in new:
                yield from differences(old[key], new[key], tolerance, inner)
            else:
                yield f"{inner}: {_found(old, key)} → {_found(new, key)}"
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path}: {len(old)} entries → {len(new)} entries"
        for number, (one, other) in enumerate(zip(old, new)):
            yield from differences(one, other, tolerance, f"{path}[{number}]")
    elif not _equal(old, new, tolerance):
        yield f"{path}: {_cut(old, new)} → {_cut(new, old)}"


def first_differences(old: Any, new: Any, tolerance: float) -> list[str]:
    """The first differences, and a last line that says so if there are more."""
    found = list(islice(differences(old, new, tolerance), SHOWN + 1))
    return found if len(found) <= SHOWN else [*found[:SHOWN], "… and more"]


def _equal(old: Any, new: Any, tolerance: float) -> bool:
    if type(old) is not type(new):
        return False
    if isinstance(old, float):
        return old == new or math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance / 10)
    return old == new


def _found(answer: dict[str, Any], key: str) -> str:
    return _cut(answer[key], None) if key in answer else "(nothing)"


def _cut(value: Any, other: Any) -> str:
    """The value in a few words; of a long text, the part around its first difference from the other."""
    if not isinstance(value, str) or not isinstance(other, str):
        shown = repr(value)
        return shown if len(shown) <= WIDTH else f"{shown[:WIDTH]}…"
    same = next((n for n, (a, b) in enumerate(zip(value, other)) if a != b), min(len(value), len(other)))
    start = max(0, same - WIDTH // 3)
    return ("…" if start else "") + repr(value[start : start + WIDTH]) + ("…" if start + WIDTH < len(value) else "")
