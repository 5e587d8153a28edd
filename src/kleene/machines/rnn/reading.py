"""How the hidden vectors of a compiled network read as states of its automaton."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kleene.errors import CompileError


@dataclass(frozen=True)
class StateReading:
    """Which state each hidden unit speaks for.

    A legal vector has one live unit, whose value is 1, and means that unit's state; the zero vector means the state
    `dead`. Every other vector, and the zero vector where `dead` is None, means nothing: it reads as -1.

    >>> reading = StateReading(states=("even", "odd"), units=(0, 1, 1), dead=None)
    >>> reading.state({2: 1}), reading.state({1: 1, 2: 1}), reading.state({})
    (1, -1, -1)
    """

    states: tuple[str, ...]
    units: tuple[int, ...]
    dead: int | None = None

    def __post_init__(self) -> None:
        spoken = {*self.units, *([] if self.dead is None else [self.dead])}
        unknown = sorted(state for state in spoken if not 0 <= state < len(self.states))
        if unknown:
            raise CompileError(
                f"a reading speaks of state number {unknown[0]}, but it has {len(self.states)} states, from 0"
            )

    @property
    def nothing(self) -> int:
        """What the zero vector reads as."""
        return -1 if self.dead is None else self.dead

    def state(self, live: Mapping[int, int | Fraction]) -> int:
        """The state that a hidden vector means, given by its units that are not 0."""
        if not live:
            return self.nothing
        ((unit, value), *more) = live.items()
        return self.units[unit] if value == 1 and not more else -1

    def states_of(self, rows: np.ndarray, units: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
        """The states of `count` hidden vectors; vector `rows[k]` has `values[k]` at `units[k]` and 0 elsewhere."""
        found = np.full(count, self.nothing, dtype=np.int32)
        found[rows] = np.where(values == 1, np.asarray(self.units, dtype=np.int32)[units], -1)
        found[np.bincount(rows, minlength=count) > 1] = -1
        return found
