"""Translation validation: the traced cases are compared with the function itself, run on plain Python values.

Some of Python's questions (`is`, `type`) no traced value can answer truly. So the function is called as it was written,
twice, on every assignment of the variables that each case depends on, or on a sample of them where there are too many,
and must write what the cases say. A sample follows the function's paths, and includes rare values of what it computes.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import TracingError
from kleene.programs.alta.cases import Case, Sizes, View, act
from kleene.programs.alta.exploring import Exploration, quiet
from kleene.programs.alta.source import constants_of, line_in, place, place_of
from kleene.programs.alta.symbols import Symbol
from kleene.programs.alta.trees import Allowed, Decision, Fork, Joined, Leaf, distinct, equals, narrowed, witness
from kleene.programs.alta.variables import Variable

MOST_ASSIGNMENTS = 1024  # up to this many are all run when a program is built
SAMPLE = 128  # how many are run where there are more
MOST_SHOWN = 8  # how many variables an error names
Codes = dict[str, np.ndarray]


@dataclass(frozen=True)
class Validation:
    """How the function was compared with its cases: on all assignments of what each update depends on, or on some."""

    exhaustive: bool
    assignments: int
    sampled: tuple[str, ...] = ()  # the variables whose updates were compared on a sample

    def __str__(self) -> str:
        if self.exhaustive:
            return f"the function was run on all {self.assignments:,} assignments of what its cases depend on, twice"
        shown = ", ".join(self.sampled[:MOST_SHOWN]) + (" and others" if len(self.sampled) > MOST_SHOWN else "")
        return (
            f"the function was run on {self.assignments:,} assignments of what its cases depend on, twice; for {shown} "
            f"they are a random sample"
        )


def validate(
    function: Callable[[Any], Any],
    variables: Mapping[str, Variable],
    heads: Mapping[str, Variable],
    updates: Mapping[str, Sequence[Case]],
    explored: Exploration | None = None,
    *,
    most: int = MOST_ASSIGNMENTS,
    sample: int = SAMPLE,
    seed: int = 0,
) -> Validation:
    """On which assignments the cases agree with the function; raises where they do not.

    `explored` has the function's paths and rare values, which are always tried.
    """
    domains = dict(variables) | dict(heads)
    chance = np.random.default_rng(seed)
    sizes = {n: len(v.domain) for n, v in domains.items()}
    needs = {t: frozenset[str]().union(*(c.variables for c in updates.get(t, ()))) for t in variables}
    whole = _enumerated(set(needs.values()), sizes, most)
    blocks = [_every(sorted(names), sizes, chance) for names in whole]
    blocks += _unseen(frozenset().union(*needs.values()), sizes, sample // 4, most, chance)
    blocks += _named(constants_of(function), domains, sample // 2, chance)
    if explored is not None:
        blocks += _covered(explored, sizes, sample, chance)
    sampled = [t for t in variables if not any(needs[t] <= names for names in whole)]
    if sampled:
        blocks += [_some(sizes, sample, chance), *_inside(sampled, updates, sizes, sample, chance)]
    codes = {n: np.concatenate([b[n] for b in blocks]) for n in domains}
    _compare(function, variables, domains, updates, codes)
    return Validation(not sampled, len(next(iter(codes.values()))), tuple(sampled))


def _enumerated(needs: set[frozenset[str]], sizes: Sizes, most: int) -> list[frozenset[str]]:
    """The sets of variables whose assignments are all run: none within another, the small ones first."""
    count = {names: math.prod(sizes[n] for n in names) for names in needs}
    fitting = [names for names in needs if count[names] <= most]
    found, left = [], most
    for names in sorted(fitting, key=lambda names: (count[names], sorted(names))):
        if not any(names < other for other in fitting) and count[names] <= left:
            found.append(names)
            left -= count[names]
    return found


def _unseen(seen: frozenset[str], sizes: Sizes, count: int, most: int, chance: np.random.Generator) -> list[Codes]:
    """Assignments that show whether the function depends on more than tracing has seen: random ones, ones in which all
    variables are equal, and values of each variable that no case depends on."""
    alike = np.arange(min(count, max(sizes.values())))
    blocks = [_some(sizes, count, chance), {n: np.minimum(alike, size - 1) for n, size in sizes.items()}]
    for name in sorted(sizes.keys() - seen):  # in order, so that the random choices are always the same
        values = chance.permutation(sizes[name])[: most // 8]
        blocks.append(_some(sizes, len(values), chance) | {name: values})
    return blocks


def _named(
    constants: Sequence[int], domains: Mapping[str, Variable], count: int, chance: np.random.Generator
) -> list[Codes]:
    """Assignments in which variables often have the values that the function names."""
    block = _some({n: len(v.domain) for n, v in domains.items()}, count, chance)
    for name, variable in domains.items():
        codes = [code for code in map(variable.code, constants) if code is not None]
        if codes:
            block[name] = np.where(chance.random(count) < 0.5, chance.choice(codes, size=count), block[name])
    return [block] if constants else []


def _covered(explored: Exploration, sizes: Sizes, count: int, chance: np.random.Generator) -> list[Codes]:
    """Assignments along the function's own paths and for rare values of what it computes; the rest is random."""
    fixed = covering(explored, sizes, count, chance)
    block = _some(sizes, len(fixed), chance)
    for row, codes in enumerate(fixed):
        for name, code in codes.items():
            block[name][row] = code
    return [block]


