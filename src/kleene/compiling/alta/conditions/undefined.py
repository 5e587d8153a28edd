"""Undefined heads: the probe finds every use of one, and an undefined head that is not used does no harm.

Where a head is undefined it leaves a vector in the stream that stands for nothing: zeros, or shares of several values
(an average over all that matched, or over all positions). Each share is at most 1, and together they are at most 1 up
to rounding. So the vector lies between zero and the head's one-hot codes. A hidden unit has no negative weights on
heads, and rounding is monotone. Its input is therefore at most what it is at one of the codes, up to the rounding of
shares that add up to 1. So it is enough to look at codes: *a unit that can be on for some code of a head is on only
where the head is used*, and there the run ends with an error. The same must be true of the program's cases, because a
case that mentions an undefined head does not hold. Several undefined heads at once add nothing new: a guard takes every
condition on an undefined head to hold, so a guard that then fails would fail for all codes.

The question for each unit and each case is whether the box of codes at which it can be on lies within the union of the
guards, which are boxes too. The box is split until each part lies in a guard or cannot turn the unit or case on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kleene.compiling.alta.conditions import Condition
from kleene.compiling.alta.conditions.units import Bit, SeenUnits, UnitInputs, assignments
from kleene.compiling.alta.conditions.updates import MOST_ASSIGNMENTS
from kleene.programs.alta.cases import Case, Constant, Feature, View
from kleene.programs.alta.sums import Sum

Box = Mapping[str, frozenset[int]]  # the codes that each variable may have
MOST_BOXES = 20_000  # to split into for one head


Guards = Mapping[str, Sequence[Case]]


def undefined(seen: SeenUnits, most: int = MOST_BOXES, guards: Guards | None = None) -> Condition:
    """Whether guards are right, and no unit and no case acts on a head outside its guards.

    In one layer of many, `guards` has the heads that may be undefined there, with the cases in which the MLP looks at
    them, also those in which they are surely defined.
    """
    program = seen.program
    if not program.heads and not program.faults:
        return Condition("undefined", True, "no heads")
    problem = _probe_problem(seen)
    if problem is not None:
        return Condition("undefined", False, problem)
    shown, skipped = 0, []
    if seen.against_heads:
        return Condition("undefined", False, "a hidden unit reads a head with a negative weight")
    reads = {head: program.reads.get(head, ()) for head in program.heads} if guards is None else guards
    for head, cases in reads.items():
        try:
            found = _Head(seen, head, cases, most)
            problem = found.problem()
        except _TooMany:
            skipped.append(head)
            continue
        if problem is not None:
            return Condition("undefined", False, problem)
        shown += found.shown
    count = sum(len(c) for group in (program.reads, program.faults) for c in group.values())
    detail = f"{count} guards are right, and {shown} units and cases that mention heads act only behind them"
    if skipped:
        detail += f"; {', '.join(skipped)}: too many to split, and rest on the weights being the compiler's"
    return Condition("undefined", True, detail)


# --- the probe ------------------------------------------------------------------------------------------------------


def _probe_problem(seen: SeenUnits) -> str | None:
    """What is wrong with the probe, or None: it must have every condition of every guard, and its heads."""
    network, program = seen.network, seen.program
    heads = list(program.heads)
    guards = [(heads.index(h), c) for h, cases in program.reads.items() for c in cases]
    faults = [c for cases in program.faults.values() for c in cases]
    guards += [(len(heads), c) for c in faults]  # a fault counts as the use of one more head
    uses = len(heads) + bool(faults)
    probe = network.probe
    if probe is None or not guards:
        return None if probe is None and not guards else "the guards of the program and of the network are not the same"
    asked = list(dict.fromkeys(item for _, c in guards for item in c.where))
    wanted = np.zeros((len(asked), len(guards)))
    for g, (_, c) in enumerate(guards):
        wanted[[asked.index(item) for item in c.where], g] = 1
    mentions = [[h in _names(feature) for h in heads] + [False] * (uses - len(heads)) for feature, _ in asked]
    same = np.array_equal(probe.guards, wanted)
    same = same and np.array_equal(probe.mentions, np.array(mentions).reshape(-1, uses))
    if not same or not np.array_equal(probe.guarded, np.eye(uses)[[h for h, _ in guards]]):
        return "the guards of the network are not those of the program"
    noise = sum((x * np.abs(probe.rows[c].astype(np.float64)) for c, x in seen.soft_columns()), np.zeros(1))
    if noise.max(initial=0) >= 0.4:  # rows lie 1/2 beside whole numbers
        return "with plain ReLU the numbers that a guard reads are too noisy"
    for k, (feature, allowed) in enumerate(asked):
        if not _asks(seen, k, feature, allowed):
            return f"the probe does not test correctly whether {_shown(feature)} is one of {sorted(allowed)}"
    return None


def _names(feature: Feature) -> tuple[str, ...]:
    return (feature,) if isinstance(feature, str) else feature.variables


def _shown(feature: Feature) -> str:
    return f"{feature!r}" if isinstance(feature, str) else "a sum of " + ", ".join(feature.variables)


def _asks(seen: SeenUnits, k: int, feature: Feature, allowed: frozenset[int]) -> bool:
    """Whether condition k of the probe holds exactly where the feature has one of the allowed values.

    Its rows are run in the number type on every combination of the feature's variables; they must read no others.
    """
    probe = seen.network.probe
    assert probe is not None
    rows = np.flatnonzero(probe.conditions[:, k])
    inputs = seen.probed(rows)
    if not inputs.names <= set(_names(feature)):
        return False
    axes = [{n: np.arange(seen.program.sizes[n])} for n in _names(feature)]
    if isinstance(feature, Sum) and np.prod([len(t) for _, t in feature.terms], dtype=float) > MOST_ASSIGNMENTS:
        return True  # too many to run; the weights are the compiler's
    for codes in assignments(axes, max(1, len(rows))):
        holds = (inputs.at(codes) >= 0) @ probe.conditions[rows, k].astype(np.float64) > 0.5
        if not np.array_equal(holds, View(codes).condition(feature, allowed)):
            return False
    return True


# --- units and cases that mention a head ----------------------------------------------------------------------------


class _TooMany(Exception):
    """There are more boxes than allowed."""


@dataclass(frozen=True)
class _Actor:
    """A unit or a case: whether it may act somewhere in a box, and the variables to split the box by."""

    label: str
    may_act: Callable[[Box], bool]
    names: tuple[str, ...]


class _Head:
    """One head: its guards, and the units and cases that mention it."""

    def __init__(self, seen: SeenUnits, head: str, cases: Sequence[Case], most: int):
        self.seen, self.head, self.left = seen, head, most
        self.sizes = {n: s for n, s in seen.program.sizes.items() if n != head}
        # A guard's conditions on the head itself count as holding where the head is undefined. A fault ends a run, too.
        faults = [c for cases in seen.program.faults.values() for c in cases]
        guards = (*cases, *faults)
        self.guards = [[i for i in c.where if head not in _names(i[0])] for c in guards]
        self.shown = 0

    def problem(self) -> str | None:
        """The unit or case that acts outside the guards, or None."""
        if any(not guard for guard in self.guards):
            return None  # the head is used wherever it is undefined
        for actor in [*self._units(), *self._cases()]:
            self.shown += 1
            where = self._outside({}, actor)
            if where is not None:
                return f"{actor.label} acts on {self.head!r}, undefined, where the program does not look at it: {where}"
        return None

    def _units(self) -> Iterable[_Actor]:
        inputs = self.seen.inputs(np.arange(self.seen.count))
        table = inputs.tables.get(self.head)
        reads = np.zeros(self.seen.count, dtype=bool) if table is None else table.any(axis=0)
        for bit, weights in inputs.bits:
            reads |= (weights != 0) & (self.head in bit.names)
        reads &= (self.seen.network.mlp_out[: self.seen.count][:, self._kept()] != 0).any(axis=1)
        known = set()
        for unit in np.flatnonzero(reads):
            mine = inputs.of(np.array([unit]))
            # Many units differ only in which code of the head they ask for.
            key = (mine.bias[0], float(mine.tables[self.head].max()) if self.head in mine.tables else 0.0,
                   *((n, t.tobytes()) for n, t in mine.tables.items() if n != self.head),
                   *((b.column, float(w[0])) for b, w in mine.bits))  # fmt: skip
            if key not in known:
                known.add(key)
                yield _unit_actor(f"hidden unit {unit}", mine, self.head, self.seen.spare[unit])

    def _kept(self) -> list[int]:
        return [d for s in self.seen.network.layout.kept_segments for d in range(s.start, s.stop)]

    def _cases(self) -> Iterable[_Actor]:
        for target, cases in self.seen.program.updates.items():
            for c in cases:
                if self.head in c.variables:
                    rest = [item for item in c.where if self.head not in _names(item[0])]
                    names = tuple(n for f, _ in rest for n in _names(f))
                    may = lambda box, rest=rest, c=c, target=target: (  # noqa: E731
                        all(self._status(box, f, s) is not False for f, s in rest) and self._changes(box, target, c)
                    )
                    yield _Actor(f"a case of {target!r} (line {c.line})", may, (*names, target))

    def _changes(self, box: Box, target: str, c: Case) -> bool:
        """Whether the case may write something else than what the variable holds already."""
        return not isinstance(c.action, Constant) or self._codes(box, target) != {c.action.code}

    def _outside(self, box: dict[str, frozenset[int]], actor: _Actor) -> str | None:
        """A part of the box in which the actor acts and no guard holds, or None."""
        self.left -= 1
        if self.left < 0:
            raise _TooMany
        if not actor.may_act(box):
            return None
        names = list(actor.names)
        for guard in self.guards:
            status = [(f, s, self._status(box, f, s)) for f, s in guard]
            if all(found is True for _, _, found in status):
                return None
            if not any(found is False for _, _, found in status):
                names = [n for f, _, found in status if found is None for n in _names(f)]
                feature, allowed = next((f, s) for f, s, found in status if found is None)
                if isinstance(feature, str):
                    inside = self._codes(box, feature) & allowed
                    parts = [inside, self._codes(box, feature) - allowed]
                    return self._either(box, feature, parts, actor)
                break
        open_names = [n for n in names if len(self._codes(box, n)) > 1]
        if not open_names:
            return ", ".join(f"{n} = {min(codes)}" for n, codes in sorted(box.items())) or "everywhere"
        name = open_names[0]
        return self._either(box, name, [frozenset({c}) for c in sorted(self._codes(box, name))], actor)

    def _either(self, box: dict, name: str, parts: Sequence[frozenset[int]], actor: _Actor) -> str | None:
        for codes in parts:
            where = self._outside(box | {name: codes}, actor)
            if where is not None:
                return where
        return None

    def _codes(self, box: Box, name: str) -> frozenset[int]:
        return box.get(name) or frozenset(range(self.sizes[name]))

    def _status(self, box: Box, feature: Feature, allowed: frozenset[int]) -> bool | None:
        """True if a condition holds in all of the box, False if nowhere, None if in parts of it."""
        found = self._codes(box, feature) if isinstance(feature, str) else feature.reachable(dict(box))
        return True if found <= allowed else (False if not found & allowed else None)


def _unit_actor(label: str, inputs: UnitInputs, head: str, spare: float) -> _Actor:
    """The unit as an actor: it may act where its input can exceed 0 at some code of the head, rounding included."""
    tables = {n: t[:, 0] for n, t in inputs.tables.items() if n != head}
    own = float(inputs.tables[head].max()) if head in inputs.tables else 0.0
    names = tuple(dict.fromkeys([*tables, *(n for b, _ in inputs.bits for n in b.names if n != head)]))

    def may_act(box: Box) -> bool:
        most = float(inputs.bias[0]) + own + spare
        for name, table in tables.items():
            most += float(max(table[c] for c in box[name]) if name in box else table.max())
        for bit, weights in inputs.bits:
            most += _most_of_bit(bit, float(weights[0]), box, head)
        return most > 0

    return _Actor(label, may_act, names)


def _most_of_bit(bit: Bit, weight: float, box: Box, head: str) -> float:
    """The most that a bit can add in the box; exact if the box has one code for each of its variables."""
    single = {n: box[n] for n in bit.names if n in box and len(box[n]) == 1}
    if head in bit.names or len(single) < len(bit.names):
        return max(weight, 0.0)
    return weight * float(bit.at({n: np.array(list(c)) for n, c in single.items()})[0])
