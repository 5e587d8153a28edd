"""The third pass: from cases to hidden units, few and exact.

A unit is `clip(s - k + 1 + M (L - n))`, where L of its n literals hold and s is an integer sum. With M large enough it
is exactly 1 where all literals hold and s ≥ k, and exactly 0 elsewhere. One literal tests a variable against a *set* of
values at no cost. What a unit adds to the residual stream is given in codes: +1 on the code that a variable takes, -1
on the one that it leaves. Before units are made, every case is split into *plain* cases, which write a constant or look
up one feature.

A variable is written by the cheaper of two methods. *Named*: every unit names the old value, clears it and writes the
new one. *Split*: some units clear the old value, whatever it is, and others write the new one; where the two values are
equal, -1 and +1 cancel.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kleene.programs.alta.cases import Case, CodeTable, Constant, Lookup, Sizes, Where, boxes, case, merged
from kleene.programs.alta.program import Program
from kleene.programs.alta.rules import RuleSet
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.variables import Categorical


@dataclass(frozen=True)
class Context:
    """What making units needs to know: the variables' sizes, which of them heads write, and which are `soft`.

    Soft variables (numbers and sets) are expanded into one-hot features in the same two layers as the bits, so no bit
    can read them.
    """

    sizes: Sizes
    heads: frozenset[str]
    soft: frozenset[str] = field(default=frozenset())

    @staticmethod
    def of(program: Program) -> "Context":
        soft = frozenset(n for n, v in program.domains.items() if not isinstance(v, Categorical))
        return Context(program.sizes, frozenset(program.heads), soft)


def plain_cases(c: Case, context: Context) -> list[Case]:
    """The case as cases that write constants or look up one feature, and that need no bit of a soft sum."""
    sums = {f for f in c.conditions if isinstance(f, Sum)}
    if isinstance(c.action, Lookup) and isinstance(c.action.feature, Sum):
        sums.add(c.action.feature)
    soft = [f for f in sums if context.soft.intersection(f.variables)]
    hard = [f for f in soft if len(sums) > 1 or needs_bit(f, c, context.heads)]
    pieces = [{f: s for f, s in c.where if f not in hard}]
    for feature in hard:
        if feature in c.conditions:
            hit = np.isin(feature.grid(feature.variables), list(c.conditions[feature]))
            pieces = [w for piece in pieces for w in boxes(feature.variables, hit, piece, context.sizes)]
    action = c.action
    if isinstance(action, Lookup) and action.feature in hard:
        action = _as_table(action)
    if not isinstance(action, CodeTable):
        return [case(w, action, c.line) for w in pieces]
    spread = [item for w in pieces for item in _spread(action.support, action.array, w, context.sizes)]
    return [case(w, a, c.line) for w, a in spread]


def needs_bit(guard: Sum, c: Case, heads: frozenset[str]) -> bool:
    """Whether the case reads a head behind a condition on this sum.

    Such a head may be undefined where the condition fails. A staircase is off only because its steps cancel, so it
    would let through what a literal keeps out.
    """
    return guard in c.conditions and bool(heads.intersection(c.variables) - set(guard.variables))


def _as_table(action: Lookup) -> CodeTable:
    """The lookup of a sum as a table over the sum's variables."""
    assert isinstance(action.feature, Sum)
    totals, codes = action.feature.grid(action.feature.variables), action.by_value
    table = np.vectorize(lambda t: codes.get(int(t), -1), otypes=[np.int64])(totals)
    return CodeTable(action.feature.variables, totals.shape, tuple(table.ravel().tolist()))


def _spread(
    support: tuple[str, ...], table: np.ndarray, where: dict, sizes: Sizes
) -> list[tuple[Where, Constant | Lookup]]:
    """The table as constants and lookups of one variable, each with its conditions."""
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


Change = Mapping[int, int]  # code -> what is added to it


