"""What a predicate says of every pair of a key and a query: which it selects, and for which it has no answer."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kleene.errors import ProgramError
from kleene.programs.rasp.domains import (
    FAULT,
    NO_VALUE,
    DomainError,
    ValueTable,
    refuse_answers,
    rounds,
    why_alike,
)
from kleene.programs.rasp.graph import RaspError
from kleene.programs.rasp.selectors import Comparison, Select
from kleene.traces.values import renewed
from kleene.users_code import users_code

Answers = tuple[np.ndarray, np.ndarray]  # (query, key): what is selected, and where the predicate raises

_ORDERS: dict[Comparison, Callable[[Any, Any], Any]] = {
    Comparison.EQ: np.equal,
    Comparison.NEQ: np.not_equal,
    Comparison.LT: np.less,
    Comparison.LEQ: np.less_equal,
    Comparison.GT: np.greater,
    Comparison.GEQ: np.greater_equal,
}


def chosen_pairs(selector: Select, keys: ValueTable, queries: ValueTable) -> np.ndarray:
    """Which keys each query selects, by value, (query, key).

    Refuses a predicate that tells apart what a network holds as the same number, and one that raises for values which
    meet in an input. It may raise for None, and for values that never meet; nothing is selected there.
    """
    (key_values, key_places), (query_values, query_places) = (
        _with_alike(table, typed=not isinstance(selector.predicate, Comparison)) for table in (keys, queries)
    )
    chosen, raised = answers(selector, key_values, query_values)
    if len(key_values) > len(keys.values) or len(query_values) > len(queries.values):
        places = query_places[:, None], key_places[None, :]
        yes, no = (np.zeros((len(queries.values), len(keys.values)), dtype=bool) for _ in range(2))
        np.logical_or.at(yes, places, chosen & ~raised)
        np.logical_or.at(no, places, ~chosen & ~raised)
        for q, k in np.argwhere(yes & no):
            alike = (query_places == q)[:, None] & (key_places == k)[None, :] & ~raised
            at, other = (np.argwhere(alike & answer)[0] for answer in (chosen, ~chosen))
            _refuse_telling(selector, *((key_values[k], query_values[q]) for q, k in (at, other)))
        chosen, raised = yes, ~(yes | no)
    if raised.any():
        _refuse_raising(selector, keys, queries, raised)
    return chosen


def answers(selector: Select, keys: Sequence[Any], queries: Sequence[Any]) -> Answers:
    """The predicate of every pair, asked twice or more often. Comparisons of numbers or texts are made all at once."""
    together = _compared(selector.predicate, keys, queries) if isinstance(selector.predicate, Comparison) else None
    if together is not None:
        return together
    chosen, raised = _asked(selector, keys, queries)
    for _ in rounds(chosen.size):
        again = [
            answer[::-1, ::-1]
            for answer in _asked(selector, *([*map(renewed, values[::-1])] for values in (keys, queries)))
        ]
        for q, k in np.argwhere((chosen != again[0]) | (raised != again[1]))[:1]:
            told = (NO_VALUE if no[q, k] else bool(yes[q, k]) for yes, no in ((chosen, raised), again))
            refuse_answers(selector, (keys[k], queries[q]), *told)
    return chosen, raised


@users_code()
def _asked(selector: Select, keys: Sequence[Any], queries: Sequence[Any]) -> Answers:
    chosen, raised = (np.zeros((len(queries), len(keys)), dtype=bool) for _ in range(2))
    predicate = selector.predicate
    for q, query in enumerate(queries):
        try:
            chosen[q] = [bool(predicate(key, query)) for key in keys]
        except Exception:  # of some key: ask for one after the other
            for k, key in enumerate(keys):
                try:
                    chosen[q, k] = selector.holds(key, query)
                except RaspError:
                    raised[q, k] = True
    return chosen, raised


def _compared(comparison: Comparison, keys: Sequence[Any], queries: Sequence[Any]) -> Answers | None:
    """The comparison by ranks; None if the values have no common order."""
    missing = np.array([q is None for q in queries])[:, None] | np.array([k is None for k in keys])[None, :]
    if comparison in (Comparison.TRUE, Comparison.FALSE):
        return ~missing & (comparison is Comparison.TRUE), missing
    ranks = _equality(keys, queries) if comparison in (Comparison.EQ, Comparison.NEQ) else _order(keys, queries)
    if ranks is None:
        return None
    mine, theirs = (np.array([ranks.get(x, -1) for x in values]) for values in (keys, queries))
    return _ORDERS[comparison](mine[None, :], theirs[:, None]) & ~missing, missing


def _equality(keys: Sequence[Any], queries: Sequence[Any]) -> dict[Any, int] | None:
    """A number for each value, which equal values share; None if a value has its own idea of what is equal."""
    if not all(map(_is_plain, (*keys, *queries))):
        return None
    places: dict[Any, int] = {}
    for value in (*keys, *queries):
        places.setdefault(value, len(places))
    return places


def _is_plain(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return value is None or (type(value) in (bool, int, float, str) and value == value)


def _order(keys: Sequence[Any], queries: Sequence[Any]) -> dict[Any, int] | None:
    """The rank of each value, if every two of them can be compared; None is left out."""
    values = {value for value in (*keys, *queries) if value is not None}
    kinds = {_kind(value) for value in values}
    if len(kinds) > 1 or None in kinds:
        return None
    return {value: rank for rank, value in enumerate(sorted(values))}


def _kind(value: Any) -> Any:
    """What values that can be compared with each other share; None for what is in no order."""
    if type(value) is tuple:
        kinds = tuple(map(_kind, value))
        return None if None in kinds else kinds
    if type(value) in (bool, int, float):
        return "number" if value == value else None
    return "text" if type(value) is str else None


def _with_alike(table: ValueTable, *, typed: bool) -> tuple[list[Any], np.ndarray]:
    """The values of a table and all that a network holds as one of them, and which of them that is."""
    values, places = list(table.values), list(range(len(table.values)))
    for at, value in enumerate(table.values):
        others = [other for other in table.twins.get(at, ()) if typed or other != value]
        values += others
        places += [at] * len(others)
    return values, np.array(places, dtype=np.int64)


def _refuse_telling(selector: Select, pair: tuple[Any, Any], other: tuple[Any, Any]) -> None:
    raise DomainError(
        f"{selector.described} answers otherwise for {other[0]!r}, {other[1]!r} than for {pair[0]!r}, {pair[1]!r}. "
        f"{why_alike(pair, other)}"
    )


def _refuse_raising(selector: Select, keys: ValueTable, queries: ValueTable, raised: np.ndarray) -> None:
    """Refuse if two values for which the predicate raises meet in an input of the sample; None may be one of them."""
    raised = raised & np.array([query is not None for query in queries.values])[:, None]
    raised = raised & np.array([key is not None for key in keys.values])[None, :]
    if not raised.any():
        return
    valid = ~((keys.seen == FAULT) | (queries.seen == FAULT)).any(axis=1)
    rows, columns = np.flatnonzero(raised.any(axis=1)), np.flatnonzero(raised.any(axis=0))
    asked, given = _present(queries, rows)[valid], _present(keys, columns)[valid]
    met = np.argwhere(raised[np.ix_(rows, columns)] & (asked.T @ given > 0))
    if len(met):
        q, k = met[0]
        key, query = keys.values[columns[k]], queries.values[rows[q]]
        try:
            selector.holds(key, query)
        except RaspError as error:
            raise ProgramError(
                f"{error}. The key {key!r} and the query {query!r} can be in one input, so the program cannot take "
                f"this vocabulary; leave out the tokens that it cannot compare, or use a predicate that answers for all"
            ) from error


def _present(table: ValueTable, values: np.ndarray) -> np.ndarray:
    """Whether each input of the sample has each of the values."""
    return np.stack([(table.seen == value).any(axis=1) for value in values], axis=1).astype(np.float32)
