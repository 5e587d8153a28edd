"""Selectors, which say for every position (the query, a row) which positions (the keys, columns) it reads, and the
s-ops that read through them. Where evaluation is causal, a position reads only itself and those before it.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from kleene.errors import ProgramError
from kleene.programs.rasp.expressions import Full, SOp
from kleene.programs.rasp.graph import RaspError, RASPExpr, SelectorValue, applied, called, needs, needs_function
from kleene.programs.rasp.wording import function_text
from kleene.traces.values import unboxed, value_key


@runtime_checkable
class Predicate(Protocol):
    """Whether a query selects a key: any function of both values, such as a `Comparison`."""

    def __call__(self, key: Any, query: Any, /) -> bool: ...


class Comparison(Enum):
    """A predicate `key ? query`. It refuses None on either side, as Tracr's does."""

    EQ = "=="
    LT = "<"
    LEQ = "<="
    GT = ">"
    GEQ = ">="
    NEQ = "!="
    TRUE = "True"
    FALSE = "False"

    def __call__(self, key: Any, query: Any) -> bool:
        if key is None or query is None:
            side = "key" if key is None else "query"
            raise ValueError(f"the {side} is None, and {self.name} compares values; use a predicate of your own")
        return _COMPARISONS[self](key, query)


_COMPARISONS: dict[Comparison, Predicate] = {
    Comparison.EQ: operator.eq,
    Comparison.LT: operator.lt,
    Comparison.LEQ: operator.le,
    Comparison.GT: operator.gt,
    Comparison.GEQ: operator.ge,
    Comparison.NEQ: operator.ne,
    Comparison.TRUE: lambda key, query: True,
    Comparison.FALSE: lambda key, query: False,
}


class Selector(RASPExpr):
    """Which positions each position reads. Selectors combine with & | ~."""

    _default_name = "selector"

    def __and__(self, other: "Selector") -> "Selector":
        return selector_and(self, other)

    def __or__(self, other: "Selector") -> "Selector":
        return selector_or(self, other)

    def __invert__(self) -> "Selector":
        return selector_not(self)

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> SelectorValue:
        """A row for each query, and in it whether it selects each key."""
        rows = self.rows(xs, of)
        return [[s and k <= q for k, s in enumerate(row)] for q, row in enumerate(rows)] if causal else rows

    def rows(self, xs: list, of: Mapping[RASPExpr, list]) -> SelectorValue:
        """The rows before a causal mask."""
        raise ProgramError(f"a {type(self).__name__} has no value of its own; use one of its subclasses")


class Select(Selector):
    """Selects the keys for which `predicate(key, query)` holds."""

    _default_name = "select"

    def __init__(self, keys: SOp, queries: SOp, predicate: Predicate):
        super().__init__()
        needs(self, keys, SOp, "keys")
        needs(self, queries, SOp, "queries")
        needs_function(self, predicate)
        self.keys, self.queries, self.predicate = keys, queries, predicate
        self.children = (keys, queries)

    def holds(self, key: Any, query: Any) -> bool:
        """Whether a query of that value selects a key of that value; a RaspError where the predicate raises."""
        return bool(applied(self, self.predicate, key, query))

    def rows(self, xs: list, of: Mapping[RASPExpr, list]) -> SelectorValue:
        """The predicate of every pair."""
        return [[self.holds(key, query) for key in of[self.keys]] for query in of[self.queries]]

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """Keys, queries and predicate."""
        predicate = self.predicate
        compared = predicate.name if isinstance(predicate, Comparison) else function_text(predicate)
        return called(self, names[self.keys], names[self.queries], compared)


class ConstantSelector(Selector):
    """The same rows for every input, which has to be as long, or with `check_length=False` may be shorter."""

    _default_name = "constant_selector"

    def __init__(self, value: Sequence[Sequence[bool]], check_length: bool = True):
        super().__init__()
        self.value = tuple(tuple(bool(entry) for entry in row) for row in value)
        self.check_length = check_length
        if any(len(row) != len(self.value) for row in self.value):
            raise ProgramError(f"{self.described} is not square: each of its {len(self.value)} rows has to be as long")

    def rows(self, xs: list, of: Mapping[RASPExpr, list]) -> SelectorValue:
        """The rows and columns of the input's positions."""
        if len(xs) > len(self.value) or (self.check_length and len(xs) != len(self.value)):
            raise RaspError(f"{self.described} is for {len(self.value)} positions, and the input has {len(xs)}")
        return [list(row[: len(xs)]) for row in self.value[: len(xs)]]

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """The rows."""
        return called(self, repr([list(row) for row in self.value]))


class _Pair(Selector):
    """Two selectors, combined entry by entry."""

    _combine: Callable[[bool, bool], bool]
    _sign = ""

    def __init__(self, fst: Selector, snd: Selector):
        super().__init__()
        needs(self, fst, Selector, "fst")
        needs(self, snd, Selector, "snd")
        self.fst, self.snd = fst, snd
        self.children = (fst, snd)

    def rows(self, xs: list, of: Mapping[RASPExpr, list]) -> SelectorValue:
        """Each entry of one with that of the other."""
        pairs = zip(of[self.fst], of[self.snd], strict=True)
        return [[type(self)._combine(a, b) for a, b in zip(x, y, strict=True)] for x, y in pairs]

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """Both, with & or | between them."""
        return f"{names[self.fst]} {self._sign} {names[self.snd]}"