@dataclass(frozen=True)
class SumBit:
    """A derived feature: 1 where the sum is one of the allowed values, else 0."""

    total: Sum
    allowed: frozenset[int]


@dataclass(frozen=True)
class Unit:
    """A hidden unit, which is on where all its literals, bits and its sum hold.

    Every variable in `literals` has a code in its set, every bit is 1, and the sum `total`, if there is one, is at
    least `least`. `effect` is what the unit adds to `target`, in codes.
    """

    target: str
    literals: tuple[tuple[str, frozenset[int]], ...]
    bits: tuple[SumBit, ...]
    total: Sum | None
    least: int
    effect: tuple[tuple[int, int], ...]
    line: int = 0

    def __str__(self) -> str:
        asked = [f"{name} in {sorted(codes)}" for name, codes in self.literals]
        asked += [f"{_shown(bit.total)} in {sorted(bit.allowed)}" for bit in self.bits]
        asked += [f"{_shown(self.total)} ≥ {self.least}"] if self.total is not None else []
        added = ", ".join(f"{weight:+d} on {code}" for code, weight in self.effect)
        return f"{self.target}: {added} where {' and '.join(asked) or 'always'}"


def _shown(total: Sum) -> str:
    return " + ".join(f"{name}{list(term)}" for name, term in total.terms)


@dataclass(frozen=True, repr=False)
class Units:
    """The hidden units of a program, and the bits that some of them read."""

    units: tuple[Unit, ...] = ()
    bits: tuple[SumBit, ...] = ()

    def __repr__(self) -> str:
        return f"<{len(self.units)} hidden units, {len(self.bits)} bits>"

    def __str__(self) -> str:
        return "\n".join(map(str, self.units)) or "no hidden units"


@dataclass(frozen=True, repr=False)
class PaperUnits:
    """One hidden unit for each of ALTA's transition rules; these units read no bits."""

    rules: RuleSet
    bits: tuple[SumBit, ...] = ()

    def __repr__(self) -> str:
        return f"<{np.count_nonzero(self.rules.results >= 0)} hidden units, one for each transition rule>"


@dataclass(frozen=True)
class Effect:
    """How units change their target where a case writes a code: they clear `leaves`, and may write the new code."""

    leaves: int | None = None
    writes: bool = True

    def change(self, new: int | None) -> Change:
        """What is added to the target's codes where `new` is written; nothing where it is None."""
        if new is None or (self.writes and new == self.leaves):
            return {}
        left = {} if self.leaves is None else {self.leaves: -1}
        return left | {new: 1} if self.writes else left


@dataclass(frozen=True)
class Write:
    """One write: where the conditions hold, `action` gives the target's new code, and `effect` how it is changed."""

    target: str
    where: Where
    action: Constant | Lookup
    effect: Effect
    line: int = 0


@dataclass(frozen=True)
class Family:
    """The units that together do one write, and the bits that they read."""

    units: tuple[Unit, ...]
    bits: tuple[SumBit, ...] = ()


def compact_units(program: Program) -> Units:
    """The hidden units that do all updates of a program.

    >>> from kleene.programs.alta.library import parity
    >>> print(compact_units(parity.relative()))
    parity: -1 on 0, +1 on 1 where done in [0] and done_left in [1] and parity in [0] and parity_left in [1]
    parity: +1 on 0, -1 on 1 where done in [0] and done_left in [1] and parity in [1] and parity_left in [1]
    done: -1 on 0, +1 on 1 where done in [0] and done_left in [1]
    """
    context = Context.of(program)
    families = [
        family
        for target, cases in program.updates.items()
        for family in cheapest_families(target, [p for c in cases for p in plain_cases(c, context)], context)
    ]
    bits = dict.fromkeys(bit for family in families for bit in family.bits)
    return Units(tuple(unit for family in families for unit in family.units), tuple(bits))


def paper_units(program: Program) -> PaperUnits:
    """A hidden unit for every transition rule that writes (ALTA, A.2)."""
    return PaperUnits(program.rules())


