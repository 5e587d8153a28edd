"""From cases to hidden units: few, and exact.

A unit is `clip(s - k + 1 + M (L - n))`, where L of its n literals hold and s is an integer sum: with M large
enough it is exactly 1 where all literals hold and s ≥ k, and exactly 0 elsewhere. One literal tests a variable
against a *set* of values at no cost. What a unit adds to the residual stream is given in codes: +1 on the code
that a variable takes, -1 on the one that it leaves.

A variable is written in one of two ways, whichever costs less. *Named*: every unit names the old value, clears
it and writes the new one. *Split*: some units clear whatever value there is, others write the new one; where the
two agree, -1 and +1 cancel.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kleene.programs.alta.cases import Case, Constant, Lookup, Sizes, Table, Where, boxes, case, merged
from kleene.programs.alta.symbols import Sum

Effect = dict[int, int]  # code -> weight


@dataclass(frozen=True)
class Unit:
    """Fires where every variable in `literals` has a code in its set and, with a `total`, that sum is ≥ `least`.

    `literals` may name derived bits as `("bit", index)`. `effect` is what it adds to `target`, in codes.
    """

    literals: tuple[tuple[object, frozenset[int]], ...]
    total: Sum | None
    least: int
    target: str
    effect: tuple[tuple[int, int], ...]
    line: int = 0


@dataclass
class Units:
    """The hidden units of a program, and the derived bits that some of them read: each is 1 where a sum is in a set."""

    units: list[Unit] = field(default_factory=list)
    bits: dict[tuple[Sum, frozenset[int]], int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Context:
    """What making units needs to know: the variables' sizes, which are heads, and the bits made so far."""

    sizes: Sizes
    heads: frozenset[str]
    bits: dict[tuple[Sum, frozenset[int]], int]

    def tentative(self) -> "_Context":
        """The same with its own bits: for counting units that may not be made."""
        return replace(self, bits=dict(self.bits))


def compact_units(
    updates: Mapping[str, Sequence[Case]],
    sizes: Sizes,
    heads: Collection[str],
    soft: frozenset[str] = frozenset(),
) -> Units:
    """The units for all updates of a program. `soft` variables (numbers and sets) are themselves expanded into
    one-hot features, in the same two layers as the bits, so that no bit can be made of them."""
    result = Units()
    context = _Context(sizes, frozenset(heads), result.bits)
    for target, cases in updates.items():
        plain = [p for c in cases for p in _plain_cases(c, context, soft)]
        result.units += _cheapest(target, plain, context)
    return result


def _plain_cases(c: Case, context: _Context, soft: frozenset[str]) -> list[Case]:
    """The case spread over cases that write constants or look up one feature, and that need no bit of a soft sum."""
    sums = {f for f in c.conditions if isinstance(f, Sum)}
    if isinstance(c.action, Lookup) and isinstance(c.action.feature, Sum):
        sums.add(c.action.feature)
    sizes = context.sizes
    hard = [f for f in sums if soft.intersection(f.variables) and (len(sums) > 1 or _needs_bit(f, c, context.heads))]
    pieces = [{f: s for f, s in c.where if f not in hard}]
    for feature in hard:
        if feature in c.conditions:
            hit = np.isin(feature.grid(feature.variables), list(c.conditions[feature]))
            pieces = [w for piece in pieces for w in boxes(feature.variables, hit, piece, sizes)]
    action = c.action
    if isinstance(action, Lookup) and action.feature in hard:
        assert isinstance(action.feature, Sum)
        totals, codes = action.feature.grid(action.feature.variables), action.by_value
        table = np.vectorize(lambda t: codes.get(int(t), -1), otypes=[np.int64])(totals)
        action = Table(action.feature.variables, totals.shape, tuple(table.ravel().tolist()))
    if not isinstance(action, Table):
        return [case(w, action, c.line) for w in pieces]
    spread = [item for w in pieces for item in _spread(action.support, action.array, w, sizes)]
    return [case(w, a, c.line) for w, a in spread]


def _needs_bit(guard: Sum, c: Case, heads: frozenset[str]) -> bool:
    """Whether the case looks at a head behind a condition on this sum. Such a head may be undefined where the condition
    fails, and a staircase, which is off by its steps cancelling, would let through what a literal keeps out."""
    return guard in c.conditions and bool(heads.intersection(c.variables) - set(guard.variables))


