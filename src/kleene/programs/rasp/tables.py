"""The MLP of a lowered RASP program: tables that are written in a layer each, as the cases of a transformer program."""

from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kleene.programs.alta.asking import Enumeration
from kleene.programs.alta.cases import Case, CodeTable, Constant, Feature, Lookup, act, boxes, case
from kleene.programs.alta.definition import Specification
from kleene.programs.alta.rule_tables import RuleTable
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.variables import Variable
from kleene.programs.rasp.domains import FAULT, FREE, Atom

STEP = "step"  # the variable that counts layers; at the start it is past the last
Where = dict[Feature, frozenset[int]]


@dataclass(frozen=True, eq=False)
class TableWrite:
    """A variable that is written in the MLP of one layer: its code for every combination of codes of what it reads."""

    target: str
    support: tuple[Atom, ...]
    codes: np.ndarray
    layer: int
    nothing: int  # the code that it starts with

    @property
    def where(self) -> Where:
        return {STEP: frozenset({self.layer - 1})}


class FoundCases(NamedTuple):
    """The cases that write each variable, and those in which each head is looked at."""

    updates: dict[str, list[Case]]
    reads: dict[str, list[Case]]


@dataclass(frozen=True)
class Tabulated(Enumeration):
    """How the tables were made: the program's functions were called on all values that they can meet."""

    def __str__(self) -> str:
        return f"the functions were run on all values that they can meet, which gave {self.combinations:,} entries"


def cases_of(writes: Sequence[TableWrite], depth: int, spec: Specification) -> FoundCases:
    """The cases of all writes, and of the counter of layers."""
    search = _CaseSearch(spec, FoundCases({}, {name: [] for name in spec.heads}))
    updates, reads = search.found
    if depth > 1:
        next_layer = Lookup(STEP, tuple((layer, layer + 1) for layer in range(depth - 1)))
        updates[STEP] = [case({STEP: frozenset(range(depth - 1))}, next_layer)]
    for write in writes:
        updates[write.target] = []
        axes = tuple(tuple(range(atom.size)) for atom in write.support)
        table = np.where(write.codes >= 0, write.codes, FREE)
        search.add(write, _TablePart(write.support, axes, table, write.where))
    return FoundCases(updates, {name: list(dict.fromkeys(cases)) for name, cases in reads.items()})


@dataclass(frozen=True, eq=False)
class _TablePart:
    """A part of a table: some codes of each atom, what is written there, and the conditions that it has so far."""

    support: tuple[Atom, ...]
    axes: tuple[tuple[int, ...], ...]
    table: np.ndarray
    where: Where

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(atom.name for atom in self.support)

    def without(self, dropped: Collection[int]) -> "_TablePart":
        """The part without some atoms, which do not matter: an entry that says anything speaks for all."""
        rest = [a for a in range(len(self.support)) if a not in dropped]
        support, axes = tuple(self.support[a] for a in rest), tuple(self.axes[a] for a in rest)
        return replace(self, support=support, axes=axes, table=self.table.max(axis=tuple(dropped)))

    def narrowed(self, at: int, places: Sequence[int]) -> "_TablePart":
        """The part at some codes of one atom, which become a condition."""
        codes = tuple(self.axes[at][i] for i in places)
        axes = tuple(codes if a == at else axis for a, axis in enumerate(self.axes))
        where = self.where | {self.names[at]: frozenset(codes)}
        return replace(self, axes=axes, table=self.table.take(places, axis=at), where=where)

    def trimmed(self) -> "_TablePart":
        """The part without codes at which nothing is written."""
        written, every = self.table != FREE, range(self.table.ndim)
        kept = [np.flatnonzero(written.any(axis=tuple(b for b in every if b != a))) for a in every]
        axes = tuple(tuple(self.axes[a][i] for i in kept[a]) for a in every)
        return replace(self, axes=axes, table=self.table[np.ix_(*kept)])

    def bounds(self, sizes: Mapping[str, int]) -> Where:
        """Its conditions, and that each atom has one of its codes."""
        own = {name: frozenset(axis) for name, axis in zip(self.names, self.axes) if len(axis) < sizes[name]}
        return self.where | own