# --- named or split, whichever is less --------------------------------------------------------------------------


def cheapest_families(target: str, cases: list[Case], context: Context) -> list[Family]:
    """The fewest units found for one variable: each case is named, or written after a shared clear."""
    written = {c: written_family(target, c, context) for c in cases}
    count = {c: len(family.units) for c, family in written.items()}
    named = {c: named_cost(target, c, written[c], context) for c in cases}
    split = [c for c in cases if count[c] < named[c]]
    best = cases, []  # (named cases, split cases)
    cost = sum(named.values())
    while split:
        total = sum(named[c] for c in cases if c not in split) + sum(count[c] for c in split)
        total += cleared_cost(target, split, context)
        if total < cost:
            best, cost = ([c for c in cases if c not in split], list(split)), total
        # Keep only the cases that gain most from the shared clear, and look again.
        gain = {c: named[c] - count[c] for c in split}
        split = [c for c in split if gain[c] > min(gain.values())]
    by_name, by_parts = best
    families = [f for c in by_name for f in named_families(target, c, context)]
    families += [written[c] for c in by_parts]
    return families + list(cleared_families(target, by_parts, context))


def named_cost(target: str, c: Case, written: Family, context: Context) -> int:
    """How many units name every old code of the target, counted without making them where that is possible.

    The units for one old code are those that write, each with that code as one more literal. A unit whose whole effect
    is to write or withdraw the old code itself is not needed.
    """
    olds = c.conditions.get(target, frozenset(range(context.sizes[target])))
    if any(target in f.variables for f in _sums(c)) or (isinstance(c.action, Lookup) and c.action.feature == target):
        return sum(len(family.units) for family in named_families(target, c, context))
    idle = sum(1 for unit in written.units if len(unit.effect) == 1 and unit.effect[0][0] in olds)
    return len(olds) * len(written.units) - idle


def cleared_cost(target: str, cases: list[Case], context: Context) -> int:
    """How many units the shared clear takes: the same number for every old code, unless a sum reads the target."""
    total = 0
    for c in _where_cleared(cases, context):
        olds = _olds(target, c, context)
        counted = olds if any(target in f.variables for f in _sums(c)) else olds[:1]
        units = sum(len(_clearing_family(target, c, old, context).units) for old in counted)
        total += units if len(counted) == len(olds) else units * len(olds)
    return total


def _sums(c: Case) -> list[Sum]:
    """The sums that a case tests or looks up."""
    looked_up = [c.action.feature] if isinstance(c.action, Lookup) else []
    return [f for f in (*c.conditions, *looked_up) if isinstance(f, Sum)]


def _olds(target: str, c: Case, context: Context) -> list[int]:
    """The codes that the target may have where the case holds."""
    return sorted(c.conditions.get(target, range(context.sizes[target])))


def named_families(target: str, c: Case, context: Context) -> Iterator[Family]:
    """For every old code of the target, the units that clear it and write the new one."""
    action = c.action
    assert not isinstance(action, CodeTable)
    by_target = action.by_value if isinstance(action, Lookup) and action.feature == target else None
    for old in _olds(target, c, context):
        where = dict(c.where) | {target: frozenset({old})}
        action = action if by_target is None else Constant(by_target[old])
        yield family_of(Write(target, where, action, Effect(leaves=old), c.line), context)


def written_family(target: str, c: Case, context: Context) -> Family:
    """The units that write the new code and do not clear the old one."""
    assert not isinstance(c.action, CodeTable)
    return family_of(Write(target, c.conditions, c.action, Effect(), c.line), context)


def cleared_families(target: str, cases: list[Case], context: Context) -> Iterator[Family]:
    """The units that clear the target's code, whatever it is, wherever one of the cases holds."""
    for c in _where_cleared(cases, context):
        for old in _olds(target, c, context):
            yield _clearing_family(target, c, old, context)


