"""Pairs of what the MLP is given and what it must make of it, at every layer and position of a program's runs.

These pairs are the data set of ALTA's reconstruction loss (Appendix B.4). Values are codes; -1 is null.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.notation.words import Tokens
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Categorical

Assignment = Mapping[str, int | None]


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


def mlp_pairs(program: Program, inputs: Sequence[Tokens]) -> MLPPairs:
    """The pairs of all layers and positions when the program runs on the inputs.

    ALTA's analysis leaves out the rules that empty the heads' outputs, so those variables stay as they are in a pair.
    The output of a head that is undefined at a position is null, as in the trace: none of its values is on there. (The
    minimal version of a program is more careful, and keeps constraints that guard what is undefined.)

    >>> from kleene.programs.alta.library import parity
    >>> mlp_pairs(parity.relative(), [[2, 1, 0, 1]])
    <8 different pairs of 12, 4 variables>
    """
    check_categories(program)
    names = tuple(program.domains)
    before, after = [], []
    for trace in program.run_batch(inputs) if len(inputs) else ():
        read = {n: np.asarray(trace.data[n][1:]) for n in program.outputs}
        before.append(_rows({n: np.asarray(trace.data[n][:-1]) for n in program.variables} | read))
        after.append(_rows({n: np.asarray(trace.data[n][1:]) for n in program.variables} | read))
    empty = [np.zeros((0, len(names)), dtype=np.int64)]
    return distinct_pairs(names, np.concatenate(before or empty), np.concatenate(after or empty))


def _rows(values: dict[str, np.ndarray]) -> np.ndarray:
    return np.stack([a.reshape(-1).astype(np.int64) for a in values.values()], axis=1)
