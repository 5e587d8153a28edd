"""The local variables of branches that have met: what they agree in stays, the rest becomes tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from kleene.programs.alta.assignment import Assignment
from kleene.programs.alta.possibilities import equals
from kleene.programs.alta.symbols import Symbol, aligned, key_of, packed
from kleene.programs.alta.tracing import Tracer
from kleene.programs.alta.trees import Decision
from kleene.programs.alta.values import Value, is_value, symbol_of

LARGEST_MERGED = 1 << 18
CONTAINERS = (list, tuple, dict, set)
PLAIN = (bool, int, float, str, bytes, frozenset, type(None))
Branch = tuple[list[Decision], frozenset[str], dict[str, Any]]  # decisions, heads looked at, local variables


def merged_locals(tracer: Tracer, branches: Sequence[Branch]) -> dict[str, Any] | None:
    """The local variables that differ, each as one value for all branches; None where one cannot be."""
    names = set().union(*(local for *_, local in branches))
    looked_at = frozenset.intersection(*(heads for _, heads, _ in branches))
    if any(names != set(local) for *_, local in branches):
        return None  # one is bound in some of the branches only
    if len({_aliases(local) for *_, local in branches}) > 1:
        return None
    merged = {}
    for name in sorted(names):
        values = [local[name] for *_, local in branches]
        if all(_same(values[-1], value) for value in values):
            continue
        one = _one(tracer, name, [(conditions, local[name]) for conditions, _, local in branches], looked_at)
        if one is None:
            return None
        merged[name] = one[0]
    return merged


def outside(function: Any) -> dict[str, Any]:
    """A copy of what the function can change beyond its local variables: what it names, and its own object."""
    plain = getattr(function, "__func__", function)
    code, known = getattr(plain, "__code__", None), getattr(plain, "__globals__", {})
    found = {n: known[n] for n in getattr(code, "co_names", ()) if n in known}
    found |= {n: c.cell_contents for n, c in zip(getattr(code, "co_freevars", ()), plain.__closure__ or ()) if _full(c)}
    found["its object"] = getattr(function, "__self__", None)
    return {f"outer {name}": copied for name, thing in found.items() if (copied := _copied(thing)) is not None}


def _full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # a variable that has no value yet
        return False


def _copied(thing: Any) -> Any:
    """What an object holds now; None for what cannot change."""
    if type(thing) in CONTAINERS:
        return type(thing)(thing)
    fixed = isinstance(thing, (type, FunctionType, BuiltinFunctionType, ModuleType)) or is_value(thing)
    return None if fixed or not hasattr(thing, "__dict__") else dict(vars(thing))


def _aliases(local: Mapping[str, Any]) -> tuple[int, ...]:
    """Which of the containers in these variables are one and the same, in the order in which they are met."""
    order: dict[int, int] = {}
    return tuple(order.setdefault(thing, len(order)) for name in sorted(local) for thing in _containers(local[name], 0))


def _containers(thing: Any, depth: int) -> Iterator[int]:
    if type(thing) in (list, dict, set):
        yield id(thing)
    if type(thing) in (list, tuple, dict) and depth < 8:
        for item in thing.values() if type(thing) is dict else thing:
            yield from _containers(item, depth + 1)


def _same(a: Any, b: Any) -> bool:
    """Whether two runs hold the same here, as far as what follows can tell."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if is_value(a):
        return symbol_of(a) is symbol_of(b)
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if type(a) is dict:
        return list(map(key_of, a)) == list(map(key_of, b)) and all(map(_same, a.values(), b.values()))
    if type(a) is FunctionType:
        cells = [tuple(c.cell_contents for c in f.__closure__ or () if _full(c)) for f in (a, b)]
        parts = [(f.__defaults__, f.__kwdefaults__, vars(f), *inner) for f, inner in zip((a, b), cells)]
        return a.__code__ is b.__code__ and _same(*parts)
    return type(a) is Assignment or (type(a) in (*PLAIN, set) and key_of(a) == key_of(b))


def _one(
    tracer: Tracer, name: str, branches: list[tuple[list[Decision], Any]], looked_at: frozenset[str]
) -> tuple[Any] | None:
    """A value that is, under the decisions of each branch, what the branch has; None where it cannot be tabulated.

    Only numbers of one kind are: `is None` or `is True` would not see what has become a table.
    """
    values = [value for _, value in branches]
    if all(type(v) is tuple and len(v) == len(values[0]) for v in values):
        items = [_item(tracer, name, branches, looked_at, i) for i in range(len(values[0]))]
        return None if any(i is None for i in items) else (tuple(i[0] for i in items if i is not None),)
    kinds = {type(v) for v in values if not is_value(v)}
    if kinds not in (set(), {int}, {float}):
        return None
    symbols = [d.symbol for conditions, _ in branches for d in conditions]
    symbols += [symbol_of(v) for v in values if is_value(v)]
    support = tuple(sorted({v for s in symbols for v in s.support}))
    if not looked_at.issuperset(v for v in support if v in tracer.heads):
        return None  # the table would look at a head in branches that did not, where it may be undefined
    shape = tuple(len(tracer.domains[v].domain) for v in support)
    if math.prod(shape) > LARGEST_MERGED:
        return None
    symbol = Symbol(name, support, _table(branches, support, shape))
    bases = {s.base for s in symbols}
    if len(support) > 1 and len(bases) == 1:
        symbol.base = bases.pop()
    return (Value(tracer, symbol),)


def _item(
    tracer: Tracer, name: str, branches: list[tuple[list[Decision], Any]], looked_at: frozenset[str], index: int
) -> tuple[Any] | None:
    items = [(conditions, value[index]) for conditions, value in branches]
    if all(_same(items[-1][1], item) for _, item in items):
        return (items[-1][1],)
    return _one(tracer, name, items, looked_at)


def _table(branches: list[tuple[list[Decision], Any]], support: tuple[str, ...], shape: tuple[int, ...]) -> np.ndarray:
    """What each branch has, where its decisions lead; anything where none of them leads."""
    table = np.empty(shape, dtype=object)
    for index, (conditions, value) in enumerate(branches):
        here = np.ones(shape, dtype=bool)
        for decision in conditions if index else []:  # the first branch also stands where none leads
            here &= equals(aligned(decision.symbol, support), decision.outcome)
        if is_value(value):
            table[here] = np.broadcast_to(aligned(symbol_of(value), support), shape)[here]
        else:
            table[here] = value
    return packed(table.ravel().tolist(), shape)