def _spread(
    support: tuple[str, ...], table: np.ndarray, where: dict, sizes: Sizes
) -> list[tuple[Where, Constant | Lookup]]:
    if len(support) == 1:
        allowed = sorted(where.get(support[0], range(sizes[support[0]])))
        codes = {int(table[a]) for a in allowed}
        if len(codes) == 1:
            return [(where, Constant(codes.pop()))]
        return [(where, Lookup(support[0], tuple((a, int(table[a])) for a in allowed)))]
    options = []
    for axis, name in enumerate(support):
        allowed = sorted(where.get(name, range(sizes[name])))
        rows: dict[bytes, list[int]] = {}
        for code in allowed:
            rows.setdefault(table.take(code, axis=axis).tobytes(), []).append(code)
        options.append((len(rows), axis, list(rows.values())))
    _, axis, groups = min(options)
    rest = support[:axis] + support[axis + 1 :]
    found = []
    for codes in groups:
        narrowed = {f: s for f, s in where.items() if f != support[axis]}
        if len(codes) < sizes[support[axis]]:
            narrowed[support[axis]] = frozenset(codes)
        found += _spread(rest, table.take(codes[0], axis=axis), narrowed, sizes)
    return found


def _cheapest(target: str, cases: list[Case], context: _Context) -> list[Unit]:
    """The fewest units found for one variable: every case named, or written after a shared clear."""
    written = {c: list(_written(target, c, context.tentative())) for c in cases}
    named = {c: _named_cost(target, c, written[c], context) for c in cases}
    split = [c for c in cases if len(written[c]) < named[c]]
    best = cases, []  # (named cases, split cases)
    cost = sum(named.values())
    while split:
        total = sum(named[c] for c in cases if c not in split) + sum(len(written[c]) for c in split)
        total += _cleared_cost(target, split, context)
        if total < cost:
            best, cost = ([c for c in cases if c not in split], list(split)), total
        # Keep only the cases that gain most from the shared clear, and look again.
        gain = {c: named[c] - len(written[c]) for c in split}
        split = [c for c in split if gain[c] > min(gain.values())]
    by_name, by_parts = best
    units = [u for c in by_name for u in _named(target, c, context)]
    units += [u for c in by_parts for u in _written(target, c, context)]
    return units + list(_cleared(target, by_parts, context))


def _named_cost(target: str, c: Case, written: list[Unit], context: _Context) -> int:
    """How many units name every old code of the target, counted without making them where that is possible.

    The units for one old code are those that write, each with that code as a literal more. Only a unit whose whole
    effect is to write or withdraw the old code itself is not needed.
    """
    olds = c.conditions.get(target, frozenset(range(context.sizes[target])))
    if any(target in f.variables for f in _sums(c)) or (isinstance(c.action, Lookup) and c.action.feature == target):
        return sum(1 for _ in _named(target, c, context.tentative()))
    idle = sum(1 for unit in written if len(unit.effect) == 1 and unit.effect[0][0] in olds)
    return len(olds) * len(written) - idle


def _cleared_cost(target: str, cases: list[Case], context: _Context) -> int:
    """How many units the shared clear takes: as many for every old code, unless a sum holds the target."""
    total = 0
    for c in _where_cleared(cases, context):
        olds = sorted(c.conditions.get(target, range(context.sizes[target])))
        counted = olds if any(target in f.variables for f in _sums(c)) else olds[:1]
        units = sum(1 for old in counted for _ in _clears(target, c, old, context.tentative()))
        total += units if len(counted) == len(olds) else units * len(olds)
    return total


def _sums(c: Case) -> list[Sum]:
    """The sums that a case tests or looks up."""
    looked_up = [c.action.feature] if isinstance(c.action, Lookup) else []
    return [f for f in (*c.conditions, *looked_up) if isinstance(f, Sum)]


def _named(target: str, c: Case, context: _Context) -> Iterable[Unit]:
    for old in sorted(c.conditions.get(target, range(context.sizes[target]))):
        for where, action in _at(target, old, c):
            yield from _family(target, where, action, lambda new, old=old: _move(old, new), context, c.line)


def _at(target: str, old: int, c: Case) -> list[tuple[Where, Constant | Lookup]]:
    """The case where the target has the old code."""
    where = dict(c.where) | {target: frozenset({old})}
    assert not isinstance(c.action, Table)
    if isinstance(c.action, Lookup) and c.action.feature == target:
        return [(where, Constant(c.action.by_value[old]))]
    return [(where, c.action)]


