"""From a diagram to few disjoint cases: the function is split by one feature after the other.

A feature is a variable, or a sum that several variables enter by. At each node of the search some splits are tried, the
cheapest in rough terms first, and the one whose cases need the fewest hidden units is kept. Every split is an
identity, so there is nothing to check afterwards.

An undefined head has no code, so no condition on it holds. A case may therefore test a head only where every
assignment that its other conditions admit either uses the head or writes nothing; a sum may read one only where all of
them use it.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kleene.programs.alta.asking.adding import Added, SumSearch
from kleene.programs.alta.asking.diagrams import Diagrams
from kleene.programs.alta.cases import Action, Case, CodeTable, Constant, Feature, Lookup, case, merged
from kleene.programs.alta.sums import Sum

WIDTH = 2  # splits that are tried at a node
BUDGET = 3000  # nodes at which more than the first split is tried
FEW = 8  # cases, up to which they are listed rather than put into one table
LARGEST_TABLE = 1 << 20


class Piece(NamedTuple):
    """A case without its line: the conditions, and what is done."""

    where: tuple[tuple[Feature, frozenset[int]], ...]
    action: Action


Used = tuple[tuple[int, int], ...]  # (level of a head, diagram of where it is used), of those not used everywhere


def cases_of(diagrams: Diagrams, f: int, target: str | None, used: Mapping[str, int]) -> list[Case]:
    """Few disjoint cases that do what the function says. Without a target, they say where it is 1."""
    kept = diagrams.zero if target is None else diagrams.identity(target)
    split = Split(diagrams, kept, -1 if target is None else diagrams.level[target], frozenset(used))
    levels = {diagrams.level[h]: where for h, where in used.items()}
    pieces = split.pieces(f, tuple(sorted(levels.items())), kept)
    assert pieces is not None, "a function can be split in the order in which it reads"
    sizes = dict(zip(diagrams.names, diagrams.size))
    found = merged([case(dict(piece.where), piece.action) for piece in pieces], sizes)
    apart = merged([one for c in found for one in _by_old(c, target)], sizes, last=target)
    return min(found, apart, key=lambda cases: split.cost([Piece(c.where, c.action) for c in cases]))


def _by_old(c: Case, target: str | None) -> Iterator[Case]:
    """A constant case for each old code that it names and each new one, as the units of such a case are."""
    if target not in c.conditions or not isinstance(c.action, Constant | Lookup) or isinstance(_looked_up(c), Sum):
        yield c
        return
    for old in sorted(c.conditions[target]):
        where = c.conditions | {target: frozenset({old})}
        if isinstance(c.action, Constant):
            yield case(where, c.action)
        elif c.action.feature == target:
            yield case(where, Constant(c.action.by_value[old]))
        else:
            for new in sorted({new for _, new in c.action.codes}):
                values = frozenset(value for value, code in c.action.codes if code == new)
                yield case(where | {c.action.feature: values}, Constant(new))


def _looked_up(c: Case) -> Feature | None:
    return c.action.feature if isinstance(c.action, Lookup) else None


@dataclass
class Split:
    """The search for the cases of one variable."""

    diagrams: Diagrams
    kept: int
    target: int  # its level; -1 where there is none
    heads: frozenset[str]

    def __post_init__(self) -> None:
        self._sums = SumSearch(self.diagrams, self.target)
        self._known: dict[tuple[int, Used, int], list[Piece] | None] = {}
        self._boxes: dict[tuple[int, int], int] = {}
        self._budget = BUDGET
        self._head_levels = frozenset(self.diagrams.level[h] for h in self.heads if h in self.diagrams.level)

    def pieces(self, f: int, used: Used, kept: int) -> list[Piece] | None:
        """The cases of a function; None where no safe ones were found."""
        d = self.diagrams
        if f == kept:
            return []
        if d.is_end(f):
            return [Piece((), Constant(d.value(f)))]
        support = d.support(f)
        if len(support) == 1:
            return [self._line(f, min(support), kept)]
        used = tuple((head, where) for head, where in used if head in support and where != d.one)
        key = (f, used, kept)
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._best(f, used, kept)
        return self._known[key]

    def _best(self, f: int, used: Used, kept: int) -> list[Piece] | None:
        guard = self._guard(f, used, kept)
        if guard is not None and (found := self._by_variable(f, guard, used, kept)) is not None:
            return found
        self._budget -= 1
        width = WIDTH if self._budget > 0 else 1
        best: list[Piece] | None = None
        tried = 0
        for rough, plan in sorted(self._plans(f, used, kept), key=lambda option: option[0]):
            if best is not None and rough > 1.5 * self.cost(best):
                break
            found = plan()
            if found is None:
                continue
            tried += 1
            if best is None or self.cost(found) < self.cost(best):
                best = found
            if tried >= width:
                break
        table = self._table(f, used, kept)
        if table is not None and (best is None or (len(best) > FEW and self._spread(f, kept) <= self.cost(best))):
            best = [table]
        return best

    def _guard(self, f: int, used: Used, kept: int) -> int | None:
        """A variable that only says whether something is written."""
        for level in self.diagrams.support(f):
            tested = level not in self._head_levels or self._may_test(f, level, used, kept)
            if tested and level != self.target and len(set(self.diagrams.cofactors(f, level)) - {kept}) == 1:
                return level
        return None

    def _line(self, f: int, level: int, kept: int) -> Piece:
        """A function of one variable."""
        d = self.diagrams
        codes = [(i, d.value(k)) for i, k in enumerate(d.cofactors(f, level))]
        codes = [(i, new) for i, new in codes if new != self._nothing(i, level, kept)]
        written = {new for _, new in codes}
        where = ((d.names[level], frozenset(i for i, _ in codes)),) if len(codes) < d.size[level] else ()
        if len(written) == 1:
            return Piece(where, Constant(written.pop()))
        return Piece(where, Lookup(d.names[level], tuple(codes)))

    def _nothing(self, code: int, level: int, kept: int) -> int | None:
        """What writes nothing where a variable has a code: the old code, if it is known."""
        if self.diagrams.is_end(kept):
            return self.diagrams.value(kept)
        return code if level == self.target else None

    # --- the ways to split a function -----------------------------------------------------------------------------

    def _plans(self, f: int, used: Used, kept: int) -> Iterator[tuple[float, Callable[[], list[Piece] | None]]]:
        """The splits of a function: a rough cost, and what makes the cases."""
        d = self.diagrams
        for level in d.support(f):
            if level not in self._head_levels or self._may_test(f, level, used, kept):
                rough = sum(self._rough(g, kept) for g in set(d.cofactors(f, level)))
                yield rough, lambda level=level: self._by_variable(f, level, used, kept)
        if self._rough(f, kept) <= 2:
            return
        added, exceptions = self._sums.of(f, kept)
        for one in added:
            if self._may_add(one, used):
                yield self._rough_sum(one, kept), lambda one=one: self._by_sum(one, used, kept)
        for exception in exceptions:
            level, codes = exception.level, exception.codes
            if level in self._head_levels and not self._may_test(f, level, used, kept):
                continue
            cofactors = d.cofactors(f, level)
            typical = next(k for i, k in enumerate(cofactors) if i not in codes)
            rest = d.select(level, tuple(typical if i in codes else k for i, k in enumerate(cofactors)))
            rough = [self._rough_sum(one, kept) for one in self._sums.of(rest, kept)[0]]
            if rough:
                odd = sum(self._rough(cofactors[i], kept) for i in codes)
                yield min(rough) + odd, lambda v=level, c=codes, r=rest: self._by_exception(f, v, c, r, used, kept)

    def _by_variable(self, f: int, level: int, used: Used, kept: int) -> list[Piece] | None:
        return self._by_parts(
            self.diagrams.names[level], self._parts(f, level, used, kept, range(self.diagrams.size[level]))
        )

    def _parts(self, f: int, level: int, used: Used, kept: int, codes: Collection[int]):
        """What is left for some codes of a variable: (code, function, where heads are used, kept)."""
        d = self.diagrams
        cofactors, where = d.cofactors(f, level), [(h, d.cofactors(u, level)) for h, u in used]
        for code in codes:
            if level == self.target:
                if cofactors[code] != d.end(code):
                    known = d.end(code) if code in d.ends(cofactors[code]) else kept
                    yield code, cofactors[code], tuple((h, u[code]) for h, u in where), known
            elif cofactors[code] != kept:
                yield code, cofactors[code], tuple((h, u[code]) for h, u in where), kept

    def _by_sum(self, added: Added, used: Used, kept: int) -> list[Piece] | None:
        d = self.diagrams
        levels = [d.level[name] for name in added.total.variables]
        guards = dict(added.guards)
        below = self._used_by_total(added.total, levels, guards, used)
        parts = ((t, g, below[t], kept) for t, g in added.parts if g != kept and t in below)
        found = self._by_parts(added.total, parts)
        where = tuple((d.names[v], codes) for v, codes in added.guards)
        return None if found is None else [Piece(where + piece.where, piece.action) for piece in found]

    def _used_by_total(self, total: Sum, levels: Sequence[int], guards: Mapping, used: Used) -> dict[int, Used]:
        """For every total of a sum, where heads are used for all codes that come to it."""
        d = self.diagrams
        used = tuple((h, u) for h, u in used if h not in levels)
        reachable = total.reachable({d.names[v]: codes for v, codes in guards.items()})
        found = dict.fromkeys(reachable, used)
        for index, (head, where) in enumerate(used):
            if not d.support(where).intersection(levels):
                continue
            by_total: dict[int, list[int]] = {t: [] for t in reachable}
            terms = [dict(total.terms)[d.names[v]] for v in levels]
            partial = [(0, where)]
            for level, term in zip(levels, terms):
                codes = sorted(guards.get(level, range(d.size[level])))
                partial = list(
                    dict.fromkeys((t + term[c], d.cofactors(u, level)[c]) for t, u in partial for c in codes)
                )
            for t, u in partial:
                by_total[t].append(u)
            for t, parts in by_total.items():
                found[t] = (*found[t][:index], (head, d.all_of(parts)), *found[t][index + 1 :])
        return found

    def _by_exception(self, f: int, level: int, codes: frozenset, rest: int, used: Used, kept: int):
        """A few codes of a variable by themselves, and the others together, for which it may enter by a sum."""
        name, size = self.diagrams.names[level], self.diagrams.size[level]
        odd = self._by_parts(name, self._parts(f, level, used, kept, sorted(codes)))
        others = frozenset(range(size)) - codes
        even = None if odd is None else self.pieces(rest, used, kept)
        if odd is None or even is None:
            return None
        return odd + [p for piece in even if (p := _narrowed(piece, name, others)) is not None]

    def _by_parts(self, feature: Feature, parts) -> list[Piece] | None:
        """The cases of what is left for each value of a feature: equal functions together, where that is safe."""
        groups: dict[tuple[int, int], list[tuple[int, Used]]] = {}
        for value, g, used, kept in parts:
            groups.setdefault((g, kept), []).append((value, used))
        constants: dict[int, int] = {}
        found: list[Piece] = []
        for (g, kept), members in groups.items():
            if self.diagrams.is_end(g):
                constants |= {value: self.diagrams.value(g) for value, _ in members}
                continue
            below = self._together(feature, g, members, kept)
            if below is None:
                return None
            found += below
        if constants:
            found.append(self._constants(feature, constants))
        return found

    def _constants(self, feature: Feature, codes: Mapping[int, int]) -> Piece:
        whole = isinstance(feature, str) and len(codes) == self.diagrams.size[self.diagrams.level[feature]]
        where = () if whole else ((feature, frozenset(codes)),)
        written = set(codes.values())
        return Piece(
            where, Constant(written.pop()) if len(written) == 1 else Lookup(feature, tuple(sorted(codes.items())))
        )

    def _together(self, feature: Feature, g: int, members: list[tuple[int, Used]], kept: int) -> list[Piece] | None:
        """The cases of one function that is left for several values; heads are used where they are for all of them."""
        d = self.diagrams
        shared = tuple((h, d.all_of(dict(u)[h] for _, u in members)) for h, _ in members[0][1])
        below = self.pieces(g, shared, kept)
        if below is not None:
            values = frozenset(value for value, _ in members)
            return [Piece(((feature, values), *piece.where), piece.action) for piece in below]
        apart: dict[Used, list[int]] = {}
        for value, used in members:
            apart.setdefault(used, []).append(value)
        found = []
        for used, values in apart.items():
            below = self.pieces(g, used, kept) if len(apart) > 1 else None
            if below is None:
                return None
            found += [Piece(((feature, frozenset(values)), *piece.where), piece.action) for piece in below]
        return found

    def _table(self, f: int, used: Used, kept: int) -> Piece | None:
        """The whole function as one table, if every head in it is used everywhere and every end is written."""
        d = self.diagrams
        levels = sorted(d.support(f))
        shape = tuple(d.size[v] for v in levels)
        if used or math.prod(shape) > LARGEST_TABLE or self.target < 0 or self.target in levels:
            return None
        flat = [f]
        for v in levels:
            flat = [k for g in flat for k in d.cofactors(g, v)]
        return Piece((), CodeTable(tuple(d.names[v] for v in levels), shape, tuple(d.value(k) for k in flat)))

    def cost(self, pieces: list[Piece]) -> float:
        """About how many hidden units the cases need."""
        bits = {c for piece in pieces for c in self._bits(piece)}
        return sum(map(self._units, pieces)) + sum(_changes(*bit) for bit in bits) + 0.01 * len(pieces)

    def _units(self, piece: Piece) -> float:
        """The units of one case, its old codes named or cleared by a share of units that others use too."""
        d, where, action = self.diagrams, dict(piece.where), piece.action
        name = d.names[self.target] if self.target >= 0 else ""
        olds = len(where[name]) if name in where else d.size[self.target] if self.target >= 0 else 1
        sums = [(f, allowed) for f, allowed in piece.where if isinstance(f, Sum)]
        steps = _changes(*sums[0]) if len(sums) == 1 and not self._bits(piece) else 1
        if isinstance(action, CodeTable):
            return len(set(action.codes)) * max(action.shape)
        if isinstance(action, Lookup) and action.feature == name:
            return len(action.codes) * steps
        codes = [action.code] if isinstance(action, Constant) else [code for _, code in action.codes]
        summed = isinstance(action, Lookup) and isinstance(action.feature, Sum)
        writes = (1 + sum(a != b for a, b in pairwise(codes)) if summed else len(set(codes))) * steps
        return min(olds * writes, writes + olds / 2)

    def _bits(self, piece: Piece) -> list[tuple[Sum, frozenset[int]]]:
        """The sums that a case tests in features of their own: a unit has room for one, and if a head is read behind a
        sum, the head may be undefined where the sum keeps the case out."""
        sums = [(f, allowed) for f, allowed in piece.where if isinstance(f, Sum)]
        alone = len(sums) == 1 and not (isinstance(piece.action, Lookup) and isinstance(piece.action.feature, Sum))
        behind = any(self.heads & _names(piece) - set(total.variables) for total, _ in sums)
        return [] if alone and not behind else sums

    # --- safety and cost ------------------------------------------------------------------------------------------

    def _may_test(self, f: int, head: int, used: Used, kept: int) -> bool:
        """Whether the head is used wherever something is written."""
        d = self.diagrams
        where = dict(used).get(head, d.one)
        if where == d.one:
            return True
        return d.within(d.either(d.differ(g, kept) for g in d.cofactors(f, head)), where)

    def _may_add(self, added: Added, used: Used) -> bool:
        """Whether all heads of the sum are used everywhere behind its guards."""
        d, guards = self.diagrams, dict(added.guards)
        for head in (d.level[name] for name in added.total.variables if d.level[name] in self._head_levels):
            parts = [dict(used).get(head, d.one)]
            for level, codes in guards.items():
                if level != head:
                    parts = [d.cofactors(u, level)[code] for u in parts for code in codes]
            if d.all_of(parts) != d.one:
                return False
        return True

    def _rough(self, f: int, kept: int) -> int:
        """In how many boxes something is written: a quick, rough idea of the units."""
        d = self.diagrams
        if f == kept:
            return 0
        if d.is_end(f):
            return 1
        key = (f, kept)
        if key not in self._boxes:
            if d.top[f] == self.target:
                self._boxes[key] = sum(
                    self._rough(k, kept) for k in {k for i, k in enumerate(d.children[f]) if k != d.end(i)}
                )
            else:
                self._boxes[key] = sum(self._rough(k, kept) for k in set(d.children[f]))
        return self._boxes[key]

    def _rough_sum(self, added: Added, kept: int) -> float:
        steps = sum(self._rough(b, kept) for (_, a), (_, b) in zip(added.parts, added.parts[1:]) if a != b)
        return self._rough(added.parts[0][1], kept) + steps + 0.5

    def _spread(self, f: int, kept: int) -> float:
        d = self.diagrams
        return min(sum(self._rough(g, kept) for g in set(d.cofactors(f, v))) for v in d.support(f))


def _narrowed(piece: Piece, name: str, codes: frozenset[int]) -> Piece | None:
    """The case where a variable has one of the codes; None where it never holds."""
    where = dict(piece.where)
    where[name] = where.get(name, codes) & codes
    action = piece.action
    if isinstance(action, Lookup) and action.feature == name:
        action = Lookup(name, tuple((k, v) for k, v in action.codes if k in where[name]))
        written = {v for _, v in action.codes}
        action = Constant(written.pop()) if len(written) == 1 else action
    return Piece(tuple(where.items()), action) if where[name] else None


def _names(piece: Piece) -> set[str]:
    """The variables that a case tests by their codes, or looks up."""
    names = {f for f, _ in piece.where if isinstance(f, str)}
    if isinstance(piece.action, Lookup) and isinstance(piece.action.feature, str):
        names.add(piece.action.feature)
    return names


def _changes(total: Sum, allowed: frozenset[int]) -> int:
    ordered = np.zeros(total.largest + 2, dtype=bool)
    ordered[list(allowed)] = True
    return int(np.count_nonzero(ordered[1:] != ordered[:-1]) + ordered[0])
