"""The intermediate form of an MLP: for each variable, disjoint cases that say when it is written and with which value.

A case tests *features*: a variable's code, or a sum of terms over several variables. The interpreter's tables, ALTA's
transition rules and the compact units of the compiler are all made from cases. A `View` says where cases hold on arrays
of codes; it looks up every feature once, for all cases that test it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kleene.programs.alta.sums import Sum

Feature = str | Sum
Where = Mapping[Feature, frozenset[int]]  # every feature must be in its set; a feature that is absent may be anything
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Constant:
    """Write this code."""

    code: int


@dataclass(frozen=True)
class Lookup:
    """Write the code that the feature's value maps to."""

    feature: Feature
    codes: tuple[tuple[int, int], ...]

    @cached_property
    def by_value(self) -> dict[int, int]:
        return dict(self.codes)

    @cached_property
    def table(self) -> np.ndarray:
        """The codes by the feature's value; -1 where there is none, and in the last entry, for undefined values."""
        size = self.feature.largest + 2 if isinstance(self.feature, Sum) else max(k for k, _ in self.codes) + 2
        table = np.full(size, -1, dtype=np.int16 if size < 32767 else np.int32)
        table[[k for k, _ in self.codes]] = [v for _, v in self.codes]
        return table


@dataclass(frozen=True)
class CodeTable:
    """Write the code in a table over several variables."""

    support: tuple[str, ...]
    shape: tuple[int, ...]
    codes: tuple[int, ...]

    @cached_property
    def array(self) -> np.ndarray:
        return np.array(self.codes, dtype=np.int64).reshape(self.shape)


Action = Constant | Lookup | CodeTable


@dataclass(frozen=True)
class Case:
    """Where all features are in their sets, the action is done. `line` is the source line."""

    where: tuple[tuple[Feature, frozenset[int]], ...]
    action: Action
    line: int = 0

    @cached_property
    def conditions(self) -> dict[Feature, frozenset[int]]:
        return dict(self.where)

    @cached_property
    def variables(self) -> frozenset[str]:
        """Every variable that the case looks at."""
        features: list[Feature] = [f for f, _ in self.where]
        if isinstance(self.action, Lookup):
            features.append(self.action.feature)
        names = set(self.action.support) if isinstance(self.action, CodeTable) else set()
        for feature in features:
            names.update((feature,) if isinstance(feature, str) else feature.variables)
        return frozenset(names)


def case(where: Where, action: Action, line: int = 0) -> Case:
    """A case in normal form."""
    return Case(tuple(sorted(where.items(), key=_feature_key)), action, line)


def _feature_key(item: tuple[Feature, frozenset[int]]) -> tuple[int, Any]:
    feature = item[0]
    return (0, feature) if isinstance(feature, str) else (1, feature.terms)


def act(c: Case, codes: Mapping[str, np.ndarray]) -> np.ndarray | int:
    """What the case writes for arrays of codes (one code where it is always the same); -1 where it has no entry."""
    action = c.action
    if isinstance(action, Constant):
        return action.code
    if isinstance(action, Lookup):
        if isinstance(action.feature, Sum):
            return action.table[action.feature.total(codes)]
        return action.table[np.minimum(codes[action.feature], len(action.table) - 1)]
    return action.array[tuple(codes[v] for v in action.support)]


def _with(where: dict, feature: Feature, allowed: frozenset[int], sizes: Sizes) -> list[dict]:
    """The conditions with one more, as a list; empty where nothing satisfies them."""
    possible = domain_of(feature, where, sizes)
    kept = allowed & where.get(feature, possible) & possible
    if not kept:
        return []
    narrowed = {f: s for f, s in where.items() if f != feature}
    if kept != possible or (feature in where and isinstance(feature, str) and len(kept) < sizes[feature]):
        narrowed[feature] = kept
    return [narrowed]


def domain_of(feature: Feature, where: Where, sizes: Sizes) -> frozenset[int]:
    """All values that a feature can have; for a sum, under the conditions on its variables."""
    if isinstance(feature, str):
        return frozenset(range(sizes[feature]))
    return feature.reachable({f: s for f, s in where.items() if isinstance(f, str)})