def _where_cleared(cases: list[Case], context: Context) -> list[Case]:
    return merged([case(c.conditions, Constant(0), c.line) for c in cases], context.sizes)


def _clearing_family(target: str, c: Case, old: int, context: Context) -> Family:
    where = dict(c.where) | {target: frozenset({old})}
    return family_of(Write(target, where, Constant(0), Effect(leaves=old, writes=False), c.line), context)


# --- the units of one write -------------------------------------------------------------------------------------


def family_of(write: Write, context: Context) -> Family:
    """The units that together change the target where the conditions hold, and do nothing elsewhere."""
    feature = write.action.feature if isinstance(write.action, Lookup) else None
    if isinstance(feature, str):
        parts = [_family_of_constant_or_sum(part, None, context) for part in _by_code(write, feature, context)]
        bits = dict.fromkeys(bit for part in parts for bit in part.bits)
        return Family(tuple(unit for part in parts for unit in part.units), tuple(bits))
    return _family_of_constant_or_sum(write, feature, context)


def _by_code(write: Write, feature: str, context: Context) -> Iterator[Write]:
    """The lookup of a variable as constants: one write for each new code, with the values that lead to it."""
    assert isinstance(write.action, Lookup)
    groups: dict[int, set[int]] = {}
    allowed = write.where.get(feature, frozenset(range(context.sizes[feature])))
    for value, new in write.action.codes:
        if value in allowed:
            groups.setdefault(new, set()).add(value)
    for new, values in groups.items():
        narrowed = dict(write.where)
        if len(values) < context.sizes[feature]:
            narrowed[feature] = frozenset(values)
        yield replace(write, where=narrowed, action=Constant(new))


def _family_of_constant_or_sum(write: Write, feature: Sum | None, context: Context) -> Family:
    c = case(write.where, write.action)
    guards = [f for f in write.where if isinstance(f, Sum)]
    bare = [f for f in guards if not needs_bit(f, c, context.heads)]
    total = feature if feature is not None else max(bare, key=lambda f: _steps(f, write.where), default=None)
    # A unit has room for one sum: the others become bits.
    bits = tuple(SumBit(f, write.where[f]) for f in guards if f != total or f not in bare)
    if total is None:
        assert isinstance(write.action, Constant)
        units = _unit(write, bits, None, 0, {}, write.effect.change(write.action.code))
    else:
        units = _staircase(write, bits, total)
    return Family(tuple(units), bits)


def _steps(total: Sum, where: Where) -> int:
    """How many units a sum costs if it is not made a bit: the number of places where being in its set changes."""
    inside = [v in where[total] for v in sorted(total.reachable({}))]
    return sum(a != b for a, b in zip([False, *inside], inside))


def _staircase(write: Write, bits: tuple[SumBit, ...], total: Sum) -> Iterator[Unit]:
    """One unit for every value of the sum at which the change becomes a different one."""
    action, before = write.action, {}
    reachable = sorted(total.reachable({f: s for f, s in write.where.items() if isinstance(f, str)}))
    for index, value in enumerate(reachable):
        allowed = total not in write.where or value in write.where[total]
        new = action.code if isinstance(action, Constant) else action.by_value.get(value)
        after = write.effect.change(new if allowed else None)
        yield from _unit(write, bits, total if index else None, value, before, after)
        before = after


def _unit(
    write: Write, bits: tuple[SumBit, ...], total: Sum | None, least: int, before: Change, after: Change
) -> Iterator[Unit]:
    """The unit that turns one change into another; none where they are the same."""
    if before == after:
        return
    added = {code: after.get(code, 0) - before.get(code, 0) for code in {*before, *after}}
    effect = tuple(sorted((code, weight) for code, weight in added.items() if weight))
    literals = tuple(sorted((f, s) for f, s in write.where.items() if isinstance(f, str)))
    yield Unit(write.target, literals, bits, total, least, effect, write.line)
