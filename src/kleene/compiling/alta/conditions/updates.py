"""Updates: for every combination of what a variable depends on, the hidden units write exactly what its cases say.

Two things keep the combinations few. If some units read the old value and clear it, and the units that write the new
one do not read it, then the two are checked apart: clearing for every old value, writing for every combination of the
rest. And variables that cases and units read only through one sum are replaced by the values of that sum.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.compiling.alta.conditions import Condition
from kleene.compiling.alta.conditions.units import Codes, Run, SeenUnits, UnitInputs, runs, size_of, units_onto
from kleene.compiling.alta.conditions.weights import unit_roundoff
from kleene.programs.alta.cases import Case, CodeTable, Lookup, View, act
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.variables import Numeric

MOST_ASSIGNMENTS = 1 << 22


def updates(seen: SeenUnits, most: int = MOST_ASSIGNMENTS) -> Condition:
    """Whether the MLP is right for every variable; a variable with more than `most` combinations is not run."""
    total, skipped = 0, []
    if seen.paired is not None:
        return Condition("MLP", False, "the two ReLU units of a clipped unit are not a pair")
    for name in seen.program.variables:
        update = _Update.of(seen, name)
        problem = seen.rounds(update.units)
        if problem is None and update.size > most:
            skipped.append(name)
            continue
        problem = problem or update.problem()
        if problem is not None:
            return Condition("MLP", False, f"the hidden units do not write {name!r} as its cases say: {problem}")
        total += update.size
    detail = f"right on all {total:,} assignments of what each variable depends on"
    if skipped:
        detail += f"; {', '.join(skipped)}: too many to run, and rest on the weights being the compiler's"
    return Condition("MLP", True, detail)


@dataclass(frozen=True)
class _Update:
    """One variable's cases, and the units that write it. An axis has codes for one variable, or for those of a sum."""

    seen: SeenUnits
    target: str
    units: np.ndarray
    inputs: UnitInputs
    cases: Sequence[Case]

    @staticmethod
    def of(seen: SeenUnits, target: str) -> "_Update":
        segment = seen.network.layout.segment(target)
        units = units_onto(seen.network, slice(segment.start, segment.stop), seen.count)
        return _Update(seen, target, units, seen.inputs(units), seen.program.updates.get(target, ()))

    @cached_property
    def out(self) -> np.ndarray:
        segment = self.seen.network.layout.segment(self.target)
        return self.seen.network.mlp_out[self.units, segment.start : segment.stop].astype(np.float64)

    @cached_property
    def reads_target(self) -> np.ndarray:
        """Which units read the old value."""
        found, mine = np.zeros(len(self.units), dtype=bool), self.inputs.tables.get(self.target)
        if mine is not None:
            found |= mine.any(axis=0)
        for bit, weights in self.inputs.bits:
            found |= (weights != 0) & (self.target in bit.names)
        return found

    @cached_property
    def separable(self) -> bool:
        """Whether clearing and writing can be checked apart."""
        by_case = any(self.target in c.variables for c in self.cases)
        number = isinstance(self.seen.program.variables[self.target], Numeric)
        return not by_case and not number and not self.reads_target.all()

    @cached_property
    def parts(self) -> list[set[str]]:
        """The variables of each part that is checked by itself."""
        case_names = {v for c in self.cases for v in c.variables}
        if not self.separable:
            return [self.inputs.names | case_names | {self.target}]
        clearing = self.inputs.of(self.reads_target).names | {self.target}
        return [clearing, (self.inputs.names | case_names) - {self.target}]

    @cached_property
    def size(self) -> int:
        return sum(math.prod(size_of(axis) for axis in self.axes(names)) for names in self.parts)

    def axes(self, names: set[str]) -> list[Codes]:
        """What is to be combined: the codes of each variable, or of several variables of which only the sum matters."""
        sizes, left, found = self.seen.program.sizes, set(names), []
        for total in self._sums():
            if set(total.variables) <= left and self._only_by_sum(total):
                found.append(_representatives(total))
                left -= set(total.variables)
        return found + [{n: np.arange(sizes[n])} for n in sizes if n in left]

    def _sums(self) -> list[Sum]:
        """The sums whose variables no case reads except through that sum."""
        features = [f for c in self.cases for f, _ in c.where]
        features += [c.action.feature for c in self.cases if isinstance(c.action, Lookup)]
        tables = [v for c in self.cases if isinstance(c.action, CodeTable) for v in c.action.support]
        sums = {f for f in features if isinstance(f, Sum)}
        alone = {f for f in features if isinstance(f, str)} | {self.target, *tables}
        shared = [v for f in sums for v in f.variables]
        return [f for f in sums if not alone & set(f.variables) and all(shared.count(v) == 1 for v in f.variables)]

    def _only_by_sum(self, total: Sum) -> bool:
        """Whether every unit and bit reads the sum's variables through one common multiple of its terms."""
        mine = set(total.variables)
        seen = [self.inputs.tables, *(bit.inputs for bit, _ in self.inputs.bits if mine & set(bit.names))]
        return all(_multiples([(tables.get(n), np.array(t)) for n, t in total.terms]) for tables in seen)

    # --- the checks ---------------------------------------------------------------------------------------------

    def problem(self) -> str | None:
        """What is wrong, or None."""
        noise = self._noise_problem()
        if noise is not None:
            return noise
        if self.separable and self._separately() is None:
            return None
        return self._together()

    def _together(self) -> str | None:
        writes, old = _Writes(self.out), self.seen.streams[self.target]
        for run in runs(self.inputs, self.axes(self.parts[0] | self.parts[-1])):
            codes = run.codes
            new, problem = _new_codes(self.cases, codes, codes[self.target])
            problem = problem or _unsettled(run) or self._overflow(run, writes)
            on = np.asarray((run.pre > 0).any(axis=1))
            right = new == codes[self.target]  # where no unit is on
            change, wanted = writes.change(run.at(on)), old[new[on]]
            right[on] = (old[codes[self.target][on]] + change == wanted).all(axis=1) & self._holds(change)
            if problem is not None or not right.all():
                return problem or f"wrong at {_shown(codes, ~right)}"
        return None

    def _separately(self) -> str | None:
        beside = sorted(self.inputs.of(self.reads_target).names - {self.target})
        cleared = np.full([self.seen.program.sizes[n] for n in beside], -1, dtype=np.int8)
        return self._cleared(beside, cleared) or self._written(beside, cleared)

    def _cleared(self, beside: list[str], cleared: np.ndarray) -> str | None:
        """What is wrong unless every old value is cleared, or none; `cleared` records which, by the codes `beside`."""
        writes, old = _Writes(self.out[self.reads_target]), self.seen.streams[self.target]
        inputs = self.inputs.of(self.reads_target)
        for run in runs(inputs, self.axes(self.parts[0])):
            codes, problem = run.codes, _unsettled(run)
            change, mine = writes.change(run), old[codes[self.target]]
            does, idle = (change == -mine).all(axis=1), (change == 0).all(axis=1)
            if problem is not None or not (does | idle).all():
                return problem or f"wrong at {_shown(codes, ~(does | idle))}"
            there = (mine != 0).any(axis=1)  # an empty set is cleared by doing nothing
            place = tuple(codes[n][there] for n in beside)
            for value in (0, 1):
                chosen = does[there] == bool(value)
                mine = tuple(p[chosen] for p in place)
                if (cleared[mine] == 1 - value).any() if chosen.any() else False:
                    return "some of its old values are cleared where others are not"
                if chosen.any():
                    cleared[mine] = value
        return None

    def _written(self, beside: list[str], cleared: np.ndarray) -> str | None:
        """What is wrong unless the new value is written exactly where the old one is cleared."""
        writes, old = _Writes(self.out[~self.reads_target]), self.seen.streams[self.target]
        inputs = self.inputs.of(~self.reads_target)
        for run in runs(inputs, self.axes(self.parts[1])):
            codes, problem = run.codes, _unsettled(run)
            new, clash = _new_codes(self.cases, codes, np.full(size_of(codes), -1))
            wanted = np.where((new >= 0)[:, None], old[new], 0)
            known = cleared[tuple(codes[n] for n in beside)]
            right = (writes.change(run) == wanted).all(axis=1) & ((known < 0) | (known == (new >= 0)))
            if problem or clash or not right.all():
                return problem or clash or f"wrong at {_shown(codes, ~right)}"
        return None

    def _holds(self, change: np.ndarray) -> np.ndarray:
        """Where the number type can hold the change."""
        return (change.astype(self.seen.network.tokens.dtype).astype(np.float64) == change).all(axis=1)

    def _overflow(self, run: Run, writes: "_Writes") -> str | None:
        """What is wrong unless units that are on at once write on a grid on which no partial sum is rounded."""
        if not isinstance(self.seen.program.variables[self.target], Numeric) or not len(writes.entries):
            return None
        fraction, exponent = np.frexp(np.abs(writes.entries))
        digits = (fraction * 2.0**53).astype(np.int64)
        grid = float(((digits & -digits) * 2.0 ** (exponent - 53.0)).min())
        most = float(_Writes(np.abs(writes.out)).change(run).max(initial=0))
        return None if most / grid <= self.seen.exactly else "what is written could be rounded"

    def _noise_problem(self) -> str | None:
        """With plain ReLU, features of numbers are 0 or 1 only up to some noise; what harm that does, or None.

        A unit that is on has the two parts a and b = a - 1. Both are exact, because the sum of its inputs is larger
        than they are. They are multiples of the last place of that sum, and their sums stay below 2²⁴ of these.
        """
        soft = [(c, n) for c, n in self.seen.soft_columns() if (self.seen.network.mlp_in[c, self.units] != 0).any()]
        if not soft:
            return None
        if self.seen.network.dtype == "bfloat16":
            return "numbers in bfloat16 with plain ReLU are not certified; compile with activation='clipped'"
        weights = np.abs(self.seen.network.mlp_in[:, self.units].astype(np.float64))
        columns, sizes = np.array([c for c, _ in soft]), np.array([n for _, n in soft])
        unit, bias = unit_roundoff(self.seen.network.tokens.dtype), self.inputs.bias.astype(np.float64)
        slack = sizes @ weights[columns] + 2 * unit * (weights != 0).sum(axis=0) * weights.sum(axis=0)
        if (slack >= 1).any():
            return f"with plain ReLU its numbers are off by up to {slack.max():.2g}, and 1 is allowed"
        noisy = np.asarray(weights[columns].any(axis=0))
        plus, minus = np.maximum(self.out, 0), np.maximum(-self.out, 0)
        if (noisy & (bias > 0)).any():
            return "a hidden unit that reads numbers has a positive bias"
        for run in runs(self.inputs, self.axes(set().union(*self.parts))):
            pre, mine = run.pre, run.units
            if ((pre > -1) & (pre < 2) & noisy[mine]).any():
                return "with plain ReLU a hidden unit that reads numbers has too little to spare"
            least = np.where((pre > 0) & noisy[mine], pre - bias[mine] - slack[mine], np.inf).min(
                axis=1, initial=np.inf
            )
            place = 2.0 ** np.floor(np.log2(np.where(np.isfinite(least), least, 1.0))) * 2 * unit
            first = np.where(pre > 0, pre + slack[mine], 0)
            second = np.where(pre > 0, first - 1, 0)
            # The largest partial sum of a column: all additions come before any subtraction.
            added = np.maximum(
                first @ plus[mine] + second @ minus[mine], second @ plus[mine] + first @ minus[mine]
            ).max(axis=1)
            if (np.isfinite(least) & (added > self.seen.exactly * place)).any():
                return "with plain ReLU what its hidden units write could be rounded; compile with activation='clipped'"
        return None