def boxes(support: tuple[str, ...], hit: np.ndarray, where: dict, sizes: Sizes) -> list[dict]:
    """Disjoint conjunctions that hold exactly where `hit` does."""
    allowed = [sorted(where.get(v, frozenset(range(sizes[v])))) for v in support]
    table = hit[np.ix_(*allowed)]
    if table.all():
        return [where]
    if not table.any():
        return []
    axis = min(range(table.ndim), key=lambda a: len(_patterns(table, a)))
    rest = support[:axis] + support[axis + 1 :]
    found = []
    for positions in _patterns(table, axis).values():
        codes = frozenset(allowed[axis][p] for p in positions)
        for narrowed in _with(where, support[axis], codes, sizes):
            below = hit.take(allowed[axis][positions[0]], axis=axis)
            found += boxes(rest, below, narrowed, sizes) if rest else ([narrowed] if below else [])
    return found


def _patterns(table: np.ndarray, axis: int) -> dict[bytes, list[int]]:
    groups = defaultdict(list)
    for index in range(table.shape[axis]):
        groups[np.ascontiguousarray(table.take(index, axis=axis)).tobytes()].append(index)
    return groups


def merged(cases: list[Case], sizes: Sizes, *, last: Feature | None = None) -> list[Case]:
    """The same cases, fewer: those that differ in one feature alone become one, those that differ in `last` at the end.

    First cases with the same action are united, which drops tests that do not matter; then cases whose
    actions are functions of the feature become one lookup.
    """
    changed = True
    while changed:
        changed = False
        for feature in sorted(dict.fromkeys(f for c in cases for f, _ in c.where), key=lambda f: f == last):
            united = _unite(cases, feature, sizes, lambda group, feature: group[0].action)
            changed |= len(united) < len(cases)
            cases = united
    for feature in sorted({f for c in cases for f, _ in c.where}, key=lambda f: _feature_key((f, frozenset()))):
        cases = _unite(cases, feature, sizes, _as_lookup)
    return cases


def _unite(cases: list[Case], feature: Feature, sizes: Sizes, combine: Callable) -> list[Case]:
    groups: dict[Any, list[Case]] = defaultdict(list)
    for c in cases:
        rest = tuple(item for item in c.where if item[0] != feature)
        if feature not in c.conditions:
            key: Any = ("alone", id(c))
        elif combine is _as_lookup:
            key = (rest, _depends_only_on(c.action, feature) or id(c))
        else:
            key = (rest, c.action)
        groups[key].append(c)
    united = []
    for group in groups.values():
        if len(group) == 1:
            united.append(group[0])
            continue
        where = {f: s for f, s in group[0].where if f != feature}
        values = frozenset().union(*(c.conditions[feature] for c in group))
        if values != domain_of(feature, where, sizes):
            where[feature] = values
        united.append(case(where, combine(group, feature), group[0].line))
    return united


def _depends_only_on(action: Action, feature: Feature) -> bool:
    return isinstance(action, Constant) or (isinstance(action, Lookup) and action.feature == feature)


def _as_lookup(group: list[Case], feature: Feature) -> Action:
    codes: dict[int, int] = {}
    for c in group:
        table = c.action.by_value if isinstance(c.action, Lookup) else {}
        for value in c.conditions[feature]:
            if isinstance(c.action, Constant):
                codes[value] = c.action.code
            elif value in table:  # a sum may list totals that a later condition has put out of reach
                codes[value] = table[value]
    if len(set(codes.values())) == 1:
        return Constant(next(iter(codes.values())))
    return Lookup(feature, tuple(sorted(codes.items())))


@dataclass(frozen=True)
class Chosen(Mapping[str, np.ndarray]):
    """Codes at chosen places (indices into the flat arrays), picked out on demand."""

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
    """Codes, and which conditions hold on them. With `undefined` given, a condition on an undefined head holds, because
    the question is then whether the head may be looked at."""

    codes: Mapping[str, np.ndarray]
    undefined: Mapping[str, np.ndarray] = field(default_factory=dict)
    tables: dict = field(default_factory=dict)  # may be shared from layer to layer
    defined: "View | None" = None  # a view of the same codes without `undefined`

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

    def changes(self, c: Case, target: str) -> np.ndarray:
        """Where the case holds and writes something else than its target has."""
        return self.holds(c) & (act(c, self.codes) != self.codes[target])

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
        """Where values are allowed: compared with the ends of a few runs, or looked up where there are more runs."""
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