class SelectorAnd(_Pair):
    """What both selectors select."""

    _default_name = "selector_and"
    _combine, _sign = operator.and_, "&"


class SelectorOr(_Pair):
    """What at least one of two selectors selects."""

    _default_name = "selector_or"
    _combine, _sign = operator.or_, "|"


class SelectorNot(Selector):
    """What the selector does not select."""

    _default_name = "selector_not"

    def __init__(self, inner: Selector):
        super().__init__()
        needs(self, inner, Selector, "inner")
        self.inner = inner
        self.children = (inner,)

    def rows(self, xs: list, of: Mapping[RASPExpr, list]) -> SelectorValue:
        """Each entry's opposite."""
        return [[not entry for entry in row] for row in of[self.inner]]

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """The selector after ~."""
        return f"~{names[self.inner]}"


def selector_not(inner: Selector, simplify: bool = True) -> Selector:
    """The opposite selector: of a `Select` a `Select` again, unless `simplify` is False."""
    if simplify and isinstance(inner, Select):
        return Select(inner.keys, inner.queries, lambda key, query: not inner.predicate(key, query))
    return SelectorNot(inner)


def selector_and(fst: Selector, snd: Selector, simplify: bool = True) -> Selector:
    """Both: one `Select` if keys and queries are the same expressions, or constant, unless `simplify` is False."""
    return (_merged(fst, snd, lambda x, y: x and y) if simplify else None) or SelectorAnd(fst, snd)


def selector_or(fst: Selector, snd: Selector, simplify: bool = True) -> Selector:
    """Either: one `Select` if keys and queries are the same expressions, or constant, unless `simplify` is False."""
    return (_merged(fst, snd, lambda x, y: x or y) if simplify else None) or SelectorOr(fst, snd)


def _merged(fst: Any, snd: Any, combine: Callable[[bool, bool], bool]) -> Select | None:
    """One `Select` for both, or None. A `Full` is the same as any s-op, once its value is put into the predicate."""
    if not (isinstance(fst, Select) and isinstance(snd, Select)):
        return None
    keys, queries = _same(fst.keys, snd.keys), _same(fst.queries, snd.queries)
    if keys is None or queries is None:
        return None
    one, other = _filled(fst), _filled(snd)
    return Select(keys, queries, lambda key, query: combine(one(key, query), other(key, query)))


def _same(one: SOp, other: SOp) -> SOp | None:
    if one is other or isinstance(other, Full):
        return one
    return other if isinstance(one, Full) else None


def _filled(select: Select) -> Predicate:
    """The predicate, which takes a constant side's value and not what it is given there."""
    keys, queries, predicate = select.keys, select.queries, select.predicate

    def filled(key: Any, query: Any) -> bool:
        key = keys.fill if isinstance(keys, Full) else key
        return predicate(key, queries.fill if isinstance(queries, Full) else query)

    return filled


class SelectorWidth(SOp):
    """How many positions each position selects."""

    _default_name = "selector_width"

    def __init__(self, selector: Selector):
        super().__init__()
        needs(self, selector, Selector, "selector")
        self.selector = selector
        self.children = (selector,)

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> list:
        """The number of selected keys in each row."""
        return [sum(row) for row in of[self.selector]]


class Aggregate(SOp):
    """The mean of an s-op over the selected positions; `default` where none is selected.

    One value, or several equal ones, need not be numbers: they give that value.
    """

    _default_name = "aggregate"

    def __init__(self, selector: Selector, sop: SOp, default: Any = None):
        super().__init__()
        needs(self, selector, Selector, "selector")
        needs(self, sop, SOp, "sop")
        self.selector, self.sop, self.default = selector, sop, unboxed(default)
        self.children = (selector, sop)

    def mean(self, values: Sequence[Any]) -> Any:
        """What the selected values give, in any order; a RaspError where they are several and not all numbers.

        Truth values are numbers, as in Python. The mean is exact before it is rounded once to a float, so that it
        depends on what is selected and not on its order.
        """
        if not values:
            return self.default
        first = values[0]
        if len(values) == 1 or all(value_key(value) == value_key(first) for value in values[1:]):
            return first
        if not all(isinstance(value, (int, float)) for value in values):
            raise RaspError(f"{self.described} selects several values that have no mean: {_listed(values)}")
        try:
            if all(isinstance(value, int) for value in values):
                return sum(values) / len(values)
            return float(sum(map(Fraction, values)) / len(values))
        except (ValueError, OverflowError):
            raise RaspError(f"{self.described} selects numbers that have no finite mean: {_listed(values)}") from None

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> list:
        """The mean of what each row selects."""
        rows, values = of[self.selector], of[self.sop]
        return [self.mean([value for value, chosen in zip(values, row, strict=True) if chosen]) for row in rows]

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """Selector and s-op, and the default if it is not None."""
        otherwise = [] if self.default is None else [f"default={self.default!r}"]
        return called(self, names[self.selector], names[self.sop], *otherwise)


def _listed(values: Sequence[Any], most: int = 5) -> str:
    shown = ", ".join(map(repr, values[:most]))
    return f"{shown}, …" if len(values) > most else shown
