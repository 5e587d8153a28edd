"""Before units are made, every case is split into *plain* cases, which write a constant or look up one feature."""

from dataclasses import dataclass, field

import numpy as np

from kleene.programs.alta.cases import Case, CodeTable, Constant, Lookup, Sizes, Where, boxes, case
from kleene.programs.alta.program import Program
from kleene.programs.alta.symbols import Sum
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
