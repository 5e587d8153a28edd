"""The tree of a function's decisions (forks, leaves, branches that met again), and the cases that follow from it.

Along a path of the tree, `Allowed` says which codes of each variable are still possible.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kleene.programs.alta.cases import Case, Feature, Sizes, action_of, case, merged, narrow
from kleene.programs.alta.symbols import LARGEST_TABLE, Fault, Symbol, aligned, key_of

Allowed = Mapping[str, np.ndarray]  # by variable: which of its codes are still possible on a path


@runtime_checkable
class Taken(Protocol):
    """A decision that was taken: the symbol turned out to be `outcome`."""

    symbol: Symbol
    outcome: Any


def feasible(symbol: Symbol, allowed: Allowed, taken: Sequence[Taken]) -> np.ndarray:
    """The entries of the symbol's table that are still possible."""
    return symbol.table[combinations(symbol.support, allowed, taken)]


def narrowed(decision: Taken, allowed: Allowed, taken: Sequence[Taken]) -> Allowed:
    """The codes that remain after one more decision."""
    symbol = decision.symbol
    hit = combinations(symbol.support, allowed, taken) & equals(symbol.table, decision.outcome)
    left = dict(allowed)
    for axis, name in enumerate(symbol.support):
        others = tuple(i for i in range(hit.ndim) if i != axis)
        left[name] = left[name] & hit.any(axis=others)
    return left


def witness(wanted: Symbol | None, allowed: Allowed, taken: Sequence[Taken]) -> dict[str, int] | None:
    """Codes that agree with all decisions and make the wanted symbol true; None where there are none.

    Where there are too many combinations to try, the codes are only allowed one by one.
    """
    symbols = [d.symbol for d in taken] + ([wanted] if wanted is not None else [])
    support = tuple(sorted({v for s in symbols for v in s.support}))
    axes = [np.flatnonzero(allowed[v]) for v in support]
    if np.prod([float(len(a)) for a in axes]) > LARGEST_TABLE:
        return {v: int(a[0]) for v, a in zip(support, axes)}
    grid = dict(zip(support, np.meshgrid(*axes, indexing="ij", sparse=True)))
    found = np.ones([len(a) for a in axes], dtype=bool)
    for decision in taken:
        table = decision.symbol.table[tuple(grid[v] for v in decision.symbol.support)]
        found &= equals(table, decision.outcome)
    if wanted is not None:
        found &= wanted.table[tuple(grid[v] for v in wanted.support)]
    if not found.any():
        return None
    return {v: int(a[i]) for v, a, i in zip(support, axes, np.argwhere(found)[0])}


def combinations(support: tuple[str, ...], allowed: Allowed, taken: Sequence[Taken]) -> np.ndarray:
    """Which combinations of these variables' codes remain after the decisions that depend on no others."""
    masks = [allowed[v].reshape([-1 if u == v else 1 for u in support]) for v in support]
    possible = np.logical_and.reduce(np.broadcast_arrays(*masks))
    for decision in taken:
        symbol = decision.symbol
        if len(symbol.support) > 1 and set(symbol.support) <= set(support):
            possible = possible & equals(aligned(symbol, support), decision.outcome)
    return possible


def distinct(table: np.ndarray) -> list[Any]:
    """The different entries of a table, without errors, because a path decides on these where they arise."""
    if table.dtype.kind in "ib":
        return np.unique(table).tolist()
    entries = {id(value): value for value in table.ravel().tolist() if not isinstance(value, Fault)}
    return list({key_of(value): value for value in entries.values()}.values())


def equals(table: np.ndarray, outcome: Any) -> np.ndarray:
    """Where the table's entry is the outcome."""
    if table.dtype.kind in "ib":
        return table == outcome
    kind = type(outcome)  # a key begins with the type, and those of the plain types are the values
    entries = table.ravel().tolist()
    if kind in (int, bool, str, type(None)):
        flat = [type(value) is kind and value == outcome for value in entries]
    else:
        wanted = key_of(outcome)
        flat = [value is outcome or (type(value) is kind and key_of(value) == wanted) for value in entries]
    return np.array(flat, dtype=bool).reshape(table.shape)


@dataclass(frozen=True)
class Leaf:
    """The end of a path: what it wrote (constants or symbols, with the source line), and which heads it looked at.

    A path whose decisions contradict each other is `dead`: no assignment takes it.
    """

    writes: Mapping[str, tuple[Any, int]]
    looked_at: frozenset[str]
    dead: bool = False


@dataclass(eq=False)
class Fork:
    """A decision: the symbol it looked at, its possible outcomes, and what follows each."""

    symbol: Symbol
    outcomes: list[Any]
    place: str
    children: list[Any] = field(default_factory=list)


@dataclass(eq=False)
class Joined:
    """Branches that met again: the tree up to that point, and the one that follows whichever branch was taken."""

    first: Fork
    then: list[Any] = field(default_factory=lambda: [None])


Tree = Fork | Joined | Leaf


@dataclass(eq=False)
class Decision:
    """The outcome of a symbol on a path; `fork` is None where the path so far left only one outcome."""

    symbol: Symbol
    outcome: Any
    allowed: Allowed  # before it
    slot: tuple[list[Any], int]  # where it hangs in the tree
    fork: Fork | None = None
    choice: int = 0
    join: int | None = None  # where in the function its branches meet again


@dataclass(eq=False)
class Join:
    """Branches that have met: the decision that parted them is entry `start` of the path."""

    start: int
    offset: int
    local: Mapping[str, Any]  # the function's own variables after it
    node: Joined


# --- the cases that follow from a tree -------------------------------------------------------------------------


def cases_of(tree: Tree, decide: Callable[[Leaf], Any], sizes: Sizes) -> list[Case]:
    """The cases of one output of a decision tree, merged. `decide` says what a leaf writes to that output:
    None to leave it alone, a code, or a symbol whose table holds codes."""
    found: list[Case] = []
    _walk(_reduced(tree, decide, {}), {}, found, sizes)
    return merged(found, sizes)


@dataclass(frozen=True)
class _DiagramNode:
    """A fork of the decision diagram of a single output; outcomes with the same continuation share one branch."""

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
        # A write after the branches have met counts; where there is none, what the branches wrote.
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
        if below is None:  # no assignment gets here
            continue
        groups.setdefault(id(below), (below, []))[1].append(index)
    if len(groups) <= 1:
        return next(iter(groups.values()))[0] if groups else None
    branches = tuple((node, tuple(tree.outcomes[i] for i in which)) for node, which in groups.values())
    return _node(tree.symbol, branches, shared)


def _node(symbol: Symbol, branches: tuple[tuple[Any, tuple[Any, ...]], ...], shared: dict) -> Any:
    key = (id(symbol), tuple((id(node), key_of(outcomes)) for node, outcomes in branches))
    return shared.setdefault(key, _DiagramNode(symbol, branches))


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
