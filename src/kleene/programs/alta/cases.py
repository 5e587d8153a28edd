"""The intermediate form: for each variable, disjoint cases that say when it is written and what with.

A case tests *features*: a variable's code, or a sum of terms over several variables. From cases come the
interpreter's tables, the paper's transition rules and the compact units of the compiler.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kleene.programs.alta.symbols import Sum, Symbol, key_of
from kleene.programs.alta.trees import Joined, Leaf, Tree

Feature = str | Sum
Where = Mapping[Feature, frozenset[int]]  # every feature must be in its set; a feature that is absent may be anything
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Constant:
    """Write this code."""

    code: int


@dataclass(frozen=True)
class Lookup:
    """Write the code that stands against the feature's value."""

    feature: Feature
    codes: tuple[tuple[int, int], ...]

    @cached_property
    def by_value(self) -> dict[int, int]:
        return dict(self.codes)

    @cached_property
    def table(self) -> np.ndarray:
        """The codes by the feature's value; -1 where there is none, and at the end, for what is undefined."""
        size = self.feature.largest + 2 if isinstance(self.feature, Sum) else max(k for k, _ in self.codes) + 2
        table = np.full(size, -1, dtype=np.int16 if size < 32767 else np.int32)
        table[[k for k, _ in self.codes]] = [v for _, v in self.codes]
        return table


@dataclass(frozen=True)
class Table:
    """Write the code in a table over several variables."""

    support: tuple[str, ...]
    shape: tuple[int, ...]
    codes: tuple[int, ...]

    @cached_property
    def array(self) -> np.ndarray:
        return np.array(self.codes, dtype=np.int64).reshape(self.shape)


Action = Constant | Lookup | Table


@dataclass(frozen=True)
class Case:
    """Where all features are in their sets, the action says what is written. `line` is the source line."""

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
        names = set(self.action.support) if isinstance(self.action, Table) else set()
        for feature in features:
            names.update((feature,) if isinstance(feature, str) else feature.variables)
        return frozenset(names)


def case(where: Where, action: Action, line: int = 0) -> Case:
    """A case in normal form."""
    return Case(tuple(sorted(where.items(), key=_feature_key)), action, line)


def _feature_key(item: tuple[Feature, frozenset[int]]) -> tuple[int, Any]:
    feature = item[0]
    return (0, feature) if isinstance(feature, str) else (1, feature.terms)


def cases_of(tree: Tree, decide: Callable[[Leaf], Any], sizes: Sizes) -> list[Case]:
    """The cases of one output of a decision tree, merged. `decide` says what a leaf writes to that output:
    None to leave it alone, a code, or a symbol whose table holds codes."""
    found: list[Case] = []
    _walk(_reduced(tree, decide, {}), {}, found, sizes)
    return merged(found, sizes)


@dataclass(frozen=True)
class _Node:
    """A fork of the decision diagram of a single output; children with the same sequel share one branch."""

    symbol: Symbol
    branches: tuple[tuple[Any, tuple[Any, ...]], ...]  # (node or leaf, outcomes that lead there)


@dataclass(frozen=True)
class _End:
    written: Any
    line: int


def _reduced(tree: Tree | None, decide: Callable, shared: dict) -> Any:
    if tree is None:
        raise AssertionError("a decision tree with a branch that was never explored")
    if isinstance(tree, Joined):
        # What is written after the branches have met counts; where nothing is, what they wrote.
        then = _reduced(tree.then[0], decide, shared)
        return _filled(then, _reduced(tree.first, decide, shared), shared, {})
    if isinstance(tree, Leaf):
        if tree.dead:
            return None
        written = decide(tree)
        value, line = written if isinstance(written, tuple) else (written, 0)
        key = ("end", id(value) if isinstance(value, Symbol) else value)
        return shared.setdefault(key, _End(value, line))
    groups: dict[int, tuple[Any, list[int]]] = {}
    for index, child in enumerate(tree.children):
        below = _reduced(child, decide, shared)
        if below is None:  # nothing ever comes this way
            continue
        groups.setdefault(id(below), (below, []))[1].append(index)
    if len(groups) <= 1:
        return next(iter(groups.values()))[0] if groups else None
    branches = tuple((node, tuple(tree.outcomes[i] for i in which)) for node, which in groups.values())
    return _node(tree.symbol, branches, shared)


def _node(symbol: Symbol, branches: tuple[tuple[Any, tuple[Any, ...]], ...], shared: dict) -> Any:
    key = (id(symbol), tuple((id(node), key_of(outcomes)) for node, outcomes in branches))
    return shared.setdefault(key, _Node(symbol, branches))


