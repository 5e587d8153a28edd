"""Arrays as short JSON: exact entries in full or as a digest, numbers with a fraction in full or as a few sums."""

import hashlib
from typing import Any

import numpy as np

from tests.snapshots.normalising import rounded

MOST_ROW = 160  # entries of a row that is written in full
MOST_ROWS = 60  # rows that are written one by one
BEFORE = "as before"  # a row that is the one before it
MOST_NUMBERS = 48  # numbers with a fraction that are written in full
WHOLE = 1e-7  # how near to a whole number counts as one
SAMPLED = 8  # of more numbers, those that are written


def packed(array: Any) -> dict[str, Any]:
    """The shape of an array and its entries: rows of exact entries as text, numbers with a fraction as numbers.

    >>> packed(np.array([[1, 0], [1, -1]]))
    {'shape': [2, 2], 'rows': ['1 0', '1 -1']}
    """
    array = np.asarray(array)
    shape = {"shape": list(array.shape)}
    if array.size == 0:
        return shape
    if array.dtype.kind in "biu":
        return shape | _exact(array.astype(np.int64))
    array = array.astype(np.float64)
    nearest = np.rint(array)
    if (np.isnan(array) | (abs(array - nearest) <= WHOLE)).all():
        return shape | _exact(nearest)
    return shape | {"numbers": numbers(array)}


def numbers(array: Any) -> Any:
    """A few numbers in full; of many, a sample and sums that any change of one of them changes, too."""
    flat = np.asarray(array, dtype=np.float64).ravel()
    if len(flat) <= MOST_NUMBERS:
        return [rounded(number) for number in flat.tolist()]
    finite = np.where(np.isfinite(flat), flat, 0)
    places = 1 + np.arange(len(flat)) * 0.6180339887498949 % 1  # a weight for each place, from 1 to 2
    sums = [abs(finite).sum(), (abs(finite) * places).sum(), (finite.clip(min=0) * places).sum()]
    sample = flat[np.linspace(0, len(flat) - 1, SAMPLED).astype(int)]
    return {
        "undefined": int((~np.isfinite(flat)).sum()),
        "sums": [rounded(total) for total in map(float, sums)],
        "sample": [rounded(number) for number in sample.tolist()],
    }


def digest(content: bytes) -> str:
    """The first half of a SHA-256, which is enough to see a change."""
    return hashlib.sha256(content).hexdigest()[:16]


def _exact(array: np.ndarray) -> dict[str, Any]:
    rows = array.reshape(len(array), -1) if array.ndim > 1 else array.reshape(1, -1)
    if len(rows) > MOST_ROWS:
        return {"digest": digest(_row(array).encode())}
    written = [_short(_row(row)) if row.size > MOST_ROW else _row(row) for row in rows]
    return {"rows": [BEFORE if row == last else row for row, last in zip(written, [None, *written])]}


def _row(entries: np.ndarray) -> str:
    return " ".join("·" if entry != entry else f"{entry:.0f}" for entry in entries.ravel().tolist())


def _short(row: str) -> str:
    return f"digest {digest(row.encode())}"
