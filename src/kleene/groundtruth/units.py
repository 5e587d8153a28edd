"""Units in other units: each is split into copies of other sizes, decoys are added, and all are shuffled.

Copies of a unit all hold its value, so what reads them may take any shares that sum to the original's weight. Where
that weight is 0, the shares are numbers that cancel: no zero shows who reads whom. Shares are multiples of 1/256 and
scales are powers of 2, so that integers stay exact in floating numbers.

Copies that differ, by noise or rounding, are driven apart by unequal shares. So the numbers that cancel are small
where there are many.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from kleene.errors import InputError

Scaling = Literal["none", "signs", "powers"]
GRAIN = 256  # shares are multiples of 1/256
SPREAD = 0.25  # standard deviation of shares, and of a row of numbers that cancel, relative to the weights


@dataclass(frozen=True, eq=False)
class UnitMap:
    """Which unit of the original each unit copies, and how large it is beside it: new = scale · old.

    A source from `units` on is a decoy: no unit of the original.

    >>> two = UnitMap(np.array([1, 0, 2, 1]), np.array([2.0, 1.0, 1.0, 0.5]), units=2)
    >>> two.onto(np.array([3.0, 8.0])).tolist(), two.back(np.array([16.0, 3.0, 7.0, 4.0])).tolist()
    ([16.0, 3.0, 0.0, 4.0], [3.0, 8.0])
    >>> two.copies_of(1).tolist(), two.decoys.tolist()
    ([0, 3], [2])
    """

    sources: Int[np.ndarray, " hidden"]
    scales: Float[np.ndarray, " hidden"]
    units: int

    def __post_init__(self) -> None:
        if len(self.sources) != len(self.scales) or not set(range(self.units)) <= set(self.sources.tolist()):
            raise InputError(f"a map of {self.units} units needs a copy and a scale of each; it has {self.sources}")

    def __repr__(self) -> str:
        return f"<UnitMap of {self.units} units into {len(self.sources)}, {len(self.decoys)} of them decoys>"

    @property
    def decoys(self) -> Int[np.ndarray, " decoys"]:
        """The new units that no unit of the original became."""
        return np.flatnonzero(self.sources >= self.units)

    def copies_of(self, unit: int) -> Int[np.ndarray, " copies"]:
        """The new units that copy a unit of the original."""
        return np.flatnonzero(self.sources == unit)

    def onto(self, values: Float[np.ndarray, "*batch units"]) -> Float[np.ndarray, "*batch hidden"]:
        """The values of the new units that mean these of the original; decoys are 0."""
        padded = np.concatenate([values, np.zeros((*values.shape[:-1], self._all - self.units))], axis=-1)
        return padded[..., self.sources] * self.scales

    def back(self, values: Float[np.ndarray, "*batch hidden"]) -> Float[np.ndarray, "*batch units"]:
        """The values of the original's units that these of the new ones mean: the mean over copies."""
        held = np.asarray(values / self.scales) @ self.groups
        return (held / self.groups.sum(axis=0))[..., : self.units]

    @cached_property
    def groups(self) -> Float[np.ndarray, "hidden every"]:
        """1 where a new unit copies a unit of the original or a decoy."""
        return np.eye(self._all)[self.sources]

    @property
    def _all(self) -> int:
        return int(self.sources.max(initial=self.units - 1)) + 1

    @cached_property
    def lasts(self) -> Bool[np.ndarray, " hidden"]:
        """Whether a new unit is the last of its copies, whose weight is what the others leave."""
        lasts = {int(source): place for place, source in enumerate(self.sources)}
        return np.array([lasts[int(source)] == place for place, source in enumerate(self.sources)])

    def as_json(self) -> dict[str, Any]:
        return {"sources": self.sources.tolist(), "scales": self.scales.tolist(), "units": self.units}

    @classmethod
    def from_json(cls, described: dict[str, Any]) -> "UnitMap":
        """The map that `as_json` described."""
        sources = np.array(described["sources"], dtype=np.int64)
        return cls(sources, np.array(described["scales"], dtype=np.float64), int(described["units"]))


def drawn_map(units: int, decoys: int, copies: int, scaling: Scaling, chance: np.random.Generator) -> UnitMap:
    """A random map: each unit and decoy 2 to `copies` times, in a random order, with scales of this kind."""
    often = chance.integers(min(2, copies), copies + 1, units + decoys)
    sources = chance.permutation(np.repeat(np.arange(units + decoys), often))
    choices = {"none": [1.0], "signs": [-1.0, 1.0], "powers": [0.5, 1.0, 2.0]}[scaling]
    return UnitMap(sources, chance.choice(choices, len(sources)), units)


def columns_onto(
    weights: Float[np.ndarray, "rows every"], units: UnitMap, chance: np.random.Generator
) -> Float[np.ndarray, "rows hidden"]:
    """What is read from the new units, in random shares: the shares of a unit's copies sum to what it had."""
    shape = (len(weights), len(units.sources))
    shares = _coarse(1 / units.groups.sum(axis=0)[units.sources] + SPREAD * chance.standard_normal(shape))
    noise = _size(weights) * _coarse(2 * SPREAD / np.sqrt(shape[1]) * chance.standard_normal(shape))
    free = np.where(units.lasts, 0.0, shares * weights[:, units.sources] + noise)
    left = (weights - free @ units.groups)[:, units.sources]
    return np.where(units.lasts, left, free) / units.scales


def _coarse(numbers: np.ndarray) -> np.ndarray:
    return np.round(GRAIN * numbers) / GRAIN


def _size(weights: np.ndarray) -> float:
    """A power of 2 near the root mean square of the weights that are not 0; 1 where all are."""
    kept = weights[weights != 0]
    return float(2.0 ** np.round(np.log2(np.sqrt(np.mean(kept**2))))) if kept.size else 1.0
