"""Pairs of what the MLP is given and what it must make of it, at every layer and position of a program's runs.

These pairs are the data set of ALTA's reconstruction loss (Appendix B.4). Values are codes; -1 is null.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.explaining.programs.watching import Codes, watch
from kleene.notation.words import Tokens
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Categorical

Assignment = Mapping[str, int | None]
MERGED = 1 << 20  # pairs of single layers that are kept before they are merged


@dataclass(frozen=True, eq=False, repr=False)
class MLPPairs:
    """Assignments before and after the MLP, each different pair once: (pairs, variables), and how often it occurs."""

    variables: tuple[str, ...]
    inputs: np.ndarray
    outputs: np.ndarray
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"<{len(self)} different pairs of {int(self.counts.sum())}, {len(self.variables)} variables>"

    @staticmethod
    def of(pairs: Iterable[tuple[Assignment, Assignment]]) -> "MLPPairs":
        """The pairs of assignments written as dicts, which all name the same variables.

        >>> MLPPairs.of([({"x": 0, "a": 1}, {"x": 1, "a": 1})] * 3)
        <1 different pairs of 3, 2 variables>
        """
        listed = [assignment for pair in pairs for assignment in pair]
        names = tuple(listed[0]) if listed else ()
        if listed and not names:
            raise InputError("the assignments of the pairs name no variables.")
        for assignment in listed:
            if set(assignment) != set(names):
                raise InputError(f"one assignment names {', '.join(names)}, another {', '.join(assignment)}.")
        codes = np.array([[_code(n, a[n]) for n in names] for a in listed], dtype=np.int64)
        codes = codes.reshape(len(listed) // 2, 2, len(names))
        return distinct_pairs(names, codes[:, 0], codes[:, 1])


def _code(name: str, value: Any) -> int:
    if value is None:
        return -1
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise InputError(f"{name!r} is {value!r} in a pair; a category is 0, 1, 2, …, or None for null.")
    return int(value)


def distinct_pairs(variables: tuple[str, ...], inputs: np.ndarray, outputs: np.ndarray) -> MLPPairs:
    """Each different pair once, with its count."""
    both = np.concatenate([inputs, outputs], axis=1)
    if not len(both):
        return MLPPairs(variables, inputs, outputs, np.zeros(0, dtype=np.int64))
    unique, counts = np.unique(both, axis=0, return_counts=True)
    return MLPPairs(variables, unique[:, : len(variables)], unique[:, len(variables) :], counts)


def check_categories(program: Program) -> None:
    """Refuse a program that has numeric or set variables."""
    others = [repr(name) for name, variable in program.domains.items() if not isinstance(variable, Categorical)]
    if others:
        which = f"{', '.join(others)} {'is' if len(others) == 1 else 'are'} not"
        raise InputError(f"{program.name}: ALTA's theorems assume categorical variables, and {which}.")


def mlp_pairs(program: Program, inputs: Sequence[Tokens], *, merged: int = MERGED) -> MLPPairs:
    """The pairs of all layers and positions when the program runs on the inputs.

    ALTA's analysis leaves out the rules that empty the heads' outputs, so those variables stay as they are in a pair.
    `merged` pairs of single layers are kept before they are merged, so that a large data set fits into memory.
    The output of a head that is undefined at a position is null, as in the trace: none of its values is on there. (The
    minimal version of a program is more careful, and keeps constraints that guard what is undefined.)

    >>> from kleene.programs.alta.library import parity
    >>> mlp_pairs(parity.relative(), [[2, 1, 0, 1]])
    <8 different pairs of 12, 4 variables>
    """
    check_categories(program)
    found = _Pairs(program, merged)
    if len(inputs):
        watch(program, inputs, found.before, after=found.after)
    return found.merged()


class _Pairs:
    """Pairs as the layers of a run are seen: each different one of a layer, and all merged where they become many.

    What the MLP makes of an assignment depends on nothing else, so pairs differ where their first parts do.
    """

    def __init__(self, program: Program, most: int):
        self.most, self.names = most, tuple(program.domains)
        self.sizes = [program.sizes[name] + 1 for name in program.domains]
        self.outputs = frozenset(program.outputs)
        self._inputs, self._results = (np.zeros((0, len(self.names)), np.int16) for _ in range(2))
        self._counts, self._kept = np.zeros(0, np.int64), 0
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._seen: tuple[dict[str, np.ndarray], np.ndarray, np.ndarray] = ({}, self._counts, self._counts)

    def before(self, rows: np.ndarray, codes: Codes, inside: np.ndarray) -> None:
        here = {name: codes[name][inside].astype(np.int16) for name in self.names}
        first, counts, _ = _different(list(here.values()), self.sizes)
        self._seen = (here, first, counts)

    def after(self, rows: np.ndarray, codes: Codes, inside: np.ndarray) -> None:
        here, first, counts = self._seen
        inputs = np.stack([here[name][first] for name in self.names], axis=1)
        results = [here[n][first] if n in self.outputs else codes[n][inside][first] for n in self.names]
        self._parts.append((inputs, np.stack(results, axis=1).astype(np.int16), counts))
        self._kept += len(first)
        if self._kept > self.most + 2 * len(self._counts):
            self._merge()

    def _merge(self) -> None:
        parts = [(self._inputs, self._results, self._counts), *self._parts]
        inputs, results, counts = (np.concatenate(arrays) for arrays in zip(*parts))
        first, _, which = _different(list(inputs.T), self.sizes)
        self._inputs, self._results = inputs[first], results[first]
        self._counts = np.bincount(which, weights=counts, minlength=len(first)).astype(np.int64)
        self._parts, self._kept = [], 0

    def merged(self) -> MLPPairs:
        """All pairs, in the order of their codes."""
        self._merge()
        order = np.lexsort(self._inputs.T[::-1])
        inputs, results = (array[order].astype(np.int64) for array in (self._inputs, self._results))
        return MLPPairs(self.names, inputs, results, self._counts[order])


def _different(columns: list[np.ndarray], sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A place of each different row of codes from -1 on, how often it occurs, and for all rows which it is.

    Rows are numbers in a mixed radix. Where that has too many digits, those so far are replaced by their ranks.
    """
    key, room = np.zeros(len(columns[0]), np.int64), 1
    for column, size in zip(columns, sizes):
        if room * size >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
            room = len(key) + 1
        key = key * size + column + 1
        room *= size
    _, first, which, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    return first, counts, which.reshape(-1)