def _representatives(total: Sum) -> Codes:
    """For every value that a sum can have, codes of its variables with that sum."""
    found: dict[int, tuple[int, ...]] = {0: ()}
    for _, term in total.terms:
        codes = {value: code for code, value in enumerate(term)}
        found = {t + v: (*chosen, code) for t, chosen in found.items() for v, code in codes.items()}
    chosen = np.array(list(found.values()))
    return {n: chosen[:, i] for i, n in enumerate(total.variables)}


def _new_codes(cases: Sequence[Case], codes: Codes, old: np.ndarray) -> tuple[np.ndarray, str | None]:
    """The codes after the update by the cases, and a message if two cases hold at once."""
    new, times, view = old, np.zeros(len(old), dtype=int), View(codes)
    for c in cases:
        holds = view.holds(c) if c.where else np.ones(len(old), dtype=bool)
        new, times = np.where(holds, act(c, codes), new), times + holds
    clash = None if (times <= 1).all() else f"two of its cases hold at {_shown(codes, times > 1)}"
    return new, clash


def _unsettled(run: Run) -> str | None:
    return None if ((run.pre <= 0) | (run.pre >= 1)).all() else "a hidden unit is neither off nor on"


class _Writes:
    """What units add to a variable's dimensions: `out` (unit, dimension), which is sparse."""

    def __init__(self, out: np.ndarray):
        self.out = out
        onto, self.columns = np.nonzero(out)
        self.entries = out[onto, self.columns]
        self.count = np.bincount(onto, minlength=len(out))
        self.first = np.cumsum(self.count) - self.count

    def change(self, run: Run) -> np.ndarray:
        """The sum of what the units that are on add, computed entry by entry where that saves much."""
        fired, width = run.pre > 0, self.out.shape[1]
        if len(run.units) * width < 1 << 12:
            return fired.astype(np.float64) @ self.out[run.units]
        change = np.zeros(len(fired) * width)
        rows, units = np.nonzero(fired)
        units = run.units[units]
        for k in range(int(self.count.max(initial=0))):
            mine = self.count[units] > k
            entry = self.first[units[mine]] + k
            place = rows[mine] * width + self.columns[entry]
            change += np.bincount(place, self.entries[entry], minlength=len(change))
        return change.reshape(len(fired), width)


def _multiples(parts: Sequence[tuple[np.ndarray | None, np.ndarray]]) -> bool:
    """Whether all tables (codes, units) are their terms times one and the same row; an absent table is zero."""
    filled = [(np.zeros((len(terms), 1)) if table is None else table, terms) for table, terms in parts]
    table, terms = max(filled, key=lambda part: part[1].max())
    row = table[int(terms.argmax())] / max(1, terms.max())
    return all(not (table - terms[:, None] * row).any() for table, terms in filled)


def _shown(codes: Codes, where: np.ndarray) -> str:
    row = int(np.argmax(where))
    return ", ".join(f"{n} = {int(c[row])}" for n, c in codes.items()) or "every assignment"