def _move(old: int, new: int | None) -> Effect:
    return {} if new is None or new == old else {old: -1, new: 1}


def _written(target: str, c: Case, context: _Context) -> Iterable[Unit]:
    assert not isinstance(c.action, Table)
    effect = lambda new: {} if new is None else {new: 1}  # noqa: E731
    yield from _family(target, dict(c.where), c.action, effect, context, c.line)


def _cleared(target: str, cases: list[Case], context: _Context) -> Iterable[Unit]:
    """Units that take away whatever code the target has, wherever one of the cases holds."""
    for c in _where_cleared(cases, context):
        for old in sorted(c.conditions.get(target, range(context.sizes[target]))):
            yield from _clears(target, c, old, context)


def _where_cleared(cases: list[Case], context: _Context) -> list[Case]:
    return merged([case(dict(c.where), Constant(0), c.line) for c in cases], context.sizes)


def _clears(target: str, c: Case, old: int, context: _Context) -> Iterable[Unit]:
    where = dict(c.where) | {target: frozenset({old})}
    effect = lambda new: {} if new is None else {old: -1}  # noqa: E731
    yield from _family(target, where, Constant(0), effect, context, c.line)


def _family(target, where: Where, action: Constant | Lookup, effect, context: _Context, line: int) -> Iterable[Unit]:
    """The units that together add `effect(code written)` where the conditions hold, and nothing elsewhere."""
    feature = action.feature if isinstance(action, Lookup) else None
    if isinstance(feature, str):
        groups: dict[int, set[int]] = {}
        assert isinstance(action, Lookup)
        allowed = where.get(feature, frozenset(range(context.sizes[feature])))
        for value, new in action.codes:
            if value in allowed:
                groups.setdefault(new, set()).add(value)
        for new, values in groups.items():
            narrowed = dict(where)
            if len(values) < context.sizes[feature]:
                narrowed[feature] = frozenset(values)
            yield from _family(target, narrowed, Constant(new), effect, context, line)
        return
    c = case(where, action)
    guards = [f for f in where if isinstance(f, Sum)]
    bare = [f for f in guards if not _needs_bit(f, c, context.heads)]
    total = feature if feature is not None else max(bare, key=lambda f: _steps(f, where), default=None)
    literals: list[tuple[object, frozenset[int]]] = [(f, s) for f, s in where.items() if isinstance(f, str)]
    for guard in guards:
        if guard != total or guard not in bare:  # a unit has room for one sum: the others become bits
            index = context.bits.setdefault((guard, where[guard]), len(context.bits))
            literals.append((("bit", index), frozenset({1})))
    if total is None:
        assert isinstance(action, Constant)
        yield from _unit(target, literals, None, 0, {}, effect(action.code), line)
        return
    yield from _staircase(target, where, literals, total, action, effect, line)


def _staircase(target, where: Where, literals, total: Sum, action, effect, line: int) -> Iterable[Unit]:
    """One unit for every place where the effect changes as the sum grows."""
    table = action.by_value if isinstance(action, Lookup) else {}
    before: Effect = {}
    reachable = sorted(total.reachable({f: s for f, s in where.items() if isinstance(f, str)}))
    for index, value in enumerate(reachable):
        allowed = total not in where or value in where[total]
        new = None if not allowed else (action.code if isinstance(action, Constant) else table.get(value))
        after = effect(new)
        yield from _unit(target, literals, total if index else None, value, before, after, line)
        before = after


def _unit(target, literals, total: Sum | None, least: int, before: Effect, after: Effect, line: int) -> Iterable[Unit]:
    change = {code: after.get(code, 0) - before.get(code, 0) for code in {*before, *after}}
    change = {code: weight for code, weight in change.items() if weight}
    if change:
        ordered = tuple(sorted(literals, key=lambda item: str(item[0])))
        yield Unit(ordered, total, least, target, tuple(sorted(change.items())), line)


def _steps(total: Sum, where: Where) -> int:
    """How many units a sum costs if it stays: the number of places where being in its set changes."""
    inside = [v in where[total] for v in sorted(total.reachable({}))]
    return sum(a != b for a, b in zip([False, *inside], inside))