def _some(sizes: Sizes, count: int, chance: np.random.Generator) -> Codes:
    return {n: chance.integers(size, size=count) for n, size in sizes.items()}


def _every(names: Sequence[str], sizes: Sizes, chance: np.random.Generator) -> Codes:
    """All combinations of these variables' codes; the others are random."""
    count = math.prod(sizes[n] for n in names)
    if not names:
        return _some(sizes, 1, chance)
    index = np.unravel_index(np.arange(count), tuple(sizes[n] for n in names))
    return _some(sizes, count, chance) | dict(zip(names, index))


def _inside(
    targets: Sequence[str], updates: Mapping, sizes: Sizes, count: int, chance: np.random.Generator
) -> list[Codes]:
    """Assignments drawn where each case holds, as far as its conditions on single variables go."""
    cases = [c for t in targets for c in updates.get(t, ())]
    share = max(1, count // max(1, len(cases)))
    blocks = []
    for c in cases[:count]:
        block = _some(sizes, share, chance)
        for feature, allowed in c.where:
            if isinstance(feature, str):
                block[feature] = chance.choice(sorted(allowed), size=share)
        blocks.append(block)
    return blocks


def _compare(function: Callable, variables: Mapping, domains: Mapping, updates: Mapping, codes: Codes) -> None:
    rows = _rows(domains, codes)
    with quiet():
        first = _replayed(function, rows)
        second = _replayed(function, rows[::-1])[::-1]  # in another order, to show state that the function keeps
    found, again = (_codes_written(function, variables, rows, written) for written in (first, second))
    for target in variables:
        for row in np.flatnonzero(found[target] != again[target])[:1].tolist():
            _refuse_changeable(function, rows[row], target)
    for target, variable in variables.items():
        cases = updates.get(target, ())
        expected, which = _by_cases(cases, codes, codes[target])
        after = np.where(found[target] < 0, codes[target], found[target])
        for row in np.flatnonzero(after != expected)[:1].tolist():
            line = _line_of_write(function, rows[row], target) or (cases[which[row]].line if which[row] >= 0 else 0)
            values = (variable.domain[after[row]], variable.domain[expected[row]])
            asked = {target}.union(*(c.variables for c in cases))
            shown = dict(sorted(rows[row].items(), key=lambda item: item[0] not in asked))
            _refuse(function, shown, target, f"is {values[0]!r}", repr(values[1]), line)


def _rows(domains: Mapping[str, Variable], codes: Codes) -> list["Replay"]:
    """The assignments as plain values."""
    columns = [list(map(v.domain.__getitem__, codes[n].tolist())) for n, v in domains.items()]
    return [Replay(zip(domains, values)) for values in zip(*columns)]


class Replay(dict):
    """The `z` of a replay: reads give the values from before, writes are kept apart."""

    __slots__ = ("written",)
    written: dict[str, Any]

    def __setitem__(self, name: str, value: Any) -> None:
        self.written[name] = value

    def update(self, *given: Any, **named: Any) -> None:
        for name, value in dict(*given, **named).items():
            self[name] = value


class Located(Replay):
    """A replay that notes the line of every write."""

    __slots__ = ("function", "lines")

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.lines[name] = line_in(self.function)


def _line_of_write(function: Callable, row: Mapping[str, Any], target: str) -> int:
    """The line on which the function writes the target last; 0 where it does not."""
    z = Located(row)
    z.written, z.function, z.lines = {}, function, {}
    with quiet():
        function(z)
    return z.lines.get(target, 0)


def _replayed(function: Callable, rows: list[Replay]) -> list[dict[str, Any]]:
    """What the function writes on each assignment."""
    found: list[dict[str, Any]] = []
    try:
        for z in rows:
            z.written = {}
            function(z)
            found.append(z.written)
    except Exception as error:
        _refuse_error(rows[len(found)], error)
    return found


def _codes_written(
    function: Callable, variables: Mapping, rows: list[Replay], written: list[dict[str, Any]]
) -> dict[str, np.ndarray]:
    """The codes that were written to each variable; -1 where none was."""
    found = {name: [-1] * len(rows) for name in variables}
    known: dict[Any, int] = {}  # few values are written many times
    for index, values in enumerate(written):
        for name, value in values.items():
            plain = type(value) is int or type(value) is float
            code = known.get((name, value)) if plain else None
            if code is None:
                code = _code(function, variables, rows[index], name, value)
                if plain:
                    known[name, value] = code
            found[name][index] = code
    return {name: np.array(codes) for name, codes in found.items()}


def _code(function: Callable, variables: Mapping, row: Mapping[str, Any], name: str, value: Any) -> int:
    variable = variables.get(name)
    code = variable.code(value) if variable is not None else None
    if code is None:
        expected = variable.expected if variable is not None else "nothing: there is no such variable"
        _refuse(function, row, name, f"is {value!r}, which it cannot take ({expected})", "another value", 0)
    assert code is not None
    return code


def _by_cases(cases: Sequence[Case], codes: Codes, old: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The codes after the cases, and the index of the case that wrote each (-1 where none did)."""
    new, which, view = old.astype(np.int64), np.full(len(old), -1), View(codes)
    for index, c in enumerate(cases):
        holds = view.holds(c)
        np.copyto(new, act(c, codes), where=holds)
        which[holds] = index
    return new, which


def _refuse(function: Callable, row: Mapping, target: str, found: str, expected: str, line: int) -> None:
    code = getattr(function, "__code__", None)
    where = place(code, line or getattr(code, "co_firstlineno", 0))
    raise TracingError(
        f"{where}: where {_shown(row)}, {target!r} {found} after the function is run on plain values, but the rules "
        f"traced from it say {expected}. Tracing does not see all that it does: of a value it sees neither `is` nor "
        f"`type` (use `==` and `isinstance`), and what the function keeps outside z must not change."
    )


def _refuse_error(row: Mapping, error: Exception) -> None:
    raise TracingError(
        f"{place_of(error)}: the function raises {type(error).__name__}: {error} where {_shown(row)}, though it did "
        f"not when it was traced. It must give a result for every assignment, whatever it asks of a value."
    ) from error


def _refuse_changeable(function: Callable, row: Mapping, name: str) -> None:
    code = getattr(function, "__code__", None)
    raise TracingError(
        f"{place(code, getattr(code, 'co_firstlineno', 0))}: the function does not do the same when it is run again: "
        f"where {_shown(row)}, {name!r} is written differently. It must depend on z alone, not on chance, on time or "
        f"on what it has kept from before."
    )


def _shown(row: Mapping[str, Any]) -> str:
    shown = [f"{n} = {v!r}" for n, v in row.items()]
    return ", ".join(shown[:MOST_SHOWN]) + (f" and {len(shown) - MOST_SHOWN} more" if len(shown) > MOST_SHOWN else "")


FEW = 8  # a symbol with at most this many values may have a rare one
MOST_PATHS = 24  # how many paths are drawn, because following one costs as much as many replays
Assigned = dict[str, int]


def covering(explored: Exploration, sizes: Sizes, most: int, chance: np.random.Generator) -> list[Assigned]:
    """At most `most` partial assignments: half of them along paths, half for rare values of symbols."""
    paths = []
    for codes in _paths(explored, sizes, chance):
        if codes is not None and codes not in paths:
            paths.append(codes)
        if len(paths) >= most // 2:
            break
    return paths + _rare(explored.symbols, most - most // 2, chance)


def _paths(explored: Exploration, sizes: Sizes, chance: np.random.Generator) -> Iterator[Assigned | None]:
    """Partial assignments that take a random path: two for each path, or fewer where there are many paths."""
    everything = {n: np.ones(size, dtype=bool) for n, size in sizes.items()}
    for _ in range(min(2 * _leaves(explored.tree), MOST_PATHS)):
        taken: list[Decision] = []
        _descend(explored.tree, everything, taken, chance)
        allowed = everything
        for index, decision in enumerate(taken):
            allowed = narrowed(decision, allowed, taken[:index])
        possible = all(mask.any() for mask in allowed.values())
        yield witness(None, allowed, taken) if possible else None


def _leaves(tree: Fork | Joined | Leaf) -> int:
    if isinstance(tree, Joined):
        return _leaves(tree.first) + _leaves(tree.then[0])
    return sum(_leaves(child) for child in tree.children) if isinstance(tree, Fork) else 1


def _descend(tree: Fork | Joined | Leaf, allowed: Allowed, taken: list[Decision], chance: np.random.Generator) -> None:
    """Add the decisions of a random path."""
    if isinstance(tree, Joined):
        _descend(tree.first, allowed, taken, chance)
        _descend(tree.then[0], allowed, taken, chance)
    elif isinstance(tree, Fork):
        choice = int(chance.integers(len(tree.outcomes)))
        taken.append(Decision(tree.symbol, tree.outcomes[choice], allowed, ([], 0)))
        _descend(tree.children[choice], allowed, taken, chance)


def _rare(symbols: tuple[Symbol, ...], most: int, chance: np.random.Generator) -> list[Assigned]:
    """Partial assignments that give symbols with few values each of these, the rarest first."""
    found: dict[tuple, tuple[float, Assigned]] = {}
    for symbol in symbols:
        outcomes = distinct(symbol.table)
        for outcome in outcomes if len(outcomes) <= FEW else ():
            places = np.argwhere(equals(symbol.table, outcome))
            place = places[int(chance.integers(len(places)))].tolist()
            codes = dict(zip(symbol.support, place))
            found.setdefault(tuple(codes.items()), (len(places) / symbol.table.size, codes))
    ordered = sorted(found.values(), key=lambda item: item[0])
    return [codes for _, codes in ordered[:most]]