def _filled(node: Any, before: Any, shared: dict, done: dict[int, Any]) -> Any:
    """The diagram with `before` wherever it writes nothing."""
    if node is None or before is None:
        return None
    if isinstance(node, _End):
        return before if node.written is None else node
    if id(node) not in done:
        groups: dict[int, tuple[Any, list[Any]]] = {}
        for below, outcomes in node.branches:
            filled = _filled(below, before, shared, done)
            groups.setdefault(id(filled), (filled, []))[1].extend(outcomes)
        branches = tuple((below, tuple(outcomes)) for below, outcomes in groups.values())
        done[id(node)] = branches[0][0] if len(branches) == 1 else _node(node.symbol, branches, shared)
    return done[id(node)]


def _walk(node: Any, where: dict[Feature, frozenset[int]], found: list[Case], sizes: Sizes) -> None:
    if isinstance(node, _End):
        if node.written is not None:
            found.append(case(where, action_of(node.written, where), node.line))
        return
    for below, outcomes in node.branches:
        for narrowed in narrow(where, node.symbol, outcomes, sizes):
            _walk(below, narrowed, found, sizes)


def narrow(where: dict, symbol: Symbol, outcomes: Iterable[Any], sizes: Sizes) -> list[dict]:
    """The conditions under which the symbol has one of the outcomes: one conjunction, or several disjoint ones."""
    wanted = list(outcomes)
    hit = np.isin(symbol.table, wanted) if symbol.table.dtype.kind in "ib" else _object_isin(symbol.table, wanted)
    if len(symbol.support) == 1:
        return _with(where, symbol.support[0], frozenset(np.flatnonzero(hit).tolist()), sizes)
    if symbol.base is not None:
        totals = frozenset(symbol.base.grid(symbol.support)[hit].tolist())
        return _with(where, symbol.base, totals, sizes)
    return boxes(symbol.support, hit, where, sizes)


def _object_isin(table: np.ndarray, wanted: list[Any]) -> np.ndarray:
    keys = {key_of(outcome) for outcome in wanted}
    flat = [key_of(value) in keys for value in table.ravel().tolist()]
    return np.array(flat, dtype=bool).reshape(table.shape)


def _with(where: dict, feature: Feature, allowed: frozenset[int], sizes: Sizes) -> list[dict]:
    """The conditions with one more; none where that leaves nothing."""
    possible = domain_of(feature, where, sizes)
    kept = allowed & where.get(feature, possible) & possible
    if not kept:
        return []
    narrowed = {f: s for f, s in where.items() if f != feature}
    if kept != possible or (feature in where and isinstance(feature, str) and len(kept) < sizes[feature]):
        narrowed[feature] = kept
    return [narrowed]


def domain_of(feature: Feature, where: Where, sizes: Sizes) -> frozenset[int]:
    """The values that a feature can have at all; for a sum, under the conditions on its variables."""
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


def action_of(written: Any, where: Where) -> Action:
    """What is written, as simply as the conditions allow: a constant, a lookup on one feature, or a table."""
    if not isinstance(written, Symbol):
        return Constant(int(written))
    allowed = [sorted(where.get(v, frozenset(range(n)))) for v, n in zip(written.support, written.table.shape)]
    table = written.table[np.ix_(*allowed)]
    needed = [a for a in range(table.ndim) if len(_patterns(table, a)) > 1]
    if not needed:
        return Constant(int(table.ravel()[0]))
    if len(needed) == 1:
        line = np.moveaxis(table, needed[0], 0).reshape(table.shape[needed[0]], -1)[:, 0]
        return Lookup(written.support[needed[0]], tuple(zip(allowed[needed[0]], line.tolist())))
    if written.base is not None:
        totals = written.base.grid(written.support)[np.ix_(*allowed)]
        return Lookup(written.base, tuple(sorted(set(zip(totals.ravel().tolist(), table.ravel().tolist())))))
    full = np.moveaxis(written.table, needed, range(len(needed)))
    first = tuple(allowed[a][0] for a in range(table.ndim) if a not in needed)
    kept = full[(slice(None),) * len(needed) + first]
    return Table(tuple(written.support[a] for a in needed), kept.shape, tuple(kept.ravel().tolist()))


def merged(cases: list[Case], sizes: Sizes) -> list[Case]:
    """The same cases, fewer: those that differ in one feature alone become one.

    First cases with the same action are united, which drops tests that do not matter; then cases whose
    actions are functions of the feature become one lookup.
    """
    changed = True
    while changed:
        changed = False
        for feature in dict.fromkeys(f for c in cases for f, _ in c.where):
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