@dataclass(frozen=True, eq=False)
class _CaseSearch:
    """Turns tables into few cases."""

    spec: Specification
    found: FoundCases

    def add(self, write: TableWrite, part: _TablePart) -> None:
        """Adds the cases of a part of a table. Where a guard says that a head is undefined, it is not looked at."""
        for head in part.support:
            at = part.support.index(head.guard) if head.guard in part.support else -1
            within = [i for i, code in enumerate(part.axes[at]) if code in head.without] if at >= 0 else []
            if within:
                return self._add_guarded(write, part, at, within, head.without)
        for atom in part.support:
            if not atom.certain:  # where it is undefined RASP may have another value: the run must not go on
                self.found.reads[atom.name].append(case(part.where, Constant(1)))
        for at in range(len(part.support) - 1, -1, -1):
            if _is_unneeded(part.table, at):
                part = part.without({at})
        for atom in part.support:
            if atom.is_head:
                self.found.reads[atom.name].append(case(part.where, Constant(1)))
        if not (part.table == FREE).all():
            self._add_simple(write, part)

    def _add_guarded(
        self, write: TableWrite, part: _TablePart, at: int, within: list[int], codes: frozenset[int]
    ) -> None:
        guard = part.support[at]
        if guard.is_head:
            self.found.reads[guard.name].append(case(part.where, Constant(1)))
        unread = {a for a, other in enumerate(part.support) if other.guard is guard and other.without == codes}
        self.add(write, part.narrowed(at, within).without(unread))
        others = [i for i in range(len(part.axes[at])) if i not in within]
        if others:
            self.add(write, part.narrowed(at, others))

    def _add_simple(self, write: TableWrite, part: _TablePart) -> None:
        """Adds few cases that write a table: of sums where it is a function of some, otherwise one table."""
        cases, sizes = self.found.updates[write.target], self.spec.sizes
        part = replace(part, where=part.where | {write.target: frozenset({write.nothing})})
        if not part.support:
            if int(part.table) != write.nothing:
                cases.append(case(part.where, Constant(int(part.table))))
            return
        part = part.trimmed()
        if len(part.support) == 1:
            codes = tuple((code, int(new)) for code, new in zip(part.axes[0], part.table))
            written = {new for _, new in codes}
            action = Constant(written.pop()) if len(written) == 1 else Lookup(part.names[0], codes)
            cases.append(case(part.bounds(sizes), action))
            return
        shorter = RuleTable("", part.names, part.axes, part.table, {}).cases(sizes)
        if shorter is not None:
            cases += [case(dict(c.where) | where_both(part.where, c), c.action) for c in shorter]
            return
        full = np.zeros([sizes[name] for name in part.names], dtype=np.int64)
        full[np.ix_(*part.axes)] = _filled(part.table)
        action = CodeTable(part.names, full.shape, tuple(full.reshape(-1).tolist()))
        cases.append(case(part.bounds(sizes), action))


def _is_unneeded(table: np.ndarray, axis: int) -> bool:
    """Whether the table says the same for every code of the axis, wherever it says anything."""
    low = np.where(table == FREE, np.iinfo(np.int64).max, table).min(axis=axis)
    high = table.max(axis=axis)
    return bool(((high == FREE) | (low == high)).all())


def where_both(where: Where, c: Case) -> Where:
    """The conditions of both: the outer ones, narrowed to what the case allows."""
    own = c.conditions
    return {feature: allowed & own.get(feature, allowed) for feature, allowed in where.items()}


def _filled(table: np.ndarray) -> np.ndarray:
    """The table with its free entries filled by their neighbours, so that rows look alike."""
    filled = table.copy()
    for axis in range(table.ndim - 1, -1, -1):
        rows = np.moveaxis(filled, axis, -1)
        for index in range(1, rows.shape[-1]):
            rows[..., index] = np.where(rows[..., index] == FREE, rows[..., index - 1], rows[..., index])
        for index in range(rows.shape[-1] - 2, -1, -1):
            rows[..., index] = np.where(rows[..., index] == FREE, rows[..., index + 1], rows[..., index])
    return filled


def faults_of(writes: Sequence[TableWrite], spec: Specification) -> dict[str, list[Case]]:
    """The cases in which RASP gives no value, and a run is an error."""
    faults = {}
    for write in writes:
        hit = write.codes == FAULT
        if hit.any():
            names = tuple(atom.name for atom in write.support)
            parts = boxes(names, hit, {}, spec.sizes)
            faults[write.target] = [case(write.where | part, Constant(1)) for part in parts]
    return faults


@dataclass(frozen=True, eq=False)
class TableFunction:
    """The MLP as a function of `z`, which looks up one value after the other: what an independent interpreter calls."""

    updates: Mapping[str, Sequence[Case]]
    faults: Mapping[str, Sequence[Case]]
    domains: Mapping[str, Variable]

    def __call__(self, z: MutableMapping[str, Any]) -> None:
        for target, cases in self.faults.items():
            if any(self._holds(c, z) for c in cases):
                z[target] = None  # out of every range, which ends the run
        for target, cases in self.updates.items():
            for c in cases:
                if self._holds(c, z):
                    codes = {name: np.array(self._code(name, z)) for name in c.variables}
                    z[target] = self.domains[target].domain[int(act(c, codes))]

    def _code(self, name: str, z: Mapping[str, Any]) -> int:
        code = self.domains[name].code(z[name])
        assert code is not None
        return code

    def _holds(self, c: Case, z: Mapping[str, Any]) -> bool:
        """Whether all conditions hold; the layer is asked first, and heads only where all else holds."""
        heads = [name for name in c.variables if name not in self.updates]
        for feature, allowed in sorted(c.where, key=lambda item: self._order(item[0], heads)):
            names = (feature,) if isinstance(feature, str) else feature.variables
            codes = {name: np.array(self._code(name, z)) for name in names}
            value = feature.total(codes) if isinstance(feature, Sum) else codes[feature]
            if int(value) not in allowed:
                return False
        return True

    @staticmethod
    def _order(feature: Feature, heads: Sequence[str]) -> tuple[bool, bool, int]:
        names = (feature,) if isinstance(feature, str) else feature.variables
        return feature != STEP, any(name in heads for name in names), len(names)
