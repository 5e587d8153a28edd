"""The MLP of a lowered RASP program: tables that are written in a layer each, as the cases of a transformer program."""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kleene.programs.alta.cases import Case, CodeTable, Constant, Feature, Lookup, act, boxes, case
from kleene.programs.alta.definition import Specification
from kleene.programs.alta.rule_tables import RuleTable
from kleene.programs.alta.symbols import Sum
from kleene.programs.alta.validation import Validation
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
class Tabulated(Validation):
    """How the tables were made: the program's functions were called on all values that they can meet."""

    def __str__(self) -> str:
        return f"the functions were run on all values that they can meet, which gave {self.assignments:,} entries"


def cases_of(writes: Sequence[TableWrite], depth: int, spec: Specification) -> FoundCases:
    """The cases of all writes, and of the counter of layers."""
    updates: dict[str, list[Case]] = {}
    reads: dict[str, list[Case]] = {name: [] for name in spec.heads}
    if depth > 1:
        updates[STEP] = [
            case({STEP: frozenset(range(depth - 1))}, Lookup(STEP, tuple((k, k + 1) for k in range(depth - 1))))
        ]
    for write in writes:
        table = np.where(write.codes >= 0, write.codes, FREE)
        found: list[Case] = []
        axes = [tuple(range(atom.size)) for atom in write.support]
        _split(write, list(write.support), axes, table, write.where, spec, found, reads)
        updates[write.target] = found
    return FoundCases(updates, {name: list(dict.fromkeys(cases)) for name, cases in reads.items()})


def _split(
    write: TableWrite,
    support: list[Atom],
    axes: list[tuple[int, ...]],
    table: np.ndarray,
    where: Where,
    spec: Specification,
    found: list[Case],
    reads: dict[str, list[Case]],
) -> None:
    """Adds the cases of a table. Where a guard says that a head is undefined, the head is not looked at."""
    for head in support:
        at = support.index(head.guard) if head.guard in support else -1
        within = [i for i, code in enumerate(axes[at]) if code in head.without] if at >= 0 else []
        if not within:
            continue
        guard, own = support[at], axes[at]
        if guard.is_head:
            reads[guard.name].append(case(where, Constant(1)))
        unread = [a for a, other in enumerate(support) if other.guard is guard and other.without == head.without]
        for places, dropped in ((within, unread), ([i for i in range(len(own)) if i not in within], [])):
            if not places:
                continue
            part = table.take(places, axis=at)[tuple(0 if a in dropped else slice(None) for a in range(len(support)))]
            codes = tuple(own[i] for i in places)
            left = [codes if a == at else axis for a, axis in enumerate(axes)]
            rest = [a for a in range(len(support)) if a not in dropped]
            narrowed = where | {guard.name: frozenset(codes)}
            _split(write, [support[a] for a in rest], [left[a] for a in rest], part, narrowed, spec, found, reads)
        return
    for at in range(len(support) - 1, -1, -1):
        if _is_unneeded(table, at):
            table = table.max(axis=at)  # an entry that says anything speaks for all
            support, axes = support[:at] + support[at + 1 :], axes[:at] + axes[at + 1 :]
    for atom in support:
        if atom.is_head:
            reads[atom.name].append(case(where, Constant(1)))
    if not (table == FREE).all():
        _add(write, support, axes, table, where, spec, found)


def _is_unneeded(table: np.ndarray, axis: int) -> bool:
    """Whether the table says the same for every code of the axis, wherever it says anything."""
    low = np.where(table == FREE, np.iinfo(np.int64).max, table).min(axis=axis)
    high = table.max(axis=axis)
    return bool(((high == FREE) | (low == high)).all())


def _add(
    write: TableWrite,
    support: list[Atom],
    axes: list[tuple[int, ...]],
    table: np.ndarray,
    where: Where,
    spec: Specification,
    found: list[Case],
) -> None:
    """Adds few cases that write a table: of sums where it is a function of some, otherwise one table."""
    names = tuple(atom.name for atom in support)
    where = where | {write.target: frozenset({write.nothing})}
    if not names:
        if int(table) != write.nothing:
            found.append(case(where, Constant(int(table))))
        return
    kept = [
        np.flatnonzero((table != FREE).any(axis=tuple(a for a in range(table.ndim) if a != axis)))
        for axis in range(table.ndim)
    ]
    axes = [tuple(axes[a][i] for i in kept[a]) for a in range(table.ndim)]
    table = table[np.ix_(*kept)]
    if len(names) == 1:
        for axis, name in zip(axes, names):
            if len(axis) < spec.sizes[name]:
                where = where | {name: frozenset(axis)}
        codes = tuple((code, int(new)) for code, new in zip(axes[0], table))
        written = {new for _, new in codes}
        found.append(case(where, Constant(written.pop()) if len(written) == 1 else Lookup(names[0], codes)))
        return
    shorter = RuleTable("", names, tuple(axes), table, {}).cases(spec.sizes)
    if shorter is not None:
        found += [case(dict(c.where) | where_both(where, c), c.action) for c in shorter]
        return
    for axis, name in zip(axes, names):
        if len(axis) < spec.sizes[name]:
            where = where | {name: frozenset(axis)}
    full = np.zeros([spec.sizes[name] for name in names], dtype=np.int64)
    full[np.ix_(*axes)] = _filled(table)
    found.append(case(where, CodeTable(names, full.shape, tuple(full.reshape(-1).tolist()))))


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
