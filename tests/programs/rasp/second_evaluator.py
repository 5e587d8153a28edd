"""RASP's meaning once more, written from its description alone: a recursive function of one position at a time."""

from fractions import Fraction
from typing import Any

from kleene.programs import rasp


class NoValue(Exception):
    """RASP gives the expression no value."""


def value_at(sop: rasp.SOp, xs: list, at: int, causal: bool) -> Any:
    """The value of an s-op at one position."""
    match sop:
        case rasp.TokensType():
            return xs[at]
        case rasp.IndicesType():
            return at
        case rasp.LengthType():
            return len(xs)
        case rasp.Full():
            return sop.fill
        case rasp.Map():
            inner = value_at(sop.inner, xs, at, causal)
            return None if inner is None else sop.f(inner)
        case rasp.SequenceMap():
            both = [value_at(child, xs, at, causal) for child in (sop.fst, sop.snd)]
            return None if None in both else sop.f(*both)
        case rasp.SelectorWidth():
            return len(_chosen(sop.selector, xs, at, causal))
        case rasp.Aggregate():
            values = [value_at(sop.sop, xs, key, causal) for key in _chosen(sop.selector, xs, at, causal)]
            return _mean(values) if values else sop.default
    raise AssertionError(f"no case for {sop!r}")


def _mean(values: list) -> Any:
    if all(type(value) is type(values[0]) and repr(value) == repr(values[0]) for value in values):
        return values[0]
    if any(isinstance(value, (str, tuple)) or value is None for value in values):
        raise NoValue
    return float(sum(Fraction(value) for value in values) / len(values))


def _chosen(selector: rasp.Selector, xs: list, query: int, causal: bool) -> list[int]:
    seen = range(query + 1) if causal else range(len(xs))
    return [key for key in seen if _selects(selector, xs, key, query, causal)]


def _selects(selector: rasp.Selector, xs: list, key: int, query: int, causal: bool) -> bool:
    match selector:
        case rasp.Select():
            pair = value_at(selector.keys, xs, key, causal), value_at(selector.queries, xs, query, causal)
            return bool(selector.predicate(*pair))
        case rasp.SelectorAnd():
            return all(_selects(part, xs, key, query, causal) for part in selector.children)
        case rasp.SelectorOr():
            return any(_selects(part, xs, key, query, causal) for part in selector.children)
        case rasp.SelectorNot():
            return not _selects(selector.inner, xs, key, query, causal)
    raise AssertionError(f"no case for {selector!r}")
