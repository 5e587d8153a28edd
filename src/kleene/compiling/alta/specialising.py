"""The program of one layer: the cases, heads and conditions that can matter where variables hold only certain codes.

What is left out cannot happen: cases that cannot hold, conditions that always do, codes that are not there. What is
left is again a program, equal to the whole one on every assignment of the codes that are possible in the layer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from kleene.compiling.alta.reaching import UNDEFINED, Codes, Sets, names_of, possible, values_of
from kleene.programs.alta.cases import Action, Case, CodeTable, Constant, Feature, Lookup, case, merged
from kleene.programs.alta.program import Program
from kleene.programs.alta.sums import Sum


def specialised(program: Program, sets: Sets, live: Iterable[str], looked_at: Iterable[str]) -> Program:
    """The program in a layer where variables and heads hold these codes, and only `live` variables are needed after it.

    `looked_at` are the heads that the MLP may look at where they are undefined.
    """
    wanted, undefined = set(live), set(looked_at)
    updates = {t: _updates(program, t, sets) for t in program.updates if t in wanted}
    updates = {t: cases for t, cases in updates.items() if cases}
    reads = {h: tests_of(cases, sets) for h, cases in program.reads.items() if h in undefined}
    faults = {t: found for t, cases in program.faults.items() if (found := tests_of(cases, sets))}
    groups = [*updates.values(), *reads.values(), *faults.values()]
    used = {name for cases in groups for c in cases for name in c.variables} | set(reads)
    heads = {name: head for name, head in program.heads.items() if name in used}
    return replace(program, heads=heads, updates=updates, reads=reads, faults=faults)


def needed_before(program: Program, live: Iterable[str]) -> set[str]:
    """The variables that must be there before a layer, given the program of that layer."""
    groups = (program.updates, program.reads, program.faults)
    read = {name for group in groups for cases in group.values() for c in cases for name in c.variables}
    asked = {n for head in program.heads.values() for n in (head.query, head.key, head.value) if n is not None}
    return (read - set(program.heads)) | asked | set(live)


def _updates(program: Program, target: str, sets: Sets) -> tuple[Case, ...]:
    narrowed = [_narrowed(program, target, c, sets) for c in program.updates[target]]
    return tuple(merged([c for c in narrowed if c is not None], program.sizes))


def _narrowed(program: Program, target: str, c: Case, sets: Sets) -> Case | None:
    """The case without conditions that always hold and codes that are not there; None if it cannot hold."""
    found = possible(c, sets)
    if found is None:
        return None
    where = {f: _allowed(f, allowed, sets) for f, allowed in c.where if not _always(f, allowed, sets)}
    if target not in where and len(sets[target]) < program.sizes[target]:
        where[target] = sets[target]  # so that only codes which can be there are cleared
    action = _action(c.action, found, sets)
    looked_up = action.support if isinstance(action, CodeTable) else ()
    looked_up = (action.feature,) if isinstance(action, Lookup) and isinstance(action.feature, str) else looked_up
    for name in looked_up:  # elsewhere the table has no entry that counts
        values = found.get(name, values_of(name, sets))
        if len(values) < program.sizes[name]:
            where[name] = where.get(name, values) & values
    return None if action is None else case(where, action, c.line)


def _always(feature: Feature, allowed: Codes, sets: Sets) -> bool:
    defined = all(UNDEFINED not in sets[name] for name in names_of(feature))
    return defined and values_of(feature, sets) <= allowed


def _allowed(feature: Feature, allowed: Codes, sets: Sets) -> Codes:
    """The allowed values that matter; a sum that is not possible counts as the possible one below it."""
    values = values_of(feature, sets)
    if isinstance(feature, str):
        return allowed & values
    chosen = _filled(feature, values, {v: v in allowed for v in values})
    return frozenset(v for v, inside in chosen.items() if inside)


def _filled(total: Sum, values: Codes, known: Mapping[int, int]) -> dict[int, int]:
    """A function of a sum's possible values, extended to every value: fewer changes need fewer units."""
    last, found = known[min(values)], {}
    for value in range(total.largest + 1):
        last = known.get(value, last)
        found[value] = last
    return found


def _action(action: Action, found: Mapping[Feature, Codes], sets: Sets) -> Action | None:
    """The action, as simple as the values that its features can have allow; None if it never writes."""
    if isinstance(action, Constant):
        return action
    if isinstance(action, CodeTable):
        return _table(action, found, sets)
    defined = all(UNDEFINED not in sets[name] for name in names_of(action.feature))
    values = found.get(action.feature, values_of(action.feature, sets))
    codes = {v: action.by_value[v] for v in values if v in action.by_value}
    if not codes:
        return None
    if len(set(codes.values())) == 1 and defined:
        return Constant(next(iter(codes.values())))
    if isinstance(action.feature, Sum):
        possible_values = frozenset(codes)
        codes = _filled(action.feature, possible_values, codes)
    return Lookup(action.feature, tuple(sorted(codes.items())))


def _table(action: CodeTable, found: Mapping[Feature, Codes], sets: Sets) -> Action:
    axes = [sorted(found.get(name, values_of(name, sets))) for name in action.support]
    table = action.array[np.ix_(*axes)]
    if any(UNDEFINED in sets[name] for name in action.support):
        return action
    needed = [a for a in range(table.ndim) if (table != table.take([0], axis=a)).any()]
    if not needed:
        return Constant(int(table.flat[0]))
    if len(needed) == 1:
        line = np.moveaxis(table, needed[0], 0).reshape(table.shape[needed[0]], -1)[:, 0]
        return Lookup(action.support[needed[0]], tuple(zip(axes[needed[0]], line.tolist())))
    return action


def tests_of(cases: Iterable[Case], sets: Sets) -> tuple[Case, ...]:
    """The cases in which a head is looked at, or a write is a fault, as far as they can hold."""
    found = []
    for c in cases:
        if possible(c, sets, undefined=True) is not None:
            kept = {f: allowed for f, allowed in c.where if not _always(f, allowed, sets)}
            found.append(case(kept, c.action, c.line))
    return tuple(found)
