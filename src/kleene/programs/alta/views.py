"""Which conditions hold on arrays of codes: every feature is looked up once, for all cases that test it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kleene.programs.alta.cases import Case, Feature
from kleene.programs.alta.symbols import Sum


@dataclass(frozen=True)
class Chosen(Mapping[str, np.ndarray]):
    """Codes at chosen places (indices into the flat arrays), picked out as they are asked for."""

    codes: Mapping[str, np.ndarray]
    at: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        return self.codes[name].reshape(-1)[self.at]

    def __iter__(self) -> Iterator[str]:
        return iter(self.codes)

    def __len__(self) -> int:
        return len(self.codes)


@dataclass
class View:
    """Codes, and which conditions hold on them. With `undefined` given, a condition on an undefined head holds:
    whoever asks wants to know whether the head may be looked at."""

    codes: Mapping[str, np.ndarray]
    undefined: Mapping[str, np.ndarray] = field(default_factory=dict)
    tables: dict = field(default_factory=dict)  # may be shared from layer to layer
    defined: "View | None" = None  # a view of the same codes that knows of nothing undefined

    @cached_property
    def _known(self) -> dict:
        return {}

    def holds(self, c: Case) -> np.ndarray:
        """Where all conditions of the case hold."""
        result = None
        for feature, allowed in c.where:
            found = self.condition(feature, allowed)
            result = found if result is None else result & found
        return np.ones(next(iter(self.codes.values())).shape, dtype=bool) if result is None else result

    def condition(self, feature: Feature, allowed: frozenset[int]) -> np.ndarray:
        """Where the feature has one of the allowed values."""
        key = (feature, allowed)
        if key not in self._known:
            names = (feature,) if isinstance(feature, str) else feature.variables
            unknown = [self.undefined[n] for n in names if n in self.undefined]
            if self.defined is not None:
                found = self.defined.condition(feature, allowed)
            elif isinstance(feature, Sum):
                found = self._among(self._sum(feature), allowed, feature.largest)
            else:
                found = self._among(self.codes[feature], allowed, max(allowed))
            for where in unknown:
                found = found | where
            self._known[key] = found
        return self._known[key]

    def _sum(self, feature: Sum) -> np.ndarray:
        if feature not in self._known:
            self._known[feature] = feature.total(self.codes)
        return self._known[feature]

    def _among(self, values: np.ndarray, allowed: frozenset[int], top: int) -> np.ndarray:
        """Where values are among the allowed ones: by comparison with the ends of a few runs, else by lookup."""
        runs = self.tables.get(allowed)
        if runs is None:
            runs = self.tables[allowed] = _runs(allowed)
        if len(runs) > 3:
            table = np.zeros(top + 2, dtype=bool)  # the last entry, also that of -1, stays False
            table[list(allowed)] = True
            return table[np.minimum(values, top + 1)]
        found = None
        for low, high in runs:
            part = values == low if low == high else (values >= low) & (values <= high)
            found = part if found is None else found | part
        return np.zeros(values.shape, dtype=bool) if found is None else found


def _runs(allowed: frozenset[int]) -> list[tuple[int, int]]:
    """The first and last of each run of consecutive values."""
    ordered = sorted(allowed)
    starts = [v for v in ordered if v - 1 not in allowed]
    ends = [v for v in ordered if v + 1 not in allowed]
    return list(zip(starts, ends))
