"""Arrays as short text: little-endian bytes, deflated, in base64; and codes for entries that repeat.

The step is stored as the last axis, because entries seldom change from step to step, and equal neighbours deflate to
almost nothing. A browser reads the bytes with its own `DecompressionStream`.
"""

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

INTEGERS = (np.int8, np.int16, np.int32)


def packed(array: np.ndarray) -> dict[str, Any]:
    """The array as plain data, its first axis moved to the end; floats have the precision of float32.

    >>> unpacked(packed(np.array([[1, 2], [3, 4], [5, 6]]))).tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    kind = _narrow(array) if array.dtype.kind in "iub" else np.float32
    turned = np.moveaxis(array, 0, -1) if array.ndim else array
    stored = np.ascontiguousarray(turned, dtype=np.dtype(kind).newbyteorder("<"))
    data = base64.b64encode(zlib.compress(stored.tobytes(), 9)).decode()
    return {"type": np.dtype(kind).name, "shape": list(stored.shape), "data": data}


def unpacked(content: Mapping[str, Any]) -> np.ndarray:
    """The array that `packed` described, its step axis first again."""
    raw = zlib.decompress(base64.b64decode(content["data"]))
    array = np.frombuffer(raw, dtype=np.dtype(content["type"]).newbyteorder("<")).reshape(content["shape"])
    return np.moveaxis(array, -1, 0) if array.ndim else array


def _narrow(array: np.ndarray) -> type:
    low, high = int(array.min(initial=0)), int(array.max(initial=0))
    return next(kind for kind in INTEGERS if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)


def coded_numbers(array: np.ndarray) -> tuple[list[float], np.ndarray]:
    """The different numbers in ascending order, and an array of their codes; NaN has the code -1.

    >>> values, codes = coded_numbers(np.array([0.5, np.nan, 0.25, 0.5]))
    >>> values, codes.tolist()
    ([0.25, 0.5], [1, -1, 0, 1])
    """
    values = np.unique(array[~np.isnan(array)])
    codes = np.searchsorted(values, np.nan_to_num(array)) if len(values) else np.zeros(array.shape, dtype=np.int64)
    return values.tolist(), np.where(np.isnan(array), -1, codes)


def coded_sets(members: np.ndarray) -> tuple[list[list[int]], np.ndarray]:
    """The different sets along the last axis of a boolean array, as lists of members, and the code of each entry.

    >>> sets, codes = coded_sets(np.array([[True, False, True], [False, False, False], [True, False, True]]))
    >>> sets, codes.tolist()
    ([[], [0, 2]], [1, 0, 1])
    """
    width = members.shape[-1]
    if not width:
        return [[]], np.zeros(members.shape[:-1], dtype=np.int64)
    rows = np.packbits(members.reshape(-1, width), axis=1)
    found, codes = np.unique(rows, axis=0, return_inverse=True)
    sets = [np.flatnonzero(row[:width]).tolist() for row in np.unpackbits(found, axis=1)]
    return sets, codes.reshape(members.shape[:-1])
