"""Attention, run symbolically: what a head reads is a lookup, not a sum over all pairs of positions.

Keys are counted once, and queries looked up among the counts. What a head cannot read carries a reason.
"""

from typing import Any

import numpy as np

from kleene.errors import Reason
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.heads import Head
from kleene.programs.alta.variables import Numeric, SetValued

State = dict[str, np.ndarray]  # (batch, position): codes, or numbers for numeric variables


def attend(
    program: Definition,
    name: str,
    head: Head,
    state: State,
    lengths: np.ndarray,
    inside: np.ndarray,
    matches: "Matches",
) -> tuple[np.ndarray, np.ndarray]:
    """What a head reads at every position, and why it is undefined where it is (0 where it is not).

    `matches` knows what the queries of this layer find.
    """
    value, numeric = state[head.value], isinstance(program.outputs[name], Numeric)
    if head.query is None and len(head.offsets) == 1 and not numeric:
        return _shifted(value, next(iter(head.offsets)), lengths)
    if not head.offsets and not numeric:
        at, reason = matches.of(head.query or "", head.key or "")
        return np.where(reason == 0, value.reshape(-1)[at], value.dtype.type(-1)), reason
    if head.offsets:
        count, total, reachable = _select_near(program, head, state, lengths)
    else:
        count, total = _average_anywhere(program, head, state, inside)
        reachable = np.ones_like(inside)
    reason = np.where(count > 0, 0, np.where(reachable, Reason.NO_MATCH, Reason.EDGE))
    variable = program.outputs[name]
    if isinstance(variable, Numeric):
        average = np.divide(total, count, out=np.full(value.shape, np.nan), where=count > 0)
        blurred = (count > 0) & variable.blurred(np.nan_to_num(average))
        return average, np.where(blurred, Reason.BETWEEN, reason)
    reason = np.where(count > 1, Reason.SEVERAL, reason)
    return np.where(reason == 0, total, -1).astype(value.dtype), reason


class Matches:
    """Where queries find their keys in one layer: each key is counted once, each query answered once."""

    def __init__(self, program: Definition, state: State, inside: np.ndarray):
        self._program, self._state, self._inside = program, state, inside
        self._counted: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._answered: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}

    def of(self, query: str, key: str) -> tuple[np.ndarray, np.ndarray]:
        """The one place that matches, as an index into the flat (batch, position), and why there is none (else 0)."""
        if (query, key) not in self._answered:
            count, place = asked(self._program.variables[query], self._state[query], *self._places(key))
            several = np.where(count == 0, np.int8(Reason.NO_MATCH), np.int8(Reason.SEVERAL))
            single = count == 1
            self._answered[query, key] = np.where(single, place, 0), np.where(single, np.int8(0), several)
        return self._answered[query, key]

    def _places(self, key: str) -> tuple[np.ndarray, np.ndarray]:
        """For every value of the key, how many positions have it, and the last of them; 0 where none has."""
        if key not in self._counted:
            batch, width = self._inside.shape
            keys = self._program.sizes[key]
            # What lies outside a sequence has one value more, which is counted and then forgotten.
            cell = np.where(self._inside, self._state[key], keys) + np.arange(batch)[:, None] * (keys + 1)
            place = np.zeros(batch * (keys + 1), dtype=np.intp)
            place[cell.reshape(-1)] = np.arange(batch * width)
            count = np.bincount(cell.reshape(-1), minlength=len(place))
            shape = (batch, keys + 1)
            self._counted[key] = count.reshape(shape)[:, :keys], place.reshape(shape)[:, :keys]
        return self._counted[key]


def asked(variable: Any, query: np.ndarray, *by_key: np.ndarray) -> list[np.ndarray]:
    """Sums over the keys that a query names, of arrays (batch, key): the key itself, or every member of a set."""
    keys = by_key[0].shape[1]
    if isinstance(variable, SetValued):
        by_key = tuple(a @ members_of(variable, keys).T for a in by_key)
    width = by_key[0].shape[1]
    fits = query < width
    row, query = np.arange(len(query))[:, None], np.minimum(query, width - 1)
    return [np.where(fits, a[row, query], 0) for a in by_key]


def _shifted(value: np.ndarray, offset: int, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What stands `offset` to the right of every position."""
    width = value.shape[1]
    read = np.full_like(value, -1)
    if 0 <= offset < width:
        read[:, : width - offset] = value[:, offset:]
    elif -width < offset < 0:
        read[:, -offset:] = value[:, :offset]
    at = np.arange(width) + offset
    fits = (at >= 0) & (at < lengths[:, None])
    read[~fits] = -1
    return read, np.where(fits, 0, np.int8(Reason.EDGE))


def _average_anywhere(program: Definition, head: Head, state: State, inside: np.ndarray) -> list[np.ndarray]:
    """How many positions each query selects, and the total of their numbers: counted once for each key."""
    keys = program.sizes[head.key or ""]
    batch = len(inside)
    cell = (np.arange(batch)[:, None] * keys + state[head.key or ""])[inside]
    count = np.bincount(cell, minlength=batch * keys).reshape(batch, keys)
    weights = state[head.value][inside].astype(np.float64)
    total = np.bincount(cell, weights=weights, minlength=batch * keys).reshape(batch, keys)
    return asked(program.variables[head.query or ""], state[head.query or ""], count, total)


def _select_near(program: Definition, head: Head, state: State, lengths: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same for a head that reads only at given distances: one shifted comparison for each."""
    value = state[head.value]
    batch, width = value.shape
    count, total = np.zeros((batch, width), dtype=np.int64), np.zeros((batch, width))
    reachable = np.zeros((batch, width), dtype=bool)
    at = np.arange(width)
    for offset in sorted(o for o in head.offsets if -width < o < width):
        source = np.clip(at + offset, 0, width - 1)
        match = (at + offset >= 0) & (at + offset < lengths[:, None])
        reachable |= match
        if head.query is not None and head.key is not None:
            query, key = state[head.query], state[head.key][:, source]
            variable = program.variables[head.query]
            if isinstance(variable, SetValued):
                match = match & members_of(variable, program.sizes[head.key])[query, key].astype(bool)
            else:
                match = match & (query == key)
        count += match
        total += np.where(match, value[:, source], 0)
    return count, total, reachable


def members_of(variable: SetValued, keys: int) -> np.ndarray:
    """Which keys are members of each set that the variable can hold: 1 or 0, of shape (set, key)."""
    members = np.zeros((len(variable.values), keys), dtype=np.int64)
    for code, elements in enumerate(variable.values):
        members[code, [e for e in elements if e < keys]] = 1
    return members
